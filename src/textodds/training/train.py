"""Training: from any source of labelled texts, or of rows of a table, to a model. The one way in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Unpack, overload

from textodds.data import Batch, Observer, ReadOptions, Schema, Source, read
from textodds.errors import InputError, Unsupported
from textodds.judge.thresholds import Goal
from textodds.learn.recipe import Recipe, is_of_documents
from textodds.model.file import load_one_label
from textodds.model.fit import fit_corpus, fit_counts
from textodds.model.text_model import TextModel
from textodds.stats.corpus import MOST, Corpus, Keeper
from textodds.stats.sample import TYPICAL, HashSample
from textodds.stats.tally import Tally, checked_threads
from textodds.training.again import ASKED, Question, must_ask_nothing_else, train_again
from textodds.training.labels import checked_labels, with_labels
from textodds.training.options import TextOrTableOptions, TrainOptions
from textodds.training.plan import (
    Plan,
    Running,
    is_table,
    must_know_typical,
    nothing_in,
    plan_of,
    reading_and_words,
    texts_or_table,
    why_not_kept,
)

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.tables.table_model import TableModel
    from textodds.training.choose import Choice

M = TypeVar("M", "TextModel", "TableModel", "MultiLabelModel")
Like: TypeAlias = "TextModel | TableModel | str | os.PathLike[str]"
"""A model that another is to be like, or its file."""


@overload
def train(  # type: ignore[overload-overlap]  # the first that fits is taken
    source: object,
    labels: list[list[str]] | list[tuple[str, ...]] | list[set[str]],
    weights: object = None,
    **options: Unpack[TextOrTableOptions],
) -> MultiLabelModel: ...
@overload
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    label_separator: str,
    text: str | Sequence[str] | None = None,
    **options: Unpack[TrainOptions],
) -> MultiLabelModel: ...
@overload
def train(
    source: list[str] | tuple[str, ...],
    labels: object,
    weights: object = None,
    *,
    columns: None = None,
    like: TextModel | None = None,
    **options: Unpack[TrainOptions],
) -> TextModel: ...
@overload
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    text: str | Sequence[str],
    like: Like | None = None,
    **options: Unpack[TrainOptions],
) -> TextModel: ...
@overload
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    columns: Mapping[str, str],
    like: Like | None = None,
    **options: Unpack[TrainOptions],
) -> TableModel: ...
@overload
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    like: TextModel,
    **options: Unpack[TrainOptions],
) -> TextModel: ...
@overload
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    like: Like | None = None,
    **options: Unpack[TextOrTableOptions],
) -> TextModel | TableModel | MultiLabelModel: ...
def train(
    source: object = None,
    labels: object = None,
    weights: object = None,
    *,
    learner: object = None,
    features: str | Sequence[str] | None = None,
    budget: float | None = None,
    columns: Mapping[str, str] | None = None,
    like: Like | None = None,
    unlabelled: object = None,
    vectors: str | os.PathLike[str] | None = None,
    stream: bool = False,
    typical: bool = False,
    calibrate: bool = True,
    textbook: bool = False,
    documents: bool = True,
    clean_labels: bool = False,
    goal: str | None = None,
    threads: int | None = None,
    memory: int | None = None,
    observer: Observer | None = None,
    **options: object,
) -> TextModel | TableModel | MultiLabelModel:
    """A model trained on any source of labelled texts, or of labelled rows of a table.

    Parameters
    ----------
    source, labels, weights
        The data; see `textodds.read`.
    learner : learner or str, optional
        Of texts: `MultinomialNB`, `BernoulliNB`, `ComplementNB`, `SoftmaxRegression`, `NBSoftmax`; of
        tables: `MixedNB`, the default where there is no column of texts, `CategoricalNB`, `JointTable`; of
        either: `GaussianNB`, `LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis`. Or as on the
        command line: a name, perhaps with settings, such as ``"softmax:C=10:ngrams=1-2"``; or several, of
        which the best is chosen on held-out texts together with the features. By default it is chosen
        (``"auto"``), as the command line does: of fewer than 4 texts, with ``typical`` or with ``unknown``
        it is multinomial naive Bayes of words.
    features : str or sequence of str, optional
        ``"words"``, ``"pairs"``, ``"triples"``, ``"letters"``, ``"characters"``, or several, or ``"auto"``,
        of which the best is chosen. A named naive Bayes learner uses words by default.
    budget : float, default 60
        Seconds of an ordinary core for selection and training; slower candidates are not tried.
        They are estimated from the work, so that every machine selects the same model.
    columns : dict, optional
        What the columns of a table are; see `textodds.training.tables.train_table`.
    like : TextModel, TableModel or path, optional
        A model of texts: repeat its selection, with the options it was trained with, on
        these data or, without any, on the documents it has now. A model of a table: take each column
        as it did, so that the two can be merged.
    unlabelled : source, optional
        Unlabelled texts to learn from too: by EM (`SemiSupervisedNB`), or by softmax regression whose prior
        knows which words occur together, whichever does better on held-out labelled texts; or by a named
        learner, ``"semisupervised"`` or ``"softmax"``. Such a model cannot learn more or forget.
    vectors : path, optional
        Word vectors, by which words that are alike have like weights, and words of no training text have
        weights too: word2vec, GloVe or fastText (text or binary), safetensors with a vocabulary, or
        model2vec's folder. How much they count is chosen on held-out texts. Such a model cannot learn more.
    stream : bool, default False
        Learn softmax regression in one pass, words hashed, in memory that does not grow with the data.
    typical : bool, default False
        Whether to store how surprising typical texts are, for novelty detection
        (`TextModel.familiarity`).
    calibrate : bool, default True
        Whether to calibrate probabilities on left-out documents, and to store the quality on
        them; of naive Bayes with 16 texts or more, of softmax with 8.
    textbook : bool, default False
        Do not tune or calibrate, so that probabilities can be checked by hand: smoothing 1, priors by
        maximum likelihood, words as they are counted, Gaussian numbers. Softmax has the penalty C = 1.
    documents : bool, default True
        Whether the model keeps its documents, compactly, so that all of it follows them when it learns or
        forgets. More than 256 MB of them are not kept. Without them only counts can be updated.
    clean_labels : bool, default False
        Whether labels that differ only in case, in spaces or in how accents are encoded are one: the most
        frequent spelling. The model does so in what it learns and is measured on later, too. Without, such
        labels are pointed out (`textodds.errors.SimilarLabels`).
    goal : str, default "f1"
        Of several labels a text, what the thresholds of labels are chosen for, on held-out texts: ``f1``
        (micro- and macro-F1 together), ``micro-f1``, ``macro-f1``, ``precision=0.9``, ``recall=0.9``,
        ``cost=1:5`` (a false alarm against a miss), or ``half``.
    threads : int, optional
        Threads to count on; every number gives the same model.
    memory : int, default 2 GiB
        Bytes that words and counts may use before the rarest words are dropped.
    observer : Observer, optional
        Receives the progress.
    **options
        How the data is read: ``text``, ``label``, ``weight``, ``format``, ``query``, ``quoting``, ``header``,
        ``encoding``, ``sheet``, ``bad_rows``, ``rejects_path`` (see `textodds.read`). How texts are tokenised
        and which words are kept: ``min_df``, ``max_df``, ``max_features`` (see `Selection`); ``unknown``, how
        to treat words outside the vocabulary (``ignore``; ``smooth``: as a word with zero count; ``first``:
        estimated from each word's first occurrence; ``count``: with a ``vocabulary`` fixed in advance, the
        words outside it count as ``<UNK>``); ``weighting``, for softmax (see `Weighting`); ``sklearn=True``
        to tokenise texts as scikit-learn does; and the fields of `TextSettings`.

    Notes
    -----
    By default the smoothing of naive Bayes is tuned by leave-one-out; of
    fewer than 16 texts, with ``unknown``, and of complement with ``norm`` or ``transform`` alpha is 1.
    Softmax has tf-idf, ``min_df=2``, and a penalty and features chosen on held-out texts. What was tried, and
    how well it did, is in ``model.info["chosen"]``.

    Examples
    --------
    >>> model = train(["free phone", "see you at six", "free prize"], ["spam", "ham", "spam"])
    >>> model("a free offer").label
    'spam'
    """
    reading, words = reading_and_words(options)
    known = reading.remembered(source)
    if isinstance(like, str | os.PathLike):
        like = load_one_label(like)
    how = Running(
        typical=typical, calibrate=calibrate, textbook=textbook, documents=documents, budget=budget,
        threads=checked_threads(threads), memory=memory,
    )  # fmt: skip
    observer = observer or Observer()
    if isinstance(like, TextModel):
        must_ask_nothing_else(
            learner=learner, features=features, words=words, columns=columns, unlabelled=unlabelled,
            vectors=vectors, stream=stream, textbook=textbook, clean_labels=clean_labels,
        )  # fmt: skip
        return _like(like, (source, labels, weights), reading, how, observer)
    file = None if vectors is None else os.fspath(vectors)
    plan = plan_of(
        learner, features, words, unlabelled=unlabelled is not None, vectors=file is not None, stream=stream,
        columns=columns, like=like, **how,
    )  # fmt: skip
    question = Question(learner, features, words, calibrate, typical, textbook, stream)
    task = _Task(plan, reading, known, observer, question, goal, clean_labels, unlabelled, file)
    given = (source, labels, weights)
    return texts_or_table(*given, reading, plan, of_texts=task.of_texts, of_rows=lambda: task.of_rows(*given))


@dataclass(frozen=True)
class _Task:
    """What `train` is asked for, once it is known how; of texts or of rows, as the data turn out to be."""

    plan: Plan
    reading: ReadOptions
    known: Mapping[str, object]
    observer: Observer
    question: Question
    goal: str | None
    clean: bool
    unlabelled: object
    vectors: str | None

    def of_rows(self, source: object, labels: object, weights: object) -> TableModel:
        """A model of the rows of a table."""
        from textodds.training.tables import open_table, train_table_on

        if self.vectors is not None:
            raise InputError("word vectors are for texts, and these data have none", hint="leave them out")
        data = open_table(source, labels, weights, plan=self.plan, reading=self.reading)
        data = checked_labels(data, self.clean)
        model = with_labels(train_table_on(data, self.plan, self.observer), data, self.clean)
        return _remembering(model, self.known)

    def of_texts(self, data: Source) -> TextModel | MultiLabelModel:
        """A model of texts, or of several labels a text."""
        if data.has_label_sets:
            return self._of_label_sets(data)
        _must_have_no_goal(self.goal)
        others, stream = _without_labels(self.unlabelled, self.reading), self.question.stream
        data = checked_labels(data, self.clean)
        model = _of_texts(data, others, self.plan, self.observer, stream=stream, vectors=self.vectors)
        model = _remembering(with_labels(model, data, self.clean), self.known, data.schema)
        return model if others is not None or self.vectors is not None else _asked(model, self.question)

    def _of_label_sets(self, data: Source) -> MultiLabelModel:
        from textodds.training.multilabel import train_labels_on

        plan = self.plan
        refused = {
            "unlabelled": self.unlabelled is not None, "vectors": self.vectors is not None,
            "stream": self.question.stream, "typical": plan.typical, "memory": plan.memory is not None,
        }  # fmt: skip
        if given := [name for name, is_given in refused.items() if is_given]:
            raise Unsupported(f"`{given[0]}` is for one label a text", hint="leave it out")
        data = checked_labels(data, self.clean)
        model = train_labels_on(data, plan, Goal.of(self.goal or "f1"), self.observer)
        return _remembering(with_labels(model, data, self.clean), self.known, data.schema)


def _without_labels(unlabelled: object, reading: ReadOptions) -> Source | None:
    """The source of texts without labels, if there are any."""
    if unlabelled is None:
        return None
    return read(unlabelled, labelled=False, **vars(reading.without_labels()))


def _must_have_no_goal(goal: str | None) -> None:
    if goal is not None:
        raise InputError(
            "`goal` is for several labels a text, and these data have one",
            hint="leave it out; or say what separates labels: `--label-separator '|'` (label_separator=)",
        )


def _like(
    like: TextModel,
    data: tuple[object, object, object],
    reading: ReadOptions,
    how: Running,
    observer: Observer,
) -> TextModel:
    """The model that the question of another makes of data or, without any, of the other's documents."""
    question = Question.of(like).with_flags(calibrate=how["calibrate"], typical=how["typical"])
    how = {**how, "typical": question.typical, "calibrate": question.calibrate, "textbook": question.textbook}
    plan = plan_of(question.learner, question.features, question.words, stream=question.stream, **how)
    if is_table(data[0], data[1]):
        raise InputError("`like` is a model of texts, and the data have no texts")
    if data[0] is None and reading.query is None:
        model = _asked(train_again(like, plan, observer), question)
    else:
        source = like.read(*data, labelled=True, **reading.said)
        model = _of_texts(source, None, plan, observer, stream=question.stream)
        known = reading.remembered(data[0]) or like.info.get("reading") or {}
        model = _asked(_remembering(model, known, source.schema), question)
    if all(map(like.labels.fits, model.class_names)):
        model.labels = like.labels
    return model


def _remembering(model: M, known: Mapping[str, object], schema: Schema | None = None) -> M:
    """The model, which reads other data as these were read: columns that have names, and what was said."""
    if schema is not None and schema.columns:
        model.info["columns"] = schema.as_dict()
    if known:
        model.info["reading"] = dict(known)
    return model


def _asked(model: TextModel, question: Question) -> TextModel:
    """The model, which may be asked the same again."""
    model.info[ASKED] = question.as_dict()
    return model


def _of_texts(
    data: Source,
    unlabelled: Source | None,
    plan: Plan,
    observer: Observer,
    *,
    stream: bool,
    vectors: str | None = None,
) -> TextModel:
    """A model of texts: with others that have no labels, with word vectors, of a stream, or as usual."""
    if vectors is not None:
        from textodds.training.neighbours import train_vectors_on

        return train_vectors_on(data, vectors, plan, observer)
    if unlabelled is not None:
        from textodds.training.semisupervision import train_unlabelled_on

        return train_unlabelled_on(data, unlabelled, plan, observer)
    if stream:
        from textodds.training.stream import train_stream

        return train_stream(data, plan.recipe(), plan.threads, observer)
    return train_on(data, plan, observer)


def train_on(data: Source, plan: Plan, observer: Observer | None = None) -> TextModel:
    """A model trained on an opened source of texts."""
    observer = observer or Observer()
    recipe, choice, batches = _settled(data, plan, observer)
    recipe = replace(recipe, calibrate=plan.calibrate)
    must_know_typical(recipe, plan.typical)
    if batches is None:
        batches = observer.watched(data, data.ahead(), "learning")
    learned = _of_documents if is_of_documents(recipe) else _of_counts
    model = learned(data, batches, recipe, plan, observer)
    first = {"source": data.description, "documents": None, "rejected": data.rejects.count}
    model.info = first | model.info
    if plan.documents and not model.has_documents:
        model.info["not_kept"] = why_not_kept(model.has_counts and model.tally.pruned > 0)
    if choice is not None:
        model.info["chosen"] = choice.report()
    if plan.textbook:
        model.info["textbook"] = True
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


def _hashed(batches: Iterable[Batch], threads: int) -> Iterator[Batch]:
    """The same batches, with the hashes by which texts are kept and sampled."""
    for batch in batches:
        batch.hashes(threads)
        yield batch


def _of_counts(
    data: Source, batches: Iterable[Batch], recipe: Recipe, plan: Plan, observer: Observer
) -> TextModel:
    """A model of counts, in one pass, which keeps the documents or draws a sample of them."""
    keeper = Keeper(recipe.settings, MOST if plan.documents else 0)
    sample = HashSample()
    is_sampled = plan.typical or recipe.calibrate or recipe.learner.is_smoothing_open
    passing = _hashed(batches, plan.threads) if plan.documents or is_sampled else batches
    if plan.documents:
        passing = keeper.passed(passing)
    if is_sampled:
        passing = sample.passed(passing)
    tally = Tally.count(passing, settings=recipe.settings, threads=plan.threads, memory=plan.bytes)
    if not tally.classes:
        raise nothing_in(data)
    kept = sample.examples()
    model = fit_counts(tally, recipe, kept, {"documents": tally.n_documents}, threads=plan.threads)
    if plan.typical:
        model.typical = model.typical_of(kept[:TYPICAL], seen=True)
    if plan.documents and not tally.pruned:  # rare words that are gone would come back with the documents
        model.corpus = keeper.corpus()
    return model


def _of_documents(
    data: Source, batches: Iterable[Batch], recipe: Recipe, plan: Plan, observer: Observer
) -> TextModel:
    """A model that needs every document at once."""
    corpus = Corpus.of(batches, recipe.settings)
    if not len(corpus):
        raise nothing_in(data)
    model = fit_corpus(corpus, recipe, {}, threads=plan.threads, memory=plan.bytes, observer=observer)
    if not plan.documents or corpus.size > MOST or (model.has_counts and model.tally.pruned):
        model.corpus = None
    return model
