"""How surprising texts are to a model, those it has learned included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import NoData
from textodds.judge.novelty import Typical
from textodds.learn.forms.linear import log
from textodds.learn.naive_bayes import CountLearner
from textodds.model.base import forgettable_parts

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel
    from textodds.stats.sample import Example

Floats = NDArray[np.float64]


def surprises(model: TextModel, texts: Any) -> tuple[Floats, Floats, NDArray[np.int64]]:
    r"""Length, surprise and unknown words of each text, (N,) each.

    Where words are drawn, the surprise is :math:`-\tfrac1n \log p(x)` over all n words, a word never seen
    being as likely as one of the vocabulary that its class has never shown; otherwise :math:`-\log p(x)`.
    """
    scores, evidence = model.score(texts)
    unknown = evidence[:, 1].astype(np.int64) - evidence[:, 0]
    if not model.is_drawn:
        return evidence[:, 0].astype(np.float64), -model.log_density(texts), unknown
    if model.recipe.unknown == "ignore":
        scores = scores + unknown[:, None] * _log_unseen(model)
    n = np.maximum(evidence[:, 1].astype(np.float64), 1.0)
    return n, -np.logaddexp.reduce(scores, axis=1) / n, unknown


def _log_unseen(model: TextModel) -> Floats:
    """Logarithm of the probability of a word of the vocabulary that a class has never shown, (K,)."""
    learner = model.recipe.learner
    smoothing = learner.smoothing if isinstance(learner, CountLearner) else 0.0
    alpha = float(np.mean(np.asarray(smoothing, dtype=np.float64)))
    counts = model.tally.counts()
    total = counts.by_class(counts.occurrences) + alpha * len(model.vocabulary)
    return log(np.array([alpha])) - log(total)


def typical_texts(model: TextModel, sample: list[Example], *, seen: bool) -> Typical:
    """How surprising a sample of texts is; if they were learned, with each forgotten."""
    if not sample:
        raise NoData("there are no typical texts to compare with")
    texts = [example.text for example in sample]
    if not seen:
        return Typical.of(*surprises(model, texts)[:2])
    lengths, values = [], []
    for part in forgettable_parts(sample, model.tally.n_documents):
        own, labels, weights, _ = (list(column) for column in zip(*part, strict=True))
        rest = model.without(model.count([Batch(own, labels, np.array(weights))]))
        if rest is None:
            continue
        length, surprise, _ = surprises(rest, own)
        lengths.append(length)
        values.append(surprise)
    if not values:
        raise NoData("too few texts to tell typical ones from others", hint="train on more than a handful")
    return Typical.of(np.concatenate(lengths), np.concatenate(values))
