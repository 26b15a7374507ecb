"""From text to features: settings, vocabulary, weighting, and which words a model keeps."""

from textodds.text.selection import Selection
from textodds.text.settings import TextSettings
from textodds.text.vocabulary import UNKNOWN, Vocabulary
from textodds.text.weighting import Weighting

__all__ = ["UNKNOWN", "Selection", "TextSettings", "Vocabulary", "Weighting"]
