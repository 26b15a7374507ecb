"""Every estimator of rows is one by scikit-learn's own suite; those of texts it does not know how to try."""

import re

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pairs import Failures
from textodds.interop.estimators import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    NBSoftmax,
    QuadraticDiscriminantAnalysis,
    SemiSupervisedNB,
    SoftmaxRegression,
)
from textodds.interop.vectorisers import TfidfTransformer

pytestmark = pytest.mark.slow

HELD_OUT = "of sparse rows the shrinkage is chosen on held-out rows: of a row twice, one may be held out"
FRACTIONS = "the check gives fractions as categories; scikit-learn cuts them to 0 silently, ours are refused"

NO_LABEL = "the check has a class of the label -1, which says that a row has none"
LOOKED_AT = "what suits a column is chosen by rows, of which half are held out: of a row twice, one may be"
LEFT_OUT = "the shrinkage is chosen by leaving out one row at a time: of a row twice, one is left"
PENALTY = "the penalty is chosen on held-out rows: of a row twice, one may be held out"


def unavoidable(estimator):
    """The checks that cannot pass, and why."""
    dense, sparse = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
    if isinstance(estimator, SemiSupervisedNB):
        return {"check_classifiers_classes": NO_LABEL}
    if isinstance(estimator, (CategoricalNB, JointTable)):
        return {dense: FRACTIONS}
    if isinstance(estimator, MixedNB):
        return {dense: LOOKED_AT}
    if isinstance(estimator, NBSoftmax) and estimator.form == "scaled":
        return {}  # the rows of the checks have no zero: whatever the penalty, there is nothing to learn
    if isinstance(estimator, (NBSoftmax, SoftmaxRegression)):
        return {dense: PENALTY, sparse: PENALTY} if estimator.C is estimator.alpha is None else {}
    if not hasattr(estimator, "shrinkage") or estimator.shrinkage in ("auto", "oas"):
        return {}
    return {dense: LEFT_OUT} if estimator.shrinkage == "likelihood" else {sparse: HELD_OUT}


EVERY_CHECK = [
    GaussianNB(),
    MultinomialNB(),
    BernoulliNB(),
    ComplementNB(),
    SemiSupervisedNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    CategoricalNB(),
    JointTable(max_cells=1 << 62),
    MixedNB(),
    SoftmaxRegression(C=1.0),
    NBSoftmax(C=1.0),
    TfidfTransformer(),
]
OTHER_WAYS = [
    MultinomialNB(binary=True),
    BernoulliNB(binarize=None),
    ComplementNB(norm=True),
    ComplementNB(norm=True, transform=True),
    SemiSupervisedNB(weight=0.5, temperature=2.0),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage=0.3),
    LinearDiscriminantAnalysis(shrinkage="likelihood"),
    QuadraticDiscriminantAnalysis(shrinkage="auto"),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(pooling=0.5),
    QuadraticDiscriminantAnalysis(shrinkage="oas"),
    MixedNB(calibrate=False),
    SoftmaxRegression(alpha=0.01, class_weight="balanced", warm_start=True),
    SoftmaxRegression(),
    NBSoftmax(C=1.0, form="centred"),
    NBSoftmax(form="centred"),
    NBSoftmax(),
]
"""The same classes with settings that lead another way through `fit`: what depends on that way is checked."""

OF_THE_WAY = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_invariance",
}


def function_of(check):
    """The name of a check's function."""
    return getattr(check, "func", check).__name__


def named(value):
    """Estimators by their settings, checks by their names."""
    if hasattr(value, "get_params"):
        return re.sub(r"\s", "", str(value))
    return function_of(value) + "".join(
        f"-{key}={given}" for key, given in getattr(value, "keywords", {}).items()
    )


@pytest.fixture(autouse=True)
def _arrays_of_others(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or the check of its arrays is skipped


@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
@pytest.mark.filterwarnings("ignore::textodds.interop.estimators.word_counts.NotBinary")
@pytest.mark.parametrize("estimator", [*EVERY_CHECK, *OTHER_WAYS], ids=named)
def test_scikit_learn_takes_it_for_an_estimator(estimator):
    """Every check of it; with other settings, those that depend on the way through `fit`."""
    has_every, never = any(estimator is each for each in EVERY_CHECK), unavoidable(estimator)
    checks = [check for _, check in estimator_checks_generator(estimator)]
    checks = [check for check in checks if has_every or function_of(check) in OF_THE_WAY]
    assert len(checks) > (40 if has_every else 5)
    with Failures() as failures:
        for check in checks:
            with failures.noted(named(check)):
                if function_of(check) in never:
                    with pytest.raises((AssertionError, ValueError)):
                        check(estimator)
                else:
                    check(estimator)
