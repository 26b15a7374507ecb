"""scikit-learn's text vectorisers with the kernels of textodds inside: the same matrices, sooner.

Each is a subclass of scikit-learn's class of the same name. Where the kernels cut texts as scikit-learn
would (`cutting`), they do the work; everything else (callables, patterns of any kind) is left to the parent,
which gives the same result in its own time.
"""

from textodds.interop.vectorisers.count import CountVectorizer
from textodds.interop.vectorisers.hashing import HashingVectorizer
from textodds.interop.vectorisers.tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
