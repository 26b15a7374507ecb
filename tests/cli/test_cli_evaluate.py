import json
import math
from pathlib import Path

import pytest

import textodds
from textodds.cli import main

TEST = "text,label\nfree phone,spam\nsee you,ham\nfree lunch,ham\nzebra,ham\n"


@pytest.fixture
def measured(model):
    Path("test.csv").write_text(TEST)
    return textodds.load("mail.textodds").evaluate("test.csv")


def test_evaluate_prints_a_report(measured, capsys):
    assert main(["evaluate", "mail.textodds", "test.csv"]) == 0

    def measure(name):
        low, high = getattr(measured, f"{name}_interval")
        return f"{getattr(measured, name):.4f}   {low:.4f} to {high:.4f}"

    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        f"  accuracy              {measure('accuracy')}",
        "  largest class alone   0.7500",
        f"  macro-F1              {measure('macro_f1')}",
        f"  log-loss              {measure('log_loss')}",
        "  on 4 rows; ranges are 95 % intervals",
        f"  calibration error {measured.calibration_error:.4f} "
        "(mean gap between stated probability and accuracy)",
        "  warning: the model does not beat the largest class: answering `ham` always has accuracy 0.7500",
        "  warning: 2 classes have fewer than 10 rows to measure by: `spam` (1), `ham` (3)",
        "",
        "  class   precision   recall       F1   rows",
        "  ham        1.0000   0.6667   0.8000      3",
        "  spam       0.5000   1.0000   0.6667      1",
        "",
        "  true label   → ham   → spam",
        "  ham              2        1",
        "  spam             ·        1",
        "",
        "  1 row without a known word",
    ]


def test_json_has_plain_keys(measured, capsys):
    assert main(["evaluate", "mail.textodds", "test.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(measured.as_dict()))
    assert {"accuracy", "macro_f1", "log_loss", "by_class", "confusion", "unknown_labels"} <= set(told)
    assert told["largest_class"] == {"label": "ham", "accuracy": 0.75}
    assert told["skewed"] is True
    assert len(told["warnings"]) == 2


def test_fail_under_exits_1_only_below(measured, capsys):
    assert measured.accuracy == 0.75
    assert main(["evaluate", "mail.textodds", "test.csv", "--fail-under", "0.75"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["evaluate", "mail.textodds", "test.csv", "--fail-under", "0.76", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["accuracy"] == 0.75
    assert err == "accuracy 0.7500 is below 0.76\n"


@pytest.mark.parametrize("limit", ["75", "-1", "nan", "high"])
def test_fail_under_is_a_share(model, capsys, limit):
    assert main(["evaluate", "mail.textodds", "mail.csv", "--fail-under", limit]) == 2
    assert capsys.readouterr().err == (
        f"error: `--fail-under` cannot be `{limit}`\n\nhint: write a number from 0 to 1\n"
    )


def test_labels_that_the_model_lacks_are_named_and_the_loss_is_that_of_the_others(model, capsys):
    Path("test.csv").write_text("text,label\nfree,eggs\nhome,eggs\nsee you,ham\n")
    assert main(["evaluate", "mail.textodds", "test.csv"]) == 0
    out = capsys.readouterr().out
    assert "  2 rows with labels that the model does not have: eggs (2)\n" in out
    assert "  they count as wrong in accuracy and macro-F1, and are left out of the log-loss\n" in out
    assert main(["evaluate", "mail.textodds", "test.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    known = textodds.load("mail.textodds").predict_proba(["see you"])[0, 0]
    assert told["log_loss"] == pytest.approx(-math.log(known))
    assert told["unknown_labels"] == {"eggs": 2}


def test_many_classes_show_their_confusions_instead_of_a_matrix(capsys):
    rows = "".join(f"word{k},class{k:02}\n" for k in range(50))
    Path("many.csv").write_text("text,label\n" + rows)
    Path("test.csv").write_text("text,label\n" + rows + "word1,class02\nword1,class02\n")
    assert main(["train", "many.csv", "--quiet"]) == 0
    assert main(["evaluate", "many.textodds", "test.csv"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("  true label   answered   rows\n  class02      class01       2\n")
    assert "and 10 smaller classes, which `--json` lists" in out
    assert main(["evaluate", "many.textodds", "many.csv"]) == 0
    assert capsys.readouterr().out.endswith("\n  no errors\n")


def test_measuring_without_rows_is_an_error(model, capsys):
    Path("empty.csv").write_text("text,label\n")
    assert main(["evaluate", "mail.textodds", "empty.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: there are no rows to evaluate on")


def test_a_single_class_can_be_measured(capsys):
    Path("one.csv").write_text("text,label\nhello,ham\n")
    assert main(["train", "one.csv", "--quiet", "--test", "one.csv"]) == 0
    quality = textodds.load("one.textodds").info["quality"]
    assert quality["accuracy"] == 1.0
    assert math.isclose(quality["log_loss"], 0.0)
