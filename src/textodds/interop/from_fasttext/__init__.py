"""Classifiers of fastText as models of ours.

`file` reads a `.bin` or `.ftz` file and checks all of it (`fields` one by one), `matrix` its matrices,
quantised or not; `model` folds the two of them into one weight for each feature and label, and `promises`
calibrates it by held-out texts. From outside: `from_fasttext`.
"""

from textodds.interop.from_fasttext.model import from_fasttext

__all__ = ["from_fasttext"]
