"""Naive Bayes with unlabelled rows: the learner's own result, in scikit-learn's conventions."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import textodds
from pairs import together
from textodds import MultinomialNB, SemiSupervisedNB
from textodds.errors import InputError, NoData, NotConverged, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.em import SemiSupervisedLearner, fit_rows


def mixture(seed=0, N=200, labelled=30):
    """Counts of two overlapping classes, and labels of which most are -1."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, N)
    theta = random.dirichlet(np.full(12, 0.5), 2)
    X = np.array([random.multinomial(8, theta[k]) for k in truth])
    y = np.where(np.arange(N) < labelled, truth, -1)
    return X, y, truth


CHOICES = [
    {},
    {"alpha": 1.0, "weight": 0.3},
    {"binary": True, "temperature": 2.0},
    {"class_prior": "uniform", "weight": 0.0},
    {"class_prior": {0: 0.2, 1: 0.8}},
]


@together
@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_it_gives_what_the_learner_gives(choices, kind):
    X, y, _ = mixture()
    model = SemiSupervisedNB(**choices).fit(kind(X), y)
    learner = model.learner()
    fit = fit_rows(learner, sparse.csr_array(X, dtype=np.float64), y.astype(np.int64), ("0", "1"))
    expected = naive_bayes.fit(learner, fit.counts)
    np.testing.assert_allclose(model.predict_log_proba(X), expected.log_posterior(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.class_count_, fit.counts.class_documents, rtol=1e-12)
    assert model.objective_.tolist() == list(fit.objective)
    assert model.n_iter_ == len(fit.objective)


def test_the_learner_has_the_same_choices():
    given = SemiSupervisedNB(
        alpha=0.5, weight=0.2, binary=True, temperature=3.0, max_iterations=7, tolerance=0.1
    )
    assert given.learner() == SemiSupervisedLearner(0.5, 0.2, "data", True, 3.0, 7, 0.1)
    assert SemiSupervisedNB().learner() == SemiSupervisedLearner()
    with pytest.raises(InputError, match="alpha must be one number above 0"):
        SemiSupervisedNB(alpha=0.0).fit([[1], [2]], [0, -1])
    with pytest.raises(InputError, match="weight of unlabelled texts"):
        SemiSupervisedNB(weight=2.0).learner()


def test_without_unlabelled_rows_it_is_multinomial_naive_bayes():
    X, _, truth = mixture()
    model, other = SemiSupervisedNB(alpha=0.3).fit(X, truth), MultinomialNB(alpha=0.3).fit(X, truth)
    np.testing.assert_allclose(model.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-10)
    np.testing.assert_array_equal(model.feature_count_, other.feature_count_)


def test_unlabelled_rows_help_where_labels_are_few():
    X, y, truth = mixture(2, N=1500, labelled=10)
    few = y >= 0
    alone = MultinomialNB(alpha=0.01).fit(X[few], y[few]).score(X[~few], truth[~few])
    assert SemiSupervisedNB().fit(X, y).score(X[~few], truth[~few]) > alone + 0.05


def test_no_step_lowers_the_objective():
    X, y, _ = mixture(1)
    assert (np.diff(SemiSupervisedNB(tolerance=0.0, max_iterations=30).fit(X, y).objective_) >= -1e-9).all()


@together
@pytest.mark.parametrize(
    ("labels", "nothing"),
    [
        (np.array(["ham", "spam"], dtype=object), None),
        (np.array(["ham", "spam"], dtype=object), ""),
        (np.array(["ham", "spam"]), ""),
        (np.array([7, 3]), -1),
        (np.array([7.0, 3.0]), -1.0),
    ],
    ids=str,
)
def test_labels_of_any_type_have_a_value_that_is_none(labels, nothing):
    X, y, _ = mixture()
    named = np.array([nothing if k < 0 else labels[k] for k in y], dtype=labels.dtype)
    model, plain = SemiSupervisedNB().fit(X, named), SemiSupervisedNB().fit(X, y)
    assert model.classes_.tolist() == sorted(labels.tolist())
    order = np.argsort(labels)
    np.testing.assert_allclose(
        model.predict_proba(X), plain.predict_proba(X)[:, order], rtol=1e-9, atol=1e-12
    )


def test_a_weight_of_two_is_two_rows():
    X, y, _ = mixture()
    weighted = SemiSupervisedNB().fit(X, y, sample_weight=np.where(np.arange(len(y)) < 50, 2.0, 1.0))
    doubled = SemiSupervisedNB().fit(np.vstack([X, X[:50]]), np.concatenate([y, y[:50]]))
    np.testing.assert_allclose(
        weighted.predict_log_proba(X), doubled.predict_log_proba(X), rtol=1e-8, atol=1e-9
    )


def test_it_trains_on_texts_as_the_learner_does():
    labelled, labels = ["free phone", "see you at six"], ["spam", "ham"]
    more = ["a free prize", "prize inside", "you at home", "home at six"]
    ours, other = (
        textodds.train(labelled, labels, unlabelled=more, learner=learner)
        for learner in (textodds.SemiSupervisedNB(weight=0.5), SemiSupervisedLearner(weight=0.5))
    )
    assert ours("inside").label == "spam"
    np.testing.assert_array_equal(ours.predict_proba(more), other.predict_proba(more))
    X = ours.rows(labelled + more)
    rows = SemiSupervisedNB(weight=0.5).fit(X, [*labels, *[""] * len(more)])
    np.testing.assert_allclose(rows.predict_proba(X), ours.predict_proba(labelled + more), rtol=1e-9)


def test_rows_without_any_label_and_batches_are_refused():
    with pytest.raises(NoData, match="no row has a label"):
        SemiSupervisedNB().fit([[1], [2]], [-1, -1])
    with pytest.raises(NoData, match="no labelled row has a weight"):
        SemiSupervisedNB().fit([[1], [2]], [0, -1], sample_weight=[0.0, 1.0])
    assert not hasattr(SemiSupervisedNB(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        _ = SemiSupervisedNB().partial_fit
    assert isinstance(caught.value.__cause__, Unsupported)
    with pytest.raises(NotFittedError):
        SemiSupervisedNB().predict([[1]])


def test_too_few_steps_are_said():
    X, y, _ = mixture()
    with pytest.warns(NotConverged, match="had not settled"):
        SemiSupervisedNB(max_iterations=1, tolerance=0.0).fit(X, y)


def test_it_is_cloned_and_pickled():
    X, y, _ = mixture()
    model = SemiSupervisedNB(weight=0.25, class_prior="uniform").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
