"""A trial says what a model says that was trained without the texts it is asked about."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

import textodds
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import held_out
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.learn.registry import name_of
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.training.choose import Pins, candidates
from textodds.training.choose.trial import TIMES, Trials

from .made_up import drawn

COUNTS = {"multinomial": MultinomialLearner, "bernoulli": BernoulliLearner, "complement": ComplementLearner}
LEARNERS = (*COUNTS, "softmax", "nb-softmax")
ALL = 10_000
"""More than there are texts: all of them are held out, a fold at a time."""


def tried(pool, learners=LEARNERS, features="words", *, enough=ALL, n=None, calibrate=True, **recipe):
    """The trial of each learner, by name."""
    trials = Trials(pool, 1, calibrate=calibrate)
    field = candidates(Pins(learners, (features,), recipe))
    return {name_of(one.learner): trials.of(one, len(pool) if n is None else n, enough) for one in field}


def rare(labels):
    """Labels, of which one is of a class of its own and two of another."""
    labels = list(labels)
    labels[5], labels[6], labels[7] = "only", "twice", "twice"
    return labels


def some(n, zeros):
    weights = np.random.default_rng(1).choice([0.3, 1.0, 2.5], n)
    weights[zeros] = 0.0
    return weights


CASES = {
    "plain": lambda texts, labels: (texts, labels, None),
    "weights": lambda texts, labels: (texts, labels, some(len(texts), [])),
    "some without weight": lambda texts, labels: (texts, labels, some(len(texts), np.arange(0, 300, 4))),
    "rare classes": lambda texts, labels: (texts, rare(labels), None),
    "rare classes, one without weight": lambda texts, labels: (texts, rare(labels), some(len(texts), [7])),
    "a class without weight": lambda texts, labels: (  # fails: softmax drops the class, and has other folds
        texts,
        labels,
        some(len(texts), np.arange(0, 300, 3)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_all_candidates_are_asked_about_the_same_texts_in_the_same_order(pooled, texts, case):
    pool = pooled(*CASES[case](*texts))
    found = tried(pool)
    first = found["multinomial"].held
    counts = first.weights > 0
    for name, trial in found.items():
        np.testing.assert_array_equal(trial.held.weights, first.weights, name)
        np.testing.assert_array_equal(trial.held.codes[counts], first.codes[counts], name)
        assert trial.held.scores.shape == first.scores.shape, name
    losses = np.array([trial.answers.loss[counts] for trial in found.values()])
    assert np.corrcoef(losses).min() > 0.3  # what is hard for one is hard for the others


def by_hand(pool, make):
    """Mean log-probabilities (M, K) of held-out texts by models of `textodds.train`, codes and weights."""
    total, times, order = np.zeros((len(pool), len(pool.classes))), np.zeros(len(pool)), []
    for out in held_out(pool.codes, ALL, TIMES):
        kept, asked = np.flatnonzero(~out & (pool.weights > 0)), np.flatnonzero(out)
        model = make([pool.texts[i] for i in kept], [pool.labels[i] for i in kept], pool.weights[kept])
        known = [pool.classes.index(name) for name in model.classes_]
        log_p = np.full((len(asked), len(pool.classes)), -np.inf)
        log_p[:, known] = model.predict_log_proba([pool.texts[i] for i in asked])
        says = np.isin(pool.codes[asked], known) & (pool.weights[asked] > 0)
        total[asked[says]] += log_p[says]
        times[asked[says]] += 1
        order += [i for i in asked.tolist() if i not in order]
    mean = log_softmax(total / np.maximum(times, 1)[:, None])
    return mean[order], pool.codes[order], np.where(times > 0, pool.weights, 0.0)[order]


def of_counts(learner, **shape):
    """Trains naive Bayes, whose smoothing is found without the first part of the texts, and kept."""
    kept = [learner]

    def make(*rows):
        model = textodds.train(*rows, learner=kept[0], **shape)
        kept[0] = model.recipe.learner
        return model

    return make


def loss_by_hand(log_p, codes, weights):
    counts = weights > 0
    return -np.average(log_p[np.arange(len(codes)), codes][counts], weights=weights[counts])


@pytest.mark.slow
@pytest.mark.parametrize("learner", COUNTS)
@pytest.mark.parametrize("case", [name for name in CASES if name != "a class without weight"])
def test_of_counts_loss_and_accuracy_are_those_of_training_without_the_held_out_texts(
    pooled, texts, learner, case
):
    pool = pooled(*CASES[case](*texts))
    trial = tried(pool, (learner,))[learner]
    found = by_hand(pool, of_counts(COUNTS[learner](alpha=None)))
    assert trial.log_loss == pytest.approx(loss_by_hand(*found), rel=1e-9)
    log_p, codes, weights = found
    if "rare" not in case:  # scikit-learn takes what is below 1e-16 for 1e-16
        assert trial.log_loss == pytest.approx(
            log_loss(codes, np.exp(log_p), sample_weight=weights), rel=1e-9
        )
    right = accuracy_score(codes, log_p.argmax(axis=1), sample_weight=weights)
    assert trial.answers.accuracy == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("features", ["pairs", "letters"])
def test_features_by_name_are_the_settings_they_say(pooled, texts, features):
    pool = pooled(*texts)
    shape = {"pairs": {"ngrams": (1, 2)}, "letters": {"unit": "characters-in-words", "ngrams": (1, 5)}}
    found = by_hand(pool, of_counts(MultinomialLearner(alpha=None), **shape[features]))
    trial = tried(pool, ("multinomial",), features)["multinomial"]
    assert trial.log_loss == pytest.approx(loss_by_hand(*found), rel=1e-9)


@pytest.mark.parametrize("case", ["plain", "weights", "rare classes"])
def test_of_softmax_loss_is_about_that_of_training_without_the_held_out_texts(pooled, texts, case):
    """About: the path is solved to a hundredth, and idf is that of all texts of the sample."""
    pool = pooled(*CASES[case](*texts))
    trial = tried(pool, ("softmax",), calibrate=False)["softmax"]
    learner = SoftmaxLearner(C=trial.recipe.learner.C)
    found = by_hand(
        pool, lambda *rows: textodds.train(*rows, learner=learner, ngrams=(1, 1), calibrate=False)
    )
    assert trial.log_loss == pytest.approx(loss_by_hand(*found), rel=0.05)


def test_words_are_selected_without_the_texts_that_are_held_out(pooled):
    """A word in two texts is in one when the other is held out, and is dropped as any word of one text is."""
    pool = pooled(*drawn(400, 80, doubt=0.05))
    trial = tried(pool, ("softmax",), calibrate=False)["softmax"]
    learner = SoftmaxLearner(C=trial.recipe.learner.C)
    log_p, codes, weights = by_hand(
        pool, lambda *rows: textodds.train(*rows, learner=learner, ngrams=(1, 1), calibrate=False)
    )
    right = accuracy_score(codes, log_p.argmax(axis=1), sample_weight=weights)
    assert trial.answers.accuracy == pytest.approx(right, abs=0.03)
    assert trial.log_loss == pytest.approx(loss_by_hand(log_p, codes, weights), rel=0.05)


@pytest.mark.parametrize("learner", ["softmax", "nb-softmax"])
def test_the_loss_of_calibrated_softmax_is_that_of_its_best_slope(pooled, texts, learner):
    trial = tried(pooled(*texts), (learner,))[learner]
    scores, codes = trial.held.scores, trial.held.codes
    losses = [log_loss(codes, np.exp(log_softmax(slope * scores))) for slope in np.geomspace(0.1, 10, 200)]
    assert trial.log_loss == pytest.approx(min(losses), rel=1e-3)
    assert trial.log_loss < log_loss(codes, np.exp(log_softmax(scores)))


def test_a_penalty_is_found_with_the_first_features_or_with_each_where_nothing_is_calibrated(pooled, texts):
    trials = Trials(pooled(*texts), 1)
    words, pairs = candidates(Pins(("softmax",), ("words", "pairs")))
    (first,), (second,) = trials.together([words], 300, ALL), trials.together([pairs], 300, ALL)
    assert second.recipe.learner == first.recipe.learner
    plain = Trials(pooled(*texts), 1, calibrate=False)
    (first,), (second,) = plain.together([words], 300, ALL), plain.together([pairs], 300, ALL)
    assert second.recipe.learner != first.recipe.learner


def test_of_many_texts_one_fold_is_held_out_and_of_few_all(pooled):
    pool = pooled(*drawn(900))
    found = tried(pool, ("multinomial", "softmax"), enough=180)
    assert {len(trial.answers.loss) for trial in found.values()} == {180}
    assert found["multinomial"].work == pytest.approx(0.8)
    found = tried(pool, ("multinomial",), enough=181)
    assert len(found["multinomial"].answers.loss) == 360
    found = tried(pool, ("multinomial",), n=100, enough=180)
    assert len(found["multinomial"].answers.loss) == 100
    assert found["multinomial"].work == pytest.approx(4.0)


def test_a_trial_on_a_part_of_the_pool_is_one_on_the_pool_of_that_part(pooled):
    pool = pooled(*drawn(400))
    part = tried(pool, ("multinomial", "softmax"), n=200)
    alone = tried(pool.head(200), ("multinomial", "softmax"))
    for name, trial in part.items():
        np.testing.assert_array_equal(trial.answers.loss, alone[name].answers.loss)


def test_losses_are_minus_the_logarithm_of_what_the_true_class_is_given(pooled, texts):
    trial = tried(pooled(*texts), ("complement",))["complement"]
    p = np.exp(log_softmax(trial.held.scores))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        np.exp(-trial.answers.loss), [row[k] for row, k in zip(p, trial.held.codes, strict=True)], rtol=1e-9
    )


def test_the_penalty_that_was_found_is_in_the_recipe_and_one_that_is_given_stays(pooled, texts):
    pool = pooled(*texts)
    assert tried(pool, ("softmax",))["softmax"].recipe.learner.C > 0
    assert tried(pool, (SoftmaxLearner(C=0.3),))["softmax"].recipe.learner == SoftmaxLearner(C=0.3)
    assert tried(pool, (SoftmaxLearner(alpha=0.1),))["softmax"].recipe.learner.C is None


@pytest.mark.slow
def test_any_number_of_threads_finds_the_same(pooled, texts):
    pool = pooled(*texts)
    for one in candidates(Pins(LEARNERS, ("characters",))):
        np.testing.assert_array_equal(
            Trials(pool, 1).of(one, 300, ALL).answers.loss,
            Trials(pool, 2).of(one, 300, ALL).answers.loss,
            one.name,
        )
