"""Documents in whatever form scikit-learn takes them, for the kernels."""

from __future__ import annotations

from typing import Any

from textodds._kernels import Held
from textodds.errors import InputError
from textodds.vectorisers.disputed import disputed

BATCH = 1024
"""Files that are read together."""


def checked(documents: Any) -> Any:
    """The documents, which can then be gone through more than once."""
    if isinstance(documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if isinstance(documents, list | tuple) or hasattr(documents, "__arrow_c_array__"):
        return documents
    if type(documents).__module__.startswith("pyarrow"):
        return documents.to_pylist()
    return list(documents)


def held(vectoriser: Any, documents: Any) -> list[Held] | None:
    """The documents in batches as the kernels take them; None if one is for scikit-learn only."""
    if vectoriser.input == "content":
        batches = [documents]
    else:
        batches = [documents[start : start + BATCH] for start in range(0, len(documents), BATCH)]
    texts = []
    for batch in batches:
        if (kept := _held(vectoriser, batch)) is None:
            return None
        texts.append(kept)
    return texts


def _held(vectoriser: Any, documents: Any) -> Held | None:
    try:
        texts = Held(documents)
    except InputError:  # files, bytes, or what is no text
        decoded = [vectoriser.decode(document) for document in documents]
        try:
            texts = Held(decoded)
        except InputError:  # half a character, or what is no text after all
            return None
    strange = "".join(map(disputed, texts.blocks()))
    return None if strange and texts.holds(strange) else texts
