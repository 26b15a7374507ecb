"""Smoothing, calibration and a measure of quality, from the texts of training, each left out."""

import itertools
import json
import math

import numpy as np
import pytest

import textodds
from model_files import parts, put_together
from pairs import together
from textodds.data import Batch, Source
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import Rejects
from textodds.errors import InputError, ModelFileError
from textodds.learn.calibration import Calibration, log_loss
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import FEWEST, FEWEST_TO_CALIBRATE, HeldOut
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.stats.sample import SAMPLE
from textodds.training.plan import Plan
from textodds.training.train import train_on

V, LENGTH = 60, 12


def trained(*rows, **options):
    """A model of naive Bayes, unless another learner is named."""
    return textodds.train(*rows, **{"learner": "multinomial", **options})


def drawn(N, shares=(0.5, 0.5), *, repeats=3, seed=0):
    """Texts with labels; words come in groups of ``repeats``, so that Bayes' rule is too sure of itself."""
    random, K = np.random.default_rng(seed), len(shares)
    p = 0.3 * np.random.default_rng(99).dirichlet(np.full(V, 0.5), K) + 0.7 / V
    codes = random.choice(K, N, p=shares)
    words = (random.choice(V, LENGTH, p=p[k]) for k in codes)
    texts = [" ".join(f"w{v}{copy}" for v in row for copy in ["", *"bcde"][:repeats]) for row in words]
    return texts, [f"c{k}" for k in codes]


def zipfian(N=400, seed=0):
    """Texts of many rare words with labels, for which 1 is not the best smoothing."""
    random = np.random.default_rng(seed)
    p = 1 / np.arange(1, 3001)
    ranks = [np.random.default_rng(k).permutation(3000) for k in range(3)]
    codes = random.integers(0, 3, N)
    texts = []
    for k in codes:
        common = random.random(25) < 0.8
        places = random.choice(3000, 25, p=p / p.sum())
        texts.append(
            " ".join(f"w{ranks[0][r] if c else ranks[k][r]}" for r, c in zip(places, common, strict=True))
        )
    return texts, [f"c{k}" for k in codes]


def calibrated_loss(learner, texts, labels):
    """Leave-one-out log-loss under the best temperature and bias, by another way than training takes."""
    model = trained(texts, labels, learner=learner, calibrate=False)
    found = model.leave_one_out(texts, labels)
    weights = np.ones(len(texts))
    calibration = Calibration.of(found.scores, found.truth, weights)
    return log_loss(calibration.applied(found.scores), found.truth, weights)


# The choice of smoothing


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MultinomialLearner, BernoulliLearner, ComplementLearner])
def test_the_smoothing_chosen_is_near_that_of_least_loss_by_a_fine_grid(kind):
    texts, labels = zipfian()
    chosen = trained(texts, labels, learner=kind(alpha=None)).recipe.learner.alpha
    grid = 10 ** np.arange(-4, 1.6, 0.125)
    losses = [calibrated_loss(kind(alpha=float(alpha)), texts, labels) for alpha in grid]
    best = int(np.argmin(losses))
    assert 0 < best < len(grid) - 1
    assert abs(math.log10(chosen / grid[best])) <= 0.3
    assert calibrated_loss(kind(alpha=chosen), texts, labels) <= 1.005 * min(losses)
    assert 1.3 * losses[best] < losses[0]
    assert losses[best] < calibrated_loss(kind(alpha=1.0), texts, labels)


def of_the_first(n):
    texts, labels = zipfian()
    return trained(texts[:n], labels[:n], learner=MultinomialLearner(alpha=None))


def test_a_few_texts_choose_and_calibrate_nothing():
    model = of_the_first(FEWEST_TO_CALIBRATE - 1)
    assert model.recipe.learner.alpha == 1.0
    assert model.calibration is None
    assert model.held_out is None


def test_fewer_than_a_hundred_texts_choose_and_calibrate_but_promise_nothing():
    for n in (FEWEST_TO_CALIBRATE, FEWEST - 1):
        model = of_the_first(n)
        assert model.recipe.learner.alpha != 1.0
        assert model.calibration is not None
        assert model.held_out is None
        assert model.info["left_out"]["log_loss"] < model.info["left_out"]["log_loss_before"]
    assert len(of_the_first(FEWEST).held_out) == FEWEST


def test_the_smoothing_of_few_texts_leaves_1_only_for_half_a_nat_in_all():
    texts, labels = zipfian()
    for n in (16, 20, 40, 80):
        alpha = of_the_first(n).recipe.learner.alpha

        def total(alpha, n=n):
            model = trained(texts[:n], labels[:n], learner=MultinomialLearner(alpha=alpha))
            return n * model.info["left_out"]["log_loss"]

        step = math.sqrt(10)
        best = max(total(1.0) - total(step), total(1.0) - total(1 / step))
        assert (abs(math.log10(alpha)) > 0.25) == (best > 0.5), n


def test_a_smoothing_is_chosen_without_a_calibration_too():
    texts, labels = zipfian()
    learner = MultinomialLearner(alpha=None)
    plain = trained(texts, labels, learner=learner, calibrate=False)
    assert plain.calibration is None
    assert plain.recipe.learner == trained(texts, labels, learner=learner).recipe.learner


def test_a_model_of_a_chosen_smoothing_is_that_of_the_number():
    texts, labels = zipfian()
    chosen = trained(texts, labels, learner=MultinomialLearner(alpha=None))
    given = trained(texts, labels, learner=chosen.recipe.learner)
    np.testing.assert_array_equal(chosen.predict_proba(texts), given.predict_proba(texts))


@pytest.mark.parametrize(
    "recipe",
    [{"unknown": "smooth"}, {"learner": "complement:norm"}, {"learner": "complement:transform"}],
    ids=str,
)
def test_a_smoothing_that_cannot_be_chosen_is_1(recipe):
    assert trained(*zipfian(), **recipe).recipe.learner.alpha == 1.0


# Calibration


def test_a_model_is_calibrated_unless_told_not_to_be():
    texts, labels = drawn(FEWEST)
    assert trained(texts, labels).calibration is not None
    assert trained(texts, labels, calibrate=False).calibration is None
    assert trained(texts, labels, calibrate=False).held_out is None
    few = FEWEST_TO_CALIBRATE
    assert trained(texts[:few], labels[:few]).calibration is not None
    assert trained(texts[: few - 1], labels[: few - 1]).calibration is None


def test_a_model_of_one_class_is_as_it_is():
    model = trained(drawn(200)[0], ["c0"] * 200, learner=MultinomialLearner(alpha=None))
    assert model.calibration is None
    assert model.recipe.learner.alpha == 1.0
    assert model.predict_proba(["w1"]).tolist() == [[1.0]]


@pytest.mark.parametrize("learner", ["multinomial", "bernoulli"])
def test_without_calibration_probabilities_are_those_of_bayes_rule(learner):
    texts, labels = drawn(300)
    model = trained(texts, labels, learner=learner)
    plain = trained(texts, labels, learner=learner, calibrate=False)
    np.testing.assert_array_equal(model.score(texts)[0], plain.score(texts)[0])
    np.testing.assert_array_equal(model.predict_proba(texts, calibrate=False), plain.predict_proba(texts))
    np.testing.assert_allclose(
        model.predict_log_proba(texts, calibrate=False), log_softmax(model.score(texts)[0])
    )
    assert np.abs(model.predict_proba(texts) - plain.predict_proba(texts)).max() > 0.05


def test_all_ways_to_ask_are_calibrated():
    texts, labels = drawn(300)
    model = trained(texts, labels)
    expected = model.predict_proba(texts)
    np.testing.assert_allclose([model(text).probabilities["c1"] for text in texts], expected[:, 1])
    np.testing.assert_array_equal(model.predict(texts) == "c1", expected[:, 1] > 0.5)
    own = [expected[i, int(label[1:])] for i, label in enumerate(labels)]
    assert model.evaluate(texts, labels).log_loss == pytest.approx(-np.log(own).mean())
    scores = model.score_batch(Batch(texts, None, None))[0]
    np.testing.assert_allclose(np.exp(log_softmax(scores)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.7, 0.2, 0.1)], ids=str)
def test_words_that_come_together_no_longer_count_twice(learner, shares):
    model = trained(*drawn(1500, shares), learner=learner)
    new = drawn(1500, shares, seed=1)
    plain = trained(*drawn(1500, shares), learner=learner, calibrate=False)
    after, before = model.evaluate(*new), plain.evaluate(*new)
    assert after.log_loss < 0.85 * before.log_loss
    assert after.accuracy > before.accuracy - 0.02


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_the_temperature_is_how_many_words_say_the_same(repeats):
    model = trained(*drawn(4000, repeats=repeats))
    assert model.calibration.temperature == pytest.approx(repeats, rel=0.15)
    assert model.info["left_out"]["temperature"] == model.calibration.temperature


def test_one_class_of_a_single_text_leaves_the_others_calibrated():
    texts, labels = drawn(1000)
    usual = trained(texts, labels)
    single = trained([*texts, "w1 w2"], [*labels, "single"])
    assert single.calibration.temperature == pytest.approx(usual.calibration.temperature, rel=0.05)
    assert single.info["left_out"]["accuracy"] == pytest.approx(usual.info["left_out"]["accuracy"], abs=0.01)


def test_a_text_without_weight_teaches_nothing_and_its_class_is_not_asked_for():
    texts, labels = drawn(500)
    model = trained([*texts, "w1"], [*labels, "other"], [1.0] * 500 + [0.0])
    np.testing.assert_allclose(model.predict_proba(texts), trained(texts, labels).predict_proba(texts))


def test_texts_without_weight_do_not_calibrate():
    texts, labels = drawn(500)
    more, wrong = drawn(500, seed=1)[0], ["c0", "c1"] * 250
    model = trained(texts + more, labels + wrong, [1.0] * 500 + [0.0] * 500)
    usual = trained(texts, labels).predict_proba(texts)
    np.testing.assert_allclose(model.predict_proba(texts), usual, atol=1e-3)


def test_a_weight_of_two_is_two_texts_and_nearly_so_to_the_calibration():
    texts, labels = drawn(300)
    twice = trained(texts, labels, [2.0] * 300, learner="multinomial:alpha=1")
    # Leaving out a text of weight 2 leaves out both of two texts, so the calibration may differ from theirs
    # by what one text in 300 tells.
    once = trained(texts + texts, labels + labels, learner="multinomial:alpha=1")
    np.testing.assert_array_equal(twice.score(texts)[0], once.score(texts)[0])
    assert twice.calibration.temperature == pytest.approx(once.calibration.temperature, rel=0.25)


def log_odds(model, texts):
    found = model.predict_log_proba(texts)
    return found[:, 1] - found[:, 0]


def test_another_prior_shifts_log_odds_by_its_change_exactly():
    texts, labels = drawn(1000, (0.8, 0.2))
    model = trained(texts, labels)
    n = labels.count("c1")
    before = math.log(n / (1000 - n))
    for prior, after in (("uniform", 0.0), ({"c0": 0.1, "c1": 0.9}, math.log(9.0)), ("data", before)):
        shifted = log_odds(model.with_prior(prior), texts) - log_odds(model, texts)
        np.testing.assert_allclose(shifted, after - before, atol=1e-9)


def test_a_prior_given_in_training_is_that_given_later():
    texts, labels = drawn(2000, (0.9, 0.1))
    given = trained(texts, labels, learner=MultinomialLearner(prior="uniform"))
    later = trained(texts, labels).with_prior("uniform")
    np.testing.assert_allclose(given.predict_proba(texts), later.predict_proba(texts), atol=0.02)
    even = drawn(2000, seed=1)
    assert given.evaluate(*even).log_loss == pytest.approx(later.evaluate(*even).log_loss, abs=0.01)


def test_without_documents_learning_and_forgetting_keep_the_calibration_and_promise_nothing():
    texts, labels = drawn(400)
    model = trained(texts[:300], labels[:300], documents=False)
    calibration, before = model.calibration, model.predict_proba(texts)
    model.learn(texts[300:], labels[300:])
    np.testing.assert_array_equal(model.calibration.slopes, calibration.slopes)
    assert model.held_out is None
    assert model.info["earlier"] is True
    assert not np.array_equal(model.predict_proba(texts), before)
    model.forget(texts[300:], labels[300:])
    np.testing.assert_array_equal(model.predict_proba(texts), before)


def test_a_class_learned_later_has_no_bias_and_makes_old_answers_no_ground_for_promises():
    texts, labels = drawn(400, (0.7, 0.3))
    model = trained(texts, labels, documents=False)
    slopes, rate = model.calibration.slopes, dict(zip(model.classes_, model.calibration.rate, strict=True))
    model.learn(["brand new words"] * 3, ["b-new"] * 3)
    assert model.classes_ == ("b-new", "c0", "c1")
    np.testing.assert_array_equal(model.calibration.slopes, slopes)
    np.testing.assert_array_equal(model.calibration.rate, [0.0, rate["c0"], rate["c1"]])
    assert model.held_out is None
    assert model("brand new words").probabilities["b-new"] > 2 * model("").probabilities["b-new"]
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1.0)
    model.forget(["brand new words"] * 3, ["b-new"] * 3)
    np.testing.assert_array_equal(model.calibration.rate, [rate["c0"], rate["c1"]])


def test_what_was_said_of_quality_goes_with_the_answers_it_was_measured_on():
    texts, labels = drawn(400)
    model = trained(texts, labels, documents=False)
    model.learn(["brand new words"], ["b-new"])
    assert model.held_out is None
    assert "left_out" not in model.info
    model = trained(texts, labels)
    before = model.info["left_out"]
    model.learn(texts[:50], labels[:50])
    assert len(model.held_out) == model.info["left_out"]["n"] == 450
    assert model.info["left_out"] != before


def test_merged_models_have_a_calibration_between_theirs():
    first, second = drawn(300), drawn(900, repeats=5, seed=1)
    a, b = trained(*first, documents=False), trained(*second)
    both = a + b
    share = 900 / 1200
    expected = a.calibration.temperature ** (1 - share) * b.calibration.temperature**share
    assert both.calibration.temperature == pytest.approx(expected)
    np.testing.assert_allclose(
        both.calibration.bias, (1 - share) * a.calibration.bias + share * b.calibration.bias
    )
    assert both.held_out is None
    np.testing.assert_array_equal((both - b).calibration.slopes, both.calibration.slopes)
    plain = trained(*second, calibrate=False)
    with pytest.raises(InputError, match="different settings: calibrate"):
        _ = a + plain


def test_merging_models_of_different_classes_has_a_bias_for_all():
    a = trained(*drawn(300), documents=False)
    texts, labels = drawn(300, seed=1)
    b = trained(texts, [f"d{label[1:]}" for label in labels])
    both = a + b
    np.testing.assert_allclose(both.calibration.rate, [*(a.calibration.rate / 2), *(b.calibration.rate / 2)])


# Where it must not matter


def source_of(texts, labels, cuts):
    """The same rows in batches that end at ``cuts``."""
    edges = [0, *cuts, len(texts)]

    def batches(rejects, progress):
        return (Batch(texts[a:b], labels[a:b], None) for a, b in itertools.pairwise(edges) if a < b)

    return Source(ColumnRequest.without_names(), "some batches", batches, Rejects("stop"))


def test_threads_and_the_cut_of_batches_do_not_matter():
    texts, labels = drawn(SAMPLE + 1500, repeats=1)
    learner, N = MultinomialLearner(alpha=None), len(texts)
    models = [
        train_on(source_of(texts, labels, cuts), Plan(learner, None, {}, threads=threads))
        for cuts, threads in (([], 1), ([], 2), ([1, 4999, 5001], 1), (range(97, N, 97), 2))
    ]
    for other in models[1:]:
        assert other.recipe == models[0].recipe
        assert other.info == models[0].info
        np.testing.assert_array_equal(other.predict_proba(texts[:50]), models[0].predict_proba(texts[:50]))
        for name, array in models[0].held_out.arrays().items():
            np.testing.assert_array_equal(other.held_out.arrays()[name], array)
    assert len(models[0].held_out) == SAMPLE


def test_a_file_gives_the_same_bits(tmp_path):
    texts, labels = zipfian()
    model = trained(texts, labels, learner=MultinomialLearner(alpha=None))
    model.save(tmp_path / "m")
    again = textodds.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    np.testing.assert_array_equal(again.calibration.bias, model.calibration.bias)
    assert again.info["left_out"] == model.info["left_out"]
    for name, array in model.held_out.arrays().items():
        np.testing.assert_array_equal(again.held_out.arrays()[name], array)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    model.save(tmp_path / "small", counts=False)
    small = textodds.load(tmp_path / "small")
    np.testing.assert_array_equal(small.predict_proba(texts), model.predict_proba(texts))


# What is said of quality


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [MultinomialLearner(), MultinomialLearner(alpha=None), BernoulliLearner()], ids=str
)
def test_honest_accuracy_and_loss_are_those_of_new_texts(learner):
    model = trained(*drawn(3000, (0.6, 0.3, 0.1)), learner=learner)
    new = model.evaluate(*drawn(6000, (0.6, 0.3, 0.1), seed=1))
    told = model.info["left_out"]
    p = new.accuracy
    error = math.sqrt(p * (1 - p) * (1 / 3000 + 1 / 6000))
    assert abs(told["accuracy"] - p) < 3 * error
    assert told["log_loss"] == pytest.approx(new.log_loss, abs=0.03)
    assert told["log_loss"] < told["log_loss_before"]
    assert told["n"] == len(model.held_out) == 3000
    assert told["accuracy"] == model.held_out.right.mean()
    assert told["log_loss"] == pytest.approx(-np.log(model.held_out.p_truth).mean())
    # A model asked about what it has learned flatters itself.
    assert model.evaluate(*drawn(3000, (0.6, 0.3, 0.1))).accuracy > told["accuracy"]


def test_what_is_kept_is_what_leaving_out_says():
    texts, labels = drawn(300)
    model = trained(texts, labels)
    found = model.leave_one_out(texts, labels)
    answer = found.log_posterior.argmax(axis=1)
    said = np.exp(found.log_posterior)
    each = np.arange(len(texts))
    expected = np.stack([found.truth, answer, said[each, found.truth], said[each, answer]])
    kept = np.stack([model.held_out.arrays()[name] for name in ("truth", "answer", "p_truth", "p_answer")])
    # The same rows, in the order of their hashes.
    np.testing.assert_allclose(kept[:, np.lexsort(kept.round(9))], expected[:, np.lexsort(expected.round(9))])


def test_tables_keep_what_they_said_of_rows_forgotten(tmp_path):
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, 2000)
    columns = {"x": random.normal(size=2000) + codes, "y": random.normal(size=2000)}
    labels = [f"c{k}" for k in codes]
    model = textodds.train({name: each[:1000] for name, each in columns.items()}, labels[:1000])
    new = model.evaluate({name: each[1000:] for name, each in columns.items()}, labels[1000:])
    assert abs(model.held_out.right.mean() - new.accuracy) < 3 * math.sqrt(0.25 / 500)
    model.save(tmp_path / "m")
    again = textodds.load(tmp_path / "m")
    for name, array in model.held_out.arrays().items():
        np.testing.assert_array_equal(again.held_out.arrays()[name], array)
    few = textodds.train({name: each[:99] for name, each in columns.items()}, labels[:99])
    assert few.held_out is None


def test_posteriors_and_truths_pair_up():
    with pytest.raises(InputError):
        HeldOut.of(np.zeros((3, 2)), np.zeros(2, dtype=np.int64))


# Files that were tampered with


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The tensors and the header of a calibrated model, and a path."""
    path = tmp_path_factory.mktemp("files") / "m"
    trained(*drawn(150, (0.5, 0.3, 0.2))).save(path)
    return *parts(path), path


SLOPES, BIAS = [0.5], [0.0, 0.1, -0.1]


@together
@pytest.mark.parametrize(
    "calibration",
    [
        "text",
        7,
        [],
        {},
        {"slopes": SLOPES},
        {"bias": BIAS},
        *(
            {"slopes": slopes, "bias": BIAS}
            for slopes in ([], [0.0], [-1.0], [1e300], [[0.5]], ["x"], None, 0.5)
        ),
        {"slopes": [0.5, 0.5], "bias": BIAS},
        {"slopes": [float("nan")], "bias": BIAS},
        {"slopes": [float("inf")], "bias": BIAS},
        *(
            {"slopes": SLOPES, "bias": bias}
            for bias in ([], [0.0, 0.0], [0.0] * 4, [1e300] * 3, ["x"] * 3, None)
        ),
        {"slopes": SLOPES, "bias": [0.0, float("nan"), 0.0]},
        {"slopes": SLOPES, "bias": [[0.0], [0.0], [0.0]]},
        {"slopes": SLOPES, "bias": [[0.0, 0.0, 0.0]]},
        {"slopes": SLOPES, "bias": [[[0.0, 0.0, 0.0]]]},
    ],
    ids=json.dumps,
)
def test_a_calibration_that_cannot_be_is_refused(kept, calibration):
    arrays, header, path = kept
    put_together(path, arrays, {**header, "calibration": calibration})
    with pytest.raises(ModelFileError, match=str(path)):
        textodds.load(path)


@pytest.mark.parametrize(
    "calibration", [None, {"slopes": SLOPES, "bias": [0.0]}, {"slopes": SLOPES, "bias": BIAS}]
)
def test_a_calibration_that_can_be_is_taken(kept, calibration):
    arrays, header, path = kept
    put_together(path, arrays, {**header, "calibration": calibration})
    model = textodds.load(path)
    np.testing.assert_allclose(model.predict_proba(["w1 w2", ""]).sum(axis=1), 1.0)
    assert (model.calibration is None) == (calibration is None)


@together
@pytest.mark.parametrize("name", ["truth", "answer", "p_truth", "p_answer"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda array: array[:-1],
        lambda array: array[:0],
        lambda array: array.reshape(-1, 1),
        lambda array: array.astype(np.float32),
        lambda array: array.astype(np.int64),
        lambda array: np.full_like(array, 3),
        lambda array: np.full_like(array, np.iinfo(np.uint32).max) if array.dtype.kind == "u" else -array,
        lambda array: array + 3 if array.dtype.kind == "u" else array * np.nan,
    ],
    ids=["short", "empty", "square", "single", "whole", "three", "beyond", "nan"],
)
def test_honest_answers_that_cannot_be_are_refused(kept, name, damage):
    arrays, header, path = kept
    put_together(path, {**arrays, f"honest.{name}": damage(arrays[f"honest.{name}"])}, header)
    with pytest.raises(ModelFileError, match=str(path)):
        textodds.load(path)


@pytest.mark.parametrize("name", ["answer", "p_truth", "p_answer"])
def test_honest_answers_that_lack_a_part_are_refused(kept, name):
    arrays, header, path = kept
    put_together(path, {key: each for key, each in arrays.items() if key != f"honest.{name}"}, header)
    with pytest.raises(ModelFileError, match=f"honest.{name}"):
        textodds.load(path)
