"""The pages that `make docs` builds: complete, and readable without a network."""

import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest
from mathematics import LatexError, as_mathml
from source import code_of

import textodds
from textodds import errors
from textodds.cli.commands import commands

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The pages, built anew with warnings as errors."""
    folder = tmp_path_factory.mktemp("docs")
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="session")
def inventory(built):
    from sphinx.util.inventory import InventoryFile

    with (built / "objects.inv").open("rb") as file:
        return InventoryFile.load(file, "", lambda base, name: name)


def described(inventory):
    """The names of all Python objects that have a description."""
    kinds = ("py:class", "py:function", "py:exception", "py:module", "py:data", "py:method", "py:property")
    return {name for kind in kinds for name in inventory.get(kind, {})}


def test_every_public_name_is_in_the_reference(inventory):
    missing = {f"textodds.{name}" for name in textodds.__all__} - described(inventory)
    assert missing == set()


def test_every_public_method_of_a_model_is_in_the_reference(inventory):
    for model in (textodds.TextModel, textodds.TableModel, textodds.Tally, textodds.TextClassifier):
        own = {name for name, value in vars(model).items() if not name.startswith("_") and callable(value)}
        missing = {f"textodds.{model.__name__}.{name}" for name in own} - described(inventory)
        assert missing == set()


def test_every_error_is_in_the_reference_with_its_code(built, inventory):
    page = (built / "reference" / "errors.html").read_text(encoding="utf-8")
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, (errors.TextoddsError, errors.TextoddsWarning)):
            assert f"textodds.errors.{name}" in described(inventory)
            assert getattr(error, "code", "") in page


def leaves(command, context):
    """A command and those within it, each with its context."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            yield from leaves(inner, click.Context(inner, info_name=name, parent=context))


def test_every_command_and_every_option_is_in_the_reference(built):
    page = (built / "reference" / "commands.html").read_text(encoding="utf-8")
    places = set(re.findall(r'id="([^"]+)"', page))
    top = click.Context(commands, info_name="textodds")
    found = [(command, context) for command, context in leaves(commands, top) if context is not top]
    assert len(found) > 15
    for command, context in found:
        place = context.command_path.replace(" ", "-")
        assert place in places
        for option in command.get_params(context):
            if isinstance(option, click.Option) and option.get_help_record(context):
                assert f"{place}-{max(option.opts, key=len).lstrip('-')}" in places, f"{place} {option.opts}"


class Fetched(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "object", "video", "audio"):
            self.addresses += [given.get("src"), given.get("data"), given.get("srcset")]
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.addresses.append(given.get("href"))


def test_pages_fetch_nothing_from_the_network(built):
    pages = list(built.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        parser = Fetched()
        parser.feed(page.read_text(encoding="utf-8"))
        for address in filter(None, parser.addresses):
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
            assert (page.parent / re.split("[?#]", address)[0]).exists(), f"{page.name}: {address}"
    for style in built.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), (
            style.name
        )


def test_formulas_are_shown_and_not_their_source(built):
    for name in ("explanation/multinomial.html", "reference/parts/conditionals.html"):
        page = (built / name).read_text(encoding="utf-8")
        assert page.count("<math") > 20
        assert "<mtext>(2)</mtext>" in page  # the number of an equation
        assert r"\frac" not in page
    assert not list(built.rglob("*mathjax*"))


def test_sections_of_docstrings_have_headings(built):
    page = (built / "reference" / "parts" / "conditionals.html").read_text(encoding="utf-8")
    for section in ("Model", "Differs", "References", "Examples"):
        assert page.count(f'<p class="rubric">{section}</p>') >= 5


def test_the_code_that_the_explanation_shows_is_that_of_the_source(built):
    page = (built / "explanation" / "multinomial.html").read_text(encoding="utf-8")
    text = unescape(re.sub(r"<[^>]*>", "", page))
    source = (ROOT / "src/textodds/learn/conditionals/multinomial.py").read_text(encoding="utf-8")
    assert code_of(source, "Multinomial.fit") in text


def test_code_is_shown_without_its_docstring():
    docstring = '"""Nothing.\n\n        More.\n        """'
    text = f"class A:\n    @property\n    def f(self):\n        {docstring}\n        return 1  # (1)\n"
    assert code_of(text, "A.f") == "@property\ndef f(self):\n    return 1  # (1)"


def test_a_formula_that_cannot_be_read_is_an_error():
    with pytest.raises(LatexError):
        as_mathml(r"\frac{1}{2", displayed=True)


def test_numbered_lines_of_a_formula_keep_their_numbers():
    found = as_mathml(r"a &= b \tag{1} \\ c &= d \tag{2}", displayed=True)
    assert "(1)" in found
    assert "(2)" in found
