"""Labels on the command line: those that look alike, new ones, and test texts that were learned from."""

import json
from pathlib import Path

import pytest

import textodds
from textodds.cli import main

TICKETS = "text,label\n" + "".join(
    f"refund of invoice {i},{'billing' if i % 3 else 'BILLING '}\nprice of item {i},sales\n" for i in range(6)
)


@pytest.fixture
def tickets(tmp_path):
    (tmp_path / "tickets.csv").write_text(TICKETS)


TRAIN = ["train", "tickets.csv", "--learner", "multinomial"]


def test_labels_that_look_alike_are_pointed_out_on_stderr(tickets, capsys):
    assert main([*TRAIN, "--quiet"]) == 0
    assert capsys.readouterr() == (
        "",
        "warning: labels that look alike are learned as different classes: 'billing' (4), 'BILLING ' (2); "
        "join them with `--clean-labels` (clean_labels=True)\n",
    )


def test_clean_labels_joins_them_and_the_model_goes_on_to(tickets, capsys):
    assert main([*TRAIN, "--clean-labels", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["classes"] == {"billing": 6, "sales": 6}
    assert err == ""
    assert main(["learn", "tickets.textodds", "--say", "a refund", "--label-is", " Billing", "--quiet"]) == 0
    assert main(["evaluate", "tickets.textodds", "tickets.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown_labels"] == {}
    assert textodds.load("tickets.textodds").class_documents == {"billing": 7, "sales": 6}


def test_a_label_that_the_model_does_not_have_is_asked_about(model, capsys):
    before = Path("mail.textodds").read_bytes()
    said = ["learn", "mail.textodds", "--say", "free eggs", "--label-is", "spamm"]
    assert main(said) == 2
    assert capsys.readouterr() == (
        "",
        "error: the model has no class `spamm`; did you mean `spam`?\n\n"
        "hint: correct the label; or, if it is a new class, say so: `--new-class` (new_class=True)\n",
    )
    assert Path("mail.textodds").read_bytes() == before
    assert main([*said, "--new-class", "--quiet"]) == 0
    assert textodds.load("mail.textodds").classes_ == ("ham", "spam", "spamm")


def test_numbers_of_json_are_numbers_in_python_and_text_on_the_command_line(capsys):
    rows = [{"text": f"free {i}", "label": 1} for i in range(3)] + [
        {"text": f"see {i}", "label": 0} for i in range(3)
    ]
    Path("mail.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["train", "mail.jsonl", "--quiet"]) == 0
    assert textodds.load("mail.textodds").predict(["free"]).tolist() == [1]
    assert main(["predict", "mail.textodds", "--say", "free", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "1"


@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_test_texts_that_were_learned_from_are_counted(mail, capsys, format_):
    rows = [("win a free phone", "spam"), ("see you at six", "ham"), ("see you at ten", "ham")]
    if format_ == "csv":
        Path("test.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    else:
        Path("test.jsonl").write_text("".join(json.dumps({"text": a, "label": b}) + "\n" for a, b in rows))
    assert (
        main(["train", "mail.csv", "--learner", "multinomial", "--test", f"test.{format_}", "--quiet"]) == 0
    )
    assert capsys.readouterr().err == (
        f"warning: 2 rows of test.{format_} are among those learned from: the measures are too optimistic\n"
    )
    Path("new.csv").write_text("text,label\nsomething new,ham\nfree again,spam\n")
    assert main(["train", "mail.csv", "--learner", "multinomial", "--test", "new.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_audit_lists_texts_that_come_again(capsys):
    Path("mail.csv").write_text(
        "text,label\nfree phone,spam\nsee you,ham\nFree phone!,ham\nsee you,ham\nfree prize,spam\nhome,ham\n"
    )
    assert main(["audit", "mail.csv", "--top", "2"]) == 0
    out, err = capsys.readouterr()
    assert "duplicate texts: 2 exact, 0 near; with several labels: 1\n" in err
    assert out.splitlines()[-3:] == [
        "  rows   labels      alike           text",
        "  1, 3   spam, ham   word for word   free phone",
        "  2, 4   ham         word for word   see you",
    ]
    assert main(["audit", "mail.csv", "--top", "1", "--json"]) == 0
    suspect, repeat = map(json.loads, capsys.readouterr().out.splitlines())
    assert "suggested" in suspect
    assert repeat == {"rows": [1, 3], "labels": ["spam", "ham"], "exact": True, "text": "free phone"}
