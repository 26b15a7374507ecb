"""The learners by name, and as plain data for the model file."""

from __future__ import annotations

import math
import reprlib
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textodds.errors import InputError, suggestion

if TYPE_CHECKING:
    from textodds.learn.discriminant import Discriminant
    from textodds.learn.naive_bayes import Learner as Generative
    from textodds.learn.softmax.regression import Discriminative

    Learner: TypeAlias = Generative | Discriminative | Discriminant

LEARNERS = {
    "multinomial": "naive_bayes.MultinomialLearner",
    "bernoulli": "naive_bayes.BernoulliLearner",
    "complement": "naive_bayes.ComplementLearner",
    "semisupervised": "em.SemiSupervisedLearner",
    "softmax": "softmax.regression.SoftmaxLearner",
    "nb-softmax": "softmax.regression.NBSoftmaxLearner",
    "lda": "discriminant.LinearDiscriminantLearner",
    "qda": "discriminant.QuadraticDiscriminantLearner",
    "gaussian": "discriminant.GaussianLearner",
    "categorical": "tables.CategoricalLearner",
    "mixed": "tables.MixedLearner",
    "table": "tables.JointTableLearner",
}
"""Where each learner lives; imported when it is wanted, so that a model opens quickly."""


def _kind(name: str) -> Any:
    module, _, kind = LEARNERS[name].rpartition(".")
    return getattr(import_module(f"textodds.learn.{module}"), kind)


def learner_named(name: str, **choices: Any) -> Learner:
    """The learner of that name with these choices."""
    if name not in LEARNERS:
        raise InputError(
            f"unknown learner `{name}`{suggestion(name, LEARNERS)}", hint=f"one of {', '.join(LEARNERS)}"
        )
    kind = _kind(name)
    known = kind.__dataclass_fields__
    for choice in choices:
        if choice not in known:
            raise InputError(f"{name} has no {choice}", hint=f"it takes {', '.join(known)}")
    learner: Learner = kind(**choices)
    return learner


def needs_documents(learner: Learner) -> bool:
    """Whether a learner needs every document at once, rather than counts."""
    return not hasattr(learner, "conditional")


AUTO = "auto"
"""In the place of a learner or of features: the best is chosen."""

TABLES = ("gaussian", "categorical", "mixed", "table")
"""Learners of tables only; lda and qda learn from tables and from texts."""


def name_of(learner: Any) -> str:
    """The name of a learner."""
    home = _home(type(learner)).removeprefix("textodds.learn.")
    for name, place in LEARNERS.items():
        if place == home:
            return name
    raise InputError(
        f"{_told(learner)} is no learner of ours",
        hint=f"give one such as textodds.MultinomialNB(), or a name: one of {', '.join(LEARNERS)}",
    )


def _home(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _told(thing: Any) -> str:
    """What something is: its value where that says it, else its kind."""
    if isinstance(thing, type):
        return f"the class {_home(thing)}"
    kind = type(thing)
    return reprlib.repr(thing) if kind.__module__ == "builtins" else _home(kind)


def resolved(learner: Any) -> Learner:
    """A learner that may be given by its name, or as an estimator of scikit-learn's kind."""
    if isinstance(learner, str):
        return learner_named(learner)
    if not isinstance(learner, type) and callable(getattr(learner, "learner", None)):
        learner = learner.learner()
    name_of(learner)  # refuses what is none
    found: Learner = learner
    return found


def is_of_tables(learner: Any) -> bool:
    """Whether a learner learns from tables only."""
    return learner is not None and name_of(learner) in TABLES


def is_softmax(learner: Learner) -> bool:
    """Whether a learner is one of softmax regression."""
    return hasattr(learner, "class_weight")


def as_dict(learner: Learner) -> dict[str, Any]:
    """A learner as plain data, for the model file."""
    name = name_of(learner)
    choices = asdict(learner)  # type: ignore[arg-type]
    if isinstance(choices.get("alpha"), np.ndarray):
        choices["alpha"] = choices["alpha"].tolist()
    if choices.get("C") == math.inf:
        choices["C"] = "inf"  # JSON has no infinity
    return {"learner": name, **choices}


def of_dict(choices: dict[str, Any]) -> Learner:
    """The learner that `as_dict` made plain data of."""
    choices = dict(choices)
    if choices.get("C") == "inf":
        choices["C"] = math.inf
    if isinstance(choices.get("descent"), dict):
        from textodds.learn.solvers import Descent

        choices["descent"] = Descent(**choices["descent"])
    return learner_named(choices.pop("learner"), **choices)
