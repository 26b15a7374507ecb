"""Signatures and docstrings as a reader would write them."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SHORTER = (
    (
        re.compile(
            r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?(?:numpy\.)?dtype\[([^\[\]]*)\]\]"
        ),
        r"NDArray[\1]",
    ),
    (
        re.compile(
            r"~?[\w.]*_Buffer \| ~?[\w.]*_SupportsArray.*?"
            r" \| ~?[\w.]*_NestedSequence\[complex \| bytes \| str\]"
        ),
        "ArrayLike",
    ),
)
"""What NumPy's names for arrays stand for, which they are replaced with when types are looked up."""


def shorter(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """The signature with arrays by their short names."""
    for pattern, short in SHORTER:
        signature = signature and pattern.sub(short, signature)
        returns = returns and pattern.sub(short, returns)
    return signature, returns


def undivided(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep what stands before a colon in the description of a constant from being taken for its type."""
    if what in ("data", "attribute", "property") and lines:
        lines[0] = lines[0].replace(": ", " – ", 1)


def dashed(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put a dash between a parameter and what is said of it, where napoleon writes two hyphens."""
    lines[:] = [re.sub(r"(\*\*|\)) -- ", r"\1 – ", line, count=1) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the handlers known to Sphinx."""
    app.connect("autodoc-process-signature", shorter)
    app.connect("autodoc-process-docstring", undivided, priority=400)  # before napoleon, at 500
    app.connect("autodoc-process-docstring", dashed, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
