"""The distribution of each column of a table in each class: means and variances, and shares of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.forms.quadratic import Diagonal
from textodds.model.tables.blocks import Cells, Numbers, Terms, Words
from textodds.model.tables.table_model import TableModel
from textodds.stats.rows import Vector

Marginal: TypeAlias = tuple[float, float] | dict[str, float]
"""Mean and variance of a number, or the probability of each category."""


def marginals(model: TableModel) -> dict[str, dict[str, Marginal]]:
    """The distribution of each column in each class, by name; texts are those of their words.

    Numbers have a mean and a variance, as the model estimates them; categories, intervals and words their
    probabilities, smoothing included. Of softmax regression, which models none of it, they are those of naive
    Bayes from the same counts.

    Examples
    --------
    >>> from textodds import train
    >>> rows = {"height": [1.6, 1.8, 1.7, 1.9], "hair": ["long", "long", "short", "long"]}
    >>> found = marginals(train(rows, ["f", "f", "m", "m"], columns={"height": "gaussian"}))
    >>> [round(value, 3) for value in found["height"]["f"]], found["hair"]["m"]
    ([1.7, 0.01], {'long': 0.5, 'short': 0.5})
    """

    def by_class(names: Sequence[str], shares: Floats) -> dict[str, Marginal]:  # shares are (names, K)
        columns = (dict(zip(names, own, strict=True)) for own in shares.T.tolist())
        return dict(zip(model.class_names, columns, strict=True))

    found: dict[str, dict[str, Marginal]] = {}
    pairs: Any = zip(model.recipe.blocks, model.tally.parts, strict=True)
    for block, tally in pairs:
        if isinstance(block, Terms):  # which has weights, and no distribution
            continue
        fitted = block.fit(tally)
        if isinstance(block, Numbers):
            gaussians = fitted.gaussians
            if isinstance(gaussians, Diagonal):
                mean, variance = gaussians.mean, gaussians.variance
            else:
                mean = gaussians.centre + gaussians.scale * gaussians.mean
                own = np.einsum("kvv->kv", gaussians.covariance())
                variance = np.broadcast_to(own, mean.shape)
            ends = np.cumsum(block.widths).tolist()
            for v, name, width in zip(ends, block.columns, block.widths, strict=True):
                if isinstance(block.kept_as(name), Vector):  # whose numbers mean nothing one by one
                    continue
                v -= width
                values = zip(mean[:, v].tolist(), variance[:, v].tolist(), strict=True)
                found[name] = dict(zip(model.class_names, values, strict=True))
        elif isinstance(block, Words):
            words = fitted.model.vocabulary.words()
            theta = np.exp(fitted.model.linear.weights.rows(np.arange(len(words))))
            found[block.columns[0]] = by_class(words, theta)
        else:
            if isinstance(block, Cells):
                estimate = Categorical(1.0, block.conditional.missing).fit(tally.marginals())
            else:
                estimate = fitted.estimate
            columns = zip(estimate.columns, estimate.categories, estimate.log_p, strict=True)
            for name, categories, log_p in columns:
                found[name] = by_class(categories, np.exp(log_p[: len(categories)]))
    return found
