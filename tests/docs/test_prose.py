"""The prose that users meet: the field's terms, plain sentences, and British spelling."""

import ast
import re
from pathlib import Path

import pytest

from pairs import together

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.rst")]
    if not {"_build", "decisions"} & set(page.parts)
)
SOURCES = sorted(ROOT.glob("src/textodds/**/*.py"))
PAGE_PARTS = sorted(
    part
    for folder in ("serve/page", "study/report/templates")
    for part in (ROOT / "src" / "textodds" / folder).iterdir()
    if part.suffix in {".html", ".js"}
)

BANNED = {
    r"(?<!there )\b(?:is|are) no (?!longer|more\b|better|worse|other|need|different|smaller|larger|\()": (
        "write “is not a …”"
    ),
    r"\bof ours\b": "name textodds",
    r"\bspeaks? (?:most )?(?:for|against)\b": "things do not speak: “is evidence for”",
    r"\b(?:is|are|was|were) (?:said|told)\b": "say who does what: “prints”, “reports”, “stated”",
    r"\bwho (?:is|are) (?:behind|out|ahead)\b": "things are not persons",
    r"\bnothing (?:is )?said\b": "write “with default settings”",
    r"\bmade right\b": "write “calibrated”",
    r"\bthat which\b": "name it",
    r"\bbut once\b": "write “only once”",
    r"\bcounts twice what\b": "write “double-counts”",
    r"\bwhat is taken for what\b": "write “confusion matrix”",
    r"\bfor want of\b": "say what is missing",
    r"\bat their word\b": "write “calibrated”",
}  # fmt: skip
AMERICAN = re.compile(
    r"\b(?:color|behavior|favor|neighbor|honor|labor|center|analyze|analyzed|modeling|labeled|unlabeled|"
    r"labeling|normalize[ds]?|normalizing|normalization|tokeniz\w+|optimiz\w+|regulariz\w+|summariz\w+|"
    r"initializ\w+|generaliz\w+|vectoriz\w+|recogniz\w+|minimiz\w+|maximiz\w+|penaliz\w+|memoriz\w+|"
    r"license[ds]? under|catalog|artifact)\b",
    re.IGNORECASE,
)


def prose(text):
    """A page without fenced blocks, inline code, titles in italics, links' targets, formulas and comments."""
    text = re.sub(r"(?ms)^( *)(`{3,}).*?^\1\2", "", text)
    text = re.sub(r"<!--.*?-->|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`|(?<!\*)\*[^*\n]+\*(?!\*)|\]\([^)]*\)|\$[^$\n]*\$", "", text)
    return " ".join(text.split())


def messages(path):
    """Every string of a module that is not a docstring, and the help of its commands, each with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    documentation |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, " ".join(node.value.split())
        elif isinstance(node, ast.FunctionDef) and any(
            "command" in ast.unparse(each) for each in node.decorator_list
        ):
            yield node.lineno, " ".join((ast.get_docstring(node) or "").split())


def banned(text):
    """The patterns that a text has, each with what to write."""
    for pattern, instead in BANNED.items():
        for found in re.finditer(pattern, text, re.IGNORECASE):
            yield f"“{text[max(found.start() - 40, 0) : found.end() + 30]}”: {instead}"


@together
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_plain_british_english(page):
    text = prose(page.read_text(encoding="utf-8"))
    assert list(banned(text)) == []
    assert AMERICAN.findall(text) == []


def test_messages_are_plain_british_english():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for path in SOURCES
        for line, text in messages(path)
        for each in banned(text)
    ]
    wrong += [
        f"{part.relative_to(ROOT)}: {each}"
        for part in PAGE_PARTS
        for each in banned(re.sub(r"//.*", "", part.read_text(encoding="utf-8")))
    ]
    assert wrong == []


def test_the_patterns_find_what_they_are_for():
    text = "it is no model of ours, which speaks for spam; this is said where it is no longer there, but once"
    assert len(list(banned(text))) == 5
    assert list(banned("The model is not calibrated. There is no class `x`. Use no more than ten.")) == []
    assert AMERICAN.findall("the color of a labeled text") == ["color", "labeled"]
    assert prose("a\n```text\nis no b\n```\n`is no c` [d](is-no-e.md)\n") == "a [d"
