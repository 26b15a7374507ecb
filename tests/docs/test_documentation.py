"""The documentation runs, and names what is there."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])


def test_the_examples_of_the_readme_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 5
    assert failed == 0


RUNNING = [page for page in ROOT.glob("docs/*.md") if ">>>" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.name)
def test_the_examples_of_the_documentation_run(page, monkeypatch, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # what a page writes is not left in the repository
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 2
    assert failed == 0


def test_the_pages_with_examples_are_those_we_know_of():
    assert {page.name for page in RUNNING} >= {"softmax.md", "tables.md", "density.md", "discriminant.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_documentation_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_readme_names_files_that_exist():
    for name in re.findall(r"`((?:src|rust|docs)/[^`*]+)`", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_commands_in_the_readme_are_commands():
    from textodds.cli import main

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"^\$ textodds (\w+)", readme, re.MULTILINE))
    assert commands >= {"train", "predict", "evaluate", "inspect", "learn", "forget", "merge"}
    for command in commands:
        assert main([command, "--help"]) == 0
