"""``inspect``: show what a model has learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds import _kernels
from textodds.cli import tables
from textodds.cli.command import argument, command, option
from textodds.cli.option_types import Value, above_zero
from textodds.cli.output import aligned, as_json, echo, faint, one_line, strong, weight
from textodds.cli.summaries import CLASSES, largest, table_model_lines, text_model_lines
from textodds.errors import Unsupported
from textodds.learn.forms.equivalence import Hyperplane
from textodds.model.file import load
from textodds.model.text_model import TextModel
from textodds.stats.tally import Tally
from textodds.text import Vocabulary

if TYPE_CHECKING:
    from textodds.judge.word_odds import SeparatingWord
    from textodds.model.table_model import TableModel


@command(
    "inspect",
    examples=[
        "textodds inspect mail.textodds",
        "textodds inspect mail.textodds --class spam --top 30",
        "textodds inspect mail.textodds --word free --word invoice",
        "textodds inspect mail.textodds --between spam ham --top 20",
    ],
)
@argument("model", "A model file made by `train`.")
@option(
    "What to show",
    "--top",
    type=Value(above_zero, "a whole number above 0"),
    metavar="N",
    default=10,
    help="Words of each class.",
)
@option(
    "What to show",
    "--class",
    "labels",
    multiple=True,
    metavar="LABEL",
    help=f"Words of this class only; may be repeated. Otherwise of all, or of the {CLASSES} largest.",
)
@option(
    "What to show",
    "--word",
    "words",
    multiple=True,
    metavar="WORD",
    help="This word, class by class; may be repeated.",
)
@option(
    "What to show",
    "--between",
    "between",
    nargs=2,
    metavar="LABEL RIVAL",
    help="The words that decide between two classes, with their odds ratios; of a model of counts also those "
    "that separate them most surely, with 95 % intervals.",
)
@option("Running", "--json", "as_json_", is_flag=True, help="Print it all as one JSON object.")
def inspect(
    model: str,
    top: int,
    labels: tuple[str, ...],
    words: tuple[str, ...],
    between: tuple[str, str] | None,
    as_json_: bool,
) -> None:
    """Show what a model has learned.

    Its classes, recipe, file and measured quality, and the words that speak most for each class, by
    their log-odds against the other classes.
    """
    path, found = Path(model), load(model)
    if isinstance(found, TextModel):
        _inspect_texts(path, found, top, labels, words, between, as_json_)
        return
    if labels or words or between:
        raise Unsupported(
            "a model of tables has columns, not words", hint="leave out --class, --word, --between"
        )
    about = _about_table(path, found)
    if as_json_:
        echo(as_json(about))
    else:
        for line in table_model_lines(about, tables.choice_lines(found)):
            echo(line)


def _inspect_texts(
    path: Path,
    opened: TextModel,
    top: int,
    labels: tuple[str, ...],
    words: tuple[str, ...],
    between: tuple[str, str] | None,
    as_json_: bool,
) -> None:
    if between is not None:
        counted = opened._tally is not None and not opened.recipe.learner.entry.needs_documents
        separating = opened.separating_words(*between, n=top) if counted else None
        _between(opened.hyperplane(*between, n=top), separating, as_json_)
        return
    about = _about(path, opened)
    documents: dict[str, float | None] = dict.fromkeys(opened.classes_)
    if opened._tally is not None or "class_documents" in opened.info:
        documents.update(opened.class_documents)
    about["classes"] = documents
    shown = list(labels) or sorted(largest(documents))
    about["top_words"] = {
        label: [{"word": word, "log_odds": odds} for word, odds in opened.top_words(label, top)]
        for label in shown
    }
    about["asked"] = [_word(opened, word) for word in words]
    if as_json_:
        echo(as_json(about))
    else:
        for line in text_model_lines(about):
            echo(line)


def _between(plane: Hyperplane, separating: list[SeparatingWord] | None, is_json: bool) -> None:
    """Show what decides between two classes, and how sure the counts are of it."""
    if is_json:
        words = [{"word": word, "log_odds": odds, "odds_ratio": np.exp(odds)} for word, odds in plane.words]
        about = {"label": plane.label, "rival": plane.rival, "bias": plane.bias, "words": words}
        if separating is not None:
            about["separating"] = [word._asdict() for word in separating]
        echo(as_json(about))
        return
    echo(
        f"{strong(one_line(plane.label))} (+) or {strong(one_line(plane.rival))} (−): what a text adds up to"
    )
    echo()
    rows = [[faint("word"), faint("log-odds"), faint("odds ratio")]]
    rows += [[faint("before reading"), f"{plane.bias:+.4f}", f"× {np.exp(plane.bias):.3g}"]]
    rows += [[one_line(word), f"{odds:+.4f}", f"× {np.exp(odds):.3g}"] for word, odds in plane.words]
    for line in aligned(rows):
        echo(line)
    if separating:
        echo()
        echo("words that most separate the two by their counts, with 95 % intervals")
        echo()
        for line in _intervals(plane, separating):
            echo(line)


def _intervals(plane: Hyperplane, separating: list[SeparatingWord]) -> list[str]:
    names = ("word", "log-odds", "from", "to", "z", one_line(plane.label), one_line(plane.rival))
    rows = [[faint(name) for name in names]]
    for word, odds, z, low, high, count, rival_count in separating:
        numbers = [f"{odds:+.2f}", f"{low:+.2f}", f"{high:+.2f}", f"{z:+.1f}"]
        rows.append([one_line(word), *numbers, weight(count), weight(rival_count)])
    return aligned(rows)


def _about(path: Path, model: TextModel) -> dict[str, Any]:
    header = json.loads(_kernels.layout(np.memmap(path, np.uint8, mode="r"))[0]["textodds"])
    has_counts = model._tally is not None

    def known(name: str, kind: type | tuple[type, ...]) -> Any:
        """What the file says, unless somebody has put something else in its place."""
        value = model.info.get(name)
        return value if isinstance(value, kind) else None

    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "format": header["format"],
        "counts": has_counts,
        "documents": known("documents", (int, float)),
        "words": len(model.vocabulary),
        "words_counted": len(model.tally.vocabulary) if has_counts else None,
        "recipe": model.recipe.as_dict(),
        "source": known("source", str),
        "rejected": known("rejected", int),
        "fingerprint": known("fingerprint", str),
        "quality": model.info.get("quality"),
        "fit": model.info.get("fit"),
        "chosen": model.info.get("chosen"),
        "left_out": model.info.get("left_out"),
    }


def _about_table(path: Path, model: TableModel) -> dict[str, Any]:
    header = json.loads(_kernels.layout(np.memmap(path, np.uint8, mode="r"))[0]["textodds"])
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "format": header["format"],
        "documents": model.tally.n_documents,
        "columns": len(model.schema.used),
        "recipe": model.recipe.as_dict(),
        "source": model.info.get("source"),
        "quality": model.info.get("quality"),
        "typical": model.typical is not None,
        "classes": model.class_documents,
    }


def _word(model: TextModel, given: str) -> dict[str, Any]:
    """Counts, weight and log-odds of a word in each class."""
    word = given
    if _number(model.vocabulary, word) < 0:  # perhaps not as the model spells it: capitals, a hash bucket
        terms = model.recipe.settings.terms(given)
        word = terms[0] if len(terms) == 1 else given
    number, K = _number(model.vocabulary, word), len(model.classes_)
    known = number >= 0
    weights = model.linear.weights.rows(np.array([number]))[0] if known else np.full(K, np.nan)
    odds = weights - (weights.sum() - weights) / max(K - 1, 1)
    counts = [None] * K if model._tally is None else _occurrences(model.tally, word)
    by_class = {
        label: {"count": count, "weight": float(w), "log_odds": float(o)}
        for label, count, w, o in zip(model.classes_, counts, weights, odds, strict=True)
    }
    return {"word": word, "known": known, "by_class": by_class}


def _number(vocabulary: Vocabulary, word: str) -> int:
    """The number of a word, -1 if it has none."""
    number = int(vocabulary.find([word])[0])
    if number < 0 and word.startswith("#"):  # `find` does not know a hash bucket by its name
        names = vocabulary.words()
        return names.index(word) if word in names else -1
    return number


def _occurrences(tally: Tally, word: str) -> list[float]:
    by_class = np.zeros(len(tally.classes))
    number = _number(tally.vocabulary, word)
    if number >= 0:
        cells = slice(int(tally.starts[number]), int(tally.starts[number + 1]))
        by_class[tally.class_of[cells]] = tally.occurrences[cells] / 2**tally.fraction
    return by_class.tolist()
