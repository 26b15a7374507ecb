"""Leaving out a text is, to the last digits, training without it."""

import itertools
import math

import numpy as np
import pytest

import textodds
from pairs import in_turn, pairwise, together
from textodds.data import Batch
from textodds.errors import InputError, NoData, Unsupported
from textodds.learn.forms.linear import LOG_ZERO
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.model.leave_one_out import PIECE, left_out

WORDS = [f"w{v}" for v in range(25)]
ALPHAS = [0.0, 1e-3, 1.0]
LEARNERS = {
    "multinomial": lambda alpha: MultinomialLearner(alpha=alpha),
    "binary": lambda alpha: MultinomialLearner(alpha=alpha, binary=True),
    "bernoulli": lambda alpha: BernoulliLearner(alpha=alpha),
    "complement": lambda alpha: ComplementLearner(alpha=alpha),
}
WEIGHTS = {
    "no weights": lambda random, N: None,
    "whole weights": lambda random, N: random.integers(1, 4, N).astype(float),
    "fractional weights": lambda random, N: random.choice([0.1, 0.5, 0.75, 1.0, 1.7], N),
}


def drawn(N=24, K=3, seed=0):
    """Texts of Zipfian words, repeated ones among them and an empty one; every class has several."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, len(WORDS) + 1)
    lengths = random.integers(1, 9, N)
    texts = [" ".join(random.choice(WORDS, n, p=shares / shares.sum())) for n in lengths]
    texts[5] = ""
    return texts, [f"c{i % K}" for i in range(N)]


def left_one_by_one(texts, labels, weights=None, **recipe):
    """The classes and raw scores of each text by a model trained on all others."""
    found = []
    for i in range(len(texts)):
        rest = [j for j in range(len(texts)) if j != i]
        model = textodds.train(
            [texts[j] for j in rest],
            [labels[j] for j in rest],
            None if weights is None else [weights[j] for j in rest],
            calibrate=False,
            **recipe,
        )
        found.append((model.classes_, model.score([texts[i]])[0][0]))
    return found


def assert_exact(texts, labels, weights=None, **recipe):
    """Scores of leaving out are those of training without; impossible words cost some digits."""
    model = textodds.train(texts, labels, weights, **recipe)
    found = model.leave_one_out(texts, labels, weights)
    assert found.scores.shape == (len(texts), len(model.classes_))
    for i, (classes, expected) in enumerate(left_one_by_one(texts, labels, weights, **recipe)):
        assert classes == model.classes_
        np.testing.assert_allclose(found.scores[i], expected, rtol=1e-12, atol=1e-7, err_msg=f"text {i}")


@pairwise
@pytest.mark.parametrize("weighing", WEIGHTS)
@pytest.mark.parametrize("min_df", [1, 2, 3])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_leaving_out_is_training_without(learner, alpha, min_df, weighing):
    texts, labels = drawn()
    weights = WEIGHTS[weighing](np.random.default_rng(1), len(texts))
    assert_exact(texts, labels, weights, learner=LEARNERS[learner](alpha), min_df=min_df)


@in_turn(2)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "recipe",
    [
        {"ngrams": (1, 3), "min_df": 2},
        {"hash_bits": 3},
        {"hash_bits": 4, "min_df": 3},
        {"characters": (2, 3)},
        {"unit": "characters", "ngrams": (1, 2)},
        {"stop_words": ["w0", "w1"]},
        {"vocabulary": ["w0", "w3", "w5", "never"]},
        {"min_df": 0},
    ],
    ids=str,
)
def test_leaving_out_is_exact_however_texts_are_cut(learner, recipe):
    assert_exact(*drawn(), learner=LEARNERS[learner](0.3), **recipe)


@together
@pytest.mark.parametrize("learner", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("prior", ["data", "uniform", {"c0": 0.7, "c1": 0.2, "c2": 0.1}], ids=str)
def test_the_prior_is_that_of_the_others(learner, prior):
    texts, labels = drawn()
    labels[:6] = ["c0"] * 6  # no class is as large as another
    kind = MultinomialLearner if learner == "multinomial" else BernoulliLearner
    assert_exact(texts, labels, learner=kind(alpha=0.5, prior=prior))


@together
@pytest.mark.parametrize("learner", LEARNERS)
def test_many_classes_whose_weights_are_stored_as_exceptions_are_left_out_exactly(learner):
    texts, labels = drawn(N=60, K=15)
    assert_exact(texts, labels, learner=LEARNERS[learner](0.2), min_df=2)


@pytest.mark.parametrize("recipe", [{"max_df": 1000}, {"max_features": 25}], ids=str)
def test_light_words_leave_a_vocabulary_that_asks_for_one_text(recipe):
    texts, labels = drawn()
    weights = np.random.default_rng(1).choice([0.1, 0.5, 0.75, 1.0], len(texts))
    model = textodds.train(texts, labels, weights, learner="multinomial:alpha=1", **recipe)
    expected = left_one_by_one(texts, labels, weights, learner="multinomial:alpha=1", max_df=1000)
    if "max_features" in recipe:  # which does not bind
        assert len(model.vocabulary) < 25
    np.testing.assert_allclose(
        model.leave_one_out(texts, labels, weights).scores, [row for _, row in expected], atol=1e-7
    )


@together
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_word_below_min_df_without_a_text_leaves_all_classes(learner):
    texts = ["rare common", "rare", "common other", "other common", "common"]
    labels = ["a", "b", "a", "b", "b"]
    model = textodds.train(texts, labels, learner=LEARNERS[learner](1.0), min_df=2)
    assert "rare" in model.vocabulary.words()
    smaller = textodds.train(texts[1:], labels[1:], learner=LEARNERS[learner](1.0), min_df=2)
    assert "rare" not in smaller.vocabulary.words()
    found = model.leave_one_out(texts, labels).scores[0]
    np.testing.assert_allclose(found, smaller.score(texts[:1])[0][0], atol=1e-8)


@together
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_class_with_one_text_is_impossible_to_that_text_and_all_others_are_exact(learner):
    texts, labels = drawn()
    texts, labels = [*texts, "w0 w1 alone"], [*labels, "single"]
    recipe = {"learner": LEARNERS[learner](0.5)}
    found = textodds.train(texts, labels, **recipe).leave_one_out(texts, labels)
    expected = left_one_by_one(texts, labels, **recipe)
    for i in range(len(texts) - 1):
        np.testing.assert_allclose(found.scores[i], expected[i][1], rtol=1e-12, atol=1e-7)
    classes, others = expected[-1]
    assert classes == found.classes[:-1]
    np.testing.assert_allclose(found.scores[-1, :-1], others, rtol=1e-12)
    if learner != "complement":  # which has no prior
        assert found.scores[-1, -1] < LOG_ZERO / 2
        assert found.own[-1] < math.log(1e-300)


def test_a_text_of_no_known_word_gets_the_prior_of_the_others():
    texts, labels = ["a", "b", "", "c a"], ["x", "y", "y", "x"]
    scores = textodds.train(texts, labels, learner="multinomial").leave_one_out(texts, labels).scores
    np.testing.assert_allclose(np.exp(scores[2]), [2 / 3, 1 / 3])


def test_a_share_as_min_df_moves_with_the_number_of_texts_but_lets_no_word_in():
    """Of nine texts a share of 0.3 asks for 2.7, of eight for 2.4: a word in three leaves as it falls to two;
    and of four texts 0.5 asks for 2, of three for 1.5: still 2, so no word could join. With weights it can:
    of a total of 6, 0.5 asks for 3; without a text of weight 2 it asks for 2, which `light` then has."""
    texts, labels = [f"a{' b' * (i < 3)}" for i in range(9)], list("xyxyxyxyx")
    recipe = {"learner": "multinomial", "min_df": 0.3}
    found = textodds.train(texts, labels, **recipe).leave_one_out(texts, labels).scores
    expected = left_one_by_one(texts, labels, **recipe)
    np.testing.assert_allclose(found, [row for _, row in expected], rtol=1e-12)

    texts, labels, weights = (
        ["all light", "all light", "all", "all heavy"],
        list("xyxy"),
        [1.0, 1.0, 2.0, 2.0],
    )
    model = textodds.train(texts, labels, weights, learner="multinomial", min_df=0.5)
    assert model.vocabulary.words() == ["all"]
    joined = left_one_by_one(texts, labels, weights, learner="multinomial", min_df=0.5)[2][1]
    kept_out = model.leave_one_out(texts, labels, weights).scores[2]
    alone = textodds.train(["all", "all", "all"], ["x", "y", "y"], [1.0, 1.0, 2.0]).score(["all"])[0][0]
    np.testing.assert_allclose(kept_out, alone)
    assert not np.allclose(kept_out, joined)


@pytest.mark.parametrize("N", [PIECE, PIECE + 1, 2 * PIECE + 7])
def test_pieces_and_batches_do_not_matter(N):
    texts, labels = drawn(N)
    weights = np.random.default_rng(2).choice([0.5, 1.0, 2.0], N)
    model = textodds.train(texts, labels, weights, learner="multinomial:alpha=1")
    whole = model.leave_one_out(texts, labels, weights)
    cuts = [0, 1, N // 3, N // 3, N]
    batches = [Batch(texts[a:b], labels[a:b], weights[a:b]) for a, b in itertools.pairwise(cuts) if a < b]
    parts = left_out(model, batches)
    np.testing.assert_array_equal(whole.scores, parts.scores)
    np.testing.assert_array_equal(whole.truth, parts.truth)
    np.testing.assert_array_equal(whole.truth, [int(label[1:]) for label in labels])
    for i in (0, PIECE - 1, N - 1):
        rest = [j for j in range(N) if j != i]
        others = [texts[j] for j in rest], [labels[j] for j in rest], weights[rest]
        other = textodds.train(*others, learner="multinomial:alpha=1")
        np.testing.assert_allclose(whole.scores[i], other.score([texts[i]])[0][0], rtol=1e-11)


def test_leaving_out_reads_what_training_reads(tmp_path):
    texts, labels = drawn()
    path = tmp_path / "mail.csv"
    path.write_text("body,kind\n" + "".join(f"{a},{b}\n" for a, b in zip(texts, labels, strict=True)))
    model = textodds.train(path, text="body", label="kind", learner="multinomial")
    found = model.leave_one_out(path, text="body", label="kind")
    np.testing.assert_array_equal(found.scores, model.leave_one_out(texts, labels).scores)


def test_leaving_out_changes_nothing():
    texts, labels = drawn()
    model = textodds.train(texts, labels, learner="multinomial")
    before, fingerprint = model.score(texts)[0], model.tally.fingerprint()
    model.leave_one_out(texts, labels)
    np.testing.assert_array_equal(model.score(texts)[0], before)
    assert model.tally.fingerprint() == fingerprint


def test_what_is_found_is_told():
    texts, labels = drawn(N=300)
    model = textodds.train(texts, labels, learner="multinomial")
    assert model.calibration is not None
    found = model.leave_one_out(texts, labels)
    np.testing.assert_allclose(np.exp(found.log_posterior).sum(axis=1), 1)
    own = [found.log_posterior[i, int(label[1:])] for i, label in enumerate(labels)]
    np.testing.assert_array_equal(found.own, own)
    assert found.log_loss == pytest.approx(-np.mean(own))
    right = [f"c{k}" == label for k, label in zip(found.log_posterior.argmax(axis=1), labels, strict=True)]
    assert found.accuracy == pytest.approx(np.mean(right))
    assert (np.diff(found.own[found.suspects()]) >= 0).all()
    assert sorted(found.suspects().tolist()) == list(range(300))


@together
@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"learner": "softmax"}, "is not a model of counts"),
        ({"learner": "lda"}, "is not a model of counts"),
        ({"learner": ComplementLearner(norm=True)}, "needs a model of counts"),
        ({"learner": ComplementLearner(transform=True)}, "needs a model of counts"),
        ({"unknown": "smooth"}, "unknown='ignore'"),
        ({"unknown": "first"}, "unknown='ignore'"),
    ],
    ids=str,
)
def test_models_that_do_not_rest_on_counts_alone_are_refused(recipe, said):
    texts, labels = drawn()
    model = textodds.train(texts, labels, **recipe)
    with pytest.raises(Unsupported, match=said):
        model.leave_one_out(texts, labels)


def test_a_smoothing_by_word_is_refused():
    texts, labels = ["a b", "b", "a a"], ["x", "y", "x"]
    model = textodds.train(texts, labels, learner=MultinomialLearner(alpha=np.array([0.5, 1.0])))
    with pytest.raises(Unsupported, match="one alpha"):
        model.leave_one_out(texts, labels)


def test_a_model_without_its_counts_is_refused(tmp_path):
    texts, labels = drawn()
    textodds.train(texts, labels, learner="multinomial").save(tmp_path / "m", counts=False)
    with pytest.raises(Unsupported, match="without its counts"):
        textodds.load(tmp_path / "m").leave_one_out(texts, labels)


def test_a_label_never_learned_is_named():
    texts, labels = drawn()
    model = textodds.train(texts, labels, learner="multinomial")
    with pytest.raises(InputError, match="no class `späm`"):
        model.leave_one_out(["w0"], ["späm"])


def test_nothing_to_leave_out_is_said():
    model = textodds.train(*drawn(), learner="multinomial")
    with pytest.raises(NoData, match="no documents to leave out"):
        left_out(model, [])
