"""The learners as scikit-learn estimators.

Here one asks how a learner of `textodds.learn` is fitted to rows rather than texts, inside scikit-learn's
pipelines and grids, and where its numbers differ from scikit-learn's. An estimator is the face of a learner:
a dataclass of its parameters, with labels of any type, rows in any container and attributes with a trailing
underscore; the mathematics is the learner's, which `learner()` gives. What the generative ones learn are
statistics that add (``statistics_``), so that `partial_fit` in batches equals `fit` on all rows.

Read `generative` (labels, batches, priors) first, then a family: `count_rows` and `word_counts`; `gaussians`
and `discriminants`; `categories`; then `softmax_regression`. `mixed_table`, and `text_classifier` and
`multilabel_classifier` over `text_estimator`, are faces of whole models. From outside, import the
classes below, from `textodds`.
"""

from textodds.interop.estimators.categories import CategoricalNB, JointTable
from textodds.interop.estimators.discriminants import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from textodds.interop.estimators.gaussians import GaussianNB
from textodds.interop.estimators.mixed_table import MixedNB
from textodds.interop.estimators.multilabel_classifier import MultiLabelTextClassifier
from textodds.interop.estimators.softmax_regression import NBSoftmax, SoftmaxRegression
from textodds.interop.estimators.text_classifier import TextClassifier
from textodds.interop.estimators.word_counts import (
    BernoulliNB,
    ComplementNB,
    MultinomialNB,
    SemiSupervisedNB,
)

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "JointTable",
    "LinearDiscriminantAnalysis",
    "MixedNB",
    "MultiLabelTextClassifier",
    "MultinomialNB",
    "NBSoftmax",
    "QuadraticDiscriminantAnalysis",
    "SemiSupervisedNB",
    "SoftmaxRegression",
    "TextClassifier",
]
