"""Which word said what: log-odds that add up, in the text itself, and what would change the answer.

Read `explanation` first (what one gets), then `decompose` (the sum), `read_text` with `place` (where in the
text), `by_word` (what each word adds where features are pairs or letters), `flip` with `unit` (the fewest
words to remove), and `markup` (as HTML). From outside: the names below, and `markup` for pages.
"""

from textodds.model.base import OTHERS
from textodds.model.explain.by_word import Stretch
from textodds.model.explain.contribution import Contribution
from textodds.model.explain.decompose import explain
from textodds.model.explain.explanation import Explanation, Line, visible
from textodds.model.explain.flip import DecisiveWords
from textodds.model.explain.place import PlacedTerm, placed_terms
from textodds.model.explain.read_text import ReadText

__all__ = [
    "OTHERS",
    "Contribution",
    "DecisiveWords",
    "Explanation",
    "Line",
    "PlacedTerm",
    "ReadText",
    "Stretch",
    "explain",
    "placed_terms",
    "visible",
]
