"""The model file: safetensors, memory-mapped, checked before use, written whole or not at all.

Layout, format 3; format 1 had no weighting, format 2 no quadratic models and no tables. The free-text
header holds one entry ``textodds``, a JSON object: format version, form (linear, quadratic or table),
classes, recipe (text settings, selection, unknown words, learner, weighting) and what is known of the data.
The tensors are the arrays of `Vocabulary`, `LinearModel` and `Tally` under the names below. Nothing
in the file is code, and opening it reads the header and maps the rest.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.errors import ModelFileError

FORMAT = 3
DTYPES = {"F64": "<f8", "F32": "<f4", "U64": "<u8", "I64": "<i8", "U32": "<u4", "U16": "<u2", "U8": "|u1"}

Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write a file of a header and arrays; a crash leaves the old file or the new one."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    metadata = {"textodds": json.dumps(header, ensure_ascii=False)}
    with replacing(path) as temporary:
        try:
            save_file(
                {name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary, metadata
            )
        except SafetensorError as error:
            raise ModelFileError(
                f"cannot write `{path}`: {error}", hint="is the disk full? The file there before is untouched"
            ) from error


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` at the end, safely on disk, or vanishes."""
    path = Path(os.path.realpath(path))  # behind a link, what it leads to is replaced
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise ModelFileError(
            f"cannot write `{path}`: {error.strerror}",
            hint="choose a folder that exists and may be written to",
        ) from error
    temporary = Path(name)
    try:
        os.close(handle)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if mode is None:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        temporary.chmod(mode)
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ModelFileError(
            f"cannot write `{path}`: {error.strerror or error}", hint="the file there before is untouched"
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def damaged(path: str | os.PathLike[str], problem: str) -> ModelFileError:
    """The error for a file that is not as it was written."""
    return ModelFileError(
        f"`{os.fspath(path)}` is damaged or no model of ours: {problem}",
        hint="train it again, or fetch it again from where it came",
    )


T = TypeVar("T")


def guarded(path: str | os.PathLike[str], read: Callable[[Path], T]) -> T:
    """What ``read`` makes of a file, whose every surprise is a `ModelFileError`."""
    path = Path(path)
    try:
        return read(path)
    except ModelFileError as error:
        if str(path) in error.problem:
            raise
        raise damaged(path, error.problem) from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file, neither of them believed yet."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.textodds")], n=1)
        raise ModelFileError(
            f"no model file at `{path}`",
            hint=f"did you mean `{path.parent / near[0]}`?"
            if near
            else f"make one: textodds train DATA -o {path}",
        ) from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise ModelFileError(f"cannot open `{path}` as a model: {reason}") from error
    data = np.frombuffer(mapped, dtype=np.uint8)
    metadata, places = _kernels.layout(data)
    header = _header(metadata)
    return header, {name: _array(data, *place) for name, *place in places}  # type: ignore[arg-type]


def part_of(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of one part of a model, by the names that they have there."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def names_of(names: object) -> tuple[str, ...]:
    """Class names: a list of text, sorted, none twice."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ModelFileError("the class names are damaged")
    if any(a >= b for a, b in itertools.pairwise(names)):
        raise ModelFileError("the class names are out of order")
    return tuple(names)


def _header(metadata: dict[str, str]) -> dict[str, Any]:
    if "textodds" not in metadata:
        raise ModelFileError("it has no textodds header")
    header = json.loads(metadata["textodds"])
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ModelFileError("its header is no textodds header")
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"it has format {header['format']}, this version reads up to {FORMAT}: upgrade textodds"
        )
    return header


def _array(data: NDArray[np.uint8], dtype: str, shape: list[int], start: int, end: int) -> NDArray[Any]:
    if dtype not in DTYPES:
        raise ModelFileError(f"a tensor has the type {dtype}, which no model has")
    kind = np.dtype(DTYPES[dtype])
    part = data[start:end]
    if start % kind.itemsize:
        part = part.copy()  # made by another writer: not aligned
    return part.view(kind).reshape(shape)
