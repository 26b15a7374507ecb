"""JSON lines, plain or packed: one object a line; or one list of objects.

Where one text is read from each object, the kernel makes rows of the usual lines, those that Python's `json`
reads and of which nothing is to be said. Every other line comes back, and is read and worded here.
"""

from __future__ import annotations

import codecs
import copy
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from textodds.data import files, row_parts
from textodds.data.admission import Part, Parts, admitted
from textodds.data.batch import RECORD_BYTES, Batch
from textodds.data.columns import ColumnRequest
from textodds.data.files import File
from textodds.data.rejects import Origin, Rejects
from textodds.data.row_parts import Row, record_parts, text_record_parts
from textodds.data.source import Position
from textodds.data.values import Unreadable, is_null, not_utf8
from textodds.errors import BadFile, InputError, MissingColumn

if TYPE_CHECKING:
    from textodds._kernels import Strings

PIECE = 1 << 20  # bytes that are read at once
BLANKS = b" \t\r\n"  # what JSON itself calls blank
_BLANKS = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?=[^ \t\r\n])")
"""A comma, and blanks on either side of it up to something else."""
_LIST = re.compile(r'"([^"\\\']+)"\s*:\s*\[\s*\{')
"""The key of a list of objects."""

# Two thirds of the time of `json.loads`, which looks for the encoding and its options anew each time.
_parse = json.JSONDecoder().raw_decode


def parts(file: File, request: ColumnRequest, rejects: Rejects, progress: Position) -> Parts:
    """Parts of the objects in ``file``, their keys being the columns."""
    files.refuse_utf16(file)
    with files.trouble(file), files.opened(file.path, file.encoding) as (stream, position):
        begun: bytes = stream.peek(files.BUFFER) if isinstance(stream, io.BufferedReader) else b""
        is_list = _is_list(begun)
        if not is_list and _is_plain(request) and _has_plain_labels(begun, file, request):
            for found in _text_parts(file, stream, request, rejects):
                progress.current = position()
                yield found
            return
        rows = _items if is_list else _rows
        for part in record_parts(rows(file, stream, request), request, Origin(file.name)):
            progress.current = position()
            yield replace(part, is_json=True) if isinstance(part, Part) else part


def _is_plain(request: ColumnRequest) -> bool:
    """Whether one text is read from each object, with one label and weight, and no more is kept."""
    is_more = request.may_join or request.keeps_rows or request.label_sets is not None
    return not is_more and not request.paths


def _has_plain_labels(begun: bytes, file: File, request: ColumnRequest) -> bool:
    """Whether the first label that is there is no list of labels; False where the beginning does not tell."""
    if not request.reads_labels:
        return True
    label, request = None, copy.copy(request)
    for raw in begun.removeprefix(files.BOM).split(b"\n")[:-1]:
        item = _object(row, request) if (row := raw.strip(BLANKS)) else None
        if not isinstance(item, dict):
            continue
        try:
            label = label or _keys(request, row_parts.names_in(item, request, Origin(file.name)))[1]
        except InputError:
            return False
        if not is_null(value := item.get(label or "")):
            return not isinstance(value, list)
    return False


def _text_parts(file: File, stream: BinaryIO, request: ColumnRequest, rejects: Rejects) -> Parts:
    """Batches of the rows that the kernel reads; what it hands back is read here, and put in its place."""
    from textodds._kernels import JsonLines

    kernel, names, piece = JsonLines(), list[str](), b"more"
    unusual = _Unusual(file, request, rejects, names, lambda: kernel.rest() + stream.read(files.BUFFER))
    with files.trouble(file, lambda: kernel.lines):
        while piece:
            piece = stream.read1(PIECE) if isinstance(stream, io.BufferedReader) else stream.read(PIECE)
            kernel.feed(piece)
            while True:
                if not names and (first := kernel.peek()) is not None and unusual.find_names(*first):
                    kernel.select(*_keys(request, names))
                # What comes through a pipe is handed on as it comes.
                found = kernel.take(*row_parts.batch_limits(), file.is_pipe)
                if found is None:
                    break
                texts, labels, weights, lines = found
                batch = None
                if len(texts):
                    batch = Batch({names[0]: texts}, None if labels is None else labels[0], weights)
                if labels is not None:
                    _see(request, *labels)
                if lines:
                    batch = unusual.put_into(batch, lines)
                if batch is not None:
                    yield batch
            if kernel.waiting > RECORD_BYTES:
                raise _too_long(file, kernel.lines + 1)


@dataclass
class _Unusual:
    """Lines that the kernel does not make rows of; ``names`` are the columns that are read, once known."""

    file: File
    request: ColumnRequest
    rejects: Rejects
    names: list[str]
    rest: Callable[[], bytes]

    def find_names(self, line: int, raw: bytes) -> bool:
        """Find the names in the first object; whether the line is one."""
        item = _row(self.file, self.request, line, raw, self.rest)
        if isinstance(item, dict):
            self.names += row_parts.names_in(item, self.request, Origin(self.file.name))
        return isinstance(item, dict)

    def put_into(self, batch: Batch | None, lines: list[tuple[int, int, bytes]]) -> Batch | None:
        """A batch with the good rows among ``lines`` at their places: so many rows of it come before each."""
        rows = (
            (_row(self.file, self.request, line, raw, self.rest), None, None, line, raw)
            for _, line, raw in lines
        )
        # No more lines come at once than make one part.
        (part,) = text_record_parts(rows, self.request, Origin(self.file.name), self.names)
        assert isinstance(part, Part)
        good, bad = admitted(part, self.request, self.rejects)
        if good is None or batch is None:
            return batch if good is None else good
        return batch.inserted([before for at, (before, _, _) in enumerate(lines) if at not in bad], good)


def _keys(request: ColumnRequest, names: list[str]) -> tuple[str, str | None, str | None]:
    text, label, weight = row_parts.roles(request, names)
    return text, label if request.reads_labels else None, weight if request.reads_weights else None


def _see(request: ColumnRequest, labels: Strings, firsts: Sequence[int | None]) -> None:
    """Note of which types the labels of a batch are: of each the first row with such a label is given."""
    kinds: tuple[Callable[[str], object], ...] = (str, int, "true".__eq__)
    found = sorted(
        (row, kind) for row, kind in zip(firsts, range(len(kinds)), strict=True) if row is not None
    )
    request.label_types.see([kinds[kind](labels.take([row])[0]) for row, kind in found])


def _rows(file: File, stream: BinaryIO, request: ColumnRequest) -> Iterator[Row]:
    """The object of each line that is not blank."""
    line = 0
    with files.trouble(file, lambda: line):
        while raw := stream.readline(RECORD_BYTES + 1):
            line += 1
            if line == 1:
                raw = raw.removeprefix(files.BOM)
            if row := raw.strip(BLANKS):
                item = _row(file, request, line, row, lambda: stream.read(files.BUFFER))
                yield item, None, None, line, row


def _row(
    file: File, request: ColumnRequest, line: int, row: bytes, more: Callable[[], bytes]
) -> dict[str, object] | Unreadable:
    """The object that a line is; ``more`` is what stands behind it."""
    if len(row) > RECORD_BYTES:
        raise _too_long(file, line)
    if line == 1 and row == b"{":
        key = _LIST.search(more().decode(errors="replace"))
        raise _wrapped(file, "one JSON object over several lines", key)
    item = _object(row, request)
    if line == 1 and isinstance(item, dict) and (key := _LIST.search(row.decode())):
        _must_be_a_row(item, file, request, key)
    return item


def _too_long(file: File, line: int) -> BadFile:
    return BadFile(
        f"line {line} of `{file.name}` is longer than 1 GiB",
        hint="check that it is a text file, with line ends",
    )


def _must_be_a_row(item: dict[str, object], file: File, request: ColumnRequest, key: re.Match[str]) -> None:
    """Fail where a first object without the columns that are wanted holds a list of others."""
    try:
        copy.copy(request).places(file.name, list(item))
    except MissingColumn as error:
        if isinstance(item.get(key[1]), list):
            raise _wrapped(file, "one JSON object", key) from error


def _wrapped(file: File, what: str, key: re.Match[str] | None) -> BadFile:
    """The error for a file whose rows are in a list within one object."""
    path = f'.["{key[1]}"][]' if key else ".rows[]"
    if key and key[1].isidentifier() and key[1].isascii():
        path = f".{key[1]}[]"
    return BadFile(
        f"`{file.name}` is {what}, not one object a line or a list",
        hint=f"take the list out of it: `jq -c '{path}' {file.name} > rows.jsonl`",
    )


def _is_list(begun: bytes) -> bool:
    """Whether what begins so is a list of objects, rather than an object."""
    start = begun.removeprefix(files.BOM).lstrip(BLANKS)
    return start[:1] == b"[" and start[1:].lstrip(BLANKS)[:1] in (b"", b"{", b"]")


def _items(file: File, stream: BinaryIO, request: ColumnRequest) -> Iterator[Row]:
    """The objects of a list, read piece by piece: no more of it is held than an object and a piece."""
    text = _Pieces(file, stream)
    text.skip("\ufeff")
    text.skip("[")
    is_last = text.next_mark() == "]"
    while not is_last:
        line = text.line
        item, written = text.value()
        try:
            raw = written.encode()
        except UnicodeEncodeError:  # bytes that are not UTF-8
            raw = written.encode(errors="surrogateescape")
            item = _object(raw, request)
        if not isinstance(item, (dict, Unreadable)):
            item = Unreadable(f"a JSON {_KINDS[type(item)]}, not an object")
        yield item, None, None, line, raw
        is_last = not text.goes_on()
    text.skip("]")
    if text.next_mark(may_end=True):
        raise text.broken("Extra data behind the list")


class _Pieces:
    """The text of a stream, of which a piece is held."""

    def __init__(self, file: File, stream: BinaryIO) -> None:
        self._file, self._stream = file, stream
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
        self._text, self._at = "", 0
        self._line, self._counted = 1, 0  # and up to where lines were counted

    @property
    def line(self) -> int:
        """The line it has come to."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _more(self) -> bool:
        """Read as much again as is held, and at least a piece; whether there was any."""
        line, rest = self.line, self._text[self._at :]
        if len(rest) > RECORD_BYTES:
            raise BadFile(f"an object in line {line} of `{self._file.name}` is longer than 1 GiB")
        piece = self._stream.read(max(files.BUFFER, len(rest)))
        self._text = rest + self._decoder.decode(piece, final=not piece)
        self._at = self._counted = 0
        return bool(piece)

    def next_mark(self, *, may_end: bool = False) -> str:
        """The next character that is not blank; nothing at the end, if it may end there."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            assert blanks is not None
            self._at = blanks.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                if may_end:
                    return ""
                raise self.broken("the list is never closed")

    def goes_on(self) -> bool:
        """Whether a comma comes next, which is passed over, rather than the end of the list."""
        if (comma := _COMMA.match(self._text, self._at)) is not None:
            self._at = comma.end()
            return True
        mark = self.next_mark()  # at the end of a piece, or of the list
        if mark == "]":
            return False
        if mark != ",":
            raise self.broken("Expecting ',' delimiter")
        self.skip(",")
        self.next_mark()
        return True

    def skip(self, mark: str) -> None:
        """Pass over this character, if it comes next."""
        if self.next_mark() == mark:
            self._at += 1

    def value(self) -> tuple[object, str]:
        """The next value, and how it is written; bytes that are not UTF-8 are lone surrogates there."""
        while True:
            try:
                item, end = _parse(self._text, self._at)
            except json.JSONDecodeError as error:
                at = error.pos - self._at
                if self._more():
                    continue
                raise self.broken(error.msg, self._text.count("\n", 0, at)) from error
            except (ValueError, RecursionError) as error:
                raise self.broken(str(error)) from error
            size = end - self._at
            if end < len(self._text) or not self._more():  # `12` may go on
                break
        written = self._text[self._at : self._at + size]
        self._at += size
        return item, written

    def broken(self, reason: str, lines: int = 0) -> BadFile:
        """The error for text that is not JSON."""
        return BadFile(
            f"`{self._file.name}`, line {self.line + lines}: not JSON: {reason}",
            hint="correct the file; or write one object a line, so that a bad one can be skipped",
        )


def _object(row: bytes, request: ColumnRequest) -> dict[str, object] | Unreadable:
    try:
        line = row.decode()
    except UnicodeDecodeError as error:
        return Unreadable(_reason(row, request.fields) or not_utf8("line", error))
    try:
        item, end = _parse(line)
    except json.JSONDecodeError as error:
        return Unreadable(f"not JSON: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        return Unreadable(f"not JSON that can be read: {error}")
    if end != len(line):
        return Unreadable(f"not JSON: Extra data at column {end + 1}")
    if not isinstance(item, dict):
        return Unreadable(f"a JSON {_KINDS[type(item)]}, not an object")
    return item


_KINDS = {
    list: "list", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null",
}  # fmt: skip


def _reason(row: bytes, fields: Mapping[str, str]) -> str | None:
    """Which field is not UTF-8 and where, if it is the text or the label."""
    try:
        item = json.loads(row.decode(errors="surrogateescape"))
        for key, what in fields.items():
            try:
                item[key].encode(errors="surrogateescape").decode()
            except UnicodeDecodeError as error:
                return not_utf8(what, error)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        pass  # broken in other ways as well
    return None
