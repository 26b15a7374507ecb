"""Which word said what: log-odds that add up, in the text itself, and what would change the answer."""

from textodds.model.explain.decompose import explain
from textodds.model.explain.explanation import OTHERS, Contribution, Explanation
from textodds.model.explain.flip import Flip
from textodds.model.explain.place import PlacedTerm, placed_terms
from textodds.model.explain.read_text import ReadText
from textodds.model.explain.stretches import Stretch

__all__ = [
    "OTHERS",
    "Contribution",
    "Explanation",
    "Flip",
    "PlacedTerm",
    "ReadText",
    "Stretch",
    "explain",
    "placed_terms",
]
