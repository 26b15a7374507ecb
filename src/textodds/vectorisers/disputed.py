"""Characters of which this Python and the kernels know different things.

Every version of Unicode adds letters. Python has the tables of one version, the kernels of another: a letter
that only one of them knows is part of a word for it, and a gap for the other. Texts that hold such a
character are rare; they are left to scikit-learn, so that the result is always its own.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from textodds import _kernels

# All planes that hold characters, but for surrogates and private use. All else is no letter to anyone.
RANGES = ((0x80, 0xD800), (0xF900, 0x40000), (0xE0000, 0xE1000))


@cache
def disputed() -> str:
    """The characters in dispute, none where both have the same version of Unicode."""
    if unicodedata.unidata_version == ".".join(map(str, _kernels.unicode_version())):
        return ""
    characters = "".join(chr(code) for start, end in RANGES for code in range(start, end))
    return _kernels.disputed(
        characters,
        bytes(map(str.isalnum, characters)),
        bytes(map(str.isspace, characters)),
        "\n".join(map(str.lower, characters)),
    )


@cache
def undecomposed() -> str:
    """The characters that the kernels may decompose, and this Python does not know; see `disputed`."""
    if unicodedata.unidata_version == ".".join(map(str, _kernels.unicode_version())):
        return ""
    unknown = [chr(code) for start, end in RANGES for code in range(start, end)]
    return "".join(c for c in unknown if unicodedata.category(c) == "Cn")
