"""Pages hold what they are given, and nothing of it runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textodds.study.report.html import (
    Markup,
    details,
    document,
    figure,
    joined,
    measures,
    name,
    paragraph,
    section,
    table,
)

from .pages import Page, harmless

NASTY = '<script>alert("1")</script><h2>no</h2>&amp;\x00\x1b'


def test_what_comes_from_data_is_shown_and_not_run_wherever_it_stands():
    page = document(
        NASTY,
        section(NASTY, NASTY, table([NASTY, NASTY], [[NASTY, NASTY]], caption=NASTY)),
        section("b", paragraph(NASTY, note=True), details(NASTY, NASTY)),
        section("c", measures([(NASTY, NASTY, NASTY)])),
        section("d", figure(Markup('<svg viewBox="0 0 1 1"></svg>'), NASTY, NASTY)),
        NASTY,
        lead=joined("of ", name(NASTY)),
    )
    found = harmless(page)
    shown = '<script>alert("1")</script><h2>no</h2>&amp;\ufffd\ufffd'
    assert found.text().count(shown) == 19  # the heading is listed, too
    assert [a["aria-label"] for tag, a in found.tags if tag == "svg"] == [shown]
    assert [tag for tag, _ in found.tags].count("h2") == 4


@given(st.text(), st.text())
def test_any_text_gives_a_page_whose_tags_are_closed_in_turn(title, text):
    page = harmless(document(title, section(title, text, table([text], [[text]])), lead=text))
    assert [tag for tag, _ in page.tags].count("section") == 1


def test_markup_is_not_escaped_again():
    assert paragraph(joined("a < b, ", Markup("<b>c</b>"))) == "<p>a &lt; b, <b>c</b></p>"
    assert isinstance(joined("a"), Markup)


def test_many_sections_are_listed_and_few_are_not():
    assert "<nav" not in document("t", *(section(f"s{i}", "x") for i in range(3)))
    page = harmless(document("t", *(section("same <name>", "x") for i in range(4))))
    assert page.ids == ["part-1", "part-2", "part-3", "part-4"]
    assert page.links == ["#part-1", "#part-2", "#part-3", "#part-4"]
    assert page.text().count("same <name>") == 8


def test_a_table_names_its_rows_and_columns():
    page = Page(table(["word", "rows"], [["free", "12"], ["prize", "3"]], caption="counts"))
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    assert page.text() == "counts word rows free 12 prize 3"


def test_a_page_can_be_dark_narrow_and_printed():
    page = document("t")
    for feature in ("prefers-color-scheme:dark", "max-width:40rem", "@media print", 'name="viewport"'):
        assert feature in page
    assert document("t") == page


@pytest.mark.parametrize("level", [2, 3])
def test_sections_within_sections_have_smaller_headings(level):
    assert section("a", "b", level=level).startswith(f"<section><h{level}>a</h{level}>")
