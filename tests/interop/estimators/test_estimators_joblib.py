"""Estimators and vectorisers go through joblib: into files, and to other processes."""

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from scipy import sparse

import textodds

TEXTS = [f"free phone {i % 7}" for i in range(30)] + [f"see you at {i % 5}" for i in range(30)]
LABELS = np.array(["spam"] * 30 + ["ham"] * 30)
COUNTS = sparse.csr_matrix(textodds.CountVectorizer().fit_transform(TEXTS))
NUMBERS = np.random.default_rng(4).normal(size=(60, 3)) + (LABELS == "spam")[:, None]
CODES = (NUMBERS > 0.5).astype(int)

FITTED = {
    "TextClassifier": (textodds.TextClassifier(learner="multinomial"), TEXTS),
    **{
        kind.__name__: (kind(), COUNTS)
        for kind in (
            textodds.MultinomialNB,
            textodds.BernoulliNB,
            textodds.ComplementNB,
            textodds.SoftmaxRegression,
            textodds.NBSoftmax,
            textodds.SemiSupervisedNB,
        )
    },
    **{kind.__name__: (kind(), CODES) for kind in (textodds.CategoricalNB, textodds.JointTable)},
    **{
        kind.__name__: (kind(), NUMBERS)
        for kind in (
            textodds.GaussianNB,
            textodds.LinearDiscriminantAnalysis,
            textodds.QuadraticDiscriminantAnalysis,
            textodds.MixedNB,
        )
    },
}


@pytest.fixture(scope="module")
def processes():
    yield joblib.Parallel(n_jobs=2)
    get_reusable_executor().shutdown(wait=True)


@pytest.mark.parametrize("name", FITTED)
def test_an_estimator_answers_alike_from_a_file_and_in_other_processes(name, tmp_path, processes):
    estimator, X = FITTED[name]
    fitted = estimator.fit(X, LABELS)
    expected = fitted.predict_proba(X)
    joblib.dump(fitted, tmp_path / "e.joblib")
    loaded = joblib.load(tmp_path / "e.joblib")
    assert np.array_equal(loaded.predict_proba(X), expected)
    for found in processes(joblib.delayed(each.predict_proba)(X) for each in (fitted, loaded)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["CountVectorizer", "HashingVectorizer", "TfidfVectorizer"])
def test_a_vectoriser_counts_alike_in_other_processes(name, processes):
    vectoriser = getattr(textodds, name)().fit(TEXTS)
    expected = vectoriser.transform(TEXTS)
    (found,) = processes([joblib.delayed(vectoriser.transform)(TEXTS)])
    assert abs(found - expected).max() == 0
