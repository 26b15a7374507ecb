"""What a program does that reads a file somebody has sent: in bounded memory, told as one line of JSON."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from textodds.errors import InputError, TextoddsError
from textodds.serve.parent import questions

MEMORY = 4 << 30  # bytes: a small file can be made to unfold into a very large one
SENT = "the uploaded file"

Told = Mapping[str, object]
"""What is told: the answer as plain data, or a problem, a hint and the code of an error."""


def begin() -> None:
    """End with the service, and take no more memory than is allowed."""
    questions(Path.cwd())  # none is asked
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def tell(answer: Callable[[], Told], problem: Callable[[TextoddsError], Told]) -> None:
    """Print the answer, or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = answer()
    except TextoddsError as error:
        told = problem(error)
    except MemoryError:
        words = f"{SENT} needs more memory than allowed"
        told = {"problem": words, "hint": "send fewer rows", "code": InputError.code}
    sys.stdout.write(json.dumps(told))


def unnamed(words: str, file: str) -> str:
    """Words about a file without the name that it has here, which is nothing to its sender."""
    return words.replace(f"`{file}`", SENT).replace(file, SENT)
