"""What is a word, an n-gram, a weight; and which are kept.

`settings` says how a text is cut (into `units`, without `stop_words`), which terms are kept and what they are
worth; `vocabulary` numbers the words.

From outside: the names below, and `settings.FEATURES`.
"""

from textodds.text.settings import Selection, TextSettings, Weighting
from textodds.text.vocabulary import UNKNOWN, Vocabulary

__all__ = ["UNKNOWN", "Selection", "TextSettings", "Vocabulary", "Weighting"]
