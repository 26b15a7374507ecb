"""What travels between tasks and the driver: plain data and arrays as bytes, errors as messages."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np

from textodds import errors
from textodds.data.named_arrays import Arrays
from textodds.errors import BadFile, TextoddsError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

    Batches: TypeAlias = Iterator[pa.RecordBatch]
    Task: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")

MARK = "textodds-error:"
"""Stands before an error of ours in the message of a task that failed."""

UNREAD = re.compile(r"\[FAILED_READ_FILE[.\w]*\] Encountered error while reading file (\S+?)\.?(?=\s|$)")
"""How Spark says that a file could not be read."""


def packed(header: dict[str, object], arrays: Arrays | None = None) -> bytes:
    """Plain data and arrays as bytes.

    Examples
    --------
    >>> header, arrays = unpacked(packed({"classes": ["a"]}, {"counts": np.arange(2)}))
    >>> header, arrays["counts"]
    ({'classes': ['a']}, array([0, 1]))
    """
    from safetensors.numpy import save

    plain = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
    return bytes(save({"": plain, **(arrays or {})}))


def unpacked(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """What `packed` made bytes of."""
    from safetensors.numpy import load

    arrays = load(data)
    return json.loads(arrays.pop("").tobytes()), arrays


def telling(
    task: Callable[Concatenate[Iterator[A], P], Iterator[B]], *how: P.args, **more: P.kwargs
) -> Callable[[Iterator[A]], Iterator[B]]:
    """A task with its settings; its errors of ours reach the driver as such: see `raised`."""

    def told(batches: Iterator[A]) -> Iterator[B]:
        try:
            yield from task(batches, *how, **more)
        except TextoddsError as error:
            about: dict[str, object] = {"class": type(error).__name__}
            about |= {name: v for name, v in vars(error).items() if isinstance(v, (str, int, type(None)))}
            raise RuntimeError(f"{error}\n{MARK}{json.dumps(about)}") from None
        freeze_once(task.__name__)

    return told


@cache
def freeze_once(task: str) -> None:
    """Keep what the first task of a kind has imported out of all later collections of garbage.

    PySpark has a worker look through all of its objects after every task, which takes longer than counting a
    small partition.
    """
    gc.collect()
    gc.freeze()


def raised(failure: BaseException) -> TextoddsError | None:
    """The error of ours that made a job of Spark fail; None if it was another."""
    message = str(failure)
    if MARK in message:
        try:
            about, _ = json.JSONDecoder().raw_decode(message.split(MARK, 1)[1])
            kind: type[TextoddsError] = getattr(errors, str(about["class"]), TextoddsError)
            error = kind.__new__(kind)
            TextoddsError.__init__(error, str(about["problem"]), hint=about["hint"])
            vars(error).update({name: value for name, value in about.items() if name != "class"})
        except (ValueError, LookupError, TypeError):
            return None
        return error
    if "No module named 'textodds'" in message:
        return Unsupported(
            "the executors of this cluster have no textodds",
            hint="install it there, let PYSPARK_PYTHON be a Python that has it, or send it along: "
            "textodds.spark.pack makes the archive",
        )
    if unread := UNREAD.search(message):
        return BadFile(
            f"Spark cannot read {unread[1]}",
            hint="it may be truncated or of another format: write it again, or leave it out",
        )
    return None
