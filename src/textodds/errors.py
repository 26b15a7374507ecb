"""Every error a user can meet, in one place.

A message has three parts: what was wrong, where, and what to do about it.
``code`` is stable: the command line, the HTTP service and the manual all key on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Protocol

NAMED = 50  # columns that an error lists
MOST_COMPARED, LONGEST_COMPARED = (
    5000,
    200,
)  # names, and characters of one, that are looked at for a near miss


class TextoddsError(Exception):
    """Base of all errors raised on purpose; catch this to catch them all."""

    code = "error"

    def __init__(self, problem: str, *, hint: str | None = None) -> None:
        super().__init__(problem if hint is None else f"{problem}\n\nhint: {hint}")
        self.problem, self.hint = problem, hint


class InputError(TextoddsError, ValueError):
    """The caller's data or parameter cannot be used as given."""

    code = "input"


class LengthMismatch(InputError):
    """Documents and labels (or weights) do not pair up."""

    code = "input.length-mismatch"

    def __init__(self, n_documents: int, n_others: int, others: str = "labels") -> None:
        super().__init__(
            f"got {n_documents} documents but {n_others} {others}",
            hint=f"each document needs exactly one; the first unpaired row is {min(n_documents, n_others)}",
        )


class Conflict(InputError):
    """A document is known under another label or text than it now comes with."""

    code = "input.conflict"


class NoData(InputError):
    """There is nothing to learn from."""

    code = "input.no-data"


class BadRow(InputError):
    """A row of the input cannot be read; says where and why."""

    code = "input.bad-row"

    def __init__(
        self, where: str, line: int | None, reason: str, unit: str = "line", *, hint: str | None = None
    ) -> None:
        place = where if line is None else f"{where}, {unit} {line}"
        skip = "go on without such rows with `--bad-rows skip` (bad_rows='skip')"
        super().__init__(f"{place}: {reason}", hint=f"{hint or 'correct the row'}, or {skip}")
        self.where, self.line, self.reason = where, line, reason


class BadFile(InputError):
    """A data file cannot be read as a whole."""

    code = "input.bad-file"


class Failure(Protocol):
    """A file, and what is wrong with it."""

    @property
    def path(self) -> str:
        """Where it lies."""

    @property
    def problem(self) -> str:
        """What is wrong."""

    @property
    def hint(self) -> str | None:
        """What to do about it."""


class FilesFailed(InputError):
    """Some of many files could not be read or written; ``summary`` says what became of all."""

    code = "input.files-failed"

    def __init__(self, failed: Sequence[Failure], summary: Any) -> None:
        self.failed, self.summary = failed, summary
        lines = [
            f"  {each.problem}" if each.path in each.problem else f"  {each.path}: {each.problem}"
            for each in failed[:NAMED]
        ]
        if len(failed) > NAMED:
            lines.append(f"  and {len(failed) - NAMED:,} more")
        hints = list(dict.fromkeys(each.hint for each in failed if each.hint))
        count = "1 file has" if len(failed) == 1 else f"{len(failed):,} files have"
        again = "all others are done; run the same again for these"
        super().__init__(
            f"{count} no answers:\n" + "\n".join(lines),
            hint="; ".join([*hints[:1], again]) if len(hints) == 1 else again,
        )


class MissingColumn(InputError):
    """A wanted column is not there."""

    code = "input.missing-column"

    def __init__(
        self, where: str, wanted: str, columns: Iterable[str], option: str | None, *, hint: str = ""
    ) -> None:
        columns = list(columns)
        self.wanted = wanted
        self.columns = columns
        listed = ", ".join(f"`{name}`" for name in columns[:NAMED]) or "none"
        if len(columns) > NAMED:
            listed += f" and {len(columns) - NAMED:,} more"
        near = nearest(wanted, columns)
        meant = f"did you mean `{near[0]}`?" if near else ""
        if option is None:  # one of several by its own name, not one that an option names
            super().__init__(
                f"{where} has no column `{wanted}`; its columns are {listed}", hint=f"{meant} {hint}".strip()
            )
            return
        super().__init__(
            f"{where} has no {wanted} column; its columns are {listed}",
            hint=f"name one with `--{option} COLUMN` ({option}='COLUMN')" + (f"; {meant}" if near else ""),
        )

    @classmethod
    def with_words(cls, problem: str, hint: str, of: MissingColumn) -> MissingColumn:
        """The same error in other words."""
        error = cls("", of.wanted, of.columns, None)
        TextoddsError.__init__(error, problem, hint=hint)
        return error


class NegativeCount(InputError):
    """Counts would go, or are, below zero."""

    code = "input.negative-count"


class NotLearned(NegativeCount):
    """A document is to be forgotten that was not learned."""

    code = "input.not-learned"


class TooFewRows(InputError):
    """A class has too few rows, or rows too alike, for the covariance that was asked for."""

    code = "input.too-few-rows"


class BadWeight(InputError):
    """A sample weight is not a number that can be used."""

    code = "input.bad-weight"


class Separable(InputError):
    """A direction tells the classes apart without error, so that weights without a penalty have no end.

    ``direction`` is that direction, as a linear model; ``complete`` says whether every row is told apart
    by it, or some lie on the boundary.
    """

    code = "input.separable"

    def __init__(self, complete: bool, direction: object, strongest: Sequence[str]) -> None:
        kind = "are linearly separable" if complete else "are separable but for rows on the boundary"
        features = ", ".join(f"`{name}`" for name in strongest)
        super().__init__(
            f"the classes {kind}, mostly along the features {features or 'of the bias'}: "
            "without a penalty the likelihood grows for ever that way, and no weights maximise it",
            hint="give a penalty, such as C=1 or C=1000",
        )
        self.complete, self.direction, self.strongest = complete, direction, tuple(strongest)


class ModelFileError(TextoddsError):
    """A model file is missing, damaged, or not one of ours."""

    code = "model-file"


class Unsupported(TextoddsError):
    """The model at hand cannot do what was asked."""

    code = "unsupported"


class TextoddsWarning(UserWarning):
    """A result that stands but deserves doubt."""


class NotConverged(TextoddsWarning):
    """An optimiser stopped before it reached the accuracy asked for."""


class Shrunk(TextoddsWarning):
    """A covariance was drawn towards a simpler one than was asked for, for want of rows."""


class InOrder(TextoddsWarning):
    """The texts of a stream come class by class, and were learned so."""


class LabelsRead(TextoddsWarning):
    """Labels of rows that may have several were read otherwise than they were written."""


class SimilarLabels(TextoddsWarning):
    """Labels differ only in case, in spaces or in how accents are encoded, and were learned as several."""


class VocabularyPruned(TextoddsWarning):
    """The vocabulary outgrew its memory budget and rare words were dropped."""


def nearest(unknown: str, known: Iterable[str], n: int = 1) -> list[str]:
    """The known names that are most like one that is not; of very many or very long ones only some."""
    if len(unknown) > LONGEST_COMPARED:
        return []
    compared = [name for name in islice(known, MOST_COMPARED) if len(name) <= LONGEST_COMPARED]
    plain = {name: name.strip("-").casefold() for name in compared}
    wanted = unknown.strip("-").casefold()
    import difflib

    alike = difflib.get_close_matches(wanted, plain.values(), n=4 * n)
    near = [name for one in dict.fromkeys(alike) for name in plain if plain[name] == one]
    return [
        name for name in near if _distance(wanted, plain[name]) <= max(len(wanted), len(plain[name])) // 3
    ][:n]


def nearest_files(unknown: str, known: Iterable[str], n: int = 1) -> list[str]:
    """The names of files that are most like one that is not; an ending they share says nothing.

    >>> nearest_files("mial.csv", ["mail.csv", "new.csv"]), nearest_files("int.textodds", ["two.textodds"])
    (['mail.csv'], [])
    """
    stem, ending = os.path.splitext(unknown)  # noqa: PTH122 (as it is typed)

    def is_near(name: str) -> bool:
        other, its = os.path.splitext(name)  # noqa: PTH122
        return its.casefold() != ending.casefold() or bool(nearest(stem, [other]))

    return [name for name in nearest(unknown, known, n=4 * n) if is_near(name)][:n]


def _distance(a: str, b: str) -> int:
    """The fewest letters to change, add, leave out or swap with their neighbour that make ``a`` to ``b``.

    >>> _distance("lable", "label"), _distance("sep", "help"), _distance("exel", "excel")
    (1, 2, 1)
    """
    before, row = list[int](), list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                row[j] = min(row[j], earlier[j - 2] + 1)
    return row[-1]


def suggestion(unknown: str, known: Iterable[str]) -> str:
    """`; did you mean `x`?` for the nearest known name, or nothing."""
    near = nearest(unknown, known)
    return f"; did you mean `{near[0]}`?" if near else ""


EXTRAS = {
    "duckdb": "sql",
    "jinja2": "plot",
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "onnx": "onnx",
    "pyarrow": "arrow",
    "pyspark": "spark",
    "python_calamine": "excel",
    "scipy": "sklearn",
    "sklearn": "sklearn",
    **dict.fromkeys(("httptools", "msgspec", "prometheus_client", "starlette", "uvicorn"), "serve"),
}
"""Which extra of textodds brings each package that is needed only in places."""

ALONE = ("pandas", "zstandard")  # packages that are needed in places and come with no extra of that purpose


def require(*packages: str, why: str, otherwise: str = "") -> None:
    """Fail where one of some packages is not installed; ``why`` names what needs it.

    ``otherwise`` says what else can be done.

    >>> require("sys", why="nothing")
    """
    for package in packages:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise not_installed(error, why, otherwise) or error from None


def not_installed(error: ModuleNotFoundError, why: str, otherwise: str = "") -> Unsupported | None:
    """What to say where a package of an extra is missing; None where something else is.

    >>> print(not_installed(ModuleNotFoundError(name="pyarrow.parquet"), "reading Parquet"))
    reading Parquet needs pyarrow, which is not installed
    <BLANKLINE>
    hint: pip install 'textodds[arrow]'
    """
    package = (error.name or "").partition(".")[0]
    if package in EXTRAS:
        hint = f"pip install 'textodds[{EXTRAS[package]}]'"
    elif package in ALONE:
        hint = f"pip install {package}"
    else:
        return None
    name = "scikit-learn" if package == "sklearn" else package.replace("_", "-")
    hint = f"{hint}; or {otherwise}" if otherwise else hint
    return Unsupported(f"{why} needs {name}, which is not installed", hint=hint)


def one_line(text: str) -> str:
    r"""Text in which control characters are escapes: it breaks no line or column, and commands no terminal.

    What stands between the columns of a text (U+001F) is a bar.

    >>> one_line("a\tb\n\x1b[2J")
    'a\\tb\\n\\x1b[2J'
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text.replace("\x1f", " | "))


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
