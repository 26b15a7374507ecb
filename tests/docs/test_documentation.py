"""The documentation runs, and names what is there."""

import collections
import re
import shutil
from pathlib import Path

import pytest
from blocks import RUN, SHOWN, blocks_of
from running import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    if "_build" not in page.parts
)
BLOCKS = {page: blocks_of(page) for page in PAGES}

MOST_NOT_RUN = 13
"""So many blocks may say that they are not run, of all pages: each needs a reason that a reader accepts."""


def named(page):
    return str(page.relative_to(ROOT))


def pages_with(wanted):
    return [page for page, blocks in BLOCKS.items() if any(map(wanted, blocks))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples; what a page writes is not left in the repository."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for name, value in (("COLUMNS", "110"), ("NO_COLOR", "1"), ("TEXTODDS_THREADS", "1")):
        monkeypatch.setenv(name, value)
    return tmp_path


def failures(blocks, folder):
    names = {}
    return [f"line {block.line}: {wrong}" for block in blocks if (wrong := run(block, names, folder))]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.spark] if page.name == "spark.md" else [], id=named(page))
        for page in pages_with(lambda block: block.runs and not block.data)
    ],
)
def test_the_blocks_of_a_page_do_what_it_shows(page, folder):
    wrong = failures([block for block in BLOCKS[page] if block.runs and not block.data], folder)
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.realdata
@pytest.mark.parametrize("page", pages_with(lambda block: block.runs and block.data), ids=named)
def test_the_blocks_about_real_data_do_what_they_show(page, folder, data_folder):
    blocks = [block for block in BLOCKS[page] if block.runs and block.data]
    for file, part in {pair for block in blocks for pair in block.data}:
        shutil.copyfile(data_folder / f"{part}.csv.gz", file)
    wrong = failures(blocks, folder)
    assert not wrong, "\n".join(wrong)


def test_every_block_runs_or_is_of_a_kind_that_cannot_or_says_why_it_does_not():
    kinds = collections.Counter()
    for page, blocks in BLOCKS.items():
        for block in blocks:
            where = f"{named(page)}, line {block.line}"
            assert block.is_directive or block.language in RUN | SHOWN, f"{where}: {block.language!r}"
            assert block.reason is None or len(block.reason) > 10, f"{where}: not run, without a reason"
            kinds["directive" if block.is_directive else block.language] += 1
            kinds["run"] += block.runs
            kinds["on real data"] += block.runs and bool(block.data)
            kinds["not run"] += block.reason is not None
    print(dict(kinds))
    assert kinds["run"] + kinds["not run"] == kinds["python"] + kinds["console"] + kinds["sh"]
    assert kinds["python"] >= 40
    assert kinds["console"] > 30
    assert kinds["not run"] <= MOST_NOT_RUN


def test_a_block_that_shows_something_else_is_found(folder):
    page = folder / "page.md"
    page.write_text(
        "```console\n$ echo one\ntwo\n```\n\n```python\n>>> 1 + 1\n3\n```\n\n```console\n$ false\n```\n"
        "\n```python\nassert False\n```\n"
        "\n<!-- first: echo 1 > made.txt -->\n```console\n$ cat made.txt\n1\n```\n"
        "\n```console\n$ false  # exit status 1\n```\n"
        "\n```console\n$ printf 'a\\nb\\nc\\n'\na\n…\nc\n```\n",
        encoding="utf-8",
    )
    assert [wrong[:7] for wrong in failures(blocks_of(page), folder)] == [
        "line 1:",
        "line 6:",
        "line 11",
        "line 15",
    ]


def test_links_within_the_documentation_lead_somewhere():
    broken = [
        (named(page), target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if not target.startswith("http") and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_guide_to_the_source_names_files_that_exist():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|rust|docs|examples)/[^`*{]+)`", guide)
    assert len(named) > 12
    for name in named:
        assert (ROOT / name).exists(), name


def test_the_explanation_names_tests_that_exist():
    for page in ROOT.glob("docs/explanation/*.md"):
        names = re.findall(r"`(tests/[\w/]+\.py)?::(test_\w+)`", page.read_text(encoding="utf-8"))
        file = None
        for given, test in names:
            file = given or file
            assert file is not None, page
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{page.name}: {file}::{test}"
