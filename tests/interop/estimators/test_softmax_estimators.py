"""`SoftmaxRegression` and `NBSoftmax`: the optimum of scikit-learn, proven, of any rows and labels."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import textodds
from pairs import together
from textodds.errors import InputError, NotConverged, Separable, Unsupported
from textodds.interop.estimators import NBSoftmax, SoftmaxRegression
from textodds.learn.softmax import regression

KINDS = [SoftmaxRegression, NBSoftmax]
TIGHT = {"tol": 1e-14, "max_iter": 1000}
FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix, "coo": sparse.coo_array}


@pytest.fixture(autouse=True)
def sparse_rows_stay_sparse(monkeypatch):
    """Or what these tests have would be few enough to be made dense."""
    monkeypatch.setattr("textodds.interop.estimators.softmax_regression.FEW_CELLS", 0)


def words(n=400, V=40, K=3):
    """Counts such as those of texts, and their classes, which overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n)
    rates = rng.gamma(0.5, size=V) * np.exp(0.6 * rng.normal(size=(K, V)))
    return rng.poisson(rates[y] * 20 / rates.sum(axis=1)[y][:, None]).astype(float), y


def theirs(X, y, u=None, **choices):
    return LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000, **choices).fit(X, y, u)


def agree(ours, reference, X):
    assert ours.coef_.shape == reference.coef_.shape
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, reference.intercept_, rtol=0, atol=1e-6)
    for method in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(reference, method)(X), rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), reference.predict(X))


@together
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("K", [2, 3, 9])
def test_the_optimum_is_that_of_scikit_learn(form, K):
    X, y = words(K=K)
    ours = SoftmaxRegression(C=0.7, **TIGHT).fit(FORMS[form](X), y)
    agree(ours, theirs(X, y, C=0.7), FORMS[form](X))
    assert (ours.C_, ours.gap_ <= 1e-14) == (0.7, True)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.3}])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_classes_and_rows_act_as_in_scikit_learn(numbers, class_weight, weighted):
    X, y = numbers
    X = X / X.std(axis=0)
    u = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    choices = {"C": 0.5, "class_weight": class_weight}
    agree(SoftmaxRegression(**choices, **TIGHT).fit(X, y, u), theirs(X, y, u, **choices), X)


def test_alpha_is_a_penalty_per_row():
    X, y = words()
    u = np.full(len(y), 0.5)
    one, other = (
        SoftmaxRegression(**choice, **TIGHT).fit(X, y, u) for choice in ({"alpha": 0.01}, {"C": 0.5})
    )
    assert abs(one.C_ - 0.5) < 1e-12
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_penalty_that_is_not_given_is_chosen_as_in_the_core(kind):
    X, y = words()
    model = kind().fit(sparse.csr_array(X), y)
    core = kind().learner().fit(sparse.csr_array(X), y.astype(str))
    assert model.C_ == core.C
    np.testing.assert_allclose(model.predict_log_proba(X), core.model.log_posterior(X), rtol=1e-9)
    given = kind(C=model.C_).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(given.predict_proba(X), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_gap_is_within_what_was_asked_and_bounds_the_true_one(form):
    X, y = words(K=4)
    targets = y[:, None] == np.arange(4)

    def value(model):
        return 0.5 * (model.coef_**2).sum() - model.C_ * (model.predict_log_proba(X) * targets).sum()

    least = value(SoftmaxRegression(C=2.0, **TIGHT).fit(FORMS[form](X), y))
    for tol in (1e-2, 1e-4, 1e-6):
        model = SoftmaxRegression(C=2.0, tol=tol).fit(FORMS[form](X), y)
        assert 0 <= 1 - least / value(model) <= model.gap_ <= tol


def test_stopping_early_is_said_with_the_warning_of_scikit_learn_and_ours():
    X, y = words()
    with pytest.warns(ConvergenceWarning, match=r"not converged .* raise max_iter or tol") as caught:
        model = SoftmaxRegression(C=100.0, tol=1e-10, max_iter=1).fit(sparse.csr_array(X), y)
    assert [issubclass(each.category, NotConverged) for each in caught] == [True]
    assert caught[0].filename == __file__
    assert model.gap_ > 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SoftmaxRegression(C=100.0, tol=1e-10, max_iter=1).fit(sparse.csr_array(X), y)


def test_without_a_penalty_there_is_a_maximum_or_a_refusal():
    X = [[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0]]
    y = [0, 0, 0, 1, 0, 0, 1, 1, 1, 1]
    model = SoftmaxRegression(C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(np.exp(model.coef_), [[(4 / 2) / (1 / 3)]], rtol=1e-6)
    assert model.gap_ is None
    with pytest.raises(Separable, match="linearly separable"):
        SoftmaxRegression(C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 0, 1])


def test_a_warm_start_begins_where_the_last_fit_ended():
    for form in (np.asarray, sparse.csr_array):
        X, y = form(words()[0]), words()[1]
        cold = SoftmaxRegression(C=1.0, tol=1e-9).fit(X, y)
        warm = clone(cold).set_params(warm_start=True).fit(X, y)
        np.testing.assert_array_equal(warm.coef_, cold.coef_)
        assert warm.n_iter_[0] > warm.fit(X, y).n_iter_[0]
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)
    with pytest.raises(InputError, match="same classes and features"):
        warm.fit(X[:, :30], y)
    with pytest.raises(InputError, match="same classes and features"):
        warm.fit(X[y < 2], y[y < 2])


def test_two_classes_start_warm_too():
    X, y = words(K=2)
    model = SoftmaxRegression(C=1.0, tol=1e-9, warm_start=True).fit(X, y)
    assert model.n_iter_[0] > model.fit(X, y).n_iter_[0] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_give_what_dense_ones_give(kind):
    X, y = words()
    dense, thin = (kind(C=1.0, **TIGHT).fit(form(X), y) for form in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)


def test_few_sparse_rows_give_the_bits_of_dense_ones(monkeypatch):
    X, y = words()
    monkeypatch.undo()
    dense, few = (SoftmaxRegression(C=1.0).fit(form(X), y) for form in (np.asarray, sparse.csr_array))
    np.testing.assert_array_equal(few.coef_, dense.coef_)


@together
@pytest.mark.parametrize("form", ["scaled", "centred"])
@pytest.mark.parametrize("K", [2, 3])
def test_naive_bayes_is_behind_it_as_in_the_core(form, K):
    X, y = words(K=K)
    model = NBSoftmax(C=0.3, smoothing=0.5, form=form, tol=1e-10).fit(X, y)
    core = regression.NBSoftmaxLearner(C=0.3, smoothing=0.5, form=form, tolerance=1e-10).fit(X, y.astype(str))
    np.testing.assert_allclose(model.predict_log_proba(X), core.model.log_posterior(X), rtol=1e-8, atol=1e-10)
    plain = SoftmaxRegression(C=0.3, tol=1e-10).fit(X, y)
    assert np.abs(model.coef_ - plain.coef_).max() > 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_the_learner_has_the_same_choices_and_trains_on_texts(kind):
    texts, labels = ["free phone", "see you at six", "free prize", "six of us"] * 5, [1, 0, 1, 0] * 5
    estimator = kind(C=2.0, class_weight={1: 3.0}, tol=1e-7, max_iter=77)
    learner = estimator.learner()
    assert learner == getattr(
        regression, {"SoftmaxRegression": "SoftmaxLearner", "NBSoftmax": "NBSoftmaxLearner"}[kind.__name__]
    )(C=2.0, class_weight={"1": 3.0}, tolerance=1e-7, max_epochs=77)
    one, other = (textodds.train(texts, labels, learner=each) for each in (estimator, learner))
    assert one.recipe == other.recipe
    np.testing.assert_array_equal(one.score(texts)[0], other.score(texts)[0])


@together
@pytest.mark.parametrize("labels", [[1, 2], [1.0, 2.0], [True, False], ["a", "b"], [np.int8(3), np.int8(4)]])
def test_class_weights_are_by_label(labels):
    X, codes = words(K=2)
    y = np.array(labels)[codes]
    ours = SoftmaxRegression(C=1.0, class_weight={labels[0]: 5.0}, **TIGHT).fit(X, y)
    agree(ours, theirs(X, y, C=1.0, class_weight={labels[0]: 5.0}), X)


def test_a_class_whose_rows_weigh_nothing_has_probability_zero():
    X, y = words(K=4)
    model = SoftmaxRegression(C=1.0, class_weight={2: 5.0, 0: 2.0}).fit(X, y, np.where(y == 2, 0.0, 1.0))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    P = model.predict_proba(X)
    np.testing.assert_array_equal(P[:, 2], 0)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert set(model.predict(X)) == {0, 1, 3}
    assert (model.predict_log_proba(X)[:, 2] == -np.inf).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_class_is_refused_by_name(kind):
    X, y = words(K=2)
    with pytest.raises(InputError, match="one class, `1`"):
        kind().fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="one class, `1`"):
        kind().fit(X, y, y)


@pytest.mark.parametrize("K", [2, 3, 9])
def test_small_numbers_in_give_large_numbers_out(K):
    X, y = words(K=K)
    for form in (np.asarray, sparse.csr_array):
        model = SoftmaxRegression(C=1.0).fit(form(X.astype(np.float32)), y)
        expected = SoftmaxRegression(C=1.0).fit(form(X), y)
        assert model.coef_.dtype == model.predict_proba(form(X.astype(np.float32))).dtype == np.float64
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        for kind in (np.float32, np.int64, bool):
            some = X.astype(kind)
            np.testing.assert_allclose(
                model.decision_function(form(some)), model.decision_function(some.astype(float)), atol=1e-9
            )


def test_rows_with_wide_indices_are_taken():
    X, y = words()
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model = SoftmaxRegression(C=1.0).fit(wide, y)
    np.testing.assert_allclose(model.predict_proba(wide), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_a_small_probability_keeps_its_digits(K):
    X = np.linspace(-1, 1, 60)[:, None]
    y = np.digitize(X[:, 0], [0.0] if K == 2 else [-0.3, 0.3])
    model = SoftmaxRegression(C=10.0).fit(X, y)
    P, L = model.predict_proba([[30.0], [-30.0]]), model.predict_log_proba([[30.0], [-30.0]])
    assert 0 < P[0, 0] < 1e-16
    np.testing.assert_allclose(np.log(P), L, rtol=1e-9, atol=1e-12)
    P = model.predict_proba([[1e5], [-1e5]])
    np.testing.assert_array_equal(P, np.eye(K)[[K - 1, 0]])


@together
@pytest.mark.parametrize(
    "labels",
    [[3, 10, 200], [-1.0, 0.0, 2.0], ["b", "a", "ä"], [False, True], np.array(["x", "y"], dtype=object)],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_keep_their_type_and_order(kind, labels):
    labels = np.asarray(labels)
    codes = np.arange(60) % len(labels)
    X, y = np.eye(len(labels))[codes] * (1 + np.arange(60) // 20 % 3)[:, None], labels[codes]
    model = kind(C=1.0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(X), y)
    columns = [model.classes_.tolist().index(label) for label in y]
    assert (model.predict_proba(X)[np.arange(60), columns] > 0.5).all()


@pytest.mark.parametrize("kind", KINDS)
def test_frames_give_what_arrays_give_and_name_their_columns(numbers, kind):
    X, y = numbers
    names = [f"column {v}" for v in range(6)]
    expected = kind(C=1.0).fit(X, y).predict_proba(X)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        model = kind(C=1.0).fit(frame, labels)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-9)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"5 features, but .* is expecting 6"):
        kind(C=1.0).fit(X, y).predict(X[:, :5])


@pytest.mark.parametrize("kind", KINDS)
def test_it_stands_where_scikit_learn_uses_estimators(kind):
    X, y = words(K=2)
    X = sparse.csr_array(X)
    assert cross_val_score(make_pipeline(StandardScaler(with_mean=False), kind(C=1e-3)), X, y).min() > 0.7
    search = GridSearchCV(kind(), {"C": [1e-6, 1.0, None]}, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ != {"C": 1e-6}
    P = CalibratedClassifierCV(kind(C=1.0), cv=3).fit(X, y).predict_proba(X)
    assert (P.argmax(axis=1) == y).mean() > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(kind(C=1.0).set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert pipeline.predict_proba(X)[:, 1].sum() > kind(C=1.0).fit(X, y).predict_proba(X)[:, 1].sum() + 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_gives_the_same_bits_and_holds_no_rows(kind):
    X, y = words(n=4000)
    model = kind(C=1.0).fit(X, y)
    file = pickle.dumps(model)
    assert len(file) < 3 * 40 * 8 + 2000
    np.testing.assert_array_equal(pickle.loads(file).predict_proba(X), model.predict_proba(X))
    assert not hasattr(clone(model), "coef_")


@together
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"C": -1.0}, "C must be zero or more"),
        ({"C": 1.0, "alpha": 1.0}, "set the same penalty"),
        ({"tol": 0.0}, "tol must be between 0 and 1"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"class_weight": "even"}, "unknown class weight"),
        ({"class_weight": {7: 1.0}}, "no class `7`"),
        ({"class_weight": {(7,): 1.0}}, "class_weight: label is"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_choices_that_cannot_be_are_refused_when_it_is_fitted(kind, choices, message):
    X, y = words()
    model = kind(**choices)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_the_form_of_naive_bayes_must_be_one():
    with pytest.raises(InputError, match=r"unknown form `center`"):
        NBSoftmax(form="center").fit(*words())


@pytest.mark.realdata
def test_real_texts_have_the_weights_of_scikit_learn(real_data):
    (texts, y), (new, truth) = real_data("sms_spam")
    vectorizer = TfidfVectorizer().fit(texts)
    X, Z = vectorizer.transform(texts), vectorizer.transform(new)
    ours = SoftmaxRegression(C=1.0, **TIGHT).fit(X, y)
    reference = LogisticRegression(C=1.0, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(Z), reference.predict_proba(Z), rtol=0, atol=1e-6)
    assert SoftmaxRegression().fit(X, y).score(Z, truth) > ours.score(Z, truth)  # a better C than 1


def bare(K=2, seed=4):
    """Rows whose classes overlap, so that there is an optimum without a penalty, and labels that are text."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 3))
    scores = X @ random.normal(size=(3, K)) + random.gumbel(size=(300, K))
    return X, np.array(["eggs", "ham", "spam"])[scores.argmax(axis=1)]


@together
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        SoftmaxRegression(C=1.0),
        SoftmaxRegression(C=np.inf, tol=1e-8),
        NBSoftmax(C=1.0),
        NBSoftmax(C=1.0, form="centred"),
    ],
    ids=str,
)
def test_odds_ratios_are_those_of_the_learner(model, K):
    X, y = bare(K)
    X = np.maximum(X, 0.0)  # naive Bayes asks which are not zero
    fit, label, rival = model.learner().fit(X, y), "ham", "eggs"
    model = clone(model).fit(X, y)
    assert model.odds_ratios(label, rival) == fit.odds_ratios(label, rival)
    some = model.odds_ratios(label, rival, [2, 0], level=0.5)
    assert some == fit.odds_ratios(label, rival, [2, 0], level=0.5)
    assert [ratio.feature for ratio in some] == ["#2", "#0"]


def test_odds_ratios_without_a_penalty_are_those_of_a_table_by_hand():
    """(4 / 2) / (1 / 3) = 6, with Wald's standard error √(1/4 + 1/2 + 1/1 + 1/3)."""
    X = np.repeat([[0.0], [1.0]], [4, 6], axis=0)
    y = np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1])
    (ratio,) = SoftmaxRegression(C=np.inf, tol=1e-9).fit(X, y).odds_ratios(1, 0)
    assert ratio.odds_ratio == pytest.approx(6, rel=1e-6)
    assert ratio.standard_error == pytest.approx(np.sqrt(1 / 4 + 1 / 2 + 1 + 1 / 3), rel=1e-5)


def test_columns_of_odds_ratios_may_have_names():
    X, y = bare()
    model = SoftmaxRegression(C=1.0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    plain = SoftmaxRegression(C=1.0).fit(X, y).odds_ratios("ham", "eggs", [2, 1])
    named = model.odds_ratios("ham", "eggs", ["c", 1])
    assert [ratio.feature for ratio in named] == ["c", "b"]
    assert [ratio.interval for ratio in named] == [ratio.interval for ratio in plain]
    assert [ratio.feature for ratio in model.odds_ratios("ham", "eggs")] == ["a", "b", "c"]
    for column in ("d", 3, -1):
        with pytest.raises(InputError, match=f"no column {column!r}"):
            model.odds_ratios("ham", "eggs", [column])
    with pytest.raises(InputError, match="no class `hem`; did you mean `ham`"):
        model.odds_ratios("hem", "eggs")


def test_odds_ratios_need_the_rows_which_are_not_pickled():
    X, y = bare()
    model = SoftmaxRegression(C=1.0).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    with pytest.raises(Unsupported, match="not pickled") as caught:
        back.odds_ratios("ham", "eggs")
    assert caught.value.hint == "fit it again"
    assert back.fit(X, y).odds_ratios("ham", "eggs") == model.odds_ratios("ham", "eggs")


@together
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "how", [{"epochs": 300}, {"epochs": 60, "batch": 16, "momentum": 0.5, "decay": 1.0}], ids=str
)
def test_a_published_descent_is_the_learners_with_its_curve(K, how):
    X, y = bare(K)
    descent = textodds.Descent(rate=0.5, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = SoftmaxRegression(C=1.0, descent=descent).fit(X, y)
        fit = regression.SoftmaxLearner(C=1.0, descent=descent).fit(X, y)
    assert model.learner().descent == descent
    assert model.loss_curve_ == fit.outcome.curve
    assert len(model.loss_curve_) == how["epochs"] + 1
    np.testing.assert_allclose(model.predict_log_proba(X), fit.model.log_posterior(X), rtol=1e-9, atol=1e-12)
    exact = SoftmaxRegression(C=1.0, tol=1e-9).fit(X, y)
    assert exact.loss_curve_[-1][1] <= min(value for _, value in model.loss_curve_)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=0.02)


def test_a_descent_that_ends_early_says_what_to_do_about_it():
    X, y = bare()
    with pytest.warns(ConvergenceWarning, match="take more epochs, or a smaller rate"):
        SoftmaxRegression(C=1.0, descent=textodds.Descent(rate=0.1, epochs=1)).fit(X, y)
    with pytest.raises(InputError, match="does not choose its penalty"):
        SoftmaxRegression(descent=textodds.Descent(rate=0.1, epochs=1)).fit(X, y)
