"""Models as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textodds.errors import Unsupported
from textodds.judge.baseline import accuracy_sentence
from textodds.judge.evaluation import held_out_measures
from textodds.judge.notebook import section, table

if TYPE_CHECKING:
    from textodds.model.base import BaseModel


def model_html(model: BaseModel[Any, Any]) -> str:
    """What a model is, what it learned from and how good it is, as HTML."""
    number, feature = model.extent
    learner = model.recipe.as_dict()["learner"]
    facts = [
        ["learner", learner if isinstance(learner, str) else learner["learner"]],
        [f"{feature}s", f"{number:,}"],
        [f"keeps its {model.rests_on}", "yes" if model.has_documents else "no"],
        *_quality(model),
    ]
    if "source" in model.info:
        facts.append(["learned from", str(model.info["source"])])
    try:
        rows = sorted(model.class_documents.items(), key=lambda item: (-item[1], item[0]))
    except Unsupported:  # saved without counts
        rows = []
    shown = [[name, f"{n:,.10g}"] for name, n in rows] or [[name, ""] for name in model.class_names]
    title = f"{type(model).__name__}: {len(model.class_names):,} classes, {number:,} {feature}s"
    return section(title, table(("", ""), facts, left=2), table(("class", model.rests_on), shown))


def _quality(model: BaseModel[Any, Any]) -> list[list[str]]:
    """How good a model is known to be."""
    measured, left_out = model.info.get("quality"), model.info.get("left_out")
    if goal := getattr(model, "goal", None):  # of several labels
        facts = [["calibrated", "no" if "uncalibrated" in model.info else "yes"], ["goal", str(goal)]]
        if isinstance(left_out, dict):
            facts.append(
                ["held out", f"log-loss a label {left_out['log_loss']:.4f}, {left_out['n']:,} texts"]
            )
        if isinstance(measured, dict) and isinstance(measured.get("micro_f1"), float):
            facts.append(["measured", f"micro-F1 {measured['micro_f1']:.4f}"])
        return facts
    facts = [["calibrated", "no" if model.calibration is None else "yes"]]
    held_out = held_out_measures(left_out, model.held_out, model.class_names)
    if held_out is not None:
        facts.append(["held out", accuracy_sentence(held_out)])
    if isinstance(measured, dict):
        facts.append(["measured", accuracy_sentence(measured)])
    return facts
