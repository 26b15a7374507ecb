"""``inspect``: show what a model has learned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.cli.commands import command, option
from textodds.cli.distributions import distribution_lines, distributions, weights_of
from textodds.cli.options import model_argument, top_option
from textodds.cli.output import faint, one_line, show, strong, table, weight
from textodds.cli.summaries import (
    CLASSES,
    UNIT,
    column_lines,
    largest,
    log_odds_column,
    nouns,
    table_model_lines,
    text_model_lines,
)
from textodds.errors import Unsupported
from textodds.judge.evaluation import held_out_measures
from textodds.learn.forms.equivalence import Hyperplane
from textodds.model.explain import visible
from textodds.model.file import load
from textodds.model.multilabel.label_refusals import refuse
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.parameters import parameter_count
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.judge.word_odds import SeparatingWord
    from textodds.model.tables.table_model import TableModel

SECTION = "What to show"
CLASS = f"Show words of this class only; may be repeated.  [default: all, or the {CLASSES} largest]"
WORD = "Show this word, class by class; may be repeated."
CHECK = (
    "Read all of the file, and compare it with the checksums written with it; exit status 2 if it is damaged."
)
BETWEEN = (
    "The words that decide between two classes, with their odds ratios; of a model of counts also those "
    "that separate them most surely, with 95 % intervals."
)


@command(
    "inspect",
    examples=[
        "textodds inspect mail.textodds",
        "textodds inspect mail.textodds --class spam --top 30",
        "textodds inspect mail.textodds --word free --word invoice",
        "textodds inspect mail.textodds --between spam ham --top 20",
        "textodds inspect mail.textodds --check",
    ],
)
@model_argument()
@top_option(10, "Number of words per class; of tables, of values per column.")
@option(SECTION, "--class", "--label", "labels", multiple=True, metavar="LABEL", help=CLASS)
@option(SECTION, "--word", "words", multiple=True, metavar="WORD", help=WORD)
@option(SECTION, "--between", nargs=2, metavar="LABEL RIVAL", help=BETWEEN)
@option("Running", "--check", is_flag=True, help=CHECK)
@option("Running", "--json", "as_json_", is_flag=True, help="Print everything as one JSON object.")
def inspect(
    model: str,
    top: int,
    labels: tuple[str, ...],
    words: tuple[str, ...],
    between: tuple[str, str] | None,
    check: bool,
    as_json_: bool,
) -> None:
    """Show what a model has learned.

    Prints its classes, recipe, file and measured quality, and for each class the words with the most
    evidence: their log-odds against the other classes, calibrated, for one use of the word.
    Of a table, the distribution of each column in each class: mean and standard deviation of numbers,
    P(value | class) of categories; of softmax regression, the weights.
    Of several labels a text, also the goal and the threshold of each label.
    """
    opened = load(model, check=check)
    file: dict[str, Any] = {"model": str(Path(model)), "bytes": Path(model).stat().st_size}
    file |= {"format": opened.file_format, "checksums": opened.has_checksums, "checked": check}
    if is_multilabel(opened):
        from textodds.cli.several_labels import facts

        refuse({"between": between})
        about = file | facts.about_labels(opened, top, labels, words)
        show(about, facts.lines(about), json=as_json_)
    elif not isinstance(opened, TextModel):
        if labels or words or between:
            raise Unsupported("a model of tables has no words", hint="leave out --class, --word, --between")
        about = file | _about_table(opened)
        lines = [*column_lines(opened), *distribution_lines(about, top)]
        show(about, table_model_lines(about, lines), json=as_json_)
    elif between is not None:
        _show_between(opened, *between, top, json=as_json_)
    else:
        about = file | _about_texts(opened) | _words(opened, top, labels, words)
        show(about, text_model_lines(about), json=as_json_)


def _about_table(model: TableModel) -> dict[str, Any]:
    return {
        "documents": model.tally.n_documents,
        "columns": len(model.schema.used),
        "keeps_documents": model.has_documents,
        "earlier_calibration": model.info.get("earlier") is True,
        "recipe": model.recipe_as_dict(),
        "source": model.info.get("source"),
        "quality": model.info.get("quality"),
        "uncalibrated": model.info.get("uncalibrated"),
        "typical": model.typical is not None,
        "classes": model.class_documents,
        "parameters": vars(parameter_count(model)),
        "distributions": distributions(model),
        "weights": weights_of(model),
    }


def _about_texts(model: TextModel) -> dict[str, Any]:
    has_counts = model.has_counts

    def known(name: str, kind: type | tuple[type, ...]) -> Any:
        """What the file says, unless somebody has put something else in its place."""
        value = model.info.get(name)
        return value if isinstance(value, kind) else None

    return {
        "counts": has_counts,
        "keeps_documents": model.has_documents,
        "earlier_calibration": model.info.get("earlier") is True,
        "documents": known("documents", (int, float)),
        "words": len(model.vocabulary),
        "has_words": model.recipe.settings.has_words,
        "log_odds_per": model.words.per,
        "words_counted": len(model.tally.vocabulary) if has_counts else None,
        "recipe": model.recipe.as_dict(),
        "parameters": vars(parameter_count(model)),
        "source": known("source", str),
        "rejected": known("rejected", int),
        "fingerprint": known("fingerprint", str),
        **{name: model.info.get(name) for name in ("quality", "fit", "chosen", "uncalibrated")},
        "left_out": held_out_measures(model.info.get("left_out"), model.held_out, model.class_names),
    }


def _words(model: TextModel, top: int, labels: tuple[str, ...], words: tuple[str, ...]) -> dict[str, Any]:
    """The classes with their documents, the words that speak for them, and the words asked for."""
    documents: dict[str, float | None] = dict.fromkeys(model.class_names)
    if model.has_counts or model.has_documents or "class_documents" in model.info:
        documents.update(model.class_documents)
    top_words = {
        label: [{"word": word, "log_odds": odds} for word, odds in best]
        for label, best in model.words.top_of(labels or sorted(largest(documents)), top).items()
    }
    asked = [model.words.weights(word) for word in words]
    return {"classes": documents, "top_words": top_words, "asked": asked}


def _show_between(model: TextModel, label: str, rival: str, top: int, *, json: bool) -> None:
    """Show what decides between two classes, and how sure the counts are of it."""
    counts = model.has_counts and not model.recipe.learner.entry.needs_documents
    separating = model.separating_words(label, rival, n=top) if counts else None
    plane = model.hyperplane(label, rival, n=top)
    words = [{"word": word, "log_odds": odds, "odds_ratio": np.exp(odds)} for word, odds in plane.words]
    about: dict[str, Any] = {"label": label, "rival": rival, "bias": plane.bias, "words": words}
    about |= plane.start.as_dict()
    about |= {"has_words": model.recipe.settings.has_words, "log_odds_per": model.words.per}
    if separating is not None:
        about["separating"] = [word._asdict() for word in separating]
    show(about, _between_lines(about, plane, separating or []), json=json)


def _between_lines(
    about: dict[str, Any], plane: Hyperplane, separating: list[SeparatingWord]
) -> Iterator[str]:
    label, rival = one_line(plane.label), one_line(plane.rival)
    yield f"{strong(label)} (+) or {strong(rival)} (−): contribution of one use"
    yield ""
    rows = [
        [one_line(visible(word)), f"{odds:+.4f}", f"× {np.exp(odds):.3g}"]
        for word, odds in [*plane.start.lines, *plane.words]
    ]
    for row in rows[: len(plane.start.lines)]:
        row[0] = faint(row[0])
    noun = nouns(about)
    yield from table((noun.removesuffix("s"), log_odds_column(about), "odds ratio"), rows)
    if about["log_odds_per"] == "unit":
        yield ""
        yield faint(UNIT)
    if not separating:
        return
    yield ""
    yield f"{noun} that most separate the two by their counts, with 95 % intervals"
    yield ""
    rows = []
    for word, odds, z, low, high, count, rival_count in separating:
        numbers = [f"{odds:+.2f}", f"{low:+.2f}", f"{high:+.2f}", f"{z:+.1f}"]
        rows.append([one_line(visible(word)), *numbers, weight(count), weight(rival_count)])
    yield from table((noun.removesuffix("s"), "log-odds ratio", "from", "to", "z", label, rival), rows)
