"""Characters of which this Python and the kernels know different things.

Every version of Unicode adds letters. Python has the tables of one version, the kernels of another: a letter
that only one of them knows is part of a word for it, and a gap for the other. Texts that hold such a
character are rare; they are left to scikit-learn, so that the result is always its own.
"""

from __future__ import annotations

from functools import cache

from sklearn.feature_extraction.text import strip_accents_unicode

from textodds import _kernels

BLOCK = 4096  # characters that are looked at together, when a text has one of them


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
