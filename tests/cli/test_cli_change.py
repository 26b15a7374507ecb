import json
from pathlib import Path

import pytest

import textodds
from textodds.cli import main

from .transcripts import MAIL

MORE = "text,label\nfree eggs,breakfast\nsee you at noon,ham\n"


def test_learn_equals_training_on_both_and_forget_brings_the_first_back(model, capsys):
    before = textodds.load("mail.textodds")
    Path("more.csv").write_text(MORE)
    assert main(["learn", "mail.textodds", "more.csv", "--new-class"]) == 0
    assert capsys.readouterr() == (
        "",
        "learned 2 rows: mail.textodds now has 8 documents in 3 classes, 17 words\n",
    )
    both = textodds.train([Path("mail.csv"), Path("more.csv")], learner="multinomial")
    learned = textodds.load("mail.textodds")
    assert learned.tally == both.tally
    assert learned("free eggs") == both("free eggs")
    assert main(["forget", "mail.textodds", "more.csv"]) == 0
    assert "forgot 2 rows: mail.textodds now has 6 documents" in capsys.readouterr().err
    after = textodds.load("mail.textodds")
    assert after.tally == before.tally
    assert after("free eggs") == before("free eggs")


def test_one_text_can_be_said(model, capsys):
    said = ["--say", "free eggs", "--say", "free milk", "--label-is", "breakfast"]
    assert main(["learn", "mail.textodds", *said, "--new-class", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 2
    assert told["documents"] == 8
    assert told["classes"] == {"breakfast": 2, "ham": 3, "spam": 3}
    assert told["words"] == 18
    assert main(["forget", "mail.textodds", *said, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert textodds.load("mail.textodds").tally == textodds.train("mail.csv", learner="multinomial").tally


def test_another_file_can_be_written_and_the_first_is_left(model):
    before = Path("mail.textodds").read_bytes()
    assert main(["learn", "mail.textodds", "mail.csv", "-o", "twice.textodds", "--quiet"]) == 0
    assert Path("mail.textodds").read_bytes() == before
    assert textodds.load("twice.textodds").tally.n_documents == 12


def test_weights_are_learned_as_weights(model):
    Path("more.csv").write_text("text,label,times\nsee you,ham,3\n")
    assert main(["learn", "mail.textodds", "more.csv", "--weight", "times", "--quiet"]) == 0
    assert textodds.load("mail.textodds").tally.n_documents == 9


@pytest.mark.parametrize("said", ["zebra", "win a free phone call"])
def test_forgetting_what_was_never_learned_changes_nothing(model, capsys, said):
    before = Path("mail.textodds").read_bytes()
    assert main(["forget", "mail.textodds", "--say", said, "--label-is", "spam"]) == 2
    assert capsys.readouterr().err.startswith(f"error: the text `{said}` was not learned as `spam`")
    assert Path("mail.textodds").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["mail.csv", "mail.textodds"]


def test_everything_cannot_be_forgotten(model, capsys):
    assert main(["forget", "mail.textodds", "mail.csv"]) == 2
    assert "error: that would forget every document" in capsys.readouterr().err


def test_measured_quality_does_not_outlive_the_model_it_measured(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--test", "mail.csv", "--quiet"]) == 0
    assert main(["learn", "mail.textodds", "mail.csv"]) == 0
    assert "dropped the stored quality" in capsys.readouterr().err
    assert "quality" not in textodds.load("mail.textodds").info


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ([], "there is no data"),
        (["--say", "free"], "`--say` needs `--label-is LABEL`"),
        (["--say", "free", "--label-is", ""], "`--say` needs `--label-is LABEL`"),
        (
            ["mail.csv", "--say", "free", "--label-is", "spam"],
            "`--say` cannot be combined with DATA",
        ),
        (["--say", "free", "--label-is", "spam", "--weight", "n"], "`--weight` is about data"),
        (["a free phone"], "no file at `a free phone`"),
        (["mail.csv", "-o", "mail.csv"], "the model would replace `mail.csv`, which DATA names"),
    ],
)
def test_what_cannot_be_learned_is_said(model, capsys, args, problem):
    assert main(["learn", "mail.textodds", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")
    assert Path("mail.csv").read_text() == MAIL


def test_a_transformed_model_says_why_before_the_data_is_read(mail, capsys):
    assert main(["train", "mail.csv", "--quiet", "--learner", "complement:transform", "--no-documents"]) == 0
    assert main(["learn", "mail.textodds", "missing.csv"]) == 2
    assert "error: a complement model of transformed documents" in capsys.readouterr().err


def test_a_text_given_for_a_file_is_understood(model, capsys):
    assert main(["learn", "mail.textodds", "win a free phone"]) == 2
    assert (
        'hint: for a text rather than a file: --say "win a free phone" --label-is LABEL'
        in capsys.readouterr().err
    )
