"""textodds on Spark: the same models, counted and asked where the data is.

Every task counts its partition by the kernels that count on one machine; tallies are added up by Spark,
and the model is made of their sum. Nothing here schedules anything: Spark does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textodds.spark.archive import pack
    from textodds.spark.estimator import TextClassifier, TextClassifierModel
    from textodds.spark.prediction import explain, leave_one_out, predict, register
    from textodds.spark.quality import evaluate
    from textodds.spark.training import train

__all__ = [
    "TextClassifier",
    "TextClassifierModel",
    "evaluate",
    "explain",
    "leave_one_out",
    "pack",
    "predict",
    "register",
    "train",
]

_HOME = {
    "archive": ("pack",),
    "estimator": ("TextClassifier", "TextClassifierModel"),
    "prediction": ("explain", "leave_one_out", "predict", "register"),
    "quality": ("evaluate",),
    "training": ("train",),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first wanted: tasks need few of them, and every worker imports anew."""
    for home, names in _HOME.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(f"textodds.spark.{home}"), name))
    raise AttributeError(f"module 'textodds.spark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
