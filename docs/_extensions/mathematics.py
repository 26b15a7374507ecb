"""Formulas as MathML, made when the pages are built: browsers show them without a script or the network."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

ENVIRONMENT = re.compile(r"\\begin\{[^}]*\}.*?\\end\{[^}]*\}", re.DOTALL)
"""Within which ``&`` and line ends are the environment's own."""

SIZED = re.compile(r"(\\[bB]igg?r\s*(?:[)\]|]|\\[a-zA-Z]+|\\\}))(?=[_^])")
"""A tall bracket with an index, which browsers draw small again: the index is given a base of its own."""


def as_mathml(latex: str, *, displayed: bool) -> str:
    r"""MathML of a formula; numbers such as ``\tag{1}`` stand at the right.

    >>> "<mi>x</mi>" in as_mathml("x^2", displayed=False)
    True
    """
    latex = SIZED.sub(r"\1{}", latex.strip())
    if displayed:
        outside = ENVIRONMENT.sub("", latex)
        if "&" in outside or r"\\" in outside:
            latex = rf"\begin{{align*}}{latex}\end{{align*}}"
        elif r"\tag" in latex:
            latex = rf"\begin{{equation*}}{latex}\end{{equation*}}"
    return LatexToMathML(fancy_error=False).convert_with_local_state(latex, displaystyle=displayed)


def _converted(latex: str, node: nodes.Element, *, displayed: bool) -> str:
    try:
        return as_mathml(latex, displayed=displayed)
    except LatexError as error:
        logger.warning("cannot read the formula %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(_converted(node.astext(), node, displayed=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, or several that blank lines stand between."""
    for latex in re.split(r"\n\s*\n", node.astext().strip()):
        writer.body.append(f'<div class="formula">{_converted(latex, node, displayed=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the renderer known to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
