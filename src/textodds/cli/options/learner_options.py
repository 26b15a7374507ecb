"""The options of a learner: which one, with which settings, of what; and what there is, for the help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from textodds.cli.command import F, option, together
from textodds.cli.options.option_types import SomeOf, Value, in_seconds
from textodds.learn.registry import AUTO, LEARNERS, names_of
from textodds.learn.spelling import OF_WEIGHTING
from textodds.text import Selection, TextSettings, Weighting
from textodds.text.features import FEATURES

SECTION = "Learner"

IN_PYTHON = ("descent", "calibrate", "count_unknown")
"""Settings that the command line has elsewhere, or not at all."""


def learner_option(default: str) -> Callable[[F], F]:
    """``--learner``, as `textodds.learn.spelling` reads it."""
    about = f"Such as softmax or softmax:C=10:ngrams=1-2; see below.  [default: {default}]"
    return option(SECTION, "--learner", metavar="NAME", help=about)


def choice_options() -> Callable[[F], F]:
    """``--features`` and ``--budget``."""
    return together(
        option(
            SECTION,
            "--features",
            type=SomeOf([AUTO, *FEATURES]),
            metavar="NAME",
            help=f"{', '.join(FEATURES)}; or several.",
        ),
        option(
            SECTION,
            "--budget",
            type=Value(in_seconds, "a time such as 60s, 2min or 0"),
            metavar="TIME",
            help="Time that choosing and learning may take.  [default: 60s]",
        ),
    )


def learners_and_settings() -> Iterator[tuple[str, str]]:
    """Each learner with its settings and their usual values, and those of texts."""
    yield AUTO, f"the best on held-out texts of {', '.join(names_of(choice=True))}"
    for name in names_of():
        entry = LEARNERS[name]
        of = {(False, True): ", of tables", (True, True): ", of texts or tables"}
        settings = " ".join(_usual(entry.load()))
        yield name, f"{entry.title}{of.get((entry.is_of_texts, entry.is_of_tables), '')}: {settings}"
    yield "texts", f"with any learner of texts: {' '.join(_of_texts())}"


def _of_texts() -> Iterator[str]:
    """The settings of texts, with their usual values."""
    yield from _usual(TextSettings)
    yield from _usual(Selection)
    yield from ("unknown=ignore", "sklearn=no")
    weighting = {field: setting for setting, field in OF_WEIGHTING.items()}
    for one in _usual(Weighting):
        field, _, value = one.partition("=")
        yield f"{weighting[field]}={value}"


def _usual(kind: type) -> Iterator[str]:
    """The settings that are fields of a class, with their usual values, as they are written."""
    for each in fields(kind):
        if each.name not in IN_PYTHON:
            value: Any = each.default
            if isinstance(value, bool):
                value = "yes" if value else "no"
            elif isinstance(value, tuple):
                value = "-".join(map(str, value))
            yield f"{each.name}={'none' if value in (None, '') else value}"
