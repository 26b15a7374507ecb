"""The mix of classes in unlabelled documents: its maximum, its intervals, and where they fail."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import textodds
from textodds.data import read
from textodds.errors import InputError, NoData, Unsupported
from textodds.judge.class_mix import Recalibration, class_mix, log_posteriors, model_mix
from textodds.judge.evaluation import wilson
from textodds.learn.calibration import Calibration
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import HeldOut

SAMPLES = 300
MANY = pytest.mark.parametrize("samples", [100, pytest.param(SAMPLES, marks=pytest.mark.long)])


def documents(random, mix, prior, n, distance=1.5, sharpness=1.0):
    """Log-posteriors under a prior of documents that come in a mix, and their classes."""
    K = len(mix)
    truth = random.choice(K, size=n, p=mix)
    seen = random.normal(size=(n, K))
    seen[np.arange(n), truth] += distance
    return log_softmax(sharpness * distance * seen + np.log(prior)), truth


def covers(mix, share):
    return (mix.interval[:, 0] <= share) & (share <= mix.interval[:, 1])


@pytest.mark.parametrize("K", [2, 3, 7])
def test_the_shares_maximise_the_likelihood(K):
    """Against a general optimiser over the simplex, by softmax; and no share is at an edge."""
    random = np.random.default_rng(K)
    prior = random.dirichlet(np.full(K, 5.0))
    log_p, _ = documents(random, random.dirichlet(np.full(K, 5.0)), prior, 800)
    found = class_mix(log_p, np.log(prior))
    ratio = np.exp(log_p) / prior

    def fall(at):
        return -np.log(ratio @ np.exp(log_softmax(at))).sum()

    other = minimize(fall, np.zeros(K), method="BFGS").x
    np.testing.assert_allclose(found.share, np.exp(log_softmax(other)), atol=1e-4)
    assert -np.log(ratio @ found.share).sum() <= fall(other) + 1e-6
    assert found.gap <= 1e-6
    assert found.share.sum() == pytest.approx(1)


def test_the_shares_are_a_fixed_point_of_em():
    random = np.random.default_rng(5)
    prior = np.array([0.5, 0.3, 0.2])
    log_p, _ = documents(random, np.array([0.2, 0.2, 0.6]), prior, 1000)
    found = class_mix(log_p, np.log(prior))
    np.testing.assert_allclose(np.exp(found.corrected(log_p)).mean(axis=0), found.share, atol=1e-5)


def test_a_class_that_is_not_there_has_no_share_but_an_interval():
    random = np.random.default_rng(6)
    prior = np.array([0.4, 0.4, 0.2])
    log_p, _ = documents(random, np.array([0.5, 0.5, 0.0]), prior, 1000, distance=3.0)
    found = class_mix(log_p, np.log(prior))
    assert found.share[2] < 0.01
    assert found.interval[2, 0] == pytest.approx(0, abs=1e-3)
    assert 0 < found.interval[2, 1] < 0.02
    assert found.gap <= 1e-6


def test_documents_that_leave_no_doubt_are_counted_with_the_usual_errors():
    log_p = np.array([[0.0, -50.0]] * 150 + [[-50.0, 0.0]] * 50)
    found = class_mix(log_p, np.log([0.9, 0.1]))
    assert found.share == pytest.approx([0.75, 0.25])
    assert found.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 200), rel=1e-6)
    np.testing.assert_allclose(found.interval[1], wilson(50, 200), atol=0.003)


def test_posteriors_that_say_nothing_leave_the_share_anywhere():
    prior = np.array([0.3, 0.7])
    found = class_mix(np.tile(np.log(prior), (50, 1)), np.log(prior))
    assert found.interval.tolist() == [[0, 1], [0, 1]]
    assert found.p_value == 1


def test_corrected_posteriors_are_those_of_the_new_prior():
    random = np.random.default_rng(8)
    prior, now = np.array([0.9, 0.1]), np.array([0.3, 0.7])
    log_p, truth = documents(random, now, prior, 4000)
    found = class_mix(log_p, np.log(prior))
    expected = log_softmax(log_p - np.log(prior) + np.log(found.share))
    np.testing.assert_allclose(found.corrected(log_p), expected, atol=1e-9)
    rows = np.arange(len(truth))
    assert -found.corrected(log_p)[rows, truth].mean() < -log_p[rows, truth].mean()


@pytest.mark.slow
@MANY
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("K", [2, 4])
def test_intervals_cover_the_mix_when_posteriors_are_calibrated(K, n, samples):
    random = np.random.default_rng(10 * K + n)
    prior = np.array([0.87, 0.13]) if K == 2 else np.array([0.4, 0.3, 0.2, 0.1])
    covered = []
    for _ in range(samples):
        now = random.dirichlet(np.ones(K))
        log_p, _ = documents(random, now, prior, n)
        covered.append(covers(class_mix(log_p, np.log(prior)), now).mean())
    error = np.std(covered) / np.sqrt(samples)
    assert 0.95 - 3 * error - 0.01 <= np.mean(covered) <= 0.95 + 3 * error + 0.015


@pytest.mark.slow
def test_the_standard_error_is_the_spread_of_the_estimates():
    random = np.random.default_rng(21)
    prior, now = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4])
    found = [class_mix(documents(random, now, prior, 800)[0], np.log(prior)) for _ in range(SAMPLES)]
    spread = np.std([mix.share for mix in found], axis=0)
    np.testing.assert_allclose(np.mean([mix.standard_error for mix in found], axis=0), spread, rtol=0.12)


@pytest.mark.slow
@MANY
@pytest.mark.parametrize("K", [2, 4])
def test_an_unchanged_mix_is_rarely_called_changed_and_a_changed_one_often(K, samples):
    random = np.random.default_rng(30 + K)
    prior = np.full(K, 1 / K)
    alarms = sum(
        class_mix(documents(random, prior, prior, 500)[0], np.log(prior)).p_value < 0.05
        for _ in range(samples)
    )
    assert alarms <= binom.ppf(0.999, samples, 0.05)
    other = prior + 0.12 * (np.arange(K) == 0) - 0.12 * (np.arange(K) == 1)
    caught = sum(
        class_mix(documents(random, other, prior, 2000)[0], np.log(prior)).p_value < 0.05 for _ in range(50)
    )
    assert caught >= 45


@pytest.mark.slow
@MANY
def test_sharp_posteriors_break_intervals_and_honest_documents_mend_them(samples):
    """Three times too sure: what naive Bayes is. 500 honest documents, of another mix than today's."""
    random = np.random.default_rng(40)
    prior = np.array([0.7, 0.3])
    covered = {"as they are": [], "with honest": []}
    for _ in range(samples):
        share = random.uniform(0.05, 0.95)
        now = np.array([1 - share, share])
        log_p, _ = documents(random, now, prior, 500, sharpness=3.0)
        held_out = HeldOut.of(*documents(random, prior, prior, 500, sharpness=3.0))
        covered["as they are"].append(covers(class_mix(log_p, np.log(prior)), now)[0])
        covered["with honest"].append(covers(class_mix(log_p, np.log(prior), held_out), now)[0])
    assert np.mean(covered["as they are"]) < 0.9
    assert np.mean(covered["with honest"]) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / samples)


@pytest.mark.slow
@MANY
def test_the_test_of_change_allows_for_the_calibration(samples):
    """Of 200 honest documents, whose error all of today's documents share."""
    random = np.random.default_rng(43)
    prior = np.array([0.6, 0.4])
    alarms = {"without": 0, "with": 0}
    for _ in range(samples):
        held_out = HeldOut.of(*documents(random, prior, prior, 200, sharpness=3.0))
        log_p, _ = documents(random, prior, prior, 3000, sharpness=3.0)
        found = class_mix(log_p, np.log(prior), held_out)
        certain = Recalibration(found.recalibration.slope, found.recalibration.bias, np.zeros((3, 3)))
        taken = log_softmax(certain.evidence(log_p, np.log(prior)) + np.log(prior))
        alarms["with"] += found.p_value < 0.05
        alarms["without"] += class_mix(taken, np.log(prior)).p_value < 0.05
    assert alarms["with"] <= binom.ppf(0.999, samples, 0.05)
    assert alarms["without"] > 2 * binom.ppf(0.999, samples, 0.05)


def test_recalibration_finds_the_slope_and_the_bias_of_two_classes():
    """Log-odds stretched by two and moved by one: undone by a half, and a difference of a half."""
    random = np.random.default_rng(41)
    prior = np.array([0.6, 0.4])
    log_p, truth = documents(random, prior, prior, 60_000)
    stretched = log_softmax(2 * (log_p - np.log(prior)) + np.array([1.0, 0.0]) + np.log(prior))
    found = Recalibration.of(HeldOut.of(stretched, truth), np.log(prior))
    assert found.slope == pytest.approx(0.5, abs=0.02)
    assert found.bias[0] - found.bias[1] == pytest.approx(-0.5, abs=0.05)
    assert found.covariance[0, 0] < 1e-4


def test_few_honest_documents_widen_intervals_and_many_do_not():
    random = np.random.default_rng(42)
    prior = np.array([0.7, 0.3])
    log_p, _ = documents(random, prior, prior, 1000)

    def width(n):
        mix = class_mix(log_p, np.log(prior), HeldOut.of(*documents(random, prior, prior, n)))
        return mix.interval[0, 1] - mix.interval[0, 0]

    certain = class_mix(log_p, np.log(prior))
    assert width(100) > 1.3 * (certain.interval[0, 1] - certain.interval[0, 0])
    assert width(200_000) == pytest.approx(certain.interval[0, 1] - certain.interval[0, 0], rel=0.05)


def test_what_is_no_posterior_is_refused():
    with pytest.raises(NoData, match="no documents to find the mix of"):
        class_mix(np.zeros((0, 2)), np.log([0.5, 0.5]))
    with pytest.raises(InputError, match=r"shape \(1, 3\), the prior has 2 classes"):
        class_mix(np.zeros((1, 3)), np.log([0.5, 0.5]))
    with pytest.raises(InputError, match="document 1 has a log-posterior that is not finite"):
        class_mix(np.array([[0.0, -1.0], [np.nan, 0.0]]), np.log([0.5, 0.5]))
    held_out = HeldOut.of(np.log(np.full((1, 3), 1 / 3)), np.array([2]))
    with pytest.raises(InputError, match="classes beyond the 2"):
        class_mix(np.array([[0.0, -1.0]]), np.log([0.5, 0.5]), held_out)


def test_one_class_is_all_there_is():
    found = class_mix(np.zeros((5, 1)), np.zeros(1))
    assert found.share.tolist() == [1.0]
    assert found.p_value == 1.0


@pytest.mark.realdata
@pytest.mark.parametrize("samples", [50, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["sms_spam", "ag_news_subset"])
def test_real_texts_drawn_to_a_known_mix(real_data, name, samples):
    """Half of the test data calibrates; of the other half 500 texts are drawn, to another mix each time.

    Naive Bayes as it comes is too sure of itself, and its intervals miss. A temperature and biases fitted to
    few spam messages are themselves uncertain, which shows unless honest documents are given.
    """
    train, (texts, labels) = real_data(name)
    model = textodds.train(*train, learner="multinomial")
    prior, K = model.linear.log_prior, len(model.classes_)
    evidence = model.score(texts)[0] - prior
    truth = np.array([model.classes_.index(label) for label in labels])
    random = np.random.default_rng(0)
    covered = {"raw": [], "calibrated": [], "honest": []}
    raw = log_softmax(evidence + prior)
    for _ in range(samples):
        order = random.permutation(len(truth))
        known, pool = order[: len(truth) // 2], order[len(truth) // 2 :]
        fitted = Calibration.of_parts(evidence[known][None], truth[known], np.ones(len(known)), offset=prior)
        calibrated = log_softmax(fitted.applied(evidence) + prior)
        share = random.uniform(0.05, 0.6)
        now = np.array([1 - share, share]) if K == 2 else random.dirichlet(np.ones(K))
        of_class = [pool[truth[pool] == k] for k in range(K)]
        drawn = [random.choice(of_class[k]) for k in random.choice(K, size=500, p=now)]
        covered["raw"].append(covers(class_mix(raw[drawn], prior), now).mean())
        covered["calibrated"].append(covers(class_mix(calibrated[drawn], prior), now).mean())
        held_out = HeldOut.of(raw[known], truth[known])
        covered["honest"].append(covers(class_mix(raw[drawn], prior, held_out), now).mean())
    rates = {way: np.mean(found) for way, found in covered.items()}
    assert rates["raw"] < 0.85, rates
    assert rates["calibrated"] > 0.8, rates
    assert rates["honest"] > 0.87, rates


def test_the_mix_by_a_model_is_compared_with_its_classes_in_training():
    texts, labels = ["free prize", "win free", "see you", "at six", "see six"], ["spam"] * 2 + ["ham"] * 3
    model = textodds.train(texts, labels, learner=textodds.MultinomialNB())
    today = ["free win", "prize", "see you at six"]
    found = model_mix(model, log_posteriors(model, read(today, labelled=False)))
    assert found.before.tolist() == [0.6, 0.4]
    expected = class_mix(model.predict_log_proba(today), model.form.log_prior, model.held_out, found.before)
    np.testing.assert_array_equal(found.share, expected.share)
    assert found.as_dict(model.classes_)["classes"]["spam"]["in_training"] == 0.4
    with pytest.raises(NoData):
        model_mix(model, log_posteriors(model, []))
    complement = textodds.train(texts, labels, learner=textodds.ComplementNB())
    with pytest.raises(Unsupported, match="has scores, not probabilities that a mix could be found from"):
        log_posteriors(complement, read(today, labelled=False))
