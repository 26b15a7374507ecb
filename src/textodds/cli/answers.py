"""The answers of ``predict`` in a file, each behind the columns of its row."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textodds.cli import model_files
from textodds.cli.output import counted, one_line, say, strong
from textodds.cli.progress import progress
from textodds.data import prefetched
from textodds.data.files import STDIN
from textodds.data.written_file import replacing
from textodds.model.output.answer_rows import AnswerRows, UnknownTexts, write_rows

if TYPE_CHECKING:
    from textodds.data import Source
    from textodds.data.kept_rows import KeptRows
    from textodds.data.row_file import RowFile


def say_unknown(unknown: UnknownTexts, *, quiet: bool) -> None:
    """Say how many texts had no known word, and which came first."""
    if not unknown.count:
        return
    more = "" if unknown.count == len(unknown.first) else ", …"
    numbers = ", ".join(f"{row:,}" for row in unknown.first) + more
    what = without_words(unknown.count, is_of_texts=unknown.is_of_texts)
    say(f"{what} (row {numbers}): answered by {unknown.answered_by}", quiet=quiet)


def without_words(count: int, *, is_of_texts: bool) -> str:
    """How many texts have no known word, or rows no value."""
    verb = "has" if count == 1 else "have"
    if is_of_texts:
        return f"{counted(count, 'text')} {verb} no word in the model's vocabulary"
    return f"{counted(count, 'row')} {verb} no value in any column of the model"


def say_answered(answered: AnswerRows, where: str | None, *, quiet: bool) -> None:
    """Say what was written, and what deserves doubt."""
    for name, free in answered.names.items():
        if name != free:
            say(f"the data already have a column {name}: the answer is in {one_line(free)}", quiet=quiet)
    if answered.unread:
        verb = "has" if answered.unread == 1 else "have"
        say(f"{counted(answered.unread, 'row')} could not be read, and {verb} no answer", quiet=quiet)
    say_unknown(answered.unknown, quiet=quiet)
    if where is not None:
        say(f"wrote {strong(where)}: {counted(answered.rows, 'row')}", quiet=quiet)


def write_answers(source: Source, output: str, answered: AnswerRows, *, quiet: bool) -> None:
    """Write the rows of a source with their answers to a file, whole or not at all, or to stdout (``-``)."""
    is_stdout = output == STDIN
    if not is_stdout:
        from textodds.data.row_file import format_of_answers

        format_of_answers(output)
        model_files.must_be_writable(Path(output))
    bar = not is_stdout or not sys.stdout.isatty()
    with progress(quiet=quiet, bar=bar) as observer, _opened(output, source) as file:
        rows = source.with_rows()
        ahead = prefetched(rows) if source.size is not None or source.is_stdin else rows
        watched = observer.watched(source, ahead, "answering")
        write_rows(source, _flushed(watched) if is_stdout else watched, file, answered)
    say_answered(answered, None if is_stdout else output, quiet=quiet)


def _flushed(rows: Iterator[KeptRows]) -> Iterator[KeptRows]:
    """The same rows; what was written of them arrives before more are waited for."""
    for part in rows:
        yield part
        sys.stdout.flush()


@contextlib.contextmanager
def _opened(output: str, source: Source) -> Iterator[RowFile]:
    from textodds.data.row_file import FORMATS, row_file, row_stream

    if output == STDIN:
        known = None if source.dialect is None else source.dialect.format
        yield row_stream(sys.stdout, known if known in FORMATS[:3] else FORMATS[0], source)
        return
    with replacing(output) as temporary, row_file(temporary, output, source) as file:
        yield file
