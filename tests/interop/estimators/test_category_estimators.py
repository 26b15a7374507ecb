"""`CategoricalNB` and `JointTable`: scikit-learn's numbers, any categories, exact batches."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from in_batches import learn_on
from sklearn import naive_bayes
from sklearn.preprocessing import OrdinalEncoder

import textodds
from pairs import together
from textodds.errors import InputError, NoData, Unsupported
from textodds.interop.estimators import CategoricalNB, JointTable

KINDS = [CategoricalNB, JointTable]
SKY = {"sky": ["sun", "sun", "rain", None, "rain", "fog"], "wind": [1, 2, 2, 1, 1, 2]}
PLAY = ["yes", "yes", "no", "yes", "no", "no"]


@pytest.mark.parametrize(
    "choices", [{}, {"alpha": 0.1}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}]
)
def test_the_numbers_are_those_of_scikit_learn(categories, choices):
    X, y = categories
    for u in (None, np.random.default_rng(0).integers(0, 5, len(y)) / 4):
        ours, theirs = (
            CategoricalNB(**choices).fit(X, y, u),
            naive_bayes.CategoricalNB(**choices).fit(X, y, u),
        )
        for name in ("class_count_", "class_log_prior_", "n_categories_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
        for name in ("category_count_", "feature_log_prob_"):
            for mine, other in zip(getattr(ours, name), getattr(theirs, name), strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-10)
        for method in ("predict_joint_log_proba", "predict_proba"):
            np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-10)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("least", [1, 13, [2, 3, 15, 9]])
def test_with_min_categories_the_numbers_are_those_of_scikit_learn_whatever_the_gaps(categories, least):
    X, y = categories
    X = X[X[:, 2] != 7] + [0, 2, 0, 5]  # a column without 7, two that do not begin with 0
    y = y[: len(X)]
    ours = CategoricalNB(min_categories=least).fit(X, y)
    theirs = naive_bayes.CategoricalNB(min_categories=least).fit(X, y)
    np.testing.assert_array_equal(ours.n_categories_, theirs.n_categories_)
    assert [names.tolist() for names in ours.categories_] == [
        [str(c) for c in range(C)] for C in theirs.n_categories_
    ]
    for mine, other in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-10)


def test_in_batches_min_categories_is_as_at_once(categories):
    X, y = categories
    model = CategoricalNB(min_categories=20)
    for part in np.array_split(np.argsort(X[:, 2]), 5):
        learn_on(model, X[part], y[part])
    np.testing.assert_array_equal(model.log_joint(X), CategoricalNB(min_categories=20).fit(X, y).log_joint(X))


@together
@pytest.mark.parametrize(
    ("least", "message"),
    [
        ([2, 2], r"'min_categories' should have shape \(1,\) .* Got \(2,\) instead"),
        (1.5, "'min_categories' should have integral type"),
        (0, "'min_categories' should be 1 or more. Got 0"),
        (10**12, "1,000,000,000,000 categories"),
    ],
)
def test_min_categories_that_cannot_be_are_refused(least, message):
    with pytest.raises(InputError, match=message):
        CategoricalNB(min_categories=least).fit([[0], [1]], [0, 1])


def test_min_categories_of_text_are_refused():
    with pytest.raises(
        InputError, match="column `x0` has the category `rain`: `min_categories` is of numbers"
    ):
        CategoricalNB(min_categories=3).fit([["sun"], ["rain"]], [0, 1])


def test_without_force_alpha_a_smoothing_near_zero_is_raised_and_a_warning_says_so(categories):
    X, y = categories
    with pytest.warns(UserWarning, match=r"setting alpha = 1.0e-10"):
        raised = CategoricalNB(alpha=0, force_alpha=False).fit(X, y)
    np.testing.assert_array_equal(raised.log_joint(X), CategoricalNB(alpha=1e-10).fit(X, y).log_joint(X))
    CategoricalNB(alpha=0).fit(X, y)  # without a warning


@pytest.mark.parametrize("kind", KINDS)
def test_text_and_numbers_give_the_same(categories, kind):
    X, y = categories
    numbers = kind().fit(X, y).log_joint(X)
    np.testing.assert_array_equal(kind().fit(X.astype(str), y).log_joint(X.astype(str)), numbers)
    np.testing.assert_array_equal(kind().fit(X.astype(float), y).log_joint(X.tolist()), numbers)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_equal_the_whole_bit_for_bit(categories, kind):
    X, y = categories
    order = np.argsort(X[:, 2] + 20 * y, kind="stable")  # classes and categories come one after another
    model = kind()
    for part in np.array_split(order, 7):
        learn_on(model, X[part], y[part])
    whole = kind().fit(X, y)
    assert model.statistics_ == whole.statistics_
    np.testing.assert_array_equal(model.log_joint(X), whole.log_joint(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_a_row_twice(categories, kind):
    X, y = categories
    u = np.arange(len(y)) % 3
    assert kind().fit(X, y, u).statistics_ == kind().fit(X.repeat(u, axis=0), y.repeat(u)).statistics_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backoff", ["independent", "uniform"])
def test_the_density_sums_to_one_over_all_combinations(categories, kind, backoff):
    X, y = categories
    model = kind(**({"backoff": backoff} if kind is JointTable else {})).fit(X, y)
    cells = list(itertools.product(range(2), range(3), range(12), range(4)))
    assert np.exp(model.log_density(cells)).sum() == pytest.approx(1, abs=1e-10)
    each = np.exp(model.log_joint(cells)).sum(axis=0)
    np.testing.assert_allclose(each, np.exp(model.class_log_prior_), rtol=1e-10)


def test_the_table_counts_its_cells(categories):
    model = JointTable().fit(*categories)
    assert model.n_cells_ == 2 * 3 * 12 * 4
    assert model.n_categories_.tolist() == [2, 3, 12, 4]
    with pytest.raises(InputError, match="288 cells, and 100 are allowed"):
        JointTable(max_cells=100).fit(*categories)


def test_the_table_of_one_column_with_an_even_backoff_is_laplace():
    model = JointTable(backoff="uniform").fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 0, 1])
    np.testing.assert_allclose(np.exp(model.log_joint([["a"]])), [[0.75 * 3 / 5, 0.25 * 1 / 3]], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_pandas_and_polars_and_rows_give_the_same(kind):
    rows = np.array([SKY["sky"], SKY["wind"]], dtype=object).T
    expected = kind().fit(rows, PLAY).log_joint(rows)
    for frame in (pd.DataFrame(SKY), pl.DataFrame(SKY), pd.DataFrame(SKY).astype({"sky": "category"})):
        model = kind().fit(frame, PLAY)
        assert model.feature_names_in_.tolist() == ["sky", "wind"]
        np.testing.assert_array_equal(model.log_joint(frame), expected)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["wind", "sky"]])
    unnamed = pd.DataFrame(rows, columns=[0, 1])
    np.testing.assert_array_equal(kind().fit(unnamed, PLAY).log_joint(unnamed), expected)


def test_attributes_are_in_the_order_of_the_columns_and_not_of_their_names():
    frame = pd.DataFrame({"z": ["a", "b", "c"], "a": [1, 1, 1]})
    model = CategoricalNB().fit(frame, [0, 1, 1])
    assert model.n_categories_.tolist() == [3, 1]
    assert [names.tolist() for names in model.categories_] == [["a", "b", "c"], ["1"]]
    assert model.category_count_[0].tolist() == [[1, 0, 0], [0, 1, 1]]


def test_a_missing_value_beside_text_is_missing_in_a_list_too():
    model = CategoricalNB().fit([["sun"], [float("nan")], [None], ["rain"]], [0, 0, 1, 1])
    assert model.categories_[0].tolist() == ["rain", "sun"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_category_that_was_not_in_training_says_nothing_or_is_smoothed(kind):
    X, y = [["a"], ["a"], ["b"], ["c"]], [0, 0, 0, 1]
    ignored = kind().fit(X, y)
    np.testing.assert_allclose(ignored.predict_proba([["new"], [None]]), [[0.75, 0.25]] * 2, rtol=1e-12)
    # one more cell: 1 / (3 + 4) against 1 / (1 + 4), and the prior
    smoothed = CategoricalNB(unseen="smooth").fit(X, y)
    expected = np.array([0.75 / 7, 0.25 / 5])
    np.testing.assert_allclose(smoothed.predict_proba([["new"]])[0], expected / expected.sum(), rtol=1e-12)


def test_a_missing_value_may_be_a_category():
    model = CategoricalNB(missing="category").fit([[None], [None], ["a"], ["a"]], [0, 0, 1, 1])
    assert model.predict([[None], ["a"]]).tolist() == [0, 1]
    assert (
        CategoricalNB().fit([[None], [None], ["a"], ["a"]], [0, 0, 1, 1]).predict_proba([[None]])[0, 0] == 0.5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_encoder_did_not_know_is_unseen_in_prediction_and_refused_in_training(kind):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    X = encoder.fit_transform([["a"], ["b"]])
    model = kind().fit(X, [0, 1])
    np.testing.assert_allclose(model.predict_proba(encoder.transform([["c"]])), [[0.5, 0.5]])
    passed = rf"Negative values in data passed to {kind.__name__} \(input X\): row 1 of column `x0` has -1"
    with pytest.raises(InputError, match=passed):
        kind().fit([[0], [-1]], [0, 1])
    kind().fit([["0"], ["-1"]], [0, 1])  # text may say what it likes


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.5], [2.0]], "column `x0`: row 0 has 1.5; numbers as categories are whole"),
        ([["a"], [1]], "mixed types"),
        ([[np.inf], [1.0]], "inf"),
    ],
)
def test_what_is_no_category_is_refused(kind, X, message):
    with pytest.raises(ValueError, match=message):
        kind().fit(X, [0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_and_no_weight_are_refused(kind):
    with pytest.raises(NoData, match="0 samples"):
        kind().fit(pd.DataFrame({"a": []}), [])
    with pytest.raises(NoData, match="weight above zero"):
        kind().fit([["a"], ["b"]], [0, 1], [0, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_another_number_of_columns_is_refused(kind):
    model = kind().fit([["a", "b"], ["b", "a"]], [0, 1])
    for call in (lambda: model.predict([["a"]]), lambda: model.partial_fit([["a"]], [0])):
        with pytest.raises(ValueError, match=r"1 features, but .* is expecting 2"):
            call()
    with pytest.raises(ValueError, match="inconsistent"):
        kind().fit([["a"], ["b"]], [0, 1, 0])


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "choices", [{"alpha": -1}, {"missing": "drop"}, {"unseen": "fail"}, {"class_prior": [1]}]
)
def test_choices_that_cannot_be_are_refused(kind, choices):
    with pytest.raises(InputError):
        kind(**choices).fit([["a"], ["b"]], [0, 1])


@pytest.mark.parametrize(
    "estimator",
    [
        CategoricalNB(alpha=0.5, missing="category", unseen="smooth"),
        CategoricalNB(alpha=0, force_alpha=False, fit_prior=False),
        JointTable(alpha=2.0, backoff="uniform", max_cells=50, fit_prior=False),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:alpha too small")
def test_tables_can_be_trained_on_with_an_estimator_as_learner(estimator):
    table = {name: np.array(column, dtype=str).tolist() for name, column in SKY.items()}
    model = textodds.train(table, PLAY, learner=estimator)
    estimator.fit(pd.DataFrame(table), PLAY)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    got = [[model(row).probabilities[name] for name in estimator.classes_] for row in rows]
    np.testing.assert_allclose(got, estimator.predict_proba(pd.DataFrame(table)), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_learner_has_the_same_prior(kind):
    assert kind().learner().prior == "data"
    assert kind(fit_prior=False).learner().prior == "uniform"
    estimator = kind(class_prior=[0.2, 0.8])
    with pytest.raises(InputError, match="not known before the estimator is fitted"):
        estimator.learner()
    assert estimator.fit([["a"], ["b"]], [True, False]).learner().prior == {"false": 0.2, "true": 0.8}


def test_the_learner_has_no_min_categories():
    with pytest.raises(Unsupported, match="whatever min_categories says"):
        CategoricalNB(min_categories=3).learner()


@pytest.mark.realdata
def test_mushrooms_are_told_apart_as_with_scikit_learn(table_data):
    (X, y), (Z, truth) = table_data("tab_mushroom")
    encoder = OrdinalEncoder(dtype=int).fit(np.vstack([X, Z]))
    for alpha, score in ((1.0, 94.22), (0.01, 98.58)):
        model = CategoricalNB(alpha=alpha).fit(X, y)
        assert round(100 * model.score(Z, truth), 2) == score
        theirs = naive_bayes.CategoricalNB(alpha=alpha).fit(encoder.transform(X), y)
        np.testing.assert_allclose(
            model.predict_log_proba(Z), theirs.predict_log_proba(encoder.transform(Z)), rtol=1e-8, atol=1e-10
        )


@pytest.mark.realdata
def test_a_table_of_a_few_columns_tells_mushrooms_better_than_columns_by_themselves(table_data):
    (X, y), (Z, truth) = table_data("tab_mushroom")
    few = [4, 19, 7, 8]  # odour, spore print, gill size and colour
    table, naive = (kind().fit(X[:, few], y).score(Z[:, few], truth) for kind in (JointTable, CategoricalNB))
    assert table >= naive
    assert table > 0.99
