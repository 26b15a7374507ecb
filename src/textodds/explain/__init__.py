"""Which word said what: log-odds that add up, in the text itself, and what would change the answer."""

from textodds.explain.decompose import explain
from textodds.explain.explanation import OTHERS, Contribution, Explanation
from textodds.explain.flip import Flip
from textodds.explain.place import Placed, placed_terms
from textodds.explain.reading import Reading
from textodds.explain.stretches import Stretch

__all__ = [
    "OTHERS",
    "Contribution",
    "Explanation",
    "Flip",
    "Placed",
    "Reading",
    "Stretch",
    "explain",
    "placed_terms",
]
