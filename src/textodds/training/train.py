"""Training: from any source of labelled texts, or of rows of a table, to a model. The one way in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import Batch, Observer, Source, read
from textodds.errors import Separable, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.conditionals.complement import transformed
from textodds.learn.design import DesignMatrix
from textodds.learn.naive_bayes import ComplementLearner, MultinomialLearner
from textodds.learn.recipe import Recipe, selected
from textodds.model.leave_one_out import calibrate_held_out, model_of_counts, must_be_choosable
from textodds.model.text_model import TextModel
from textodds.stats.sample import TYPICAL, HashSample
from textodds.stats.tally import Counts, Tally, checked_threads
from textodds.text import Vocabulary
from textodds.training.plan import (
    Plan,
    must_know_typical,
    nothing_in,
    plan_of,
    reading_and_words,
    texts_or_table,
)

if TYPE_CHECKING:
    from textodds.learn.registry import Learner
    from textodds.model.table_model import TableModel
    from textodds.training.choose import Choice


def train(
    source: object,
    labels: object = None,
    weights: object = None,
    *,
    learner: Learner | str | Sequence[Learner | str] | None = None,
    features: str | Sequence[str] | None = None,
    budget: float | None = None,
    columns: Mapping[str, str] | None = None,
    like: TableModel | None = None,
    unlabelled: object = None,
    stream: bool = False,
    typical: bool = False,
    calibrate: bool = True,
    threads: int | None = None,
    memory: int | None = None,
    observer: Observer | None = None,
    **options: object,
) -> TextModel | TableModel:
    """A model trained on any source of labelled texts, or of labelled rows of a table.

    Parameters
    ----------
    source, labels, weights
        The data; see `textodds.read`.
    learner : learner or str, optional
        Of texts: `MultinomialNB`, the default, `BernoulliNB`, `ComplementNB`, `SoftmaxRegression`,
        `NBSoftmax`; of tables: `MixedNB`, the default where there is no column of texts, `GaussianNB`,
        `CategoricalNB`, `JointTable`; of either: `LinearDiscriminantAnalysis`,
        `QuadraticDiscriminantAnalysis`. Or as on the command line: a name, perhaps with settings, such as
        ``"softmax:C=10:ngrams=1-2"``; ``"auto"``; or several, of which the best is chosen on held-out
        texts together with the features.
    features : str or sequence of str, optional
        ``"words"``, ``"pairs"``, ``"triples"``, ``"letters"``, ``"characters"``, or several, or ``"auto"``,
        of which the best is chosen. Naive Bayes has words unless something is said, and the others choose.
    budget : float, default 60
        Seconds that choosing and learning may take; what would take longer is not tried.
    columns : dict, optional
        What the columns of a table are; see `textodds.training.tables.train_table`.
    like : TableModel, optional
        Choose for each column of a table as this model did, so that the two can be merged.
    unlabelled : source, optional
        Texts without labels to learn from too; see `SemiSupervisedNB`.
    stream : bool, default False
        Learn softmax regression in one pass, words hashed, in memory that does not grow with the data.
    typical : bool, default False
        Whether to keep how surprising typical texts are, so that the model can tell what is unlike them
        (`TextModel.familiarity`).
    calibrate : bool, default True
        Whether to calibrate probabilities on documents left out, and to keep how well the model does on
        them; of naive Bayes, with 100 texts or more.
    threads : int, optional
        Threads to count on; every number gives the same model.
    memory : int, default 2 GiB
        Bytes that words and counts may use before the rarest words are dropped.
    observer : Observer, optional
        Is told how far it has come.
    **options
        How the data is read: ``text``, ``label``, ``weight``, ``format``, ``query``, ``quoting``, ``header``,
        ``bad_rows``, ``rejects_path`` (see `textodds.read`). How texts are cut and which words are kept:
        ``min_df``, ``max_df``, ``max_features`` (see `Selection`); ``unknown``, what to do with words outside
        the vocabulary (``ignore``; ``smooth``: as a word with zero count; ``first``: estimated from each
        word's first occurrence; ``count``: with a ``vocabulary`` fixed in advance, the words outside it
        count as ``<UNK>``); ``weighting``, for softmax (see `Weighting`); ``sklearn=True`` to cut texts
        as scikit-learn does; and the fields of `TextSettings`.

    Notes
    -----
    Where nothing else is said, softmax has tf-idf, ``min_df=2``, and a penalty and features chosen on
    held-out texts. What was tried, and how well it did, is in ``model.info["chosen"]``.

    Examples
    --------
    >>> model = train(["free phone", "see you at six", "free prize"], ["spam", "ham", "spam"])
    >>> model("a free offer").label
    'spam'
    """
    reading, words = reading_and_words(options)
    plan = plan_of(
        learner,
        features,
        words,
        unlabelled=unlabelled is not None,
        stream=stream,
        columns=columns,
        like=like,
        typical=typical,
        calibrate=calibrate,
        budget=budget,
        threads=checked_threads(threads),
        memory=memory,
    )
    observer = observer or Observer()

    def of_rows() -> TextModel | TableModel:
        from textodds.training.tables import open_table, train_table_on

        return train_table_on(open_table(source, labels, weights, plan=plan, reading=reading), plan, observer)

    def of_texts(data: Source) -> TextModel | TableModel:
        model = learned(data)
        if data.schema.columns:  # they have names: the model reads them again
            model.info["columns"] = data.schema.as_dict()
        return model

    def learned(data: Source) -> TextModel:
        if unlabelled is not None:
            from textodds.training.semisupervised import train_semisupervised_on

            others = read(unlabelled, labelled=False, **vars(reading.without_labels()))
            return train_semisupervised_on(data, others, plan.recipe(), plan.threads, observer)
        if stream:
            from textodds.training.stream import train_stream

            return train_stream(data, plan.recipe(), plan.threads, observer)
        return train_on(data, plan, observer)

    return texts_or_table(source, labels, weights, reading, plan, of_texts=of_texts, of_rows=of_rows)


def train_on(data: Source, plan: Plan, observer: Observer | None = None) -> TextModel:
    """A model trained on an opened source of texts."""
    observer = observer or Observer()
    recipe, choice, batches = _settled(data, plan, observer)
    must_know_typical(recipe.learner, plan.typical)
    if batches is None:
        batches = observer.watched(data, data.ahead(), "learning")
    if recipe.learner.entry.needs_documents:
        model = _of_documents(data, batches, recipe, plan, observer, choice)
    else:
        model = _of_counts(data, batches, recipe, plan)
    if choice is not None:
        model.info["chosen"] = choice.report()
    return model


def _settled(
    data: Source, plan: Plan, observer: Observer
) -> tuple[Recipe, Choice | None, Iterable[Batch] | None]:
    """The recipe, chosen if something is left to choose, and what to learn from if it was read already."""
    wanted = plan.pins or plan.recipe()
    if isinstance(wanted, Recipe):
        if plan.memory is not None and wanted.learner.entry.needs_documents:
            raise Unsupported(
                f"`memory` bounds what is counted, and {wanted.learner.entry.name} needs all texts at once",
                hint="leave it out; for softmax of more texts than memory holds, use `stream`",
            )
        if not wanted.is_open:
            return wanted, None, None
    from textodds.training.choose import pool_of, settle

    pooled = pool_of(data, observer, memory=plan.bytes)
    recipe, choice = settle(pooled, wanted, **plan.limits(observer))
    return recipe, choice, pooled.batches


def _of_counts(data: Source, batches: Iterable[Batch], recipe: Recipe, plan: Plan) -> TextModel:
    """A model of counts, in one pass or, of transformed documents, in two."""
    must_be_choosable(recipe)
    if recipe.learner.rereads and not data.replayable:
        batches = list(batches)  # a second pass is needed, and the stream can be read but once
    sample, passing = HashSample(), batches
    if plan.typical or plan.calibrate or recipe.learner.is_smoothing_open:
        passing = sample.passed(batches)
    tally = Tally.count(passing, settings=recipe.settings, threads=plan.threads, memory=plan.bytes)
    if not tally.classes:
        raise nothing_in(data)
    info = {"source": data.description, "documents": tally.n_documents, "rejected": data.rejects.count}
    if isinstance(recipe.learner, ComplementLearner) and recipe.learner.rereads:
        counts, vocabulary = selected(tally, recipe.selection)
        again = _transformed_counts(data if data.replayable else batches, counts, vocabulary, recipe)
        form = naive_bayes.fit(recipe.learner, again)
        return TextModel(recipe, vocabulary, form, tally, info, threads=plan.threads)
    kept = sample.examples()
    model = model_of_counts(tally, recipe, kept, info, calibrate=plan.calibrate, threads=plan.threads)
    if plan.typical:
        model.typical = model.typical_of(kept[:TYPICAL], seen=True)
    return model


def _of_documents(
    data: Source,
    batches: Iterable[Batch],
    recipe: Recipe,
    plan: Plan,
    observer: Observer,
    choice: Choice | None,
) -> TextModel:
    """A model that needs every document at once."""
    gathered = DesignMatrix.of(batches, recipe, plan.threads)
    if not len(gathered.documents):
        raise nothing_in(data)
    rows = gathered.labelled
    learner: Any = recipe.learner
    # Softmax is calibrated below, by what chose its penalty; discriminants calibrate themselves.
    own = {} if learner.entry.is_penalised else {"calibrate": plan.calibrate}
    try:
        fit = learner.fit_design(gathered, rows, observer=observer, **own)
    except Separable as error:  # it knows numbers where readers want words
        numbers = np.array([int(name[1:]) for name in error.strongest], dtype=np.int64)
        named = gathered.documents.vocabulary.words(numbers)
        raise Separable(error.complete, error.direction, named) from error
    mass = np.bincount(rows.codes, rows.weights, len(rows.classes))
    info = {
        "source": data.description,
        "documents": gathered.documents.n_documents,
        "rejected": data.rejects.count,
        "class_documents": dict(zip(rows.classes, mass.tolist(), strict=True)),
        "fit": fit.report(),
    }
    vocabulary, scale = gathered.documents.vocabulary, gathered.scale(fit.factor)
    model = TextModel(recipe, vocabulary, fit.model, None, info, scale=scale, threads=plan.threads)
    if plan.calibrate:
        model.held_out = getattr(fit, "held_out", None)
        held = getattr(fit, "held", None)
        if choice is not None and choice.winner.classes == model.classes_:
            held = choice.winner.held
        if held is not None:
            calibrate_held_out(model, held)
    return model


def _transformed_counts(
    batches: Iterable[Batch], counts: Counts, vocabulary: Vocabulary, recipe: Recipe
) -> Counts:
    """Class sums of transformed documents, by a second pass over the data."""
    K = len(counts.classes)
    plain = TextModel(recipe, vocabulary, naive_bayes.fit(MultinomialLearner(), counts), None, {})
    index = {name: k for k, name in enumerate(counts.classes)}
    df, n = counts.by_feature(counts.documents), float(counts.class_documents.sum())
    sums = np.zeros(len(counts.class_of))
    places = counts.feature_of.astype(np.int64) * K + counts.class_of
    for batch in batches:
        labels = batch.label_list()
        weight = np.ones(len(labels)) if batch.weights is None else batch.weights
        rows = transformed(plain.scorer.rows(batch.texts), df, n)
        lengths = np.diff(rows.indptr)
        codes = np.array([index.get(label, 0) for label in labels], dtype=np.int64)
        wanted = rows.indices.astype(np.int64) * K + np.repeat(codes, lengths)
        cell = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        counted = places[cell] == wanted  # a document without weight, or a pruned word, has no cell
        values = rows.data * np.repeat(weight, lengths)
        sums += np.bincount(cell[counted], values[counted], len(sums))
    return replace(counts, occurrences=sums)
