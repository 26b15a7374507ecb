"""The model file: safetensors, memory-mapped, checked before use, written whole or not at all.

Layout, format 3; format 1 had no weighting, format 2 no quadratic models and no tables. The free-text
header holds one entry ``textodds``, a JSON object: format version, form (linear, quadratic, factored, table),
classes, recipe (text settings, selection, unknown words, learner, weighting) and what is known of the data.
The tensors are the arrays of `Vocabulary`, `LinearModel` and `Tally` under the names below. Nothing
in the file is code, and opening it reads the header and maps the rest.

``tensors`` in that object says of each tensor its type, its shape and the XXH64 of its bytes; the last
entry, ``xxh64``, is that of all that is written before its own sixteen digits. What is read is compared with
them first.
"""

from __future__ import annotations

import itertools
import json
import math
import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.files import elsewhere
from textodds.data.named_arrays import AnyArray, Arrays, NamedArrays
from textodds.data.written_file import HOLDS, replacing
from textodds.errors import ModelFileError, nearest_files

FORMAT = 3
SPAN_FORMAT = 5  # of quadratic models whose directions are made of rows
COMPACT_FORMAT = 4  # of files that are compact: an earlier version says that it is too old for them
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "I32": "<i4",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
}

NAMES = {np.dtype(kind): name for name, kind in DTYPES.items()}

Header = dict[str, Any]  # plain data, as JSON has it


def write(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Write a file of a header and arrays; a crash leaves the old file or the new one."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays, text = _sealed(header, arrays)
    with replacing(path) as temporary:
        try:
            save_file(arrays, temporary, {"textodds": text})
        except SafetensorError as error:
            raise ModelFileError(
                f"cannot write `{path}`: {error}", hint="is the disk full? The file there before is untouched"
            ) from error


def file_of(header: Header, arrays: Arrays) -> bytes:
    """The bytes that `write` would write."""
    from safetensors.numpy import save

    arrays, text = _sealed(header, arrays)
    return bytes(save(arrays, {"textodds": text}))


def _sealed(header: Header, arrays: Arrays) -> tuple[Arrays, str]:
    """The arrays as they are written, and the header with their checksums and its own."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return arrays, sealed({**header, "tensors": {name: listing(array) for name, array in arrays.items()}})


def listing(array: AnyArray) -> list[object]:
    """What the header says of a tensor: its type, its shape and the checksum of its bytes."""
    return [NAMES[array.dtype], list(array.shape), _sum(array.reshape(-1).view(np.uint8))]


def sealed(header: Header) -> str:
    """A header as it is written, its checksum at the end."""
    before = json.dumps({**header, "xxh64": ""}, ensure_ascii=False).removesuffix('"}')
    return before + _text_sum(before) + '"}'


def _is_whole(text: str) -> bool:
    """Whether a header with a checksum is as it was written."""
    before, digits, end = text[:-18], text[-18:-2], text[-2:]
    return before.endswith('"xxh64": "') and (digits, end) == (_text_sum(before), '"}')


def _text_sum(text: str) -> str:
    return _sum(np.frombuffer(text.encode(), dtype=np.uint8))


def _sum(content: NDArray[np.uint8]) -> str:
    return f"{_kernels.xxh64(content):016x}"


def damaged(path: str | os.PathLike[str], problem: str) -> ModelFileError:
    """The error for a file that is not as it was written."""
    return ModelFileError(
        f"`{os.fspath(path)}` is not a valid textodds model file: {problem}",
        hint="train it again, or copy it again",
    )


T = TypeVar("T")


def guarded(path: str | os.PathLike[str], read: Callable[[Path], T]) -> T:
    """What ``read`` makes of a file, whose every surprise is a `ModelFileError`."""
    if isinstance(path, str) and (error := elsewhere(path)) is not None:
        raise ModelFileError(error.problem, hint=error.hint)
    path = Path(path)
    try:
        return read(path)
    except ModelFileError as error:
        if str(path) in error.problem:
            raise
        raise damaged(path, error.problem) from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise damaged(path, str(error)) from error


class Tensors(Mapping[str, AnyArray]):
    """The tensors of a file, each compared with its checksum when it is first asked for.

    A file of an earlier version has none; its tensors are taken as they are.
    """

    def __init__(self, path: Path, found: Arrays, listed: object) -> None:
        self._path, self._found = path, found
        self._listed: Header = listed if isinstance(listed, dict) else {}
        self.has_checksums = listed is not None
        if self.has_checksums and self._listed.keys() != found.keys():
            raise ModelFileError("its tensors are not those that its header lists")

    @classmethod
    def plain(cls, found: Arrays, *, like: Tensors) -> Tensors:
        """Tensors that were made of others, which were compared already."""
        tensors = cls(like._path, found, None)
        tensors.has_checksums = like.has_checksums
        return tensors

    def __getitem__(self, name: str) -> AnyArray:
        array = self._found[name]
        if name in self._listed:
            if self._listed[name] != listing(array):
                raise damaged(self._path, f"the tensor `{name}` is not as it was written")
            del self._listed[name]  # once is enough
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def check(self) -> None:
        """Compare all tensors with their checksums."""
        for name in self._found:
            _ = self[name]


def contents(path: Path) -> tuple[Header, Tensors]:
    """The header and the tensors of a model file, neither of them believed yet."""
    try:
        with path.open("rb") as file:
            if HOLDS and path.stat().st_size:  # a model that is open could not be saved to its own file
                return parsed(path, file.read())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        near = nearest_files(path.name, sorted(each.name for each in path.parent.glob("*.textodds")))
        raise ModelFileError(
            f"no model file at `{path}`",
            hint=f"did you mean `{path.parent / near[0]}`?"
            if near
            else f"make one: textodds train DATA -o {path}",
        ) from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise ModelFileError(f"cannot open `{path}` as a model: {reason}") from error
    return parsed(path, mapped)


def parsed(path: Path, file: bytes | mmap.mmap) -> tuple[Header, Tensors]:
    """The header and the tensors in the bytes of a model file, neither of them believed yet."""
    data = np.frombuffer(file, dtype=np.uint8)
    if data.ctypes.data % 8:  # bytes of Python's that came from elsewhere
        data = data.copy()
    metadata, places = _kernels.layout(data)
    header = _header(metadata)
    arrays = {name: _array(data, *place) for name, *place in places}  # type: ignore[arg-type]
    tensors = Tensors(path, arrays, header.get("tensors"))
    if "compact" not in header:
        return header, tensors
    from textodds.model.storage.compact import unpacked

    return header, Tensors.plain(unpacked(header, tensors), like=tensors)


def part_of(arrays: NamedArrays, prefix: str) -> Arrays:
    """The arrays of one part of a model, by the names that they have there."""
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}


def names_of(names: object) -> tuple[str, ...]:
    """Class names: a list of text, sorted, none twice."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ModelFileError("the class names are damaged")
    if any(a >= b for a, b in itertools.pairwise(names)):
        raise ModelFileError("the class names are out of order")
    return tuple(names)


def _header(metadata: dict[str, str]) -> Header:
    if "textodds" not in metadata:
        raise ModelFileError("it has no textodds header")
    text = metadata["textodds"]
    header = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=lambda _: None)
    if "\\ud" in text.lower():
        json.dumps(header, ensure_ascii=False).encode()  # refuses halves of surrogate pairs
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ModelFileError("its header is not a textodds header")
    if ("tensors" in header or "xxh64" in header) and not _is_whole(text):  # earlier versions wrote neither
        raise ModelFileError("its header is not as it was written")
    if header["format"] > SPAN_FORMAT:
        raise ModelFileError(
            f"it has format {header['format']}, this version reads up to {SPAN_FORMAT}: upgrade textodds"
        )
    if (header["format"] == COMPACT_FORMAT) != ("compact" in header):
        raise ModelFileError(f"files of format {COMPACT_FORMAT}, and no others, are compact")
    return header


def _whole(digits: str) -> int:
    """A whole number of a header."""
    if len(digits) > 20:
        raise ModelFileError(f"there is a number of {len(digits)} digits in its header")
    return int(digits)


def _finite(digits: str) -> float | None:
    """A number of a header; nothing in the place of one beyond what a float holds."""
    number = float(digits)
    return number if math.isfinite(number) else None


def _array(data: NDArray[np.uint8], dtype: str, shape: list[int], start: int, end: int) -> AnyArray:
    if dtype not in DTYPES:
        raise ModelFileError(f"a tensor has the type {dtype}, which no model file has")
    kind = np.dtype(DTYPES[dtype])
    part = data[start:end]
    if start % kind.itemsize:
        part = part.copy()  # made by another writer: not aligned
    return part.view(kind).reshape(shape)
