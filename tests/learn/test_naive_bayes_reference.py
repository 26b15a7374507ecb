"""The same numbers as scikit-learn: on random counts, on random texts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer

import textodds
from pairs import pairwise, together
from row_counts import counts_of_rows
from textodds import TextSettings
from textodds.errors import NoData
from textodds.learn.forms import linear as linear_module
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner, fit

ALPHAS = (1e-3, 0.1, 1.0, 10.0)
PAIRS = [
    (MultinomialLearner, naive_bayes.MultinomialNB, {}),
    (BernoulliLearner, naive_bayes.BernoulliNB, {}),
    (ComplementLearner, naive_bayes.ComplementNB, {"norm": False}),
    (ComplementLearner, naive_bayes.ComplementNB, {"norm": True}),
]
NAMES = ["multinomial", "bernoulli", "complement", "complement-norm"]


def close(got, expected, tolerance=1e-10):
    """Equal relative to the largest magnitude."""
    np.testing.assert_allclose(
        got, expected, rtol=tolerance, atol=tolerance * max(1.0, np.abs(expected).max())
    )


def agree(model, reference, rows):
    """Same joint log-likelihoods and same probabilities for rows of counts."""
    close(model.scores(rows), reference.predict_joint_log_proba(rows))
    close(np.exp(model.log_posterior(rows)), reference.predict_proba(rows))
    close(model.log_posterior(rows), reference.predict_log_proba(rows))


def counts(seed, classes, n=80, features=40, density=1.0):
    """Random rows of counts, labels that cover all classes, and weights."""
    random = np.random.default_rng(seed)
    own = random.gamma(0.5, 2.0, (classes, features)) * (random.random((classes, features)) < density)
    labels = np.concatenate([np.arange(classes), random.integers(0, classes, n - classes)])
    return random.poisson(own[labels]), [f"c{k:02}" for k in labels], random.gamma(2.0, 1.0, n)


@pairwise
@pytest.mark.parametrize(("ours", "theirs", "choices"), PAIRS, ids=NAMES)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("classes", [2, 3, 8, 12, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_counts_give_scikit_learns_numbers(ours, theirs, choices, alpha, classes, weighted):
    rows, labels, weights = counts(classes, classes)
    weights = weights if weighted else None
    model = fit(ours(alpha=alpha, **choices), counts_of_rows(rows, labels, weights))
    agree(model, theirs(alpha=alpha, **choices).fit(rows, labels, weights), rows)


@together
@pytest.mark.parametrize(("ours", "theirs", "choices"), PAIRS, ids=NAMES)
def test_sparse_rows_give_the_numbers_of_dense_rows(ours, theirs, choices):
    rows, labels, weights = counts(1, 12, density=0.1)
    model = fit(ours(**choices), counts_of_rows(sparse.csr_array(rows), labels, weights))
    agree(model, theirs(**choices).fit(rows, labels, weights), sparse.csr_array(rows))


@pytest.mark.parametrize(("ours", "theirs", "choices"), PAIRS, ids=NAMES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_weights_stored_as_exceptions_equal_the_full_matrix(ours, theirs, choices, alpha, monkeypatch):
    rows, labels, weights = counts(2, 12, density=0.1)
    seen = counts_of_rows(rows, labels, weights)
    exceptions = fit(ours(alpha=alpha, **choices), seen)
    monkeypatch.setattr(linear_module, "DENSE_CLASSES", 1000)
    full = fit(ours(alpha=alpha, **choices), seen)
    assert exceptions.weights.dense is None
    assert full.weights.dense is not None
    close(exceptions.scores(rows), full.scores(rows), 1e-12)
    agree(exceptions, theirs(alpha=alpha, **choices).fit(rows, labels, weights), rows)


@together
@pytest.mark.parametrize("classes", [2, 12])
@pytest.mark.parametrize(
    ("ours", "theirs", "choices"),
    [PAIRS[0], *PAIRS[2:]],
    ids=["multinomial", "complement", "complement-norm"],
)
def test_a_smoothing_per_feature_is_scikit_learns(ours, theirs, choices, classes):
    rows, labels, weights = counts(3, classes, density=0.2)
    alpha = np.random.default_rng(3).gamma(1.0, 1.0, rows.shape[1])
    model = fit(ours(alpha=alpha, **choices), counts_of_rows(rows, labels, weights))
    agree(model, theirs(alpha=alpha, **choices).fit(rows, labels, weights), rows)


@pytest.mark.parametrize("classes", [2, 12])
def test_a_smoothing_per_feature_is_a_beta_prior_per_word_for_bernoulli(classes):
    """By hand: scikit-learn 1.9 cannot broadcast it."""
    rows, labels, _ = counts(4, classes, density=0.2)
    alpha = np.random.default_rng(4).gamma(1.0, 1.0, rows.shape[1])
    model = fit(BernoulliLearner(alpha=alpha), counts_of_rows(rows, labels))
    present, codes = rows > 0, np.unique(labels, return_inverse=True)[1]
    expected = np.zeros((len(rows), classes))
    for k in range(classes):
        mine = present[codes == k]
        p = (mine.sum(axis=0) + alpha) / (len(mine) + 2 * alpha)
        expected[:, k] = np.log(len(mine) / len(rows)) + np.where(present, np.log(p), np.log1p(-p)).sum(
            axis=1
        )
    close(model.scores(rows), expected)


def test_one_number_equals_that_number_for_every_feature():
    rows, labels, weights = counts(5, 12, density=0.2)
    seen = counts_of_rows(rows, labels, weights)
    for kind in (MultinomialLearner, BernoulliLearner, ComplementLearner):
        one = fit(kind(alpha=0.3), seen)
        many = fit(kind(alpha=np.full(rows.shape[1], 0.3)), seen)
        close(one.scores(rows), many.scores(rows), 1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [pair[:2] for pair in PAIRS[:2]], ids=NAMES[:2])
def test_priors_are_scikit_learns(ours, theirs):
    rows, labels, _ = counts(6, 3)
    seen = counts_of_rows(rows, labels)
    given_prior = {"c00": 0.2, "c01": 0.5, "c02": 0.3}
    agree(fit(ours(prior="uniform"), seen), theirs(fit_prior=False).fit(rows, labels), rows)
    expected = theirs(class_prior=list(given_prior.values())).fit(rows, labels)
    agree(fit(ours(prior=given_prior), seen), expected, rows)


@pytest.mark.parametrize(("ours", "theirs", "choices"), PAIRS, ids=NAMES)
@given(data=st.data())
def test_any_small_counts_give_scikit_learns_numbers(ours, theirs, choices, data):
    n, features = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 5))  # one alone is 0/0 in WCNB
    row = st.lists(st.integers(0, 9), min_size=features, max_size=features)
    rows = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    alpha = data.draw(st.sampled_from(ALPHAS))
    model = fit(ours(alpha=alpha, **choices), counts_of_rows(rows, labels))
    agree(model, theirs(alpha=alpha, **choices).fit(rows, labels), rows)


WORDS = [f"word{i}" for i in range(60)] + ["é", "naïve", "x", "don't", "ÉTÉ", "straße", "_"]


def texts(seed, classes, n):
    """Random texts, of which each class has words it likes, and labels."""
    random = np.random.default_rng(seed)
    likes = random.dirichlet(np.full(len(WORDS), 0.2), classes)
    labels = np.concatenate([np.arange(classes), random.integers(0, classes, n - classes)])
    made = [" ".join(random.choice(WORDS, random.integers(0, 25), p=likes[k])) for k in labels]
    return made, [f"c{k:02}" for k in labels]


@together
@pytest.mark.parametrize(("ours", "theirs", "choices"), PAIRS, ids=NAMES)
@pytest.mark.parametrize(("classes", "ngrams"), [(2, (1, 1)), (5, (1, 2)), (12, (1, 2))])
@pytest.mark.parametrize("weighted", [False, True])
def test_texts_give_scikit_learns_numbers(ours, theirs, choices, classes, ngrams, weighted):
    seen, labels = texts(classes, classes, 120)
    new, _ = texts(99, classes, 40)
    weights = np.random.default_rng(0).integers(0, 9, 120) / 4 + 0.25 if weighted else None
    model = textodds.train(
        seen,
        labels,
        weights,
        learner=ours(alpha=0.5, **choices),
        calibrate=False,
        settings=TextSettings.sklearn(ngrams=ngrams),
    )
    vectorizer = CountVectorizer(ngram_range=ngrams).fit(seen)
    reference = theirs(alpha=0.5, **choices).fit(vectorizer.transform(seen), labels, weights)
    rows = vectorizer.transform(new)
    assert list(model.classes_) == list(reference.classes_)
    close(model.score(new)[0], reference.predict_joint_log_proba(rows))
    close(model.predict_proba(new), reference.predict_proba(rows))
    assert model.predict(new).tolist() == reference.predict(rows).tolist()
    assert sorted(model.vocabulary.words()) == sorted(vectorizer.vocabulary_)


def test_binary_counts_are_those_of_count_vectorizer_binary():
    seen, labels = texts(1, 3, 100)
    new, _ = texts(2, 3, 30)
    model = textodds.train(
        seen,
        labels,
        learner=MultinomialLearner(alpha=1.0, binary=True),
        calibrate=False,
        settings=TextSettings.sklearn(),
    )
    vectorizer = CountVectorizer(binary=True).fit(seen)
    reference = naive_bayes.MultinomialNB().fit(vectorizer.transform(seen), labels)
    close(model.score(new)[0], reference.predict_joint_log_proba(vectorizer.transform(new)))


def test_rows_are_those_of_count_vectorizer():
    seen, labels = texts(3, 2, 50)
    model = textodds.train(
        seen, labels, learner="multinomial", calibrate=False, settings=TextSettings.sklearn()
    )
    vectorizer = CountVectorizer().fit(seen)
    columns = [vectorizer.vocabulary_[word] for word in model.vocabulary.words()]
    np.testing.assert_array_equal(
        model.rows(seen).toarray(), vectorizer.transform(seen).toarray()[:, columns]
    )
    close(model.linear.scores(model.rows(seen)), model.score(seen)[0], 1e-12)


LIMITS = list(itertools.product([1, 2, 5, 0.0, 0.05, 0.1, 0.3], [1.0, 0.9, 0.3, 20, 3]))


@together
@pytest.mark.parametrize(("min_df", "max_df"), LIMITS)
def test_document_frequency_limits_are_count_vectorizers(min_df, max_df):
    seen, labels = texts(7, 3, 60)
    limits = {"learner": "multinomial", "calibrate": False, "min_df": min_df, "max_df": max_df}
    limits["settings"] = TextSettings.sklearn()
    try:
        expected = sorted(CountVectorizer(min_df=min_df, max_df=max_df).fit(seen).vocabulary_)
    except ValueError:
        with pytest.raises((NoData, textodds.errors.InputError)):
            textodds.train(seen, labels, **limits)
        return
    model = textodds.train(seen, labels, **limits)
    assert sorted(model.vocabulary.words()) == expected


def test_the_most_frequent_words_are_kept_as_count_vectorizer_does():
    seen = ["aa " * 5 + "bb " * 4 + "cc " * 3 + "dd " * 2 + "ee"]
    for n in range(1, 6):
        expected = sorted(CountVectorizer(max_features=n).fit(seen).vocabulary_)
        model = textodds.train(seen, ["x"], settings=TextSettings.sklearn(), max_features=n)
        assert sorted(model.vocabulary.words()) == expected
