"""Models measured on groups that they have never seen: each group is held out once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textodds.data import Observer, ReadOptions, read
from textodds.errors import InputError, LengthMismatch, NoData
from textodds.judge.evaluation import Interval, wilson
from textodds.study.compare.comparison import Comparison
from textodds.study.compare.entry import candidates_for, must_do, rows_of_source
from textodds.study.compare.laboratory import Laboratory
from textodds.study.compare.measurement import Documents
from textodds.training.choose.candidates import Candidate
from textodds.training.choose.pool import Pool

MOST = 100
"""Groups at most: each is a comparison of its own."""


@dataclass(frozen=True)
class GroupedComparison:
    """A comparison for each group that was held out; made by `compare_groups`.

    ``by_group`` has the comparison on the rows of each group, of models of the rows of all others.
    """

    group: str
    by_group: Mapping[str, Comparison]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were measured on every group, the most accurate first."""
        names = [{row.name for row in found.rows} for found in self.by_group.values()]
        return tuple(sorted(set.intersection(*names), key=lambda name: (-self.accuracy(name), name)))

    def accuracy(self, name: str) -> float:
        """Share of all rows that a model answered rightly, each when its group was held out."""
        return self._right(name) / self.n

    def accuracy_interval(self, name: str) -> Interval:
        """Its 95 % interval (Wilson's), over rows; how groups differ shows in the table."""
        return wilson(self._right(name), self.n)

    @property
    def n(self) -> int:
        """Rows of all groups."""
        return sum(found.setting.n_test for found in self.by_group.values())

    def _right(self, name: str) -> int:
        parts = (found[name].evaluation for found in self.by_group.values())
        return round(sum(each.accuracy * each.n for each in parts))

    def __repr__(self) -> str:
        lines = [f"<GroupedComparison: {len(self.by_group)} groups by {self.group}, {self.n:,} rows>"]
        for name in self.models:
            each = ", ".join(
                f"{g} {found[name].evaluation.accuracy:.4f}" for g, found in self.by_group.items()
            )
            lines.append(f"  {name}: {self.accuracy(name):.4f} ({each})")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data, for JSON."""
        return {
            "group": self.group,
            "rows": self.n,
            "models": [
                {
                    "name": name,
                    "accuracy": self.accuracy(name),
                    "accuracy_interval": self.accuracy_interval(name),
                }
                for name in self.models
            ],
            "groups": {name: found.as_dict() for name, found in self.by_group.items()},
        }


def compare_groups(
    source: object,
    labels: object = None,
    *,
    group: str | Sequence[object],
    models: object = None,
    columns: Mapping[str, str] | None = None,
    textbook: bool = False,
    threads: int | None = None,
    observer: Observer | None = None,
    **options: object,
) -> GroupedComparison:
    """Models side by side on groups of rows that none of them has seen; each group is held out once.

    McCallum and Nigam (1998) learn from the pages of all universities but one and test on that one: words
    that are peculiar to a university help where rows are held out at random, and not on a new one.

    Parameters
    ----------
    source, labels, models, columns, textbook, threads, observer, **options
        As in `textodds.compare`; there are no learning curves.
    group : str or sequence
        The column of the groups, which is not learned from, or the group of each row.

    Examples
    --------
    >>> texts = ["free phone", "win a prize", "see you at six", "lunch at noon"] * 20
    >>> labels, sites = ["spam", "spam", "ham", "ham"] * 20, ["cmu"] * 40 + ["texas"] * 40
    >>> found = compare_groups(texts, labels, group=sites, models="multinomial")
    >>> found.accuracy("multinomial"), list(found.by_group)
    (1.0, ['cmu', 'texas'])
    """
    reading, observer = ReadOptions.of(options), observer or Observer()
    pool, candidates, about, groups = grouped_rows(
        source, labels, group, models, reading, observer, columns=columns, textbook=textbook
    )
    found: dict[str, Comparison] = {}
    told: Callable[[str, int, int], object] = observer.task
    for name in sorted(set(groups)):
        learned, held = split_by(groups, name)
        parts = pool.at(learned), pool.at(held)
        must_do(*parts)
        whole = (len(parts[0]),)
        told_of = f"{_named(group)} `{name}`"
        work = Laboratory(*parts, candidates, about, told_of, whole, 1, 0, 0.0, threads, None)
        work.run(told)
        comparison = work.comparison()
        found[name] = replace(comparison, curves=())
    return GroupedComparison(_named(group), found)


def grouped_rows(
    source: object,
    labels: object,
    group: str | Sequence[object],
    models: object,
    reading: ReadOptions,
    observer: Observer,
    *,
    columns: Mapping[str, str] | None = None,
    textbook: bool = False,
) -> tuple[Documents, tuple[Candidate, ...], str, list[str]]:
    """All rows of a source, the models for them, what it is, and the group of each row."""
    named = {group: "ignore"} if isinstance(group, str) else {}
    said = {**(columns or {}), **named}
    pool, about = rows_of_source(
        source, labels, reading, models, said, observer, group=isinstance(group, str)
    )
    candidates = candidates_for(pool, models, reading, textbook=textbook)
    groups = _column(source, group, reading) if isinstance(group, str) else [str(each) for each in group]
    if len(groups) != len(pool):
        raise LengthMismatch(len(pool), len(groups), "groups")
    n = len(set(groups))
    if not 2 <= n <= MOST:
        raise InputError(
            f"`{_named(group)}` has {n:,} different values, and from 2 to {MOST} groups can be held out",
            hint="name a column of few values, such as where a text comes from",
        )
    return pool, candidates, about, groups


def split_by(groups: Sequence[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows of all groups but one, and of that one."""
    held = np.array([each == name for each in groups])
    return np.flatnonzero(~held), np.flatnonzero(held)


def _column(source: object, group: str, reading: ReadOptions) -> list[str]:
    """The values of one column, row by row: read as if they were the texts."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) == "-":
        raise InputError(
            "groups are read in a second pass, and stdin can be read but once", hint="name a file"
        )
    found = Pool.whole(read(source, None, **{**vars(reading), "text": group})).texts
    if not found:
        raise NoData(f"there is no row with a `{group}`")
    return found


def _named(group: str | Sequence[object]) -> str:
    return group if isinstance(group, str) else "group"
