"""Documents in whatever form scikit-learn takes them, for the kernels.

Every version of Unicode adds letters. Python has the tables of one version, the kernels of another: a letter
that only one of them knows is part of a word for it, and a gap for the other. Texts that hold such a
character are rare; they are left to scikit-learn, so that the result is always its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import cache
from typing import IO, TypeAlias, cast

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, strip_accents_unicode

from textodds import _kernels
from textodds._kernels import Held
from textodds.errors import InputError

Vectoriser: TypeAlias = CountVectorizer | HashingVectorizer
Documents: TypeAlias = Iterable[object]
"""Texts, bytes or files: a list, a generator, a column of pandas or Arrow."""

BLOCK = 4096  # characters that are looked at together, when a text has one of them


def replayable(vectoriser: Vectoriser, documents: Documents) -> Sequence[object]:
    """The documents, which can then be gone through more than once."""
    if isinstance(documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if type(documents).__module__.startswith("pyarrow"):
        column = cast("Sequence[object]", documents)
        return column if hasattr(documents, "__arrow_c_array__") else plain(column)
    if vectoriser.input == "file":  # which can be read only once
        read = (file.read() for file in cast("Iterable[IO[str]]", documents))
        return [io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text) for text in read]
    return documents if isinstance(documents, list | tuple) else list(documents)


def plain(documents: Sequence[object]) -> Sequence[object]:
    """The documents as scikit-learn takes them."""
    return documents.to_pylist() if hasattr(documents, "to_pylist") else documents


def hold(vectoriser: Vectoriser, documents: Sequence[object]) -> Held | None:
    """The documents as the kernels take them; None if one is for scikit-learn only."""
    try:
        texts = Held(documents if vectoriser.input == "content" else None)
    except InputError:  # files, bytes, or what is no text
        decoded = [vectoriser.decode(document) for document in documents]
        for file in cast("Sequence[IO[str]]", documents) if vectoriser.input == "file" else ():
            file.seek(0)
        try:
            texts = Held(decoded)
        except InputError:  # half a character, or what is no text after all
            return None
    strange = "".join(map(disputed, texts.blocks()))
    return None if strange and texts.holds(strange) else texts


@cache
def disputed(block: int) -> str:
    """The characters in dispute in a block.

    Besides their own lower case, that of a sigma depends on them: at the end of a word it is another.
    """
    codes = range(max(block * BLOCK, 0x80), (block + 1) * BLOCK)
    characters = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
    return _kernels.disputed(
        characters,
        bytes(map(str.isalnum, characters)),
        bytes(map(str.isspace, characters)),
        "\n".join(f"{c}\t{c}Σ\ta{c}Σ\taΣ{c}a\taΣ{c}".lower() for c in characters),
        "\n".join(map(strip_accents_unicode, characters)),
    )
