"""A model's card: what it is, what it was made of, and what is known of how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from textodds.judge.baseline import accuracy_sentence
from textodds.judge.evaluation import held_out_measures

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel
    from textodds.model.text_model import TextModel


def facts(model: TextModel | TableModel) -> Iterator[tuple[str, str]]:
    """What is known of a model, by name.

    Where a file has something else in the place of what is known, that is left out.
    """
    recipe, info = model.recipe.as_dict(), model.info
    number, noun = model.extent
    yield "kind", {"texts": "texts", "tables": "rows of a table"}[model.kind]
    yield "learner", _learner(recipe["learner"])
    yield "classes", f"{len(model.classes_):,}"
    if isinstance(documents := info.get("documents"), (int, float)):
        yield "learned from", f"{documents:,.0f} {model.noun}s"
    if isinstance(source := info.get("source"), str):
        skipped = info.get("rejected")
        yield "data", source + (f", {skipped:,} rows skipped" if isinstance(skipped, int) and skipped else "")
    yield f"{noun}s", f"{number:,}"
    for part in ("settings", "selection", "weighting"):
        if isinstance(recipe.get(part), dict) and (told := _choices(recipe[part])):
            yield {"settings": "text"}.get(part, part), told
    if isinstance(recipe.get("unknown"), str):
        yield "unknown words", recipe["unknown"]
    if "prior" in recipe:
        yield "prior", str(recipe["prior"])
    with suppress(LookupError, TypeError, ValueError):
        found = held_out_measures(info.get("left_out"), model.held_out, model.class_names)
        if found is not None:
            before = "({log_loss_before:.4f} before calibration)"
            left_out = "{n:,} texts of training: {measured}, log-loss {log_loss:.4f} " + before
            yield "left out one by one", left_out.format(measured=accuracy_sentence(found), **found)
    if info.get("earlier") is True:
        yield "calibration", "from before the model changed; it kept no documents to recalibrate on"
    with suppress(LookupError, TypeError, ValueError):
        interval = "({:.4f} to {:.4f})".format(*info["quality"]["accuracy_interval"])
        quality = "{measured}, on {n:,} rows of {source}"
        measured = accuracy_sentence(info["quality"], interval)
        yield "measured in training", quality.format(measured=measured, **info["quality"])
    if isinstance(fit := info.get("fit"), dict) and (told := _choices(fit)):
        yield "fit", told
    if isinstance(fingerprint := info.get("fingerprint"), str):
        yield "fingerprint", fingerprint


def _learner(learner: object) -> str:
    if not isinstance(learner, Mapping):
        return str(learner)
    told = _choices({key: value for key, value in learner.items() if key != "learner"})
    return f"{learner.get('learner')} ({told})" if told else str(learner.get("learner"))


def _choices(plain: Mapping[str, object]) -> str:
    """Choices in words: what is off or not given is left out.

    >>> _choices({"alpha": 0.5, "fit_prior": True, "lower": False, "ngrams": [1, 2], "stop_words": None})
    'alpha 0.5, fit prior, ngrams 1–2'
    """
    told = []
    for key, value in plain.items():
        name = key.replace("_", " ")
        if value is None or value is False or (isinstance(value, (list, tuple, dict)) and not value):
            continue
        if key == "hash_seed" and plain.get("hash_bits") is None:
            continue
        if value is True:
            told.append(name)
        elif isinstance(value, (list, tuple)):
            told.append(
                f"{name} {'–'.join(map(str, value))}" if len(value) == 2 else f"{name} ({len(value):,})"
            )
        elif isinstance(value, Mapping):
            told.append(f"{name} ({len(value):,})")
        elif isinstance(value, float):
            told.append(f"{name} {min(str(value), f'{value:.4g}', key=len) if value % 1 else value}")
        else:
            told.append(f"{name} {value}")
    return ", ".join(told)
