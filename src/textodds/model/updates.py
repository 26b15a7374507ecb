"""What rests on counts: learning more, forgetting, merging and subtracting, all of them exact."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, TableBatch
from textodds.errors import InputError, Unsupported, suggestion
from textodds.stats.additive import Additive

if TYPE_CHECKING:
    from textodds.judge.novelty import Typical
    from textodds.learn.calibration import Calibration
    from textodds.learn.held_out import HeldOut
    from textodds.learn.recipe import Recipe
    from textodds.model.table_model import TableRecipe
    from textodds.stats.document_ids import DocumentIds


class Counted(Protocol):
    """What a model has counted."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, sorted."""
        ...

    @property
    def class_rows(self) -> NDArray[np.float64]:
        """Weight of the documents of each class, (K,)."""
        ...

    @property
    def n_documents(self) -> float:
        """Weight of all documents."""
        ...

    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...


B = TypeVar("B", Batch, TableBatch)
T = TypeVar("T", bound=Counted)


class UpdatableModel(Additive, ABC, Generic[B, T]):
    """A model that learns more, forgets, and is merged by its counts (`tally`)."""

    kind: ClassVar[str]  # what it is a model of: texts, or tables
    noun: ClassVar[str]  # what one thing that it learns is called
    rests_on: ClassVar[str]  # what many of them are called where they are counted
    item_type: ClassVar[type]  # of one such thing
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
    def count(self, batches: Iterable[B]) -> T:
        """The counts of a stream of batches, by the choices of the model."""

    @abstractmethod
    def read(
        self,
        source: object,
        labels: object = None,
        weights: object = None,
        *,
        labelled: bool = False,
        **reading: Any,
    ) -> Iterable[B]:
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
        self,
        data: object,
        labels: object = None,
        weights: object = None,
        *,
        ids: str | Sequence[str] | None = None,
        **reading: Any,
    ) -> int:
        """Learn more: afterwards the model is as if trained on that too. How many were new.

        With ``ids``, documents whose id was learned before are left out; `InputError`, and nothing is
        changed, if one was learned under another label. Rows of tables have no ids.
        """
        return self._update(1, data, labels, weights, ids, reading)

    def forget(
        self,
        data: object,
        labels: object = None,
        weights: object = None,
        *,
        ids: str | Sequence[str] | None = None,
        **reading: Any,
    ) -> int:
        """Forget: afterwards the model is as if it had never seen what is given. How many it had.

        Raises `NegativeCount`, and changes nothing, if they were not learned before; with ``ids``,
        documents whose id is not there are left out.
        """
        return self._update(-1, data, labels, weights, ids, reading)

    def _update(
        self,
        sign: int,
        data: object,
        labels: object,
        weights: object,
        ids: str | Sequence[str] | None,
        reading: Mapping[str, Any],
    ) -> int:
        from textodds.model.id_filter import IdFilter

        if isinstance(data, self.item_type) and isinstance(labels, str | int | float):
            data, labels, ids = [self.row_of(data)], [labels], [ids] if isinstance(ids, str) else ids
        passing = IdFilter(None if ids is None else self.ledger_for(sign), ids or (), sign)
        batches = self.read(data, labels, weights, labelled=True, **reading)
        tally = self.count(passing.passing(batches))  # type: ignore[arg-type]  # only texts have ids
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
            raise InputError(f"that would forget every {self.noun}", hint="delete the model instead")
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
