"""TextModel: from raw text to a decision, and back to the counts it rests on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds import _kernels, generative, store
from textodds.conditionals.complement import transformed
from textodds.data import Batch, Source, prefetched, read
from textodds.errors import InputError, NoData, Unsupported, suggestion
from textodds.evaluate import Evaluation, evaluate
from textodds.explain import Explanation, explain
from textodds.generative import Learner, MultinomialNB, Prior, learner_named
from textodds.linear import LinearModel, log_prior, log_softmax
from textodds.store import Recipe, Stored
from textodds.tally import MEMORY, Counts, Tally, checked_threads
from textodds.text import UNKNOWN, Selection, TextSettings, Vocabulary


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of one text.

    ``evidence`` is the number of terms the model knows: 0 means that it answers without having read
    a word it knows (with the prior, unless unknown or absent words count in this model).
    """

    label: str
    probability: float
    evidence: int
    probabilities: dict[str, float]


class TextModel:
    """A trained classifier of texts; made by `train`, `load`, or ``+``.

    What it has learned are counts (`tally`). Learning more, forgetting, merging and subtracting
    are exact: the model is always the one that training on the remaining documents would give.

    Attributes
    ----------
    classes_ : tuple of str
        The labels, sorted; labels are text. Column k of probabilities belongs to ``classes_[k]``.
    recipe : Recipe
        Every choice that was made.
    vocabulary : Vocabulary
        The words the model uses.
    linear : LinearModel
        The fitted form.
    info : dict
        What is known of the data.
    """

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        linear: LinearModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        *,
        threads: int | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        self._install(recipe, vocabulary, linear, tally, info)

    def _install(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        linear: LinearModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
    ) -> None:
        weights = linear.weights
        sparse = (weights.starts, weights.class_of, weights.exceptions)
        unknown = None if recipe.unknown == "ignore" else int(vocabulary.find([UNKNOWN])[0])
        kernel = _kernels.Linear(
            recipe.settings.analyser,
            (vocabulary.keys, vocabulary.arena, vocabulary.directory),
            linear.log_prior + linear.intercept,
            weights.default,
            weights.slope,
            weights.base,
            None if weights.dense is None else weights.dense.reshape(-1),
            None if weights.dense is not None else sparse,  # type: ignore[arg-type]
            None if unknown is None or unknown < 0 else unknown,
            linear.presence,
            weights.replaces,
        )
        self.recipe, self.vocabulary, self.linear, self.info = recipe, vocabulary, linear, info
        self._kernel, self._tally = kernel, tally

    @classmethod
    def of_tally(
        cls, tally: Tally, recipe: Recipe, info: dict[str, Any] | None = None, *, threads: int | None = None
    ) -> TextModel:
        """The model that a recipe makes of counts."""
        vocabulary, linear = _fitted(tally, recipe)
        return cls(recipe, vocabulary, linear, tally, info or {}, threads=threads)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return self.linear.classes

    @property
    def tally(self) -> Tally:
        """The counts the model rests on."""
        if self._tally is None:
            raise Unsupported(
                "this model was saved without its counts",
                hint="train it again, without `--no-counts`, to learn, forget or merge",
            )
        if not isinstance(self._tally, Tally):
            self._tally = self._tally()
        return self._tally

    def __repr__(self) -> str:
        return f"<TextModel: {len(self.classes_)} classes, {len(self.vocabulary):,} words>"

    def __call__(self, text: str) -> Prediction:
        """The prediction for one text."""
        if not isinstance(text, str):
            raise InputError(
                f"a text must be str, got {type(text).__name__}", hint="for several texts use predict(texts)"
            )
        scores, evidence = self._kernel.score([text], 1)
        row = scores[0]
        best = int(row.argmax())
        shares = np.exp(row - row[best])
        shares /= shares.sum()
        probabilities = dict(zip(self.classes_, shares.tolist(), strict=True))
        return Prediction(self.classes_[best], float(shares[best]), int(evidence[0, 0]), probabilities)

    def score(self, texts: Any) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2).

        ``texts`` is a list of str, or an Arrow, pandas or polars column of strings.
        """
        parts = [self._kernel.score(batch.texts, self.threads) for batch in _texts(texts)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def predict(self, texts: Any) -> NDArray[np.object_]:
        """The most probable label of each text, (N,)."""
        names = np.array(self.classes_, dtype=object)  # NumPy's own text would lose a final NUL
        return np.asarray(names[self.score(texts)[0].argmax(axis=1)])

    def predict_log_proba(self, texts: Any) -> NDArray[np.float64]:
        """``log p(class | text)``, (N, K)."""
        return log_softmax(self.score(texts)[0])

    def predict_proba(self, texts: Any) -> NDArray[np.float64]:
        """``p(class | text)``, (N, K), each row summing to one."""
        return np.exp(self.predict_log_proba(texts))

    def evaluate(self, source: Any, labels: Any = None, **reading: Any) -> Evaluation:
        """Measured quality on labelled data; takes what `train` takes as data."""
        return self.evaluate_batches(read(source, labels, **reading))

    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""

        def scored() -> Iterator[tuple[list[str], NDArray[np.float64], NDArray[np.uint32]]]:
            for batch in batches:
                scores, evidence = self._kernel.score(batch.texts, self.threads)
                yield _as_list(batch.labels), log_softmax(scores), evidence

        return evaluate(scored(), self.classes_)

    def explain(self, text: str, label: str | None = None, rival: str | None = None) -> Explanation:
        """What each word of a text adds to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        scores, _ = self._kernel.score([text], 1)
        order = np.argsort(-scores[0], kind="stable").tolist()
        chosen = order[0] if label is None else self._class(label)
        other = next(k for k in order if k != chosen) if rival is None else self._class(rival)
        if chosen == other:
            raise InputError(f"`{label}` cannot be its own rival", hint="name another class, or none")
        _, features, counts, unknown = self._kernel.rows([text])
        words = self.vocabulary.words(features)
        return explain(self.linear, features, counts, words, int(unknown[0]), chosen, other)

    def _class(self, label: str) -> int:
        if label not in self.classes_:
            raise InputError(
                f"there is no class `{label}`{suggestion(label, self.classes_)}",
                hint=f"the classes are {', '.join(self.classes_[:20])}",
            )
        return self.classes_.index(label)

    def top_words(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """The words that speak most for a class: log-odds against the mean of the other classes."""
        k, K = self._class(label), len(self.classes_)
        if K < 2 or not len(self.vocabulary):
            return []
        best: list[tuple[float, int]] = []
        for start in range(0, len(self.vocabulary), 65_536):  # never a full matrix of a large model
            numbers = np.arange(start, min(start + 65_536, len(self.vocabulary)))
            rows = self.linear.weights.rows(numbers)
            others = (rows.sum(axis=1) - rows[:, k]) / (K - 1)
            odds = rows[:, k] - others
            near = np.argsort(-odds, kind="stable")[:n]
            best = sorted(best + [(-float(odds[i]), int(numbers[i])) for i in near])[:n]
        words = self.vocabulary.words(np.array([number for _, number in best]))
        return [(word, -odds) for word, (odds, _) in zip(words, best, strict=True)]

    def learn(
        self, texts: str | Sequence[str], labels: str | Sequence[str], weights: ArrayLike | None = None
    ) -> None:
        """Learn more documents: afterwards the model is as if trained on them too."""
        self.change(_tally_of(texts, labels, weights, self), 1)

    def forget(
        self, texts: str | Sequence[str], labels: str | Sequence[str], weights: ArrayLike | None = None
    ) -> None:
        """Forget documents: afterwards the model is as if it had never seen them.

        Raises `NegativeCount`, and changes nothing, if they were not learned before.
        """
        self.change(_tally_of(texts, labels, weights, self), -1)

    def change(self, tally: Tally, sign: int) -> None:
        """Add counts (``sign`` 1) or take them away (-1); on an error nothing is changed."""
        self.must_be_counts()
        changed = self.tally + tally if sign > 0 else self.tally - tally
        if not changed.classes:
            raise InputError("that would forget every document", hint="delete the model instead")
        vocabulary, linear = _fitted(changed, self.recipe)
        info = {**self.info, "documents": changed.n_documents}
        for part in ("quality", "fingerprint"):
            info.pop(part, None)  # it was that of another model
        self._install(self.recipe, vocabulary, linear, changed, info)

    def must_be_counts(self) -> None:
        """Refuse a model that does not rest on counts alone."""
        if getattr(self.recipe.learner, "transform", False):
            raise Unsupported(
                "a complement model of transformed documents depends on all of them at once",
                hint="train it again on the data wanted, or train with transform=False",
            )

    def __add__(self, other: TextModel) -> TextModel:
        return self._combined(other, 1) if isinstance(other, TextModel) else NotImplemented

    def __sub__(self, other: TextModel) -> TextModel:
        return self._combined(other, -1) if isinstance(other, TextModel) else NotImplemented

    def _combined(self, other: TextModel, sign: int) -> TextModel:
        self.must_be_counts()
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        differing = [part for part in mine if mine[part] != theirs[part]]
        if differing:
            raise InputError(
                f"the models were made differently: {', '.join(differing)}",
                hint="train both with the same options",
            )
        tally = self.tally + other.tally if sign > 0 else self.tally - other.tally
        if not tally.classes:
            raise InputError("nothing would be left of the model")
        return TextModel.of_tally(tally, self.recipe, {"documents": tally.n_documents}, threads=self.threads)

    def with_prior(self, prior: Prior) -> TextModel:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        if not self.linear.is_posterior:
            raise Unsupported("a complement model has no prior to change")
        documents = self.tally.counts().class_documents if prior == "data" else np.ones(len(self.classes_))
        linear = self.linear.with_prior(log_prior(prior, self.classes_, documents))
        learner: Learner = replace(self.recipe.learner, prior=prior)  # type: ignore[type-var]
        recipe = replace(self.recipe, learner=learner)
        return TextModel(recipe, self.vocabulary, linear, self._tally, self.info, threads=self.threads)

    def save(self, path: str | os.PathLike[str], *, counts: bool = True) -> None:
        """Write the model to a file.

        Without ``counts`` the file is smaller and holds no word that the model does not use, but
        cannot learn, forget or be merged.
        """
        info = dict(self.info)
        if counts and self._tally is not None:
            info["fingerprint"] = self.tally.fingerprint()
        tally = (lambda: self.tally) if counts and self._tally is not None else None
        store.save(path, Stored(self.recipe, self.vocabulary, self.linear, tally, info))

    def rows(self, texts: Any) -> Any:
        """The texts as SciPy sparse rows of word counts, (N, V)."""
        from scipy import sparse

        parts = [self._kernel.rows(batch.texts) for batch in _texts(texts)]
        matrices = [_csr(part, len(self.vocabulary)) for part in parts]
        return (
            sparse.vstack(matrices, format="csr") if matrices else sparse.csr_array((0, len(self.vocabulary)))
        )


def _csr(part: tuple[NDArray[Any], ...], V: int) -> Any:
    from scipy import sparse

    starts, words, counts, _ = part
    return sparse.csr_array((counts, words, starts), shape=(len(starts) - 1, V))


def _texts(texts: Any) -> Iterable[Batch]:
    if isinstance(texts, str):
        raise InputError("one text came where several are wanted", hint="write [text], or call model(text)")
    if isinstance(texts, list):  # the usual case, without a detour
        return [Batch(texts, None, None)] if texts else []
    return read(texts, labelled=False)


def _as_list(labels: Any) -> list[str]:
    if labels is None:
        raise NoData("there are texts but no labels to compare with")
    if isinstance(labels, list):
        return labels
    if hasattr(labels, "to_list"):
        return list(labels.to_list())
    import pyarrow

    return [str(label) for label in pyarrow.array(labels).to_pylist()]


def _tally_of(
    texts: str | Sequence[str], labels: str | Sequence[str], weights: ArrayLike | None, model: TextModel
) -> Tally:
    if isinstance(texts, str):
        texts, labels = [texts], [labels]  # type: ignore[list-item]
    elif isinstance(labels, str):
        labels = [labels] * len(texts)
    batches = read(list(texts), list(labels), weights)  # labels of any type become text there
    return Tally.count(batches, settings=model.recipe.settings, threads=model.threads)


def _fitted(tally: Tally, recipe: Recipe) -> tuple[Vocabulary, LinearModel]:
    """The words and the fitted form that a recipe makes of counts."""
    if not tally.classes:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    counts, vocabulary = _selected(tally, recipe.selection)
    if not len(vocabulary) and len(tally.vocabulary):
        raise NoData(
            f"no word is left of {len(tally.vocabulary):,}",
            hint="lower min_df, or raise max_df or max_features",
        )
    if recipe.unknown != "ignore":
        counts, vocabulary = _with_unknown(counts, vocabulary, recipe.unknown)
    return vocabulary, generative.fit(recipe.learner, counts)


def _selected(tally: Tally, selection: Selection) -> tuple[Counts, Vocabulary]:
    counts, vocabulary = tally.counts(), tally.vocabulary
    if selection.keeps_all:
        return counts, vocabulary
    occurrences = counts.by_feature(counts.occurrences)
    keep = selection.mask(counts.by_feature(counts.documents), occurrences, tally.n_documents)
    surplus = 0 if selection.max_features is None else int(keep.sum()) - selection.max_features
    if surplus > 0:  # of the words as frequent as the last, the alphabet decides
        least = occurrences[keep].min()
        tied = np.flatnonzero(keep & (occurrences == least))
        by_name = sorted(zip(vocabulary.words(tied), tied.tolist(), strict=True))
        keep[[number for _, number in by_name[len(tied) - surplus :]]] = False
    return counts.select(keep), vocabulary.select(np.flatnonzero(keep))


def _with_unknown(counts: Counts, vocabulary: Vocabulary, policy: str) -> tuple[Counts, Vocabulary]:
    """Counts and words with a row for unknown words.

    ``smooth`` gives it no occurrence, so that it has the weight of a word never seen; ``count`` has
    counted it already. ``first`` takes the first occurrence of each word for it. Which class that
    was depends on the order of the documents, which a tally does not know and should not: each
    class gives up its share of one occurrence, the expectation over all orders.
    """
    moved = np.zeros(len(counts.classes))
    if policy == "first":
        shares = []
        for values in (counts.occurrences, counts.documents):
            total = counts.by_feature(values)[counts.feature_of]
            shares.append(values / np.maximum(total, 1.0))
        moved = counts.by_class(shares[0])
        counts = Counts(
            counts.classes,
            counts.class_documents,
            counts.starts,
            counts.class_of,
            np.maximum(counts.occurrences - shares[0], 0.0),
            np.maximum(counts.documents - shares[1], 0.0),
        )
    grown, place = vocabulary.insert(UNKNOWN)
    return counts.insert(place, moved, new=len(grown) > len(vocabulary)), grown


def recipe_of(
    learner: Learner | str = "multinomial",
    *,
    unknown: str = "ignore",
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    max_features: int | None = None,
    settings: TextSettings | None = None,
    **text_settings: Any,
) -> Recipe:
    """A recipe from the options of `train`."""
    if settings is not None and text_settings:
        raise InputError("give settings, or single text settings, not both")
    if settings is None:
        known = [field.name for field in (*fields(TextSettings), *fields(Selection))]
        for name in text_settings:
            if name not in known:
                raise InputError(f"there is no option `{name}`{suggestion(name, [*known, 'unknown'])}")
        settings = TextSettings(**{**text_settings, "count_unknown": unknown == "count"})
    if isinstance(learner, str):
        learner = learner_named(learner)
    if getattr(learner, "transform", False) and unknown != "ignore":
        raise Unsupported(
            "transformed documents have no place for unknown words", hint="use unknown='ignore'"
        )
    return Recipe(settings, Selection(min_df, max_df, max_features), unknown, learner)


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
    counts, vocabulary = _selected(tally, recipe.selection)
    again = _transformed_counts(batches, counts, vocabulary, recipe)
    return TextModel(recipe, vocabulary, generative.fit(recipe.learner, again), tally, info, threads=threads)


def _transformed_counts(
    batches: Iterable[Batch], counts: Counts, vocabulary: Vocabulary, recipe: Recipe
) -> Counts:
    """Class sums of transformed documents, by a second pass over the data."""
    K, V = len(counts.classes), len(vocabulary)
    plain = TextModel(recipe, vocabulary, generative.fit(MultinomialNB(), counts), None, {})
    index = {name: k for k, name in enumerate(counts.classes)}
    df, n = counts.by_feature(counts.documents), float(counts.class_documents.sum())
    sums = np.zeros(len(counts.class_of))
    places = counts.feature_of.astype(np.int64) * K + counts.class_of
    for batch in batches:
        labels = _as_list(batch.labels)
        weight = np.ones(len(labels)) if batch.weights is None else batch.weights
        rows = transformed(_csr(plain._kernel.rows(batch.texts), V), df, n)
        lengths = np.diff(rows.indptr)
        codes = np.array([index.get(label, 0) for label in labels], dtype=np.int64)
        wanted = rows.indices.astype(np.int64) * K + np.repeat(codes, lengths)
        cell = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        counted = places[cell] == wanted  # a document without weight, or a pruned word, has no cell
        values = rows.data * np.repeat(weight, lengths)
        sums += np.bincount(cell[counted], values[counted], len(sums))
    return Counts(
        counts.classes, counts.class_documents, counts.starts, counts.class_of, sums, counts.documents
    )


def load(path: str | os.PathLike[str], *, threads: int | None = None) -> TextModel:
    """The model in a file."""
    stored = store.load(path)
    try:
        return TextModel(
            stored.recipe, stored.vocabulary, stored.linear, stored.tally, stored.info, threads=threads
        )
    except InputError as error:  # arrays that do not fit together
        raise store.damaged(path, error.problem) from error
