"""Training: from any source of labelled text to a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds import generative
from textodds.conditionals.complement import transformed
from textodds.data import Batch, Source, prefetched, read
from textodds.data.columns import TEXT_NAMES
from textodds.documents import Documents
from textodds.errors import InputError, MissingColumn, NoData, Separable, Unsupported
from textodds.generative import MultinomialNB
from textodds.learners import is_of_tables, name_of, needs_documents, resolved
from textodds.model import TextModel
from textodds.recipe import Recipe, recipe_of, selected
from textodds.tally import MEMORY, Counts, Tally, checked_threads
from textodds.text import Vocabulary, Weighting

if TYPE_CHECKING:
    from textodds.density import Reservoir
    from textodds.learners import Learner
    from textodds.rows import LabelledRows
    from textodds.softmax import Watchers
    from textodds.tables import TableModel
    from textodds.tables.choosing import TableLearner


def train(
    source: Any,
    labels: Any = None,
    weights: Any = None,
    *,
    learner: Learner | TableLearner | str | None = None,
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
        `QuadraticDiscriminantAnalysis`. Or a name: one of `textodds.learners.LEARNERS`.
    columns : dict, optional
        What the columns of a table are; see `textodds.tables.train_table`, as for ``like``.
    unlabelled : source, optional
        Texts without labels to learn from too; see `textodds.semisupervised.SemiSupervisedNB`.
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

    Where nothing else is said, softmax has words and pairs of words, tf-idf, ``min_df=2``, a penalty chosen
    on held-out texts and, if that does better on them, characters beside the words of short texts, or three
    words in a row of long ones.

    Examples
    --------
    >>> model = train(["free phone", "see you at six", "free prize"], ["spam", "ham", "spam"])
    >>> model("a free offer").label
    'spam'
    """
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
        from textodds.semisupervised import train_semisupervised

        given: dict[str, Any] = {"labels": labels, "weights": weights, "threads": threads, "text": text}
        return train_semisupervised(source, unlabelled, found, **given, **reading, **recipe)

    def of_rows() -> TableModel:
        from textodds.tables import MixedNB, train_table

        chosen: Any = found or MixedNB()
        must_be_of_tables(chosen, like)
        given: dict[str, Any] = {"columns": columns, "like": like, "typical": typical, "words": recipe}
        return train_table(source, labels, weights, learner=chosen, **given, **reading)

    if like is not None and (learner is not None or recipe):
        raise InputError(
            "a model that is like another has its learner and its words", hint="leave out one of the two"
        )
    if columns or like is not None or is_of_tables(found) or (text is None and _is_table(source, labels)):
        if text is not None:
            raise InputError(
                "`text` is the one column that is read", hint="leave it out; all columns are read"
            )
        return of_rows()
    chosen: Any = found or MultinomialNB()
    data = read(source, labels, weights, text=text, **reading)
    try:
        how: dict[str, Any] = {
            "typical": typical,
            "calibrate": calibrate,
            "threads": threads,
            "memory": memory,
        }
        return train_on(data, recipe_of(chosen, **recipe), **how)
    except MissingColumn as error:
        if not may_be_table(error, found, data):
            raise
    return of_rows()


def must_be_of_tables(learner: Any, like: Any) -> None:
    """Refuse a learner that is for texts only, or a model of texts to be like."""
    if not is_of_tables(learner) and name_of(learner) not in ("lda", "qda"):
        raise InputError(
            f"{name_of(learner)} learns from texts, not from the columns of a table",
            hint="use mixed, gaussian, categorical, table, lda or qda; or name the column: "
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
    return error.wanted == "text" and again and (learner is None or name_of(learner) in ("lda", "qda"))


def train_on(
    data: Source,
    recipe: Recipe,
    *,
    typical: bool = False,
    calibrate: bool = True,
    threads: int | None = None,
    memory: int = MEMORY,
    watch: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
    fitting: Watchers | None = None,
) -> TextModel:
    """A model trained on an opened source.

    ``watch`` may look at the batches as they pass, ``fitting`` at the progress of an optimiser.
    """
    threads = checked_threads(threads)
    if typical and (needs_documents(recipe.learner) or not generative.is_likelihood(recipe.learner)):
        raise Unsupported(
            "only a model of how texts come about knows typical ones",
            hint="use the learner multinomial or bernoulli, or leave typical out",
        )
    if needs_documents(recipe.learner):
        return _of_documents(data, recipe, threads, watch, fitting, calibrate=calibrate)
    batches: Iterable[Batch] = data
    rereads = getattr(recipe.learner, "transform", False)
    if rereads and not data.replayable:
        batches = list(data)  # a second pass is needed, and the stream can be read but once
    first = prefetched(iter(batches)) if data.size is not None else batches
    passing, sample = watch(first), None
    is_open = not needs_documents(recipe.learner) and getattr(recipe.learner, "alpha", 1.0) is None
    if is_open:
        from textodds.left_out import supports

        if not supports(recipe):
            raise InputError(
                "the smoothing of this model cannot be chosen by leaving out one text at a time",
                hint="give a number, such as alpha=1.0",
            )
    if typical or calibrate or is_open:
        from textodds.density import Reservoir

        sample = Reservoir(SAMPLE)
        passing = _sampled(passing, sample)
    tally = Tally.count(passing, settings=recipe.settings, threads=threads, memory=memory)
    if not tally.classes:
        raise _nothing(data)
    info = {"source": data.description, "documents": tally.n_documents, "rejected": data.rejects.count}
    if not rereads:
        model = TextModel.of_tally(tally, _with_alpha(recipe, 1.0), info, threads=threads)
        if sample is not None and (calibrate or is_open):
            from textodds.left_out import lesson

            if (learned := lesson(model, sample.kept, choose=is_open)) is not None:
                if is_open:
                    chosen = _with_alpha(recipe, learned.alpha)
                    model = TextModel.of_tally(tally, chosen, info, threads=threads)
                if calibrate:
                    model.calibration, model.honest = learned.calibration, learned.honest
                    model.info["left_out"] = learned.about
        if typical and sample is not None:
            from textodds.familiar import typical_texts

            model.typical = typical_texts(model, sample.kept[:TYPICAL], seen=True)
        return model
    counts, vocabulary = selected(tally, recipe.selection)
    again = _transformed_counts(batches, counts, vocabulary, recipe)
    learner: Any = recipe.learner
    return TextModel(recipe, vocabulary, generative.fit(learner, again), tally, info, threads=threads)


def _sampled(batches: Iterable[Batch], sample: Reservoir) -> Iterator[Batch]:
    from textodds.familiar import offer

    for batch in batches:
        offer(sample, batch)
        yield batch


def _with_alpha(recipe: Recipe, alpha: float) -> Recipe:
    """The recipe with this smoothing, if it was left open."""
    learner: Any = recipe.learner
    if getattr(learner, "alpha", 1.0) is not None:
        return recipe
    return replace(recipe, learner=replace(learner, alpha=alpha))


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
    watch: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
) -> TextModel:
    """A softmax model learned in one pass, in memory that does not grow with the data."""
    from textodds.softmax import SoftmaxRegression
    from textodds.stream import HASH_BITS, SoftmaxStream

    if recipe.learner != SoftmaxRegression():
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


@dataclass(frozen=True, eq=False)
class _Weighted:
    """Documents whose words naive Bayes may scale."""

    documents: Documents
    weighting: Weighting

    def scale(self, factor: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """What each word is worth, (V,)."""
        idf = self.documents.idf(self.weighting)
        return idf if factor is None else idf * factor

    def rows(self, factor: NDArray[np.float64] | None) -> Any:
        """The rows, (N, V)."""
        return self.documents.rows(self.weighting, self.scale(factor))

    def presence(
        self, codes: NDArray[np.int64], weights: NDArray[np.float64], n_classes: int
    ) -> NDArray[np.float64]:
        """Weight of the documents of each class with each word, (V, K)."""
        return self.documents.gathered.by_class(codes, weights, n_classes)


CLEARLY = 0.95
"""Share of the held-out loss that a calibration must get below to be worth having."""

SAMPLE, TYPICAL = 5000, 2000
"""Texts of training that are kept for a while, to calibrate by and to compare with."""

SHORT = 64
"""Mean number of words below which texts are short."""


def _of_documents(
    data: Source,
    recipe: Recipe,
    threads: int,
    watch: Callable[[Iterable[Batch]], Iterable[Batch]],
    fitting: Watchers | None,
    *,
    calibrate: bool,
) -> TextModel:
    """A model that needs every document at once."""
    batches: Iterable[Batch] = data
    if recipe.is_open and not data.replayable:
        batches = list(watch(data))  # features are compared, and the stream can be read but once
        watch = _as_they_are
    ahead = prefetched(iter(batches)) if data.size is not None else batches
    candidate = _candidate(watch(ahead), recipe, threads)
    if not len(candidate.documents):
        raise _nothing(data)
    if recipe.is_open:
        candidate = _better(candidate, batches, threads)
    design, rows, recipe = candidate.design, candidate.rows, replace(candidate.recipe, is_open=False)
    learner: Any = recipe.learner
    try:
        fit = learner.fit_design(design, rows, watch=fitting)
    except Separable as error:  # it knows numbers where readers want words
        numbers = np.array([int(name[1:]) for name in error.strongest], dtype=np.int64)
        named = candidate.documents.vocabulary.words(numbers)
        raise Separable(error.complete, error.direction, named) from error
    mass = np.bincount(rows.codes, rows.weights, len(rows.classes))
    info = {
        "source": data.description,
        "documents": candidate.documents.n_documents,
        "rejected": data.rejects.count,
        "class_documents": dict(zip(rows.classes, mass.tolist(), strict=True)),
        "fit": fit.report(),
    }
    model = TextModel(
        recipe,
        candidate.documents.vocabulary,
        fit.model,
        None,
        info,
        scale=design.scale(fit.factor),
        threads=threads,
    )
    if calibrate:
        _calibrate_held_out(model, fit)
    return model


def _calibrate_held_out(model: TextModel, fit: Any) -> None:
    """Calibrate a model by what was said of texts that were held out to choose its penalty, if any were."""
    model.honest = getattr(fit, "honest", None)  # discriminants calibrate themselves
    held = getattr(fit, "held", None)
    if held is None:
        return
    from textodds.calibrate import Calibration, log_loss
    from textodds.honest import FEWEST, Honest
    from textodds.linear import log_softmax

    if len(held.codes) < FEWEST:
        return
    some = held.weights > 0
    scores, codes, weights = held.scores[some], held.codes[some], held.weights[some]
    prior = model.form.log_prior
    found = Calibration.of_parts((scores - prior)[None], codes, weights, offset=prior)
    posterior = log_softmax(found.applied(scores - prior) + prior)
    if log_loss(posterior, codes, weights) < CLEARLY * log_loss(scores, codes, weights):
        model.calibration = found
    else:  # right as it is: the models of the folds differ from this one by more than a calibration gains
        posterior, found = log_softmax(scores), Calibration.none()
    model.honest = Honest.of(posterior, codes)
    model.info["left_out"] = found.told(scores, posterior, codes, weights)


def _as_they_are(batches: Iterable[Batch]) -> Iterable[Batch]:
    return batches


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Documents under a recipe."""

    recipe: Recipe
    documents: Documents

    @cached_property
    def design(self) -> _Weighted:
        assert self.recipe.weighting is not None
        return _Weighted(self.documents, self.recipe.weighting)

    @cached_property
    def rows(self) -> LabelledRows:
        from textodds.rows import LabelledRows, checked_weights

        documents = self.documents
        weights = checked_weights(documents.weights, len(documents))
        rows = LabelledRows(self.design.rows(None), documents.classes, documents.codes, weights)
        return rows.with_two_classes()


def _candidate(batches: Iterable[Batch], recipe: Recipe, threads: int) -> _Candidate:
    settings, selection = recipe.settings, recipe.selection
    documents = Documents.gather(batches, settings=settings, selection=selection, threads=threads)
    return _Candidate(recipe, documents)


def _better(plain: _Candidate, batches: Iterable[Batch], threads: int) -> _Candidate:
    """The same, or with more features, whichever does better on held-out documents.

    Short texts have few words, which characters within them help out; long ones may say things in
    phrases, which three words in a row catch.
    """
    from textodds.softmax import promise

    terms = float(plain.documents.gathered.occurrences().sum())  # about as many pairs as single words
    is_short = terms / 2 <= SHORT * len(plain.documents)
    more: dict[str, Any] = {"characters": (2, 5)} if is_short else {"ngrams": (1, 3)}
    richer = replace(plain.recipe, settings=replace(plain.recipe.settings, **more))
    other = _candidate(prefetched(iter(batches)), richer, threads)
    learner: Any = plain.recipe.learner
    losses = [promise(learner, candidate.design, candidate.rows) for candidate in (plain, other)]
    return other if losses[1] < losses[0] else plain


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
