"""Softmax regression from the command line."""

import json

import numpy as np
import pytest

import textodds
from textodds.cli import main


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of the example messages, and what the command said of it."""
    path = tmp_path_factory.mktemp("softmax") / "m.textodds"
    source = textodds.__path__[0] + "/cli/demo_data/messages.csv"
    assert main(["train", source, "--learner", "softmax:ngrams=1-2", "-o", str(path), "--quiet"]) == 0
    return source, path


def test_train_says_what_it_chose_and_how_near_the_optimum_it_is(trained, tmp_path, capsys):
    source, _ = trained
    out = tmp_path / "m"
    assert main(["train", source, "--learner", "nb-softmax:C=2", "-o", str(out)]) == 0
    told = capsys.readouterr().err
    assert "C = 2; within " in told
    assert " of the optimum after " in told


def test_json_has_the_fit(trained, tmp_path, capsys):
    source, _ = trained
    options = ["--learner", "softmax:ngrams=1-2", "--json", "-o", str(tmp_path / "m")]
    assert main(["train", source, *options]) == 0
    fit = json.loads(capsys.readouterr().out)["fit"]
    assert fit["gap"] <= 1e-4
    assert min(fit["path"], key=lambda point: point[1])[0] / 4 < fit["C"]
    assert len(fit["path"]) >= 3
    assert fit["held_out"] > 0


def test_the_command_trains_what_python_trains(trained):
    source, path = trained
    expected = textodds.train(source, learner="softmax", ngrams=(1, 2))
    texts = ["claim your free prize", "see you at lunch", ""]
    np.testing.assert_array_equal(textodds.load(path).score(texts)[0], expected.score(texts)[0])


@pytest.mark.parametrize(
    ("written", "settings"),
    [
        ("characters=2-3:ngrams=1-1", {"characters": (2, 3), "ngrams": (1, 1)}),
        ("frequency=binary:idf=no", {"weighting": textodds.Weighting("binary", idf=False)}),
        ("class_weight=balanced", {"class_weight": "balanced"}),
        ("sklearn:min_df=1", {"sklearn": True, "min_df": 1}),
    ],
)
def test_settings_reach_the_recipe(trained, tmp_path, written, settings):
    source, _ = trained
    path = tmp_path / "m"
    given = ["--learner", f"softmax:C=3:{written}", "-o", str(path), "--quiet"]
    assert main(["train", source, *given]) == 0
    learner = textodds.SoftmaxRegression(C=3.0, class_weight=settings.pop("class_weight", None))
    expected = textodds.train(source, learner=learner, **settings)
    loaded = textodds.load(path)
    assert loaded.recipe == expected.recipe
    np.testing.assert_array_equal(loaded.score(["free prize"])[0], expected.score(["free prize"])[0])


def test_between_shows_the_words_that_decide(trained, capsys):
    _, path = trained
    assert main(["inspect", str(path), "--between", "spam", "ham", "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("spam (+) or ham (−)")
    plane = textodds.load(path).hyperplane("spam", "ham", 3)
    start = ["class prior", "intercept", "calibration"]  # and then the words
    assert [line.split("  ")[1] for line in lines[3:9]] == [*start, *(word for word, _ in plane.words)]
    assert "log-odds per unit" in lines[2]
    assert main(["inspect", str(path), "--between", "spam", "ham", "--top", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bias"] == plane.bias
    assert [(word["word"], word["log_odds"]) for word in told["words"]] == list(plane.words)


def test_inspect_says_how_the_model_was_fitted(trained, capsys):
    _, path = trained
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert "weighting" in out
    assert "of the optimum after" in out
    assert "None" not in out


def test_a_stream_is_learned_in_one_pass(trained, tmp_path, capsys):
    source, _ = trained
    path = tmp_path / "s"
    given = ["--learner", "softmax:hash_bits=14", "--stream", "-o", str(path)]
    assert main(["train", source, *given]) == 0
    assert "one pass, mean log-loss of texts before they were learned" in capsys.readouterr().err
    model = textodds.load(path)
    assert model.recipe.settings.hash_bits == 14
    assert model.evaluate(source).accuracy > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--learner", "softmax:C=-1"], "C must be zero or more"),
        (["--learner", "softmax:prior=uniform"], "softmax has no prior"),
        (["--learner", "multinomial:C=1"], "multinomial has no C"),
        (["--learner", "multinomial:idf=no"], "naive Bayes learns from counts"),
        (["--learner", "softmax:unknown=smooth"], "cannot count unknown words"),
        (["--learner", "nb-softmax", "--stream"], "a stream is learned by softmax regression"),
        (["--learner", "softmax:characters=2-5:unit=whitespace"], "beside words"),
        (["--learner", "softmax:C=inf:ngrams=1-2"], "separable"),
    ],
)
def test_what_does_not_go_together_is_refused(trained, tmp_path, capsys, options, words):
    source, _ = trained
    assert main(["train", source, "-o", str(tmp_path / "m"), *options]) == 2
    assert words in capsys.readouterr().err


def test_learning_more_needs_the_documents(trained, tmp_path, capsys):
    _, path = trained
    small = tmp_path / "small.textodds"
    textodds.load(path).save(small, documents=False)
    assert main(["learn", str(small), "--say", "hello", "--label-is", "ham"]) == 2
    told = capsys.readouterr().err
    assert "without its documents cannot be updated" in told
    assert "train it again" in told
