"""What a reference leads to: nothing by chance, and nothing outside the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

PAGES = {"benchmarks/results/README": "benchmarks", "CHANGELOG": "changes", "CONTRIBUTING": "contributing"}
"""Files of the project that a page here includes, without their ending, and that page."""


def only_ours(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that come from scikit-learn: its documentation has them."""
    home = str(getattr(member, "__module__", None) or "")
    return True if home.startswith("sklearn") else None


def settled(app: Sphinx, doctree: nodes.document) -> None:
    """Make plain text of words that are taken for types, and lead links out of here to where they can go."""
    root = Path(app.srcdir).parent
    for link in list(doctree.findall(addnodes.pending_xref)):
        target = str(link.get("reftarget", ""))
        if link.get("refspecific") and target.islower() and "." not in target:
            link.replace_self(nodes.emphasis(text=target))  # "array of shape (n,)": `shape` is no class
        elif link.get("refdomain") == "doc" and target.startswith("/"):  # a page outside this folder
            name = Path(target).relative_to(root).as_posix()
            if name in PAGES:
                link["reftarget"] = PAGES[name]
            else:
                link.replace_self(link.children)
        elif link.get("reftype") == "myst" and target.endswith(
            ".json"
        ):  # raw timings, beside the page included
            link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the handlers known to Sphinx."""
    app.connect("autodoc-skip-member", only_ours)
    app.connect("doctree-read", settled)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
