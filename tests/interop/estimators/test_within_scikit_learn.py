"""The estimators where scikit-learn uses estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from in_batches import learn_on
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from pairs import in_turn
from textodds.interop.estimators import (
    CategoricalNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

NUMBERS = [GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]


def binned(kind):
    cut = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return make_pipeline(cut, kind())


PIPELINES = [make_pipeline(StandardScaler(), kind()) for kind in NUMBERS] + [
    binned(CategoricalNB),
    binned(JointTable),
]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=str)
def test_a_pipeline_predicts_better_than_chance_in_cross_validation(numbers, pipeline):
    X, y = numbers
    assert cross_val_score(pipeline, X, y, cv=4).min() > 0.5  # the largest class has 0.4


@pytest.mark.parametrize("pipeline", PIPELINES, ids=str)
def test_it_can_be_calibrated_by_scikit_learn(numbers, pipeline):
    X, y = numbers
    P = CalibratedClassifierCV(pipeline, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    assert (P.argmax(axis=1) == y).mean() > 0.5


@pytest.mark.parametrize(
    ("kind", "grid"),
    [
        (GaussianNB, {"var_smoothing": [1e-9, 1.0]}),
        (LinearDiscriminantAnalysis, {"shrinkage": [None, "auto", "oas", "likelihood", 0.99]}),
        (QuadraticDiscriminantAnalysis, {"shrinkage": [0.0, 0.99], "pooling": [0.0, 0.5]}),
    ],
)
def test_a_grid_search_finds_the_best_choices(numbers, kind, grid):
    X, y = numbers
    search = GridSearchCV(kind(), grid, scoring="neg_log_loss", cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max() > scores.min()
    assert search.best_estimator_.get_params() == kind(**search.best_params_).get_params()


@pytest.mark.parametrize("kind", [*NUMBERS, CategoricalNB, JointTable])
def test_a_pickle_gives_the_same_bits_and_learns_on(numbers, kind):
    X, y = numbers
    X = np.abs(X[:, :4]).round(-1)
    half = learn_on(kind(), X[:300], y[:300])
    other = pickle.loads(pickle.dumps(half))
    for model in (half, other):
        model.partial_fit(X[300:], y[300:])
    again = pickle.loads(pickle.dumps(half))
    np.testing.assert_array_equal(other.predict_log_proba(X), half.predict_log_proba(X))
    np.testing.assert_array_equal(again.predict_log_proba(X), half.predict_log_proba(X))
    assert not hasattr(clone(half), "classes_")


@pytest.mark.parametrize("kind", NUMBERS)
def test_frames_give_what_arrays_give_and_name_their_columns(numbers, kind):
    X, y = numbers
    names = [f"column {v}" for v in range(6)]
    expected = kind().fit(X, y).predict_proba(X)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        model = kind().fit(frame, labels)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-9)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[names[::-1]])


@in_turn(2)
@pytest.mark.parametrize(
    "labels",
    [[3, 10, 200], [-1.0, 0.0, 2.0], ["b", "a", "ä"], [False, True], np.array(["x", "y"], dtype=object)],
    ids=str,
)
@pytest.mark.parametrize("kind", [*NUMBERS, CategoricalNB, JointTable])
def test_labels_keep_their_type_and_order(kind, labels):
    labels = np.asarray(labels)
    y = labels[np.arange(60) % len(labels)]
    X = (np.arange(60) % len(labels) * 10 + np.arange(60) // 20 % 3)[:, None]
    for model in (kind().fit(X, y), learn_on(kind(), X[:30], y[:30]).partial_fit(X[30:], y[30:])):
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        assert model.classes_.dtype == labels.dtype
        assert model.predict(X).dtype == labels.dtype
        np.testing.assert_array_equal(model.predict(X), y)
        columns = [model.classes_.tolist().index(label) for label in y]
        assert (model.predict_proba(X)[np.arange(60), columns] > 0.5).all()


@pytest.mark.parametrize("kind", NUMBERS)
def test_another_number_of_columns_is_refused(numbers, kind):
    X, y = numbers
    model = kind().fit(X, y)
    for call in (lambda: model.predict(X[:, :5]), lambda: model.partial_fit(X[:, :5], y)):
        with pytest.raises(ValueError, match=r"5 features, but .* is expecting 6"):
            call()


def test_weights_are_routed_as_metadata(numbers):
    X, y = numbers
    u = np.where(y == 3, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            GaussianNB().set_fit_request(sample_weight=True),
        )
        pipeline.fit(X, y, sample_weight=u)
    assert pipeline[-1].class_count_[3] == 0
    assert 3 not in pipeline.predict(X)
