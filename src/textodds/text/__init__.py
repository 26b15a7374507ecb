"""What is a word, an n-gram, a weight; and which are kept.

`settings` says how a text is cut (`units`, `stop_words`; `features` are named settings), `vocabulary` numbers
the words, `selection` keeps some of them, `weighting` makes rows of counts.

From outside: the names below, and `features.FEATURES`.
"""

from textodds.text.selection import Selection
from textodds.text.settings import TextSettings
from textodds.text.vocabulary import UNKNOWN, Vocabulary
from textodds.text.weighting import Weighting

__all__ = ["UNKNOWN", "Selection", "TextSettings", "Vocabulary", "Weighting"]
