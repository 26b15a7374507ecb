"""Training: from any source of labelled text to a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import Batch, Source, prefetched, read
from textodds.data.columns import TEXT_NAMES
from textodds.errors import InputError, MissingColumn, NoData, Separable, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.conditionals.complement import transformed
from textodds.learn.design import DesignMatrix
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe, recipe_of, selected
from textodds.learn.registry import AUTO, name_of, names_of, resolved
from textodds.model.leave_one_out import calibrate_held_out
from textodds.model.text_model import TextModel
from textodds.stats.tally import MEMORY, Counts, Tally
from textodds.stats.threads import checked_threads
from textodds.text import Vocabulary
from textodds.training.from_counts import model_of_counts, must_be_choosable

if TYPE_CHECKING:
    from textodds.learn.registry import Learner
    from textodds.learn.softmax.regression import Watchers
    from textodds.model.table_model import TableModel
    from textodds.training.choose import Choice, Pins, Watching
    from textodds.training.table_columns import TableLearner


def train(
    source: Any,
    labels: Any = None,
    weights: Any = None,
    *,
    learner: Learner | TableLearner | str | Sequence[Learner | str] | None = None,
    features: str | Sequence[str] | None = None,
    budget: float | None = None,
    columns: Mapping[str, str] | None = None,
    like: TableModel | None = None,
    unlabelled: Any = None,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    query: str | None = None,
    quoting: bool = True,
    header: bool = True,
    bad_rows: str = "stop",
    rejects_path: str | os.PathLike[str] | None = None,
    typical: bool = False,
    calibrate: bool = True,
    threads: int | None = None,
    memory: int = MEMORY,
    **recipe: Any,
) -> TextModel | TableModel:
    """A model trained on any source of labelled texts, or of labelled rows of a table.

    Parameters
    ----------
    source, labels, weights, text, label, weight, format, query, quoting, header, bad_rows, rejects_path
        The data; see `textodds.data.read`.
    learner : learner or str, optional
        Of texts: `MultinomialNB`, the default, `BernoulliNB`, `ComplementNB`, `SoftmaxRegression`,
        `NBSoftmax`; of tables: `MixedNB`, the default where there is no column of texts, `GaussianNB`,
        `CategoricalNB`, `JointTable`; of either: `LinearDiscriminantAnalysis`,
        `QuadraticDiscriminantAnalysis`. Or a name: one of `textodds.learn.registry.LEARNERS`; or ``"auto"``,
        or several, of which the best is chosen on held-out texts together with the features.
    features : str or sequence of str, optional
        ``"words"``, ``"pairs"``, ``"triples"``, ``"letters"``, ``"characters"``
        (`FEATURES`), or several, or ``"auto"``, of which the best is chosen. Naive Bayes
        has words unless something is said, and the others choose.
    budget : float, default 60
        Seconds that choosing and learning may take; what would take longer is not tried.
    columns : dict, optional
        What the columns of a table are; see `textodds.training.tables.train_table`, as for ``like``.
    unlabelled : source, optional
        Texts without labels to learn from too; see `textodds.training.semisupervised.SemiSupervisedNB`.
    typical : bool, default False
        Whether to keep how surprising typical texts are, so that the model can tell what is unlike them
        (`TextModel.familiarity`).
    calibrate : bool, default True
        Whether to make probabilities right by leaving out one text of a sample at a time, and to keep how
        well the model does on them; of naive Bayes, with 100 texts or more.
    threads : int, optional
        Threads to count on; every number gives the same model.
    memory : int, default 2 GiB
        Bytes that words and counts may use before the rarest words are dropped.
    **recipe
        ``min_df``, ``max_df``, ``max_features`` (see `Selection`); ``unknown``, what to do with words
        outside the vocabulary (``ignore``; ``smooth``: as a word never seen; ``first``: the first
        occurrence of every word counts as ``<UNK>``; ``count``: with a ``vocabulary`` fixed in
        advance, the words outside it count as ``<UNK>``); ``weighting``, for softmax (see `Weighting`);
        ``sklearn=True`` to cut texts as scikit-learn does; and the fields of `TextSettings`.

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
    pins = None
    is_of_texts = features is not None or isinstance(learner, (list, tuple))
    if is_of_texts or learner == AUTO:
        from textodds.training.choose import FEATURES, pins_of

        # Who says nothing of learners has the usual one.
        pins = pins_of("multinomial" if learner is None else learner, features, recipe)
        learner = None
        if pins.is_settled:
            shape = FEATURES[pins.features[0]] if pins.features else {}
            learner, recipe, pins = pins.learners[0], {**shape, **recipe}, None
        elif unlabelled is not None or (typical and not pins.is_likelihood):
            raise InputError(
                f"`{'typical' if typical else 'unlabelled'}` is for one learner of words, not for a choice",
                hint="name the learner, such as multinomial, and leave `features` out",
            )
    found: Any = None if learner is None else resolved(learner)
    columns = columns or getattr(learner, "columns", None)
    reading: dict[str, Any] = {
        "label": label,
        "weight": weight,
        "format": format,
        "query": query,
        "quoting": quoting,
        "header": header,
        "bad_rows": bad_rows,
        "rejects_path": rejects_path,
    }

    if unlabelled is not None:
        from textodds.training.semisupervised import train_semisupervised

        given: dict[str, Any] = {"labels": labels, "weights": weights, "threads": threads, "text": text}
        return train_semisupervised(source, unlabelled, found, **given, **reading, **recipe)

    def of_rows() -> TableModel:
        from textodds.learn.tables import MixedLearner
        from textodds.training.tables import train_table

        if is_of_texts:
            raise InputError(
                "features and several learners are for texts, and this is a table",
                hint="leave them out, or name the column of texts: text='COLUMN'",
            )
        chosen: Any = found or MixedLearner()
        must_be_of_tables(chosen, like)
        given: dict[str, Any] = {"columns": columns, "like": like, "typical": typical, "words": recipe}
        return train_table(source, labels, weights, learner=chosen, **given, **reading)

    if like is not None and (learner is not None or recipe):
        raise InputError(
            "a model that is like another has its learner and its words", hint="leave out one of the two"
        )
    if (
        columns
        or like is not None
        or (found is not None and not found.entry.is_of_texts)
        or (text is None and _is_table(source, labels))
    ):
        if text is not None:
            raise InputError(
                "`text` is the one column that is read", hint="leave it out; all columns are read"
            )
        return of_rows()
    chosen: Any = found or MultinomialLearner()
    data = read(source, labels, weights, text=text, **reading)
    try:
        how: dict[str, Any] = {
            "typical": typical,
            "calibrate": calibrate,
            "threads": threads,
            "memory": memory,
        }
        if pins is not None:
            return train_chosen(data, pins, budget=budget, **how)
        return train_on(data, recipe_of(chosen, **recipe), budget=budget, **how)
    except MissingColumn as error:
        if not may_be_table(error, found, data):
            raise
    return of_rows()


def must_be_of_tables(learner: Any, like: Any) -> None:
    """Refuse a learner that is for texts only, or a model of texts to be like."""
    if not learner.entry.is_of_tables:
        raise InputError(
            f"{name_of(learner)} learns from texts, not from the columns of a table",
            hint=f"use one of {', '.join(names_of(tables=True))}; or name the column: "
            "`--text COLUMN` (text='COLUMN')",
        )
    if like is not None and not getattr(like, "is_table", False):
        raise InputError("the model to be like is one of texts, not of tables")


def _is_table(source: Any, labels: Any) -> bool:
    """Whether what is in memory is columns, none of which is called as texts usually are."""
    if isinstance(source, Mapping):
        names = [str(name) for name in source]
    elif getattr(source, "ndim", 0) == 2 and not hasattr(source, "columns"):
        return True
    elif labels is not None and hasattr(source, "columns") and getattr(source, "ndim", 2) == 2:
        names = [str(name) for name in getattr(source, "column_names", source.columns)]
    elif (
        labels is not None and isinstance(source, list) and source and isinstance(source[0], (Mapping, tuple))
    ):
        names = [str(name) for name in source[0]] if isinstance(source[0], Mapping) else []
    else:
        return False
    return not any(name.strip().casefold() in TEXT_NAMES for name in names)


def may_be_table(error: MissingColumn, learner: Any, data: Source) -> bool:
    """Whether data without a column of texts is a table that a learner, or none in particular, can take."""
    again = data.replayable and data.description != "stdin"  # what it held has been read
    return error.wanted == "text" and again and (learner is None or learner.entry.is_of_tables)


def train_chosen(
    data: Source, pins: Pins, *, budget: float | None = None, threads: int | None = None, **how: Any
) -> TextModel:
    """A model trained on an opened source, its learner and features chosen; see `train_on` for the rest."""
    from textodds.training.choose import BUDGET, pool_of, settle

    threads = checked_threads(threads)
    pooled = pool_of(data, memory=how.get("memory", MEMORY))
    time: dict[str, Any] = {"budget": BUDGET if budget is None else budget, "threads": threads}
    settled = settle(pooled, pins, calibrate=how.get("calibrate", True), **time)
    return train_on(
        data, settled.recipe, threads=threads, choice=settled.choice, batches=settled.batches, **how
    )


def _as_they_are(batches: Iterable[Batch]) -> Iterable[Batch]:
    return batches


def train_on(
    data: Source,
    recipe: Recipe,
    *,
    typical: bool = False,
    calibrate: bool = True,
    threads: int | None = None,
    memory: int = MEMORY,
    budget: float | None = None,
    choice: Choice | None = None,
    batches: Iterable[Batch] | None = None,
    watch: Watching = _as_they_are,
    fitting: Watchers | None = None,
) -> TextModel:
    """A model trained on an opened source.

    ``choice`` is the one that the recipe is of, if it was chosen; ``batches`` are those of the source, where
    it was read before and cannot be read again. ``watch`` may look at them as they pass, ``fitting`` at the
    progress of an optimiser.
    """
    threads = checked_threads(threads)
    if typical and (recipe.learner.entry.needs_documents or not recipe.learner.entry.is_density):
        raise Unsupported(
            "only a model of how texts come about knows typical ones",
            hint="use the learner multinomial or bernoulli, or leave typical out",
        )
    if recipe.is_open:
        from textodds.training.choose import BUDGET, chosen, open_candidates, pool_of

        pooled = pool_of(data, watch=watch)
        time: dict[str, Any] = {"budget": BUDGET if budget is None else budget, "spent": pooled.seconds}
        choice = chosen(pooled.pool, open_candidates(recipe), threads=threads, calibrate=calibrate, **time)
        recipe = replace(recipe, is_open=False) if choice is None else choice.recipe
        batches, watch = pooled.batches, _as_they_are
    passed: Iterable[Batch] = data if batches is None else batches
    rereads = recipe.learner.rereads
    if rereads and not data.replayable:
        passed = list(passed)  # a second pass is needed, and the stream can be read but once
    passing = watch(prefetched(iter(passed)) if data.size is not None else passed)
    if recipe.learner.entry.needs_documents:
        model = _of_documents(data, passing, recipe, threads, fitting, choice, calibrate=calibrate)
        return _told(model, choice)
    sample = None
    must_be_choosable(recipe)
    if typical or calibrate or recipe.learner.is_smoothing_open:
        from textodds.stats.hash_sample import HashSample

        sample = HashSample()
        passing = sample.passed(passing)
    tally = Tally.count(passing, settings=recipe.settings, threads=threads, memory=memory)
    if not tally.classes:
        raise _nothing(data)
    info = {"source": data.description, "documents": tally.n_documents, "rejected": data.rejects.count}
    if not rereads:
        kept = [] if sample is None else sample.examples()
        model = model_of_counts(tally, recipe, kept, info, calibrate=calibrate, threads=threads)
        if typical and sample is not None:
            from textodds.model.novelty import typical_texts
            from textodds.stats.hash_sample import TYPICAL

            model.typical = typical_texts(model, kept[:TYPICAL], seen=True)
        return _told(model, choice)
    counts, vocabulary = selected(tally, recipe.selection)
    again = _transformed_counts(passed, counts, vocabulary, recipe)
    learner: Any = recipe.learner
    return TextModel(recipe, vocabulary, naive_bayes.fit(learner, again), tally, info, threads=threads)


def _told(model: TextModel, choice: Choice | None) -> TextModel:
    """The model with how it was chosen."""
    if choice is not None:
        model.info["chosen"] = choice.report()
    return model


def _nothing(data: Source) -> NoData:
    return NoData(
        f"{data.description} has no row to learn from",
        hint="it is empty, has only a header, or every row was rejected",
    )


def train_stream(
    data: Source,
    recipe: Recipe,
    *,
    threads: int | None = None,
    watch: Watching = _as_they_are,
) -> TextModel:
    """A softmax model learned in one pass, in memory that does not grow with the data."""
    from textodds.learn.softmax.regression import SoftmaxLearner
    from textodds.training.stream import HASH_BITS, SoftmaxStream

    if recipe.learner != SoftmaxLearner():
        raise InputError(
            "a stream is learned by softmax regression, one step a text",
            hint="use `--learner softmax`, without a penalty or class weights",
        )
    if recipe.selection.max_features is not None or recipe.selection.max_df != 1.0:
        raise InputError("a stream cannot know beforehand which words are frequent", hint="leave them all in")
    assert recipe.weighting is not None
    if not recipe.weighting.unit:
        raise InputError("a stream has rows of length 1", hint="leave `--no-unit` out")
    settings = recipe.settings
    if settings.hash_bits is None and settings.vocabulary is None:
        settings = replace(settings, hash_bits=HASH_BITS)
    stream = SoftmaxStream(settings, frequency=recipe.weighting.frequency)
    model = stream.learn(watch(data)).model()
    model.threads = checked_threads(threads)
    model.info |= {"source": data.description, "rejected": data.rejects.count}
    return model


def _of_documents(
    data: Source,
    batches: Iterable[Batch],
    recipe: Recipe,
    threads: int,
    fitting: Watchers | None,
    choice: Choice | None,
    *,
    calibrate: bool,
) -> TextModel:
    """A model that needs every document at once."""
    gathered = DesignMatrix.of(batches, recipe, threads)
    if not len(gathered.documents):
        raise _nothing(data)
    design, rows = gathered.design, gathered.rows
    learner: Any = recipe.learner
    try:
        fit = learner.fit_design(design, rows, watch=fitting)
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
    model = TextModel(
        recipe,
        gathered.documents.vocabulary,
        fit.model,
        None,
        info,
        scale=design.scale(fit.factor),
        threads=threads,
    )
    if calibrate:
        model.held_out = getattr(fit, "held_out", None)  # discriminants calibrate themselves
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
        rows = transformed(plain.rows_of(batch), df, n)
        lengths = np.diff(rows.indptr)
        codes = np.array([index.get(label, 0) for label in labels], dtype=np.int64)
        wanted = rows.indices.astype(np.int64) * K + np.repeat(codes, lengths)
        cell = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        counted = places[cell] == wanted  # a document without weight, or a pruned word, has no cell
        values = rows.data * np.repeat(weight, lengths)
        sums += np.bincount(cell[counted], values[counted], len(sums))
    return replace(counts, occurrences=sums)
