"""A fastText file: its options, its dictionary and its two matrices, all of it checked before use.

Layout, little-endian, version 12 (11 is the same, without parts of words in a classifier)::

    i4 magic, i4 version
    i4 dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate; f8 t
    i4 entries, words, labels; i8 tokens, i8 kept buckets (-1: all)
    entries: bytes up to a zero, i8 count, u1 kind (0 a word, 1 a label), words first
    kept buckets: i4 bucket, i4 row behind the words
    u1 quantised; input matrix    u1 quantised; output matrix
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textodds.errors import ModelFileError, Unsupported
from textodds.interop.from_fasttext.fields import Fields
from textodds.interop.from_fasttext.matrix import Matrix, dense, quantised
from textodds.learn.arrays import Integers

MAGIC = 793_712_314
VERSIONS = (11, 12)
SAVED = "give the .bin or .ftz file that fastText saved"
LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}
KINDS = {1: "cbow", 2: "skipgram", 3: "supervised"}
ENTRY = struct.Struct("<qB")  # behind its name: how often it was there, and what it is


@dataclass(frozen=True)
class Options:
    """What a classifier was trained with, as far as its answers depend on it."""

    dim: int
    word_ngrams: int
    loss: str
    bucket: int
    minn: int
    maxn: int

    @property
    def has_letters(self) -> bool:
        """Whether runs of letters are features."""
        return self.maxn > 0 and self.minn <= self.maxn

    @property
    def buckets(self) -> int:
        """The buckets that a feature can fall into: none where nothing is hashed."""
        return self.bucket if self.word_ngrams > 1 or self.has_letters else 0


@dataclass(frozen=True, eq=False)
class Entries:
    """Words or labels with their counts in training."""

    names: list[bytes]
    counts: list[int]


@dataclass(frozen=True, eq=False)
class FastTextFile:
    """The parts of a file that fit together: W words, B kept buckets, K labels."""

    options: Options
    words: Entries  # W; row i of the input matrix is word i
    labels: Entries  # K
    buckets: Integers  # (B,) increasing
    bucket_rows: Integers  # (B,) their rows of the input matrix
    input: Matrix  # (W + B or more, dim)
    output: Matrix  # (K, dim)


def read_file(path: Path) -> FastTextFile:
    """The parts of a file; `ModelFileError` where they are not those of a fastText classifier."""
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise ModelFileError(f"no fastText model at `{path}`", hint=SAVED) from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise ModelFileError(f"cannot open `{path}` as a fastText model: {reason}", hint=SAVED) from error
    try:
        return parts_of(Fields(content))
    except ModelFileError as error:
        raise ModelFileError(
            f"`{path}` is not a valid fastText model: {error.problem}", hint=error.hint or SAVED
        ) from error


def parts_of(fields: Fields) -> FastTextFile:
    """The parts of a file that is open."""
    if fields.left < 8 or fields.number("mark") != MAGIC:
        raise ModelFileError("it does not begin as one")
    version = fields.number("version")
    if version not in VERSIONS:
        raise ModelFileError(
            f"version {version} of fastText's files is not supported",
            hint="save it with fastText 0.9 or later",
        )
    options = _options(fields, version)
    words, labels, kept = _dictionary(fields, options)
    is_quantised = fields.flag("input matrix is quantised")
    first: Matrix = quantised(fields, "input matrix") if is_quantised else dense(fields, "input matrix")
    is_output_quantised = fields.flag("output matrix is quantised") and is_quantised
    second: Matrix = (quantised if is_output_quantised else dense)(fields, "output matrix")
    if fields.left:
        raise ModelFileError(f"there are {fields.left:,} bytes behind its output matrix")
    buckets, rows = _buckets(options, kept, len(words.names), first.shape[0])
    for matrix, n, what in ((first, first.shape[0], "input"), (second, len(labels.names), "output")):
        if matrix.shape != (n, options.dim):
            raise ModelFileError(f"its {what} matrix has the shape {matrix.shape}, not {(n, options.dim)}")
    return FastTextFile(options, words, labels, buckets, rows, first, second)


def _options(fields: Fields, version: int) -> Options:
    numbers = fields.array("<i4", 12, "options").tolist()
    fields.array("<f8", 1, "options")
    dim, _, _, _, _, word_ngrams, loss, kind, bucket, minn, maxn, _ = numbers
    if loss not in LOSSES or kind not in KINDS or dim < 1 or bucket < 0:
        raise ModelFileError(
            f"its options are invalid: dim {dim}, loss {loss}, model {kind}, bucket {bucket}"
        )
    if KINDS[kind] != "supervised":
        raise Unsupported(
            f"the file holds word vectors ({KINDS[kind]}), not a classifier",
            hint="train one with `fasttext supervised`, or with `textodds train`",
        )
    options = Options(dim, word_ngrams, LOSSES[loss], bucket, max(minn, 1), 0 if version == 11 else maxn)
    if max(options.word_ngrams, options.maxn) > 16:
        raise Unsupported(
            f"runs of {max(options.word_ngrams, options.maxn)} words or letters are too long: 16 at most",
            hint="train again with a smaller -wordNgrams or -maxn",
        )
    if (options.word_ngrams > 1 or options.has_letters) and not bucket:
        raise ModelFileError("it has n-grams, but no bucket for them")
    return options


def _dictionary(fields: Fields, options: Options) -> tuple[Entries, Entries, Integers | None]:
    """Words, labels, and buckets that were kept with their places (B, 2): None for all of them."""
    n, W, K = (fields.number("dictionary") for _ in range(3))
    _, n_kept = fields.wide("dictionary"), fields.wide("dictionary")
    if W < 0 or K < 1 or n != W + K or n > fields.left // (ENTRY.size + 2) or n_kept < -1:
        raise ModelFileError(f"its dictionary of {n:,} entries, {W:,} words and {K:,} labels cannot be")
    names: list[bytes] = []
    counts: list[int] = []
    for i in range(n):
        name = fields.name(f"entry {i:,} of its dictionary")
        count, kind = fields.unpack(ENTRY, "dictionary")
        if not name or count < 0 or kind != (i >= W):
            raise ModelFileError(f"entry {i:,} of its dictionary is damaged")
        names.append(name)
        counts.append(count)
    if len(set(names)) < n:
        raise ModelFileError("a word is twice in its dictionary")
    kept = None if n_kept < 0 else fields.array("<i4", 2 * n_kept, "kept buckets").reshape(-1, 2)
    words, labels = Entries(names[:W], counts[:W]), Entries(names[W:], counts[W:])
    return words, labels, None if kept is None else kept.astype(np.int64)


def _buckets(options: Options, kept: Integers | None, W: int, rows: int) -> tuple[Integers, Integers]:
    """The buckets that have a row, increasing, and their rows."""
    if kept is None:
        if rows != W + options.bucket:
            raise ModelFileError(
                f"its input matrix has {rows:,} rows for {W:,} words and {options.bucket:,} buckets"
            )
        numbers = np.arange(options.buckets)
        return numbers, numbers + W
    kept = kept[np.argsort(kept[:, 0], kind="stable")]
    numbers, places = kept[:, 0], kept[:, 1] + W
    is_sound = not len(kept) or bool(
        numbers[0] >= 0
        and numbers[-1] < options.bucket
        and (np.diff(numbers) > 0).all()
        and places.min() >= W
        and places.max() < rows
    )
    if not is_sound or rows < W:
        raise ModelFileError("the buckets that were kept are not those of its input matrix")
    return (numbers, places) if options.buckets else (numbers[:0], places[:0])
