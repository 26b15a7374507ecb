"""What a reproduction finds: tables of numbers with their intervals, for a terminal, a page and a program."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.judge.evaluation import Evaluation, wilson
from textodds.study.report.picture import Picture

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Share:
    """A percentage, with the ends of its 95 % interval.

    >>> print(Share.of(9874, 10000))
    98.74 (98.50–98.94)
    """

    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, right: int, n: int) -> Share:
        """So many of n, with Wilson's interval."""
        low, high = wilson(right, n)
        return cls(100 * right / n, 100 * low, 100 * high)

    @classmethod
    def right(cls, evaluation: Evaluation) -> Share:
        """The accuracy that was measured."""
        return cls.of(round(evaluation.accuracy * evaluation.n), evaluation.n)

    def __str__(self) -> str:
        return f"{self.percent:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class Spread:
    """The mean of percentages from several splits, and their standard deviation.

    >>> print(Spread.of([0.98, 0.99]))
    98.50 ± 0.71
    """

    percent: float
    deviation: float

    @classmethod
    def of(cls, shares: Sequence[float] | NDArray[np.float64]) -> Spread:
        """Of accuracies from 0 to 1."""
        deviation = float(np.std(shares, ddof=1)) if len(shares) > 1 else math.nan
        return cls(100 * float(np.mean(shares)), 100 * deviation)

    def __str__(self) -> str:
        return f"{self.percent:.2f} ± {self.deviation:.2f}"


Cell = str | int | float | Share | Spread | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under names of columns; None is an empty cell.

    ``columns`` has a format for the numbers of each column, such as ``.2f``.

    >>> table = Table({"model": "", "CPU s": ".1f"}, (("LDA", 45.11), ("5-NN", None)))
    >>> print(table.plain())
    model   CPU s
    LDA      45.1
    5-NN
    >>> print(table.markdown())
    | model | CPU s |
    |---|---:|
    | LDA | 45.1 |
    | 5-NN |  |
    """

    columns: Mapping[str, str]
    rows: tuple[tuple[Cell, ...], ...]

    def cells(self) -> list[list[str]]:
        """Every cell as it is written."""
        return [
            [_written(cell, how) for cell, how in zip(row, self.columns.values(), strict=True)]
            for row in self.rows
        ]

    def plain(self) -> str:
        """The table for a terminal, numbers to the right."""
        lines = [list(self.columns), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "   ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def markdown(self) -> str:
        """The table for a page."""
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = [f"| {' | '.join(line)} |" for line in [list(self.columns), *self.cells()]]
        return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])

    def as_list(self) -> list[dict[str, Any]]:
        """The rows as plain data, for JSON."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Results:
    """Everything that a reproduction found: tables by name, and pictures by the name of their file."""

    tables: Mapping[str, Table]
    pictures: Mapping[str, Picture] = field(default_factory=dict)


def timed(function: Callable[..., Answer], *given: Any, **options: Any) -> tuple[Answer, float]:
    """What a function returns, and the seconds of processor time it took, of all threads."""
    start = time.process_time()
    answer = function(*given, **options)
    return answer, time.process_time() - start


def _written(cell: Cell, how: str) -> str:
    if cell is None:
        return ""
    return str(cell) if isinstance(cell, str | Share | Spread) else format(cell, how)


def _plain(cell: Cell) -> Any:
    return vars(cell) if isinstance(cell, Share | Spread) else cell
