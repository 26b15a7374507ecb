"""Models of LIBLINEAR: its text file and the vectoriser that made its rows, as a model of texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from textodds.errors import InputError, ModelFileError, Unsupported, require
from textodds.interop.labels import Label
from textodds.learn.arrays import Floats
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

LOGISTIC = frozenset(("L2R_LR", "L1R_LR", "L2R_LR_DUAL"))
MARGINS = frozenset(
    ("L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "L1R_L2LOSS_SVC", "MCSVM_CS")
)
MOST_WEIGHTS = 200_000_000


@dataclass(frozen=True, eq=False)
class LiblinearFile:
    """What a file holds: weights of V columns, and of the bias if there is one, for each class or of two."""

    solver: str
    labels: list[int]
    weights: Floats  # (K, V), of two classes (1, V) where one vector tells them apart: the first is positive
    bias: Floats  # (K,) or (1,)


def from_liblinear(
    path: str | os.PathLike[str], vectoriser: BaseEstimator, *, labels: Mapping[int, Label] | None = None
) -> TextModel:
    r"""A model with the predictions of a LIBLINEAR classifier of a vectoriser's rows.

    Parameters
    ----------
    path : path
        What ``train`` of LIBLINEAR, or ``save_model`` in Python, has written. Feature 1 of LIBLINEAR is
        column 0 of the vectoriser.
    vectoriser : fitted vectoriser or pipeline of scikit-learn
        What made the rows: see `textodds.from_sklearn` for what can be converted.
    labels : dict of int to label, optional
        What LIBLINEAR's numbers stand for. Without, they are the labels: ``"1"``, ``"-1"``.

    Logistic regression of two classes has LIBLINEAR's probabilities. Of more, and of support vector
    machines, the model has LIBLINEAR's labels: LIBLINEAR learns each class against the rest, and
    ``model.form.is_posterior`` is False.

    Raises
    ------
    ModelFileError
        If the file is damaged, or not of LIBLINEAR.
    Unsupported
        Of regression and of one-class machines, and of what `from_sklearn` refuses.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> vectoriser = CountVectorizer().fit(["a free phone", "see you"])  # free, phone, see, you
    >>> import tempfile
    >>> file = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 4\nbias -1\nw\n1\n1\n-1\n-1\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mail.model").write_text(file)
    ...     model = from_liblinear(f"{folder}/mail.model", vectoriser, labels={1: "spam", -1: "ham"})
    >>> model("free").label, round(model("free").probability, 4)  # 1 / (1 + exp(-1))
    ('spam', 0.7311)
    """
    require("sklearn", why="models of LIBLINEAR")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from textodds.interop.from_sklearn import from_sklearn
    from textodds.interop.from_sklearn.steps import steps_of

    file = read_liblinear(Path(path))
    has_probabilities = file.solver in LOGISTIC and len(file.weights) == 1
    classifier = LogisticRegression() if has_probabilities else LinearSVC()
    classifier.classes_ = np.array(_names(file.labels, labels), dtype=object)
    # Of two classes scikit-learn's weights are for the second, LIBLINEAR's for the first.
    sign = -1.0 if len(file.weights) == 1 else 1.0
    steps = [step.estimator for step in steps_of(make_pipeline(vectoriser, classifier))][:-1]
    V = len(steps[-1].get_feature_names_out()) if hasattr(steps[-1], "get_feature_names_out") else None
    V = file.weights.shape[1] if V is None else V
    if file.weights.shape[1] > V:
        raise InputError(
            f"`{path}` has {file.weights.shape[1]:,} features and the vectoriser {V:,} columns",
            hint="give the vectoriser that made the rows of its training data",
        )
    missing = V - file.weights.shape[1]  # columns that no row of training had
    classifier.coef_ = sign * np.pad(file.weights, ((0, 0), (0, missing)))
    classifier.intercept_ = sign * file.bias
    classifier.n_features_in_ = V
    model = from_sklearn(make_pipeline(*steps, classifier))
    model.info["source"] = f"converted from LIBLINEAR: {Path(path).name}"
    return model


def _names(numbers: list[int], labels: Mapping[int, Label] | None) -> list[Label]:
    """What the numbers of the classes stand for."""
    if labels is None:
        return [str(number) for number in numbers]
    for number in numbers:
        if number not in labels:
            raise InputError(f"labels have no name for class {number}", hint=f"name all: {numbers}")
    return [labels[number] for number in numbers]


def read_liblinear(path: Path) -> LiblinearFile:
    """What a file of LIBLINEAR holds, checked."""
    try:
        head, found, body = path.read_text(encoding="ascii").partition("\nw\n")
    except UnicodeDecodeError as error:
        raise _wrong(path, "it is not text") from error
    lines = dict(line.partition(" ")[::2] for line in head.splitlines())
    solver = lines.get("solver_type", "")
    if not found or not solver:
        raise _wrong(path, "it has no solver_type or no weights")
    if solver not in LOGISTIC | MARGINS:
        raise Unsupported(f"`{path}` is of {solver}, which gives no classes", hint="train a classifier")
    try:
        K, V, bias = int(lines["nr_class"]), int(lines["nr_feature"]), float(lines["bias"])
        labels = [int(number) for number in lines["label"].split()]
        values = np.array(body.split(), dtype=np.float64)
    except (KeyError, ValueError, OverflowError) as error:
        raise _wrong(path, f"{error}") from error
    columns = 1 if K == 2 and solver != "MCSVM_CS" else K
    rows = V + (bias >= 0)
    if K < 2 or len(labels) != K or len(set(labels)) != K or V < 1 or rows * columns > MOST_WEIGHTS:
        raise _wrong(path, f"nr_class {K}, {len(labels)} labels and nr_feature {V} do not fit")
    if len(values) != rows * columns or not np.isfinite(values).all() or not np.isfinite(bias):
        raise _wrong(path, f"it has {len(values):,} weights where {rows * columns:,} numbers belong")
    weights = values.reshape(rows, columns).T
    own = weights[:, V] * bias if bias >= 0 else np.zeros(columns)
    return LiblinearFile(solver, labels, np.ascontiguousarray(weights[:, :V]), own)


def _wrong(path: Path, why: str) -> ModelFileError:
    return ModelFileError(f"`{path}` is not a valid LIBLINEAR model file: {why}")
