"""Which documents were learned, by their ids: learning one twice, or forgetting one twice, does nothing.

Counts cannot tell a document that comes again from another one with the same words. Where documents have
ids, a ledger can: queues that deliver twice, jobs that are run again and requests to be forgotten that
arrive by two ways then leave the model as it should be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.data.label_sets import shown_name
from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import Conflict, InputError, LengthMismatch

FORGET_FIRST = "forget it under its old label first, then learn it under the new one"


@dataclass(frozen=True, eq=False)
class DocumentIds:
    r"""The ids of the documents that were learned, as hashes, with the label of each.

    An id is kept as the first 64 bits of its SHA-256, so that a million take 12 MB. Two of n ids have
    the same hash with a probability of about :math:`n^2 / 2^{65}`: 3 in 100 million for a million ids,
    3 in 100 for a billion. Of two such ids the second would count as learned already. A hash is no
    disguise: who guesses an id can see whether it is there. A forgotten id leaves no trace.

    A ledger is never changed: `learn` and `forget` give a new one.

    Examples
    --------
    >>> ledger, fresh = DocumentIds.none().learn(["m1", "m2", "m1"], ["spam", "ham", "spam"])
    >>> fresh  # the third is the first again
    array([ True,  True, False])
    >>> "m2" in ledger, ledger.label_of("m1"), len(ledger)
    (True, 'spam', 2)
    >>> ledger.learn(["m2"], ["spam"])
    Traceback (most recent call last):
    ...
    textodds.errors.Conflict: document `m2` was learned as `ham`, and now comes as `spam`
    <BLANKLINE>
    hint: forget it under its old label first, then learn it under the new one
    >>> ledger, there = ledger.forget(["m2", "m3"], ["ham", "ham"])
    >>> there
    array([ True, False])
    """

    classes: tuple[str, ...]  # (K,) sorted, each with a document
    ids: NDArray[np.uint64]  # (N,) increasing
    class_of: NDArray[np.uint32]  # (N,)

    @classmethod
    def none(cls) -> DocumentIds:
        """The ledger of no documents."""
        return cls((), np.zeros(0, np.uint64), np.zeros(0, np.uint32))

    def _with(self, numbers: NDArray[np.uint64], labels: Sequence[str]) -> DocumentIds:
        classes = tuple(sorted({*self.classes, *labels}))
        index = {name: k for k, name in enumerate(classes)}
        place = np.array([index[name] for name in self.classes], dtype=np.uint32)
        codes = np.array([index[name] for name in labels], dtype=np.uint32)
        order = np.argsort(numbers)
        at = np.searchsorted(self.ids, numbers[order])
        class_of = np.insert(place[self.class_of], at, codes[order])
        return DocumentIds(classes, np.insert(self.ids, at, numbers[order]), class_of)

    def _without(self, numbers: NDArray[np.uint64]) -> DocumentIds:
        """The ledger without some hashes; nor has it the classes that are then without a document."""
        kept = ~np.isin(self.ids, numbers)
        used, class_of = np.unique(self.class_of[kept], return_inverse=True)
        classes = tuple(self.classes[k] for k in used.tolist())
        return DocumentIds(classes, self.ids[kept], class_of.astype(np.uint32))

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, name: str) -> bool:
        return self.label_of(name) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DocumentIds):
            return NotImplemented
        pairs = ((self.ids, other.ids), (self.class_of, other.class_of))
        return self.classes == other.classes and all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def label_of(self, name: str) -> str | None:
        """The label under which a document was learned; None if it was not."""
        return self._labels([hash_of(name)])[0]

    def _labels(self, numbers: Sequence[int]) -> list[str | None]:
        if not len(self.ids):
            return [None] * len(numbers)
        wanted = np.array(numbers, dtype=np.uint64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        codes = np.where(self.ids[at] == wanted, self.class_of[at].astype(np.int64), -1)
        return [self.classes[k] if k >= 0 else None for k in codes.tolist()]

    def learn(self, names: Sequence[str], labels: Sequence[str]) -> tuple[DocumentIds, NDArray[np.bool_]]:
        """The ledger with some more documents, and which of them are new and are to be counted.

        `Conflict`, if a document was learned under another label, or comes twice with two.
        """
        numbers = _hashes(names, labels)
        fresh, new = np.zeros(len(names), dtype=bool), dict[int, str]()
        rows = zip(numbers, labels, self._labels(numbers), strict=True)
        for row, (number, label, known) in enumerate(rows):
            before = known or new.get(number)
            if before is None:
                fresh[row], new[number] = True, label
            elif before != label:
                raise Conflict(
                    f"document `{names[row]}` was learned as `{shown_name(before)}`, "
                    f"and now comes as `{shown_name(label)}`",
                    hint=FORGET_FIRST,
                )
        return (self._with(np.array(list(new), dtype=np.uint64), list(new.values())) if new else self), fresh

    def forget(self, names: Sequence[str], labels: Sequence[str]) -> tuple[DocumentIds, NDArray[np.bool_]]:
        """The ledger without some documents, and which of them were there and are to be taken away.

        `Conflict`, if a document was learned under another label.
        """
        numbers = _hashes(names, labels)
        there, gone = np.zeros(len(names), dtype=bool), set[int]()
        rows = zip(numbers, labels, self._labels(numbers), strict=True)
        for row, (number, label, before) in enumerate(rows):
            if before is not None and before != label:
                raise Conflict(
                    f"document `{names[row]}` was learned as `{shown_name(before)}`, "
                    f"and is to be forgotten as `{shown_name(label)}`",
                    hint="give the label under which it was learned",
                )
            there[row] = before is not None and number not in gone
            gone.add(number)
        return (self._without(np.array(list(gone), dtype=np.uint64)) if there.any() else self), there

    def changed(
        self, names: Sequence[str], labels: Sequence[str], sign: int
    ) -> tuple[DocumentIds, NDArray[np.bool_]]:
        """`learn` where ``sign`` is 1, `forget` where it is -1."""
        return self.learn(names, labels) if sign > 0 else self.forget(names, labels)

    def __add__(self, other: DocumentIds) -> DocumentIds:
        both = np.intersect1d(self.ids, other.ids, assume_unique=True)
        if len(both):
            raise InputError(
                f"{len(both):,} documents are in both models, and would count twice",
                hint="forget them in one of the two first",
            )
        return self._with(other.ids, [other.classes[k] for k in other.class_of.tolist()])

    def __sub__(self, other: DocumentIds) -> DocumentIds:
        theirs = [other.classes[k] for k in other.class_of.tolist()]
        pairs = zip(self._labels(other.ids.tolist()), theirs, strict=True)
        strangers = sum(before != label for before, label in pairs)
        if strangers:
            raise InputError(
                f"{strangers:,} documents of the second model are not in the first, or under another label",
                hint="only what was learned can be subtracted",
            )
        return self._without(other.ids)

    def arrays(self) -> Arrays:
        """The ledger as arrays, for a file; the names of its classes go beside them."""
        return {"ids": self.ids, "class_of": self.class_of}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, classes: Iterable[str]) -> DocumentIds:
        """The ledger that `arrays` made; refuses arrays that are none."""
        names = () if isinstance(classes, str) else tuple(classes)
        for part, kind in (("ids", np.uint64), ("class_of", np.uint32)):
            array = arrays.get(part)
            if array is None or array.dtype != kind or array.ndim != 1:
                raise InputError(f"the array `{part}` of the ledger is missing, or has the wrong type")
        ids, class_of = arrays["ids"], arrays["class_of"]
        if len(ids) != len(class_of) or (ids[:-1] >= ids[1:]).any():
            raise InputError("the ids of the ledger are out of order, or not as many as their labels")
        if not all(isinstance(name, str) for name in names) or list(names) != sorted(set(names)):
            raise InputError("the labels of the ledger are out of order")
        if (class_of >= len(names)).any() or len(np.unique(class_of)) != len(names):
            raise InputError("the ledger names a label that is not there, or has one without a document")
        return cls(names, ids, class_of)


def hash_of(name: str) -> int:
    """The first 64 bits of the SHA-256 of an id, the lowest byte first. Part of the file format.

    >>> hex(hash_of("m1"))
    '0xc144a15ac9f20dca'
    """
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "little")


def _hashes(names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """The hash of each id, all of which must be texts, and as many as there are labels."""
    if len(names) != len(labels):
        raise LengthMismatch(len(labels), len(names), "ids")
    for row, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise InputError(
                f"row {row} has the id {name!r}; an id is a text that is not empty",
                hint="give every document an id, or none of them",
            )
    return [hash_of(name) for name in names]
