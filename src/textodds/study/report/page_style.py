"""How a page looks: light and dark, on a phone, on a desk and on paper."""

from __future__ import annotations

from importlib.resources import files

from textodds.study.report.palette import COLOURS, FAINT, INK

DARK = ("#4aa8e0", "#f08a4b", "#35c496", "#e0a0c4", "#7cc9f2", "#f0b429", "#e8e8e8", "#f0e442")
"""The colours of the classes where the page is dark, in the order of the palette, with black as white."""


def _colours(colours: tuple[str, ...], ink: str, faint: str, paper: str, line: str, box: str) -> str:
    named = {"ink": ink, "faint": faint, "paper": paper, "line": line, "box": box}
    named |= {f"c{k}": colour for k, colour in enumerate(colours)}
    return ";".join(f"--{key}:{value}" for key, value in named.items())


LIGHT_COLOURS = _colours(COLOURS, INK, FAINT, "#ffffff", "#dddddd", "#f6f6f4")
DARK_COLOURS = _colours(DARK, "#e6e6e3", "#a0a09a", "#18191b", "#3a3b3e", "#222326")

ROOT = f"""
:root{{color-scheme:light dark;{LIGHT_COLOURS}}}
@media screen and (prefers-color-scheme:dark){{:root{{{DARK_COLOURS}}}}}
"""

STYLE = ROOT + "\n" + files("textodds.study.report").joinpath("page.css").read_text(encoding="utf-8")
