"""Documents in whatever form scikit-learn takes them, for the kernels."""

from __future__ import annotations

import io
from typing import Any

from textodds._kernels import Held
from textodds.errors import InputError
from textodds.interop.vectorisers.unicode_differences import disputed


def replayable(vectoriser: Any, documents: Any) -> Any:
    """The documents, which can then be gone through more than once."""
    if isinstance(documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if type(documents).__module__.startswith("pyarrow"):
        return documents if hasattr(documents, "__arrow_c_array__") else documents.to_pylist()
    if vectoriser.input == "file":  # which can be read but once
        read = (document.read() for document in documents)
        return [io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text) for text in read]
    return documents if isinstance(documents, list | tuple) else list(documents)


def plain(documents: Any) -> Any:
    """The documents as scikit-learn takes them."""
    return documents.to_pylist() if hasattr(documents, "to_pylist") else documents


def hold(vectoriser: Any, documents: Any) -> Held | None:
    """The documents as the kernels take them; None if one is for scikit-learn only."""
    try:
        texts = Held(documents if vectoriser.input == "content" else None)
    except InputError:  # files, bytes, or what is no text
        decoded = [vectoriser.decode(document) for document in documents]
        for document in documents if vectoriser.input == "file" else ():
            document.seek(0)
        try:
            texts = Held(decoded)
        except InputError:  # half a character, or what is no text after all
            return None
    strange = "".join(map(disputed, texts.blocks()))
    return None if strange and texts.holds(strange) else texts
