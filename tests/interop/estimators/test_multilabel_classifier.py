"""`MultiLabelTextClassifier`: several labels a text where scikit-learn wants an estimator."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

import textodds
from pairs import together
from textodds import MultiLabelTextClassifier
from textodds.errors import InputError, NotLearned, Unsupported
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.text import Weighting

NAMES = np.array(["alpha", "beta", "gamma", "delta"])
TEXTS = ["cheap phone", "phone home", "home at six", "cheap flights home"]
LISTS = [["shop", "phone"], ["phone"], [], ["shop"]]
MATRIX = np.array([[1, 1], [1, 0], [0, 0], [0, 1]])


def mail(n=400, K=4, V=60):
    """Texts of a few words, and which of K labels each has."""
    rng = np.random.default_rng(3)
    Y = rng.random((n, K)) < np.linspace(0.5, 0.15, K)
    own = np.exp(1.2 * rng.normal(size=(K, V)))
    texts = []
    for row in Y:
        rates = 1.0 + own[row].sum(axis=0)
        texts.append(" ".join(f"word{v}" for v in rng.choice(V, rng.integers(3, 12), p=rates / rates.sum())))
    return texts, Y.astype(np.int64)


X, Y = mail()
LABELS = [tuple(NAMES[row.astype(bool)].tolist()) for row in Y]


def fitted(y=None, **how):
    return MultiLabelTextClassifier(**{"learner": "multinomial", **how}).fit(X, Y if y is None else y)


FORMS = {
    "dense": lambda Y: Y,
    "truth": lambda Y: Y.astype(bool),
    "numbers": lambda Y: Y.astype(np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "pandas": lambda Y: pd.DataFrame(Y, columns=NAMES),
    "polars": lambda Y: pl.DataFrame({name: Y[:, k] for k, name in enumerate(NAMES)}),
    "tuples": lambda Y: LABELS,
    "lists": lambda Y: [list(row) for row in LABELS],
    "sets": lambda Y: [set(row) for row in LABELS],
    "array of lists": lambda Y: np.array([*LABELS, None], dtype=object)[:-1],
    "pandas column": lambda Y: pd.Series(LABELS),
    "polars column": lambda Y: pl.Series([list(row) for row in LABELS]),
}


@together
@pytest.mark.parametrize("form", FORMS)
def test_labels_come_in_any_form_and_predictions_in_the_same(form):
    expected = fitted()
    model = fitted(FORMS[form](Y))
    named = {"pandas", "polars"} & {form} or model.form_ == "lists"
    assert sorted(model.classes_.tolist()) == (sorted(NAMES) if named else [0, 1, 2, 3])
    order = [model.classes_.tolist().index(name) for name in NAMES] if named else list(range(4))
    np.testing.assert_allclose(
        model.predict_proba(X)[:, order], expected.predict_proba(X), rtol=0, atol=1e-12
    )
    given = model.predict(X)
    if model.form_ == "lists":
        assert [set(row) for row in given] == [set(NAMES[row]) for row in expected.predict(X).astype(bool)]
    else:
        assert sparse.issparse(given) == form.startswith("cs")
        np.testing.assert_array_equal(
            given.toarray() if sparse.issparse(given) else given, expected.predict(X)
        )


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_without_calibration_probabilities_are_those_of_one_versus_rest(C):
    model = MultiLabelTextClassifier(
        learner=SoftmaxLearner(C=C, tolerance=1e-10), sklearn=True, min_df=1, ngrams=(1, 1), calibrate=False,
        goal="half", weighting=Weighting("log", smooth=True),
    ).fit(X, Y)  # fmt: skip
    theirs = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        OneVsRestClassifier(LogisticRegression(C=C, tol=1e-8, max_iter=1000)),
    ).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))


def test_labels_are_given_where_the_decision_function_is_not_below_zero():
    for goal in ("f1", "macro-f1", "precision=0.6", "recall=0.9", "cost=1:4", "half"):
        model = fitted(goal=goal)
        np.testing.assert_array_equal(model.predict(X), model.decision_function(X) >= 0)
        assert np.isfinite(model.decision_function(X)).all()


def test_the_goal_is_reached_better_by_thresholds_for_it():
    half, best = fitted(goal="half"), fitted(goal="macro-f1")
    assert f1_score(Y, best.predict(X), average="macro") > f1_score(Y, half.predict(X), average="macro")


@pytest.mark.parametrize("weights", [None, np.arange(400) % 3])
def test_score_is_the_subset_accuracy_in_every_form(weights):
    model, of_lists = fitted(), fitted(LABELS)
    expected = accuracy_score(Y, model.predict(X), sample_weight=weights)
    assert model.score(X, Y, weights) == pytest.approx(expected)
    assert model.score(X, sparse.csr_array(Y), weights) == pytest.approx(expected)
    assert of_lists.score(X, LABELS, weights) == pytest.approx(expected)


def test_a_grid_a_pipeline_and_cross_validation_take_it():
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), MultiLabelTextClassifier(learner="multinomial")),
        {"multilabeltextclassifier__learner__alpha": [0.1, 1.0]},
        scoring=["f1_micro", "f1_macro", "roc_auc"],
        refit="f1_micro",
        cv=3,
    ).fit(X, Y)
    assert 0.3 < search.best_score_ < 1
    assert search.predict(X).shape == Y.shape
    scores = cross_val_score(MultiLabelTextClassifier(learner="softmax:C=1"), X, Y, cv=3, scoring="f1_micro")
    assert (scores > 0.3).all()
    assert (
        cross_val_predict(MultiLabelTextClassifier(learner="multinomial"), X, Y, method="predict_proba").shape
        == Y.shape
    )
    lists = np.array([*LABELS, None], dtype=object)[:-1]
    assert (
        cross_val_score(MultiLabelTextClassifier(learner="multinomial"), X, lists, cv=KFold(3)) > 0.1
    ).all()


def test_tags_say_that_it_gives_several_labels():
    model = MultiLabelTextClassifier()
    tags = get_tags(model)
    assert is_classifier(model)
    assert tags.classifier_tags.multi_label
    assert tags.input_tags.string
    assert tags.target_tags.multi_output


def test_parameters_are_read_set_and_cloned():
    model = MultiLabelTextClassifier(learner="softmax", goal="cost=1:2", features="words")
    assert model.get_params()["learner__C"] is None
    model.set_params(learner__C=2.0)
    again = clone(model)
    assert (again.learner.C, again.goal, again.features) == (2.0, "cost=1:2", "words")
    with pytest.raises(NotFittedError):
        again.predict(["a"])
    assert again.fit(X, Y).model_.recipe.learner.C == 2.0


def test_by_default_learner_and_features_are_chosen_as_training_does():
    model = MultiLabelTextClassifier().fit(X, LABELS)
    chosen = textodds.train(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(X), chosen.predict_proba(X))
    assert model.predict(X) == chosen.predict(X)


@pytest.mark.parametrize("form", ["dense", "csr", "tuples"])
def test_pickles_answer_the_same(form):
    model = fitted(FORMS[form](Y))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    given, other = model.predict(X[:20]), again.predict(X[:20])
    assert given == other if form == "tuples" else (given != other).sum() == 0


@pytest.mark.parametrize("form", ["dense", "csr", "tuples"])
def test_batches_add_up_to_the_whole_and_can_be_taken_back(form):
    make = FORMS[form]
    learner = MultinomialLearner(1.0)
    every = make(Y) if form != "tuples" else LABELS
    whole = fitted(every, learner=learner)
    parts = MultiLabelTextClassifier(learner=learner)
    for first in range(0, 400, 100):
        parts.partial_fit(X[first : first + 100], every[first : first + 100])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(parts.model_.thresholds, whole.model_.thresholds)
    parts.forget(X[300:], every[300:])
    left = MultiLabelTextClassifier(learner=learner).fit(X[:300], every[:300])
    np.testing.assert_allclose(parts.predict_proba(X), left.predict_proba(X), rtol=0, atol=1e-12)


def test_labels_come_later_and_may_be_declared():
    model = MultiLabelTextClassifier(learner="multinomial").partial_fit(TEXTS, LISTS)
    model.partial_fit(["a train at six"], [["travel"]])
    assert model.classes_.tolist() == ["phone", "shop", "travel"]
    named = MultiLabelTextClassifier(learner="multinomial")
    named.partial_fit(TEXTS, LISTS, classes=["phone", "shop", "travel"])
    p = named.predict_proba(["a train"])
    assert p.shape == (1, 3)
    assert p[0, 2] < 0.15
    assert "travel" not in named.predict(["a train"])[0]


def test_a_column_without_a_one_is_never_given():
    matrix = np.hstack([MATRIX, np.zeros((4, 1), int)])
    model = MultiLabelTextClassifier(learner="multinomial").fit(TEXTS, matrix)
    assert model.predict(TEXTS).shape == (4, 3)
    assert not model.predict(TEXTS)[:, 2].any()
    assert (model.decision_function(TEXTS)[:, 2] < 0).all()
    assert np.isfinite(model.decision_function(TEXTS)).all()


def test_columns_keep_the_order_of_the_matrix_beyond_ten():
    wide = np.random.default_rng(0).random((400, 12)) < 0.3
    model = fitted(wide)
    assert model.model_.class_names[:3] == ("0", "1", "10")
    by_name = model.model_.predict_proba(X)
    place = [model.model_.class_names.index(str(k)) for k in range(12)]
    np.testing.assert_array_equal(model.predict_proba(X), by_name[:, place])


def test_labels_that_are_numbers_stay_numbers():
    model = MultiLabelTextClassifier(learner="multinomial").fit(TEXTS, [[7, 10], [7], [], [10]])
    assert model.classes_.tolist() == [7, 10]
    assert model.predict(["cheap phone"]) == [(7, 10)]


def test_the_estimator_of_a_model_that_exists_is_fitted():
    model = textodds.train(X, LABELS, learner="multinomial", goal="macro-f1")
    made = MultiLabelTextClassifier.of(model)
    assert made.predict(X[:9]) == model.predict(X[:9])
    assert made.goal == "macro-f1"
    assert clone(made).fit(X, LABELS).predict(X) == model.predict(X)
    with pytest.raises(InputError, match="not a model of several labels"):
        MultiLabelTextClassifier.of(textodds.train(TEXTS, ["a", "b", "a", "b"]))


def test_an_explanation_is_of_one_label():
    model = MultiLabelTextClassifier(learner="multinomial").fit(TEXTS, LISTS)
    assert "phone" in str(model.explain("cheap phone", "phone"))


def test_weights_count_as_rows():
    twice = np.where(np.arange(400) < 100, 2.0, 1.0)
    learner = MultinomialLearner(1.0)
    some = MultiLabelTextClassifier(learner=learner, calibrate=False).fit(X, Y, sample_weight=twice)
    rows = MultiLabelTextClassifier(learner=learner, calibrate=False).fit(
        X + X[:100], np.vstack([Y, Y[:100]])
    )
    np.testing.assert_allclose(some.predict_proba(X), rows.predict_proba(X), rtol=0, atol=1e-12)


@together
@pytest.mark.parametrize(
    ("y", "said"),
    [
        (None, "requires y"),
        (["a", "b", "a", "b"], "row 0 of y is 'a', not a list of labels"),
        ([["a"], ["b"], "c", []], "row 2 of y is 'c'"),
        ([["a"], [1], [], []], "mixed types"),
        (np.array([[0, 1], [2, 0], [0, 0], [1, 1]]), "row 1 of the indicator matrix has 2 in column 0"),
        (np.array([["a", "b"]] * 4), "zeros and ones"),
        (MATRIX.tolist(), "lists of zeros and ones"),
        ("abcd", "expected the labels of texts, got a str"),
        (LISTS[:3], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(y, said):
    with pytest.raises(ValueError, match=said):
        MultiLabelTextClassifier(learner="multinomial").fit(TEXTS, y)


def test_batches_must_have_labels_in_the_same_form():
    model = MultiLabelTextClassifier(learner="multinomial").partial_fit(TEXTS, MATRIX)
    with pytest.raises(
        InputError, match="an indicator matrix of 2 columns before, and is lists of labels now"
    ):
        model.partial_fit(TEXTS, LISTS)
    with pytest.raises(InputError, match="a matrix of 3"):
        model.partial_fit(TEXTS, np.zeros((4, 3)))
    with pytest.raises(NotLearned):
        model.forget(["never seen"], MATRIX[:1])


def test_what_cannot_learn_in_batches_says_so():
    for learner in ("auto", "softmax"):
        with pytest.raises((AttributeError, Unsupported)):
            MultiLabelTextClassifier(learner=learner).partial_fit(TEXTS, LISTS)
    with pytest.raises(Unsupported, match="one label a text"):
        MultiLabelTextClassifier(learner="bernoulli").fit(TEXTS, LISTS)
    with pytest.raises(InputError, match="goal"):
        MultiLabelTextClassifier(goal="f2").fit(TEXTS, LISTS)
