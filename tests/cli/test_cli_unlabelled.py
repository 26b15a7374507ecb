import json
from pathlib import Path

import numpy as np
import pytest

import textodds
from textodds.cli import main
from textodds.learn.em import SemiSupervisedLearner

UNLABELLED = "text\nfree eggs and a prize\neggs inside\nsee you at lunch\n"


@pytest.fixture
def more(mail):
    Path("more.csv").write_text(UNLABELLED)


def test_unlabelled_texts_are_learned_from(more, capsys):
    assert (
        main(["train", "mail.csv", "--unlabelled", "more.csv", "--learner", "semisupervised:alpha=0.1"]) == 0
    )
    err = capsys.readouterr().err
    assert "learned 6 rows of mail.csv" in err
    assert "3 unlabelled texts of more.csv with estimated labels: EM settled after" in err
    model = textodds.load("mail.textodds")
    same = textodds.train("mail.csv", unlabelled="more.csv", learner=SemiSupervisedLearner(alpha=0.1))
    np.testing.assert_array_equal(model.score(["eggs"])[0], same.score(["eggs"])[0])
    assert model("eggs").label == "spam"  # a word of no labelled text
    assert textodds.train("mail.csv", unlabelled="more.csv")("eggs").label == "spam"


def test_their_weight_and_temperature_may_be_given(more, capsys):
    args = ["--learner", "semisupervised:weight=0.5:temperature=2", "--json"]
    assert main(["train", "mail.csv", "--unlabelled", "more.csv", *args]) == 0
    assert sum(json.loads(capsys.readouterr().out)["classes"].values()) == pytest.approx(6 + 0.5 * 3)
    assert textodds.load("mail.textodds").recipe.learner == SemiSupervisedLearner(weight=0.5, temperature=2.0)


def test_such_a_model_says_why_it_cannot_learn(more, capsys):
    assert main(["train", "mail.csv", "--unlabelled", "more.csv", "--quiet"]) == 0
    assert main(["learn", "mail.textodds", "mail.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: this model was learned from unlabelled texts too")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--learner", "bernoulli"], "bernoulli does not learn from unlabelled texts"),
        (["--typical"], "`typical` cannot be combined with `unlabelled`"),
        (
            ["--learner", "semisupervised:weight=2"],
            "the weight of unlabelled texts must be from 0 to 1, got 2",
        ),
        (["--learner", "semisupervised:temperature=0"], "temperature must be above 0"),
        (["--learner", "multinomial:alpha=0"], "alpha must be one number above 0"),
    ],
)
def test_what_cannot_be_is_said(more, capsys, args, problem):
    assert main(["train", "mail.csv", "--unlabelled", "more.csv", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")


def test_the_learner_of_unlabelled_texts_is_refused_where_there_are_none(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "semisupervised:weight=0.5"]) == 2
    assert capsys.readouterr().err.startswith("error: semisupervised learns from unlabelled texts")
