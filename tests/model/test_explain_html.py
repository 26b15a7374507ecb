"""An explanation as HTML shows everything and runs nothing."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_explain_sum import MODELS

import textodds
from explain_texts import LABELS, TEXTS
from pairs import together
from textodds.errors import Unsupported
from textodds.model.explain import Explanation
from textodds.model.explain.markup import BARS, page
from unicode_texts import texts

HOSTILE = '<script>alert(1)</script> <img src=x onerror="alert(2)"> free\' & " onmouseover=x </p>'
TAGS = {
    "section",
    "p",
    "strong",
    "mark",
    "span",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "bdi",
    "div",
}


class Reader(HTMLParser):
    """What a browser would make of it: tags, their attributes, the text of the first `pre-wrap` paragraph."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.text, self.cells = [], [], [], "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta",):
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if any(tag == "p" and "dir" in attrs for tag, attrs in self.open):
            self.text += data
        if self.open and self.open[-1][0] == "td":
            self.cells.append(data)


@given(model=st.sampled_from(sorted(MODELS)).map(MODELS.__getitem__), text=texts)
def test_the_text_is_all_there_and_no_tag_of_its_own(model, text):
    read = Reader(model.explain(text).html())
    shown = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", text)
    assert read.text == shown
    assert set(read.tags) <= TAGS
    assert {name for name, _ in read.attributes} <= {"class", "style", "dir", "title", "scope", "aria-hidden"}
    assert not read.open


def test_what_is_hostile_in_text_or_labels_is_shown_and_not_run():
    label = "<script>x</script>"
    model = textodds.train([*TEXTS, HOSTILE], [*LABELS, label], unit="whitespace")
    html = model.explain(HOSTILE).html()
    assert Reader(html).text == HOSTILE
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;x" in html
    assert "script-src" not in page(model.explain(HOSTILE))
    assert "default-src 'none'" in page(model.explain(HOSTILE))


def test_the_number_of_a_word_is_told_in_words_and_not_by_colour_alone():
    got = MODELS["multinomial"].explain("free report", "spam", "work")
    html = got.html()
    says = {stretch.word: stretch.log_odds for stretch in got.stretches}
    assert f'title="{says["free"]:+.2f}, for spam"' in html
    assert f'title="{says["report"]:+.2f}, for work"' in html
    assert re.search(r"border-bottom:2px solid[^>]*>free<", html)
    assert re.search(r"border-bottom:2px dashed[^>]*>report<", html)


@together
@pytest.mark.parametrize("name", ["multinomial", "bernoulli", "calibrated"])
@pytest.mark.parametrize("rival", ["ham", "others"])
def test_the_lines_of_the_table_add_up_to_its_sum(name, rival):
    got = MODELS[name].explain("free prize at noon", "spam", rival)
    *parts, total = (float(cell) for cell in Reader(got.html()).cells)
    assert total == pytest.approx(got.log_odds, abs=0.005)
    assert sum(parts) == pytest.approx(total, abs=0.005 * (len(parts) + 1))
    assert len(parts) == len(got.lines)


def test_words_past_the_strongest_are_one_line_that_still_adds_up():
    many = " ".join(f"w{i}" for i in range(BARS + 9))
    model = textodds.train([many + " w0", "w1 w2"], ["x", "y"])
    got = model.explain(many)
    cells = [float(cell) for cell in Reader(got.html()).cells]
    assert len(cells) == 1 + BARS + 1 + 1
    assert "9 other words" in got.html()
    assert sum(cells[:-1]) == pytest.approx(cells[-1], abs=0.3)


def test_a_notebook_shows_the_html_and_without_a_text_the_lines():
    got = MODELS["multinomial"].explain("free at noon")
    assert got._repr_html_() == got.html()
    bare = Explanation("<b>", "y", 0.0, (), 0)
    assert bare._repr_html_() == "<pre>&lt;b&gt; rather than y: log-odds +0.00\n     +0.00  class prior</pre>"
    with pytest.raises(Unsupported, match="without its text"):
        bare.flip()
