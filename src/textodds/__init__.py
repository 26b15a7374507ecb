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
    from textodds.data import Observer, read
    from textodds.interop import mlflow
    from textodds.interop.estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        JointTable,
        LinearDiscriminantAnalysis,
        MixedNB,
        MultiLabelTextClassifier,
        MultinomialNB,
        NBSoftmax,
        QuadraticDiscriminantAnalysis,
        SemiSupervisedNB,
        SoftmaxRegression,
        TextClassifier,
    )
    from textodds.interop.from_fasttext import from_fasttext
    from textodds.interop.from_sklearn import from_sklearn
    from textodds.interop.to_onnx import to_onnx
    from textodds.interop.to_sklearn import to_sklearn
    from textodds.interop.vectorisers import (
        CountVectorizer,
        HashingVectorizer,
        TfidfTransformer,
        TfidfVectorizer,
    )
    from textodds.judge.class_mix import class_mix
    from textodds.judge.decisions import Losses, Rule
    from textodds.learn.calibration import Calibration
    from textodds.learn.forms.equivalence import naive_bayes_parameters, softmax_parameters
    from textodds.learn.solvers.descent import Descent
    from textodds.model.file import load
    from textodds.model.many_files import predict_files
    from textodds.model.multilabel.label_prediction import LabelPrediction
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.parameters import parameter_count
    from textodds.model.prediction import Prediction
    from textodds.model.tables.marginals import marginals
    from textodds.model.tables.table_model import TableModel
    from textodds.model.text_model import TextModel
    from textodds.stats.moments import Moments
    from textodds.stats.tally import Tally
    from textodds.study.active import most_useful
    from textodds.study.audit import audit
    from textodds.study.compare import Comparison, compare, compare_groups, compare_vocabulary
    from textodds.study.diff import diff
    from textodds.study.label_audit import audit_labels
    from textodds.study.report.evaluation_page import evaluation_report
    from textodds.text import TextSettings, Weighting
    from textodds.text.word_counts import word_counts
    from textodds.training.stream import SoftmaxStream
    from textodds.training.train import train

__version__ = "0.1.0"

__all__ = [
    "BernoulliNB",
    "Calibration",
    "CategoricalNB",
    "Comparison",
    "ComplementNB",
    "CountVectorizer",
    "Descent",
    "GaussianNB",
    "HashingVectorizer",
    "JointTable",
    "LabelPrediction",
    "LinearDiscriminantAnalysis",
    "Losses",
    "MixedNB",
    "Moments",
    "MultiLabelModel",
    "MultiLabelTextClassifier",
    "MultinomialNB",
    "NBSoftmax",
    "Observer",
    "Prediction",
    "QuadraticDiscriminantAnalysis",
    "Rule",
    "SemiSupervisedNB",
    "SoftmaxRegression",
    "SoftmaxStream",
    "TableModel",
    "Tally",
    "TextClassifier",
    "TextModel",
    "TextSettings",
    "TfidfTransformer",
    "TfidfVectorizer",
    "Weighting",
    "audit",
    "audit_labels",
    "class_mix",
    "compare",
    "compare_groups",
    "compare_vocabulary",
    "diff",
    "errors",
    "evaluation_report",
    "from_fasttext",
    "from_sklearn",
    "load",
    "marginals",
    "mlflow",
    "most_useful",
    "naive_bayes_parameters",
    "parameter_count",
    "predict_files",
    "read",
    "softmax_parameters",
    "to_onnx",
    "to_sklearn",
    "train",
    "word_counts",
]

_HOME = {
    "BernoulliNB": "interop.estimators",
    "Calibration": "learn.calibration",
    "CategoricalNB": "interop.estimators",
    "Comparison": "study.compare",
    "ComplementNB": "interop.estimators",
    "CountVectorizer": "interop.vectorisers",
    "Descent": "learn.solvers.descent",
    "GaussianNB": "interop.estimators",
    "HashingVectorizer": "interop.vectorisers",
    "JointTable": "interop.estimators",
    "LabelPrediction": "model.multilabel.label_prediction",
    "LinearDiscriminantAnalysis": "interop.estimators",
    "Losses": "judge.decisions",
    "MixedNB": "interop.estimators",
    "Moments": "stats.moments",
    "MultiLabelModel": "model.multilabel.multilabel_model",
    "MultiLabelTextClassifier": "interop.estimators",
    "MultinomialNB": "interop.estimators",
    "NBSoftmax": "interop.estimators",
    "Observer": "data",
    "Prediction": "model.base",
    "QuadraticDiscriminantAnalysis": "interop.estimators",
    "Rule": "judge.decisions",
    "SemiSupervisedNB": "interop.estimators",
    "SoftmaxRegression": "interop.estimators",
    "SoftmaxStream": "training.stream",
    "TableModel": "model.tables.table_model",
    "Tally": "stats.tally",
    "TextClassifier": "interop.estimators",
    "TextModel": "model.text_model",
    "TextSettings": "text",
    "TfidfTransformer": "interop.vectorisers",
    "TfidfVectorizer": "interop.vectorisers",
    "Weighting": "text",
    "audit": "study.audit",
    "audit_labels": "study.label_audit",
    "class_mix": "judge.class_mix",
    "compare": "study.compare",
    "compare_groups": "study.compare",
    "compare_vocabulary": "study.compare",
    "diff": "study.diff",
    "evaluation_report": "study.report.evaluation_page",
    "from_fasttext": "interop.from_fasttext",
    "from_sklearn": "interop.from_sklearn",
    "load": "model.file",
    "marginals": "model.tables.marginals",
    "most_useful": "study.active",
    "naive_bayes_parameters": "learn.forms.equivalence",
    "parameter_count": "model.parameters",
    "predict_files": "model.many_files",
    "read": "data",
    "softmax_parameters": "learn.forms.equivalence",
    "to_onnx": "interop.to_onnx",
    "to_sklearn": "interop.to_sklearn",
    "train": "training.train",
    "word_counts": "text.word_counts",
}

_MODULES = {"errors": "errors", "mlflow": "interop.mlflow"}


if not TYPE_CHECKING:  # which takes the names from above, and knows a misspelt one

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first wanted: `import textodds` itself costs nothing."""
        if name in _MODULES:
            return import_module(f"textodds.{_MODULES[name]}")
        if name not in _HOME:
            raise AttributeError(f"module 'textodds' has no attribute {name!r}")
        try:
            value = getattr(import_module(f"textodds.{_HOME[name]}"), name)
        except ModuleNotFoundError as error:
            from textodds.errors import not_installed

            raise not_installed(error, f"textodds.{name}") or error from None
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
