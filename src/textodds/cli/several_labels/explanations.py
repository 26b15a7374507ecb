"""The explanations of ``explain`` where a text may have several labels: one for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from textodds.cli.explain import coloured, sum_lines
from textodds.cli.output import as_json, echo, harmless, one_line, say, strong
from textodds.data.written_file import replacing
from textodds.errors import InputError
from textodds.model.explain import DecisiveWords, Explanation
from textodds.model.explain.markup import page
from textodds.model.multilabel.label_flip import label_flip

if TYPE_CHECKING:
    from textodds.model.multilabel.label_prediction import LabelPrediction
from textodds.model.multilabel.multilabel_model import MultiLabelModel


def explain_labels(
    model: MultiLabelModel,
    text: Any,
    asked: str | None,
    *,
    top: int,
    parts: bool,
    html: str | None,
    json: bool,
) -> None:
    """Print an explanation of each label that a text is given, or of the most probable, or of one asked for.

    As JSON they are a list; ``html`` is the page of one.
    """
    answer = model.answer(text)
    labels = _labels(model, answer, asked)
    if html is not None and len(labels) > 1:
        raise InputError(
            f"`--html` shows one label, and the text is given {len(labels)}",
            hint=f"choose one: `--label {labels[0]}`",
        )
    plain: list[dict[str, Any]] = []
    for number, label in enumerate(labels):
        explanation = model.explain(text, label)
        flip = label_flip(model, text, label) if answer.evidence else None
        threshold = answer.thresholds[label]
        about = explanation.as_dict(parts=parts) | {
            "probability": answer.probabilities[label],
            "evidence": answer.evidence,
            "threshold": threshold if threshold <= 1 else None,
            "given": label in answer.labels,
            "flip": None if flip is None else asdict(flip),
        }
        plain.append(about)
        if json:
            continue
        if number:
            echo("")
        for line in _lines(explanation, text, about, flip, top, parts=parts):
            echo(line)
    if json:
        echo(as_json(plain))
    if html is not None:
        with replacing(html) as temporary:
            temporary.write_text(page(model.explain(text, labels[0]), parts=parts), encoding="utf-8")
        say(f"\nwrote {html}", quiet=json)


def _labels(model: MultiLabelModel, answer: LabelPrediction[str], asked: str | None) -> list[str]:
    if asked is not None:
        return [model.class_names[model.class_number(asked)]]
    return list(answer.labels) or [label for label, _ in answer.top(1)]


def _lines(
    explanation: Explanation,
    text: str,
    about: dict[str, Any],
    flip: DecisiveWords | None,
    top: int,
    *,
    parts: bool,
) -> Iterator[str]:
    label = one_line(explanation.label)
    verdict = "given" if about["given"] else "not given"
    limit = "never given" if about["threshold"] is None else f"{verdict}, threshold {about['threshold']:.4f}"
    yield f"{strong(label)} {about['probability']:.4f}: {limit}"
    yield ""
    if not about["evidence"]:
        yield "the model knows no word of the text: the probability is the share of texts with the label"
        return
    yield harmless(text) if not explanation.stretches else coloured(explanation, text)
    yield ""
    yield from sum_lines(explanation, top, parts=parts)
    if flip is None:
        other = "would not be given" if about["given"] else "would be given"
        yield f"no words were found without which {label} {other}"
        return
    words = ", ".join(f"“{one_line(word)}”" for word in flip.words)
    fewest = "" if flip.exact else " (fewer might do)"
    after = "not given" if about["given"] else "given"
    yield f"without {words}: {strong(label)} {flip.probability_after:.4f}, {after}{fewest}"
