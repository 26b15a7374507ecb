"""How two models differ: in what they rest on, in what they believe, and in what they decide."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import BadFile, InputError, LengthMismatch, MissingColumn
from textodds.judge.evaluation import mcnemar
from textodds.learn.arrays import Floats, Integers
from textodds.learn.forms.linear import LinearModel, log_softmax
from textodds.model.tables.marginals import Marginal, marginals
from textodds.model.text_model import TextModel
from textodds.model.words import largest

if TYPE_CHECKING:
    from textodds.model.file import Model
    from textodds.model.tables.table_model import TableModel

TOP = 20  # words, columns and examples that are named
MOST_CLASSES = 500  # classes that are compared word by word: of more, those with the most documents
CELLS = 1 << 22  # words times classes looked at at once


@dataclass(frozen=True)
class Class:
    """A class of either model: documents and prior before and after, None where it is not there."""

    documents: tuple[float | None, float | None]
    prior: tuple[float | None, float | None]


@dataclass(frozen=True)
class ChangedDecision:
    """A text or a row that the models decide differently, with the probability each gives its answer."""

    row: int
    content: object
    before: tuple[str, float]
    after: tuple[str, float]
    truth: str | None = None


@dataclass(frozen=True)
class DecisionChanges:
    """What became of the decisions on some data.

    ``changed`` counts rows by their label before and after. With true labels: how many each model had
    right, and ``only`` those that only the first, and only the second, had right. ``p_value`` is McNemar's
    exact one: how often as uneven a split of these, or a more uneven one, would come of equally good
    models.

    References
    ----------
    McNemar (1947), "Note on the sampling error of the difference between correlated proportions"; exact
    by the binomial distribution with p = 1/2, two-sided.
    """

    n: int
    changed: dict[tuple[str, str], int]
    examples: tuple[ChangedDecision, ...]
    right: tuple[int, int] | None = None
    only: tuple[int, int] | None = None

    @property
    def n_changed(self) -> int:
        """Rows whose label changed."""
        return sum(self.changed.values())

    @property
    def accuracy(self) -> tuple[float, float] | None:
        """Share of right answers before and after."""
        return None if self.right is None or not self.n else (self.right[0] / self.n, self.right[1] / self.n)

    @property
    def p_value(self) -> float | None:
        """McNemar's exact p-value."""
        return None if self.only is None else mcnemar(*self.only)


@dataclass(frozen=True)
class Difference:
    """How a second model differs from a first."""

    kind: str  # "texts" or "tables"
    classes: dict[str, Class]
    recipe: tuple[tuple[str, object, object], ...]  # what was chosen, before and after; only where it differs
    features: tuple[int, int]  # words, or columns
    gained: tuple[tuple[str, float | None], ...]  # with counts, the most frequent first
    lost: tuple[tuple[str, float | None], ...]
    n_gained: int
    n_lost: int
    between: tuple[str, str] | None = None  # of the classes that both have, the two that changed most
    moved: tuple[tuple[str, float, float], ...] = ()  # log-odds of a word between them, before and after
    shifted: tuple[tuple[str, str, float], ...] = ()  # a column, the class where it changed most, how far
    decisions: DecisionChanges | None = field(default=None)

    @property
    def added(self) -> list[str]:
        """Classes that only the second model has."""
        return [name for name, each in self.classes.items() if each.documents[0] is None]

    @property
    def removed(self) -> list[str]:
        """Classes that only the first model has."""
        return [name for name, each in self.classes.items() if each.documents[1] is None]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        plain = asdict(self)
        plain |= {"added": self.added, "removed": self.removed}
        if self.decisions is not None:
            changed = [
                {"before": before, "after": after, "rows": rows}
                for (before, after), rows in self.decisions.changed.items()
            ]
            plain["decisions"] |= {
                "changed": changed,
                "n_changed": self.decisions.n_changed,
                "accuracy": self.decisions.accuracy,
                "p_value": self.decisions.p_value,
            }
        return plain


def diff(
    a: Model, b: Model, data: object = None, labels: object = None, *, top: int = TOP, **reading: object
) -> Difference:
    """How model ``b`` differs from model ``a``, and on ``data``, if that is given, how its decisions do.

    ``data``, ``labels`` and ``reading`` are what `textodds.train` takes; labels need not be there.

    Examples
    --------
    >>> from textodds import train
    >>> a = train(["free phone", "see you"], ["spam", "ham"])
    >>> b = train(["free phone", "see you", "free eggs"], ["spam", "ham", "ham"])
    >>> found = diff(a, b, ["a free lunch", "see the phone"])
    >>> found.features, found.gained, found.between
    ((4, 5), (('eggs', 1.0),), ('ham', 'spam'))
    >>> [(word, round(before, 2), round(after, 2)) for word, before, after in found.moved[:1]]
    [('free', -0.69, -0.25)]
    >>> found.decisions.changed
    {('spam', 'ham'): 1}
    """
    if a.kind != b.kind:
        raise InputError(
            f"the first is a model of {a.kind}, the second of {b.kind}", hint="compare models of one kind"
        )
    decisions = None
    if data is not None or reading.get("query") is not None:
        decisions = _decisions(a, b, data, labels, top, reading)
    found: dict[str, Any] = {
        "classes": _classes(a, b),
        "recipe": tuple(_differing(a.recipe.as_dict(), b.recipe.as_dict())),
        "decisions": decisions,
    }
    if isinstance(a, TextModel) and isinstance(b, TextModel):
        return Difference(a.kind, **found, **_words(a, b, top))
    return Difference(a.kind, **found, **_columns(a, b, top))  # type: ignore[arg-type]


def _classes(a: Model, b: Model) -> dict[str, Class]:
    names = sorted({*a.class_names, *b.class_names})
    rows = [(_documents(a).get, _documents(b).get), (_prior(a).get, _prior(b).get)]
    return {name: Class(*((before(name), after(name)) for before, after in rows)) for name in names}


def _documents(model: Model) -> dict[str, float]:
    """Documents by class; NaN where a model was saved without."""
    known = model.has_counts or "class_documents" in model.info
    return dict(model.class_documents) if known else dict.fromkeys(model.class_names, float("nan"))


def _prior(model: Model) -> dict[str, float]:
    form = model.form if isinstance(model, TextModel) else model
    if isinstance(model, TextModel) and not model.form.is_posterior:
        return {}
    return dict(zip(model.class_names, np.exp(form.log_prior).tolist(), strict=True))


def _differing(a: object, b: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Where plain data differs, by its path."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from _differing(a.get(key), b.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(a, list) and isinstance(b, list) and any(isinstance(each, dict) for each in [*a, *b]):
        for at, (x, y) in enumerate(itertools.zip_longest(a, b)):
            yield from _differing(x, y, f"{path}[{at}]")
    elif a != b:
        yield path, a, b


def _words(a: TextModel, b: TextModel, top: int) -> dict[str, Any]:
    mine, theirs = a.vocabulary.words(), b.vocabulary.words()
    place = {word: v for v, word in enumerate(theirs)}
    common = [(v, place.pop(word)) for v, word in enumerate(mine) if word in place]
    taken = {v for v, _ in common}
    lost = [word for v, word in enumerate(mine) if v not in taken]
    pair, moved = _movements(a, b, np.array(common, dtype=np.int64).reshape(-1, 2), top)
    return {
        "features": (len(mine), len(theirs)),
        "gained": _frequent(b, list(place), top),
        "lost": _frequent(a, lost, top),
        "n_gained": len(place),
        "n_lost": len(lost),
        "between": pair,
        "moved": moved,
    }


def _frequent(model: TextModel, words: list[str], top: int) -> tuple[tuple[str, float | None], ...]:
    """Of some words those that occur most, with how often; in the order of the alphabet if none knows."""
    if not model.has_counts:
        return tuple((word, None) for word in sorted(words)[:top])
    counts, names = model.tally.counts(), model.tally.vocabulary.words()
    occurrences = dict(zip(names, counts.by_feature(counts.occurrences).tolist(), strict=True))
    ranked = heapq.nsmallest(top, words, key=lambda word: (-occurrences.get(word, 0.0), word))
    return tuple((word, occurrences.get(word, 0.0)) for word in ranked)


def _movements(
    a: TextModel, b: TextModel, common: Integers, top: int
) -> tuple[tuple[str, str] | None, tuple[tuple[str, float, float], ...]]:
    r"""The two classes that changed most, and the words whose log-odds between them moved most.

    With :math:`d_{kv}` the change of the weight of word v in class k, those are the two classes with the
    largest :math:`\sum_v (d_{jv} - d_{kv})^2` over the words of both models.
    """
    names = [name for name in a.class_names if name in set(b.class_names)]
    if not isinstance(a.form, LinearModel) or not isinstance(b.form, LinearModel) or len(names) < 2:
        return None, ()
    if len(names) > MOST_CLASSES:
        documents = _documents(b)
        names = sorted(sorted(names, key=lambda name: -documents[name])[:MOST_CLASSES])
    j, k = ([model.class_names.index(name) for name in names] for model in (a, b))
    step = max(1, CELLS // max(len(a.class_names), len(b.class_names)))
    product = np.zeros((len(names), len(names)))
    for part in (common[at : at + step] for at in range(0, len(common), step)):
        change = b.form.weights.rows(part[:, 1])[:, k] - a.form.weights.rows(part[:, 0])[:, j]
        product += change.T @ change
    square = np.diag(product)
    distance = square[:, None] + square - 2 * product
    np.fill_diagonal(distance, -np.inf)
    first, second = sorted(int(at) for at in np.unravel_index(int(distance.argmax()), distance.shape))

    sides = (a.form.weights, j), (b.form.weights, k)

    def odds(numbers: Integers) -> list[Floats]:  # of some words, before and after
        rows = [(weights.rows(common[numbers, at]), own) for at, (weights, own) in enumerate(sides)]
        return [each[:, own[first]] - each[:, own[second]] for each, own in rows]

    (best,) = largest(lambda numbers: np.abs(np.subtract(*odds(numbers)))[:, None], len(common), top, step)
    words = a.vocabulary.words(common[best, 0])
    rows = zip(words, *(values.tolist() for values in odds(best)), strict=True)
    return (names[first], names[second]), tuple(row for row in rows if row[1] != row[2])


def _columns(a: TableModel, b: TableModel, top: int) -> dict[str, Any]:
    mine, theirs = ([column.name for column in model.schema.used] for model in (a, b))
    gained = [name for name in theirs if name not in mine]
    lost = [name for name in mine if name not in theirs]
    return {
        "features": (len(mine), len(theirs)),
        "gained": tuple((name, None) for name in gained[:top]),
        "lost": tuple((name, None) for name in lost[:top]),
        "n_gained": len(gained),
        "n_lost": len(lost),
        "shifted": _shifts(a, b, top),
    }


def _shifts(a: TableModel, b: TableModel, top: int) -> tuple[tuple[str, str, float], ...]:
    """The columns whose distributions are the furthest apart, by Hellinger's distance, from 0 to 1."""
    mine, theirs = marginals(a), marginals(b)
    found = []
    for name in mine.keys() & theirs.keys():
        shifts = [
            (name, label, distance)
            for label in mine[name].keys() & theirs[name].keys()
            if (distance := _hellinger(mine[name][label], theirs[name][label])) is not None
        ]
        found += sorted(shifts, key=lambda each: (-each[2], each[1]))[:1]
    ranked = sorted(found, key=lambda each: (-each[2], each[0]))
    return tuple(each for each in ranked[:top] if each[2] > 0)


def _hellinger(p: Marginal, q: Marginal) -> float | None:
    r"""Hellinger's distance :math:`\sqrt{1 - \int \sqrt{pq}}`; None of a number and categories.

    >>> _hellinger({"a": 1.0}, {"b": 1.0}), _hellinger((0.0, 1.0), (0.0, 1.0))
    (1.0, 0.0)
    """
    if isinstance(p, dict) and isinstance(q, dict):
        if p and q and any(name.startswith("up to ") for name in p.keys() ^ q.keys()):
            return None  # intervals that were cut elsewhere
        overlap = sum(float(np.sqrt(share * q.get(name, 0.0))) for name, share in p.items())
    elif isinstance(p, tuple) and isinstance(q, tuple):
        (m1, v1), (m2, v2) = p, q
        overlap = float(
            np.sqrt(2 * np.sqrt(v1 * v2) / (v1 + v2)) * np.exp(-((m1 - m2) ** 2) / (4 * (v1 + v2)))
        )
    else:
        return None
    return float(np.sqrt(max(1.0 - min(overlap, 1.0), 0.0)))


def _decisions(
    a: Model, b: Model, data: object, labels: object, top: int, reading: dict[str, Any]
) -> DecisionChanges:
    is_named = labels is not None or reading.get("label") is not None
    try:
        return _compare_answers(a, b, _read(a, b, data, labels, reading, labelled=True), top, labelled=True)
    except InputError as error:  # labels are welcome, and need not be there
        lacking = isinstance(error, MissingColumn) and error.wanted == "label"
        lacking |= isinstance(error, BadFile) or error.problem.endswith("comes without labels")
        if is_named or not lacking:
            raise
    return _compare_answers(a, b, _read(a, b, data, labels, reading, labelled=False), top, labelled=False)


def _read(
    a: Model, b: Model, data: object, labels: object, reading: dict[str, Any], *, labelled: bool
) -> Iterable[tuple[Batch, Batch]]:
    """Batches for each of the models, of the same rows."""
    names = [model.recipe.settings.fields for model in (a, b) if isinstance(model, TextModel)]
    if len(names) == 2 and names[0] == names[1]:  # what comes once is read once
        return ((batch, batch) for batch in a.read(data, labels, labelled=labelled, **reading))
    both = [model.read(data, labels, labelled=labelled, **reading) for model in (a, b)]
    return zip(*both, strict=True)


def _compare_answers(
    a: Model, b: Model, batches: Iterable[tuple[Batch, Batch]], top: int, *, labelled: bool
) -> DecisionChanges:
    from textodds.study.report.evaluation_data import rows_as_given

    changed: Counter[tuple[str, str]] = Counter()
    right, only, n = np.zeros(2, np.int64), np.zeros(2, np.int64), 0
    best: list[tuple[float, int, ChangedDecision]] = []
    for mine, theirs in batches:
        if len(mine) != len(theirs):
            raise LengthMismatch(len(mine), len(theirs), "rows of the second model")
        (was, p), (now, q) = _answers(a, mine), _answers(b, theirs)
        truth = np.array(mine.label_list() if labelled else [None] * len(mine), dtype=object)
        hits = np.stack([was == truth, now == truth])
        right += hits.sum(axis=1)
        only += (hits & ~hits[::-1]).sum(axis=1)
        for i in np.flatnonzero(was != now).tolist():
            changed[was[i], now[i]] += 1
            sure = (min(p[i], q[i]), -(n + i))
            if len(best) < top or sure > best[0][:2]:
                (content,) = rows_as_given(a, mine, [i])
                example = ChangedDecision(n + i + 1, content, (was[i], p[i]), (now[i], q[i]), truth[i])
                (heapq.heappush if len(best) < top else heapq.heappushpop)(best, (*sure, example))
        n += len(mine)
    examples = tuple(example for _, _, example in sorted(best, key=lambda each: (-each[0], -each[1])))
    counted = dict(sorted(changed.items(), key=lambda item: (-item[1], item[0])))
    if not labelled:
        return DecisionChanges(n, counted, examples)
    return DecisionChanges(n, counted, examples, _pair(right), _pair(only))


def _pair(counts: Integers) -> tuple[int, int]:
    return int(counts[0]), int(counts[1])


def _answers(model: Model, batch: Batch) -> tuple[NDArray[np.object_], list[float]]:
    """The label of each row and its probability."""
    shares = np.exp(log_softmax(model.score_batch(batch)[0]))
    best = shares.argmax(axis=1)
    return np.array(model.class_names, dtype=object)[best], shares[np.arange(len(best)), best].tolist()
