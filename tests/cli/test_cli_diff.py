import json
from pathlib import Path

import pytest

from textodds.cli import main

MORE = "text,label\nfree lunch free lunch,ham\nfree eggs,breakfast\n"


@pytest.fixture
def models(model, capsys):
    """`mail.textodds`, and `later.textodds` that has learned a little more."""
    Path("more.csv").write_text(MORE)
    assert main(["learn", "mail.textodds", "more.csv", "--new-class", "-o", "later.textodds", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_it_tells_what_differs(models, capsys):
    """Of free: 1 and 4 of 27 before; 3 of 32 and 4 of 28 after, with smoothing."""
    assert main(["diff", "mail.textodds", "later.textodds", "--top", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        "mail.textodds → later.textodds\n"
        "\n"
        "  class       rows before   after   prior before   after\n"
        "  ham                   3       4          50.0%   50.0%\n"
        "  spam                  3       3          50.0%   37.5%\n"
        "  breakfast             –       1              –   12.5%\n"
        "  added: breakfast\n"
        "\n"
        "16 words → 17 words\n"
        "  gained 1: eggs 1\n"
        "\n"
        "largest changes, in log-odds of ham against spam\n"
        "  word     before     after    change\n"
        "  free    -1.3863   -0.4212   +0.9651\n"
        "  lunch   +0.6931   +1.2528   +0.5596\n"
    )


def test_data_shows_which_decisions_changed_and_for_better_or_worse(models, capsys):
    Path("test.csv").write_text("text,label\nfree lunch,ham\nfree prize,spam\nsee you,ham\n")
    assert main(["diff", "mail.textodds", "later.textodds", "test.csv"]) == 0
    out = capsys.readouterr().out
    assert "\n1 decision of 3 changed\n" in out
    assert "  accuracy 66.67% → 100.00%: only the first correct 0 times, only the second 1 time " in out
    assert "(McNemar's exact p = 1)\n" in out
    assert "  spam     ham        1\n" in out
    assert out.rstrip().endswith("free lunch")


def test_data_may_have_no_labels(models, capsys):
    Path("new.csv").write_text("text\nfree lunch\nsee you\n")
    assert main(["diff", "mail.textodds", "later.textodds", "new.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"]["n_changed"] == 1
    assert told["decisions"]["accuracy"] is None
    assert told["decisions"]["examples"][0]["content"] == "free lunch"


def test_what_was_made_differently_is_told(mail, capsys):
    for alpha in ("1", "0.5"):
        assert (
            main(
                [
                    "train",
                    "mail.csv",
                    "--learner",
                    f"multinomial:alpha={alpha}",
                    "-o",
                    f"{alpha}.textodds",
                    "--quiet",
                ]
            )
            == 0
        )
    assert main(["diff", "1.textodds", "0.5.textodds"]) == 0
    assert "  learner.alpha   1.0      0.5\n" in capsys.readouterr().out


def test_tables_have_columns(capsys):
    for name, height in (("a", "1.9"), ("b", "2.4")):
        rows = f"{height},short,m\n1.8,short,m\n1.6,long,f\n1.7,long,f\n" * 5
        Path(f"{name}.csv").write_text("height,hair,sex\n" + rows)
        train = ["train", f"{name}.csv", "--label", "sex", "--columns", "height=gaussian", "--quiet"]
        assert main(train) == 0
    assert main(["diff", "a.textodds", "b.textodds", "b.csv"]) == 0
    out = capsys.readouterr().out
    assert "\n2 columns → 2 columns\n" in out
    assert "  height   m            " in out
    assert " of 20 changed\n" in out


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["mail.textodds", "nothing.textodds"], "no model file at `nothing.textodds`"),
        (["mail.textodds", "later.textodds", "nothing.csv"], "no file at `nothing.csv`"),
        (["mail.textodds", "later.textodds", "--top", "0"], "`--top` cannot be `0`"),
    ],
)
def test_what_cannot_be_compared_is_said(models, capsys, args, problem):
    assert main(["diff", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")
