"""From texts to scores, by the fitted form of a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Texts
from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.forms.low_rank import FactoredModel
from textodds.learn.recipe import Recipe
from textodds.stats.compressed_rows import CompressedRows
from textodds.text import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from textodds.model.text_updates import Form

WordArrays = tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]]
Numbers = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class RowChanges:
    """Weights of which some rows differ from those of a kernel; others may read the kernel meanwhile.

    ``w_vk = table_vk - less_k``, of the kernel's own words and of new ones behind them.
    """

    kernel: _kernels.Linear
    intercept: Floats  # (K,)
    default: Floats  # (K,) that is added for every word
    table: _kernels.Table  # (V + new words, K)
    less: Floats  # (K,)
    more: tuple[WordArrays, Numbers, Numbers, Numbers] | None = None  # new words; rows, places, ranks

    @cached_property
    def changed(self) -> _kernels.Linear:
        """The kernel of these weights, made in the time that the new words take."""
        return self.kernel.changed(self.intercept, self.default, self.table, self.less, self.more)


class TextScorer:
    """Scores texts by a fitted form of a vocabulary."""

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: Form,
        scale: Floats | None = None,
        changes: RowChanges | None = None,
    ) -> None:
        self._recipe, self._vocabulary, self._scale, self._changes = recipe, vocabulary, scale, changes
        self.form, self.n_features = form, len(vocabulary)
        self._answering = self.kernel if changes is None else changes.changed

    @cached_property
    def kernel(self) -> _kernels.Linear:
        """The kernel with all arrays of the model in their order; made when it is needed after changes."""
        recipe, vocabulary, form = self._recipe, self._vocabulary, self.form
        linear = _linear(form, len(vocabulary))
        weights = linear.weights
        sparse = (weights.starts, weights.class_of, weights.exceptions)
        unknown = None if recipe.unknown == "ignore" else int(vocabulary.find([UNKNOWN])[0])
        return _kernels.Linear(
            recipe.settings.analyser,
            (vocabulary.keys, vocabulary.arena, vocabulary.directory),
            linear.log_prior + linear.intercept,
            weights.default,
            weights.slope,
            weights.base,
            None if weights.dense is None else weights.dense.reshape(-1),
            None if weights.dense is not None else sparse,  # type: ignore[arg-type]
            None if unknown is None or unknown < 0 else unknown,
            linear.presence,
            weights.replaces,
            None if self._scale is None else _weighting(recipe, self._scale),
        )

    def of_form(self, form: Form) -> TextScorer:
        """The scorer of the same words by another form."""
        return TextScorer(self._recipe, self._vocabulary, form, self._scale)

    def shifted(self, shift: Floats) -> TextScorer:
        """The scorer that adds ``shift`` (K,) for every word."""
        recipe, vocabulary, form, scale = self._recipe, self._vocabulary, self.form, self._scale
        if self._changes is not None:
            changes = replace(self._changes, default=self._changes.default + shift)
            return TextScorer(recipe, vocabulary, form, scale, changes)
        assert isinstance(form, LinearModel)
        shifted = replace(form, weights=form.weights.scaled(1.0, shift))
        return TextScorer(recipe, vocabulary, shifted, scale)

    def score(self, texts: Texts, threads: int) -> tuple[Floats, NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2)."""
        if not isinstance(self.form, (LinearModel, FactoredModel)):
            rows, evidence = self._read(texts, threads)
            return self.form.scores(rows), evidence
        scores, evidence = self._answering.score(texts, threads)
        if isinstance(self.form, FactoredModel):
            scores = self.form.of_inner(scores)
        return scores, evidence

    def one(self, text: str) -> tuple[list[float], int]:
        """Joint log-probabilities (K,) of one text, and how many of its terms are known."""
        if not isinstance(self.form, (LinearModel, FactoredModel)):
            scores, evidence = self.score([text], 1)
            return scores[0].tolist(), int(evidence[0, 0])
        row, known = self._answering.one(text)
        if isinstance(self.form, FactoredModel):
            row = self.form.of_inner(np.array([row]))[0].tolist()
        return row, known

    def rows(self, texts: Texts, threads: int = 1) -> CompressedRows:
        """The texts as sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        return self._read(texts, threads)[0]

    def _read(self, texts: Texts, threads: int) -> tuple[CompressedRows, NDArray[np.uint32]]:
        starts, words, values, evidence = self.kernel.rows(texts, threads=threads)
        return CompressedRows((values, words, starts), (len(evidence), self.n_features)), evidence

    def counts(self, texts: Texts) -> _kernels.RawRows:
        """How often each word of the vocabulary is in each text, as the kernels take it."""
        return self.kernel.rows(texts, False)[:3]


def _linear(form: Form, V: int) -> LinearModel:
    """The linear form that a kernel computes of texts, from which scores are made."""
    if isinstance(form, LinearModel):
        return form
    return form.linear if isinstance(form, FactoredModel) else no_weights(V)


def no_weights(V: int) -> LinearModel:
    """Stands in the kernel for a form that is not linear: only rows are asked of it."""
    return LinearModel(("",), np.zeros(1), np.zeros(1), Weights.of_matrix(np.zeros((V, 1))))


def _weighting(recipe: Recipe, scale: Floats) -> tuple[str, Floats, str, int]:
    """What the kernel must know to weigh words."""
    weighting = recipe.weighting
    if weighting is None:
        raise InputError("there are scales of words, but no weighting that they belong to")
    if weighting.mean and not weighting.idf:
        scale = np.zeros(0)  # ones, which need not be looked up
    return weighting.frequency, scale, weighting.norm, recipe.settings.blocks
