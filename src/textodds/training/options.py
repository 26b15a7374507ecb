"""The options of `textodds.train`, by type, so that checkers know them; `train` says what each means."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from textodds.data import Observer
from textodds.text import TextSettings, Weighting


class ReadingOptions(TypedDict, total=False):
    """How data is read, beside the column of the texts; see `textodds.read`."""

    label: str | Sequence[str] | None
    weight: str | None
    format: str | None
    query: str | None
    quoting: bool
    header: bool
    encoding: str | None
    sheet: str | int | None
    bad_rows: Literal["stop", "skip"]
    rejects_path: str | os.PathLike[str] | None


class WordOptions(TypedDict, total=False):
    """How texts are cut, and which words are kept; see `TextSettings` and `Selection`."""

    settings: TextSettings | None
    unit: str
    ngrams: tuple[int, int]
    characters: tuple[int, int] | None
    lower: bool
    normal_form: str | None
    strip_accents: bool | str
    stop_words: Sequence[str]
    hash_bits: int | None
    hash_seed: int
    vocabulary: Sequence[str] | None
    count_unknown: bool
    sklearn: bool
    min_df: int | float | None
    max_df: int | float
    max_features: int | None
    unknown: Literal["ignore", "smooth", "first", "count"]
    weighting: Weighting | None


class TrainOptions(ReadingOptions, WordOptions, total=False):
    """All of them, but for those that say whether a model is one of a table, or of several labels."""

    learner: object  # a name, an estimator, or several of either
    features: str | Sequence[str] | None
    budget: float | None
    goal: str | None
    unlabelled: object
    vectors: str | os.PathLike[str] | None
    stream: bool
    typical: bool
    calibrate: bool
    textbook: bool
    documents: bool
    clean_labels: bool
    threads: int | None
    memory: int | None
    observer: Observer | None


class TextOrTableOptions(TrainOptions, total=False):
    """All of them."""

    label_separator: str | None
    text: str | Sequence[str] | None
    columns: Mapping[str, str] | None
