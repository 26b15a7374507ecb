"""Promises are kept as often as they say, over many samples of documents."""

import re

import numpy as np
import pytest
from scipy.stats import binom

from pairs import pairwise, together
from textodds.errors import InputError, NoData
from textodds.judge.guarantees import THRESHOLDS, Sets, _counts, _last_pass, at_most, fewest
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import HeldOut

PRIOR = np.array([0.6, 0.3, 0.1])
SPLITS = 600
MANY = pytest.mark.parametrize("splits", [200, pytest.param(SPLITS, marks=pytest.mark.long)])
WORLD = 200_000


def world(sharpness, seed=0):
    """Log-posteriors of many documents and their classes; right only at a sharpness of 1."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, size=WORLD, p=PRIOR)
    seen = random.normal(size=(WORLD, 3))
    seen[np.arange(WORLD), truth] += 2.2
    return log_softmax(sharpness * (2.2 * seen + np.log(PRIOR))), truth


@pytest.fixture(scope="module", params=[1.0, 4.0, 0.4], ids=["calibrated", "overconfident", "underconfident"])
def documents(request):
    return world(request.param)


def at_most_so_many(splits, rate):
    """What a rate is not exceeded by but in one run of a thousand."""
    return binom.ppf(0.999, splits, rate)


@pytest.mark.slow
@MANY
@pytest.mark.parametrize(("max_error", "n"), [(0.02, 1000), (0.05, 400), (0.01, 3000)])
def test_a_promise_is_broken_in_at_most_one_of_twenty_samples(documents, max_error, n, splits):
    log_p, truth = documents
    whole = HeldOut.of(log_p, truth)
    order = np.argsort(-whole.p_answer)
    wrong = np.concatenate([[0], np.cumsum(~whole.right[order])])
    random = np.random.default_rng(7)
    broken = made = 0
    for _ in range(splits):
        rows = random.integers(0, WORLD, n)
        try:
            promise = at_most(HeldOut.of(log_p[rows], truth[rows]), max_error)
        except InputError:
            continue
        made += 1
        reach = np.searchsorted(-whole.p_answer[order], -promise.threshold, side="right")
        broken += wrong[reach] / reach > max_error
    assert made > splits / 2  # what is never promised is never broken
    assert broken <= at_most_so_many(splits, 0.05)


def test_an_answer_whose_probability_is_the_threshold_is_counted_as_it_will_be_answered():
    """Else the wrong answers at the threshold below would be given, though none of them was counted."""
    sure, unsure = THRESHOLDS[60], THRESHOLDS[61]
    p = np.repeat([sure, unsure], 400)
    wrong = p == unsure
    held_out = HeldOut(wrong.astype(np.uint32), np.zeros(800, np.uint32), np.where(wrong, 1 - p, p), p)
    promise = at_most(held_out, 0.05)
    assert (promise.threshold, promise.answered, promise.errors) == (sure, 400, 0)
    assert (held_out.p_answer >= promise.threshold).sum() == promise.answered


def test_one_error_more_than_the_binomial_allows_is_one_too_many():
    """Of 300 answers 200 are surer, and right; the others are in while so few errors are unlikely."""
    most = int(binom.ppf(0.05, 300, 0.05)) - 1
    for errors, answered in ((most, 300), (most + 1, 200)):
        p, wrong = np.repeat([0.99, 0.7], [200, 100]), np.arange(300) >= 300 - errors
        held_out = HeldOut(wrong.astype(np.uint32), np.zeros(300, np.uint32), np.where(wrong, 1 - p, p), p)
        assert at_most(held_out, 0.05).answered == answered


def test_a_promise_on_the_edge_is_broken_about_as_often_as_it_may_be():
    """All answers alike, and wrong a little more often than promised: only the confidence protects.

    Whether there is a promise is asked without `at_most`: its refusals also find what can be promised.
    """
    random = np.random.default_rng(3)
    broken = 0
    for _ in range(SPLITS):
        right = random.random(1000) > 0.0501
        p, zero = np.full(1000, 0.95), np.zeros(1000, np.uint32)
        held_out = HeldOut((~right).astype(np.uint32), zero, np.where(right, p, 1 - p), p)
        broken += _last_pass(*_counts(held_out), 0.05, 1 - 0.95) is not None
    assert 0.01 * SPLITS < broken <= at_most_so_many(SPLITS, 0.05)


def mislabelled_at_the_top(n, random):
    """Documents of which the surest hundredth part is wrong in a fifth, and the others in a fiftieth."""
    p = random.uniform(0.6, 1.0, n)
    right = random.random(n) > np.where(p > 0.996, 0.2, 1 / 50)
    return HeldOut((~right).astype(np.uint32), np.zeros(n, np.uint32), np.where(right, p, 1 - p), p)


def test_wrong_labels_among_the_surest_do_not_end_the_search():
    """All in all one answer in 46 is wrong, so 5 % can be promised of nearly all."""
    random = np.random.default_rng(4)
    coverages = [at_most(mislabelled_at_the_top(5000, random), 0.05).coverage for _ in range(50)]
    assert np.mean(coverages) > 0.95


def test_a_promise_says_what_it_costs():
    log_p, truth = world(1.0)
    held_out = HeldOut.of(log_p[:5000], truth[:5000])
    strict, mild, all_of_them = (at_most(held_out, rate) for rate in (0.01, 0.05, 0.3))
    assert strict.threshold > mild.threshold > all_of_them.threshold == 0
    assert strict.coverage < mild.coverage < all_of_them.coverage == 1
    for promise in (strict, mild):
        answered = promise.answers(log_p[:5000])
        assert answered.sum() == promise.answered
        assert (~held_out.right[answered]).sum() == promise.errors
        low, high = promise.coverage_interval
        assert low < promise.coverage < high


def test_what_cannot_be_promised_names_what_can_and_that_can():
    log_p, truth = world(1.0)
    held_out = HeldOut.of(log_p[:300], truth[:300])
    with pytest.raises(InputError, match=r"0\.001 among the answered cannot be guaranteed") as caught:
        at_most(held_out, 0.001)
    least = float(re.search(r"ask for ([\d.]+), the lowest", caught.value.hint)[1])
    rows = int(re.search(r"about ([\d,]+) rows", caught.value.hint)[1].replace(",", ""))
    assert at_most(held_out, least).max_error == least
    with pytest.raises(InputError):
        at_most(held_out, least - 0.001)
    assert rows >= fewest(0.001)


def test_answers_that_are_wrong_too_often_everywhere_are_not_helped_by_more_rows():
    zero = np.zeros(400, np.uint32)
    truth = (np.arange(400) % 2).astype(np.uint32)
    with pytest.raises(InputError, match="more rows would not help"):
        at_most(HeldOut(truth, zero, np.full(400, 0.5), np.full(400, 0.5)), 0.1)


@together
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_rates_lie_between_zero_and_one(value):
    log_p, truth = world(1.0)
    held_out = HeldOut.of(log_p[:100], truth[:100])
    asked = (
        lambda: at_most(held_out, value),
        lambda: at_most(held_out, 0.5, value),
        lambda: Sets.of(held_out, value),
    )
    for ask in asked:
        with pytest.raises(InputError, match="above 0 and below 1"):
            ask()


def test_nothing_can_be_promised_on_nothing():
    nothing = HeldOut.of(np.zeros((0, 2)), np.zeros(0, np.int64))
    for promise in (lambda: at_most(nothing, 0.1), lambda: Sets.of(nothing)):
        with pytest.raises(NoData):
            promise()


@pytest.mark.slow
@pairwise
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.99])
@pytest.mark.parametrize("by_class", [False, True], ids=["overall", "by-class"])
def test_sets_cover_the_truth_as_often_as_promised(documents, coverage, by_class):
    """On average over samples, for a new document; and not much more often, or sets would be too large."""
    log_p, truth = documents
    random = np.random.default_rng(11)
    n, covered = 500, np.zeros((SPLITS, 3))
    for split in range(SPLITS):
        rows = random.integers(0, WORLD, n + 300)
        sets = Sets.of(HeldOut.of(log_p[rows[:n]], truth[rows[:n]]), coverage, by_class)
        new, known = log_p[rows[n:]], truth[rows[n:]]
        held = sets.of_posteriors(new)[np.arange(300), known]
        assert sets.of_posteriors(new).any(axis=1).all()
        covered[split] = [held[known == k].mean() for k in range(3)] if by_class else held.mean()
    mean, error = covered.mean(axis=0), covered.std(axis=0) / np.sqrt(SPLITS)
    assert (mean >= coverage - 3 * error).all()
    if not by_class and coverage == 0.99:
        assert mean[0] < 0.995


def test_overall_coverage_can_fail_a_small_class_which_by_class_does_not():
    log_p, truth = world(1.0)
    held_out, rare = HeldOut.of(log_p[:20_000], truth[:20_000]), truth[20_000:] == 2
    covered = {
        by_class: Sets.of(held_out, 0.9, by_class).of_posteriors(log_p[20_000:])[rare, 2].mean()
        for by_class in (False, True)
    }
    assert covered[False] < 0.85
    assert abs(covered[True] - 0.9) < 0.01


def test_the_limit_is_the_quantile_of_a_hand_calculation():
    """Nine documents: with 80 % coverage the second least probable, floor(10 × 0.2)."""
    p = np.arange(1, 10) / 10
    held_out = HeldOut(np.zeros(9, np.uint32), np.zeros(9, np.uint32), p, p)
    assert Sets.of(held_out, 0.8).limits.tolist() == [0.2]
    assert Sets.of(held_out, 0.9).limits.tolist() == [0.1]
    with pytest.raises(InputError, match=r"a coverage of 0\.95 takes more than 9 documents") as caught:
        Sets.of(held_out, 0.95)
    assert caught.value.hint == "ask for at most 0.9, or learn from 19 rows"


def test_a_class_of_too_few_documents_is_in_every_set():
    truth = np.array([0] * 50 + [1] * 5, dtype=np.uint32)
    p = np.full(55, 0.9)
    sets = Sets.of(HeldOut(truth, truth, p, p), 0.9, by_class=True)
    assert sets.always(3).tolist() == [1, 2]  # class 2 was never met
    assert sets.of_posteriors(np.log([[0.95, 0.03, 0.02]])).tolist() == [[True, True, True]]
    assert sets.of_posteriors(np.log([[0.05, 0.93, 0.02]])).tolist() == [[False, True, True]]


def test_a_set_that_would_be_empty_holds_the_most_probable_class():
    p = np.full(50, 0.9)
    sets = Sets.of(HeldOut(np.zeros(50, np.uint32), np.zeros(50, np.uint32), p, p), 0.9)
    assert sets.of_posteriors(np.log([[0.4, 0.6], [0.05, 0.95]])).tolist() == [[False, True], [False, True]]
