"""The laboratory: all models on the same rows, with intervals, tests, times and learning curves."""

from textodds.comparing.comparison import Comparison
from textodds.comparing.entry import compare, prepared
from textodds.comparing.laboratory import Laboratory

__all__ = ["Comparison", "Laboratory", "compare", "prepared"]
