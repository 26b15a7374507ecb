"""Fewer cases than the product of all parameters, in which every two values still meet, or every one comes.

A slip that shows in one setting, or where two settings meet, shows in some case of a cover by pairs; the
product of all factors mostly repeats these meetings (Kuhn, Wallace, Gallo 2004, "Software fault interactions
and implications for software testing"). `pairwise`, `in_turn` and `together` stand above the parametrisations
of a test:

    @pairwise
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("covariance", ["shared", "full"])
    def test_full_densities_are_scipys(covariance, target, weighted): ...
"""

import contextlib
import functools
import inspect
import itertools

import pytest


def cover(*factors, allowed=lambda *values: True):
    """Tuples, one value of each factor, such that every pair that ``allowed`` tuples hold is in one of them.

    Greedy and without chance: of all allowed tuples that with the most pairs not yet covered comes next, of
    equal ones the first in the order of the product, turned a little from one to the next so that factors of
    many values do not hold the others at their first.

    >>> cover("ab", (0, 1), "xy")
    [('a', 0, 'x'), ('a', 1, 'y'), ('b', 0, 'y'), ('b', 1, 'x')]
    >>> cover("ab", (0, 1), allowed=lambda letter, number: letter == "a" or number)
    [('a', 0), ('a', 1), ('b', 1)]
    """
    factors = [list(factor) for factor in factors]
    rows = [
        row
        for row in itertools.product(*(range(len(factor)) for factor in factors))
        if allowed(*(factor[at] for factor, at in zip(factors, row, strict=True)))
    ]
    pairs = {row: set(itertools.combinations(enumerate(row), 2)) for row in rows}
    left = set().union(*pairs.values())
    chosen = []
    while left:
        best = max(rows, key=lambda row: len(pairs[row] & left))
        chosen.append(best)
        left -= pairs[best]
        turn = rows.index(best) + 1
        rows = rows[turn:] + rows[:turn]
    return [tuple(factor[at] for factor, at in zip(factors, row, strict=True)) for row in chosen]


def turns(*factors, times=1):
    """Tuples in which each value of the longest factor has so many partners from each of the others.

    >>> turns("abc", (0, 1), times=1)
    [('a', 0), ('b', 1), ('c', 0)]
    """
    factors = [list(factor) for factor in factors]
    longest = max(map(len, factors))
    steps = [0 if len(factor) == longest else 1 + at for at, factor in enumerate(factors)]
    rows = [
        tuple((i + step * turn) % len(factor) for factor, step in zip(factors, steps, strict=True))
        for turn in range(times)
        for i in range(longest)
    ]
    return [tuple(factor[at] for factor, at in zip(factors, row, strict=True)) for row in dict.fromkeys(rows)]


def pairwise(test):
    """The test with a `cover` of its parametrisations in the place of their product."""
    return _combined(test, cover)


def in_turn(times=1):
    """The test with `turns` of its parametrisations in the place of their product.

    For what is decided in one place, whatever the other is: every bad value, and every way to give one.
    """
    return lambda test: _combined(test, lambda *factors: turns(*factors, times=times))


def together(test):
    """The test once, for every value of its parametrisations; what fails is said of each value it fails with.

    For many values of one claim, none of which takes time: what is refused, what is written how. Its fixtures
    are made once for all values, so that it may not have those that values would leave something in.
    """
    rows = [
        ("-".join(label for label, _ in row), list(itertools.chain(*(values for _, values in row))))
        for row in itertools.product(*_factors(test))
    ]
    names = _all_names(test)
    signature = inspect.signature(test)
    rest = [each for name, each in signature.parameters.items() if name not in names]
    assert not {each.name for each in rest} & {"tmp_path", "monkeypatch"}, "values would meet in them"

    @functools.wraps(test)
    def whole(**fixtures):
        with Failures() as failures:
            for label, values in rows:
                with failures.noted(label):
                    test(**fixtures, **dict(zip(names, values, strict=True)))

    whole.__signature__ = signature.replace(parameters=rest)
    whole.pytestmark = _other_marks(test)
    return whole


class Failures:
    """Failures of several checks, kept until all are done: ``with failures.noted("what is checked"): ...``.

    >>> with Failures() as failures:
    ...     for value in (1, 2, 3):
    ...         with failures.noted(value):
    ...             assert value == 2
    Traceback (most recent call last):
    ExceptionGroup: 2 fail: 1, 3 (2 sub-exceptions)
    """

    def __init__(self):
        self._labels, self._errors = [], []

    def __enter__(self):
        return self

    @contextlib.contextmanager
    def noted(self, label):
        """Keep what fails in the block, under a label."""
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"with {label}")
            self._labels.append(str(label))
            self._errors.append(error)

    def __exit__(self, kind, error, traceback):
        if kind is None and self._errors:
            failed = f"{len(self._labels)} fail: {', '.join(self._labels)}"
            raise BaseExceptionGroup(failed, self._errors) from None


def _combined(test, combine):
    names = _all_names(test)
    rows = [
        pytest.param(*itertools.chain(*(values for _, values in row)), id="-".join(label for label, _ in row))
        for row in combine(*_factors(test))
    ]
    test.pytestmark = _other_marks(test)
    return pytest.mark.parametrize(names, rows)(test)


def _parametrisations(test):
    """Those of a test, from the top."""
    return [mark for mark in reversed(test.pytestmark) if mark.name == "parametrize"]


def _other_marks(test):
    return [mark for mark in test.pytestmark if mark.name != "parametrize"]


def _factors(test):
    """The labelled values of each parametrisation."""
    return [_values(*mark.args, **mark.kwargs) for mark in _parametrisations(test)]


def _all_names(test):
    return [name for mark in _parametrisations(test) for name in _names(mark.args[0])]


def _names(names):
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _values(names, values, ids=None):
    """Labels and tuples of the values of one parametrisation."""
    names, found = _names(names), []
    labels = list(ids) if ids is not None and not callable(ids) else None
    for at, value in enumerate(values):
        if hasattr(value, "marks"):  # as `pytest.param` makes it
            assert not value.marks, "plain values only: a mark would be lost"
            found.append((value.id or "-".join(map(str, value.values)), value.values))
            continue
        each = (value,) if len(names) == 1 else tuple(value)
        own = [_label(v, n, at, ids) for v, n in zip(each, names, strict=True)]
        label = str(labels[at]) if labels else "-".join(own)
        found.append((label, each))
    return found


def _label(value, name, at, ids):
    """How pytest calls a value."""
    if callable(ids) and (said := ids(value)) is not None:
        return str(said)
    if isinstance(value, (str, int, float, bool, complex, type(None))):
        return str(value)
    said = getattr(value, "__name__", None)
    return said if isinstance(said, str) else f"{name}{at}"
