r"""Exact leave-one-out: every document under the model of all others, in one pass.

Naive Bayes rests on counts, and counts subtract. So the model without a document costs no more than reading
the document: no folds, no refitting, no held-out set. From such scores come the choice of smoothing,
calibrated probabilities, an honest measure of quality, and the labels that look wrong.

Without a document, its class has one less, its words have their counts lowered, and words that are then in
fewer documents than ``min_df`` leave the vocabulary, in all classes. ``max_df`` and ``max_features`` are kept
as they were chosen with the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.conditionals import Bernoulli, Complement, Multinomial
from textodds.conditionals.bernoulli import log_absent
from textodds.errors import InputError, Unsupported
from textodds.linear import LOG_ZERO, log
from textodds.recipe import selected

if TYPE_CHECKING:
    from textodds.recipe import Recipe
    from textodds.tally import Counts, Tally

Floats = NDArray[np.float64]

UNIT = 2.0**-30
"""The smallest weight there is: a word in fewer documents is in none."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The counts of all documents, from which any one can be left out."""

    tally: Tally
    recipe: Recipe

    def __post_init__(self) -> None:
        conditional = getattr(self.recipe.learner, "conditional", None)
        if (
            conditional is None
            or getattr(conditional, "norm", False)
            or getattr(conditional, "transform", False)
        ):
            raise Unsupported(
                "leaving out one document at a time takes counts, which this model does not rest on alone",
                hint="use multinomial, bernoulli, or complement without norm and transform",
            )
        if np.ndim(conditional.alpha):
            raise Unsupported("leave-one-out takes one alpha for all words")
        if self.recipe.unknown != "ignore":
            raise Unsupported("leave-one-out takes unknown='ignore'")

    @cached_property
    def counts(self) -> Counts:
        """The counts of the words that the model uses."""
        return selected(self.tally, self.recipe.selection)[0]

    def scores(
        self, rows: Any, codes: NDArray[np.int64], weights: Floats, alpha: float | None = None
    ) -> Floats:
        """Joint log-probabilities (N, K) of documents, each under the model of all others.

        ``rows`` are the counts of words (N, V), SciPy sparse; ``codes`` the classes, all of which are among
        those of the tally.
        """
        conditional: Any = self.recipe.learner.conditional  # type: ignore[union-attr]
        alpha = float(conditional.alpha) if alpha is None else alpha
        counts, n = self.counts, self.tally.n_documents
        weights = np.round(weights / UNIT) * UNIT  # as they were counted
        documents = counts.by_feature(counts.documents)
        cells, totals, absent, name = self._of(conditional, codes, weights, alpha)
        least = self.recipe.selection.min_df
        limit = least * (n - weights) if isinstance(least, float) else np.full(len(codes), float(least))
        if isinstance(least, int) and least <= 1:
            limit[:] = 0.0
        found = _kernels.left_out(
            name,
            (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float64)),
            (counts.starts, counts.class_of, cells, documents, totals),
            (codes.astype(np.uint32), weights, np.maximum(limit, UNIT / 2)),
            alpha,
            LOG_ZERO,
            absent,
        )
        return found + self._log_prior(codes, weights) if conditional.is_likelihood else found

    def _of(
        self, conditional: Any, codes: NDArray[np.int64], weights: Floats, alpha: float
    ) -> tuple[Floats, Floats, tuple[Floats, Floats] | None, str]:
        """What is counted, its totals by class, what absent words add, and the name of the model."""
        counts = self.counts
        if isinstance(conditional, Bernoulli):
            absent = self._absent(codes, weights, alpha)
            return counts.documents, counts.class_documents, absent, "bernoulli"
        if isinstance(conditional, Complement):
            return counts.occurrences, counts.by_class(counts.occurrences), None, "complement"
        assert isinstance(conditional, Multinomial)
        cells = counts.documents if conditional.binary else counts.occurrences
        return cells, counts.by_class(cells), None, "binary" if conditional.binary else "multinomial"

    def _absent(self, codes: NDArray[np.int64], weights: Floats, alpha: float) -> tuple[Floats, Floats]:
        """``Σ_v log(1 - p_kv)`` by class (K,), and of each document's class with so much less weight (N,)."""
        counts, n = self.counts, self.counts.class_documents
        unseen = counts.n_features - counts.by_class(np.ones_like(counts.documents))

        def summed(total: Floats) -> Floats:  # (K,) documents of each class
            cells = log_absent(counts.documents + alpha, total[counts.class_of] + 2 * alpha)
            return counts.by_class(cells) + unseen * log_absent(alpha + 0 * total, total + 2 * alpha)

        own = np.empty(len(codes))
        for weight in np.unique(weights):
            rows = weights == weight
            own[rows] = summed(np.maximum(n - weight, 0.0))[codes[rows]]
        return summed(n), own

    def _log_prior(self, codes: NDArray[np.int64], weights: Floats) -> Floats:
        """The prior without each document, (N, K)."""
        prior: Any = getattr(self.recipe.learner, "prior", "data")
        classes, mass = self.counts.classes, self.counts.class_documents
        if prior == "data":
            left = np.tile(mass, (len(codes), 1))
            left[np.arange(len(codes)), codes] -= weights
            return log(np.maximum(left, 0.0) / np.maximum(left.sum(axis=1, keepdims=True), UNIT))
        from textodds.linear import log_prior

        return np.tile(log_prior(prior, classes, mass), (len(codes), 1))


def class_numbers(labels: list[str], classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of each label's class, all of which must be there."""
    index = {name: k for k, name in enumerate(classes)}
    for label in labels:
        if label not in index:
            raise InputError(
                f"there is no class `{label}`", hint="only documents that were learned can be left out"
            )
    return np.array([index[label] for label in labels], dtype=np.int64)
