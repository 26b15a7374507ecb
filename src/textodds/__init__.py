"""Every word shifts the odds: probabilistic text classification that adds up.

>>> import textodds
>>> model = textodds.train(["free phone", "see you at six"], ["spam", "ham"])
>>> model("a free offer").label
'spam'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textodds import errors
    from textodds.comparing import Comparison, compare
    from textodds.convert import from_sklearn
    from textodds.estimators import (
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
        SoftmaxRegression,
        TextClassifier,
    )
    from textodds.model import Prediction, TextModel
    from textodds.opening import load
    from textodds.tables import TableModel
    from textodds.tally import Tally
    from textodds.text import TextSettings, Weighting
    from textodds.training import train
    from textodds.vectorisers import (
        CountVectorizer,
        HashingVectorizer,
        TfidfTransformer,
        TfidfVectorizer,
    )

__version__ = "0.1.0"

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "Comparison",
    "ComplementNB",
    "CountVectorizer",
    "GaussianNB",
    "HashingVectorizer",
    "JointTable",
    "LinearDiscriminantAnalysis",
    "MixedNB",
    "MultinomialNB",
    "NBSoftmax",
    "Prediction",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "TableModel",
    "Tally",
    "TextClassifier",
    "TextModel",
    "TextSettings",
    "TfidfTransformer",
    "TfidfVectorizer",
    "Weighting",
    "compare",
    "errors",
    "from_sklearn",
    "load",
    "train",
]

_HOME = {
    "BernoulliNB": "estimators",
    "CategoricalNB": "estimators",
    "Comparison": "comparing",
    "ComplementNB": "estimators",
    "CountVectorizer": "vectorisers",
    "GaussianNB": "estimators",
    "HashingVectorizer": "vectorisers",
    "JointTable": "estimators",
    "LinearDiscriminantAnalysis": "estimators",
    "MixedNB": "estimators",
    "MultinomialNB": "estimators",
    "NBSoftmax": "estimators",
    "Prediction": "model",
    "QuadraticDiscriminantAnalysis": "estimators",
    "SoftmaxRegression": "estimators",
    "TableModel": "tables",
    "Tally": "tally",
    "TextClassifier": "estimators",
    "TextModel": "model",
    "TextSettings": "text",
    "TfidfTransformer": "vectorisers",
    "TfidfVectorizer": "vectorisers",
    "Weighting": "text",
    "compare": "comparing",
    "from_sklearn": "convert",
    "load": "opening",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first wanted: `import textodds` itself costs nothing."""
    if name == "errors":
        return import_module("textodds.errors")
    if name not in _HOME:
        raise AttributeError(f"module 'textodds' has no attribute {name!r}")
    value = getattr(import_module(f"textodds.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
