"""What a model means at the edges: nothing known, impossible words, one class, other priors, long texts."""

import copy
import itertools
import math
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn import naive_bayes

import textodds
from model_cases import documents
from pairs import in_turn, together
from textodds import TextSettings
from textodds.data import Batch, Source
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import Rejects
from textodds.errors import (
    InputError,
    NoData,
    NotLearned,
    TextoddsError,
    Unsupported,
    VocabularyPruned,
)
from textodds.learn import naive_bayes as core
from textodds.learn.forms import linear as linear_module
from textodds.learn.forms.linear import log_prior
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.learn.recipe import recipe_of
from textodds.learn.registry import LEARNERS, as_dict, learner_named, name_of, of_dict
from textodds.training.plan import Plan
from textodds.training.train import train_on

TEXTS = ["win a free phone", "see you at six", "free prize inside", "lunch at noon", "free lunch for you"]
LABELS = ["spam", "ham", "spam", "ham", "ham"]
KINDS = [MultinomialLearner, BernoulliLearner, ComplementLearner]


def model_of(**options):
    return textodds.train(TEXTS, LABELS, **{"learner": "multinomial", **options})


# Smoothing of zero.


def test_without_smoothing_a_class_with_an_impossible_word_has_probability_zero():
    model = textodds.train(["a b", "b c"], ["x", "y"], learner=MultinomialLearner(alpha=0))
    assert model("a b").probabilities == {"x": 1.0, "y": 0.0}
    assert model("b").probabilities == pytest.approx({"x": 0.5, "y": 0.5}, abs=1e-12)


@together
@pytest.mark.parametrize("classes", [3, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_without_smoothing_nothing_is_nan_or_infinite(kind, classes):
    labels = [f"c{k:02}" for k in range(classes)] * 2
    texts = [f"common own{k % classes} twin{k}" for k in range(2 * classes)]
    model = textodds.train(texts, labels, learner=kind(alpha=0))
    new = ["", "common", "own0", "own0 own1", "own0 own1 own2 own2", "unseen", "twin0 twin1 common"]
    assert np.isfinite(model.predict_log_proba(new)).all()
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(sum(model("own0 own1").probabilities.values()), 1, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 12])
def test_where_all_classes_are_impossible_the_fewest_impossible_words_win(classes):
    labels = [f"c{k:02}" for k in range(classes)]
    texts = [f"first{k} second{k} third{k}" for k in range(classes)]
    model = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0))
    assert model("first0 first1 second1").label == "c01"
    assert model("first0 second0 first1 third0").label == "c00"
    assert model("first0 second0 first1").probability == 1.0


def test_without_smoothing_an_impossible_class_stays_impossible_in_a_long_text():
    """What is impossible may not be made up for by however many words that are merely more likely."""
    texts = ["x " + "y " * 9999 + "z", "x x x"]
    model = textodds.train(texts, ["has z", "has none"], learner=MultinomialLearner(alpha=0))
    for n in (10, 1000, 200_000):
        assert model("x " * n + "z").label == "has z", n


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [10, 1000])
def test_without_smoothing_odds_do_not_depend_on_how_weights_are_stored(kind, length, monkeypatch):
    """Of twelve classes two have the same words in other numbers, so that both are possible."""
    random = np.random.default_rng(0)
    shared = [f"w{i}" for i in range(40)]
    texts = [" ".join([*random.choice(shared, 200), *shared]) for _ in range(2)]
    texts += [" ".join(f"own{k}x{i}" for i in range(30)) for k in range(10)]
    labels = [f"c{k:02}" for k in range(12)]
    new = [" ".join(random.choice(shared, length)) for _ in range(5)]
    sparse = textodds.train(texts, labels, learner=kind(alpha=0))
    monkeypatch.setattr(linear_module, "DENSE_CLASSES", 100)
    dense = textodds.train(texts, labels, learner=kind(alpha=0))
    assert sparse.linear.weights.dense is None
    got, expected = (model.score(new)[0] for model in (sparse, dense))
    np.testing.assert_allclose(got[:, 0] - got[:, 1], expected[:, 0] - expected[:, 1], rtol=0, atol=1e-9)


def test_without_smoothing_bernoulli_knows_certain_presence_and_absence():
    model = textodds.train(["a b", "a", "b"], ["x", "x", "y"], learner=BernoulliLearner(alpha=0))
    assert model("b").probabilities == {"x": 0.0, "y": 1.0}  # every x has an a
    assert model("a").probabilities == {"x": 1.0, "y": 0.0}  # no y has an a
    assert model("a b").probabilities == {"x": 1.0, "y": 0.0}


def test_a_prior_of_zero_is_a_probability_of_zero():
    model = model_of(learner=MultinomialLearner(prior={"ham": 1.0, "spam": 0.0}))
    assert model("free prize").probabilities == {"ham": 1.0, "spam": 0.0}


# Nothing known.


@together
@pytest.mark.parametrize("text", ["", " ", "?!", "zzz qqq", "\0"])
@pytest.mark.parametrize(
    "options", [{}, {"learner": MultinomialLearner(binary=True)}, {"hash_bits": 31}], ids=str
)
def test_a_text_without_known_words_gets_the_prior_and_no_evidence(text, options):
    prediction = model_of(**options)(text)
    assert prediction.evidence == 0
    assert prediction.probabilities == pytest.approx({"ham": 3 / 5, "spam": 2 / 5}, rel=1e-12)
    assert prediction.label == "ham"


@pytest.mark.parametrize("unknown", ["ignore", "smooth", "first"])
def test_an_empty_text_gets_the_prior_whatever_becomes_of_unknown_words(unknown):
    prediction = model_of(unknown=unknown)("")
    assert prediction.evidence == 0
    assert prediction.probabilities == pytest.approx({"ham": 3 / 5, "spam": 2 / 5}, rel=1e-12)


@together
@pytest.mark.parametrize("learner", ["softmax:C=1:ngrams=1", "nb-softmax:C=1:ngrams=1-2"])
@pytest.mark.parametrize("classes", [2, 5])
def test_a_calibrated_softmax_model_gives_a_text_without_known_words_the_prior(learner, classes):
    texts, labels = documents(classes)
    model = textodds.train(texts, labels, learner=learner)
    assert model.calibration is not None
    shares = [labels.count(label) / len(labels) for label in model.classes_]
    unread = ["", "?!", "zzz qqq"]
    for text in unread:
        assert list(model(text).probabilities.values()) == pytest.approx(shares, rel=1e-12)
        why = model.explain(text)
        assert (why.intercept, why.calibration, why.log_odds) == (0.0, None, why.prior)
    np.testing.assert_allclose(model.predict_proba(unread), [shares] * 3, rtol=1e-12)
    np.testing.assert_allclose(model.with_prior("uniform").predict_proba(unread), 1 / classes, rtol=1e-12)
    assert model.without_evidence == "the prior"


def test_what_is_held_out_without_known_words_has_the_prior_too():
    texts, labels = documents(2)
    rare = [f"word{i} of{i}" for i in range(60)]  # held out, none of these is known
    model = textodds.train([*texts, *rare], [*labels, *["class 00"] * 60], learner="softmax:C=1:ngrams=1")
    share = 1 - labels.count("class 01") / (len(labels) + 60)
    near = np.isclose(model.held_out.p_answer, share, rtol=1e-12)
    assert np.count_nonzero(near) >= 60


@together
@pytest.mark.parametrize(
    ("options", "by"),
    [
        ({"learner": "softmax:C=1", "calibrate": False}, "the intercept"),
        ({"learner": "bernoulli"}, "the absence of all words"),
        ({"learner": "lda"}, "the absence of all words"),
        ({"learner": "multinomial"}, "the prior"),
    ],
    ids=str,
)
def test_what_answers_a_text_without_known_words_is_said(options, by):
    texts, labels = documents(2)
    model = textodds.train(texts, labels, **options)
    shares = [labels.count(label) / len(labels) for label in model.classes_]
    assert model.without_evidence == by
    is_prior = np.allclose(model.predict_proba([""])[0], shares, rtol=1e-9, atol=0)
    assert is_prior == (by == "the prior")


def test_evidence_is_the_number_of_known_terms():
    model = model_of()
    assert model("free free phone zzz").evidence == 3
    scores, evidence = model.score(["free free phone zzz", "", "zzz"])
    assert evidence.tolist() == [[3, 4], [0, 0], [0, 1]]
    assert scores.shape == (3, 2)


def test_texts_without_any_word_can_be_learned():
    model = textodds.train(["", "?!", " "], ["x", "x", "y"])
    assert len(model.vocabulary) == 0
    assert model("anything").probabilities == pytest.approx({"x": 2 / 3, "y": 1 / 3})


@pytest.mark.parametrize("kind", KINDS)
def test_one_class_only_is_certain(kind):
    model = textodds.train(["a b", "c"], ["only", "only"], learner=kind())
    for text in ("a", "", "zzz"):
        prediction = model(text)
        assert (prediction.label, prediction.probability) == ("only", 1.0)
    with pytest.raises(Unsupported, match="one class"):
        model.explain("a")


@pytest.mark.parametrize(("texts", "labels", "weights"), [([], [], None), (["a"], ["x"], [0.0])])
def test_nothing_to_learn_from_is_an_error(texts, labels, weights):
    with pytest.raises(NoData):
        textodds.train(texts, labels, weights)


# Unknown words. The counts are a: x 2; b: x 1, y 1; c: y 1.


UNKNOWN_CASES = {
    "ignore": ({}, {"x": 3 / 6, "y": 1 / 5}),
    "smooth": ({}, {"x": 3 / 7 * 1 / 7, "y": 1 / 6 * 1 / 6}),
    "first": ({}, {"x": 2 / 6 * 2.5 / 6, "y": 1 / 5 * 2.5 / 5}),  # c, which occurs once, is no word any more
    "count": ({"vocabulary": ["a", "b"]}, {"x": 3 / 6 * 1 / 6, "y": 1 / 5 * 2 / 5}),
}


@together
@pytest.mark.parametrize(
    ("unknown", "choices", "joint"), [(k, *v) for k, v in UNKNOWN_CASES.items()], ids=UNKNOWN_CASES
)
def test_unknown_words_by_hand(unknown, choices, joint):
    model = textodds.train(["a a b", "b c"], ["x", "y"], unknown=unknown, **choices)
    got = np.exp(model.score(["a zzz"])[0][0])
    np.testing.assert_allclose(got, [joint["x"] / 2, joint["y"] / 2], rtol=1e-12)


@together
@pytest.mark.parametrize("unknown", UNKNOWN_CASES)
def test_an_unknown_word_is_no_evidence_under_any_policy(unknown):
    model = textodds.train(["a a b", "b c"], ["x", "y"], unknown=unknown, **UNKNOWN_CASES[unknown][0])
    assert model("a zzz").evidence == 1
    assert model.explain("a zzz").unknown == 1


@pytest.mark.parametrize("unknown", ["smooth", "first"])
def test_words_left_out_by_selection_are_unknown_words(unknown):
    texts, labels = ["a a b rare", "b c c"], ["x", "y"]
    model = textodds.train(texts, labels, unknown=unknown, max_features=3)
    np.testing.assert_array_equal(model.score(["rare"])[0], model.score(["zzz"])[0])


def test_the_mass_of_first_occurrences_is_kept():
    """`first` moves one occurrence of each word: the totals by class are those of `ignore`."""
    texts, labels = ["a a b", "b c c c", "a c"], ["x", "y", "y"]
    plain = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0))
    moved = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0), unknown="first")
    theta = np.exp(moved.linear.weights.rows(np.arange(len(moved.vocabulary))))
    np.testing.assert_allclose(theta.sum(axis=0), 1, rtol=1e-12)
    assert len(moved.vocabulary) == len(plain.vocabulary) + 1


def test_first_keeps_its_mass_where_a_text_holds_the_name_of_unknown_words():
    options = {"unit": "whitespace", "lower": False, "unknown": "first"}
    model = textodds.train(["<UNK> a a b", "c d"], ["x", "y"], **options)
    theta = np.exp(model.linear.weights.rows(model.vocabulary.find(["<UNK>", "a"])))
    np.testing.assert_allclose(theta[:, 0], [4 / 6, 2 / 6])  # its own occurrence, and one of a and of b each


@pytest.mark.parametrize("kind", [MultinomialLearner, BernoulliLearner])
def test_words_that_occur_once_are_unknown_words_of_first(kind):
    """The lecture replaces the first occurrence of each word: of one that occurs once nothing is left."""
    texts, labels = ["a a b", "b c c rare", "a c only"], ["x", "y", "y"]
    model = textodds.train(texts, labels, learner=kind(), unknown="first")
    assert sorted(model.vocabulary.words()) == ["<UNK>", "a", "b", "c"]
    np.testing.assert_array_equal(model.score(["a rare"])[0], model.score(["a zzz"])[0])
    assert model("rare").evidence == 0


def test_the_counts_of_first_are_those_of_the_lecture_on_average_over_all_orders():
    """Every order of the occurrences, with the first of each word replaced as the lecture has it."""
    texts, labels = ["a a b", "b c c", "d"], ["x", "y", "y"]
    occurrences = [(word, k) for text, k in zip(texts, labels, strict=True) for word in text.split()]
    sums: Counter[tuple[str, str]] = Counter()
    for order in itertools.permutations(occurrences):
        seen: set[str] = set()
        for word, label in order:
            sums[word if word in seen else "<UNK>", label] += 1
            seen.add(word)
    model = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0), unknown="first")
    words = model.vocabulary.words()
    assert set(words) == {word for word, _ in sums}
    expected = np.array([[sums[word, label] for label in model.classes_] for word in words], dtype=float)
    theta = np.exp(model.linear.weights.rows(np.arange(len(words))))  # (V, K)
    np.testing.assert_allclose(theta, expected / expected.sum(axis=0), rtol=0, atol=1e-12)


def test_unknown_words_count_once_in_a_binary_model():
    model = model_of(learner=MultinomialLearner(binary=True), unknown="smooth")
    np.testing.assert_array_equal(model.score(["zzz qqq rrr"])[0], model.score(["zzz"])[0])


@together
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unknown": "ignor"}, "did you mean `ignore`"),
        ({"unknown": "count"}, "vocabulary"),
        ({"min_dff": 2}, "did you mean `min_df`"),
        ({"unitt": "words"}, "did you mean `unit`"),
        ({"min_df": -1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"max_features": 0}, "max_features"),
        ({"min_df": 3, "max_df": 2}, "min_df 3"),
        ({"learner": "multinomal"}, "did you mean `multinomial`"),
        ({"settings": TextSettings(), "unit": "words"}, "not both"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        model_of(**options)


# Which words are kept.


def test_ties_of_the_most_frequent_words_go_to_the_alphabet():
    texts = ["d c b a", "d c b a e e e"]
    for n, words in [(1, "e"), (2, "ae"), (3, "abe"), (4, "abce"), (5, "abcde"), (9, "abcde")]:
        model = textodds.train(texts, ["x", "y"], max_features=n)
        assert "".join(sorted(model.vocabulary.words())) == words


def test_a_whole_number_is_documents_and_a_float_a_share():
    texts = ["a b c", "a b", "a", "a"]

    def kept(**limits):
        model = textodds.train(texts, list("xyxy"), learner="multinomial", **limits)
        return "".join(sorted(model.vocabulary.words()))

    assert kept(min_df=2) == "ab"
    assert kept(min_df=0.5) == "ab"
    assert kept(min_df=0.51) == "a"
    assert kept(max_df=1) == "c"
    assert kept(max_df=1.0) == "abc"
    assert kept(max_df=0.5) == "bc"
    assert kept(min_df=2, max_df=3) == "b"


def test_no_word_left_is_an_error_that_says_what_to_do():
    with pytest.raises(NoData, match="no word is left of 3") as caught:
        textodds.train(["a b", "c"], ["x", "y"], min_df=2)
    assert "min_df" in caught.value.hint


def test_a_word_below_the_limit_is_counted_and_may_rise_above_it():
    model = textodds.train(["a b", "a c"], ["x", "y"], min_df=2)
    assert model.vocabulary.words() == ["a"]
    model.learn("b", "x")
    assert sorted(model.vocabulary.words()) == ["a", "b"]


def test_binary_models_count_a_word_once_a_text():
    model = model_of(learner=MultinomialLearner(binary=True))
    np.testing.assert_array_equal(model.score(["free free free"])[0], model.score(["free"])[0])
    repeated = textodds.train(
        [text + " " + text for text in TEXTS], LABELS, learner=MultinomialLearner(binary=True)
    )
    np.testing.assert_array_equal(repeated.score(TEXTS)[0], model.score(TEXTS)[0])


# Priors.


PRIORS = ["data", "uniform", {"ham": 0.9, "spam": 0.1}]


@in_turn(2)
@pytest.mark.parametrize("kind", [MultinomialLearner, BernoulliLearner])
@pytest.mark.parametrize("before", PRIORS, ids=str)
@pytest.mark.parametrize("after", PRIORS, ids=str)
def test_a_prior_changed_afterwards_equals_training_with_it(kind, before, after):
    changed = model_of(learner=kind(prior=before)).with_prior(after)
    trained = model_of(learner=kind(prior=after))
    np.testing.assert_array_equal(changed.score(TEXTS)[0], trained.score(TEXTS)[0])


def test_a_changed_prior_leaves_the_first_model_as_it_was():
    model = model_of()
    before = model.predict_proba(TEXTS)
    model.with_prior("uniform")
    np.testing.assert_array_equal(model.predict_proba(TEXTS), before)


@pytest.mark.parametrize("verb", ["learn", "forget", "add", "save"])
def test_a_changed_prior_outlasts_what_is_done_to_the_model(verb, tmp_path):
    prior = {"ham": 0.9, "spam": 0.1}
    model = model_of().with_prior(prior)
    if verb in ("learn", "forget"):
        getattr(model, verb)(TEXTS[0], LABELS[0])
    elif verb == "add":
        model = model + model
    else:
        model.save(tmp_path / "m")
        model = textodds.load(tmp_path / "m")
    assert model("zzz").probabilities == pytest.approx(prior)


def test_models_under_different_priors_refuse_to_be_added():
    with pytest.raises(InputError, match="different settings"):
        _ = model_of().with_prior("uniform") + model_of()


def test_a_changed_prior_is_in_the_recipe():
    assert model_of().with_prior("uniform").recipe.learner.prior == "uniform"


def test_complement_models_have_no_prior_to_change():
    with pytest.raises(Unsupported):
        model_of(learner=ComplementLearner()).with_prior("uniform")


@together
@pytest.mark.parametrize(
    "prior",
    [
        "unifrom",
        {"ham": 1.0},
        {"ham": 0.5, "spam": 0.5, "eggs": 0.0},
        {"ham": 0.5, "spam": 0.4},
        {"ham": 1.5, "spam": -0.5},
        {"ham": math.nan, "spam": 1.0},
    ],
    ids=str,
)
def test_priors_that_are_none_are_refused(prior):
    with pytest.raises(InputError):
        model_of(learner=MultinomialLearner(prior=prior))
    with pytest.raises(InputError):
        model_of().with_prior(prior)


def test_priors_by_hand():
    documents = np.array([3.0, 1.0])
    np.testing.assert_allclose(np.exp(log_prior("data", ("a", "b"), documents)), [0.75, 0.25])
    np.testing.assert_allclose(np.exp(log_prior("uniform", ("a", "b"), documents)), [0.5, 0.5])
    np.testing.assert_allclose(np.exp(log_prior({"b": 0.9, "a": 0.1}, ("a", "b"), documents)), [0.1, 0.9])


# Learners.


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf, [1.0, -1.0], [[1.0]]], ids=str)
def test_a_smoothing_that_is_none_is_refused_when_the_learner_is_made(kind, alpha):
    with pytest.raises(InputError, match="alpha"):
        kind(alpha=alpha)


def test_a_prior_that_is_misspelled_is_refused_when_the_learner_is_made():
    with pytest.raises(InputError, match="unifrom"):
        MultinomialLearner(prior="unifrom")


def test_a_smoothing_per_word_must_have_one_per_word():
    with pytest.raises(InputError, match="alpha has 2 entries, the model 3 features"):
        textodds.train(["a b", "c"], ["x", "y"], learner=MultinomialLearner(alpha=[1.0, 2.0]))


def test_a_smoothing_per_word_outlasts_saving(tmp_path):
    learner = MultinomialLearner(alpha=np.array([0.5, 1.0, 2.0]))
    model = textodds.train(["a b", "c"], ["x", "y"], learner=learner)
    model.save(tmp_path / "m")
    again = textodds.load(tmp_path / "m")
    again.learn("a", "x")
    model.learn("a", "x")
    np.testing.assert_array_equal(again.score(["a b c"])[0], model.score(["a b c"])[0])


@together
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_go_by_name_and_come_back_from_plain_data(name):
    choices = {"lda": {"shrinkage": 0.5}, "qda": {"shrinkage": 0.5}, "gaussian": {"smoothing": 0.5}}
    learner = learner_named(name, **choices.get(name, {"alpha": 0.5}))
    assert of_dict(as_dict(learner)) == learner


@together
@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if LEARNERS[name].is_of_texts and name != "semisupervised"]
)
def test_a_learner_of_texts_may_be_given_by_its_name(name):
    by_name = textodds.train(TEXTS, LABELS, learner=name)
    same = textodds.train(TEXTS, LABELS, learner=learner_named(name))
    np.testing.assert_array_equal(by_name.score(TEXTS)[0], same.score(TEXTS)[0])


@together
@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (naive_bayes.MultinomialNB(), "sklearn.naive_bayes.MultinomialNB is not a textodds learner"),
        (naive_bayes.MultinomialNB, "the class sklearn.naive_bayes.MultinomialNB is not a textodds learner"),
        (
            textodds.MultinomialNB,
            "the class textodds.interop.estimators.word_counts.MultinomialNB is not a textodds learner",
        ),
        (
            textodds.TextClassifier(),
            "textodds.interop.estimators.text_classifier.TextClassifier is not a textodds learner",
        ),
        (3, "3 is not a textodds learner"),
    ],
    ids=["theirs", "a class of theirs", "a class", "not of its kind", "number"],
)
def test_what_is_no_learner_is_named_with_what_is_one(learner, told):
    for refusing in (lambda: model_of(learner=learner), lambda: recipe_of(learner), lambda: name_of(learner)):
        with pytest.raises(InputError, match=told) as caught:
            refusing()
        assert "textodds.MultinomialNB()" in caught.value.hint
        assert "nb-softmax" in caught.value.hint


@together
@pytest.mark.parametrize(
    "estimator",
    [
        textodds.MultinomialNB(alpha=0.5),
        textodds.ComplementNB(norm=True),
        textodds.SoftmaxRegression(C=2.0),
        textodds.LinearDiscriminantAnalysis(shrinkage=0.5),
    ],
    ids=str,
)
def test_a_recipe_may_be_of_an_estimator(estimator):
    assert recipe_of(estimator) == recipe_of(estimator.learner())


def test_a_recipe_of_texts_is_not_of_an_estimator_of_tables():
    with pytest.raises(InputError, match="categorical learns from tables"):
        recipe_of(textodds.CategoricalNB())


def test_a_choice_that_a_learner_does_not_have_is_refused():
    with pytest.raises(InputError, match="bernoulli has no norm"):
        learner_named("bernoulli", norm=True)


# Long texts.


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 12])
def test_probabilities_of_very_long_texts_sum_to_one(kind, classes):
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(500)]
    texts = [" ".join(random.choice(words, 30)) for _ in range(5 * classes)]
    model = textodds.train(texts, [f"c{k % classes:02}" for k in range(5 * classes)], learner=kind())
    long = [" ".join(random.choice(words, 100_000)) for _ in range(3)]
    np.testing.assert_allclose(model.predict_proba(long).sum(axis=1), 1, rtol=0, atol=1e-12)
    assert sum(model(long[0]).probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert np.isfinite(model.predict_log_proba(long)).all()


def test_scores_of_many_classes_do_not_depend_on_how_weights_are_stored(monkeypatch):
    texts = [f"own{k} own{k}b common" for k in range(12)]
    labels = [f"c{k:02}" for k in range(12)]
    long = " ".join(texts) * 2000
    sparse = textodds.train(texts, labels)
    monkeypatch.setattr(linear_module, "DENSE_CLASSES", 100)
    dense = textodds.train(texts, labels)
    assert sparse.linear.weights.dense is None
    assert dense.linear.weights.dense is not None
    np.testing.assert_allclose(sparse.score([long])[0], dense.score([long])[0], rtol=1e-12)


# One text, several texts, none.


def test_a_prediction_is_the_row_of_the_batch():
    model = model_of()
    probabilities, labels = model.predict_proba(TEXTS), model.predict(TEXTS)
    for i, text in enumerate(TEXTS):
        prediction = model(text)
        assert prediction.label == labels[i]
        assert prediction.probability == max(prediction.probabilities.values())
        assert list(prediction.probabilities) == list(model.classes_)
        np.testing.assert_allclose(list(prediction.probabilities.values()), probabilities[i], rtol=1e-12)


def test_no_texts_give_no_rows():
    model = model_of()
    assert model.predict([]).shape == (0,)
    assert model.predict_proba([]).shape == (0, 2)
    assert model.rows([]).shape == (0, len(model.vocabulary))


@together
@pytest.mark.parametrize("call", ["predict", "predict_proba", "score", "rows"])
def test_one_text_where_several_are_wanted_is_an_error(call):
    with pytest.raises(InputError, match="several"):
        getattr(model_of(), call)("free phone")


@together
@pytest.mark.parametrize("text", [None, 5, b"free", ["free"]])
def test_a_text_that_is_none_is_an_error(text):
    with pytest.raises(InputError, match="str"):
        model_of()(text)


def test_texts_may_be_a_tuple_an_array_or_a_column():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    model = model_of()
    expected = model.predict_proba(TEXTS)
    forms = [tuple(TEXTS), np.array(TEXTS), pandas.Series(TEXTS), polars.Series(TEXTS), pyarrow.array(TEXTS)]
    for form in [*forms, pyarrow.chunked_array([TEXTS[:2], TEXTS[2:]]), iter(TEXTS)]:
        np.testing.assert_array_equal(model.predict_proba(form), expected)


@together
@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("of", ["texts", "labels", "both"])
def test_texts_and_labels_to_learn_from_may_be_arrow_views(of, calibrate):
    pyarrow = pytest.importorskip("pyarrow")
    texts, labels = TEXTS * 30, LABELS * 30
    naive = {"learner": "multinomial", "calibrate": calibrate}
    expected = textodds.train(texts, labels, **naive)
    texts_view, labels_view = (pyarrow.array(each).cast(pyarrow.string_view()) for each in (texts, labels))
    columns = {
        "texts": (texts_view, labels),
        "labels": (texts, labels_view),
        "both": (texts_view, labels_view),
    }
    model = textodds.train(*columns[of], **naive)
    assert (model.calibration is not None) == calibrate
    np.testing.assert_array_equal(model.predict_log_proba(texts), expected.predict_log_proba(texts))


def test_columns_of_polars_can_be_learned_from():
    polars = pytest.importorskip("polars")
    texts, labels = TEXTS * 30, LABELS * 30
    expected = textodds.train(texts, labels, typical=True)
    frame = polars.DataFrame({"text": texts, "label": labels})
    for columns in ((frame["text"], frame["label"]), (frame["text"], labels), (frame,)):
        model = textodds.train(*columns, typical=True)
        np.testing.assert_array_equal(model.predict_log_proba(texts), expected.predict_log_proba(texts))
        assert model.familiarity(texts[:3]) == expected.familiarity(texts[:3])


def test_equal_scores_go_to_the_first_class():
    model = textodds.train(["a", "a"], ["y", "x"])
    assert model("a").label == model.predict(["a"])[0] == "x"


def test_predictions_do_not_depend_on_threads():
    texts = [f"{text} {i}" * 40 for i, text in enumerate(TEXTS * 200)]
    scores = [textodds.train(TEXTS, LABELS, threads=n).score(texts)[0] for n in (1, 2, 3, 4)]
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])


@together
@pytest.mark.parametrize("label", ["a\0", "\0", " ", "\n", "é", "😀", "x" * 1000])
def test_a_label_comes_back_as_it_went_in(label):
    model = textodds.train(["a b", "c d"], [label, "other"])
    assert model("a").label == label
    assert model.predict(["a"]).tolist() == [label]


def test_labels_become_text_within_a_model_and_come_back_as_they_came():
    model = textodds.train(["a", "b", "c", "d"], [3, 1, 3, 2])
    assert model.class_names == ("1", "2", "3")
    assert model.classes_ == (1, 2, 3)
    assert model.predict(["b"]).tolist() == [1]
    assert textodds.train(["a", "b"], [True, False]).class_names == ("false", "true")
    assert model.evaluate(["a", "b"], [3, 1]).accuracy == 1.0


@together
@pytest.mark.parametrize("verb", ["learn", "forget"])
@pytest.mark.parametrize(("texts", "labels"), [("a", 0), (["a"], [0]), (["a"], np.array([0]))], ids=str)
def test_labels_become_text_when_learning_and_forgetting_too(verb, texts, labels):
    model, by_text = (textodds.train(["a", "b", "a"], [0, 1, 0]) for _ in range(2))
    getattr(model, verb)(texts, labels)
    getattr(by_text, verb)("a", "0")
    assert model.tally == by_text.tally


# Learning, forgetting, adding.


def test_learning_equals_training_on_all():
    model = textodds.train(TEXTS[:3], LABELS[:3])
    model.learn(TEXTS[3:], LABELS[3:])
    whole = model_of()
    assert model.tally == whole.tally
    np.testing.assert_array_equal(model.score(TEXTS)[0], whole.score(TEXTS)[0])
    assert model.vocabulary.words() == whole.vocabulary.words()


def test_learning_may_bring_new_words_and_classes():
    model = model_of()
    model.learn("brand new words", "eggs", [2.0])
    assert model.classes_ == ("eggs", "ham", "spam")
    assert model("brand new").label == "eggs"
    assert (
        model.tally
        == textodds.train(
            [*TEXTS, *["brand new words"] * 2], [*LABELS, "eggs", "eggs"], learner="multinomial"
        ).tally
    )


def test_one_label_serves_for_several_texts():
    one, each = model_of(), model_of()
    one.learn(["a", "b"], "eggs")
    each.learn(["a", "b"], ["eggs", "eggs"])
    assert one.tally == each.tally


def test_forgetting_the_last_document_of_a_class_forgets_the_class():
    model = model_of()
    model.learn("odd one", "eggs")
    model.forget("odd one", "eggs")
    assert model.classes_ == ("ham", "spam")
    assert "odd" not in model.vocabulary.words()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extra", [("new words and a class", "eggs"), ("free", "ham"), ("", "spam")], ids=str)
def test_learning_then_forgetting_gives_the_same_file(kind, extra, tmp_path):
    model = model_of(learner=kind(), min_df=1, unknown="smooth")
    model.save(tmp_path / "before")
    again = textodds.load(tmp_path / "before")
    for each in (model, again):
        each.learn(*extra)
        each.save(tmp_path / "between")
        each.forget(*extra)
        each.save(tmp_path / "after")
        assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
        assert (tmp_path / "between").read_bytes() != (tmp_path / "before").read_bytes()


def test_forgetting_what_was_not_learned_is_an_error_and_changes_nothing():
    model = model_of()
    before = model.tally.fingerprint(), model.score(TEXTS)[0]
    with pytest.raises(NotLearned, match="`zebra` was not learned as `ham`"):
        model.forget("zebra", "ham")
    with pytest.raises(NotLearned, match="`eggs`"):
        model.forget("free", "eggs")
    assert model.tally.fingerprint() == before[0]
    np.testing.assert_array_equal(model.score(TEXTS)[0], before[1])


def test_forgetting_everything_is_refused():
    model = model_of()
    with pytest.raises(InputError, match="every document"):
        model.forget(TEXTS, LABELS)
    with pytest.raises(InputError, match="would be empty"):
        _ = model - model


def test_a_failed_change_of_words_changes_nothing():
    """A smoothing per word no longer fits once there is a new word."""
    model = textodds.train(["a b", "c"], ["x", "y"], learner=MultinomialLearner(alpha=[1.0, 1.0, 1.0]))
    before = model.tally
    with pytest.raises(InputError):
        model.learn("brand new", "x")
    assert model.tally == before
    assert model("a").label == "x"


def test_an_empty_label_cannot_be_learned():
    with pytest.raises(InputError, match="label"):
        model_of().learn("free", "")


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"hash_bits": 6}, {"ngrams": (1, 2), "min_df": 2}, {"unknown": "first"}], ids=str
)
def test_sums_and_differences_of_models_equal_training(kind, options):
    def trained(start, stop):
        return textodds.train((TEXTS * 2)[start:stop], (LABELS * 2)[start:stop], learner=kind(), **options)

    whole = trained(0, 10)
    for made in (trained(0, 4) + trained(4, 10), trained(4, 10) + trained(0, 4)):
        assert made.tally == whole.tally
        np.testing.assert_array_equal(made.score(TEXTS)[0], whole.score(TEXTS)[0])
    np.testing.assert_array_equal((whole - trained(5, 10)).score(TEXTS)[0], trained(0, 5).score(TEXTS)[0])


@together
@pytest.mark.parametrize(
    "options",
    [
        {"learner": BernoulliLearner()},
        {"learner": MultinomialLearner(alpha=0.5)},
        {"learner": MultinomialLearner(prior="uniform")},
        {"ngrams": (1, 2)},
        {"hash_bits": 8},
        {"lower": False},
        {"min_df": 2},
        {"unknown": "smooth"},
        {"stop_words": ["free"]},
    ],
    ids=str,
)
def test_models_made_differently_refuse_to_be_added(options):
    for one, other in [(model_of(), model_of(**options)), (model_of(**options), model_of())]:
        with pytest.raises(InputError, match="different settings"):
            _ = one + other
        with pytest.raises(InputError, match="different settings"):
            _ = one - other


def test_a_model_plus_something_else_is_a_type_error():
    with pytest.raises(TypeError):
        _ = model_of() + 1


def test_models_of_transformed_documents_without_them_refuse_to_change():
    model = model_of(learner=ComplementLearner(norm=True, transform=True), documents=False)
    for change in (model.learn, model.forget):
        with pytest.raises(Unsupported, match="transformed"):
            change(TEXTS[0], LABELS[0])
    with pytest.raises(Unsupported):
        _ = model + model


@together
@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 0.0], [1, 2, 0.5, 1, 1, 0.0]], ids=str)
@pytest.mark.parametrize(
    "extra", [("other words", "eggs"), ("phone prize", "ham"), ("six", "spam"), ("you", "spam")], ids=str
)
def test_a_weight_of_zero_equals_absence_for_transformed_documents(extra, weights):
    learner = ComplementLearner(norm=True, transform=True)
    with_it = textodds.train([*TEXTS, extra[0]], [*LABELS, extra[1]], weights, learner=learner)
    without = textodds.train(TEXTS, LABELS, weights[:5], learner=learner)
    assert with_it.classes_ == without.classes_
    np.testing.assert_array_equal(with_it.score(TEXTS)[0], without.score(TEXTS)[0])


def test_any_word_in_any_class_may_have_a_weight_of_zero_for_transformed_documents():
    learner = ComplementLearner(norm=True, transform=True)
    expected = model_of(learner=learner)
    extra = [(word, label) for word in expected.vocabulary.words() for label in expected.classes_]
    texts, labels = TEXTS + [word for word, _ in extra], LABELS + [label for _, label in extra]
    got = textodds.train(texts, labels, [1.0] * len(TEXTS) + [0.0] * len(extra), learner=learner)
    np.testing.assert_array_equal(got.score(TEXTS)[0], expected.score(TEXTS)[0])


def test_transformed_documents_of_a_class_that_lost_a_word_do_not_count_for_another(monkeypatch):
    """Class a's only v-words are dropped for want of memory; class b's come later and stay."""
    v_words = " ".join(f"v{i}" for i in range(200))
    rare = [" ".join(f"r{j}x{i}" for i in range(200)) for j in range(30)]

    def batches(*_):
        yield Batch([v_words, *rare], ["a"] * 31, None)
        yield Batch([v_words] * 15 + ["common"] * 15, ["b"] * 15 + ["a"] * 15, None)

    fitted, fit = [], core.fit
    monkeypatch.setattr(core, "fit", lambda learner, counts: fitted.append(counts) or fit(learner, counts))
    source = Source(ColumnRequest.without_names(), "two batches", batches, Rejects("stop"))
    with pytest.warns(VocabularyPruned):
        model = train_on(source, Plan(ComplementLearner(transform=True), None, {}, threads=1, memory=1 << 16))
    (v,) = model.vocabulary.find(["v7"])
    counts = fitted[-1]
    cells = slice(int(counts.starts[v]), int(counts.starts[v + 1]))
    by_class = dict(zip(counts.class_of[cells].tolist(), counts.occurrences[cells].tolist(), strict=True))
    assert by_class[1] == pytest.approx(15 / math.sqrt(200), rel=1e-12)  # each document of b has length one


def test_transformed_documents_have_no_place_for_unknown_words():
    with pytest.raises(TextoddsError, match="unknown words"):
        model_of(learner=ComplementLearner(transform=True), unknown="smooth")


def test_transformed_documents_may_come_once_only():
    """A stream cannot be read twice; it is kept for the second pass."""
    learner = ComplementLearner(norm=True, transform=True)
    streamed = textodds.train(iter(zip(TEXTS, LABELS, strict=True)), learner=learner)
    np.testing.assert_array_equal(streamed.score(TEXTS)[0], model_of(learner=learner).score(TEXTS)[0])


def test_no_input_is_changed():
    texts, labels, weights = list(TEXTS), list(LABELS), [1.0, 2.0, 0.5, 0.0, 1.0]
    array, prior, words = np.array(weights), {"ham": 0.5, "spam": 0.5}, ["free", "you", "a"]
    given = (texts, labels, weights, array, prior, words)
    before = copy.deepcopy(given)
    model = textodds.train(texts, labels, weights, learner=MultinomialLearner(prior=prior), vocabulary=words)
    model = textodds.train(texts, labels, array, learner=MultinomialLearner(prior=prior), stop_words=words)
    model.learn(texts, labels, array)
    model.forget(texts, labels, weights)
    model.predict(texts)
    model.evaluate(texts, labels)
    model.with_prior(prior)
    for now, then in zip(given, before, strict=True):
        np.testing.assert_equal(now, then)


def test_no_warning_is_given_for_a_plain_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_of()
        model.evaluate(TEXTS, LABELS)
        model.explain(TEXTS[0])


def test_every_error_of_ours_has_a_code_a_problem_and_perhaps_a_hint():
    kinds = [
        kind
        for kind in vars(textodds.errors).values()
        if isinstance(kind, type) and issubclass(kind, TextoddsError)
    ]
    assert len({kind.code for kind in kinds}) == len(kinds)
    error = InputError("what is wrong", hint="what to do")
    assert str(error) == "what is wrong\n\nhint: what to do"
    assert (error.problem, error.hint, str(InputError("alone"))) == ("what is wrong", "what to do", "alone")


def test_top_words_are_those_that_speak_for_a_class():
    model = textodds.train(["a a a b", "b c c c", "b d"], ["x", "y", "z"])
    assert model.top_words("x", 1)[0][0] == "a"
    words = model.top_words("x", 100)
    assert len(words) == 4
    assert [odds for _, odds in words] == sorted((odds for _, odds in words), reverse=True)
    matrix = model.linear.weights.rows(model.vocabulary.find(["a"]))[0]
    assert words[0][1] == pytest.approx(matrix[0] - matrix[1:].mean(), rel=1e-12)
    with pytest.raises(InputError, match="there is no class `w`"):
        model.top_words("w")


def test_a_class_cannot_be_its_own_rival():
    with pytest.raises(InputError, match="its own rival"):
        model_of().explain("a", "spam", "spam")


@pytest.mark.parametrize(
    "options", [{"unit": "characters", "stop_words": ["the"]}, {"hash_seed": 3}], ids=["stop words", "seed"]
)
def test_a_setting_that_would_do_nothing_is_refused(options):
    with pytest.raises(InputError):
        model_of(**options)
