"""What the Rust kernels offer Python; held equal to the binary by tests/test_stub.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Texts: TypeAlias = object
"""A list or tuple of str, or anything with `__arrow_c_array__` that holds strings."""

RawTally: TypeAlias = tuple[
    int,
    list[str],
    NDArray[np.int64],
    NDArray[np.uint64],
    NDArray[np.uint8],
    NDArray[np.uint64],
    NDArray[np.uint32],
    NDArray[np.int64],
    NDArray[np.int64],
]
"""Fraction bits, classes, documents per class, keys, arena, starts, class of cell, occurrences, documents."""

RawRows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
"""Compressed sparse rows: starts, features, values."""

RawCounts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
"""Compressed sparse rows: starts, columns, counts as int64 or float64."""

class Analyser:
    def __new__(
        cls,
        *,
        unit: str,
        lower: bool,
        form: str | None,
        strip_accents: str | None,
        ngrams: tuple[int, int],
        characters: tuple[int, int] | None,
        stop_words: Sequence[str],
        hash_bits: int | None,
        hash_seed: int,
        vocabulary: Sequence[str] | None,
        count_unknown: bool,
        fields: Sequence[str],
    ) -> Analyser: ...
    def canonical(self, texts: Texts) -> Strings: ...
    @property
    def keeps_all(self) -> bool: ...
    def terms(self, texts: Texts) -> list[list[str]]: ...

def encode_texts(
    texts: Texts, between: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint64]]: ...
def join_texts(
    stores: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint64]]],
    which: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint64]]: ...
def decode_texts(
    arena: NDArray[np.uint8],
    ends: NDArray[np.uint64],
    codes: NDArray[np.uint8],
    starts: NDArray[np.uint64],
    between: int,
    rows: NDArray[np.int64],
) -> Strings: ...
def text_hashes(texts: Texts, threads: int = 1) -> NDArray[np.uint64]: ...

class Counter:
    def __new__(cls, analyser: Analyser, threads: int, budget: int) -> Counter: ...
    def add(self, texts: Texts, labels: Texts, weights: NDArray[np.float64] | None = None) -> None: ...
    @property
    def bytes(self) -> int: ...
    def finish(self) -> tuple[RawTally, int, int]: ...

class Sample:
    def __new__(cls, most: int) -> Sample: ...
    def add(
        self,
        texts: Texts,
        labels: Texts,
        weights: NDArray[np.float64] | None,
        hashes: NDArray[np.uint64],
    ) -> None: ...
    def merge(self, other: Sample) -> None: ...
    def put(self, text: str, label: str, rows: int, weight: int) -> None: ...
    @property
    def is_whole(self) -> bool: ...
    def columns(self) -> tuple[list[str], list[str], list[int], list[int]]: ...

class Gatherer:
    def __new__(cls, analyser: Analyser, threads: int) -> Gatherer: ...
    def add(self, texts: Texts) -> None: ...
    def take_rows(self, frequency: str, unit: bool, blocks: int) -> RawRows: ...
    def vocabulary(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]]: ...
    def finish(self) -> Gathered: ...

class Gathered:
    def __len__(self) -> int: ...
    def documents(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]: ...
    def occurrences(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]: ...
    def by_class(
        self, codes: NDArray[np.int64], weights: NDArray[np.float64], classes: int
    ) -> NDArray[np.float64]: ...
    def names(self, numbers: NDArray[np.uint32]) -> list[str]: ...
    def select(
        self, keep: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]]: ...
    def rows(self, frequency: str, scale: NDArray[np.float64], unit: bool, blocks: int) -> RawRows: ...

class Linear:
    def __new__(
        cls,
        analyser: Analyser,
        vocabulary: tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]],
        intercept: NDArray[np.float64],
        default: NDArray[np.float64],
        slope: NDArray[np.float64],
        base: NDArray[np.float64],
        dense: NDArray[np.float64] | None,
        sparse: tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]] | None,
        unknown: int | None,
        presence: bool,
        replaces: bool,
        weighting: tuple[str, NDArray[np.float64], str, int] | None = None,
    ) -> Linear: ...
    def changed(
        self,
        intercept: NDArray[np.float64],
        default: NDArray[np.float64],
        table: Table,
        less: NDArray[np.float64],
        more: tuple[
            tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]],
            NDArray[np.uint32],
            NDArray[np.uint32],
            NDArray[np.uint32],
        ]
        | None = None,
    ) -> Linear: ...
    def score(self, texts: Texts, threads: int) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...
    def find(self, words: Sequence[str]) -> NDArray[np.int64]: ...
    def one(self, text: str) -> tuple[list[float], int]: ...
    def reading(
        self, text: str
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], int]: ...
    def rows(
        self, texts: Texts, weighted: bool = True, threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.uint32]]: ...

class Table:
    def __new__(cls, base: NDArray[np.float64], width: int) -> Table: ...
    def __len__(self) -> int: ...
    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]: ...
    def changed(self, numbers: NDArray[np.int64], rows: NDArray[np.float64]) -> Table: ...

class Strings:
    def __len__(self) -> int: ...
    def to_list(self) -> list[str]: ...
    def take(self, rows: Sequence[int]) -> list[str]: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class Held:
    def __new__(cls, texts: Texts) -> Held: ...
    def __len__(self) -> int: ...
    def blocks(self) -> list[int]: ...
    def holds(self, characters: str) -> bool: ...

class NameIndex:
    def __new__(cls, packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> NameIndex: ...
    def __len__(self) -> int: ...
    def vocabulary(self) -> tuple[tuple[NDArray[np.uint64], NDArray[np.uint8]], NDArray[np.uint32]]: ...

class Vectoriser:
    def __new__(cls, analyser: Analyser, threads: int, real: bool) -> Vectoriser: ...
    def add(self, texts: Texts) -> None: ...
    def finish(
        self, limits: tuple[float, float] | None
    ) -> tuple[RawCounts, tuple[NDArray[np.uint8], NDArray[np.int64]], bool]: ...

class LineReader:
    def __new__(
        cls,
        path: str,
        kind: str,
        delimiter: str | None,
        quoting: bool,
        header: bool,
        batch_bytes: int = 4194304,
    ) -> LineReader: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def bytes_read(self) -> int: ...
    def select(self, text: int, label: int | None = None, weight: int | None = None) -> None: ...
    def next_batch(
        self, skip_bad: bool
    ) -> tuple[Strings, Strings | None, NDArray[np.float64] | None, list[tuple[int, str, bytes]]] | None: ...
    def select_columns(self, positions: Sequence[int]) -> None: ...
    def next_table(
        self, most: int, skip_bad: bool
    ) -> tuple[list[Strings], NDArray[np.uint64], list[tuple[int, str, bytes]]] | None: ...

class JsonLines:
    def __new__(cls) -> JsonLines: ...
    @property
    def lines(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    def select(self, text: str, label: str | None = None, weight: str | None = None) -> None: ...
    def feed(self, piece: bytes) -> None: ...
    def rest(self) -> bytes: ...
    def peek(self) -> tuple[int, bytes] | None: ...
    def take(
        self, size: int, most: int, flush: bool
    ) -> (
        tuple[
            Strings,
            tuple[Strings, list[int | None]] | None,
            NDArray[np.float64] | None,
            list[tuple[int, int, bytes]],
        ]
        | None
    ): ...

def count_rows(
    analyser: Analyser,
    names: NameIndex,
    texts: Texts,
    threads: int,
    real: bool,
) -> RawCounts: ...
def select_columns(
    starts: NDArray[np.int64], ids: NDArray[np.int32], counts: NDArray[Any], columns: NDArray[np.int32]
) -> RawCounts: ...
def weigh_rows(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    scale: NDArray[np.float64],
    norm: str,
) -> None: ...
def hashed_rows(analyser: Analyser, size: int, signed: bool, texts: Texts, threads: int) -> RawCounts: ...
def disputed(characters: str, words: bytes, spaces: bytes, lowered: str, stripped: str) -> str: ...
def name_list(packed: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]: ...
def add_rows(rows: RawRows, coefficients: NDArray[np.float64], weights: NDArray[np.float64]) -> None: ...
def row_scores(
    rows: RawRows, weights: NDArray[np.float64], bias: NDArray[np.float64], known: bool = False
) -> NDArray[np.float64]: ...
def squares_along(
    rows: RawRows,
    directions: tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]],
    words: int,
) -> NDArray[np.float64]: ...
def row_products(rows: RawRows, turned: RawRows, classes: int) -> NDArray[np.float64]: ...
def left_out(
    model: str,
    rows: RawRows,
    counts: tuple[
        NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]
    ],
    without: tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]],
    alpha: float,
    log_zero: float,
    absent: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    threads: int = 1,
) -> NDArray[np.float64]: ...
def left_out_words(
    rows: RawRows,
    documents: NDArray[np.float64],
    weights: NDArray[np.float64],
    least: NDArray[np.float64],
    presence: bool,
) -> NDArray[np.float64]: ...
def are_texts(values: list[object]) -> bool: ...
def repeats(rows: RawRows, features: int) -> bool: ...
def row_squares(rows: RawRows) -> NDArray[np.float64]: ...
def softmax(
    scores: NDArray[np.float64], bias: NDArray[np.float64], codes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def exponentials(of: NDArray[np.float64]) -> NDArray[np.float64]: ...
def logarithms(of: NDArray[np.float64]) -> NDArray[np.float64]: ...
def bucket_rows(analyser: Analyser, texts: Texts, frequency: str, unit: bool) -> RawRows: ...
def bucket_keys(numbers: NDArray[np.uint32], bits: int) -> NDArray[np.uint64]: ...
def fasttext_keys(numbers: NDArray[np.uint32], buckets: int) -> NDArray[np.uint64]: ...
def word_hashes(keys: NDArray[np.uint64], arena: NDArray[np.uint8]) -> NDArray[np.uint64]: ...
def descend_pass(
    rows: RawRows,
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    weights: NDArray[np.float32],
    history: NDArray[np.float32],
    bias: NDArray[np.float64],
    bias_history: NDArray[np.float64],
    rate: float,
) -> float: ...
def dual_epoch(
    rows: RawRows,
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    squares: NDArray[np.float64],
    bias_square: float,
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    logs: NDArray[np.float64],
    gaps: NDArray[np.float64],
    order: NDArray[np.uint32],
    known: bool = False,
) -> tuple[float, float]: ...
def label_epoch(
    rows: RawRows,
    label_rows: tuple[NDArray[np.int64], NDArray[np.int32]],
    costs: NDArray[np.float64],
    squares: NDArray[np.float64],
    bias_square: float,
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    logits: NDArray[np.float64],
    gaps: NDArray[np.float64],
    losses: NDArray[np.float64],
    order: NDArray[np.uint32],
    known: bool = False,
) -> None: ...
def combine(left: RawTally, right: RawTally, sign: int, lenient: bool) -> RawTally: ...
def cut(tally: RawTally, bits: int) -> list[RawTally]: ...
def pack_rows(
    rows: RawRows,
    codes: NDArray[np.int32],
    frequency: str,
    scale: NDArray[np.float64],
    unit: bool,
    blocks: int,
    second: NDArray[np.uint8],
) -> tuple[NDArray[np.uint16], NDArray[np.float32]]: ...
def unpack_rows(
    packed: tuple[NDArray[np.uint16], NDArray[np.float32]], how: tuple[str, NDArray[np.uint8], int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def softmax_slope(
    packed: tuple[NDArray[np.uint16], NDArray[np.float32]],
    how: tuple[str, NDArray[np.uint8], int],
    costs: NDArray[np.float64],
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    gradient: NDArray[np.float64],
    bias_gradient: NDArray[np.float64],
) -> tuple[float, float]: ...
def directory(keys: NDArray[np.uint64], arena: NDArray[np.uint8]) -> NDArray[np.uint32]: ...
def words(keys: NDArray[np.uint64], arena: NDArray[np.uint8], numbers: NDArray[np.int64]) -> list[str]: ...
def find(
    keys: NDArray[np.uint64],
    arena: NDArray[np.uint8],
    directory: NDArray[np.uint32],
    wanted: Sequence[str],
) -> NDArray[np.int64]: ...
def select(
    keys: NDArray[np.uint64], arena: NDArray[np.uint8], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]: ...
def insert(
    keys: NDArray[np.uint64], arena: NDArray[np.uint8], word: str
) -> tuple[NDArray[np.uint64], int]: ...
def layout(
    file: NDArray[np.uint8],
) -> tuple[dict[str, str], list[tuple[str, str, list[int], int, int]]]: ...
def xxh64(content: NDArray[np.uint8]) -> int: ...
def character_tables() -> tuple[
    list[tuple[int, int, int]],
    list[tuple[int, int, int]],
    list[tuple[int, list[int]]],
    list[tuple[int, list[int]]],
    list[tuple[int, list[int]]],
    list[tuple[int, int, int]],
]: ...
def character_classes() -> list[str]: ...
