"""A model as one HTML page that runs it: no server, no network.

The page is the service's own: its style and its parts (`serve/page`), with `runtime/answers.js` in the
place of the service. All are read when the page is written, and put into one script.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from importlib.resources import files
from pathlib import Path

from textodds.data.written_file import replacing
from textodds.interop.portable.plain_model import as_json, plain_model
from textodds.interop.portable.to_python import runtime
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

MOST_WEIGHTS = 5_000_000

MODULES = {
    "dom": "service",
    "state": "service",
    "charts": "service",
    "model": "model.js",
    "api": "answers.js",
    "correct": "nothing.js",
    "rows": "nothing.js",
    "share": "nothing.js",
    "decide": "service",
    "why": "service",
    "chips": "service",
    "examples": "service",
    "try": "service",
    "page": "page.js",
}
"""The modules of the page, each behind those that it imports from: the service's, or a file of `runtime/`."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:const|function|class)\*? ([\w$]+))", re.MULTILINE)


def to_page(model: TextModel | MultiLabelModel, path: str | os.PathLike[str]) -> None:
    """Write a model as one HTML page: a box to type in, the answer, why, why not another, and costs.

    The page needs no server and asks no network: its policy forbids both. Answers are those of the model,
    probabilities to 1e-9.
    """
    plain = plain_model(model, "a page", MOST_WEIGHTS, Path(path).stem)
    style, script = _service("style.css"), bundle()
    icon = "data:image/svg+xml;base64," + base64.b64encode(_service("icon.svg").encode()).decode()
    parts = {
        "policy": "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        "icon": icon,
        "style": style,
        "script": script,
        "model": as_json(plain),
    }
    page = re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], runtime("page.html"))
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def bundle() -> str:
    """All modules as one script: each a function of its own, which returns what it exports."""
    out = []
    for name, where in MODULES.items():
        source = _service(f"{name}.js") if where == "service" else runtime(where)
        exported = ", ".join(found[2] for found in _EXPORT.finditer(source))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(_bound, source))
        out.append(f"const module_{name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n")
    return '"use strict";\n' + "".join(out)


def _bound(found: re.Match[str]) -> str:
    """What a module takes from another, as the names of constants."""
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", found[1])
    return f"const {{{names}}} = module_{found[2]};\n"


def _service(name: str) -> str:
    return (files("textodds.serve") / "page" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """A part of the page as its policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
