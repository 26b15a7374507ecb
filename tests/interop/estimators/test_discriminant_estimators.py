"""Linear and quadratic discriminant analysis: scikit-learn's numbers, and what it does not do."""

import warnings

import numpy as np
import pytest
from scipy import integrate, linalg, sparse
from scipy.stats import multivariate_normal
from sklearn import discriminant_analysis as reference
from sklearn.covariance import LedoitWolf
from sklearn.preprocessing import StandardScaler

from pairs import pairwise, together
from textodds.errors import InputError, Shrunk, TextoddsWarning, TooFewRows, Unsupported
from textodds.interop.estimators import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from textodds.learn import discriminant
from textodds.learn.design import LabelledRows

PRIORS = [None, [0.1, 0.2, 0.3, 0.4]]


def words(rng, n, V=300, K=3):
    """Sparse rows such as texts, and their classes."""
    y = rng.integers(0, K, n)
    rates = rng.gamma(0.3, size=(K, V))
    X = rng.poisson(rates[y] * 20 / rates.sum(axis=1)[y][:, None])
    return sparse.csr_array(X.astype(float)), y


def agree(ours, theirs, X, names=("coef_", "intercept_", "means_", "priors_")):
    for name in names:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pairwise
@pytest.mark.parametrize("priors", PRIORS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "auto"])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_lda_with_shrinkage_has_the_numbers_of_scikit_learn(numbers, shrinkage, priors, solver):
    X, y = numbers
    ours = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=priors).fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis(solver, shrinkage=shrinkage, priors=priors).fit(X, y)
    agree(ours, theirs, X)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8)


@pytest.mark.parametrize("priors", PRIORS)
def test_lda_without_shrinkage_has_the_numbers_of_scikit_learn(numbers, priors):
    X, y = numbers
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    agree(ours, theirs, X)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(ours.scalings_), np.abs(theirs.scalings_), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-7, atol=1e-8)
    if priors is None:  # else its covariance_ is not the one it uses
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_scores_are_about_the_same_point_as_with_each_solver_of_scikit_learn(numbers, solver):
    X, y = numbers
    ours, theirs = (
        kind(solver).fit(X, y) for kind in (LinearDiscriminantAnalysis, reference.LinearDiscriminantAnalysis)
    )
    agree(ours, theirs, X)
    if solver != "lsqr":
        np.testing.assert_allclose(
            np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("priors", PRIORS)
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_with_an_estimator_of_covariances_the_numbers_are_those_of_scikit_learn(numbers, kind, priors):
    X, y = numbers
    choices = {"solver": "eigen", "priors": priors, "store_covariance": True}
    theirs = getattr(reference, kind.__name__)(covariance_estimator=LedoitWolf(), **choices).fit(X, y)
    ours = kind(covariance_estimator=LedoitWolf(), **choices).fit(X, y)
    agree(ours, theirs, X, ("means_", "priors_"))
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8)
    assert not hasattr(ours.covariance_estimator, "covariance_")  # it is the caller's
    assert not hasattr(ours, "partial_fit")
    with pytest.raises(InputError, match="no weights"):
        ours.fit(X, y, np.ones(len(y)))
    with pytest.raises(Unsupported, match="covariance_estimator"):
        ours.learner()


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum_and_a_warning_says_so(numbers, kind):
    with pytest.warns(TextoddsWarning, match="the priors sum to 2; each was divided by that"):
        model = kind(priors=[0.2, 0.4, 0.6, 0.8]).fit(*numbers)
    np.testing.assert_allclose(model.priors_, [0.1, 0.2, 0.3, 0.4], rtol=1e-12)


def test_qda_has_the_axes_of_scikit_learn(numbers):
    X, y = numbers
    ours, theirs = (
        QuadraticDiscriminantAnalysis().fit(X, y),
        reference.QuadraticDiscriminantAnalysis().fit(X, y),
    )
    for k in range(4):
        np.testing.assert_allclose(ours.scalings_[k], theirs.scalings_[k], rtol=1e-8)
        np.testing.assert_allclose(
            np.abs(ours.rotations_[k]), np.abs(theirs.rotations_[k]), rtol=1e-6, atol=1e-7
        )


def test_lda_of_two_classes_has_the_numbers_of_scikit_learn(numbers):
    X, y = numbers
    y = np.where(y > 1, "yes", "no")
    ours, theirs = LinearDiscriminantAnalysis().fit(X, y), reference.LinearDiscriminantAnalysis().fit(X, y)
    assert ours.coef_.shape == (1, 6)
    agree(ours, theirs, X)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto", "oas", "likelihood"])
def test_directions_solve_fishers_problem(numbers, shrinkage):
    X, y = numbers
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    away = np.sqrt(model.priors_)[:, None] * (model.means_ - model.xbar_)
    values, vectors = linalg.eigh(away.T @ away, model.covariance_)
    np.testing.assert_allclose(np.abs(model.scalings_), np.abs(vectors[:, :-4:-1]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, values[:-4:-1] / values.sum(), rtol=1e-8)
    np.testing.assert_allclose(model.scalings_.T @ model.covariance_ @ model.scalings_, np.eye(3), atol=1e-8)


def test_along_its_directions_the_nearest_mean_is_the_prediction(numbers):
    X, y = numbers
    model = LinearDiscriminantAnalysis(shrinkage=0.4, priors=[0.25] * 4).fit(X, y)
    apart = model.transform(X)[:, None] - model.transform(model.means_)
    np.testing.assert_array_equal((apart**2).sum(axis=2).argmin(axis=1), model.predict(X))


def test_components_are_the_first_directions_and_have_names(numbers):
    X, y = numbers
    model, whole = (
        LinearDiscriminantAnalysis(n_components=2).fit(X, y),
        LinearDiscriminantAnalysis().fit(X, y),
    )
    np.testing.assert_array_equal(model.transform(X), whole.transform(X)[:, :2])
    assert len(model.explained_variance_ratio_) == 2
    assert model.get_feature_names_out().tolist() == [
        "lineardiscriminantanalysis0",
        "lineardiscriminantanalysis1",
    ]
    frame = model.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    with pytest.raises(InputError, match="n_components must be from 1 to 3, got 4"):
        LinearDiscriminantAnalysis(n_components=4).fit(X, y)


@pytest.mark.parametrize("priors", PRIORS)
@pytest.mark.parametrize(
    ("choices", "theirs"),
    [
        ({}, {}),
        ({"reg_param": 0.3}, {"reg_param": 0.3}),
        ({"shrinkage": 0.3}, {"solver": "eigen", "shrinkage": 0.3}),
        ({"shrinkage": "auto"}, {"solver": "eigen", "shrinkage": "auto"}),
    ],
)
def test_qda_has_the_numbers_of_scikit_learn(numbers, choices, theirs, priors):
    X, y = numbers
    ours = QuadraticDiscriminantAnalysis(**choices, priors=priors).fit(X, y)
    other = reference.QuadraticDiscriminantAnalysis(**theirs, priors=priors, store_covariance=True).fit(X, y)
    agree(ours, other, X, ("means_", "priors_"))
    np.testing.assert_allclose(ours.covariance_, other.covariance_, rtol=1e-8, atol=1e-8)
    two = y < 2
    ours, other = (
        ours.set_params(priors=None).fit(X[two], y[two]),
        other.set_params(priors=None).fit(X[two], y[two]),
    )
    agree(ours, other, X, ())


def test_qda_pooled_all_the_way_is_lda(numbers):
    X, y = numbers
    pooled = QuadraticDiscriminantAnalysis(pooling=1.0).fit(X, y)
    np.testing.assert_allclose(
        pooled.predict_proba(X), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), rtol=1e-6
    )


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "oas"])
def test_batches_equal_the_whole(numbers, kind, shrinkage):
    X, y = numbers
    order = np.argsort(y, kind="stable")  # classes come one after another
    model = kind(shrinkage=shrinkage)
    for part in np.array_split(order, 9):
        model.partial_fit(X[part], y[part])
    np.testing.assert_allclose(
        model.log_joint(X), kind(shrinkage=shrinkage).fit(X, y).log_joint(X), rtol=1e-8
    )
    np.testing.assert_allclose(
        model.decision_function(X),
        kind(shrinkage=shrinkage).fit(X, y).decision_function(X),
        rtol=1e-7,
        atol=1e-7,
    )


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("shrinkage", ["auto", "likelihood"])
def test_what_is_chosen_from_all_rows_is_not_learned_in_batches(kind, shrinkage):
    assert not hasattr(kind(shrinkage=shrinkage), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        _ = kind(shrinkage=shrinkage).partial_fit
    assert isinstance(caught.value.__cause__, Unsupported)
    assert "all rows at once" in str(caught.value.__cause__)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "oas", "auto"])
def test_a_weight_of_two_is_a_row_twice(numbers, kind, shrinkage):
    X, y = numbers
    u = np.arange(len(y)) % 3
    weighted = kind(shrinkage=shrinkage).fit(X, y, u)
    repeated = kind(shrinkage=shrinkage).fit(X.repeat(u, axis=0), y.repeat(u))
    np.testing.assert_allclose(weighted.log_joint(X), repeated.log_joint(X), rtol=1e-8)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_the_joint_density_is_that_of_scipy(numbers, kind):
    X, y = numbers
    model = kind(shrinkage=0.1).fit(X, y)
    covariances = np.broadcast_to(model.covariance_, (4, 6, 6))
    each = [multivariate_normal(m, C).logpdf(X) for m, C in zip(model.means_, covariances, strict=True)]
    joint = np.transpose(each) + np.log(model.priors_)
    np.testing.assert_allclose(model.log_joint(X), joint, rtol=1e-8)
    np.testing.assert_allclose(model.log_density(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_the_density_integrates_to_one():
    rng = np.random.default_rng(2)
    model = QuadraticDiscriminantAnalysis().fit(rng.normal(size=(20, 2)), np.arange(20) % 2)
    grid = np.linspace(-12, 12, 400)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    density = np.exp(model.log_density(points)).reshape(400, 400)
    assert integrate.simpson(integrate.simpson(density, grid), grid) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            LinearDiscriminantAnalysis,
            "12 rows in 2 classes have a covariance of rank 10 over 20 columns",
        ),
        (QuadraticDiscriminantAnalysis, "class `a` has 6 rows, with a covariance of rank 5 over 20 columns"),
    ],
)
def test_with_more_columns_than_rows_a_covariance_is_shrunk_by_oas_and_a_warning_names_the_rank(
    kind, message
):
    X, y = np.random.default_rng(0).normal(size=(12, 20)), ["a", "b"] * 6
    with pytest.warns(Shrunk, match=message):
        model = kind().fit(X, y)
    np.testing.assert_allclose(model.log_joint(X), kind(shrinkage="oas").fit(X, y).log_joint(X), rtol=1e-8)
    with pytest.raises(TooFewRows, match="rank"):
        kind(shrinkage=0.0).fit(X, y)


def test_few_rows_many_times_are_few_rows():
    X, y = np.random.default_rng(0).normal(size=(12, 20)), np.arange(12) % 2
    with pytest.warns(Shrunk, match="rank 10 over 20"):
        LinearDiscriminantAnalysis().fit(np.tile(X, (9, 1)), np.tile(y, 9))


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_columns_that_repeat_or_never_vary_change_nothing(numbers, kind):
    X, y = numbers
    wider = np.hstack([X, X[:, :2] * 1000, np.full((len(X), 1), 7.0)])
    expected = kind().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(kind().fit(wider, y).predict_proba(wider), expected, rtol=1e-4, atol=1e-7)


def test_a_class_of_one_row_has_the_covariance_of_all_and_a_warning_names_it(numbers):
    X, y = numbers
    X, y = np.vstack([X, [[50.0, 0, 0, 0, 0, 0]]]), np.append(y, 9)
    for shrinkage in ("oas", "auto", "likelihood", 0.1):
        with pytest.warns(Shrunk, match="class `9`, of 1 rows, does not vary"):
            model = QuadraticDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
        within = (model.priors_[:4, None, None] * model.covariance_[:4]).sum(axis=0)
        np.testing.assert_allclose(np.diag(model.covariance_[4]).sum(), np.trace(within), rtol=0.05)
        assert model.predict(X[-1:]) == [9]
    lacking = "class `9` has 1 rows, with a covariance of rank 0 over 6 columns"
    with pytest.warns(Shrunk, match="does not vary"), pytest.warns(Shrunk, match=lacking):
        QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(TooFewRows, match="class `9`"):
        QuadraticDiscriminantAnalysis(shrinkage=0.0).fit(X, y)
    assert LinearDiscriminantAnalysis().fit(X, y).predict(X[-1:]) == [9]


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_classes_of_one_row_each_are_refused(kind):
    with pytest.raises(TooFewRows, match="differ"):
        kind().fit(np.eye(4), range(4))


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"shrinkage": "ledoit"}, "unknown shrinkage"),
        ({"shrinkage": 1.5}, "unknown shrinkage 1.5"),
        ({"priors": [0.5, 0.5]}, "2 priors for 4 classes"),
        ({"priors": [0, 0, 0, 0]}, "sum to 0"),
        ({"priors": [1.5, -0.5, 0, 0]}, "non-negative: number 1 is -0.5"),
        ({"solver": "eigne"}, "unknown solver 'eigne'; did you mean `eigen`"),
        ({"shrinkage": 0.1, "covariance_estimator": LedoitWolf()}, "Only one of the two can be set"),
        ({"covariance_estimator": StandardScaler()}, "StandardScaler does not have a covariance_ attribute"),
    ],
)
def test_choices_that_cannot_be_are_refused(numbers, kind, choices, message):
    with pytest.raises(InputError, match=message):
        kind(**choices).fit(*numbers)


def test_choices_of_one_model_that_cannot_be_are_refused(numbers):
    with pytest.raises(InputError, match="tol must be between 0 and 1, got -1"):
        LinearDiscriminantAnalysis(tol=-1).fit(*numbers)
    with pytest.raises(InputError, match="reg_param must be from 0 to 1, got 2"):
        QuadraticDiscriminantAnalysis(reg_param=2).fit(*numbers)
    with pytest.raises(InputError, match="both"):
        QuadraticDiscriminantAnalysis(shrinkage=0.1, reg_param=0.1).fit(*numbers)


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_numbers_are_refused(numbers, kind, value):
    X, y = numbers
    model = kind().fit(X, y)
    X = X.copy()
    X[3, 1] = value
    for call in (lambda: kind().fit(X, y), lambda: model.predict(X), lambda: kind().partial_fit(X, y)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            call()


@together
@pytest.mark.parametrize("shrinkage", [None, 0.5])
@pytest.mark.parametrize(
    ("kind", "core"),
    [
        (LinearDiscriminantAnalysis, discriminant.LinearDiscriminantLearner),
        (QuadraticDiscriminantAnalysis, discriminant.QuadraticDiscriminantLearner),
    ],
)
def test_of_sparse_rows_it_is_the_model_of_the_core(kind, core, shrinkage):
    X, y = words(np.random.default_rng(5), 400)
    model = kind(shrinkage=shrinkage).fit(X, y)
    learner = model.learner()
    assert isinstance(learner, core)
    assert learner.shrinkage == shrinkage
    rows = LabelledRows.of(X, [str(label) for label in y])
    expected = learner.fit_design(None, rows).model.log_posterior(X)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(X.toarray()), expected, rtol=1e-9, atol=1e-9)
    assert not hasattr(model, "covariance_")
    with pytest.raises(Unsupported, match="no density of sparse rows"):
        model.log_density(X)
    with pytest.raises(Unsupported, match="sparse rows"):
        model.partial_fit(X, y)


def test_sparse_rows_told_apart_well_stay_so_along_fishers_directions():
    X, y = words(np.random.default_rng(5), 600)
    model = LinearDiscriminantAnalysis(shrinkage=0.5, tol=1e-8).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9
    dense = LinearDiscriminantAnalysis(shrinkage=0.5).fit(X[:400].toarray(), y[:400])
    np.testing.assert_allclose(model.transform(X), dense.transform(X.toarray()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_model_of_dense_rows_takes_sparse_ones(numbers, kind):
    X, y = numbers
    model = kind().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), model.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_sparse_rows_are_refused_where_a_choice_needs_the_covariance(kind):
    X, y = words(np.random.default_rng(5), 100)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        kind(shrinkage="oas").fit(X, y)


def test_a_first_batch_may_be_too_small_to_predict_from(numbers):
    X, y = numbers
    model = QuadraticDiscriminantAnalysis()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:1], y[:1]).partial_fit(X[1:4], y[1:4]).partial_fit(X[4:], y[4:])
        model.predict(X)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_after_a_fit_that_failed_predictions_fail_for_the_same_reason(numbers, kind):
    model = kind().fit(*numbers)
    for call in (lambda: model.fit(np.eye(4), range(4)), lambda: model.predict(np.eye(4))):
        with pytest.raises(TooFewRows, match="do not differ within any class"):
            call()


@pytest.mark.realdata
def test_weight_and_height_tell_gender_as_with_scikit_learn(table_data):
    (X, y), (Z, truth) = table_data("tab_weight_height")
    X, Z = X.astype(float), Z.astype(float)
    for ours, theirs in (
        (LinearDiscriminantAnalysis(), reference.LinearDiscriminantAnalysis()),
        (QuadraticDiscriminantAnalysis(), reference.QuadraticDiscriminantAnalysis()),
    ):
        agree(ours.fit(X, y), theirs.fit(X, y), Z, ("means_",))
        assert ours.score(Z, truth) > 0.91
