"""Training on labelled and unlabelled texts together; the mathematics is in `textodds.learn.em`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from textodds.data import Batch, Observer, Source
from textodds.errors import NoData, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.em import fit_rows
from textodds.learn.recipe import Recipe
from textodds.model.text_model import TextModel
from textodds.stats.documents import Documents
from textodds.stats.tally import checked_threads
from textodds.text import Weighting

NO_LABEL = ""
"""Stands for the label of an unlabelled text; no label is empty."""


def train_semisupervised_on(
    labelled: Source,
    unlabelled: Source,
    recipe: Recipe,
    threads: int | None = None,
    observer: Observer | None = None,
) -> TextModel:
    """A model trained on labelled and unlabelled texts; see `SemiSupervisedNB`.

    It has no counts, so that it cannot learn more, forget or be merged.
    """
    learner: Any = recipe.learner
    if recipe.unknown != "ignore":
        raise Unsupported("unlabelled texts leave no word unknown", hint="use unknown='ignore'")
    threads = checked_threads(threads)
    batches = (observer or Observer()).watched(labelled, labelled.ahead(), "learning")
    texts = Documents.gather(
        itertools.chain(batches, () if learner.weight == 0 else _unlabelled(unlabelled)),
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
            hint="give labelled texts too",
        )
    rows = texts.rows(Weighting("count", idf=False, unit=False), np.ones(len(texts.vocabulary)))
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
