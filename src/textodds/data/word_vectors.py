"""Files of word vectors: word2vec, GloVe, fastText, as text or binary; safetensors with a vocabulary."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from textodds.data.files import named, opened, trouble
from textodds.data.values import cut
from textodds.errors import BadFile

BLOCK = 4096  # entries that are looked at together
LARGEST = 16_384  # numbers of a vector
LONGEST_WORD, LONGEST_LINE = 10_000, 1 << 20  # bytes
LONGEST_HEADER = 100_000_000  # bytes, as safetensors itself has it
VOCABULARIES = ("tokenizer.json", "vocab.txt")
TENSORS = "model.safetensors"
MAIN = "embeddings"  # what model2vec calls its vectors
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "<i1"}
WHOLE = {"I64": "<i8", "I32": "<i4", "U32": "<u4", "I16": "<i2", "U16": "<u2"}
OF_NUMBERS = frozenset(b"0123456789+-.eEnaNAifIFty \t\r\n")

Matrix = NDArray[np.float32]
FORMATS_HINT = "word2vec, GloVe or fastText (text or binary), or safetensors with a vocabulary beside"


@dataclass(frozen=True, eq=False)
class Numbered:
    """What an entry is called in messages."""

    path: str
    unit: str  # "line" or "entry"

    def bad(self, number: int, problem: str) -> BadFile:
        """The error for an entry."""
        return BadFile(
            f"`{self.path}`, {self.unit} {number:,}: {problem}",
            hint="correct it, or fetch the file again: it may have been cut off or changed",
        )

    def finite(self, vectors: Matrix, numbers: Sequence[int]) -> Matrix:
        """The vectors, if all of their numbers are finite."""
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(wrong):
            raise self.bad(numbers[int(wrong[0])], "a number of the vector is not finite")
        return vectors


@dataclass(frozen=True, eq=False)
class VectorEntries:
    """Some entries of a file: their words, None for what is no word, and a way to read their vectors."""

    at: Numbered
    numbers: Sequence[int]  # of the entries, for messages
    words: Sequence[str | None]
    vectors: Callable[[Sequence[int]], Matrix]  # of those at some places in ``words``; refuses NaN


def entries_of(path: str) -> Iterator[VectorEntries]:
    """The entries of a file or folder of word vectors, block by block; the format is found from its content.

    Vectors are read of those entries alone that are asked for, so that memory stays bounded.
    """
    if Path(path).is_dir():
        return _of_tensors(str(Path(path) / TENSORS))
    with trouble(named(path)), opened(path) as (stream, _):
        start = _some(stream, LONGEST_WORD + 128)
    if not start.strip():
        raise BadFile(f"`{path}` has no word vectors: it is empty", hint=f"give {FORMATS_HINT}")
    if len(start) > 9 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= LONGEST_HEADER:
        return _of_tensors(path)
    return _of_stream(path, is_binary=_is_binary(start))


def _some(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, or fewer at the end."""
    taken = b""
    while len(taken) < size and (more := stream.read(size - len(taken))):
        taken += more
    return taken


def _of_stream(path: str, *, is_binary: bool) -> Iterator[VectorEntries]:
    """The entries of a text or a binary file of word2vec's kind."""
    with trouble(named(path)), opened(path) as (stream, _):
        first = stream.readline(LONGEST_LINE)
        counts = _counts(first)
        if counts is None:
            yield from _of_lines(path, stream, first, None, None)
            return
        n, size = counts
        _check_size(path, size)
        if is_binary:
            yield from _of_binary(path, stream, n, size)
        else:
            yield from _of_lines(path, stream, b"", n, size)


def _counts(line: bytes) -> tuple[int, int] | None:
    """The numbers of entries and of numbers of each that a first line tells, if it does."""
    fields = line.split()
    if len(fields) != 2 or not all(each.isdigit() and len(each) < 19 for each in fields):
        return None
    return int(fields[0]), int(fields[1])


def _check_size(path: str, size: int) -> None:
    if not 1 <= size <= LARGEST:
        raise BadFile(
            f"`{path}`: vectors of {size:,} numbers; they have from 1 to {LARGEST:,}",
            hint=f"give {FORMATS_HINT}",
        )


def _is_binary(start: bytes) -> bool:
    """Whether, behind a line of counts and the first word, bytes stand that no number is written with."""
    word, _, rest = start.partition(b"\n")[2].lstrip(b"\n").partition(b" ")
    line = rest[:64].partition(b"\n")[0]
    return b"\n" not in word and not OF_NUMBERS.issuperset(line)


def _of_lines(
    path: str, stream: BinaryIO, first: bytes, n: int | None, size: int | None
) -> Iterator[VectorEntries]:
    """The entries of a text: a word and its numbers on each line."""
    at = Numbered(path, "line")
    number, seen = (0, 0) if n is None else (1, 0)
    block: list[tuple[int, bytes, bytes]] = []  # line number, word, numbers
    line = first or stream.readline(LONGEST_LINE)
    while line:
        number += 1
        if len(line) >= LONGEST_LINE:
            raise at.bad(number, f"longer than {LONGEST_LINE:,} bytes")
        if content := line.rstrip(b" \t\r\n"):
            content = content.replace(b"\t", b" ")
            if size is None:
                size = _size_of(at, number, content)
                _check_size(path, size)
            parts = content.rsplit(b" ", size)
            if len(parts) != size + 1:
                got = content.count(b" ")
                raise at.bad(number, f"{got:,} numbers, where there should be {size:,}")
            block.append((number, parts[0], content[len(parts[0]) + 1 :]))
            seen += 1
            if n is not None and seen > n:
                raise at.bad(number, f"more entries than the {n:,} of the first line")
        if len(block) == BLOCK:
            yield _text_entries(at, block, size or 0)
            block = []
        line = stream.readline(LONGEST_LINE)
    if n is not None and seen < n:
        raise at.bad(number, f"the end, after {seen:,} entries of {n:,}")
    if block:
        yield _text_entries(at, block, size or 0)


def _size_of(at: Numbered, number: int, content: bytes) -> int:
    """Numbers behind the word of a first line."""
    fields = content.split(b" ")
    count = 0
    while count < len(fields) - 1 and _is_number(fields[-1 - count]):
        count += 1
    if not count:
        shown = cut(content.decode(errors="backslashreplace"), 40)
        raise at.bad(number, f"`{shown}` is not a word and its numbers")
    return count


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _text_entries(at: Numbered, block: list[tuple[int, bytes, bytes]], size: int) -> VectorEntries:
    def vectors(chosen: Sequence[int]) -> Matrix:
        found = np.empty((len(chosen), size), np.float32)
        for row, i in enumerate(chosen):
            number, _, content = block[i]
            try:
                values = [float(field) for field in content.split(b" ")]
            except ValueError:
                raise at.bad(number, "what follows the word is not all numbers") from None
            with np.errstate(over="ignore"):
                found[row] = values
        return at.finite(found, [block[i][0] for i in chosen])

    numbers = [number for number, _, _ in block]
    return VectorEntries(at, numbers, [_text(word) for _, word, _ in block], vectors)


def _text(word: bytes) -> str | None:
    """A word; None of bytes that are no text, as word2vec cuts long words within a character."""
    try:
        return word.strip().decode()
    except UnicodeDecodeError:
        return None


def _of_binary(path: str, stream: BinaryIO, n: int, size: int) -> Iterator[VectorEntries]:
    """The entries of word2vec's binary file: a word, a space, and single-precision numbers."""
    at = Numbered(path, "entry")
    words: list[str | None] = []
    held: list[bytes] = []
    for number in range(1, n + 1):
        words.append(_text(_word(at, number, stream)))
        vector = _some(stream, 4 * size)
        if len(vector) < 4 * size:
            raise at.bad(number, f"the file ends here, where it should have {n:,} entries")
        held.append(vector)
        if len(words) == BLOCK or number == n:
            yield _binary_entries(at, number - len(words) + 1, words, held, size)
            words, held = [], []
    if _some(stream, 64).strip():
        raise at.bad(n, "the last by the first line, and the file goes on")


def _word(at: Numbered, number: int, stream: BinaryIO) -> bytes:
    """The bytes up to a space."""
    word = bytearray()
    while (byte := stream.read(1)) != b" ":
        if not byte or len(word) > LONGEST_WORD:
            problem = "a word without end" if byte else "the file ends here"
            raise at.bad(number, problem)
        word += byte
    return bytes(word)


def _binary_entries(
    at: Numbered, first: int, words: list[str | None], held: list[bytes], size: int
) -> VectorEntries:
    def vectors(chosen: Sequence[int]) -> Matrix:
        content = b"".join(held[i] for i in chosen)
        found = np.frombuffer(content, "<f4").reshape(len(chosen), size).astype(np.float32)
        return at.finite(found, [first + i for i in chosen])

    return VectorEntries(at, range(first, first + len(words)), words, vectors)


@dataclass(frozen=True)
class _Tensor:
    """One array of a safetensors file."""

    dtype: str
    shape: tuple[int, ...]
    start: int  # byte in the file

    def rows(self, path: str) -> NDArray[np.generic]:
        """The array, as it lies in the file."""
        kind = {**TYPES, **WHOLE}[self.dtype]
        return np.memmap(path, np.dtype(kind), "r", self.start, self.shape)


def _tensors(path: str) -> dict[str, _Tensor]:
    """The arrays of numbers in a safetensors file."""
    with trouble(named(path)), Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(min(length, LONGEST_HEADER + 1))
        end = file.seek(0, 2)
    try:
        if length > LONGEST_HEADER or len(header) < length:
            raise ValueError("its header is cut off")
        return dict(_listed(json.loads(header), 8 + length, end))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadFile(
            f"`{path}` is damaged safetensors: {cut(str(error), 200)}", hint="fetch the file again"
        ) from error


def _listed(header: dict[str, dict[str, object]], first: int, end: int) -> Iterator[tuple[str, _Tensor]]:
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] not in {**TYPES, **WHOLE}:
            continue
        dtype, given, places = str(about["dtype"]), _counted(about["shape"]), _counted(about["data_offsets"])
        if len(places) != 2:
            raise ValueError(f"`{cut(name, 60)}` has no place")
        width = np.dtype({**TYPES, **WHOLE}[dtype]).itemsize
        if places[1] - places[0] != width * math.prod(given) or first + places[1] > end:
            raise ValueError(f"`{cut(name, 60)}` is cut off, or is not as long as its shape says")
        yield name, _Tensor(dtype, tuple(given), first + places[0])


def _counted(values: object) -> list[int]:
    """A list of counts, which JSON may have otherwise."""
    if not isinstance(values, list):
        raise TypeError("a list of numbers is wanted")
    found = [each for each in values if type(each) is int and 0 <= each < 1 << 60]
    if len(found) != len(values):
        raise ValueError("a number that is not a count")
    return found


def _of_tensors(path: str) -> Iterator[VectorEntries]:
    """The entries of a safetensors file with a vocabulary beside; model2vec's mapping and weights apply."""
    tensors = _tensors(path)
    beside = [Path(path).parent / name for name in VOCABULARIES]
    vocabulary = next((each for each in beside if each.is_file()), None)
    if vocabulary is None:
        raise BadFile(
            f"`{path}` has vectors and no words: neither `tokenizer.json` nor `vocab.txt` lies beside it",
            hint="put the vocabulary there, a word a line in the order of the vectors: `vocab.txt`",
        )
    words = _words_in_json(vocabulary) if vocabulary.suffix == ".json" else _words_in_lines(vocabulary)
    main = _main(path, tensors, len(words))
    _check_size(path, main.shape[1])
    if not main.shape[0]:
        raise BadFile(f"`{path}` has no word vectors: its array has no rows", hint="fetch the file again")
    matrix = main.rows(path)
    places, weights = (_column(path, tensors, name, len(words)) for name in ("mapping", "weights"))
    places = np.arange(len(words), dtype=np.float64) if places is None else places
    outside = np.flatnonzero((places < 0) | (places >= len(matrix)))
    at = Numbered(str(vocabulary), "entry")
    if len(outside):
        raise at.bad(int(outside[0]) + 1, f"no vector: `{path}` has {len(matrix):,}")

    def block(first: int) -> VectorEntries:
        def vectors(chosen: Sequence[int]) -> Matrix:
            numbers = np.asarray([first + i for i in chosen], np.int64)
            found = np.asarray(matrix[places[numbers].astype(np.int64)])
            if main.dtype == "BF16":
                found = (found.astype("<u4") << np.uint32(16)).view("<f4")
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = found if weights is None else found * weights[numbers][:, None]
                single = scaled.astype(np.float32)
            return at.finite(single, [number + 1 for number in numbers.tolist()])

        some = words[first : first + BLOCK]
        return VectorEntries(at, range(first + 1, first + 1 + len(some)), some, vectors)

    return map(block, range(0, len(words), BLOCK))


def _main(path: str, tensors: dict[str, _Tensor], n: int) -> _Tensor:
    """The array of vectors: the one named so, the only one, or the only one with as many rows as words."""
    wide = {name: each for name, each in tensors.items() if len(each.shape) == 2 and each.dtype in TYPES}
    if MAIN in wide:
        return wide[MAIN]
    fitting = {name: each for name, each in wide.items() if each.shape[0] == n} if len(wide) > 1 else wide
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    some = ", ".join(f"`{cut(name, 60)}`" for name in list(wide)[:8]) or "none"
    raise BadFile(
        f"cannot tell which array of `{path}` holds the vectors of {n:,} words: {some}",
        hint=f"write them as one array named `{MAIN}`",
    )


def _column(path: str, tensors: dict[str, _Tensor], name: str, n: int) -> NDArray[np.float64] | None:
    """What model2vec says of each word beside its vector; None if it says nothing."""
    found = tensors.get(name)
    if found is None or len(found.shape) != 1:
        return None
    if found.shape[0] != n or found.dtype == "BF16" or (name == "mapping") != (found.dtype in WHOLE):
        raise BadFile(
            f"`{path}`: `{name}` has {found.shape[0]:,} {found.dtype} numbers for {n:,} words",
            hint="fetch the file again, and its vocabulary with it",
        )
    return np.asarray(found.rows(path), np.float64) if n else None


def _words_in_lines(path: Path) -> list[str | None]:
    with trouble(named(str(path))):
        content = path.read_bytes()
    lines = content.removesuffix(b"\n").split(b"\n")
    return _whole_words([_text(line) for line in lines])


def _words_in_json(path: Path) -> list[str | None]:
    """The words of a tokeniser's file by number: pieces that only continue a word are none."""
    with trouble(named(str(path))):
        content = path.read_bytes()
    try:
        given = json.loads(content)["model"]["vocab"]
        if isinstance(given, list):
            pieces = {str(piece): number for number, (piece, _) in enumerate(given)}
        else:
            pieces = dict(given)
        if max(_counted(list(pieces.values())), default=0) > 100 + 20 * len(pieces):
            raise ValueError("numbers of words that are not counted from 0")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadFile(
            f"`{path}` has no vocabulary: {cut(str(error), 200)}",
            hint="give the tokenizer.json that the vectors came with, or `vocab.txt` in its place",
        ) from error
    words: list[str | None] = [None] * (1 + max(pieces.values(), default=-1))
    for piece, number in pieces.items():
        words[number] = piece
    return _whole_words(words)


def _whole_words(pieces: list[str | None]) -> list[str | None]:
    """Pieces that are words: without the mark of a beginning, where pieces have one; None for the others."""
    for mark in ("▁", "Ġ"):
        if sum(each is not None and each.startswith(mark) for each in pieces) > len(pieces) // 20:
            return [
                each.removeprefix(mark) if each is not None and each.startswith(mark) else None
                for each in pieces
            ]
    return [None if each is None or each.startswith("##") else each for each in pieces]
