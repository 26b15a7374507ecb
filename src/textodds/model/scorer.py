"""What cuts texts into the words of a model, and scores them: the kernel, and forms that are not linear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Texts
from textodds.errors import InputError
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.text import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.learn.recipe import Recipe

Floats = NDArray[np.float64]
Form: TypeAlias = "LinearModel | QuadraticModel"


class TextScorer:
    """Scores texts by a fitted form of a vocabulary."""

    def __init__(
        self, recipe: Recipe, vocabulary: Vocabulary, form: Form, scale: Floats | None = None
    ) -> None:
        linear = form if isinstance(form, LinearModel) else _no_weights(len(vocabulary))
        weights = linear.weights
        sparse = (weights.starts, weights.class_of, weights.exceptions)
        unknown = None if recipe.unknown == "ignore" else int(vocabulary.find([UNKNOWN])[0])
        self.form, self.n_features = form, len(vocabulary)
        self.kernel = _kernels.Linear(
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
            None if scale is None else _weighting(recipe, scale),
        )

    def score(self, texts: Texts, threads: int) -> tuple[Floats, NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2)."""
        scores, evidence = self.kernel.score(texts, threads)
        if not isinstance(self.form, LinearModel):
            scores = self.form.scores(self.rows(texts))
        return scores, evidence

    def one(self, text: str) -> tuple[list[float], int]:
        """Joint log-probabilities (K,) of one text, and how many of its terms are known."""
        row, known = self.kernel.one(text)
        if not isinstance(self.form, LinearModel):
            row = self.form.scores(self.rows([text]))[0].tolist()
        return row, known

    def rows(self, texts: Texts) -> Any:
        """The texts as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        from scipy import sparse

        starts, words, values, _ = self.kernel.rows(texts)
        return sparse.csr_array((values, words, starts), shape=(len(texts), self.n_features))

    def counts(self, texts: Texts) -> _kernels.RawRows:
        """How often each word of the vocabulary is in each text, as the kernels take it."""
        return self.kernel.rows(texts, False)[:3]


def _no_weights(V: int) -> LinearModel:
    """Stands in the kernel for a form that is not linear: only rows are asked of it."""
    return LinearModel(("",), np.zeros(1), np.zeros(1), Weights.of_matrix(np.zeros((V, 1))))


def _weighting(recipe: Recipe, scale: Floats) -> tuple[str, Floats, bool, int]:
    """What the kernel must know to weigh words."""
    weighting = recipe.weighting
    if weighting is None:
        raise InputError("there are scales of words, but no weighting that they belong to")
    return weighting.frequency, scale, weighting.unit, recipe.settings.blocks
