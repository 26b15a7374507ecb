"""Beside an accuracy stands what the largest class alone would get, and when that deserves doubt."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, f1_score

import textodds
from pairs import together
from textodds.judge.baseline import FEW, Baseline, accuracy_sentence
from textodds.judge.evaluation import evaluate, held_out_measures
from textodds.learn.held_out import HeldOut


def answers(truth, answered, classes):
    """An evaluation in which these labels were answered so."""
    posterior = np.log(np.full((len(truth), len(classes)), 0.1))
    posterior[np.arange(len(truth)), [classes.index(label) for label in answered]] = np.log(0.8)
    return evaluate([(truth, posterior, np.ones((len(truth), 2), np.uint32))], classes)


def test_the_baseline_is_that_of_scikit_learn():
    truth = np.random.default_rng(0).choice(["a", "b", "c"], 200, p=[0.2, 0.5, 0.3]).tolist()
    dummy = DummyClassifier(strategy="most_frequent").fit(np.zeros((200, 1)), truth)
    alone = dummy.predict(np.zeros((200, 1))).tolist()
    found = answers(truth, truth, ["a", "b", "c"])
    assert found.baseline.accuracy == pytest.approx(accuracy_score(truth, alone))
    assert found.baseline.label == alone[0]
    # the largest class alone is what it is held against, and does not beat itself
    assert (
        answers(truth, alone, ["a", "b", "c"])
        .warnings()[0]
        .startswith("the model does not beat the largest class")
    )


def test_a_model_that_beats_the_largest_class_is_not_warned_of():
    truth = ["ham"] * 60 + ["spam"] * 40
    assert answers(truth, truth, ["ham", "spam"]).warnings() == []
    better = ["ham"] * 60 + ["spam"] + ["ham"] * 39
    assert answers(truth, better, ["ham", "spam"]).warnings() == []
    worse = ["ham"] * 59 + ["spam"] + ["ham"] * 40
    assert answers(truth, worse, ["ham", "spam"]).warnings() == [
        "the model does not beat the largest class: answering `ham` always has accuracy 0.6000"
    ]


def test_labels_that_the_model_lacks_are_rows_of_the_baseline():
    truth = ["eggs"] * 30 + ["ham"] * 20
    posterior = np.log(np.tile([0.9, 0.1], (50, 1)))
    found = evaluate([(truth, posterior, np.ones((50, 2), np.uint32))], ["ham", "spam"])
    assert (found.baseline.label, found.baseline.accuracy) == ("eggs", 0.6)


def test_one_class_alone_says_nothing_of_others():
    assert Baseline({"ham": 20.0}).warnings(1.0) == [
        "all rows are of the class `ham`: accuracy says nothing of other classes"
    ]


@together
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ({"a": FEW, "b": FEW}, []),
        ({"a": FEW - 1, "b": FEW}, ["a class has fewer than 10 rows to measure by: `a` (9)"]),
        ({"a": 0.5, "b": 3}, ["2 classes have fewer than 10 rows to measure by: `a` (0.5), `b` (3)"]),
        (
            {name: n for n, name in enumerate("abcdefgh", 1)},
            [
                "8 classes have fewer than 10 rows to measure by: "
                "`a` (1), `b` (2), `c` (3), `d` (4), `e` (5) and 3 more"
            ],
        ),
    ],
    ids=["enough", "one", "weights", "many"],
)
def test_classes_of_fewer_than_ten_rows_are_named(rows, told):
    assert Baseline(rows).warnings(1.0) == told


@together
@pytest.mark.parametrize(
    ("rows", "skewed"), [((30, 10), True), ((29, 10), False), ((10, 10, 10), False), ((90, 50, 31), False)]
)
def test_classes_are_skewed_where_the_largest_is_three_times_the_smallest(rows, skewed):
    assert Baseline(dict(zip("abc", rows, strict=False))).is_skewed is skewed


def test_macro_f1_stands_beside_accuracy_where_classes_are_skewed():
    plain = {"accuracy": 0.9, "macro_f1": 0.5, "largest_class": {"label": "ham", "accuracy": 0.87}}
    assert accuracy_sentence(plain) == "accuracy 0.9000, the largest class alone 0.8700"
    assert accuracy_sentence(plain | {"skewed": True}, "(0.8 to 0.95)") == (
        "accuracy 0.9000 (0.8 to 0.95), the largest class alone 0.8700, macro-F1 0.5000"
    )
    assert accuracy_sentence({"accuracy": 0.9}) == "accuracy 0.9000"  # of an earlier file


def test_held_out_rows_are_measured_as_test_data_are():
    random = np.random.default_rng(1)
    truth, answer = random.choice(3, 300, p=[0.7, 0.2, 0.1]), random.choice(3, 300)
    p = np.full(300, 0.5)
    held_out = HeldOut(truth.astype(np.uint32), answer.astype(np.uint32), p, p)
    found = held_out_measures(None, held_out, ("a", "b", "c"))
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, answer))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, answer, average="macro"))
    assert found["log_loss"] == pytest.approx(np.log(2))
    assert found["largest_class"] == {"label": "a", "accuracy": (truth == 0).mean()}
    assert found["skewed"]
    assert found["warnings"][0].startswith("the model does not beat the largest class")


@pytest.mark.parametrize("about", [None, "strange", {"accuracy": "high"}])
def test_nothing_is_said_of_held_out_rows_that_there_are_not(about):
    assert held_out_measures(about, None, ("a", "b")) is None


def test_results_show_it():
    texts = ["free phone", "win a prize", "see you at six", "lunch at noon"] * 30
    model = textodds.train(texts, ["spam", "spam", "ham", "ham"] * 30, learner="multinomial")
    found = model.evaluate(texts, ["spam", "ham", "ham", "ham"] * 30)
    assert found.baseline.as_dict() == {"label": "ham", "accuracy": 0.75}
    assert "\n  accuracy of the largest class alone  0.7500\n" in repr(found)
    assert repr(found).endswith(f"\n  warning: {found.warnings()[0]}")
    assert "accuracy of the largest class alone" in found._repr_html_()
    assert found.warnings()[0] in found._repr_html_()
    assert "accuracy 1.0000, the largest class alone 0.5000" in model._repr_html_()
