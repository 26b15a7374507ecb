"""Figures stand within a page: many on one, each as it was, in any script, with nothing to fetch."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")

from textodds.study.report import figures
from textodds.study.report.inline import svg
from textodds.study.report.picture import COLOURS, DASHES

from .pages import Page, filled, harmless

pytestmark = pytest.mark.slow

LABELS = ["<b>bold</b> & $x$", "עברית", "日本語", "_hidden", "हिन्दी\x07\n", "x" * 40]


def curve(k=1):
    x = np.linspace(0, 1, 50)
    return x, x ** (1 / k)


def drawn():
    counts = np.diag(np.arange(1, 7)) * 10 + 1
    near = [(0.5, (0.4, 0.6))] * 5 + [None]
    return {
        "curves": figures.curves({label: curve(k + 1) for k, label in enumerate(LABELS)}, ("x", "y")),
        "coverage": figures.coverage(*curve()),
        "reliability": figures.reliability([(5, 0.3, 0.2), (90, 0.98, 1.0)]),
        "classes": figures.by_class(LABELS, {"precision": near, "recall": near[::-1]}),
        "confusion": figures.confusion(LABELS, counts, counts.sum(axis=1)),
    }


def test_several_figures_share_a_page():
    each = "{% for name, each in drawn.items() %}{% call ui.figure(each, name) %}c{% endcall %}{% endfor %}"
    page = harmless(filled(each, drawn=drawn()))
    assert [tag for tag, _ in page.tags].count("svg") == 5
    assert [attributes["aria-label"] for tag, attributes in page.tags if tag == "svg"] == list(drawn())


def test_the_same_figure_gives_the_same_text_without_a_date():
    first, again = ({name: svg(each, name) for name, each in drawn().items()} for _ in range(2))
    assert first == again
    for text in first.values():
        assert not re.search(r"<metadata|<style|<!|<\?|xmlns|\d{4}-\d\d-\d\d", text)


@pytest.mark.parametrize("name", ["curves", "classes", "confusion"])
def test_names_of_classes_are_text_in_any_script(name):
    page = Page(svg(drawn()[name], name))
    texts = [text.strip("\u200b") for text in page.texts]
    for shown in ["<b>bold</b> & $x$", "עברית", "日本語", "_hidden", "हिन्दी\ufffd", "x" * 23 + "…"]:
        assert shown in texts


def test_curves_are_told_apart_without_their_colour():
    many = {f"c{k}": curve(k + 1) for k in range(8)}
    paths = [a for tag, a in Page(svg(figures.curves(many, ("x", "y")), "")).tags if tag == "path"]
    styles = [a["style"] for a in paths if "stroke-width: 1.6" in a.get("style", "")]
    assert len({re.search(r"stroke: ([^;]*)", style)[1] for style in styles}) == len(COLOURS)
    assert len({re.sub(r"stroke: [^;]*", "", style) for style in styles}) == len(DASHES)


def test_a_curve_of_a_million_points_is_drawn_with_few_that_end_where_it_ends():
    x = np.linspace(0, 1, 1_000_000)
    text = svg(figures.curves({"a": (x, np.sqrt(x))}, ("x", "y"), diagonal=True), "")
    assert len(text) < 80_000


def test_cells_hold_their_counts_and_wrong_ones_are_seen():
    counts = np.array([[90, 10], [0, 123_456]])
    page = Page(svg(figures.confusion(["a", "b"], counts, np.array([100, 123_456])), ""))
    assert {"90", "10", "·", "123k"} <= set(page.texts)
    shades = [
        (figures.RIGHT if figures.RIGHT in a["style"] else figures.WRONG, a["style"])
        for tag, a in page.tags
        if tag == "path" and "opacity" in a.get("style", "")
    ]
    opacity = [float(re.search(r"opacity: ([\d.]+)", style)[1]) for _, style in shades]
    assert [colour for colour, _ in shades] == [figures.RIGHT, figures.WRONG, figures.RIGHT]
    assert opacity == pytest.approx([figures.SHADE * share**0.5 for share in (0.9, 0.1, 1.0)], abs=1e-6)
