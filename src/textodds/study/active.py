"""Which texts to label next: those in doubt, among many others in doubt that are like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textodds import _kernels
from textodds.errors import InputError, Unsupported
from textodds.learn.arrays import Floats, Mask
from textodds.learn.forms.linear import log_softmax
from textodds.model.text_model import TextModel
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.documents import Documents
from textodds.stats.tally import batch_of
from textodds.text import TextSettings, Weighting

ROUNDING = 1e-9  # likenesses and usefulnesses that differ by less, relative to the larger, are equal


class Useful(NamedTuple):
    """A text worth a label: its place in the list, what the model says of it now, and its usefulness."""

    index: int  # type: ignore[assignment]  # a place, where a tuple has a method
    label: str
    probability: float
    usefulness: float


def most_useful(model: TextModel, texts: Sequence[str | Mapping[str, str]], n: int = 10) -> list[Useful]:
    r"""The texts whose labels would teach the model the most, ``n`` at most, the most useful first.

    Usefulness, from 0 to 1, is the doubt that is left about a text, times the share of the doubt about all
    of the texts that is left in those like it.

    Model
    -----
    The doubt about text i is one less the margin between its two most probable classes,

    .. math::
        d_i = 1 - (p_{i(1)} - p_{i(2)}),                                            \tag{1}

    and 1 if the model has but one class. With unit rows :math:`x_i` of tf-idf over the words of all the
    texts, known to the model or not, two texts are alike by :math:`s_{ij} = x_i \cdot x_j`, from 0 to 1. A
    label is taken to settle the share :math:`s_{ij}` of the doubt about text j, so that after the texts A
    have been chosen

    .. math::
        r_j = d_j \prod_{a \in A} (1 - s_{aj})                                      \tag{2}

    is left, and the next is the text with the largest

    .. math::
        u_i = r_i \, \frac{\sum_j s_{ij}\, r_j}{\sum_j d_j} .                       \tag{3}

    The first factor asks what the model does not know; the second passes over what is like nothing else;
    (2) keeps the choices apart. Usefulness never grows down the list, and sums to 1 at most. The sum in (3)
    is :math:`x_i \cdot \sum_j r_j x_j`, so a choice costs three passes over the words and no table of pairs.

    A text without a word that the model knows counts for the others only: its own term is left out of the
    sum, since the doubt about it is the prior's and not its own. Texts without any word are never asked for,
    and of texts with the same words only the first is: the list may be shorter than ``n``. Of equally useful
    texts the first comes first; otherwise the order of the texts does not matter. Texts chosen like this are
    no fair sample: measure a model on others, drawn at random.

    References
    ----------
    Scheffer, Decomain, Wrobel (2001), *Active hidden Markov models for information extraction*: the margin.
    Settles, Craven (2008), *An analysis of active learning strategies for sequence labeling tasks*:
    information density, a doubt times the mean likeness to all texts.
    Cardoso et al. (2017), *Ranked batch-mode active learning*: one by one, away from those chosen before.

    Differs
    -------
    From information density: likeness counts towards texts in doubt only, and less after each choice.
    In simulated labelling (`benchmarks/cases/asking.py`) the mean accuracy over 50 to 300 labels was 3.5 to
    6.2 points above chance on spam and news, and 0.7 to 2.8 above the margin alone; on web pages as good as
    the margin; on film reviews and plots not clearly better than chance.

    Examples
    --------
    >>> from textodds import train
    >>> model = train(["free prize", "see you at six"], ["spam", "ham"])
    >>> texts = ["free prize", "a prize for you", "a prize for you", "you get a prize", "qwerty", ""]
    >>> for text in most_useful(model, texts):
    ...     print(f"{texts[text.index]}: {text.label} {text.probability:.2f}, {text.usefulness:.2f}")
    a prize for you: spam 0.61, 0.45
    you get a prize: spam 0.61, 0.03
    free prize: spam 0.86, 0.01
    qwerty: ham 0.50, 0.00
    """
    if not isinstance(model, TextModel):
        raise Unsupported("a model of a table cannot rank texts", hint="train a model of texts")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n is {n!r}, and must be a whole number of 1 or more")
    given: Any = texts if isinstance(texts, str) else list(texts)  # one text is refused by `score`
    if model.recipe.settings.fields:
        given = [model.row_of(text) for text in given]
    scores, evidence = model.score(given, calibrate=True)
    if not len(scores):
        return []
    probabilities = np.exp(log_softmax(scores))  # (N, K)
    rows = unit_rows(given, model.recipe.settings, model.threads)  # (N, V)
    chosen = _choose(rows, doubt(probabilities), evidence[:, 0] > 0, int(n))
    best = probabilities.argmax(axis=1)
    return [Useful(i, model.class_names[best[i]], float(probabilities[i, best[i]]), u) for i, u in chosen]


def most_typical(texts: Sequence[str], settings: TextSettings, n: int = 10) -> list[int]:
    """The texts to label before there is a model, by their places: like many others, unlike each other.

    As `most_useful` chooses them where every text is in the same doubt.

    >>> texts = ["see you at six", "free prize", "see you at noon", "see you", "qwerty"]
    >>> [texts[i] for i in most_typical(texts, TextSettings(), 2)]
    ['see you at six', 'free prize']
    """
    rows = unit_rows(texts, settings, 1)
    return [i for i, _ in _choose(rows, np.ones(len(texts)), np.ones(len(texts), bool), n)]


def doubt(probabilities: Floats) -> Floats:
    """One less the margin between the two most probable classes, (N,), of probabilities (N, K)."""
    if probabilities.shape[1] < 2:
        return np.ones(len(probabilities))
    ranked = np.partition(probabilities, -2, axis=1)
    rest = ranked[:, :-1].sum(axis=1)  # 1 - p(1), to the last digit where the model is sure
    return np.asarray(np.minimum(rest + ranked[:, -2], 1.0))  # (1)


def unit_rows(texts: Sequence[str], settings: TextSettings, threads: int | None = None) -> CompressedRows:
    """The texts as sparse rows of tf-idf, (N, V), of length 1; of length 0 without a word."""
    batch = batch_of(texts, [""] * len(texts))
    rows = Documents.gather([batch], settings=settings, threads=threads).rows(Weighting())
    length = np.sqrt(_kernels.row_squares(rows.raw))  # below 1 where one of two blocks is empty
    rows.data /= np.repeat(length, np.diff(rows.indptr))
    return rows


def _choose(rows: CompressedRows, doubts: Floats, known: Mask, n: int) -> list[tuple[int, float]]:
    """The rows to ask for, at most n, each with its usefulness."""
    open_to = np.diff(rows.indptr) > 0  # (N,) not chosen, nor the same as one that is
    left = np.where(open_to, doubts, 0.0)  # r of (2)
    whole = float(left.sum()) or 1.0
    chosen: list[tuple[int, float]] = []
    while len(chosen) < n and open_to.any():
        near = rows @ (rows.T @ left)  # (N,)
        others = np.where(near > left * (1.0 + ROUNDING), near - left, 0.0)
        useful = np.where(open_to, left * np.where(known, near, others) / whole, -1.0)  # (3)
        i = int(np.argmax(useful >= useful.max() * (1.0 - ROUNDING)))  # the first of equals
        chosen.append((i, min(float(useful[i]), 1.0)))
        like = rows @ rows[[i]].toarray()[0]  # s of (2)
        open_to &= like < 1.0 - ROUNDING
        left *= np.where(open_to, 1.0 - like, 0.0)  # (2)
    return chosen
