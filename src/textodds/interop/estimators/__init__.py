"""The models as scikit-learn estimators.

A thin face: labels of any type, rows in any container, attributes with a trailing underscore. What is
learned lives in the core: of the generative models as statistics that add (``statistics_``), so that
`partial_fit` in batches equals `fit` on all rows.
"""

from textodds.interop.estimators.bernoulli import BernoulliNB
from textodds.interop.estimators.categorical import CategoricalNB
from textodds.interop.estimators.complement import ComplementNB
from textodds.interop.estimators.gaussian import GaussianNB
from textodds.interop.estimators.linear_discriminant import LinearDiscriminantAnalysis
from textodds.interop.estimators.mixed import MixedNB
from textodds.interop.estimators.multinomial import MultinomialNB
from textodds.interop.estimators.quadratic_discriminant import QuadraticDiscriminantAnalysis
from textodds.interop.estimators.softmax import NBSoftmax, SoftmaxRegression
from textodds.interop.estimators.table import JointTable
from textodds.interop.estimators.text import TextClassifier

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "JointTable",
    "LinearDiscriminantAnalysis",
    "MixedNB",
    "MultinomialNB",
    "NBSoftmax",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "TextClassifier",
]
