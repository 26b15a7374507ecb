"""What models of texts and of tables share: learning and forgetting, answers, measures, a file."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.batch import taken
from textodds.errors import InputError, LengthMismatch, Unsupported, suggestion
from textodds.judge.evaluation import Evaluation, evaluate, scored_batches
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import Prior
from textodds.stats.tally import Additive

if TYPE_CHECKING:
    from textodds.judge.novelty import Typical
    from textodds.learn.calibration import Calibration
    from textodds.learn.held_out import HeldOut
    from textodds.learn.recipe import Recipe
    from textodds.model.file import Model
    from textodds.model.table_model import TableRecipe
    from textodds.stats.document_ids import DocumentIds

Floats = NDArray[np.float64]
OTHERS = "others"  # the rival that is all other classes together


class _Counts(Protocol):
    """What a model has counted: see `Tally`."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def class_rows(self) -> NDArray[np.float64]: ...
    @property
    def n_documents(self) -> float: ...
    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...


T = TypeVar("T", bound=_Counts)
Ids: TypeAlias = str | Sequence[str] | None


class UpdatableModel(Additive, ABC, Generic[T]):
    """A model that learns more, forgets, and is merged by its counts (`tally`)."""

    kind: ClassVar[str]  # what it is a model of: texts, or tables
    noun: ClassVar[str]  # what one thing that it learns is called
    rests_on: ClassVar[str]  # what many of them are called where they are counted
    _item_type: ClassVar[type | tuple[type, ...]]  # of one such thing
    keeps_ids: ClassVar[bool]

    classes_: tuple[str, ...]
    recipe: Recipe | TableRecipe
    info: dict[str, Any]
    file_format: int | None = None  # of the file that it was read from
    typical: Typical | None = None
    calibration: Calibration | None = None
    held_out: HeldOut | None = None
    document_ids: DocumentIds | None = None
    _tally: Callable[[], T] | T | None

    def class_number(self, label: str) -> int:
        """The number of a class."""
        if label not in self.classes_:
            raise InputError(
                f"there is no class `{label}`{suggestion(label, self.classes_)}",
                hint=f"the classes are {', '.join(self.classes_[:20])}",
            )
        return self.classes_.index(label)

    @property
    def has_counts(self) -> bool:
        """Whether the counts are there; a model may be saved without."""
        return self._tally is not None

    @property
    def tally(self) -> T:
        """The counts the model rests on."""
        if self._tally is None:
            self.must_be_counts()
            raise Unsupported(
                "this model was saved without its counts",
                hint="train it again, without `--no-counts`, to learn, forget or merge",
            )
        if callable(self._tally):
            self._tally = self._tally()
        return self._tally

    def must_be_counts(self) -> None:
        """Refuse a model that does not rest on counts alone."""

    @abstractmethod
    def count(self, batches: Iterable[Batch]) -> T:
        """The counts of a stream of batches, by the choices of the model."""

    @abstractmethod
    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Iterable[Batch]:
        """A source of what the model reads; takes what `train` takes as data."""

    @abstractmethod
    def _install_counts(self, tally: T) -> None:
        """Become the model of other counts; on an error nothing is changed."""

    def _of_counts(self, tally: T) -> Self:
        """The model that the same recipe makes of other counts."""
        model = copy.copy(self)
        model.info, model.typical, model.calibration = {}, None, None
        model.held_out = model.document_ids = model.file_format = None
        model._install_counts(tally)
        return model

    def learn(
        self, data: object, labels: object = None, weights: object = None, *, ids: Ids = None, **reading: Any
    ) -> int:
        """Learn more: afterwards the model is as if trained on that too. How many were new.

        With ``ids``, documents whose id was learned before are left out; `InputError`, and nothing is
        changed, if one was learned under another label. Rows of tables have no ids.
        """
        return self._update(1, ids, data, labels, weights, **reading)

    def forget(
        self, data: object, labels: object = None, weights: object = None, *, ids: Ids = None, **reading: Any
    ) -> int:
        """Forget: afterwards the model is as if it had never seen what is given. How many it had.

        Raises `NegativeCount`, and changes nothing, if they were not learned before; with ``ids``,
        documents whose id is not there are left out.
        """
        return self._update(-1, ids, data, labels, weights, **reading)

    def _update(
        self, sign: int, ids: Ids, data: object, labels: object, weights: object, **reading: Any
    ) -> int:
        is_one_label = isinstance(labels, str) or not isinstance(labels, Iterable | None)
        if isinstance(data, self._item_type) and is_one_label:
            data, labels, ids = [self.row_of(data)], [labels], [ids] if isinstance(ids, str) else ids
        elif isinstance(labels, str) and isinstance(data, Sized) and not isinstance(data, str):
            labels = [labels] * len(data)
        passing = IdFilter(None if ids is None else self.ledger_for(sign), ids or (), sign)
        batches = self.read(data, labels, weights, labelled=True, **reading)
        tally = self.count(passing.passing(batches))
        document_ids = passing.finish()
        if ids is None or passing.rows:
            self.change(tally, sign)
        if ids is not None:
            self.document_ids = document_ids
        return passing.rows

    def row_of(self, item: Any) -> object:
        """One thing to learn or to answer, as `read` takes several in a list."""
        return item

    def ledger_for(self, sign: int) -> DocumentIds:
        """The ledger to learn (``sign`` 1) or to forget (-1) by."""
        from textodds.stats.document_ids import DocumentIds

        if not self.keeps_ids:
            raise Unsupported("ids are kept of texts, not of rows of tables", hint="leave them out")
        if self.document_ids is None and sign < 0:
            raise Unsupported(
                "the model has learned no text by an id, and cannot forget by one",
                hint="forget the texts without ids; or learn with ids from the start",
            )
        return self.document_ids or DocumentIds.none()

    def change(self, tally: T, sign: int) -> None:
        """Add counts (``sign`` 1) or take them away (-1); on an error nothing is changed."""
        self.must_be_counts()
        changed = self.tally + tally if sign > 0 else self.tally - tally
        if not changed.classes:
            one = self.rests_on.removesuffix("s")
            raise InputError(f"that would forget every {one}", hint="delete the model instead")
        before = self.classes_
        self._install_counts(changed)
        if self.classes_ != before:
            if self.calibration is not None:
                self.calibration = self.calibration.of_classes(before, self.classes_)
            self.held_out = None
        known = self.info.items()  # but what was said of another model
        kept = {name: part for name, part in known if name not in ("quality", "fingerprint", "left_out")}
        self.info = kept | {"documents": changed.n_documents}

    def _must_be_like(self, other: Self) -> None:
        """Refuse to merge with a model that was made differently."""
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        differing = [part for part in mine if mine[part] != theirs[part]]
        if differing:
            raise InputError(
                f"the models were made differently: {', '.join(differing)}",
                hint="train both with the same options",
            )

    def _combine(self, other: Self, sign: int) -> Self:
        self.must_be_counts()
        self._must_be_like(other)
        tally = self.tally + other.tally if sign > 0 else self.tally - other.tally
        if not tally.classes:
            raise InputError("nothing would be left of the model")
        model = self._of_counts(tally)
        model.info = {"documents": tally.n_documents}
        if self.calibration is not None and other.calibration is not None:
            shares = (self.tally.n_documents, other.tally.n_documents if sign > 0 else 0.0)
            pairs = ((self.calibration, self.classes_), (other.calibration, other.classes_))
            parts = [calibration.of_classes(own, model.classes_) for calibration, own in pairs]
            model.calibration = type(self.calibration).between(parts, shares)
        if self.document_ids is not None or other.document_ids is not None:
            first, second = self.ledger_for(1), other.ledger_for(1)
            model.document_ids = first + second if sign > 0 else first - second
        return model


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of one text or row.

    ``evidence`` is the number of terms the model knows, or of columns with a value: 0 means that it answers
    without having read one (with the prior, unless unknown or absent words count in this model).
    """

    label: str
    probability: float
    evidence: int
    probabilities: dict[str, float]


class BaseModel(UpdatableModel[T], Generic[T]):
    """A trained classifier: what `textodds.TextModel` and `textodds.TableModel` have in common."""

    extent: tuple[int, str]  # how many features the model has, and what one is called

    def __repr__(self) -> str:
        number, feature = self.extent
        return f"<{type(self).__name__}: {len(self.classes_)} classes, {number:,} {feature}s>"

    @property
    def class_documents(self) -> dict[str, float]:
        """Texts or rows, or their total weight, of each class in training."""
        if not self.has_counts and isinstance(known := self.info.get("class_documents"), dict):
            return {label: float(known.get(label, 0.0)) for label in self.classes_}
        return dict(zip(self.classes_, self.tally.class_rows.tolist(), strict=True))

    @abstractmethod
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | x), and known and all terms or columns (N, 2)."""

    @abstractmethod
    def _batches(self, data: object) -> Iterable[Batch]:
        """Batches of texts or rows without labels."""

    @abstractmethod
    def _install_prior(self, prior: Prior) -> None:
        """Become the model under another prior."""

    def _scores(self, data: object, *, calibrate: bool) -> tuple[Floats, NDArray[np.uint32]]:
        parts = [self.score_batch(batch, calibrate=calibrate) for batch in self._batches(data)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def predict(self, data: object) -> NDArray[np.object_]:
        """The most probable label of each text or row, (N,)."""
        names = np.array(self.classes_, dtype=object)  # NumPy's own text would lose a final NUL
        return np.asarray(names[self._scores(data, calibrate=True)[0].argmax(axis=1)])

    def predict_log_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``log p(class | x)``, (N, K); without ``calibrate`` as Bayes' rule has it."""
        return log_softmax(self._scores(data, calibrate=calibrate)[0])

    def predict_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``p(class | x)``, (N, K), rows summing to one; without ``calibrate`` as Bayes' rule has it."""
        return np.exp(self.predict_log_proba(data, calibrate=calibrate))

    def evaluate(self, source: object, labels: object = None, **reading: Any) -> Evaluation:
        """Measured quality on labelled data; takes what `train` takes as data."""
        return self.evaluate_batches(self.read(source, labels, labelled=True, **reading))

    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""
        return evaluate(scored_batches(self, batches), self.classes_)

    def _sides(self, scores: Floats, label: str | None, rival: str | None) -> tuple[int, int | None]:
        """The class to explain and its rival, of scores (K,): by default the answer and the runner-up.

        None stands for all other classes together.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        order = np.argsort(-scores, kind="stable").tolist()
        chosen: int = order[0] if label is None else self.class_number(label)
        if rival is None:
            return chosen, next(k for k in order if k != chosen)
        if rival == OTHERS and OTHERS not in self.classes_:
            return chosen, None
        if chosen == self.class_number(rival):
            asked = f"`{rival}` is the answer" if label is None else f"`{label}` cannot be its own rival"
            raise InputError(asked, hint="name another class, or none")
        return chosen, self.class_number(rival)

    def with_prior(self, prior: Prior) -> Self:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        model = copy.copy(self)
        model.held_out = None  # of other answers
        model._install_prior(prior)
        return model

    def save(self, path: str | os.PathLike[str], *, counts: bool = True) -> None:
        """Write the model to a file.

        Without ``counts`` the file is smaller and holds no word that the model does not use, but
        cannot learn, forget or be merged. A model of a table is its counts.
        """
        from textodds.model.file import save

        save(path, cast("Model", self), counts=counts)


class IdFilter:
    """Lets pass the rows whose ids are new to a ledger (``sign`` 1), or known to it (-1); without one, all.

    ``ids`` are those of all rows, in order. ``rows`` counts what has passed, ``left_out`` what has not.
    """

    def __init__(self, ledger: DocumentIds | None, ids: Sequence[str], sign: int) -> None:
        self._ledger, self._ids, self._sign = ledger, ids, sign
        self.has_ids = ledger is not None
        self.rows = self.left_out = 0

    def passing(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The rows that are to be learned, or forgotten."""
        for batch in batches:
            if self._ledger is None:
                self.rows += len(batch)
                yield batch
                continue
            start, labels = self.rows + self.left_out, batch.label_list()
            ids = self._ids[start : start + len(batch)]
            self._ledger, passes = self._ledger.changed(ids, labels, self._sign)
            rows = np.flatnonzero(passes).tolist()
            self.rows += len(rows)
            self.left_out += len(batch) - len(rows)
            if rows:
                weights = None if batch.weights is None else batch.weights[rows]
                yield Batch(taken(batch.texts, rows) or [], [labels[i] for i in rows], weights)

    def finish(self) -> DocumentIds | None:
        """The ledger after all rows."""
        if self.has_ids and self.rows + self.left_out != len(self._ids):
            raise LengthMismatch(self.rows + self.left_out, len(self._ids), "ids")
        return self._ledger
