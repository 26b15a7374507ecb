"""The directive ``source``: a function of the project as it is, without its docstring.

Its content is a file and a name within, ``src/textodds/learn/forms/linear.py: log_softmax``, so that who
reads the page as plain text knows where to look too.
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import container_wrapper
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


def code_of(text: str, name: str) -> str:
    """The lines of a function or class in a module, by its name within, less the docstring."""
    found: Any = ast.parse(text)
    for part in name.split("."):
        found = next(node for node in found.body if getattr(node, "name", None) == part)
    first = min([found.lineno, *(line.lineno for line in found.decorator_list)])
    kept = set(range(first, found.end_lineno + 1))
    if ast.get_docstring(found) is not None:
        kept -= set(range(found.body[0].lineno, found.body[0].end_lineno + 1))
    lines = text.splitlines()
    return dedent("\n".join(lines[number - 1] for number in sorted(kept)))


class Source(SphinxDirective):
    """A function of the project, under the name of its file."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The lines, with a caption."""
        (place,) = [line for line in self.content if line.strip()]
        file, _, name = (part.strip() for part in place.partition(":"))
        path = ROOT / file
        self.env.note_dependency(str(path))
        try:
            code = code_of(path.read_text(encoding="utf-8"), name)
        except (OSError, StopIteration) as error:
            raise self.error(f"there is no `{name}` in {file}") from error
        block = nodes.literal_block(code, code, language="python")
        return [container_wrapper(self, block, file)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known to Sphinx."""
    app.add_directive("source", Source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
