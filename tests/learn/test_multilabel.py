"""Several labels a text: naive Bayes by hand, logistic regression against scikit-learn, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from textodds.data.label_sets import name_of
from textodds.learn.multilabel import counts as label_counts
from textodds.learn.multilabel.logistic import LabelProblem, solve
from textodds.learn.multilabel.membership import Membership, some_labels, some_rows
from textodds.learn.multilabel.odds import LabelOdds, _least, label_loss, sigmoid
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.tally import Tally

TEXTS = ["free phone free", "see you", "free see", "phone"]
LABELS = [["spam", "offer"], [], ["spam"], ["offer"]]


def test_naive_bayes_of_each_label_is_that_of_label_against_rest_by_hand() -> None:
    counts = Tally.of(TEXTS, [name_of(each) for each in LABELS]).counts()
    form = label_counts.fit(MultinomialLearner(alpha=0.5), counts, Membership.of(counts.classes))
    vocabulary = Tally.of(TEXTS, [name_of(each) for each in LABELS]).vocabulary.words()
    assert form.classes == ("offer", "spam")
    for k, label in enumerate(form.classes):
        inside = [text for text, own in zip(TEXTS, LABELS, strict=True) if label in own]
        outside = [text for text, own in zip(TEXTS, LABELS, strict=True) if label not in own]
        for v, word in enumerate(vocabulary):
            shares = []
            for texts in (inside, outside):
                tokens = " ".join(texts).split()
                shares.append((tokens.count(word) + 0.5) / (len(tokens) + 0.5 * len(vocabulary)))
            expected = math.log(shares[0] / shares[1])
            assert form.weights.rows(np.array([v]))[0, k] == pytest.approx(expected, abs=1e-12)
        assert form.log_prior[k] == pytest.approx(math.log((len(inside) + 0.5) / (len(outside) + 0.5)))


@given(st.integers(9, 30), st.integers(0, 5))
@settings(max_examples=10, deadline=None)
def test_many_labels_are_stored_sparsely_and_weigh_the_same(K: int, seed: int) -> None:
    """More labels than are stored as a full matrix: a default, a part by word, and exceptions."""
    random = np.random.default_rng(seed)
    texts = [" ".join(f"w{v}" for v in random.integers(0, 40, 5)) for _ in range(60)]
    labels = [[f"l{k}" for k in np.unique(random.integers(0, K, 2))] for _ in texts]
    counts = Tally.of(texts, [name_of(each) for each in labels]).counts()
    sets = Membership.of(counts.classes)
    form = label_counts.fit(MultinomialLearner(alpha=0.1), counts, sets)
    whole = form.weights.rows(np.arange(counts.n_features))
    for k in range(0, len(sets.labels), 7):
        one = Membership.of(counts.classes, [sets.labels[k]])
        alone = label_counts.fit(MultinomialLearner(alpha=0.1), counts, one)
        np.testing.assert_allclose(
            whole[:, k], alone.weights.rows(np.arange(counts.n_features))[:, 0], atol=1e-9
        )


def problem(seed: int = 0, N: int = 120, V: int = 25, K: int = 5) -> tuple[LabelProblem, np.ndarray]:
    random = np.random.default_rng(seed)
    dense = (random.random((N, V)) < 0.2) * random.random((N, V))
    targets = (dense @ random.normal(size=(V, K)) + random.normal(size=(N, K)) * 0.5) > 0.2
    targets[0] = True
    targets[1] = False
    matrix = sparse.csr_matrix(dense)
    rows = CompressedRows(
        (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64)), (N, V)
    )
    starts = np.concatenate([[0], np.cumsum(targets.sum(axis=1))]).astype(np.int64)
    labels = np.nonzero(targets)[1].astype(np.int32)
    return LabelProblem(rows, (starts, labels), K, random.random(N) + 0.5), targets


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_logistic_regression_of_all_labels_is_that_of_scikit_learn(C: float) -> None:
    made, targets = problem()
    fit = solve(made, C, tolerance=1e-9)
    assert fit.gaps.max() < 1e-8
    dense = made.rows.toarray()
    for k in range(made.n_labels):
        other = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
        other.fit(dense, targets[:, k], sample_weight=made.weights)
        np.testing.assert_allclose(fit.weights[:, k], other.coef_[0], atol=2e-3)
        assert fit.bias[k] == pytest.approx(other.intercept_[0], abs=2e-3)


def test_labels_are_solved_alike_on_any_number_of_threads_and_beyond_one_block() -> None:
    made, _ = problem(K=70)
    one, two = solve(made, 3.0, threads=1), solve(made, 3.0, threads=2)
    assert (one.weights == two.weights).all()
    assert (one.bias == two.bias).all()


def test_a_solution_begun_where_another_ended_is_the_same() -> None:
    made, _ = problem()
    cold = solve(made, 3.0, tolerance=1e-9)
    warm = solve(made, 3.0, tolerance=1e-9, start=solve(made, 1.0, tolerance=1e-4))
    np.testing.assert_allclose(cold.weights, warm.weights, atol=2e-3)


def test_a_label_that_all_rows_have_or_none_has_no_weights() -> None:
    made, targets = problem(K=2)
    starts = np.arange(len(targets) + 1, dtype=np.int64)
    plain = LabelProblem(made.rows, (starts, np.zeros(len(targets), np.int32)), 2, made.weights)
    fit = solve(plain, 1.0)
    assert not fit.weights.any()
    assert fit.bias[0] > 4
    assert fit.bias[1] < -4


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=3), min_size=1, max_size=12), st.data())
@settings(max_examples=50, deadline=None)
def test_labels_of_rows_and_of_blocks_are_those_of_the_sets(
    rows: list[list[str]], data: st.DataObject
) -> None:
    names = [name_of(each) for each in rows]
    unique = sorted(set(names))
    sets = Membership.of(unique)
    codes = np.array([unique.index(name) for name in names])
    matrix = sets.matrix(codes)
    expected = np.array([[label in own for label in sets.labels] for own in rows]).reshape(len(rows), -1)
    assert (matrix == expected).all()
    first = data.draw(st.integers(0, len(sets.labels)))
    starts, labels = some_labels(sets.rows(codes), first, len(sets.labels))
    for row in range(len(rows)):
        here = labels[starts[row] : starts[row + 1]] + first
        assert sorted(here.tolist()) == [k for k in np.flatnonzero(expected[row]).tolist() if k >= first]
    which = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)), dtype=np.intp)
    starts, labels = some_rows(sets.rows(codes), which)
    for at, row in enumerate(which.tolist()):
        assert sorted(labels[starts[at] : starts[at + 1]].tolist()) == np.flatnonzero(expected[row]).tolist()


def test_calibration_finds_the_slope_and_bias_that_scores_were_made_with() -> None:
    random = np.random.default_rng(0)
    z = random.normal(size=(20_000, 3)) * 4
    slopes, bias = np.array([0.5, 1.0, 2.0]), np.array([-1.0, 0.0, 1.0])
    truth = random.random(z.shape) < sigmoid(z * slopes + bias)
    found = LabelOdds.of(z, truth, np.ones(len(z)))
    np.testing.assert_allclose(found.slopes, slopes, rtol=0.1)
    np.testing.assert_allclose(found.bias, bias, atol=0.15)
    assert label_loss(found.logits(z), truth, np.ones(len(z))) < label_loss(z, truth, np.ones(len(z)))


def test_a_rare_label_is_calibrated_like_the_others() -> None:
    random = np.random.default_rng(1)
    z = random.normal(size=(5000, 4)) * 3
    truth = random.random(z.shape) < sigmoid(0.5 * z + np.array([0.0, 0.0, 0.0, -8.0]))
    assert 0 < truth[:, 3].sum() < 12  # a few texts say little about a slope
    found = LabelOdds.of(z, truth, np.ones(len(z)))
    assert 0.3 < found.slopes[3] < 0.9


def test_thousands_of_labels_with_few_rows_each_are_calibrated() -> None:
    """Most have no held-out row that has them: what all share must come from cells that matter."""
    random = np.random.default_rng(0)
    N, K = 400, 3000
    z = random.normal(-12.0, 4.0, (N, K))
    truth = random.random((N, K)) < 1.0 / (1.0 + np.exp(-(0.5 * z - 2.0)))
    odds = LabelOdds.of(z, truth, np.ones(N))
    fresh = random.normal(-12.0, 4.0, (N, K))
    p = odds.probabilities(fresh)
    there = random.random((N, K)) < 1.0 / (1.0 + np.exp(-(0.5 * fresh - 2.0)))
    for low, high in ((0.01, 0.05), (0.05, 0.2), (0.2, 1.0)):
        some = (p >= low) & (p < high)
        assert there[some].mean() == pytest.approx(p[some].mean(), rel=0.25)


def test_columns_that_are_settled_early_are_as_by_themselves() -> None:
    random = np.random.default_rng(1)
    z = random.normal(0.0, 3.0, (300, 40))
    truth = random.random((300, 40)) < 1.0 / (1.0 + np.exp(-random.uniform(0.2, 2.0, 40) * z))
    weights, mean = np.ones(300), np.zeros((2, 40))
    together = _least(z, truth, weights, mean, (0.5, 1.0))
    for k in (0, 17, 39):
        alone = _least(z[:, [k]], truth[:, [k]], weights, mean[:, [k]], (0.5, 1.0))
        np.testing.assert_allclose(together[:, [k]], alone, rtol=0, atol=1e-4)
