import json
import sys
from pathlib import Path

import pytest

from textodds.cli import main

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")

TEST = "text,label\nfree phone,spam\nsee you,ham\nfree lunch,ham\nzebra,ham\n"


@pytest.fixture
def test_csv(model):
    Path("test.csv").write_text(TEST)


def test_a_report_is_written_beside_all_that_is_printed(test_csv, capsys):
    assert main(["evaluate", "mail.textodds", "test.csv"]) == 0
    printed = capsys.readouterr().out
    assert main(["evaluate", "mail.textodds", "test.csv", "--report", "mail.html"]) == 0
    out, err = capsys.readouterr()
    assert out == printed
    assert err == f"\nwrote mail.html: {Path('mail.html').stat().st_size / 1000:.3g} kB\n"
    page = Path("mail.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "How good is mail.textodds?" in page
    assert "test.csv" in page


def test_a_report_goes_with_losses_json_and_a_verdict(test_csv, capsys):
    plain = ["evaluate", "mail.textodds", "test.csv", "--loss", "ham->spam: 20", "--json", "--quiet"]
    assert main(plain) == 0
    told = json.loads(capsys.readouterr().out)
    assert main([*plain, "--report", "mail.html", "--fail-under", "0.9"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == told | {"report": "mail.html"}


def test_the_same_command_writes_the_same_page(test_csv):
    for name in ("a.html", "b.html"):
        assert main(["evaluate", "mail.textodds", "test.csv", "--report", name, "--quiet"]) == 0
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()


@pytest.mark.parametrize(
    ("report", "problem", "hint"),
    [
        ("no/r.html", "cannot write `no/r.html`: there is no folder `no`", "with `--report`"),
        ("folder.html", "cannot write `folder.html`: it is a folder", "with `--report`"),
        ("r.pdf", "the report must be an .html file, got `r.pdf`", "name it `*.html`"),
        ("data.html", "the report would replace `data.html`, which DATA names", "name another file"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_any_work(model, capsys, report, problem, hint):
    Path("folder.html").mkdir()
    Path("data.html").write_text(TEST)
    assert main(["evaluate", "mail.textodds", "data.html", "--format", "csv", "--report", report]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    error, _, said = err.partition("\n\nhint: ")
    assert error == f"error: {problem}"
    assert hint in said
    assert Path("data.html").read_text() == TEST


def test_without_rows_there_is_no_report_and_the_last_one_stays(model, capsys):
    Path("empty.csv").write_text("text,label\n")
    Path("r.html").write_text("the last one")
    assert main(["evaluate", "mail.textodds", "empty.csv", "--report", "r.html"]) == 2
    assert "there are no rows to evaluate on" in capsys.readouterr().err
    assert Path("r.html").read_text() == "the last one"
    assert not list(Path().glob(".r.html*"))


def test_without_matplotlib_the_error_says_what_to_install_before_any_work(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["evaluate", "missing.textodds", "missing.csv", "--report", "r.html"]) == 2
    assert capsys.readouterr().err == (
        "error: drawing pictures needs matplotlib, which is not installed\n\n"
        "hint: pip install 'textodds[plot]'\n"
    )


@pytest.mark.realdata
def test_a_table_of_people_has_a_report(data_folder, capsys):
    train, test = (str(data_folder / "tab_adult" / f"{part}.csv.gz") for part in ("train", "test"))
    assert main(["train", train, "-o", "adult.textodds", "--quiet"]) == 0
    assert main(["evaluate", "adult.textodds", test, "--report", "adult.html", "--quiet"]) == 0
    page = Path("adult.html").read_text(encoding="utf-8")
    assert "&lt;=50K" in page
    assert "education" in page
    assert len(page) < 500_000
