import json
from pathlib import Path

import pytest

import textodds
from textodds.cli import main


@pytest.fixture
def parts(model):
    Path("more.csv").write_text("text,label\nfree eggs,breakfast\nsee you at noon,ham\n")
    assert main(["train", "more.csv", "--learner", "multinomial", "--quiet"]) == 0


def test_the_merged_model_is_that_of_all_data(parts, capsys):
    assert main(["merge", "mail.textodds", "more.textodds", "-o", "all.textodds"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wrote all.textodds: 8 documents in 3 classes, 17 words, ")
    all_of_them = textodds.train([Path("mail.csv"), Path("more.csv")], learner="multinomial")
    assert textodds.load("all.textodds").tally == all_of_them.tally


def test_what_is_subtracted_is_gone(parts, capsys):
    assert main(["merge", "mail.textodds", "more.textodds", "-o", "all.textodds", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["documents"], told["classes"]["breakfast"], told["words"]) == (8, 1, 17)
    assert (
        main(["merge", "all.textodds", "--subtract", "more.textodds", "-o", "rest.textodds", "--quiet"]) == 0
    )
    assert textodds.load("rest.textodds").tally == textodds.train("mail.csv", learner="multinomial").tally


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["mail.textodds", "-o", "x"], "`merge` needs at least two models"),
        (["mail.textodds", "more.textodds"], "`--output` is missing"),
        (["-o", "x"], "MODEL is missing"),
        (["mail.textodds", "--subtract", "more.textodds", "-o", "x"], "`more.textodds` cannot be subtracted"),
        (["mail.textodds", "--subtract", "mail.textodds", "-o", "x"], "`mail.textodds` cannot be subtracted"),
        (["mail.textodds", "bernoulli.textodds", "-o", "x"], "`bernoulli.textodds` cannot be added"),
        (["mail.textodds", "mial.textodds", "-o", "x"], "no model file at `mial.textodds`"),
        (["mail.textodds", "more.textodds", "-o", "no/x"], "cannot write `no/x`: there is no folder `no`"),
    ],
)  # fmt: skip
def test_what_cannot_be_merged_is_said(parts, capsys, args, problem):
    assert main(["train", "mail.csv", "--learner", "bernoulli", "-o", "bernoulli.textodds", "--quiet"]) == 0
    assert main(["merge", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")
    assert not Path("x").exists()
