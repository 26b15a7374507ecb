"""A prior times a class-conditional: the generative classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from textodds.errors import NoData
from textodds.learn.conditionals import Bernoulli, Complement, Conditional, Multinomial
from textodds.learn.conditionals.estimate import Alpha
from textodds.learn.forms.linear import LinearModel, check_prior, log_prior
from textodds.stats.tally import Counts

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


def usual(alpha: Alpha | None) -> Alpha:
    """The smoothing, 1 as long as it is not chosen."""
    return 1.0 if alpha is None else alpha


def is_likelihood(learner: Any) -> bool:
    """Whether a learner models how documents come about, so that they have a probability."""
    return hasattr(learner, "conditional") and bool(learner.conditional.is_likelihood)


def fit(learner: Learner, counts: Counts) -> LinearModel:
    r"""The model of a learner: ``log π_k + log p(x | k)``, Bayes' rule up to a constant.

    Examples
    --------
    >>> counts = Counts.of_rows([[2, 0], [0, 1]], ["ham", "spam"])
    >>> np.exp(fit(MultinomialLearner(), counts).log_posterior(np.array([[1, 0]]))).round(3)
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
class MultinomialLearner:
    """Multinomial naive Bayes; see `textodds.learn.conditionals.Multinomial` for the mathematics.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word; None chooses it by leaving out one text at a time.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a word is read.
    binary : bool, default False
        Count a word once a document; often better for short texts.
    """

    alpha: Alpha | None = 1.0
    prior: Prior = "data"
    binary: bool = False

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Multinomial:
        """The class-conditional."""
        return Multinomial(usual(self.alpha), self.binary)


@dataclass(frozen=True)
class BernoulliLearner:
    """Multivariate Bernoulli naive Bayes; see `textodds.learn.conditionals.Bernoulli`.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a word is read.
    """

    alpha: Alpha | None = 1.0
    prior: Prior = "data"

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Bernoulli:
        """The class-conditional."""
        return Bernoulli(usual(self.alpha))


@dataclass(frozen=True)
class ComplementLearner:
    """Complement naive Bayes; see `textodds.learn.conditionals.Complement`.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        Smoothing, in pseudo-counts per word.
    norm : bool, default False
        Normalise the weights of each class (WCNB).
    transform : bool, default False
        Transform the training documents (with ``norm``: TWCNB).
    """

    alpha: Alpha | None = 1.0
    norm: bool = False
    transform: bool = False
    prior = "data"

    def __post_init__(self) -> None:
        checked(self)

    @property
    def conditional(self) -> Complement:
        """The class-conditional."""
        return Complement(usual(self.alpha), self.norm, self.transform)
