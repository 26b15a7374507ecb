"""`GaussianNB`: scikit-learn's numbers, and batches that add up to the whole."""

import numpy as np
import pytest
from in_batches import learn_on
from scipy.integrate import quad
from sklearn import naive_bayes

import textodds
from textodds.errors import InputError, TooFewRows
from textodds.interop.estimators import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis


def in_batches(model, X, y, sizes):
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        learn_on(model, X[part], y[part])
        start += size
    return model


@pytest.mark.parametrize("choices", [{}, {"var_smoothing": 0.01}, {"priors": [0.1, 0.2, 0.3, 0.4]}])
def test_fit_has_the_numbers_of_scikit_learn(numbers, choices):
    X, y = numbers
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    for u in (None, weights):
        ours, theirs = GaussianNB(**choices).fit(X, y, u), naive_bayes.GaussianNB(**choices).fit(X, y, u)
        for name in ("theta_", "class_count_", "class_prior_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
        if u is None:  # with weights, scikit-learn takes epsilon from the rows without them
            np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
            assert ours.epsilon_ == pytest.approx(theirs.epsilon_, rel=1e-10)
            for method in ("predict_proba", "predict_joint_log_proba", "predict_log_proba"):
                np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), 1e-8, 1e-12)


def test_batches_equal_the_whole_and_those_of_scikit_learn_do_not(numbers):
    X, y = numbers
    X = X * np.linspace(1, 30, len(X))[:, None]  # later rows vary more
    sizes = [1, 9, 190, 400]
    ours, theirs = GaussianNB(var_smoothing=0.1), naive_bayes.GaussianNB(var_smoothing=0.1)
    whole = ours.fit(X, y).predict_joint_log_proba(X)
    batches = in_batches(GaussianNB(var_smoothing=0.1), X, y, sizes).predict_joint_log_proba(X)
    np.testing.assert_allclose(batches, whole, rtol=1e-10)
    whole = theirs.fit(X, y).predict_joint_log_proba(X)
    theirs = naive_bayes.GaussianNB(var_smoothing=0.1).partial_fit(X[:1], y[:1], classes=range(4))
    batches = in_batches(theirs, X[1:], y[1:], sizes[1:])
    assert np.abs(batches.predict_joint_log_proba(X) - whole).max() > 0.01


def test_a_class_may_come_in_a_later_batch(numbers):
    X, y = numbers
    order = np.argsort(-y, kind="stable")
    model = in_batches(GaussianNB(), X[order], y[order], [200, 200, 200])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X), rtol=1e-8)


def test_a_declared_class_without_rows_is_impossible_until_it_has_some():
    model = GaussianNB().partial_fit(
        [[1.0], [2.0], [8.0], [9.0]], ["a", "a", "c", "c"], classes=["a", "b", "c"]
    )
    assert model.predict_proba([[5.0]])[0, 1] == 0
    assert model.predict_log_proba([[5.0]])[0, 1] == -np.inf
    assert model.class_count_.tolist() == [2, 0, 2]
    assert np.isnan(model.theta_[1]).all()
    model.partial_fit([[5.0], [5.1]], ["b", "b"])
    assert model.predict([[5.05]]) == ["b"]


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([1.0], "Number of priors must match number of classes: there are 1 priors for 2 classes"),
        ([1.5, -0.5], "Priors must be non-negative: number 1 is -0.5"),
        ([1.0, 1.0], "The sum of the priors should be 1: these sum to 2"),
    ],
)
def test_priors_that_are_none_are_refused(priors, message):
    with pytest.raises(InputError, match=message):
        GaussianNB(priors=priors).fit([[1.0], [2.0]], [0, 1])


def test_numbers_after_text_as_labels_are_refused_and_nothing_is_learned():
    model = GaussianNB().partial_fit([[1.0], [2.0]], ["a", "b"], classes=["a", "b"])
    with pytest.raises(InputError, match="mixed types"):
        model.partial_fit([[1.0]], [3])
    assert model.class_count_.tolist() == [1, 1]


def test_a_weight_of_two_is_a_row_twice(numbers):
    X, y = numbers
    u = np.arange(len(y)) % 3
    weighted = GaussianNB(var_smoothing=0.1).fit(X, y, u)
    repeated = GaussianNB(var_smoothing=0.1).fit(X.repeat(u, axis=0), y.repeat(u))
    np.testing.assert_allclose(weighted.log_joint(X), repeated.log_joint(X), rtol=1e-10)


def test_a_missing_number_is_left_out(numbers):
    X, y = numbers
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    gaps = np.where(holes, np.nan, X)
    model = GaussianNB().fit(gaps, y)
    for k in range(4):
        np.testing.assert_allclose(model.theta_[k], np.nanmean(gaps[y == k], axis=0), rtol=1e-10)
    row = X[:1].copy()
    row[0, 2] = np.nan
    left = [v for v in range(6) if v != 2]
    fewer = GaussianNB(var_smoothing=0).fit(X[:, left], y).log_joint(X[:1, left])
    np.testing.assert_allclose(GaussianNB(var_smoothing=0).fit(X, y).log_joint(row), fewer, rtol=1e-10)
    prior = model.class_prior_
    np.testing.assert_allclose(model.predict_proba(np.full((1, 6), np.nan)), [prior], rtol=1e-12)


def test_the_density_integrates_to_one():
    model = GaussianNB().fit([[0.0], [1.0], [4.0], [7.0]], [0, 0, 1, 1])
    area, _ = quad(
        lambda x: float(np.exp(model.log_density([[x]])[0])), -40, 60, points=[0.5, 5.5], limit=200
    )
    assert area == pytest.approx(1, abs=1e-8)


def test_a_constant_column_changes_nothing_but_the_density(numbers):
    X, y = numbers
    wider = np.hstack([X, np.full((len(X), 1), 5.0)])
    np.testing.assert_allclose(
        GaussianNB().fit(wider, y).predict_proba(wider), GaussianNB().fit(X, y).predict_proba(X), rtol=1e-6
    )


def test_without_smoothing_a_column_that_is_constant_in_a_class_is_refused_by_name():
    with pytest.raises(TooFewRows, match="column 0 does not vary in class `b`"):
        GaussianNB(var_smoothing=0).fit([[1.0], [2.0], [5.0]], ["a", "a", "b"])


def test_a_number_that_has_no_density_anywhere_is_refused():
    model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    with pytest.raises(InputError, match=r"row 1 has 1e\+200 in column 0"):
        model.predict([[1.0], [1e200]])


def test_the_learner_makes_the_same_model(numbers):
    X, y = numbers
    ours = GaussianNB(priors=[0.1, 0.2, 0.3, 0.4], var_smoothing=1e-12).fit(X, y)
    model = textodds.train(X, [str(label) for label in y], learner=ours)
    np.testing.assert_allclose(ours.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-6, atol=1e-9)
    assert GaussianNB(var_smoothing=0.5).learner().smoothing == 0.5


def test_a_learner_has_priors_by_the_names_that_train_gives_the_classes(numbers):
    X, y = numbers[0], (numbers[1] > 0).tolist()
    for kind in (GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        estimator = kind(priors=[0.3, 0.7]).fit(X, y)
        assert estimator.learner().prior == {"false": 0.3, "true": 0.7}
        model = textodds.train(X, y, learner=estimator)
        assert model.class_names == ("false", "true")
        assert model.classes_ == (False, True)


def test_a_learner_with_priors_needs_the_classes():
    with pytest.raises(InputError, match="not known before"):
        GaussianNB(priors=[0.5, 0.5]).learner()


@pytest.mark.realdata
def test_weight_and_height_tell_gender_in_88_30_percent_as_with_scikit_learn(table_data):
    (X, y), (Z, truth) = table_data("tab_weight_height")
    X, Z = X.astype(float), Z.astype(float)
    model = GaussianNB().fit(X, y)
    assert round(100 * model.score(Z, truth), 2) == 88.30
    theirs = naive_bayes.GaussianNB().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(Z), theirs.predict_proba(Z), rtol=1e-8)
