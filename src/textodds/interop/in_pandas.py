"""Models in pandas: importing this module gives frames and columns ``.textodds``.

>>> import pandas as pd, textodds
>>> import textodds.interop.in_pandas
>>> model = textodds.train(["free phone", "see you at six"] * 3, ["spam", "ham"] * 3)
>>> frame = pd.DataFrame({"text": ["a free one", "at six", None]})
>>> frame.textodds.predict(model).tolist()
['spam', 'ham', None]
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from textodds.errors import InputError, suggestion
from textodds.model.file import load
from textodds.model.tables.table_model import TableModel

if TYPE_CHECKING:
    from textodds.model.file import AnyModel

    Given = AnyModel | str | os.PathLike[str]


@pd.api.extensions.register_series_accessor("textodds")
class TextColumn:
    """What models say of a column of texts."""

    def __init__(self, column: pd.Series[Any]) -> None:
        self._column = column

    def predict(self, model: Given) -> pd.Series[Any]:
        """The label of each text, or of several labels a tuple; None where there is no text."""
        opened, there = _opened(model), self._column.notna().to_numpy().nonzero()[0]
        said = np.full(len(self._column), None, dtype=object)
        if len(there):
            for row, label in zip(there, opened.predict(self._column.iloc[there].tolist()), strict=True):
                said[row] = label  # which may be a tuple: an array of them would become a table
        return pd.Series(said, index=self._column.index, dtype=object, name="label")

    def predict_proba(self, model: Given) -> pd.DataFrame:
        """The probability of each class, a column each; missing where there is no text."""
        opened = _opened(model)
        there = self._column.notna().to_numpy()
        shares = pd.DataFrame(index=self._column.index, columns=list(opened.classes_), dtype=float)
        if there.any():
            shares.loc[there] = opened.predict_proba(self._column[there].tolist())
        return shares


@pd.api.extensions.register_dataframe_accessor("textodds")
class Frame:
    """What models say of the rows of a frame: of its column of texts, or of a model of a table of all."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def predict(self, model: Given, text: str = "text") -> pd.Series[Any]:
        """The label of each row."""
        opened = _opened(model)
        if isinstance(opened, TableModel):
            return pd.Series(list(opened.predict(self._frame)), index=self._frame.index, name="label")
        return TextColumn(self._texts(text)).predict(opened)

    def predict_proba(self, model: Given, text: str = "text") -> pd.DataFrame:
        """The probability of each class, a column each."""
        opened = _opened(model)
        if isinstance(opened, TableModel):
            shares = opened.predict_proba(self._frame)
            return pd.DataFrame(shares, index=self._frame.index, columns=list(opened.classes_))
        return TextColumn(self._texts(text)).predict_proba(opened)

    def _texts(self, text: str) -> pd.Series[Any]:
        if text not in self._frame.columns:
            columns = [str(name) for name in self._frame.columns]
            raise InputError(
                f"the frame has no column `{text}`{suggestion(text, columns)}", hint="name it: text='COLUMN'"
            )
        return self._frame[text]


def _opened(model: Given) -> AnyModel:
    return load(model) if isinstance(model, str | os.PathLike) else model
