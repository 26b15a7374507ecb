"""The generative models as scikit-learn estimators.

A thin face: labels of any type, rows in any container, attributes with a trailing underscore. What is
learned lives in the core, as statistics that add (``statistics_``), so that `partial_fit` in batches equals
`fit` on all rows.
"""

from textodds.estimators.categorical import CategoricalNB
from textodds.estimators.gaussian import GaussianNB
from textodds.estimators.linear import LinearDiscriminantAnalysis
from textodds.estimators.mixed import MixedNB
from textodds.estimators.quadratic import QuadraticDiscriminantAnalysis
from textodds.estimators.table import JointTable

__all__ = [
    "CategoricalNB",
    "GaussianNB",
    "JointTable",
    "LinearDiscriminantAnalysis",
    "MixedNB",
    "QuadraticDiscriminantAnalysis",
]
