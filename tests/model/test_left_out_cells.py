"""Among very many classes documents are left out by their words: the same answers as class by class."""

import numpy as np
import pytest

import textodds
from pairs import pairwise
from textodds.data import Batch
from textodds.learn.calibration import Calibration
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.model import left_out_cells
from textodds.model.leave_one_out import LeaveOneOut, left_out, left_out_answers

K = 60


def drawn(seed=0, N=400):
    """Texts of many classes: rare words, words of the class, texts without words, classes of one text."""
    random = np.random.default_rng(seed)
    codes = np.minimum(random.geometric(0.05, N) - 1, K - 1)
    texts = [
        " ".join(
            [f"own{k}x{random.integers(4)}" for _ in range(random.integers(0, 3))]
            + [f"rare{random.integers(400)}" for _ in range(random.integers(0, 4))]
            + [f"common{random.integers(5)}"] * int(random.integers(0, 3))
        )
        for k in codes
    ]
    weights = random.choice([0.25, 1.0, 1.0, 3.0], N)
    return texts, [f"c{k:02}" for k in codes], weights


LEARNERS = {
    "multinomial": lambda alpha, prior: MultinomialLearner(alpha, prior),
    "binary": lambda alpha, prior: MultinomialLearner(alpha, prior, binary=True),
    "bernoulli": lambda alpha, prior: BernoulliLearner(alpha, prior),
    "complement": lambda alpha, prior: ComplementLearner(alpha),
}


@pairwise
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("prior", ["data", "uniform"])
@pytest.mark.parametrize("min_df", [1, 2, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("calibrated", [None, "slope", "biases"])
def test_answers_by_cells_are_those_of_every_class(
    monkeypatch, name, alpha, prior, min_df, weighted, calibrated
):
    texts, labels, weights = drawn()
    weights = weights if weighted else None
    learner = LEARNERS[name](alpha, prior)
    model = textodds.train(texts, labels, weights, learner=learner, min_df=min_df, calibrate=False)
    n = len(model.class_names)
    if calibrated is not None:
        random = np.random.default_rng(1)
        both = (random.normal(size=n), random.normal(size=n)) if calibrated == "biases" else (0.0, 0.0)
        model.calibration = Calibration(np.array([0.4]), *both)
    whole = left_out(model, [Batch(texts, labels, weights)])
    monkeypatch.setattr("textodds.model.leave_one_out.MANY", 2)
    monkeypatch.setattr(left_out_cells, "WORTH", 0.01)
    monkeypatch.setattr(left_out_cells, "CELLS", 3000)  # in several stretches
    monkeypatch.setattr(LeaveOneOut, "log_likelihood", None)  # all of them by their words
    found = left_out_answers(model, [Batch(texts, labels, weights)])
    each = np.arange(len(texts))
    np.testing.assert_array_equal(found.truth, whole.truth)
    np.testing.assert_allclose(found.log_p_truth, whole.own, rtol=1e-9, atol=1e-8)
    best = whole.log_posterior.max(axis=1)
    np.testing.assert_allclose(found.log_p_answer, best, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(whole.log_posterior[each, found.answer], best, rtol=1e-9, atol=1e-8)
    is_clear = np.sort(whole.log_posterior, axis=1)[:, -2] < best - 1e-8
    answer = whole.log_posterior.argmax(axis=1)
    np.testing.assert_array_equal(found.answer[is_clear], answer[is_clear])


def test_of_equally_probable_classes_the_first_is_the_answer(monkeypatch):
    texts, labels = ["a", "b", "c", "d", "a"], ["v", "w", "x", "y", "z"]
    learner = MultinomialLearner(1.0, "uniform")
    model = textodds.train(texts, labels, learner=learner, min_df=1, calibrate=False)
    whole = left_out(model, [Batch(texts, labels, None)])
    monkeypatch.setattr("textodds.model.leave_one_out.MANY", 2)
    monkeypatch.setattr(left_out_cells, "WORTH", 0.01)
    found = left_out_answers(model, [Batch(texts, labels, None)])
    np.testing.assert_array_equal(found.answer, whole.log_posterior.argmax(axis=1))


def test_long_and_short_documents_meet_in_one_batch():
    texts = [f"own{k} and" for k in range(1000) for _ in range(2)] + [" ".join(f"own{k}" for k in range(900))]
    labels = [f"{k:04}" for k in range(1000) for _ in range(2)] + ["0007"]
    model = textodds.train(texts, labels, learner="multinomial", textbook=True)
    whole = left_out(model, [Batch(texts, labels, None)])
    found = left_out_answers(model, [Batch(texts, labels, None)])
    np.testing.assert_allclose(found.log_p_truth, whole.own, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.answer, whole.log_posterior.argmax(axis=1))
