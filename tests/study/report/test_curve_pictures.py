"""The logistic curve, likelihoods and descents, against SciPy and scikit-learn."""

import numpy as np
import pytest
from scipy import optimize, stats

from pairs import together
from textodds import Descent, Tally
from textodds.cli.plot_curves import word_trials
from textodds.errors import InputError, NoData
from textodds.study.report import BinomialTrials, descents, gaussian_likelihood, likelihoods, logistic

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")


@pytest.fixture
def heights():
    draw = np.random.default_rng(3)
    return np.concatenate([draw.normal(165, 6, 80), draw.normal(177, 7, 60)]), ["f"] * 80 + ["m"] * 60


def test_the_logistic_line_is_that_of_largest_likelihood(heights):
    x, labels = heights
    y = np.array([label == "m" for label in labels])
    about = logistic(x, labels, "height").about

    def loss(b):
        z = b[0] + b[1] * (x - 170)
        return np.logaddexp(0, -np.where(y, z, -z)).sum()

    found = optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert about["weight"] == pytest.approx(found.x[1], rel=1e-4)
    assert about["bias"] == pytest.approx(found.x[0] - 170 * found.x[1], rel=1e-4)
    assert about["decides_at"] == pytest.approx(170 - found.x[0] / found.x[1], rel=1e-6)
    assert about["odds_ratio"] == pytest.approx(np.exp(found.x[1]), rel=1e-4)


def test_the_curve_is_the_logistic_function_of_the_line(heights):
    curve, line = logistic(*heights, "height").figure.axes
    p = next(each for each in curve.lines if len(each.get_xdata()) == 400).get_ydata()
    z = next(each for each in line.lines if len(each.get_xdata()) == 400).get_ydata()
    np.testing.assert_allclose(np.log(p / (1 - p)), z, atol=1e-9)
    assert np.ptp(np.diff(z)) < 1e-9  # straight


def test_the_class_that_is_named_is_the_one_whose_probability_rises_with_its_share(heights):
    x, labels = heights
    one, other = logistic(x, labels, "h", "m").about, logistic(x, labels, "h", "f").about
    assert other["weight"] == pytest.approx(-one["weight"])
    assert (other["class"], other["against"]) == ("f", "m")


def test_of_three_classes_one_must_be_named(heights):
    x, labels = heights
    three = [*labels[:-5], *["x"] * 5]
    with pytest.raises(InputError, match="3 classes"):
        logistic(x, three, "h")
    assert logistic(x, three, "h", "f").about["against"] == "not f"
    with pytest.raises(InputError, match="no class `g`"):
        logistic(x, three, "h", "g")


@together
@pytest.mark.parametrize(("x", "n"), [(3, 10), (0, 7), (7, 7), (1, 5000)])
def test_the_maximum_of_a_share_is_that_of_the_binomial_likelihood(x, n):
    trials = BinomialTrials(float(x), float(n))
    grid = np.linspace(1e-6, 1 - 1e-6, 100_001)
    expected = stats.binom.logpmf(x, n, grid)
    found = trials.log_likelihood(grid)
    assert grid[expected.argmax()] == pytest.approx(trials.maximum, abs=1.1e-5)
    np.testing.assert_allclose(found - found.max(), expected - expected.max(), atol=1e-6)


def test_a_word_is_drawn_as_often_as_it_was_counted():
    texts = ["free free phone", "free call", "see you", "call me free"]
    tally = Tally.of(texts, ["spam", "spam", "ham", "ham"])
    by_model, outcomes = word_trials(tally, "Free")
    assert by_model["Bernoulli"] == {"ham": BinomialTrials(1.0, 2.0), "spam": BinomialTrials(2.0, 2.0)}
    assert by_model["multinomial"] == {"ham": BinomialTrials(1.0, 5.0), "spam": BinomialTrials(3.0, 5.0)}
    assert outcomes == {"Bernoulli": 2.0, "multinomial": 6.0}
    picture = likelihoods(by_model, "free", outcomes)
    spam = picture.about["models"]["multinomial"]["spam"]
    assert spam["smoothed"] == pytest.approx((3 + 1) / (5 + 6))
    assert spam["log_likelihood"] == pytest.approx(3 * np.log(0.6) + 2 * np.log(0.4))
    with pytest.raises(NoData, match="no text has the word `zebra`"):
        word_trials(tally, "zebra")


def test_gaussian_likelihoods_have_their_maxima_where_scipy_finds_them(heights):
    x, labels = heights
    about = gaussian_likelihood(x, labels, "height").about["classes"]["f"]
    own = x[:80]
    mean, deviation = stats.norm.fit(own)
    assert (about["mean"], about["deviation"]) == pytest.approx((mean, deviation))
    assert about["log_likelihood"] == pytest.approx(stats.norm.logpdf(own, mean, deviation).sum())


def test_the_drawn_likelihood_of_a_deviation_is_that_of_the_numbers(heights):
    x, labels = heights
    panel = gaussian_likelihood(x, labels, "height").figure.axes[1]
    at, drawn = panel.lines[0].get_data()
    there = ~np.isnan(drawn)
    own = x[:80]
    total = np.array([stats.norm.logpdf(own, own.mean(), sigma).sum() for sigma in at])
    np.testing.assert_allclose(drawn[there], np.exp(total - total.max())[there], atol=1e-9)


def test_descents_end_at_the_optimum_of_scikit_learn(heights):
    from sklearn.linear_model import LogisticRegression

    x, labels = heights
    rows = ((x - x.mean()) / x.std())[:, None]
    picture = descents(rows, labels, [Descent(2.0, 400), Descent(2.0, 100, momentum=0.5)], C=2.0)
    oracle = LogisticRegression(C=2.0, tol=1e-10).fit(rows, labels)
    z = oracle.decision_function(rows)
    y = np.array(labels) == "m"
    loss = np.logaddexp(0, -np.where(y, z, -z)).mean() + 0.5 / 2.0 * (oracle.coef_**2).sum() / len(x)
    assert picture.about["optimum"] == pytest.approx(loss, rel=1e-6)
    for curve in picture.about["curves"]:
        assert curve["losses"][0] == pytest.approx(np.log(2))  # of no weights, two classes are even
        assert curve["losses"][-1] == pytest.approx(loss, rel=1e-4)
        assert not curve["diverged"]


def test_a_rate_that_is_too_large_is_said_to_be(heights):
    x, labels = heights
    picture = descents((x[:, None] - 170) * 1e6, labels, [Descent(1e300, 50)])
    assert picture.notes == ("gradient descent overflowed: its rate is too large",)
