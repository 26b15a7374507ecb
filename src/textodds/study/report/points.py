"""Rows that can be drawn: numbers with labels, of few enough classes, and which of them become points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, LengthMismatch, NoData, TooFewRows
from textodds.stats.moments import LARGEST
from textodds.study.report.palette import MOST

Floats = NDArray[np.float64]

FEWEST = 30  # points of a small class, if it has as many, however large the others are


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Rows of V numbers with their classes, and what was left out of them."""

    names: tuple[str, ...]  # (V,)
    rows: Floats  # (N, V)
    codes: NDArray[np.intp]  # (N,)
    classes: tuple[str, ...]  # (K,) sorted
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: ArrayLike, labels: Sequence[object], names: Sequence[str], *, gaps: bool = False
    ) -> LabelledPoints:
        """The rows that have all numbers (with ``gaps``, any number), of the `MOST` largest classes.

        >>> data = LabelledPoints.of([1.0, 2.0, 5.0, 7.0, float("nan")], list("aabbb"), ["size"])
        >>> data.rows.shape, data.notes
        ((4, 1), ('1 row without a number left out',))
        """
        X = np.asarray(rows, dtype=np.float64)
        X = X[:, None] if X.ndim == 1 else X
        if X.ndim != 2 or X.shape[1] != len(names):
            raise InputError(
                f"rows have the shape {np.shape(rows)}, but {len(names)} columns are named",
                hint="one row a case, one column a name",
            )
        if len(labels) != len(X):
            raise LengthMismatch(len(X), len(labels))
        missing = np.isnan(X)
        there = np.asarray(~(missing.all(axis=1) if gaps else missing.any(axis=1)))
        _refuse_large(X, there, names)
        notes = [f"{_rows(int((~there).sum()))} without a number left out"] if not there.all() else []
        text = np.array([str(label) for label in labels], dtype=object)[there]
        if not len(text):
            raise NoData(f"no row has {'a number' if gaps else 'all its numbers'}")
        found, codes, sizes = np.unique(text.astype(str), return_inverse=True, return_counts=True)
        X = X[there]
        if len(found) > MOST:
            kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST])
            among = np.isin(codes, kept)
            notes.append(
                f"the {MOST} largest of {len(found):,} classes; {_rows(int((~among).sum()))} left out"
            )
            X, codes, found = X[among], np.searchsorted(kept, codes[among]), found[kept]
        data = cls(tuple(names), X, codes, tuple(map(str, found)), tuple(notes))
        if not gaps:
            data._refuse()
        return data

    def column(self, v: int) -> LabelledPoints:
        """The rows that have a number in one column, with that column only."""
        there = ~np.isnan(self.rows[:, v])
        without = int((~there).sum())
        notes = (f"{_rows(without)} without `{self.names[v]}`",) if without else ()
        column = LabelledPoints(
            (self.names[v],), self.rows[there, v : v + 1], self.codes[there], self.classes, notes
        )
        column._refuse()
        return column

    def sizes(self) -> NDArray[np.intp]:
        """Rows of each class, (K,)."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def sample(self, most: int) -> list[NDArray[np.intp]]:
        """Row numbers of each class, about ``most`` in all and in proportion; no class without points.

        The same rows give the same sample.
        """
        sizes = self.sizes()
        share = np.minimum(1.0, most / len(self.rows))
        wanted = np.minimum(sizes, np.maximum(np.rint(sizes * share), FEWEST)).astype(int)
        draw = np.random.default_rng(0)
        return [np.sort(draw.permutation(np.flatnonzero(self.codes == k))[:n]) for k, n in enumerate(wanted)]

    def _refuse(self) -> None:
        if len(self.classes) < 2:
            raise InputError(
                f"all rows are of class `{self.classes[0]}`: there is nothing to decide",
                hint="is the column of the labels the right one?",
            )
        if not len(self.rows):
            raise NoData(f"no row has a number in column `{self.names[0]}`", hint="choose another column")
        flat = np.flatnonzero(np.ptp(self.rows, axis=0) == 0)
        if len(flat):
            raise InputError(
                f"column `{self.names[flat[0]]}` does not vary: it is {self.rows[0, flat[0]]:g} in every row",
                hint="choose another column",
            )
        for k, (name, size) in enumerate(zip(self.classes, self.sizes(), strict=True)):
            where = f"in class `{name}`"
            if size < 2:
                columns = " and ".join(f"`{column}`" for column in self.names)
                raise TooFewRows(
                    f"{'a single' if size else 'no'} row {where} has a number in {columns}",
                    hint="leave that class out, or give more rows of it",
                )
            flat = np.flatnonzero(np.ptp(self.rows[self.codes == k], axis=0) == 0)
            if len(flat):
                raise InputError(
                    f"column `{self.names[flat[0]]}` does not vary {where}",
                    hint="choose another column, or leave that class out",
                )


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def _refuse_large(X: Floats, there: NDArray[np.bool_], names: Sequence[str]) -> None:
    bad = np.argwhere((np.abs(X) >= LARGEST) & there[:, None])
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"row {row} has {X[row, column]:g} in column `{names[column]}`",
            hint=f"numbers must be below {LARGEST:g}: leave the row out",
        )
