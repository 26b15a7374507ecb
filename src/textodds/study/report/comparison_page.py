"""The page of a comparison: models side by side, in tables, sentences and pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from textodds.study.report import comparison_pictures as pictures
from textodds.study.report.page import duration, render, size

if TYPE_CHECKING:
    from textodds.study.compare.comparison import Comparison


def comparison_page(found: Comparison) -> str:
    """The page, self-contained."""
    has_curves = any(len(curve.points) > 1 for curve in found.curves)
    equals = [each.other for each in found.tests if each.measure == "accuracy" and not each.is_told]
    return render(
        "comparison.html",
        title=f"{len(found.rows)} models side by side" if len(found.rows) != 1 else "One model",
        found=found,
        best=_best(found) if found.rows else [],
        equals=" and ".join(filter(None, (", ".join(equals[:-1]), *equals[-1:]))),
        figures={
            "accuracy": pictures.accuracy_dots(found) if found.rows else None,
            "curves": pictures.learning_curves(found) if has_curves else None,
            "times": pictures.time_scatter(found) if len(found.rows) > 1 else None,
            "reliability": pictures.reliability_panels(found) if found.rows else None,
        },
    )


def _best(found: Comparison) -> list[tuple[str, str, str]]:
    """The best by each measure: the measure, the model, and its value."""
    best = found.rows[0]
    low, high = best.evaluation.accuracy_interval
    boxes = [("most accurate", best.name, f"{best.evaluation.accuracy:.2%} ({low:.2%} to {high:.2%})")]
    if known := [row for row in found.rows if math.isfinite(row.evaluation.log_loss)]:
        surest = min(known, key=lambda row: row.evaluation.log_loss)
        low, high = surest.evaluation.log_loss_interval
        told = f"{surest.evaluation.log_loss:.4f} ({low:.4f} to {high:.4f})"
        boxes.append(("best log-loss", surest.name, told))
    fastest = min(found.rows, key=lambda row: row.training.cpu)
    smallest = min(found.rows, key=lambda row: row.bytes)
    return [
        *boxes,
        ("fastest to train", fastest.name, f"{duration(fastest.training.cpu)} of processor time"),
        ("smallest file", smallest.name, size(smallest.bytes)),
    ]
