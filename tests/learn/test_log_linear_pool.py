"""Softmax regression pooled with naive Bayes: against scikit-learn, by the product, and how it is chosen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import ComplementNB, MultinomialNB

import textodds
from pairs import together
from textodds.data import Batch
from textodds.errors import InputError, Unsupported
from textodds.learn.design import DesignMatrix
from textodds.learn.forms.linear import log_softmax
from textodds.learn.recipe import recipe_of
from textodds.learn.registry import as_dict, of_dict
from textodds.learn.softmax.log_linear_pool import SMOOTHING, pooled_weights
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.pool_choice import LEAST, FoundPool, pool_of
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner, path_of

TIGHT = 1e-10


def drawn(n, K, seed=0):
    """Texts of K classes with words of their own and shared ones, and labels."""
    random = np.random.default_rng([seed, K])
    texts, labels = [], []
    for i in range(n):
        k = i % K
        own = [f"own{k if random.random() < 0.8 else (k + 1) % K}x{v}" for v in random.integers(0, 30, 3)]
        shared = [f"shared{v}" for v in random.integers(0, 40, 6)]
        texts.append(" ".join([*own, *shared]))
        labels.append(f"k{k}")
    return texts, labels


def design_of(texts, labels, learner, **words):
    recipe = replace(recipe_of(learner, ngrams=(1, 1), min_df=1, **words), is_open=False)
    return DesignMatrix.of([Batch(texts, labels, None)], recipe, 1)


def present(design):
    """Which words are in which texts, SciPy sparse (N, V)."""
    rows = design.rows(None)
    return sparse.csr_array((np.ones(len(rows.data)), rows.indices, rows.indptr), shape=rows.shape)


def test_of_two_classes_it_is_what_scikit_learn_finds_of_presence():
    texts, labels = drawn(200, 2)
    design = design_of(texts, labels, SoftmaxLearner(C=1.0))
    oracle = MultinomialNB(alpha=SMOOTHING).fit(present(design), labels)
    presence = design.presence(design.labels.codes, design.labels.weights, 2)
    found = pooled_weights(presence, None, 1.0)
    np.testing.assert_allclose(found[:, 0], np.diff(oracle.feature_log_prob_, axis=0)[0], rtol=1e-12)


def test_of_more_classes_a_class_is_set_against_all_others():
    texts, labels = drawn(300, 4)
    design = design_of(texts, labels, SoftmaxLearner(C=1.0))
    rows = present(design)
    own = MultinomialNB(alpha=SMOOTHING).fit(rows, labels).feature_log_prob_
    against = ComplementNB(alpha=SMOOTHING).fit(rows, labels)
    rest = np.log(against.feature_all_ - against.feature_count_ + SMOOTHING)
    rest -= np.log(np.exp(rest).sum(axis=1, keepdims=True))
    ratios = own - rest
    presence = design.presence(design.labels.codes, design.labels.weights, 4)
    expected = 0.7 * (ratios - ratios.mean(axis=0)).T
    np.testing.assert_allclose(pooled_weights(presence, None, 0.7), expected, rtol=1e-9, atol=1e-12)


@together
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [SoftmaxLearner, NBSoftmaxLearner])
@pytest.mark.parametrize("words", [{}, {"characters": (2, 3)}], ids=["words", "characters"])
def test_the_scores_are_those_of_softmax_and_a_share_of_naive_bayes(classes, kind, words):
    texts, labels = drawn(150, classes)
    learner = kind(C=3.0, tolerance=TIGHT)
    given = {"min_df": 1, "ngrams": (1, 1), "calibrate": False, **words}
    alone = textodds.train(texts, labels, learner=learner, **given)
    pooled = textodds.train(texts, labels, learner=replace(learner, naive_bayes=0.6), **given)
    asked = [*drawn(40, classes, seed=1)[0], "", "unheard"]
    rows = np.asarray(alone.rows(asked).todense())
    design = design_of(texts, labels, learner, **words)
    presence = design.presence(design.labels.codes, design.labels.weights, classes)
    ours, theirs = presence + SMOOTHING, presence.sum(axis=1, keepdims=True) - presence + SMOOTHING
    ratios = np.log((ours / ours.sum(axis=0)) / (theirs / theirs.sum(axis=0)))
    if kind is NBSoftmaxLearner:  # the rows have the factor already, and their length with it
        ours, theirs = ours - SMOOTHING + 1.0, theirs - SMOOTHING + 1.0
        ratios = np.log((ours / ours.sum(axis=0)) / (theirs / theirs.sum(axis=0)))
        share = np.bincount(design.labels.codes) / len(texts)
        scale = np.sqrt((ratios**2 * share).sum(axis=1))[:, None]
        ratios = np.divide(ratios, scale, out=np.zeros_like(ratios), where=scale > 0)
    if classes == 2:  # half of the log-odds for each class
        ratios = np.hstack([-ratios[:, 1:], ratios[:, 1:]]) / 2
    expected = log_softmax(alone.score(asked)[0] + 0.6 * rows @ ratios)
    np.testing.assert_allclose(log_softmax(pooled.score(asked)[0]), expected, atol=1e-7)


def test_explanations_add_up_and_files_round_trip(tmp_path):
    texts, labels = drawn(400, 3)
    model = textodds.train(texts, labels, learner="nb-softmax:C=3:naive_bayes=0.5:ngrams=1-2")
    for text in drawn(20, 3, seed=2)[0]:
        told = model.explain(text)
        log_p = model.predict_log_proba([text])[0]
        label, rival = (model.classes_.index(name) for name in (told.label, told.rival))
        assert told.log_odds == pytest.approx(log_p[label] - log_p[rival], abs=1e-9)
        words = sum(each.log_odds for each in told.words)
        assert told.start + words == pytest.approx(told.log_odds, abs=1e-9)
    model.save(tmp_path / "m")
    loaded = textodds.load(tmp_path / "m")
    assert loaded.recipe.learner.naive_bayes == 0.5
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))


def test_a_recipe_without_it_is_written_as_before():
    assert "naive_bayes" not in as_dict(SoftmaxLearner(C=1.0))
    learner = NBSoftmaxLearner(C=1.0, naive_bayes=0.25)
    assert of_dict(as_dict(learner)) == learner


def test_the_path_says_of_held_out_texts_what_models_without_them_say():
    texts, labels = drawn(200, 3)
    learner = NBSoftmaxLearner(C=3.0, naive_bayes=0.6)
    design = design_of(texts, labels, learner)
    whole = path_of(learner, design, design.labels, enough=200).held
    alone = path_of(replace(learner, naive_bayes=0.0), design, design.labels, enough=200).held
    found = pool_of(replace(learner, naive_bayes=0.0), design, design.labels, alone, enough=200)
    more = pool_of(replace(learner, naive_bayes=0.9), design, design.labels, alone, enough=200)
    assert found.share == more.share  # a share that is given has no part in it
    split = textodds.learn.softmax.regression.splitter(learner, design, design.labels)
    held = np.arange(200) % 5 == 0
    _, out, _, added = split(held)
    assert added.weights.shape == (len(design.documents.vocabulary), 3)
    assert out.shape[0] == 40
    assert np.abs(whole.scores - alone.scores).max() > 0.1


def test_the_share_is_found_and_taken_where_two_witnesses_are_better_than_one():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 900)
    truth = np.eye(3)[codes]
    one, other = (truth + random.normal(0, 1.0, truth.shape) for _ in range(2))
    found = FoundPool.of(HeldOutScores(one, codes, np.ones(900)), 10 * other)
    assert found.is_better
    assert found.share == pytest.approx(0.1, rel=0.3)  # as good as the other, in units of a tenth
    noise = FoundPool.of(HeldOutScores(one, codes, np.ones(900)), random.normal(0, 1.0, truth.shape))
    assert not noise.is_better
    few = slice(0, LEAST - 1)
    assert not FoundPool.of(HeldOutScores(one[few], codes[few], np.ones(LEAST - 1)), other[few]).is_better


def test_what_is_said_of_a_part_was_found_without_it():
    random = np.random.default_rng(1)
    codes = random.integers(0, 2, 500)
    scores, more = (np.eye(2)[codes] + random.normal(0, 1.5, (500, 2)) for _ in range(2))
    alone = HeldOutScores(scores, codes, np.ones(500))
    found = FoundPool.of(alone, more)
    others = codes.copy()
    others[::5] = 1 - others[::5]  # the first part with other labels
    again = FoundPool.of(HeldOutScores(scores, others, np.ones(500)), more)
    first = lambda of: of.held.scores[::5, 1] - of.held.scores[::5, 0]  # noqa: E731 - short
    start = np.corrcoef(first(found), first(again))[0, 1]
    assert start > 0.99


@pytest.mark.parametrize("share", [-1.0, float("nan"), float("inf")])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(InputError, match="naive_bayes must be zero or more"):
        SoftmaxLearner(C=1.0, naive_bayes=share)


def test_it_is_of_texts_with_one_label():
    learner = SoftmaxLearner(C=1.0, naive_bayes=0.5)
    with pytest.raises(Unsupported, match="naive Bayes of words"):
        learner.fit(np.eye(4), ["a", "b", "a", "b"])
    table = {"height": [1.0, 2.0, 3.0, 4.0], "label": ["a", "b", "a", "b"]}
    with pytest.raises(Unsupported, match="naive Bayes of words"):
        textodds.train(table, label="label", learner=learner)
    with pytest.raises(Unsupported, match="one label a text"):
        textodds.train(["a b", "b c"] * 20, [["x"], ["x", "y"]] * 20, learner=learner)


def test_odds_ratios_of_pooled_weights_have_no_standard_errors():
    texts, labels = drawn(120, 2)
    model = textodds.train(texts, labels, learner="softmax:C=1:naive_bayes=0.5:ngrams=1")
    with pytest.raises(Unsupported, match="naive Bayes is pooled"):
        model.odds_ratios("k0", "k1", ["own0x1"], texts, labels)
