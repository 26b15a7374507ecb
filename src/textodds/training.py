"""Training: from any source of labelled text to a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from textodds import generative
from textodds.conditionals.complement import transformed
from textodds.data import Batch, Source, prefetched, read
from textodds.errors import NoData
from textodds.generative import Learner, MultinomialNB
from textodds.model import TextModel, as_list
from textodds.recipe import Recipe, recipe_of, selected
from textodds.tally import MEMORY, Counts, Tally, checked_threads
from textodds.text import Vocabulary


def train(
    source: Any,
    labels: Any = None,
    weights: Any = None,
    *,
    learner: Learner | str = MultinomialNB(),  # noqa: B008 - frozen
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    query: str | None = None,
    quoting: bool = True,
    header: bool = True,
    bad_rows: str = "stop",
    rejects_path: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    memory: int = MEMORY,
    **recipe: Any,
) -> TextModel:
    """A model trained on any source of labelled text.

    Parameters
    ----------
    source, labels, weights, text, label, weight, format, query, quoting, header, bad_rows, rejects_path
        The data; see `textodds.data.read`.
    learner : learner or str, default MultinomialNB()
        `MultinomialNB`, `BernoulliNB`, `ComplementNB`, or their names in lower case without `NB`.
    threads : int, optional
        Threads to count on; every number gives the same model.
    memory : int, default 2 GiB
        Bytes that words and counts may use before the rarest words are dropped.
    **recipe
        ``min_df``, ``max_df``, ``max_features`` (see `Selection`); ``unknown``, what to do with words
        outside the vocabulary (``ignore``; ``smooth``: as a word never seen; ``first``: the first
        occurrence of every word counts as ``<UNK>``; ``count``: with a ``vocabulary`` fixed in
        advance, the words outside it count as ``<UNK>``); and the fields of `TextSettings`.

    Examples
    --------
    >>> model = train(["free phone", "see you at six", "free prize"], ["spam", "ham", "spam"])
    >>> model("a free offer").label
    'spam'
    """
    chosen = recipe_of(learner, **recipe)
    data = read(
        source,
        labels,
        weights,
        text=text,
        label=label,
        weight=weight,
        format=format,
        query=query,
        quoting=quoting,
        header=header,
        bad_rows=bad_rows,
        rejects_path=rejects_path,
    )
    return train_on(data, chosen, threads=threads, memory=memory)


def train_on(
    data: Source,
    recipe: Recipe,
    *,
    threads: int | None = None,
    memory: int = MEMORY,
    watch: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
) -> TextModel:
    """A model trained on an opened source; ``watch`` may look at the batches as they pass."""
    threads = checked_threads(threads)
    batches: Iterable[Batch] = data
    rereads = getattr(recipe.learner, "transform", False)
    if rereads and not data.replayable:
        batches = list(data)  # a second pass is needed, and the stream can be read but once
    first = prefetched(iter(batches)) if data.size is not None else batches
    tally = Tally.count(watch(first), settings=recipe.settings, threads=threads, memory=memory)
    if not tally.classes:
        raise NoData(
            f"{data.description} has no row to learn from",
            hint="it is empty, has only a header, or every row was rejected",
        )
    info = {"source": data.description, "documents": tally.n_documents, "rejected": data.rejects.count}
    if not rereads:
        return TextModel.of_tally(tally, recipe, info, threads=threads)
    counts, vocabulary = selected(tally, recipe.selection)
    again = _transformed_counts(batches, counts, vocabulary, recipe)
    return TextModel(recipe, vocabulary, generative.fit(recipe.learner, again), tally, info, threads=threads)


def _transformed_counts(
    batches: Iterable[Batch], counts: Counts, vocabulary: Vocabulary, recipe: Recipe
) -> Counts:
    """Class sums of transformed documents, by a second pass over the data."""
    K = len(counts.classes)
    plain = TextModel(recipe, vocabulary, generative.fit(MultinomialNB(), counts), None, {})
    index = {name: k for k, name in enumerate(counts.classes)}
    df, n = counts.by_feature(counts.documents), float(counts.class_documents.sum())
    sums = np.zeros(len(counts.class_of))
    places = counts.feature_of.astype(np.int64) * K + counts.class_of
    for batch in batches:
        labels = as_list(batch.labels)
        weight = np.ones(len(labels)) if batch.weights is None else batch.weights
        rows = transformed(plain.rows_of(batch), df, n)
        lengths = np.diff(rows.indptr)
        codes = np.array([index.get(label, 0) for label in labels], dtype=np.int64)
        wanted = rows.indices.astype(np.int64) * K + np.repeat(codes, lengths)
        cell = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        counted = places[cell] == wanted  # a document without weight, or a pruned word, has no cell
        values = rows.data * np.repeat(weight, lengths)
        sums += np.bincount(cell[counted], values[counted], len(sums))
    return replace(counts, occurrences=sums)
