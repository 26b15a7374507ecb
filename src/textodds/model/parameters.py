"""How many numbers a model estimates: what is free of its parameters, with the formula of books."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from textodds.learn.forms.linear import LinearModel
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel


@dataclass(frozen=True)
class ParameterCount:
    """A number of free parameters, and how it comes about.

    With K classes, d columns of numbers, V words or features:

    ==========================================  =====================================
    class priors, which all but softmax have    ``K - 1``
    multinomial, complement                     ``K (V - 1)``
    Bernoulli                                   ``K V``
    categorical, of C_j categories in column j  ``K Σ_j (C_j - 1)``
    full table                                  ``K (Π_j C_j - 1)``
    Gaussian naive Bayes: means, variances      ``K d + K d``
    LDA: means, one covariance                  ``K d + d (d + 1) / 2``
    QDA: means, covariances                     ``K d + K d (d + 1) / 2``
    QDA of texts: means, R directions           ``K V + Σ_k (V R - R (R + 1) / 2 + R + 1)``
    softmax: weights and biases                 ``(K - 1) (V + 1)``
    softmax pooled with naive Bayes             ``(K - 1) (V + 1) + K (V - 1)``
    ==========================================  =====================================

    Shares that sum to one have one number less, and a softmax has the weights of one class at zero: what is
    counted is what can differ. The lectures count 002's ``K + K V`` of naive Bayes with those that follow.
    """

    n: int
    formula: str

    def __str__(self) -> str:
        return f"{self.n:,} = {self.formula}"


def parameter_count(model: TextModel | TableModel) -> ParameterCount:
    """The number of free parameters of a model.

    Examples
    --------
    >>> from textodds import train
    >>> model = train(["free phone", "see you at six"], ["spam", "ham"], learner="multinomial")
    >>> print(parameter_count(model))
    11 = K (V − 1) + (K − 1), K = 2, V = 6
    """
    K = len(model.class_names)
    if isinstance(model, TextModel):
        return _of_texts(model, K)
    if model.recipe.linear is not None:
        V = model.product.parts[0].weights.shape[0]  # type: ignore[attr-defined]
        return ParameterCount((K - 1) * (V + 1), f"(K − 1)(V + 1), K = {K:,}, V = {V:,} features")
    total, parts, values = K - 1, [], [f"K = {K:,}"]
    blocks: Any = zip(model.recipe.blocks, model.product.parts, strict=True)
    for block, fitted in blocks:
        n, formula, value = _of_block(block, fitted, K)
        total += n
        parts.append(formula)
        values.append(value)
    return ParameterCount(total, f"{' + '.join(parts)} + (K − 1), {', '.join(values)}")


def _of_texts(model: TextModel, K: int) -> ParameterCount:
    name, V = model.recipe.learner.entry.name, len(model.vocabulary)
    values = f"K = {K:,}, V = {V:,}"
    if getattr(model.recipe.learner, "naive_bayes", 0.0):
        return ParameterCount((K - 1) * (V + 1) + K * (V - 1), f"(K − 1)(V + 1) + K (V − 1), {values}")
    if model.recipe.learner.entry.is_penalised:
        return ParameterCount((K - 1) * (V + 1), f"(K − 1)(V + 1), {values}")
    if name == "lda":
        n = K * V + V * (V + 1) // 2 + K - 1
        return ParameterCount(n, f"K V + V (V + 1) / 2 + (K − 1), {values}")
    if name == "bernoulli":
        return ParameterCount(K * V + K - 1, f"K V + (K − 1), {values}")
    if isinstance(model.form, LinearModel):
        return ParameterCount(K * (V - 1) + K - 1, f"K (V − 1) + (K − 1), {values}")
    gaussians: Any = model.form.gaussians  # type: ignore[union-attr]  # other forms are penalised
    if not hasattr(gaussians, "basis"):
        return ParameterCount(2 * K * V + K - 1, f"2 K V + (K − 1), {values}")
    ranks = [len(own) for own in gaussians.variance]
    n = K * V + sum(V * R - R * (R + 1) // 2 + R + 1 for R in ranks) + K - 1
    formula = "K V + Σ_k (V R_k − R_k (R_k + 1) / 2 + R_k + 1) + (K − 1)"
    return ParameterCount(n, f"{formula}, {values}, R at most {max(ranks):,}")


def _of_block(block: Any, fitted: Any, K: int) -> tuple[int, str, str]:
    """The free parameters of a block, their formula, and the values in it."""
    d = sum(block.widths) if block.kind == "numbers" else len(block.columns)
    if block.kind == "numbers":
        covariance = block.conditional.covariance
        if covariance == "diagonal":
            return 2 * K * d, "2 K d", f"d = {d:,}"
        if covariance == "shared":
            return K * d + d * (d + 1) // 2, "K d + d (d + 1) / 2", f"d = {d:,}"
        return K * d + K * d * (d + 1) // 2, "K d + K d (d + 1) / 2", f"d = {d:,}"
    if block.kind == "words":
        V = len(fitted.model.vocabulary)
        return K * (V - 1), "K (V − 1)", f"V = {V:,}"
    if block.kind == "cells":
        sizes = [len(names) for names in fitted.estimate.margins.categories]
        return K * (prod(sizes) - 1), "K (Π C_j − 1)", f"C = {_listed(sizes)}"
    sizes = [len(names) for names in fitted.estimate.categories]
    return K * (sum(sizes) - len(sizes)), "K Σ (C_j − 1)", f"C = {_listed(sizes)}"


def _listed(sizes: list[int]) -> str:
    shown = ", ".join(map(str, sizes[:4]))
    return f"({shown}{', …' if len(sizes) > 4 else ''})"
