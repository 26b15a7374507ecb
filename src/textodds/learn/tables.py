"""The learners of tables: which blocks their columns make."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Generic, TypeVar

from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.conditionals.table import FullTable
from textodds.learn.forms.linear import check_prior
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.registry import Learner, Prior


@dataclass(frozen=True)
class MixedLearner(Learner):
    """Naive Bayes for tables: each column has a class-conditional of its own kind.

    Numbers are Gaussian, or cut into intervals where that makes held-out rows more likely; categories are
    categorical; texts are multinomial. See `textodds.learn.conditionals`.

    Parameters
    ----------
    alpha : float, default 1.0
        Smoothing of categories and intervals, in pseudo-counts.
    word_alpha : float, default 1.0
        Smoothing of words, in pseudo-counts.
    smoothing : float, default 1e-9
        Share of its variance over all rows that is added to the variances of a Gaussian column.
    missing : "category" or "ignore", default "category"
        Whether a missing category is one of its own. A missing number is always left out.
    unseen : "ignore" or "smooth", default "ignore"
        What a category says that was never seen.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a row is read.
    calibrate : bool, default True
        Weigh the evidence of numbers, categories and texts, each kind by a factor, so that probabilities of
        held-out rows are right: naive Bayes counts what comes together twice. Without it evidence is
        added up as it is.
    """

    alpha: float = 1.0
    word_alpha: float = 1.0
    smoothing: float = 1e-9
    missing: str = "category"
    unseen: str = "ignore"
    prior: Prior = "data"
    calibrate: bool = True

    def __post_init__(self) -> None:
        _ = self.categorical, self.gaussian, MultinomialLearner(alpha=self.word_alpha)
        check_prior(self.prior)

    @property
    def categorical(self) -> Categorical:
        """The class-conditional of categories."""
        return Categorical(self.alpha, self.missing, self.unseen)

    @property
    def gaussian(self) -> Gaussian:
        """The class-conditional of numbers."""
        return Gaussian("diagonal", smoothing=self.smoothing)


Density = TypeVar("Density", Categorical, FullTable)


class _OfCategories(Learner, Generic[Density]):
    """A prior times a class-conditional of columns of categories, whose settings are those of the learner."""

    kind: ClassVar[type]

    def __post_init__(self) -> None:  # refuses choices that cannot be, when a learner is made
        check_prior(self.prior)
        _ = self.density

    @property
    def density(self) -> Density:
        """The class-conditional."""
        density: Density = self.kind(**{each.name: getattr(self, each.name) for each in fields(self.kind)})
        return density


@dataclass(frozen=True)
class CategoricalLearner(_OfCategories[Categorical]):
    """Categorical naive Bayes: every column is one of categories; see `Categorical`.

    Parameters
    ----------
    alpha, missing, unseen
        As in `Categorical`.
    prior
        As in `MixedLearner`.
    """

    alpha: float = 1.0
    missing: str = "ignore"
    unseen: str = "ignore"
    prior: Prior = "data"
    kind = Categorical


@dataclass(frozen=True)
class JointTableLearner(_OfCategories[FullTable]):
    """The full table of few columns of categories; see `FullTable`.

    Parameters
    ----------
    alpha, backoff, missing, unseen, max_cells
        As in `FullTable`.
    prior
        As in `MixedLearner`.
    """

    kind = FullTable

    alpha: float = 1.0
    backoff: str = "independent"
    missing: str = "ignore"
    unseen: str = "ignore"
    max_cells: int = 1_000_000
    prior: Prior = "data"
