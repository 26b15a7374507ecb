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
    from textodds.estimators import (
        CategoricalNB,
        GaussianNB,
        JointTable,
        LinearDiscriminantAnalysis,
        MixedNB,
        QuadraticDiscriminantAnalysis,
    )
    from textodds.generative import BernoulliNB, ComplementNB, MultinomialNB
    from textodds.model import Prediction, TextModel
    from textodds.opening import load
    from textodds.softmax import NBSoftmax, SoftmaxRegression
    from textodds.tables import TableModel
    from textodds.tally import Tally
    from textodds.text import TextSettings, Weighting
    from textodds.training import train

__version__ = "0.1.0"

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
    "Prediction",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "TableModel",
    "Tally",
    "TextModel",
    "TextSettings",
    "Weighting",
    "errors",
    "load",
    "train",
]

_HOME = {
    "BernoulliNB": "generative",
    "CategoricalNB": "estimators",
    "ComplementNB": "generative",
    "GaussianNB": "estimators",
    "JointTable": "estimators",
    "LinearDiscriminantAnalysis": "estimators",
    "MixedNB": "estimators",
    "MultinomialNB": "generative",
    "NBSoftmax": "softmax",
    "Prediction": "model",
    "QuadraticDiscriminantAnalysis": "estimators",
    "SoftmaxRegression": "softmax",
    "TableModel": "tables",
    "Tally": "tally",
    "TextModel": "model",
    "TextSettings": "text",
    "Weighting": "text",
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
