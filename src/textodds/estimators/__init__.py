"""The models as scikit-learn estimators.

A thin face: labels of any type, rows in any container, attributes with a trailing underscore. What is
learned lives in the core: of the generative models as statistics that add (``statistics_``), so that
`partial_fit` in batches equals `fit` on all rows.
"""

from textodds.estimators.bernoulli import BernoulliNB
from textodds.estimators.categorical import CategoricalNB
from textodds.estimators.complement import ComplementNB
from textodds.estimators.gaussian import GaussianNB
from textodds.estimators.linear import LinearDiscriminantAnalysis
from textodds.estimators.mixed import MixedNB
from textodds.estimators.multinomial import MultinomialNB
from textodds.estimators.quadratic import QuadraticDiscriminantAnalysis
from textodds.estimators.softmax import NBSoftmax, SoftmaxRegression
from textodds.estimators.table import JointTable
from textodds.estimators.text import TextClassifier

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
