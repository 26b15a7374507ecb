"""Columns of labels in frames and files, of the type that labels had in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from textodds.data.labels import BOOLEAN, INTEGER, NUMBER, TEXT, Label, LabelType
from textodds.data.named_arrays import AnyArray

Labels: TypeAlias = Sequence[Label | None] | AnyArray
"""Labels, None where there is no answer."""

_DTYPES = {BOOLEAN: "bool", NUMBER: "float64"}


@dataclass(frozen=True)
class LabelColumns:
    """Makes columns of the labels of a model; a label is None where there is no answer."""

    type: LabelType
    names: tuple[str, ...]  # of the classes

    @cached_property
    def categories(self) -> list[Label] | None:
        """All categories, if labels were of a categorical column."""
        found = self.type.all_categories(self.names)
        return None if found is None else list(found)

    @cached_property
    def dtype(self) -> str:
        """What NumPy calls the type; ``object`` for text, and for whole numbers beyond their type."""
        if self.type.kind == TEXT or self.type.array(self.names).dtype == object:
            return "object"
        return self.type.dtype if self.type.kind == INTEGER else _DTYPES[self.type.kind]

    def typed(self, names: Sequence[str | None]) -> list[Label | None]:
        """The labels of some names."""
        if self.type.kind == TEXT:
            return list(names)
        value = {name: self.type.value(name) for name in self.names}
        return [None if name is None else value[name] for name in names]

    def pandas(self, labels: Labels) -> Any:
        """What a column of pandas is made of: a categorical, or an array that may have missing values."""
        import pandas as pd

        if self.categories is not None:
            return pd.Categorical(labels, categories=self.categories, ordered=self.type.ordered)
        if self.dtype == "object":
            return np.asarray(labels, dtype=object)
        if self.dtype == "float64" or all(label is not None for label in labels):
            return np.asarray(labels, dtype=self.dtype)
        nullable = "boolean" if self.dtype == "bool" else self.dtype.replace("i", "I").replace("u", "U")
        return pd.array(list(labels), dtype=nullable)

    def polars(self, name: str, labels: Labels) -> Any:
        """A series of polars; of categories that are text, an enumeration."""
        import polars as pl

        if self.categories is not None and self.type.kind == TEXT:
            return pl.Series(name, list(labels), pl.Enum([str(each) for each in self.categories]))
        kinds = {"object": pl.String, "bool": pl.Boolean, "float64": pl.Float64}
        if self.dtype in kinds and (self.dtype != "object" or self.type.kind == TEXT):
            return pl.Series(name, list(labels), kinds[self.dtype])
        kind = self.dtype.replace("i", "I").replace("u", "U")
        return pl.Series(name, list(labels), getattr(pl, kind, None))

    def arrow(self, labels: Labels) -> Any:
        """An array of Arrow; of categories, a dictionary with all of them."""
        import pyarrow as pa

        kind = pa.string() if self.type.kind == TEXT else None
        if self.dtype != "object":
            kind = pa.type_for_alias(self.dtype)
        if self.categories is None:
            return pa.array(list(labels), kind)
        place = {label: at for at, label in enumerate(self.categories)}
        at = [None if label is None else place[label] for label in labels]
        entries = pa.array(self.categories, kind)
        return pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), entries, ordered=self.type.ordered)
