"""No file that a command is given to read is written over: one check for every option of every command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from textodds.errors import BadFile, InputError

Paths = Callable[[Any], Iterable[str]]
"""Which files the value of an option names."""


def themselves(value: str | Iterable[str] | None) -> Iterable[str]:
    """The paths that are the value."""
    return [value] if isinstance(value, str) else value or ()


def in_query(value: str | None) -> Iterable[str]:
    """The files that SQL may name, between quotation marks.

    >>> in_query("SELECT text FROM 'mail.csv' WHERE label = 'spam'")
    ['mail.csv', 'spam']
    """
    return re.findall(r"'([^']+)'", value or "")


def in_learner(value: str | None) -> Iterable[str]:
    """The files of words that the settings of a learner name.

    >>> in_learner("multinomial:stop_words=stop.txt:alpha=1")
    ['stop.txt']
    """
    return re.findall(r":(?:vocabulary|stop_words)=([^:]+)", value or "")


def must_not_overwrite(parameters: Iterable[click.Parameter], values: Mapping[str, Any]) -> None:
    """Fail where a file that one option is to write is one that another is to read, or to write."""
    parameters = list(parameters)
    written: list[tuple[Any, Path]] = []
    for each in parameters:
        name = each.name or ""
        if (noun := getattr(each, "writes", None)) is None or (path := values.get(name)) is None:
            continue
        target = Path(path)
        for other in parameters:
            may = other.name in getattr(each, "may_replace", ())
            if not may and target.exists() and _is_read(target, _read_by(other, values)):
                raise _refused(each, noun, target, f"which {_called(other)} names")
        for other, taken in written:
            if taken == target or (target.exists() and taken.exists() and target.samefile(taken)):
                raise _refused(each, noun, target, f"which {_called(other)} is to write")
        written.append((each, target))


def _refused(parameter: click.Parameter, noun: str, target: Path, why: str) -> InputError:
    return InputError(
        f"the {noun} would replace `{target}`, {why}", hint=f"name another file with {_called(parameter)}"
    )


def _called(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.rstrip(".")
    return f"`{parameter.opts[0]}`"


def _read_by(parameter: click.Parameter, values: Mapping[str, object]) -> Iterator[Path]:
    """The files and folders that an option or an argument names to be read."""
    paths: Paths | None = getattr(parameter, "reads", None)
    if paths is None:
        return
    from textodds.data import files  # which NumPy comes with: the help must not wait for it

    for given in paths(values.get(parameter.name or "")):
        if given != files.STDIN:
            with suppress(BadFile, OSError, ValueError):  # whoever reads it says what is wrong with it
                yield from map(Path, files.found(given))


def _is_read(target: Path, read: Iterable[Path]) -> bool:
    """Whether a file that there is is among what is read: a file, or a document in a folder of a class."""
    for path in read:
        if target.samefile(path):
            return True
        if path.is_dir() and path.resolve() in target.resolve().parents[1:]:
            return True
    return False
