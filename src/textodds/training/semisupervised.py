"""Training on labelled and unlabelled texts together; the mathematics is in `textodds.learn.em`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Source, read
from textodds.errors import InputError, NoData, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.em import SemiSupervisedLearner, fit_rows
from textodds.learn.recipe import Recipe, recipe_of
from textodds.model.text_model import TextModel
from textodds.stats.documents import Documents
from textodds.stats.threads import checked_threads
from textodds.text import Weighting

Floats = NDArray[np.float64]


NO_LABEL = ""
"""Stands for the label of an unlabelled text; no label is empty."""

READING = ("text", "format", "quoting", "header", "bad_rows")
"""Options of `train_semisupervised` that are about data."""

LABELLED_READING = ("label", "weight", "query", "rejects_path")
"""Those that are about the labelled texts only."""


def train_semisupervised(
    labelled: Any,
    unlabelled: Any,
    learner: SemiSupervisedLearner | None = None,
    *,
    labels: Any = None,
    weights: Any = None,
    threads: int | None = None,
    **options: Any,
) -> TextModel:
    """A model trained on labelled and unlabelled texts; see `SemiSupervisedNB`.

    It has no counts, so that it cannot learn more, forget or be merged.

    Parameters
    ----------
    labelled, labels, weights
        The labelled texts; see `textodds.data.read`.
    unlabelled
        The unlabelled texts, which ``read`` takes too; a column of labels in it is not looked at.
    learner : SemiSupervisedLearner, optional
    **options
        Options of ``read``, for both (``label``, ``weight``, ``query`` and ``rejects_path`` for the labelled
        texts only); all others are those of `textodds.train` that make a recipe, such as ``min_df``.

    Examples
    --------
    >>> model = train_semisupervised(
    ...     ["free phone", "see you"], ["a free prize", "prize inside", "you at six"], labels=["spam", "ham"]
    ... )
    >>> model("inside").label  # a word that no labelled text has
    'spam'
    """
    both = {name: options.pop(name) for name in READING if name in options}
    own = {name: options.pop(name) for name in LABELLED_READING if name in options}
    recipe = recipe_of(learner or SemiSupervisedLearner(), **options)
    return train_semisupervised_on(
        read(labelled, labels, weights, **both, **own),
        read(unlabelled, labelled=False, **both),
        recipe,
        threads=threads,
    )


def train_semisupervised_on(
    labelled: Source,
    unlabelled: Source,
    recipe: Recipe,
    *,
    threads: int | None = None,
    watch: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
) -> TextModel:
    """A model trained on opened sources; ``watch`` may look at the labelled batches as they pass."""
    learner: Any = recipe.learner
    if not isinstance(learner, SemiSupervisedLearner):
        raise InputError(
            f"{type(learner).__name__} does not learn from unlabelled texts",
            hint="leave the learner out, or give SemiSupervisedNB()",
        )
    if recipe.unknown != "ignore":
        raise Unsupported("unlabelled texts leave no word unknown", hint="use unknown='ignore'")
    threads = checked_threads(threads)
    texts = Documents.gather(
        itertools.chain(watch(labelled), () if learner.weight == 0 else _unlabelled(unlabelled)),
        settings=recipe.settings,
        selection=recipe.selection,
        threads=threads,
    )
    classes, codes = texts.classes, texts.codes
    if NO_LABEL in classes:  # the first of them in order
        classes, codes = classes[1:], codes - 1
    mass = np.ones(len(codes)) if texts.weights is None else texts.weights
    if not mass[codes >= 0].any():
        raise NoData(
            f"{labelled.description} has no row to learn from",
            hint="unlabelled texts help a few labelled ones, and cannot do without",
        )
    weighing = {"frequency": "count", "idf": False, "unit": False}
    rows = texts.rows(Weighting(**weighing), np.ones(len(texts.vocabulary)))  # type: ignore[arg-type]
    fit = fit_rows(learner, rows, codes, classes, texts.weights)
    info = {
        "source": labelled.description,
        "documents": float(mass[codes >= 0].sum()),
        "rejected": labelled.rejects.count,
        "class_documents": dict(zip(classes, fit.counts.class_documents.tolist(), strict=True)),
        "unlabelled": {
            "source": unlabelled.description,
            "documents": float(mass[codes < 0].sum()),
            **fit.report(),
        },
    }
    form = naive_bayes.fit(learner, fit.counts)
    return TextModel(recipe, texts.vocabulary, form, None, info, threads=threads)


def _unlabelled(batches: Iterable[Batch]) -> Iterator[Batch]:
    for batch in batches:
        yield Batch(batch.texts, [NO_LABEL] * len(batch), batch.weights)
