"""What ``inspect`` shows of a model of several labels a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textodds.cli import summaries
from textodds.cli.output import aligned, faint, one_line, strong, table, weight
from textodds.cli.several_labels import measures
from textodds.cli.several_labels.training import several_line, tried_lines

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel


def about_labels(
    model: MultiLabelModel, top: int, labels: tuple[str, ...], words: tuple[str, ...]
) -> dict[str, Any]:
    """The labels with their texts, thresholds and words, and how good the model is."""
    documents, n = model.class_documents, model.n_texts
    assert model.thresholds is not None
    wanted = [model.class_names[model.class_number(label)] for label in labels]
    shown = wanted or sorted(summaries.largest(documents))
    first = model.of_label(model.class_names[0])
    return {
        "several_labels": True,
        "counts": model.has_counts,
        "keeps_documents": model.has_documents,
        "earlier_calibration": model.info.get("earlier") is True,
        "documents": n,
        "words": len(model.vocabulary),
        "has_words": model.recipe.settings.has_words,
        "log_odds_per": first.words.per,
        "recipe": model.recipe.as_dict(),
        "goal": str(model.goal),
        **{name: model.info.get(name) for name in ("source", "rejected", "quality", "fit", "tried")},
        "labels_per_text": model.info.get("labels_per_text"),
        "uncalibrated": model.info.get("uncalibrated"),
        "left_out": measures.plain_held_out(model, measures.held_out(model)),
        "labels": {
            name: {
                "texts": documents[name],
                "share": documents[name] / n if n else None,
                "threshold": float(t) if t <= 1 else None,
            }
            for name, t in zip(model.class_names, model.thresholds, strict=True)
        },
        "top_words": {
            label: [{"word": word, "log_odds": odds} for word, odds in model.top_words(label, top)]
            for label in shown
        },
        "asked": [_word(model, word, shown) for word in words],
    }


def _word(model: MultiLabelModel, word: str, labels: list[str]) -> dict[str, Any]:
    """A word, and its log-odds for some labels."""
    found = {label: model.of_label(label).words.weights(word) for label in labels}
    first = next(iter(found.values()))
    odds = {label: each["by_class"][label]["log_odds"] for label, each in found.items() if each["known"]}
    return {"word": first["word"], "known": first["known"], "log_odds": odds}


def lines(about: dict[str, Any]) -> Iterator[str]:
    """The same in words."""
    yield strong(about["model"])
    yield from aligned([[faint(name), one_line(value)] for name, value in _facts(about)], left=2)
    yield ""
    rows = []
    for label in summaries.largest({name: each["texts"] for name, each in about["labels"].items()}):
        each = about["labels"][label]
        share = "–" if each["share"] is None else f"{each['share']:.1%}"
        threshold = "never given" if each["threshold"] is None else f"{each['threshold']:.4f}"
        rows.append([one_line(label), weight(each["texts"]), share, threshold])
    yield from table(("label", "texts", "share", "threshold"), rows)
    if (rest := len(about["labels"]) - len(rows)) > 0:
        yield faint(f"  and {rest:,} rarer labels, which `--json` lists")
    if any(about["top_words"].values()):
        adds = "what one use adds to its log-odds"
        yield ""
        yield f"{summaries.nouns(about)} with the most evidence for each label, and " + (
            adds if about["log_odds_per"] == "use" else "their log-odds per unit"
        )
        yield from summaries.top_word_lines(about["top_words"])
    for word in about["asked"]:
        yield ""
        yield from _word_lines(word, about)
    if about["log_odds_per"] == "unit" and (about["asked"] or any(about["top_words"].values())):
        yield ""
        yield faint(summaries.UNIT)


def _facts(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    recipe, settings = about["recipe"], about["recipe"]["settings"]
    yield "labels", several_line(tuple(about["labels"]), about["labels_per_text"]).partition(": ")[2]
    yield "documents", weight(about["documents"])
    yield summaries.nouns(about), f"{about['words']:,}"
    yield from summaries.recipe_facts(recipe, settings)
    yield "goal", about["goal"]
    if any(True for _ in tried_lines(about["tried"])):
        best = next((each["name"] for each in about["tried"] if each.get("chosen")), None)
        if best is not None:
            yield "chosen", f"{best}: best of {len(about['tried'])} on held-out texts"
    if about["left_out"] is not None:
        yield "held out", measures.held_out_line(about["left_out"]).removeprefix("held out, ")
    yield from summaries.calibration_facts(about)
    yield from summaries.file_facts(about)
    yield from (("quality", line) for line in measures.quality_line(about["quality"]))


def _word_lines(word: dict[str, Any], about: dict[str, Any]) -> Iterator[str]:
    if not word["known"]:
        yield f"`{one_line(word['word'])}` is not among the {summaries.nouns(about)} of the model"
        return
    rows = [[strong(one_line(word["word"])), faint(summaries.log_odds_column(about))]]
    rows += [
        [one_line(label), f"{odds:+.4f}"]
        for label, odds in sorted(word["log_odds"].items(), key=lambda item: -item[1])
    ]
    yield from aligned(rows)
