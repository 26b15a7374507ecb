"""Every estimator of rows is one by scikit-learn's own suite; those of texts it does not know how to try."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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


@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
@pytest.mark.filterwarnings("ignore::textodds.interop.estimators.word_counts.NotBinary")
@parametrize_with_checks(
    [
        GaussianNB(),
        MultinomialNB(),
        MultinomialNB(binary=True),
        BernoulliNB(),
        BernoulliNB(binarize=None),
        ComplementNB(),
        ComplementNB(norm=True),
        ComplementNB(norm=True, transform=True),
        SemiSupervisedNB(),
        SemiSupervisedNB(weight=0.5, temperature=2.0),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage="auto"),
        LinearDiscriminantAnalysis(shrinkage=0.3),
        LinearDiscriminantAnalysis(shrinkage="likelihood"),
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(shrinkage="auto"),
        QuadraticDiscriminantAnalysis(reg_param=0.1),
        QuadraticDiscriminantAnalysis(pooling=0.5),
        QuadraticDiscriminantAnalysis(shrinkage="oas"),
        CategoricalNB(),
        JointTable(max_cells=1 << 62),
        MixedNB(),
        MixedNB(calibrate=False),
        SoftmaxRegression(C=1.0),
        SoftmaxRegression(alpha=0.01, class_weight="balanced", warm_start=True),
        SoftmaxRegression(),
        NBSoftmax(C=1.0, form="centred"),
        NBSoftmax(C=1.0),
        NBSoftmax(form="centred"),
        NBSoftmax(),
        TfidfTransformer(),
    ],
    expected_failed_checks=unavoidable,
)
def test_scikit_learn_takes_it_for_an_estimator(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or the check of its arrays is skipped
    check(estimator)
