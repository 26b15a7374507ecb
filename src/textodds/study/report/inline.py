"""A figure of matplotlib as SVG that stands within a page, and takes its colours from it."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from textodds.judge.notebook import CONTROL
from textodds.study.report.picture import COLOURS, FAINT, INK, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "system-ui,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
"""Letters of the page; most are narrower than those that matplotlib has measured, so that they fit."""

WIDE = 500
"""Pixels; a wider figure is not made smaller on a phone, where it could not be read, but can be moved."""

LEFT_OUT = {"metadata", "style", "title"}

NAMES = {f"c{k}": colour for k, colour in enumerate(COLOURS)} | {"ink": INK, "faint": FAINT}
VARIABLES = {colour.lower(): f"var(--{name},{colour.lower()})" for name, colour in NAMES.items()}

FAMILY = re.compile(r"font-family: [^;]*;? ?")
COLOUR = re.compile("|".join(VARIABLES))
REFERENCE = re.compile(r"(^#|url\(#)([^)]+)")  # `#name`, or `url(#name)`


def svg(figure: Figure, alt: str) -> str:
    """The figure as an ``<svg>`` element, its text as text: to be read, found, and set in any script.

    ``alt`` says what it shows to those who cannot see it. The same figure gives the same text. Names
    within it differ from those of other figures. Colours of the palette are those of the page, which may
    be dark; so the figure itself has no background.
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
    values = [value for each in root.iter() for value in each.attrib.values()]
    _clean(root, prefix, {found[2] for value in values for found in REFERENCE.finditer(value)})
    box = root.attrib["viewBox"]
    width, height = (float(inches) * 96 / 72 for inches in box.split()[2:])
    root.attrib = {"role": "img", "aria-label": CONTROL.sub("\ufffd", alt), "viewBox": box}
    root.attrib |= {"width": f"{width:.0f}", "height": f"{height:.0f}", "font-family": FONT}
    root.attrib["stroke-linejoin"] = "round"  # as its style has said, which would hold for the whole page
    if width > WIDE:
        root.attrib["class"] = "wide"
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    """Drop what a page does not need, and make names its own, here and in all that is within."""
    element.tag, element.tail = _local(element.tag), None
    if element.tag not in ("text", "tspan"):
        element.text = None
    attributes = {
        _local(key): REFERENCE.sub(rf"\1{prefix}\2", value) for key, value in element.attrib.items()
    }
    if (own := attributes.pop("id", None)) in used:
        attributes["id"] = f"{prefix}{own}"
    if "style" in attributes:
        plain = FAMILY.sub("", attributes["style"])
        attributes["style"] = COLOUR.sub(lambda found: VARIABLES[found[0]], plain)
    element.attrib = attributes
    for child in list(element):
        if _local(child.tag) in LEFT_OUT:
            element.remove(child)
        else:
            _clean(child, prefix, used)


def _local(name: str) -> str:
    """A name without its namespace, which HTML does not write."""
    return name.rpartition("}")[2]
