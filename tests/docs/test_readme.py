"""The README: short, true to the benchmarks, and two clicks from what a newcomer looks for."""

import json
import re
from pathlib import Path
from statistics import fmean

from blocks import blocks_of

from textodds.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
LONGEST = 135
"""Lines: a page that says more belongs to the documentation."""

NAMES = {
    "**textodds**, default settings": "textodds",
    "scikit-learn `LinearSVC`": "LinearSVC",
    "NBSVM": "NBSVM",
    "scikit-learn `LogisticRegression`": "LogisticRegression, by log-loss",
    "fastText": "fastText",
    "scikit-learn `MultinomialNB`, not tuned": "MultinomialNB",
}


def text():
    return README.read_text(encoding="utf-8")


def rows_of(head):
    """The rows of the table whose first cell is ``head``, without the head."""
    lines = text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"| {head} |"))
    table = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def measured():
    """By program: lists of accuracy, log-loss and CPU seconds on each data set."""
    ours = json.loads((RESULTS / "best.json").read_text(encoding="utf-8"))["raw"]
    peers = json.loads((RESULTS / "best-peers.json").read_text(encoding="utf-8"))
    found = {}
    for run in [*ours, *peers]:
        if "cpu_s" in run:
            found.setdefault(run.get("peer", "textodds"), []).append(
                (run["accuracy"], run["log_loss"], run["cpu_s"])
            )
    return found


def test_the_table_has_the_figures_of_the_benchmarks():
    found = measured()
    rows = rows_of("mean of ten test sets")
    assert [row[0] for row in rows] == list(NAMES)
    for name, *cells in rows:
        runs = found[NAMES[name]]
        assert len(runs) == 10, name
        accuracy, log_loss, cpu = zip(*runs, strict=True)
        shown = [
            f"{100 * fmean(accuracy):.1f} %",
            "–" if None in log_loss else f"{fmean(log_loss):.3f}",
            f"{fmean(cpu):.0f} s",
        ]
        assert [cell.strip("*") for cell in cells] == shown, name


def test_what_is_said_of_the_ten_data_sets_is_so():
    found = measured()
    ours = found.pop("textodds")
    best = [max(runs[i][0] for runs in found.values()) for i in range(10)]
    loss = [min(runs[i][1] for runs in found.values() if runs[i][1] is not None) for i in range(10)]
    assert "lowest log-loss on all ten, and the highest accuracy on eight; on the other two" in text()
    assert "within 0.2 points" in text()
    assert sum(run[1] < lowest for run, lowest in zip(ours, loss, strict=True)) == 10
    assert sum(run[0] > highest for run, highest in zip(ours, best, strict=True)) == 8
    assert all(run[0] > highest - 0.002 for run, highest in zip(ours, best, strict=True))


def test_the_readme_is_short_and_hides_no_preparation():
    assert len(text().splitlines()) <= LONGEST
    assert not any(block.first or block.data for block in blocks_of(README))


def test_the_first_screen_trains_predicts_explains_and_serves():
    screen = "\n".join(text().splitlines()[:50])
    assert "pip install" in screen
    commands = re.findall(r"^\$ textodds (\w+)", screen, re.MULTILINE)
    assert commands == ["demo", "train", "predict", "explain", "serve"]
    for command in commands:
        assert main([command, "--help"]) == 0


def test_a_newcomer_finds_the_way_from_the_readme():
    linked = set(re.findall(r"\]\(([^)#]+)[)#]", text()))
    start = ("installation", "quick-start", "cookbook", "glossary")
    migration = ("from-scikit-learn", "from-fasttext", "spark")
    assert linked >= {f"docs/{page}.md" for page in (*start, *migration)}
    assert "`make demo`" in text()
    assert "`make test`" in text()
