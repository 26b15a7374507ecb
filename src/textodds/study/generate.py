"""Texts and rows drawn from a generative model: what it believes its classes look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import InputError, Unsupported
from textodds.learn.arrays import Floats, Integers
from textodds.learn.conditionals import Bernoulli
from textodds.learn.conditionals.categorical import MISSING_ROW, UNSEEN_ROW
from textodds.learn.forms.linear import LinearModel
from textodds.learn.recipe import selected, why_no_density
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.learn.conditionals.categorical import CategoricalEstimate
    from textodds.learn.conditionals.table import TableEstimate
    from textodds.learn.forms.quadratic import Diagonal, Full
    from textodds.model.file import Model
    from textodds.model.tables.blocks import Numbers
    from textodds.model.tables.table_model import TableModel

Columns = dict[str, list[Any]]

BLOCK = 1 << 22  # words times texts that are drawn at once where every word is there or not


def sample(
    model: Model, n: int, label: str | None = None, seed: int = 0, *, length: int | float | None = None
) -> tuple[list[str] | Columns, list[str]]:
    r"""Texts, or columns of a table, of n rows drawn from a model; and their labels.

    Model
    -----
    A label is drawn from the prior, unless one is given; then, class by class,

    - of a multinomial model, a length from a Poisson distribution, and so many words from
      :math:`\theta_k`, joined by blanks. The model knows no lengths: the mean is that of the class in
      training (of the words the model uses), or ``length``.
    - of a Bernoulli model, every word of the vocabulary or not, in random order.
    - of a table, every block of columns by itself: Gaussian numbers; a category; a combination of
      categories of the full table, by :math:`\hat p = \frac{n_k}{n_k + A} \frac{n_{kx}}{n_k} +
      \frac{A}{n_k + A} q_k(x)`; an interval and a number in it, all alike, where an interval that is
      open is as wide as its neighbour; a text as above.

    A missing category is drawn where it is one of its own; numbers are never missing. What smoothing
    keeps for categories never seen has no name to be drawn by, and is shared out among the others.
    Calibration changes what a model makes of evidence, not what it believes of rows, and is left aside.

    Parameters
    ----------
    model : TextModel or TableModel
    n : int
    label : str, optional
        The class of all n; otherwise classes come as often as the prior says.
    seed : int, default 0
        The same seed gives the same sample.
    length : float, optional
        Mean number of words of a text, for a multinomial model of texts.

    Examples
    --------
    >>> from textodds import train
    >>> model = train(["free phone", "see you at six"], ["spam", "ham"])
    >>> texts, labels = sample(model, 3, label="spam", seed=1)
    >>> labels
    ['spam', 'spam', 'spam']
    """
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise InputError(f"the number to draw must be a whole number of zero or more, got {n!r}")
    if length is not None and not 0 <= length < 1e6:
        raise InputError(f"the mean length must be from 0 to a million words, got {length!r}")
    random = np.random.default_rng(seed)
    if length is not None and not isinstance(model, TextModel):
        raise InputError("a length is for texts", hint="leave it out: rows are drawn column by column")
    if isinstance(model, TextModel) and model.recipe.settings.fields:
        raise Unsupported(
            f"texts are drawn of one column, and the model has {', '.join(model.recipe.settings.fields)}",
            hint="train on the columns joined: text='subject+body' (`--text subject+body`)",
        )
    log_prior = _density_form(model).log_prior if isinstance(model, TextModel) else model.log_prior
    if label is None:
        codes = _draw(np.exp(log_prior), n, random)
    else:
        codes = np.full(n, model.class_number(label), dtype=np.int64)
    labels = [model.class_names[k] for k in codes.tolist()]
    if isinstance(model, TextModel):
        return _texts(model, codes, random, length), labels
    return _rows(model, codes, random), labels


def perplexities(model: TextModel, texts: object) -> Floats:
    r"""Perplexity of each text to each class as a unigram language model, (N, K).

    .. math:: \Bigl(\prod_v \theta_{kv}^{x_v}\Bigr)^{-1/n}, \qquad n = \sum_v x_v

    over its n words: so many equally likely words would surprise the class as much. A word that the model
    does not know is as likely as one of the vocabulary that the class has never shown; a text without a word
    has 1. `TextModel.perplexity` is that of all classes together.

    Examples
    --------
    >>> from textodds import train
    >>> model = train(["free phone", "see you"], ["spam", "ham"])
    >>> perplexities(model, ["free"])  # 6 pseudo-counts and counts of a class: 1 or 2 of them are "free"
    array([[6., 3.]])
    """
    form = _density_form(model)
    if not model.density.is_drawn:
        raise Unsupported(
            "only a multinomial model has a perplexity",
            hint="train with the learner multinomial, without binary",
        )
    scores, evidence = model.score(texts)
    known, n = evidence.T.astype(np.float64)[:, :, None]  # (N, 1) each
    likelihood = scores - (form.log_prior + form.intercept)
    if model.recipe.unknown == "ignore" and (n > known).any():
        likelihood = likelihood + (n - known) * model.density.log_unseen()
    return np.asarray(np.exp(-likelihood / np.maximum(n, 1.0)))


def _density_form(model: TextModel) -> LinearModel:
    """The form of a model from which texts can be drawn; refuses the others, each for its own reason."""
    learner = model.recipe.learner
    if not learner.entry.is_density or not isinstance(model.form, LinearModel):
        raise Unsupported(
            "a discriminative model cannot generate texts",
            hint="train with the learner multinomial or bernoulli",
        )
    if (error := why_no_density(model.recipe)) is not None:
        raise error
    settings = model.recipe.settings
    if settings.hash_bits is not None:
        raise Unsupported("hashed words have no names", hint="train without hash_bits")
    if settings.unit.startswith("characters"):
        raise Unsupported(
            "terms that overlap, such as pairs of words, cannot be drawn one by one",
            hint="train on single words: ngrams=(1, 1), without characters",
        )
    return model.form


def _draw(shares: Floats, n: int, random: np.random.Generator) -> Integers:
    """Numbers (n,), each as often as its share says."""
    ends = np.cumsum(shares)
    return np.asarray(np.searchsorted(ends, random.random(n) * ends[-1], side="right"), dtype=np.int64)


def _texts(
    model: TextModel, codes: Integers, random: np.random.Generator, length: float | None = None
) -> list[str]:
    V = len(model.vocabulary)
    words = np.array(model.vocabulary.words(), dtype=object)
    is_bernoulli = isinstance(model.recipe.learner.conditional, Bernoulli)
    if is_bernoulli and length is not None:
        raise InputError("a Bernoulli model has a length of its own", hint="leave length out")
    means = np.zeros(0) if is_bernoulli else _lengths(model, length)
    texts = [""] * len(codes)
    for k in np.unique(codes):
        places = np.flatnonzero(codes == k)
        # Some words at a time: never a full matrix of a model of many classes.
        parts = np.array_split(np.arange(V), max(1, V // 65_536))
        weights = np.concatenate([model.linear.weights.rows(part)[:, k] for part in parts])
        if is_bernoulli:
            drawn = _present(1 / (1 + np.exp(-weights)), len(places), random)
        else:
            sizes = random.poisson(means[k], len(places)) if V else np.zeros(len(places), np.int64)
            numbers = _draw(np.exp(weights), int(sizes.sum()), random) if V else np.zeros(0, np.int64)
            drawn = np.split(numbers, np.cumsum(sizes)[:-1])
        for place, numbers in zip(places.tolist(), drawn, strict=True):
            texts[place] = " ".join(words[numbers])
    return texts


def _present(shares: Floats, n: int, random: np.random.Generator) -> list[Integers]:
    """Of n texts the words that are there, in random order."""
    found: list[Integers] = []
    step = max(1, BLOCK // max(len(shares), 1))
    for start in range(0, n, step):
        there = random.random((min(step, n - start), len(shares))) < shares
        found += [random.permutation(np.flatnonzero(row)) for row in there]
    return found


def _lengths(model: TextModel, length: float | None) -> Floats:
    """Mean number of words of a text by class, (K,)."""
    if length is not None:
        return np.full(len(model.classes_), float(length))
    if not model.has_counts:
        raise Unsupported(
            "the model has no counts to tell how long its texts are", hint="say it: `--length 20` (length=20)"
        )
    counts, _ = selected(model.tally, model.recipe.selection)
    return np.asarray(counts.by_class(counts.occurrences) / counts.class_documents)


def _rows(model: TableModel, codes: Integers, random: np.random.Generator) -> Columns:
    from textodds.data import Batch
    from textodds.model.tables.blocks import Bins, Categories, Cells, Numbers

    _ = model.density  # refuses a model that does not say how rows come about
    drawn: Columns = {}
    triples: Any = zip(model.recipe.blocks, model.product.parts, model.tally.parts, strict=True)
    for block, fitted, tally in triples:
        if isinstance(block, Numbers):
            drawn |= _numbers(block, fitted.gaussians, codes, random)
        elif isinstance(block, Bins):
            intervals = _categories(block, fitted, tally, codes, random)
            # The names of intervals are the block's own affair: it is asked for them, in their order.
            named = block.coded(Batch({name: np.zeros(0) for name in block.columns}, None, None))
            for name, edges in zip(block.columns, block.edges, strict=True):
                drawn[name] = _within(intervals[name], named[name].names, np.array(edges), random)
        elif isinstance(block, Cells):
            drawn |= _cells(fitted.estimate, codes, random)
        elif isinstance(block, Categories):
            drawn |= _categories(block, fitted, tally, codes, random)
        else:
            _density_form(fitted.model)
            drawn[block.columns[0]] = _texts(fitted.model, codes, random)
    return {column.name: drawn[column.name] for column in model.schema.used}


def _numbers(
    block: Numbers, gaussians: Diagonal | Full, codes: Integers, random: np.random.Generator
) -> Columns:
    from textodds.learn.forms.quadratic import Full

    z = random.standard_normal((len(codes), sum(block.widths)))
    if isinstance(gaussians, Full):
        own = codes if len(gaussians.factor) > 1 else np.zeros_like(codes)
        for k in np.unique(own):
            z[own == k] = z[own == k] @ gaussians.factor[k].T
        values = gaussians.centre + gaussians.scale * (gaussians.mean[codes] + z)
    else:
        values = gaussians.mean[codes] + np.sqrt(gaussians.variance[codes]) * z
    parts = np.split(values, np.cumsum(block.widths)[:-1], axis=1)
    named = zip(block.columns, parts, strict=True)
    return {name: (part[:, 0] if block.kept_as(name) == "number" else part).tolist() for name, part in named}


def _categories(block: Any, fitted: Any, tally: Any, codes: Integers, random: np.random.Generator) -> Columns:
    """Categories of each column by itself, None where one is missing."""
    drawn: Columns = {}
    estimate: CategoricalEstimate = fitted.estimate
    for j, (column, names) in enumerate(zip(estimate.columns, estimate.categories, strict=True)):
        rows = np.arange(len(names))
        if block.conditional.missing == "category" and tally.missing[j].any():
            rows = np.append(rows, len(names) + 2 + MISSING_ROW)
        drawn[column] = _names(estimate.log_p[j], rows, names, codes, random)
    return drawn


def _names(
    log_p: Floats, rows: Integers, names: tuple[str, ...], codes: Integers, random: np.random.Generator
) -> list[str | None]:
    """Names drawn from some rows of a table by category and class; None for the row that is missing."""
    if not len(rows):  # a column that was missing throughout
        return [None] * len(codes)
    found = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        places = np.flatnonzero(codes == k)
        found[places] = rows[_draw(np.exp(log_p[rows, k]), len(places), random)]
    return [names[at] if at < len(names) else None for at in found.tolist()]


def _cells(estimate: TableEstimate, codes: Integers, random: np.random.Generator) -> Columns:
    """Combinations of categories: one that was seen, or columns each by itself."""
    margins = estimate.margins
    drawn: Columns = {}
    for j, (column, names) in enumerate(zip(margins.columns, margins.categories, strict=True)):
        drawn[column] = _names(margins.log_p[j], _observable(estimate, j), names, codes, random)
    for k in np.unique(codes):
        n = float(estimate.class_rows[k])
        places = np.flatnonzero(codes == k)
        total = n + estimate.strength
        if total == 0:
            continue
        places = places[random.random(len(places)) * total < n]
        if not len(places):
            continue
        keys = estimate.keys[_draw(estimate.counts[:, k], len(places), random)]
        for place, key in zip(places.tolist(), keys.tolist(), strict=True):
            for j, (column, names) in enumerate(zip(margins.columns, margins.categories, strict=True)):
                at = key // int(estimate.stride[j]) % int(estimate.radix[j])
                drawn[column][place] = names[at] if at < len(names) else None
    return drawn


def _observable(estimate: TableEstimate, j: int) -> Integers:
    """The rows of a column's table that can be drawn: its categories, and missing if that was one."""
    places = estimate.places[j]
    rows = np.arange(len(places) - 2)
    if places[MISSING_ROW] >= 0 and places[MISSING_ROW] != places[UNSEEN_ROW]:
        rows = np.append(rows, len(places) + MISSING_ROW)
    return rows


def _within(
    intervals: list[str | None], names: Sequence[str], edges: Floats, random: np.random.Generator
) -> list[float | None]:
    """Numbers uniform in their intervals ``(low, high]``, by name; None where one is missing."""
    low, high = _ends(edges)
    number: dict[str | None, int] = {name: c for c, name in enumerate(names)} | {None: 0}
    own = np.array([number[name] for name in intervals], dtype=np.intp)
    a, b = low[own], high[own]
    drawn = np.maximum(b - random.random(len(own)) * (b - a), np.nextafter(a, np.inf))  # a itself is outside
    values = (drawn + 0.0).tolist()  # 0 rather than -0
    return [None if name is None else value for name, value in zip(intervals, values, strict=True)]


def _ends(edges: Floats) -> tuple[Floats, Floats]:
    """Both ends of each interval; open ones are as wide as the next that is more than a single value.

    >>> [ends.tolist() for ends in _ends(np.array([1.0, 3.0]))]
    [[-1.0, 1.0, 3.0], [1.0, 3.0, 5.0]]
    """
    if not len(edges):
        return np.array([0.0]), np.array([1.0])
    widths = np.diff(edges)
    wide = widths[widths > 4 * np.spacing(np.abs(edges[1:]))]
    usual = max(1.0, float(np.abs(edges).max()))
    left, right = (wide[0], wide[-1]) if len(wide) else (usual, usual)
    return np.concatenate([[edges[0] - left], edges]), np.concatenate([edges, [edges[-1] + right]])
