"""Lines that show how good a model of several labels is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from textodds.cli.output import counted, faint, one_line, table, warning
from textodds.cli.summaries import MEASURED_CLASSES, STRANGE, measure_lines
from textodds.judge.label_evaluation import TITLES, LabelEvaluation, evaluate_held_labels

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

HEADLINE = ("micro_f1", "macro_f1", "log_loss")


def held_out(model: MultiLabelModel) -> LabelEvaluation | None:
    """What was measured on texts of training that were held out; None where none were."""
    held = model.held_labels
    if held is None:
        return None
    return evaluate_held_labels(held.p.astype("f8"), held.truth, model.class_names, model.goal)


def plain_held_out(model: MultiLabelModel, found: LabelEvaluation | None) -> dict[str, Any] | None:
    """The same as plain data."""
    if found is None:
        return None
    known = model.info.get("left_out")
    before = known.get("log_loss_before") if isinstance(known, dict) else None
    return {"n": found.n, **{name: found.measures[name][0] for name in HEADLINE}, "log_loss_before": before}


def held_out_line(plain: Mapping[str, Any]) -> str:
    """The same in words."""
    told = f"held out, {counted(plain['n'], 'text')}: micro-F1 {plain['micro_f1']:.4f}, "
    told += f"macro-F1 {plain['macro_f1']:.4f}, log-loss a label {plain['log_loss']:.4f}"
    if isinstance(plain["log_loss_before"], float):
        told += f" ({plain['log_loss_before']:.4f} before calibration)"
    return told


def quality_line(plain: Any) -> Iterator[str]:
    """Measured quality that a file has, in words."""
    try:
        low, high = plain["micro_f1_interval"]
        told = f"micro-F1 {plain['micro_f1']:.4f} ({low:.4f} to {high:.4f}), macro-F1 {plain['macro_f1']:.4f}"
        yield f"{told}, on {counted(plain['n'], 'row')} of {plain['source']}"
    except STRANGE:
        return


def headline(evaluation: LabelEvaluation) -> list[str]:
    """The chief measures, with their intervals."""
    return measure_lines(*((TITLES[name], *evaluation.measures[name]) for name in HEADLINE))


def evaluation_lines(evaluation: LabelEvaluation) -> Iterator[str]:
    """All that was measured."""
    yield from measure_lines(*evaluation.rows())
    yield faint(f"  on {counted(evaluation.n, 'row')}; ranges are 95 % intervals")
    gap = "mean gap between stated probability and share of texts with the label"
    yield faint(f"  calibration error {evaluation.calibration_error:.4f} ({gap})")
    for note in evaluation.notes():
        said = note.removeprefix("warning: ")
        yield f"  {warning(said) if said != note else one_line(note)}"
    yield ""
    yield from _by_label(evaluation)


def _by_label(evaluation: LabelEvaluation) -> Iterator[str]:
    measures = evaluation.by_label
    rows = []
    for label in sorted(measures, key=lambda label: -measures[label]["rows"])[:MEASURED_CLASSES]:
        row = measures[label]
        parts = [f"{row[name]:.4f}" for name in ("precision", "recall", "f1")]
        rows.append([one_line(label), *parts, f"{row['rows']:,.0f}", f"{row['given']:,.0f}"])
    yield from table(("label", "precision", "recall", "F1", "texts", "given"), rows)
    if len(measures) > len(rows):
        yield faint(f"  and {counted(len(measures) - len(rows), 'rarer label')}, which `--json` lists")
