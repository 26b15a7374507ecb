"""A prior times a class-conditional: the generative classifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from textodds.conditionals import Bernoulli, Complement, Conditional, Multinomial
from textodds.conditionals.estimate import Alpha
from textodds.errors import InputError, NoData, suggestion
from textodds.linear import LinearModel, check_prior, log_prior
from textodds.tally import Counts

Prior = str | dict[str, float]
"""``data``: as often as in training; ``uniform``; or a probability for each class."""


class Learner(Protocol):
    """A frozen set of choices that makes a model from counts."""

    @property
    def conditional(self) -> Conditional:
        """The class-conditional."""
        ...

    @property
    def prior(self) -> Prior:
        """The prior over classes."""
        ...


def checked(learner: Learner) -> None:
    """Refuse choices that cannot be, when a learner is made."""
    _ = learner.conditional
    check_prior(learner.prior)


def fit(learner: Learner, counts: Counts) -> LinearModel:
    r"""The model of a learner: ``log π_k + log p(x | k)``, Bayes' rule up to a constant.

    Examples
    --------
    >>> counts = Counts.of_rows([[2, 0], [0, 1]], ["ham", "spam"])
    >>> np.exp(fit(MultinomialNB(), counts).log_posterior(np.array([[1, 0]]))).round(3)
    array([[0.692, 0.308]])
    """
    if not len(counts.classes):
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    conditional = learner.conditional
    estimate = conditional.fit(counts)
    prior = log_prior(learner.prior, counts.classes, counts.class_documents)
    if not conditional.is_likelihood and len(counts.classes) > 1:
        prior = np.zeros(len(counts.classes))
    return LinearModel(
        counts.classes,
        prior,
        estimate.intercept,
        estimate.weights,
        presence=conditional.presence,
        is_posterior=conditional.is_likelihood,
    )


@dataclass(frozen=True)
class MultinomialNB:
    """Multinomial naive Bayes; see `textodds.conditionals.Multinomial` for the mathematics.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a word is read.
    binary : bool, default False
        Count a word once a document; often better for short texts.
    """

    alpha: Alpha = 1.0
    prior: Prior = "data"
    binary: bool = False

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Multinomial:
        """The class-conditional."""
        return Multinomial(self.alpha, self.binary)


@dataclass(frozen=True)
class BernoulliNB:
    """Multivariate Bernoulli naive Bayes; see `textodds.conditionals.Bernoulli`.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a word is read.
    """

    alpha: Alpha = 1.0
    prior: Prior = "data"

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Bernoulli:
        """The class-conditional."""
        return Bernoulli(self.alpha)


@dataclass(frozen=True)
class ComplementNB:
    """Complement naive Bayes; see `textodds.conditionals.Complement`.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word.
    norm : bool, default False
        Normalise the weights of each class (WCNB).
    transform : bool, default False
        Transform the training documents (with ``norm``: TWCNB).
    """

    alpha: Alpha = 1.0
    norm: bool = False
    transform: bool = False
    prior = "data"

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Complement:
        """The class-conditional."""
        return Complement(self.alpha, self.norm, self.transform)


LEARNERS: dict[str, type[MultinomialNB] | type[BernoulliNB] | type[ComplementNB]] = {
    "multinomial": MultinomialNB,
    "bernoulli": BernoulliNB,
    "complement": ComplementNB,
}


def learner_named(name: str, **choices: Any) -> Learner:
    """The learner of that name with these choices."""
    if name not in LEARNERS:
        raise InputError(
            f"unknown learner `{name}`{suggestion(name, LEARNERS)}", hint=f"one of {', '.join(LEARNERS)}"
        )
    known = LEARNERS[name].__dataclass_fields__
    for choice in choices:
        if choice not in known:
            raise InputError(f"{name} has no {choice}", hint=f"it takes {', '.join(known)}")
    return LEARNERS[name](**choices)


def as_dict(learner: Learner) -> dict[str, Any]:
    """A learner as plain data, for the model file."""
    name = next(name for name, kind in LEARNERS.items() if type(learner) is kind)
    choices = asdict(learner)  # type: ignore[call-overload]
    choices["alpha"] = np.asarray(choices["alpha"]).tolist()
    return {"learner": name, **choices}


def of_dict(choices: dict[str, Any]) -> Learner:
    """The learner that `as_dict` made plain data of."""
    choices = dict(choices)
    return learner_named(choices.pop("learner"), **choices)
