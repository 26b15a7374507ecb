"""ROC, precision-recall and coverage are scikit-learn's and enumeration's, ties included."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from textodds.study.report.evaluation_data import log_odds
from textodds.study.report.ranking_curves import DISTINCT, WAITING, RankingCounts, rounded

rows = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40)


def ranked(scores, positive, *, distinct=DISTINCT, batches=1):
    ranking = RankingCounts(distinct)
    for part in np.array_split(np.arange(len(scores)), batches):
        ranking.add(np.asarray(scores, dtype=float)[part], np.asarray(positive)[part])
    return ranking.curve()


@given(rows, st.integers(1, 3))
def test_areas_are_those_of_scikit_learn_with_ties(pairs, batches):
    scores, positive = (np.array(part) for part in zip(*pairs, strict=True))
    curve = ranked(scores, positive, batches=batches)
    if positive.any() and not positive.all():
        assert curve.auc == pytest.approx(metrics.roc_auc_score(positive, scores), rel=1e-12, abs=1e-12)
    else:
        assert np.isnan(curve.auc)
    if positive.any():
        expected = metrics.average_precision_score(positive, scores)
        assert curve.average_precision == pytest.approx(expected, rel=1e-12)
    else:
        assert np.isnan(curve.average_precision)


@given(rows)
def test_the_area_under_roc_is_the_share_of_pairs_in_the_right_order(pairs):
    high = [score for score, positive in pairs if positive]
    low = [score for score, positive in pairs if not positive]
    if high and low:
        right = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(high, low))
        curve = ranked(*map(list, zip(*pairs, strict=True)))
        assert curve.auc == pytest.approx(right / (len(high) * len(low)), rel=1e-12, abs=1e-12)


def test_curves_are_those_of_scikit_learn():
    random = np.random.default_rng(3)
    positive = random.random(500) < 0.3
    scores = np.round(random.normal(positive * 1.0), 1)
    curve = ranked(scores, positive, batches=7)
    x, y, _ = metrics.roc_curve(positive, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.roc(), (x, y), rtol=1e-12)
    precision, recall, _ = metrics.precision_recall_curve(positive, scores)
    np.testing.assert_allclose(curve.precision_recall(), (recall[-2::-1], precision[-2::-1]), rtol=1e-12)


def test_the_surest_rows_by_hand():
    curve = ranked([9, 7, 7, 3], [True, True, False, False])
    share, right = curve.coverage()
    assert share.tolist() == [0.25, 0.75, 1.0]
    assert right.tolist() == pytest.approx([1, 2 / 3, 1 / 2])
    assert curve.above(0.25) == 1
    assert curve.above(0.5) == pytest.approx(0.75)  # one of the two that tie, either of them
    assert curve.above(1.0) == 0.5
    assert [curve.least(part) for part in (0.25, 0.5, 0.75, 1.0)] == [9, 7, 7, 3]


def test_memory_is_bounded_and_areas_hardly_change():
    random = np.random.default_rng(0)
    positive = random.random(300_000) < 0.2
    scores = random.normal(positive * 1.5) * 30
    curve = ranked(scores, positive, distinct=DISTINCT, batches=20)
    assert not curve.is_exact
    assert len(curve.scores) <= DISTINCT < 300_000
    assert (curve.n_positives, curve.n_negatives) == (positive.sum(), (~positive).sum())
    assert curve.auc == pytest.approx(metrics.roc_auc_score(positive, scores), abs=1e-4)
    assert curve.average_precision == pytest.approx(
        metrics.average_precision_score(positive, scores), abs=1e-4
    )


def test_few_distinct_scores_are_exact_however_many_rows():
    n = 3 * WAITING
    scores, positive = np.arange(n) % 7, np.arange(n) % 3 == 0
    curve = ranked(scores, positive, distinct=7, batches=9)
    assert curve.is_exact
    assert len(curve.scores) == 7


def test_infinite_scores_have_their_place_and_what_is_no_number_is_last():
    curve = ranked([np.inf, 1.0, -np.inf, np.nan], [True, True, False, False], distinct=2)
    assert curve.auc == 1.0


@given(st.floats(-1e300, 1e300), st.integers(0, 16))
def test_rounding_moves_a_score_by_little_and_never_past_its_sign(score, bits):
    got = rounded(np.array([score]), bits)[0]
    assert abs(got - score) <= abs(score) * 2.0 ** -(bits + 1)
    assert np.sign(got) in (0.0, np.sign(score))


def test_log_odds_are_in_the_order_of_probabilities_and_tell_apart_what_these_cannot():
    random = np.random.default_rng(1)
    p = random.dirichlet(np.ones(4), 200)
    got = log_odds(np.log(p), np.full(200, 2))
    np.testing.assert_allclose(got, np.log(p[:, 2] / (1 - p[:, 2])), rtol=1e-9)
    sure = log_odds(np.array([[0.0, -50.0], [0.0, -60.0], [0.0, -np.inf]]), np.zeros(3, dtype=int))
    assert sure.tolist() == [50.0, 60.0, np.inf]
    alone = log_odds(np.zeros((2, 1)), np.zeros(2, dtype=int))
    assert alone.tolist() == [np.inf, np.inf]
