import itertools
import math

import numpy as np
import pytest
from scipy import stats

from textodds.study.compare.pairs import holm, matched, paired_tests
from textodds.training.choose.trial import Answers


def answers(right, loss=None):
    right = np.array(right, dtype=bool)
    loss = np.where(right, 0.1, 2.0) if loss is None else loss
    return Answers(right, np.asarray(loss, dtype=np.float32))


@pytest.fixture
def three():
    """Three models on 400 rows, of which b is a little and c much worse than a."""
    random = np.random.default_rng(0)
    a = random.random(400) < 0.9
    b = np.where(random.random(400) < 0.06, ~a, a)
    c = random.random(400) < 0.7
    losses = [np.where(right, 0.2, 1.9) + random.gamma(1.0, 0.1, 400) for right in (a, b, c)]
    return {name: answers(right, loss) for name, right, loss in zip("abc", (a, b, c), losses, strict=True)}


def test_accuracy_is_tested_as_the_binomial_test_of_scipy_on_pairs_that_differ(three):
    found = [each for each in paired_tests(three) if each.measure == "accuracy"]
    assert [(each.best, each.other) for each in found] == [("a", "b"), ("a", "c")]
    for each in found:
        best, other = three[each.best].right, three[each.other].right
        first, second = int((best & ~other).sum()), int((other & ~best).sum())
        assert each.only == (first, second)
        assert each.p_value == pytest.approx(stats.binomtest(first, first + second).pvalue)
        assert each.difference == pytest.approx(best.mean() - other.mean())


def test_log_loss_is_tested_as_the_paired_t_test_of_scipy(three):
    found = [each for each in paired_tests(three) if each.measure == "log_loss"]
    assert len(found) == 2
    for each in found:
        best, other = (three[name].loss.astype(float) for name in (each.best, each.other))
        reference = stats.ttest_rel(other, best)
        assert each.p_value == pytest.approx(reference.pvalue)
        assert each.interval == pytest.approx(tuple(reference.confidence_interval(0.95)))


def test_holm_is_the_closed_test_of_all_subsets():
    """A hypothesis is rejected if Bonferroni rejects every set of hypotheses that it is in."""
    random = np.random.default_rng(3)
    for n in (1, 2, 5):
        p_values = (random.random(n) ** 3).tolist()
        for i, adjusted in enumerate(holm(p_values)):
            sets = [
                part for k in range(1, n + 1) for part in itertools.combinations(range(n), k) if i in part
            ]
            closed = max(min(1.0, len(part) * min(p_values[j] for j in part)) for part in sets)
            assert adjusted == pytest.approx(closed)


def test_tests_are_corrected_for_as_many_as_there_are(three):
    for measure in ("accuracy", "log_loss"):
        family = [each for each in paired_tests(three) if each.measure == measure]
        assert [each.adjusted for each in family] == holm([each.p_value for each in family])
        assert {each.rivals for each in family} == {2}


def test_the_interval_of_matched_shares_is_that_of_half_a_row_more_in_each_cell():
    """Agresti and Min (2005), written out: cells n11 + 1/2, n12 + 1/2, n21 + 1/2, n22 + 1/2."""
    n12, n21, n = 13, 4, 90
    p12, p21, total = (n12 + 0.5) / (n + 2), (n21 + 0.5) / (n + 2), n + 2
    half = 1.959963984540054 * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / total)
    assert matched(n12, n21, n) == pytest.approx((p12 - p21 - half, p12 - p21 + half))


@pytest.mark.parametrize(("p12", "p21"), [(0.1, 0.1), (0.2, 0.05), (0.02, 0.01)])
def test_that_interval_holds_the_truth_as_often_as_it_says(p12, p21):
    """All outcomes of 40 rows, each with its probability."""
    n, held = 40, 0.0
    pairs = stats.multinomial(n, [p12, p21, 1 - p12 - p21])
    for first in range(n + 1):
        for second in range(n + 1 - first):
            low, high = matched(first, second, n)
            if low <= p12 - p21 <= high:
                held += pairs.pmf([first, second, n - first - second])
    assert held > 0.94


def test_a_clear_difference_is_said_with_its_size(three):
    against_c = next(each for each in paired_tests(three) if each.other == "c")
    low, high = (f"{100 * end:.1f}" for end in against_c.interval)
    assert against_c.is_told
    assert against_c.sentence("text") == f"a is more accurate than c by {low} to {high} points"


def test_models_that_answer_alike_cannot_be_told_apart():
    same = answers([True] * 30 + [False] * 10)
    found = paired_tests({"a": same, "b": same})
    assert [each.p_value for each in found] == [1.0, 1.0]
    assert not any(each.is_told for each in found)
    assert (
        found[0].sentence("text").startswith("a and b cannot be told apart on these 40 texts (difference -")
    )


def test_few_rows_that_differ_are_too_few_whatever_the_interval():
    """Four to none: p is 1/8, though an interval that is only near enough is above zero."""
    found = paired_tests({"a": answers([True] * 14), "b": answers([True] * 10 + [False] * 4)})[0]
    assert found.p_value == pytest.approx(0.125)
    assert found.interval[0] > 0
    told = (
        "a and b cannot be told apart on these 14 rows: only 4 are answered rightly by one of the two alone"
    )
    assert found.sentence() == told


def test_what_is_enough_for_one_pair_may_not_be_among_many():
    rows = 200
    best = answers([True] * rows)
    rivals = {f"r{k}": answers([True] * (rows - 6) + [False] * 6) for k in range(6)}
    found = paired_tests({"best": best, **rivals})[0]
    assert found.p_value == pytest.approx(2 / 2**6)
    assert not found.is_told
    assert "enough for one pair but not among 6" in found.sentence()


def test_rows_whose_label_a_model_does_not_have_count_for_accuracy_only():
    loss = [0.1, 0.2, math.nan, 0.4]
    found = paired_tests(
        {"a": answers([1, 1, 0, 1], loss), "b": answers([1, 0, 0, 1], [0.3, 0.9, math.nan, 0.5])}
    )
    assert [each.n for each in found] == [4, 3]
    assert found[1].difference == pytest.approx((0.2 + 0.7 + 0.1) / 3, abs=1e-6)


def test_one_model_is_compared_with_nothing(three):
    assert paired_tests({"a": three["a"]}) == ()
