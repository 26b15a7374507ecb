"""`explain`: the words of an answer, in place, as a sum, as JSON and as a page."""

import json
from pathlib import Path

import numpy as np
import pytest

import textodds
from forked import run
from textodds.cli import main
from textodds.learn.calibration import Calibration

from .transcripts import COMMAND, on_a_terminal

TEXT = "Free phone? See you at zebra"


def test_explain_shows_the_text_the_sum_the_unknown_and_what_would_change_it(model, capsys):
    assert main(["explain", "mail.textodds", "--say", TEXT]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = textodds.load("mail.textodds").explain(TEXT)
    text, _, head, _, *lines = out.splitlines()
    assert text == TEXT
    assert head == f"{found.label} {found.probability:.4f}, rather than {found.rival}"
    numbers = [float(line.split()[-1]) for line in lines[: lines.index("")]]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.05)
    assert numbers[-1] == pytest.approx(found.log_odds, abs=0.005)
    assert "unknown: zebra" in lines
    flip = found.flip()
    without = ", ".join(f"“{word}”" for word in flip.words)
    assert lines[-1] == f"without {without}: {flip.label_after} {flip.probability_after:.4f}"


def test_words_past_the_top_are_one_line(model, capsys):
    assert main(["explain", "mail.textodds", "--say", TEXT, "--top", "2"]) == 0
    out = capsys.readouterr().out
    assert "\n  3 other words " in out


def test_why_not_names_the_rival(capsys):
    Path("three.csv").write_text("text,label\na b,x\nb c,y\nc d,z\n")
    assert main(["train", "three.csv", "--quiet"]) == 0
    assert main(["explain", "three.textodds", "--say", "a", "--why-not", "z"]) == 0
    assert ", rather than z\n" in capsys.readouterr().out
    assert main(["explain", "three.textodds", "--say", "a", "--others"]) == 0
    out = capsys.readouterr().out
    assert ", rather than all others\n" in out
    assert "  several rivals " in out
    assert main(["explain", "three.textodds", "--say", "a", "--label", "y", "--why-not", "z"]) == 0
    assert "\ny 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--why-not", "spma"], "there is no class `spma`; did you mean `spam`?"),
        (["--why-not", "spam"], "`spam` is the answer"),
        (["--why-not", "ham", "--others"], "`--others` and `--why-not` cannot be combined"),
        (["--top", "0"], "`--top` cannot be `0`"),
        (["--html", "nowhere/x.html"], "cannot write `nowhere/x.html`: No such file or directory"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(model, capsys, options, said):
    assert main(["explain", "mail.textodds", "--say", "win a free prize", *options]) == 2
    assert f"error: {said}" in capsys.readouterr().err


def test_json_holds_what_python_has(model, capsys):
    assert main(["explain", "mail.textodds", "--say", TEXT, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = textodds.load("mail.textodds").explain(TEXT)
    flip = told.pop("flip")
    assert told == json.loads(json.dumps(found.as_dict()))
    assert flip["words"] == list(found.flip().words)
    assert flip["exact"] is True
    assert told["start"] + sum(word["log_odds"] for word in told["words"]) == pytest.approx(told["log_odds"])
    free = told["stretches"][0]
    assert (TEXT[free["start"] : free["end"]], free["word"]) == ("Free", "free")


def test_the_page_shows_a_script_and_holds_none(model, capsys):
    assert (
        main(["explain", "mail.textodds", "--say", "free <script>alert(1)</script>", "--html", "why.html"])
        == 0
    )
    assert "wrote why.html" in capsys.readouterr().err
    page = Path("why.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;" in page
    assert "default-src 'none'" in page


def test_texts_come_from_stdin_a_line_each(model):
    done = run("explain", "mail.textodds", input="win a free\nphone\n")
    assert (done.returncode, done.stderr) == (0, "")
    said = run("explain", "mail.textodds", "--say", "win a free", "--say", "phone")
    assert said.stdout.startswith("row 1\nwin a free\n\nspam ")
    assert "\n\nrow 2\nphone\n\nspam " in said.stdout
    assert (
        run("explain", "mail.textodds", "-", input="win a free\nphone\n").stdout == done.stdout == said.stdout
    )


def test_a_terminal_sees_words_in_colour_where_they_stand(model):
    command = [*COMMAND, "explain", "mail.textodds", "--say", "Free! prize at"]
    seen = on_a_terminal(command)
    assert "\x1b[32m" in seen.split("Free")[0]
    assert "\x1b[31m" in seen.split("at")[0].split("Free")[1]
    assert "\x1b[" not in on_a_terminal(command, NO_COLOR="1")
    assert "\x1b[" not in run("explain", "mail.textodds", "--say", "Free! prize at").stdout


def test_a_text_commands_no_terminal(model):
    done = run("explain", "mail.textodds", "--say", "free \x1b[2J\x07 phone")
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J" in done.stdout


def test_a_text_that_nothing_flips_is_told_so(capsys):
    Path("one.csv").write_text("text,label\na,x\na,x\na,x\nb,y\n")
    assert main(["train", "one.csv", "--quiet"]) == 0
    assert main(["explain", "one.textodds", "--say", "zzz"]) == 0
    assert capsys.readouterr().out.endswith("no words were found without which the answer would not be x\n")


def test_the_explanation_is_of_the_calibrated_answer(mail, capsys):
    model = textodds.train("mail.csv", learner="multinomial")
    model.calibration = Calibration(np.array([0.25]), np.array([0.1, -0.1]))
    model.save("mail.textodds")
    assert main(["predict", "mail.textodds", "--say", TEXT]) == 0
    label, probability = capsys.readouterr().out.split()
    assert main(["explain", "mail.textodds", "--say", TEXT]) == 0
    assert f"\n{label} {probability}, rather than " in capsys.readouterr().out


def test_the_columns_of_a_row_add_up(capsys):
    Path("rows.csv").write_text("size,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(20)))
    assert main(["train", "rows.csv", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["explain", "rows.textodds", "--say", '{"size": 4}', "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [column["column"] for column in told["columns"]] == ["size"]
    assert told["prior"] + told["columns"][0]["log_odds"] == pytest.approx(told["log_odds"], abs=1e-12)
    assert main(["explain", "rows.textodds", "--say", '{"size": 4}', "--why-not", told["rival"]]) == 0
    assert capsys.readouterr().out.startswith(f"{told['label']} rather than {told['rival']}\n")
    assert main(["explain", "rows.textodds", "--say", "1"]) == 2
    assert "`1` is not a row of a table" in capsys.readouterr().err
    for option in ("--others", "--parts"):
        assert main(["explain", "rows.textodds", "--say", '{"size": 4}', option]) == 2
        assert "`--others`, `--parts` and `--html` apply to texts only" in capsys.readouterr().err


def test_between_two_classes_a_model_of_counts_shows_intervals(model, capsys):
    assert main(["inspect", "mail.textodds", "--between", "spam", "ham", "--top", "3"]) == 0
    out = capsys.readouterr().out
    first = textodds.load("mail.textodds").separating_words("spam", "ham", 1)[0]
    assert f"  {first.word} " in out.split("with 95 % intervals")[1]
    assert f"{first.low:+.2f}" in out
    assert main(["inspect", "mail.textodds", "--between", "spam", "ham", "--top", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["separating"]) == len(told["words"]) == 3
    assert told["separating"][0]["low"] == pytest.approx(first.low)


@pytest.mark.parametrize("options", [["--no-counts"], ["--learner", "softmax"]])
def test_between_two_classes_a_model_without_counts_shows_what_it_has(mail, capsys, options):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet", *options]) == 0
    capsys.readouterr()
    assert main(["inspect", "mail.textodds", "--between", "spam", "ham", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "separating" not in told
    assert told["words"]
