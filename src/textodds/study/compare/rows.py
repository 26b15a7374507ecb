"""Labelled rows in memory, of which some are learned from and others asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.batch import taken

if TYPE_CHECKING:
    from textodds.data import Schema
    from textodds.model.table_model import TableModel
    from textodds.model.text_model import TextModel
    from textodds.study.compare.contenders import Contender

Numbers = NDArray[np.int64]

CELLS = 4 << 20
"""Rows times classes that are scored at once, which bounds memory whatever the number of classes."""


@dataclass(frozen=True, eq=False)
class TextRows:
    """Texts with their labels."""

    texts: list[str]  # (N,)
    labels: list[str]  # (N,)

    noun = "text"

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> TextRows:
        """The rows of a source."""
        texts: list[str] = []
        labels: list[str] = []
        for batch in batches:
            texts += taken(batch.texts, list(range(len(batch)))) or []
            labels += batch.label_list()
        return cls(texts, labels)

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: Numbers) -> TextRows:
        """Some of the rows."""
        return TextRows([self.texts[i] for i in rows], [self.labels[i] for i in rows])

    def fingerprint(self) -> str:
        """A hash of all of it."""
        return _hashed(part for row in zip(self.labels, self.texts, strict=True) for part in row)

    def shared_with(self, others: TextRows) -> int:
        """How many of the rows are among the others too, labels apart."""
        known = set(others.texts)
        return sum(text in known for text in self.texts)

    def model(self, candidate: Contender, threads: int | None) -> TextModel:
        """The model of a candidate, trained on the rows."""
        from textodds.model.text_model import TextModel
        from textodds.training.train import train

        model = train(
            self.texts, self.labels, learner=candidate.learner, threads=threads, **dict(candidate.words)
        )
        assert isinstance(model, TextModel)
        return model

    def batches(self, model: TextModel) -> Iterator[Batch]:
        """The rows as a model reads them, few enough at a time."""
        step = max(1, CELLS // len(model.classes_))
        for at in range(0, len(self), step):
            yield Batch(self.texts[at : at + step], self.labels[at : at + step], None)


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table with their labels; ``said`` is what a user said that columns are."""

    columns: dict[str, Any]  # (N,) each
    labels: list[str]  # (N,)
    schema: Schema
    said: Mapping[str, str]

    noun = "row"

    @classmethod
    def of(cls, batches: Sequence[Batch], schema: Schema, said: Mapping[str, str]) -> TableRows:
        """The rows of a source."""
        from textodds.data.batch import joined_rows

        if not batches:
            return cls({}, [], schema, said)
        batch = joined_rows(list(batches))
        return cls(batch.columns, batch.label_list(), schema, said)

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns that are read are."""
        return {column.name: column.kind for column in self.schema.used}

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, rows: Numbers) -> TableRows:
        """Some of the rows."""
        columns = {
            name: values[rows] if isinstance(values, np.ndarray) else values.take(rows)
            for name, values in self.columns.items()
        }
        return TableRows(columns, [self.labels[i] for i in rows], self.schema, self.said)

    def _tuples(self) -> Iterator[tuple[Any, ...]]:
        listed = [
            values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()
            for values in self.columns.values()
        ]
        return zip(*listed, strict=True)

    def fingerprint(self) -> str:
        """A hash of all of it."""
        rows = zip(self.labels, map(repr, self._tuples()), strict=True)
        return _hashed([repr(self.kinds), *(part for row in rows for part in row)])

    def shared_with(self, others: TableRows) -> int:
        """How many of the rows are among the others too, labels apart."""
        known = set(map(repr, others._tuples()))
        return sum(repr(row) in known for row in self._tuples())

    def model(self, candidate: Contender, threads: int | None) -> TableModel:
        """The model of a candidate, trained on the rows."""
        from textodds.training.tables import train_table

        columns = self.kinds
        if candidate.entry.column_kind == "category":
            columns |= {name: "category" for name, kind in columns.items() if kind == "number"}
        columns |= {name: choice for name, choice in self.said.items() if choice != "ignore"}
        return train_table(
            self.columns, self.labels, learner=candidate.learner, columns=columns, words=candidate.words
        )

    def batches(self, model: TableModel) -> Iterator[Batch]:
        """The rows as a model reads them."""
        yield from model.read(self.columns, self.labels, labelled=True)


Rows: TypeAlias = TextRows | TableRows


def _hashed(parts: Iterable[str]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole = part.encode("utf-8", "surrogatepass")
        found.update(len(whole).to_bytes(8, "little"))
        found.update(whole)
    return found.hexdigest()
