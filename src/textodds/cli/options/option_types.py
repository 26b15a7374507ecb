"""What options take: words of the command line read as values, and refused with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from textodds.errors import BadFile, InputError, suggestion
from textodds.text.units import unit_of


class Value(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """What a function makes of a word; where that is a ValueError, ``wanted`` says what to write."""

    name = "value"

    def __init__(self, read: Callable[[str], Any], wanted: str) -> None:
        self._read, self._wanted = read, wanted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value."""
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._read(value)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{_option(param)} cannot be `{value}`", hint=f"write {self._wanted}") from error


class OneOf(click.Choice):  # type: ignore[type-arg]
    """One of some words; a near miss is named."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, if it is one of them."""
        if value not in self.choices:
            raise InputError(
                f"{_option(param)} cannot be `{value}`{suggestion(value, self.choices)}",
                hint=f"write one of {', '.join(self.choices)}",
            )
        return value


class SomeOf(OneOf):
    """One or several of some words, between commas: a string if it is one, otherwise a tuple."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word or words, if they are among them."""
        words = [super(SomeOf, self).convert(word.strip(), param, ctx) for word in value.split(",")]
        if len(words) > 1 and ("auto" in words or len(set(words)) < len(words)):
            raise InputError(
                f"{_option(param)} cannot be `{value}`", hint="write each once; or auto, which is any of them"
            )
        return words[0] if len(words) == 1 else tuple(words)


class Unit(OneOf):
    """One of some units, or a simple pattern."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The unit, if it is one."""
        if unit_of(value):
            return value
        raise InputError(
            f"{_option(param)} cannot be `{value}`{suggestion(value, self.choices)}",
            hint=f"write one of {', '.join(self.choices)}, or a run of one kind such as '\\w+' or '[a-z]+'",
        )


def _option(param: click.Parameter | None) -> str:
    return "it" if param is None else f"`{max(param.opts, key=len)}`"


def above_zero(text: str) -> int:
    """A whole number of at least 1."""
    if (n := int(text)) < 1:
        raise ValueError
    return n


def share(text: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= (x := float(text)) <= 1:
        raise ValueError
    return x


def ngrams(text: str) -> tuple[int, int]:
    """Shortest and longest n-gram.

    >>> ngrams("1-2"), ngrams("3")
    ((1, 2), (3, 3))
    """
    shortest, dash, longest = text.partition("-")
    return int(shortest), int(longest) if dash else int(shortest)


def documents(text: str) -> int | float:
    """A number of documents or, with a decimal point, a share of them.

    >>> documents("1"), documents("1.0")
    (1, 1.0)
    """
    try:
        return int(text)
    except ValueError:
        return float(text)


def smoothing(text: str) -> float | str:
    """A number, or that it is to be chosen.

    >>> smoothing("0.1"), smoothing("auto")
    (0.1, 'auto')
    """
    return text if text == "auto" else float(text)


def in_seconds(text: str) -> float:
    """A time in seconds.

    >>> [in_seconds(text) for text in ("60s", "2 min", "1.5h", "90", "500ms")]
    [60.0, 120.0, 5400.0, 90.0, 0.5]
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|m|min|h|)", text.strip().lower())
    if match is None:
        raise ValueError
    unit = {"ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}.get(match[2], 1.0)
    return float(match[1]) * unit


def in_bytes(text: str) -> int:
    """A size in bytes.

    >>> [in_bytes(text) for text in ("2GiB", "500MB", "1.5 kB", "4096")]
    [2147483648, 500000000, 1500, 4096]
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if match is None:
        raise ValueError
    power = " kmgt".index(match[2] or " ")
    return above_zero(str(int(float(match[1]) * (1024 if match[3] else 1000) ** power)))


def prior(text: str) -> str | dict[str, float]:
    """``data``, ``uniform``, or a probability for each class.

    >>> prior("spam=0.02,ham=0.98")
    {'spam': 0.02, 'ham': 0.98}
    """
    if text in ("data", "uniform"):
        return text
    if text.lstrip().startswith("{"):  # the way for labels with a comma in them
        return {label: float(share) for label, share in json.loads(text).items()}
    pairs = [part.rpartition("=") for part in text.split(",")]
    given = {label.strip(): float(share) for label, _, share in pairs}
    if len(given) < len(pairs):  # a class that is named twice
        raise ValueError
    return given


PRIOR = Value(prior, "`data`, `uniform`, or every class once: `spam=0.02,ham=0.98`")


def words_in(path: str, *, stripped: bool = True) -> Iterable[str]:
    """The words in a file, one a line; blank lines are passed over."""
    from textodds.data import files

    try:
        with files.trouble(files.named(path)):
            lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadFile(f"`{path}` is not UTF-8: {error.reason} at byte {error.start}") from error
    return [word for line in lines if (word := line.strip() if stripped else line)]
