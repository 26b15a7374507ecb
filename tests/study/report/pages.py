"""Pages as a browser has them: every tag, attribute and text, checked to be nested."""

from html.parser import HTMLParser

from textodds.study.report.page import environment

VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """A page whose tags are all closed in turn; `AssertionError` elsewhere."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.ids, self.texts, self._open, self.links = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [value for key, value in attributes if key in ("href", "src", "xlink:href")]

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    def text(self):
        return " ".join(" ".join(self.texts).split())


def harmless(html):
    """The page, after a look that nothing in it can run or be fetched, and that names are its own."""
    page = Page(html)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "iframe", "object", "embed", "link", "form", "base", "foreignobject"}
    for tag, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on")], tag
    assert all(link.startswith(("#", "data:image/")) for link in page.links)
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    policies = [a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    return page


def filled(main, *, title="t", **data):
    """A page that holds what a piece of template makes of data."""
    whole = (
        '{% extends "page.html" %}{% import "parts.html" as ui with context %}'
        "{% block main %}" + main + "{% endblock %}"
    )
    return environment().from_string(whole).render(data, title=title, contents=[], version="0")
