"""scikit-learn's text vectorisers with the kernels of textodds inside: the same matrices, sooner.

Each is a subclass of scikit-learn's class of the same name. Where the kernels cut texts as scikit-learn
would (`settings`), they do the work; everything else (callables, patterns of any kind) is left to the parent,
which gives the same result in its own time.

Read `count` first, then `tfidf` and `hashing`; `names` is a packed vocabulary, `raw_documents` whatever
scikit-learn takes as texts, and the characters that are left to it. From outside: the names below, and
`names.Names`.
"""

from textodds.interop.vectorisers.count import CountVectorizer
from textodds.interop.vectorisers.hashing import HashingVectorizer
from textodds.interop.vectorisers.tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
