"""What a vectoriser does, written down step by step, so that ours can be held to scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.feature_extraction import text as theirs

from textodds.interop import vectorisers as ours


@dataclass
class Outcome:
    """What a call returned or raised, and of what it warned."""

    value: Any = None
    error: tuple[type, str] | None = None
    warnings: list[tuple[type, str]] = field(default_factory=list)


def outcome(call: Callable[[], Any]) -> Outcome:
    """What becomes of a call."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = Outcome()
        try:
            found.value = call()
        except Exception as error:  # whatever it is, it must be theirs
            found.error = type(error), str(error)
    found.warnings = [(warning.category, str(warning.message)) for warning in heard]
    return found


def assert_same(got: Any, expected: Any) -> None:
    """Hold one value to another: to the last bit, and to its type."""
    if sparse.issparse(expected):
        assert_same_matrix(got, expected)
    elif isinstance(expected, np.ndarray):
        assert type(got) is type(expected)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        assert got.tolist() == expected.tolist()
        assert list(map(type, got.flat)) == list(map(type, expected.flat))
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for ours, theirs in zip(got, expected, strict=True):
            assert_same(ours, theirs)
    elif isinstance(expected, BaseEstimator):
        assert repr(got) == repr(expected)
    else:
        assert got == expected


def assert_same_matrix(got: Any, expected: Any) -> None:
    """Hold sparse rows to others: each array of them, in its order."""
    assert type(got) is type(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    for name in ("indptr", "indices", "data"):
        one, other = getattr(got, name), getattr(expected, name)
        assert one.dtype == other.dtype, name
        assert one.shape == other.shape, name
        assert one.tobytes() == other.tobytes(), f"{name}: {one}, not {other}"
    assert got.has_sorted_indices == expected.has_sorted_indices
    assert got.has_canonical_format == expected.has_canonical_format


def assert_same_outcome(got: Outcome, expected: Outcome) -> None:
    """Hold what a call did to what another did.

    How often and in which order it warned is left open, and what it warned of before it failed.
    """
    assert got.error == expected.error
    if expected.error is None:
        assert set(got.warnings) == set(expected.warnings)
    assert_same(got.value, expected.value)


def assert_same_deed(name: str, deed: Callable[[type], Any]) -> Outcome:
    """Hold our class of a name to theirs, in what is done with it; returns what theirs did."""
    expected = outcome(lambda: deed(getattr(theirs, name)))
    assert_same_outcome(outcome(lambda: deed(getattr(ours, name))), expected)
    return expected


def assert_same_result(name: str, deed: Callable[[type], Any]) -> Any:
    """As `assert_same_deed`, of what must not fail; returns what theirs gave."""
    expected = assert_same_deed(name, deed)
    assert expected.error is None, expected.error
    return expected.value


def life(kind: type, choices: dict[str, Any], texts: Any, others: Any) -> list[Outcome]:
    """A vectoriser fitted to texts, looked at, and used on others."""
    vectoriser = kind(**deepcopy(choices))
    found = [outcome(lambda: vectoriser.fit_transform(texts))]
    if kind.__name__ != "HashingVectorizer":
        found.append(outcome(lambda: getattr(vectoriser, "vocabulary_", None)))
        found.append(outcome(vectoriser.get_feature_names_out))
    # After a fit that failed theirs of tf-idf is half fitted, and ours as it was.
    if kind.__name__ != "TfidfVectorizer" or found[0].error is None:
        found.append(outcome(lambda: vectoriser.transform(others)))
    with config_context(sparse_interface="sparray"):
        found.append(outcome(lambda: kind(**deepcopy(choices)).fit_transform(texts)))
        found.append(outcome(lambda: kind(**deepcopy(choices)).fit(texts).transform(others)))
    return found


def assert_same_life(name: str, texts: Any, others: Any = None, **choices: Any) -> list[Outcome]:
    """Hold our class of a name to theirs, fitted to texts and used on others; returns what theirs did."""
    others = texts if others is None else others
    expected = life(getattr(theirs, name), choices, texts, others)
    for got, wanted in zip(life(getattr(ours, name), choices, texts, others), expected, strict=True):
        assert_same_outcome(got, wanted)
    return expected
