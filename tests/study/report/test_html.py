"""Pages hold what they are given, and nothing of it runs."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib", reason="pages need matplotlib: pip install 'textodds[plot]'")

from textodds.errors import Unsupported
from textodds.study.report.page import environment, require_page
from textodds.study.report.picture import COLOURS, FAINT, INK, empty_figure

from .pages import Page, filled, harmless

NASTY = '<script>alert("1")</script><h2>no</h2>&amp;\x00\x1b'

EVERYTHING = """
{% call ui.section(text) %}
<p>{{ text }}</p>
{% call ui.table([text, text], text) %}{{ ui.row(text, [text]) }}{% endcall %}
{% endcall %}
{% call ui.section("b") %}
{% call ui.details(text) %}{{ text }}{% endcall %}
{% call ui.details("shown", false) %}{{ text }}{% endcall %}
{% endcall %}
{% call ui.section("c") %}{{ ui.measures([(text, text, text)]) }}{% endcall %}
{% call ui.section("d") %}{% call ui.figure(drawn, text) %}{{ text }}{% endcall %}{% endcall %}
"""


def test_what_comes_from_data_is_shown_and_not_run_wherever_it_stands():
    page = filled(EVERYTHING, title=NASTY, text=NASTY, drawn=empty_figure(1, 1))
    found = harmless(page)
    shown = '<script>alert("1")</script><h2>no</h2>&amp;\ufffd\ufffd'
    assert found.text().count(shown) == 17  # the heading is listed, too
    assert [a["aria-label"] for tag, a in found.tags if tag == "svg"] == [shown]
    assert [tag for tag, _ in found.tags].count("h2") == 4


@given(st.text(), st.text())
def test_any_text_gives_a_page_whose_tags_are_closed_in_turn(title, text):
    main = """{% call ui.section(title) %}{{ text }}
    {% call ui.table([text]) %}{{ ui.row(text, []) }}{% endcall %}{% endcall %}"""
    page = harmless(filled(main, title=title, text=text))
    assert [tag for tag, _ in page.tags].count("section") == 1


def test_many_sections_are_listed_and_few_are_not():
    main = "{% for _ in range(n) %}{% call ui.section('same <name>') %}x{% endcall %}{% endfor %}"
    assert "<nav" not in filled(main, n=3)
    page = harmless(filled(main, n=4))
    assert page.ids == ["part-1", "part-2", "part-3", "part-4"]
    assert page.links == ["#part-1", "#part-2", "#part-3", "#part-4"]
    assert page.text().count("same <name>") == 8


def test_a_table_names_its_rows_and_columns():
    rows = "{{ ui.row('free', ['12']) }}{{ ui.row('prize', ['3']) }}"
    page = Page(filled("{% call ui.table(['word', 'rows'], 'counts') %}" + rows + "{% endcall %}"))
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    assert "counts word rows free 12 prize 3" in page.text()


def test_a_page_can_be_dark_narrow_and_printed():
    page = filled("")
    for feature in ("prefers-color-scheme:dark", "max-width:40rem", "@media print", 'name="viewport"'):
        assert feature in page
    assert filled("") == page


def test_the_colours_of_a_light_page_are_those_of_pictures():
    light = dict(re.findall(r"--(\w+):(#\w+)", filled("").partition("@media")[0]))
    assert [light[f"c{k}"] for k in range(8)] == list(COLOURS)
    assert (light["ink"], light["faint"]) == (INK, FAINT)


def test_what_a_template_lacks_is_an_error_and_not_a_gap():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="'absent' is undefined"):
        filled("{{ absent }}")


def test_without_jinja_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        Unsupported, match=r"needs jinja2, which is not installed\n*.*pip install 'textodds\[plot\]'"
    ):
        require_page()


def test_only_figures_and_highlighted_texts_are_html_already():
    loader = environment().loader
    sources = [loader.get_source(environment(), name)[0] for name in loader.list_templates()]
    marked = [line.strip() for source in sources for line in source.splitlines() if "| safe" in line]
    assert [re.search(r"{{ (.*?) }}", line)[1] for line in marked] == [
        "drawn | svg(alt) | safe",
        "each.excerpt | safe",
    ]
