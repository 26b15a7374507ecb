"""A prior times a class-conditional: the generative classifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.errors import NoData
from textodds.learn.conditionals import Bernoulli, Complement, Conditional, Multinomial
from textodds.learn.conditionals.estimate import Alpha
from textodds.learn.forms.linear import LinearModel, check_prior, log_prior
from textodds.learn.registry import Learner, Prior
from textodds.stats.tally import Counts


class CountLearner(Learner):
    """A prior times a class-conditional of words: a learner from counts.

    A new one is a frozen dataclass whose fields are its settings and whose `conditional` says how the words
    of a class come about.
    """

    alpha: Alpha | None = None

    def __post_init__(self) -> None:  # refuses choices that cannot be, when a learner is made
        _ = self.conditional
        check_prior(self.prior)

    @property
    def conditional(self) -> Conditional:
        """The class-conditional."""
        raise NotImplementedError

    @property
    def is_smoothing_open(self) -> bool:
        """Whether the smoothing is left to be chosen."""
        return self.alpha is None

    @property
    def smoothing(self) -> Alpha:
        """The smoothing, 1 as long as it is not chosen."""
        return 1.0 if self.alpha is None else self.alpha


def fit(learner: CountLearner, counts: Counts) -> LinearModel:
    r"""The model of a learner: ``log π_k + log p(x | k)``, Bayes' rule up to a constant.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> counts = Tally.of(["see see", "free"], ["ham", "spam"]).counts()
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
class MultinomialLearner(CountLearner):
    """Multinomial naive Bayes; see `textodds.learn.conditionals.Multinomial` for the mathematics.

    Parameters
    ----------
    alpha : float or array of V, optional
        Smoothing, in pseudo-counts per word. By default `textodds.train` chooses it by leaving out one text
        at a time; where it does not, as with fewer than 16 texts, it is 1.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a word is read.
    binary : bool, default False
        Count a word once a document; often better for short texts.
    """

    alpha: Alpha | None = None
    prior: Prior = "data"
    binary: bool = False

    @property
    def conditional(self) -> Multinomial:
        """The class-conditional."""
        return Multinomial(self.smoothing, self.binary)


@dataclass(frozen=True)
class BernoulliLearner(CountLearner):
    """Multivariate Bernoulli naive Bayes; see `textodds.learn.conditionals.Bernoulli`.

    Parameters
    ----------
    alpha, prior
        As in `MultinomialLearner`.
    """

    alpha: Alpha | None = None
    prior: Prior = "data"

    @property
    def conditional(self) -> Bernoulli:
        """The class-conditional."""
        return Bernoulli(self.smoothing)


@dataclass(frozen=True)
class ComplementLearner(CountLearner):
    """Complement naive Bayes; see `textodds.learn.conditionals.Complement`.

    Parameters
    ----------
    alpha, norm, transform
        As in `textodds.learn.conditionals.Complement`.
    """

    alpha: Alpha | None = None
    norm: bool = False
    transform: bool = False

    @property
    def rereads(self) -> bool:
        """Whether documents are transformed, once their words are counted."""
        return self.transform

    @property
    def conditional(self) -> Complement:
        """The class-conditional."""
        return Complement(self.smoothing, self.norm, self.transform)
