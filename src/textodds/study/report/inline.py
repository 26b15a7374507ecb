"""A figure of matplotlib as SVG that stands within a page, and takes its colours from it."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

from textodds.study.report.html import Markup
from textodds.study.report.palette import COLOURS, FAINT, INK
from textodds.study.report.picture import drawing

FONT = "system-ui,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
"""Letters of the page; most are narrower than those that matplotlib has measured, so that they fit."""

WIDE = 500
"""Pixels; a wider figure is not made smaller on a phone, where it could not be read, but can be moved."""

LEFT_OUT = {"metadata", "style", "title"}

NAMED = {
    colour.lower(): f"var(--{key},{colour.lower()})"
    for key, colour in [
        *((f"c{k}", colour) for k, colour in enumerate(COLOURS)),
        ("ink", INK),
        ("faint", FAINT),
    ]
}
FAMILY = re.compile(r"font-family: [^;]*;? ?")
COLOUR = re.compile("|".join(NAMED))


def svg(figure: Any) -> Markup:
    """The figure as an ``<svg>`` element, its text as text: to be read, found, and set in any script.

    The same figure gives the same text. Names within it differ from those of other figures. Colours of
    the palette are those of the page, which may be dark; so the figure itself has no background.
    """
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with drawing(), rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        # letters that its font lacks are only measured as boxes: the browser has them
        warnings.filterwarnings("ignore", message=r"(?s).*[Gg]lyph .* missing from")
        warnings.filterwarnings("ignore", message=r"(?s)Matplotlib currently does not support .* natively")
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    written = buffer.getvalue()
    root = ElementTree.fromstring(written)
    prefix = "f" + hashlib.sha256(written).hexdigest()[:10] + "-"
    used = {name for each in root.iter() for value in each.attrib.values() for name in _references(value)}
    _clean(root, prefix, used)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    wide = {"class": "wide"} if width * 96 / 72 > WIDE else {}
    kept = wide | {
        "viewBox": root.attrib["viewBox"],
        "width": f"{width * 96 / 72:.0f}",
        "height": f"{height * 96 / 72:.0f}",
        "font-family": FONT,
        "stroke-linejoin": "round",  # as its style has said, which would hold for the whole page
    }
    root.attrib.clear()
    root.attrib.update(kept)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _clean(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    """Drop what a page does not need, and make names its own, here and in all that is within."""
    element.tag = _local(element.tag)
    element.tail = None
    if element.tag != "text" and element.tag != "tspan":
        element.text = None
    attributes = {_local(key): value for key, value in element.attrib.items()}
    if (own := attributes.pop("id", None)) in used:
        attributes["id"] = prefix + str(own)
    for key, value in attributes.items():
        for name in _references(value):
            value = value.replace(f"#{name}", f"#{prefix}{name}")
        if key == "style":
            value = COLOUR.sub(lambda found: NAMED[found[0]], FAMILY.sub("", value))
        attributes[key] = value
    element.attrib.clear()
    element.attrib.update(attributes)
    for child in list(element):
        if _local(child.tag) in LEFT_OUT:
            element.remove(child)
        else:
            _clean(child, prefix, used)


def _references(value: str) -> list[str]:
    """The names that an attribute refers to: as ``#name``, or as ``url(#name)``."""
    if value.startswith("#"):
        return [value[1:]]
    return re.findall(r"url\(#([^)]+)\)", value)


def _local(name: str) -> str:
    """A name without its namespace, which HTML does not write."""
    return name.rpartition("}")[2]
