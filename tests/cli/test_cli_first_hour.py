"""What a new user types in the first hour, with the answers: sessions, as they are on the terminal."""

import shutil
from pathlib import Path

import pytest

import textodds
from pairs import together
from textodds.cli import main

from .transcripts import MAIL

MESSY = Path(__file__).parents[1] / "messy"


@pytest.fixture
def session(capsys, monkeypatch):
    """Runs a line, and returns the exit status, what is on stdout and what is on stderr."""

    def run(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def refused(session, *words):
    """The error of a line that cannot be done."""
    status, out, err = session(*words)
    assert (status, out) == (2, "")
    return err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["predict", "mail.csv", "mail.textodds"], "textodds predict mail.textodds mail.csv"),
        (["evaluate", "mail.csv", "mail.textodds"], "textodds evaluate mail.textodds mail.csv"),
        (["explain", "a free phone", "mail.textodds"], "textodds explain mail.textodds 'a free phone'"),
        (["learn", "mail.csv", "mail.textodds"], "textodds learn mail.textodds mail.csv"),
        (["forget", "mail.csv", "mail.textodds"], "textodds forget mail.textodds mail.csv"),
        (["mix", "mail.csv", "mail.textodds"], "textodds mix mail.textodds mail.csv"),
        (["predict", "mail.csv", "new.textodds"], "textodds predict new.textodds mail.csv"),
        (["evaluate", "a.csv", "mail.model", "b.csv"], "textodds evaluate mail.model a.csv b.csv"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_swapped_arguments_are_recognised(session, model, line, meant):
    shutil.copy("mail.textodds", "mail.model")  # known by its content
    before = Path("mail.textodds").read_bytes(), Path("mail.csv").read_bytes()
    assert refused(session, *line) == (
        f"error: the first argument is the model, and `{line[1]}` is not one\n\n"
        f"hint: did you mean `{meant}`?\n"
    )
    assert (Path("mail.textodds").read_bytes(), Path("mail.csv").read_bytes()) == before


@together
@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("--sep", "the separator (`,` `;` tab `|`) is found by itself; `--format tsv` takes tabs only"),
        ("--delimiter", "the separator (`,` `;` tab `|`) is found by itself; `--format tsv` takes tabs only"),
        ("--target", "it is called `--label`"),
        ("--y", "it is called `--label`"),
        ("--x", "it is called `--text`"),
        ("--out", "it is called `--output`"),
        ("--n_jobs", "it is called `--threads`"),
        ("--classifier", "it is called `--learner`"),
        ("--header", "CSV and TSV have a header, unless you say `--no-header`"),
    ],
)
def test_options_that_people_know_from_elsewhere_are_answered(capsys, option, answer):
    assert main(["train", "mail.csv", option, "x"]) == 2
    assert capsys.readouterr().err == f"error: there is no option `{option}`\n\nhint: {answer}\n"


@together
@pytest.mark.parametrize(
    ("option", "near"),
    [("--lable", "--label"), ("--txt", "--text"), ("--treads", "--threads"), ("--bad-row", "--bad-rows"),
     ("--hep", "--help"), ("--zip", None), ("--set", None), ("--par", None)],
)  # fmt: skip
def test_only_what_is_near_is_proposed(capsys, option, near):
    assert main(["train", "mail.csv", option, "x"]) == 2
    meant = "" if near is None else f"; did you mean `{near}`?"
    assert capsys.readouterr().err.splitlines()[0] == f"error: there is no option `{option}`{meant}"


@together
@pytest.mark.parametrize(
    ("name", "stored"),
    [("logistic", "softmax"), ("logistic-regression", "softmax"), ("lr", "softmax"), ("maxent", "softmax"),
     ("nb", "multinomial"), ("naive-bayes", "multinomial"), ("bayes", "multinomial"),
     ("BernoulliNB", "bernoulli"), ("nb:alpha=0.5", "multinomial"), ("nb_softmax", "nb-softmax")],
)  # fmt: skip
def test_learners_go_by_the_names_people_know(mail, capsys, name, stored):
    Path("mail.csv").write_text(MAIL)
    assert main(["train", "mail.csv", "--learner", name, "--quiet"]) == 0, capsys.readouterr().err
    assert textodds.load("mail.textodds").recipe.as_dict()["learner"]["learner"] == stored


def test_two_names_of_one_learner_are_one_learner(session, mail):
    assert refused(session, "train", "mail.csv", "--learner", "nb,multinomial") == (
        "error: `multinomial` is named twice\n\nhint: leave out one of the two\n"
    )


def test_a_support_vector_machine_is_answered_with_a_learner_that_there_is(session, mail):
    assert refused(session, "train", "mail.csv", "--learner", "svm") == (
        "error: `svm` is a support vector machine, which has no probabilities of its own\n\n"
        "hint: softmax regression is a linear model too, and about as accurate: `--learner softmax`\n"
    )


@together
@pytest.mark.parametrize(
    ("address", "what", "hint"),
    [
        (
            "https://example.com/mail.csv",
            "a web address",
            "`curl -L -o mail.csv https://example.com/mail.csv`",
        ),
        ("s3://bucket/mail.parquet", "in the store of a cloud", "`aws s3 cp s3://bucket/mail.parquet .`"),
        ("gs://bucket/mail.csv", "in the store of a cloud", "`gcloud storage cp gs://bucket/mail.csv .`"),
        ("postgresql://me:secret@host/db", "a database server", "write the rows to a file"),
        ("mysql://host/db", "a database server", "--query 'SELECT text, label FROM mail'"),
        ("file:///tmp/mail.csv", "an address, not a path", "`/tmp/mail.csv`"),
    ],
)
def test_an_address_is_answered_by_what_to_do(capsys, address, what, hint):
    assert main(["train", address]) == 2
    err = capsys.readouterr().err
    assert f"is {what}" in err.splitlines()[0]
    assert hint in err
    assert "no file" not in err
    assert "secret" not in err


def test_an_address_is_answered_wherever_data_are_read(session, model):
    assert "a web address" in refused(session, "predict", "mail.textodds", "https://example.com/new.csv")
    assert "in the store of a cloud" in refused(
        session, "train", "mail.csv", "--test", "s3://bucket/test.csv"
    )
    with pytest.raises(textodds.errors.BadFile, match="a database server"):
        textodds.train("postgresql://host/db")
