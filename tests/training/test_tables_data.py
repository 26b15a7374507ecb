"""Real tables: the accuracies that were measured, and what texts and headers tell together."""

import importlib.util
from pathlib import Path

import pytest

import textodds
from textodds.learn.registry import learner_named
from textodds.learn.tables import MixedLearner
from textodds.training.tables import train_table

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def evaluated(data_folder):
    """A function from a data set and a learner to its model, and what it measures on the test part."""

    def evaluate(name, learner, **more):
        folder = data_folder / name
        model = train_table(folder / "train.csv.gz", learner=learner, **more)
        return model, model.evaluate(folder / "test.csv.gz")

    return evaluate


def test_adult_is_told_better_than_by_the_mixed_naive_bayes_of_the_reference(evaluated):
    model, found = evaluated("tab_adult", MixedLearner())
    assert found.n == 16_281
    assert found.accuracy >= 0.827
    taken = {choice.column: choice.conditional for choice in model.recipe.choices}
    assert taken["capital-gain"].endswith("intervals")
    assert taken["occupation"] == "categorical"


def test_adult_is_told_as_well_without_calibration_but_with_worse_probabilities(evaluated):
    _, plain = evaluated("tab_adult", MixedLearner(calibrate=False))
    _, calibrated = evaluated("tab_adult", MixedLearner())
    assert plain.accuracy >= 0.827
    assert calibrated.log_loss < plain.log_loss


@pytest.mark.parametrize(("alpha", "accuracy"), [(1.0, 0.9422), (0.01, 0.9858)])
def test_mushrooms_are_told_as_by_scikit_learn(evaluated, alpha, accuracy):
    """Its reference takes `?` for a category, as ``missing`` does here."""
    _, found = evaluated("tab_mushroom", learner_named("categorical", alpha=alpha, missing="category"))
    assert found.accuracy == pytest.approx(accuracy, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "least", "most"), [("gaussian", 0.8825, 0.8835), ("lda", 0.915, 1), ("qda", 0.915, 1)]
)
def test_weight_and_height_are_told_as_in_the_reference(evaluated, name, least, most):
    _, found = evaluated("tab_weight_height", learner_named(name))
    assert least <= found.accuracy <= most


@pytest.fixture(scope="module")
def mails(data_folder):
    """The rows and labels of the spamassassin mails, as the example makes them."""
    path = Path(__file__).resolve().parents[2] / "examples" / "mail_with_headers.py"
    spec = importlib.util.spec_from_file_location("mail_with_headers", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    folder = data_folder / "spamassassin"
    return tuple(example.table_of(str(folder / f"{part}.csv.gz")) for part in ("train", "test"))


def test_text_and_headers_together_tell_spam_better_than_either_alone(mails):
    (rows, labels), (new_rows, new_labels) = mails
    headers = [name for name in rows[0] if name != "body"]
    found = {}
    for name, left_out in {"body": headers, "headers": ["body"], "both": []}.items():
        columns = {"body": "text", **dict.fromkeys(left_out, "ignore")}
        model = textodds.train(rows, labels, learner="mixed", columns=columns)
        found[name] = model.evaluate(new_rows, new_labels)
    assert found["both"].accuracy > max(found["body"].accuracy, found["headers"].accuracy)
    assert found["both"].log_loss < min(found["body"].log_loss, found["headers"].log_loss)
