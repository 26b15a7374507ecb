"""The laboratory: all models on the same rows, with intervals, tests, times and learning curves."""

from textodds.study.compare.comparison import Comparison
from textodds.study.compare.entry import compare, prepared
from textodds.study.compare.laboratory import Laboratory

__all__ = ["Comparison", "Laboratory", "compare", "prepared"]
