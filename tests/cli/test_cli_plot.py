import json
import re
import sys
from pathlib import Path
from textwrap import dedent

import click
import numpy as np
import pytest

import forked
from textodds.cli import main
from textodds.cli.commands import commands

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")


def table(sizes=(60, 40), extra=()):
    """A table of people: sex, name, height, weight and one more column by name and value."""
    draw = np.random.default_rng(5)
    lines = [",".join(["sex", "name", "height", "weight", *(name for name, _ in extra)])]
    for k, n in enumerate(sizes):
        for i in range(n):
            height = 160 + 9 * k + 6 * draw.normal()
            row = [f"s{k}", f"n{k}-{i}", f"{height:.2f}", f"{0.9 * height - 85 + 7 * draw.normal():.2f}"]
            lines.append(",".join([*row, *(value for _, value in extra)]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def people():
    Path("people.csv").write_text(table())


def test_boundaries_of_the_first_two_columns_of_numbers(people, capsys):
    assert main(["plot", "boundaries", "people.csv", "--label", "sex"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    written = Path("people-boundaries.svg").read_bytes()
    assert b"<svg" in written
    assert re.sub(r"\d\d\.\d%", "00.0%", err) == dedent(f"""\
        drawing height (x) and weight (y); others: `--x` and `--y`
        fitted 100 rows of people.csv in 2 classes

          model      right
          QDA        00.0%
          LDA        00.0%
          GNB        00.0%
          logistic   00.0%
          accuracy on the training rows

        wrote people-boundaries.svg: {len(written) / 1000:.3g} kB
    """)


def test_columns_that_are_named_are_drawn_in_that_order(people, capsys):
    args = ["--label", "sex", "--x", "weight", "--y", "height", "-o", "p.png", "--json"]
    assert main(["plot", "boundaries", "people.csv", *args]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    about = json.loads(out)
    assert (about["picture"], about["x"], about["y"]) == ("p.png", "weight", "height")
    assert about["bytes"] == Path("p.png").stat().st_size
    assert about["rows"] == 100
    assert about["classes"] == ["s0", "s1"]
    assert list(about["accuracy"]) == ["QDA", "LDA", "GNB", "logistic"]
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_if_one_is_named_the_other_is_the_first_that_is_not(people, capsys):
    assert main(["plot", "boundaries", "people.csv", "--label", "sex", "--y", "height"]) == 0
    assert capsys.readouterr().err.startswith("drawing weight (x) and height (y); others: `--x` and `--y`\n")


def test_densities_say_where_the_decision_changes(people, capsys):
    assert main(["plot", "densities", "people.csv", "--label", "sex", "--column", "height"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    written = Path("people-densities.svg").stat().st_size
    assert re.sub(r"\d\d\.\d%", "00.0%", re.sub(r"1\d\d\.\d", "100.0", err)) == dedent(f"""\
        fitted 100 rows of people.csv in 2 classes

          column   right   decides at
          height   00.0%   100.0 (s0 | s1)
          accuracy on the training rows

        wrote people-densities.svg: {written / 1000:.3g} kB
    """)


def test_densities_of_all_columns_leave_out_those_that_cannot_be_drawn(capsys):
    Path("people.csv").write_text(table(extra=[("level", "2.5")]))
    assert main(["plot", "densities", "people.csv", "--label", "sex"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("left out: column `level` does not vary: it is 2.5 in every row\n")
    assert "\n  height " in err
    assert "\n  weight " in err


def test_many_columns_are_drawn_up_to_twelve(capsys):
    draw = np.random.default_rng(1)
    rows = [",".join(["label", *(f"c{v}" for v in range(15))])]
    rows += [",".join([label, *map(str, draw.normal(size=15))]) for label in "ab" * 10]
    Path("wide.csv").write_text("\n".join(rows))
    assert main(["plot", "densities", "wide.csv"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("drawing the first 12 of 15 columns of numbers; others: `--column`\n")
    assert "  c11 " in err
    assert "  c12 " not in err


def test_of_more_than_eight_classes_the_largest_are_drawn_and_it_is_said(capsys):
    Path("people.csv").write_text(table(sizes=[9, 4, *[8] * 7]))
    assert main(["plot", "boundaries", "people.csv", "--label", "sex"]) == 0
    assert "\n  the 8 largest of 9 classes; 4 rows left out\n" in capsys.readouterr().err


def test_quiet_says_nothing(people, capsys):
    for picture in ("boundaries", "densities"):
        assert main(["plot", picture, "people.csv", "--label", "sex", "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")
        assert Path(f"people-{picture}.svg").exists()


def test_the_picture_of_a_pipe(people):
    for picture in ("boundaries", "densities"):
        done = forked.run("plot", picture, "-", "--label", "sex", input=table())
        assert (done.returncode, done.stdout) == (0, "")
        assert f"wrote {picture}.svg: " in done.stderr
        assert Path(f"{picture}.svg").exists()


def test_a_column_of_a_pipe_that_does_not_seem_to_be_numbers_is_refused(monkeypatch):
    done = forked.run("plot", "densities", "-", "--label", "sex", "--column", "name", input=table())
    assert done.returncode == 2
    assert done.stderr.startswith("error: column `name` of stdin does not look numeric\n\nhint: write ")


def test_the_same_command_writes_the_same_bytes(people):
    for name in ("a.svg", "b.svg"):
        assert main(["plot", "boundaries", "people.csv", "--label", "sex", "-o", name, "--quiet"]) == 0
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()


def test_rows_that_cannot_be_read_are_skipped_if_told_to(capsys):
    Path("people.csv").write_text(table() + "s0,zoe,tall,60\n")
    columns = ["--label", "sex", "--x", "height", "--y", "weight"]
    assert main(["plot", "boundaries", "people.csv", *columns]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: people.csv, line 102: `height` is `tall`, not a number\n\nhint: ")
    assert not Path("people-boundaries.svg").exists()
    assert main(["plot", "boundaries", "people.csv", *columns, "--bad-rows", "skip"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("skipped 1 row: `height` is `tall`, not a number\n")
    assert {path.name for path in Path().iterdir()} == {"people.csv", "people-boundaries.svg"}


@pytest.mark.parametrize(
    ("args", "problem", "hint"),
    [
        (
            "boundaries people.csv --x heigth",
            "people.csv has no column `heigth`; did you mean `height`?",
            "its columns",
        ),
        ("densities people.csv --column x9", "people.csv has no column `x9`", "`name`, `height`, `weight`"),
        ("boundaries people.csv --x sex", "`sex` is the column of the labels", "name another with `--x`"),
        ("boundaries people.csv --x height --y height", "`--x` and `--y` are both `height`", "two different"),
        (
            "boundaries people.csv --x name",
            "people.csv, line 2: `name` is `n0-0`, not a number",
            "correct the row",
        ),
        (
            "boundaries people.csv -o p.pdf",
            "`p.pdf` is not an .svg or .png file",
            "name it `*.svg`",
        ),
        (
            "boundaries people.csv -o no/p.svg",
            "cannot write `no/p.svg`: there is no folder `no`",
            "with `-o`",
        ),
        ("boundaries flat.csv", "column `level` does not vary: it is 2.5 in every row", "choose another"),
        (
            "boundaries one.csv",
            "two numeric columns are needed, and one.csv has only `height`",
            "plot densities",
        ),
        (
            "boundaries none.csv",
            "two numeric columns are needed, and none.csv has none",
            "`--x` and `--y`",
        ),
        ("densities none.csv", "none.csv has no numeric column", "name one with `--column`"),
        (
            "boundaries single.csv",
            "a single row in class `s1` has a number in `height` and `weight`",
            "leave that",
        ),
        (
            "boundaries same.csv",
            "all rows are of class `s0`: there is nothing to decide",
            "name the label column",
        ),
        ("boundaries peple.csv", "no file at `peple.csv`", "did you mean `people.csv`"),
        ("boundaries", "there is no data", "name a file"),
        (
            "boundries people.csv",
            "there is no picture `boundries`; did you mean `boundaries`?",
            "boundaries, densities, descent",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_is_written(people, capsys, args, problem, hint):
    Path("flat.csv").write_text(
        "\n".join(
            ",".join([*line.split(",")[:3], line.split(",")[4]])
            for line in table(extra=[("level", "2.5")]).split()
        )
    )
    Path("one.csv").write_text("\n".join(line.rpartition(",")[0] for line in table().split()))
    Path("none.csv").write_text("sex,mood\ns0,good\ns1,bad\ns1,good\n")
    Path("single.csv").write_text(table(sizes=(30, 1)))
    Path("same.csv").write_text(table(sizes=(30,)))
    before = sorted(Path().iterdir())
    label = ["--label", "sex"] if args.split()[1:] else []
    assert main(["plot", *args.split(), *label]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    error, _, said = err.partition("\n\nhint: ")
    assert f"error: {problem}" in error
    assert hint in said
    assert sorted(Path().iterdir()) == before


def test_without_matplotlib_the_error_says_what_to_install_before_any_data_is_read(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for picture in ("boundaries", "densities"):
        assert main(["plot", picture, "missing.csv"]) == 2
        assert capsys.readouterr() == (
            "",
            "error: drawing pictures needs matplotlib, which is not installed\n\n"
            "hint: pip install 'textodds[plot]'\n",
        )


@pytest.mark.parametrize("picture", ["boundaries", "densities"])
def test_the_help_of_each_picture_has_words_and_examples_for_every_option(picture, capsys):
    assert main(["plot", picture, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"Usage: textodds plot {picture} [OPTIONS] [DATA]...\n")
    assert f"\nExamples:\n  textodds plot {picture} " in out
    assert all(len(line) <= 80 for line in out.splitlines())
    command = commands.get_command(click.Context(commands), "plot").commands[picture]
    known = set()
    for parameter in command.get_params(click.Context(command)):
        known |= set(parameter.opts)
        assert getattr(parameter, "about", None) or parameter.help
    for example in command.examples:
        assert {word for word in example.split() if word.startswith("--")} <= known


def test_plot_alone_lists_the_pictures(capsys):
    assert main(["plot"]) == 2
    err = capsys.readouterr().err
    assert "\nPictures:\n  boundaries  Decision regions of QDA, LDA, naive Bayes" in err


@pytest.mark.realdata
def test_heights_and_weights_are_drawn_as_in_lectures(data_folder, capsys):
    data = str(data_folder / "tab_weight_height" / "train.csv.gz")
    assert main(["plot", "densities", data, "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [round(point["at"], 2) for point in columns["height_in"]["decisions"]][-1] == 66.39
    assert main(["plot", "boundaries", data]) == 0
    assert "wrote train-boundaries.svg" in capsys.readouterr().err
    assert Path("train-boundaries.svg").stat().st_size < 700_000


def test_the_logistic_curve_says_its_line(people, capsys):
    args = ["--label", "sex", "--column", "height", "--class", "s1", "--json", "-o", "l.svg"]
    assert main(["plot", "logistic", "people.csv", *args]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["decides_at"] == pytest.approx(-about["bias"] / about["weight"])
    assert (about["class"], about["against"], about["rows"]) == ("s1", "s0", 100)
    assert Path("l.svg").read_text().startswith("<?xml")


def test_the_likelihood_of_a_word_and_of_a_column(people, capsys):
    Path("mail.csv").write_text("text,label\nfree phone,spam\nfree free,spam\nsee you,ham\nfree at six,ham\n")
    assert main(["plot", "likelihood", "mail.csv", "--word", "free", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert models["Bernoulli"]["ham"] | {"log_likelihood": 0, "smoothed": 0} == {
        "successes": 1.0,
        "trials": 2.0,
        "maximum": 0.5,
        "log_likelihood": 0,
        "smoothed": 0,
    }
    assert main(["plot", "likelihood", "people.csv", "--column", "height", "--label", "sex"]) == 0
    assert "deviation" in capsys.readouterr().err
    assert main(["plot", "likelihood", "mail.csv"]) == 2
    assert "`--word WORD` or `--column COLUMN`" in capsys.readouterr().err
    assert main(["plot", "likelihood", "people.csv", "--column", "height", "--text", "name"]) == 2
    assert "`--text` is for `--word`" in capsys.readouterr().err


def test_descents_of_numbers_and_of_texts(people, capsys):
    assert main(["plot", "descent", "people.csv", "--label", "sex", "--epochs", "5", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    names = [curve["name"] for curve in about["curves"]]
    assert names == [
        "gradient descent",
        "gradient descent with momentum",
        "mini-batch gradient descent",
        "stochastic gradient descent",
    ]
    assert all(len(curve["losses"]) == 6 for curve in about["curves"])
    assert all(min(curve["losses"]) >= about["optimum"] for curve in about["curves"])
    Path("mail.csv").write_text("text,label\n" + "free phone,spam\nsee you,ham\n" * 20)
    assert main(["plot", "descent", "mail.csv", "--epochs", "3", "--momentum", "0", "--batch", "4"]) == 0
    assert "above optimum" in capsys.readouterr().err
