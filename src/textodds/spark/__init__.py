"""textodds on Spark: the same models, counted and asked where the data is.

Every task counts its partition by the kernels that count on one machine; tallies are added up by Spark,
and the model is made of their sum. Nothing here schedules anything: Spark does.
"""

from __future__ import annotations

from textodds.spark.asking import explain, leave_one_out, predict, register
from textodds.spark.estimator import TextClassifier, TextClassifierModel
from textodds.spark.measuring import evaluate
from textodds.spark.packing import pack
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
