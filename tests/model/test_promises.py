"""Promises follow the documents: after forgetting they are those of the model that is left, and are kept."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import textodds
from textodds.errors import InputError
from textodds.judge.guarantees import at_most
from textodds.model.text_model import TextModel

CONFIDENCE = 0.95
LEARNERS = ["multinomial:alpha=1", "softmax:C=3:ngrams=1-1"]

Documents = tuple[list[str], list[str]]


def _documents(n: int, seed: int) -> Documents:
    """Texts of two classes, of which some are hard to tell."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n)
    own = random.random((n, 8)) < 0.2 + 0.6 * random.random((n, 1))
    side = np.where(own, truth[:, None], random.integers(0, 2, (n, 8)))
    words = random.integers(0, 40, (n, 8))
    texts = [
        " ".join(f"{'ab'[k]}{v}" for k, v in zip(*row, strict=True))
        for row in zip(side.tolist(), words.tolist(), strict=True)
    ]
    return texts, [("neg", "pos")[k] for k in truth.tolist()]


def _left(model: TextModel, documents: Documents, kept: int, seed: int) -> tuple[TextModel, Documents]:
    """The model without all but so many of its documents, drawn at random; and those it has forgotten."""
    texts, labels = documents
    gone = np.random.default_rng(seed).permutation(len(texts))[kept:].tolist()
    forgotten = [texts[i] for i in gone], [labels[i] for i in gone]
    left = copy.copy(model)
    assert left.forget(*forgotten) == len(gone)
    return left, forgotten


def _outcomes(model: TextModel, new: Documents, max_errors: list[float]) -> dict[float, str]:
    """Whether an error rate is promised, and whether the promise is kept on new documents."""
    assert model.held_out is not None
    posterior = model.predict_proba(new[0])
    right = np.array(model.classes_)[posterior.argmax(axis=1)] == np.array(new[1])
    outcomes = {}
    for max_error in max_errors:
        try:
            promise = at_most(model.held_out, max_error, CONFIDENCE)
        except InputError:
            outcomes[max_error] = "refused"
            continue
        answered = posterior.max(axis=1) >= promise.threshold
        wrong = int((~right[answered]).sum())
        outcomes[max_error] = "broken" if wrong > max_error * answered.sum() else "kept"
    return outcomes


def _must_hold(found: list[dict[float, str]]) -> dict[float, Counter[str]]:
    """Refuse promises that are broken more often than chance explains where they are as good as promised."""
    most = binom.ppf(0.999, len(found), 1 - CONFIDENCE)
    counted = {each: Counter(run[each] for run in found) for each in found[0]}
    assert all(outcomes["broken"] <= most for outcomes in counted.values()), counted
    return counted


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("runs", [6, pytest.param(60, marks=pytest.mark.long)])
def test_what_is_left_after_forgetting_promises_what_it_can_keep(learner: str, runs: int) -> None:
    documents, new = _documents(3000, 1), _documents(4000, 2)
    model = textodds.train(*documents, learner=learner, threads=1)
    assert isinstance(model, TextModel)
    found = []
    for run in range(runs):
        left, forgotten = _left(model, documents, 300, run)
        both = new[0] + forgotten[0], new[1] + forgotten[1]  # which are new to what is left
        found.append(_outcomes(left, both, [0.005, 0.05, 0.1]))
    counted = _must_hold(found)
    assert counted[0.005] == {"refused": runs}  # that takes 598 documents, all of them right
    assert counted[0.1]["kept"] > 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_ground_of_promises_is_that_of_training_on_what_is_left(learner: str) -> None:
    documents = _documents(1000, 1)
    model = textodds.train(*documents, learner=learner, threads=1)
    assert isinstance(model, TextModel)
    left, forgotten = _left(model, documents, 300, 0)
    gone = set(zip(*forgotten, strict=True))
    kept: Any = zip(*(pair for pair in zip(*documents, strict=True) if pair not in gone), strict=True)
    trained = textodds.train(*map(list, kept), learner=learner, threads=1)
    assert left.held_out is not None
    assert trained.held_out is not None
    assert len(left.held_out) == len(trained.held_out) == 300
    near = 0.0 if learner == "multinomial:alpha=1" else 1e-2
    for name, mine in left.held_out.arrays().items():
        assert np.abs(mine - trained.held_out.arrays()[name]).max() <= near
    earlier = model.held_out
    assert earlier is not None
    few, _ = _left(model, documents, 60, 0)
    assert few.held_out is None  # too few to promise anything


@pytest.mark.realdata
@pytest.mark.long
@pytest.mark.parametrize("learner", ["multinomial", "softmax:C=10:ngrams=1-1"])
def test_reviews_that_are_left_promise_what_they_can_keep(
    real_data: Callable[[str], tuple[Documents, Documents]], learner: str
) -> None:
    documents, new = real_data("mr")
    model = textodds.train(*documents, learner=learner, threads=1)
    assert isinstance(model, TextModel)
    found, earlier = [], []
    errors = [0.05, 0.1, 0.2, 0.3]
    for run in range(30):
        left, forgotten = _left(model, documents, len(documents[0]) // 10, run)
        both = new[0] + forgotten[0], new[1] + forgotten[1]
        found.append(_outcomes(left, both, errors))
        left.held_out = model.held_out  # as if promises had stayed
        earlier.append(_outcomes(left, both, errors))
    counted = _must_hold(found)
    assert counted[0.05] == counted[0.1] == {"refused": 30}  # 710 reviews are too few
    assert counted[0.3]["kept"] > 3
    assert Counter(run[0.2] for run in earlier)["broken"] > 15
