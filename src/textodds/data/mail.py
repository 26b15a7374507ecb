"""Mail: mbox files, `.eml` files, and folders of them, maildirs too; each message is a row.

Its columns are ``text`` (subject and body), ``subject``, ``body``, ``from``, ``date`` and ``label``. The body
is the plain text or, where there is none, that of the HTML; attachments are passed over. The label is the
folder below the one that is given, else the name of an mbox file, or the folder of a message. Whatever is
damaged is read as far as it goes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from textodds.data import files, folder
from textodds.data.admission import Parts
from textodds.data.batch import RECORD_BYTES
from textodds.data.columns import ColumnRequest
from textodds.data.compression import without_suffix
from textodds.data.files import File
from textodds.data.rejects import Origin
from textodds.data.row_parts import Row, record_parts
from textodds.data.source import Position
from textodds.data.values import Unreadable
from textodds.errors import BadFile

if TYPE_CHECKING:
    from email.message import Message

SUFFIXES = (".eml", ".mbox", ".mbx")
MAILDIR = ("cur", "new")  # the folders of a maildir that hold messages; `tmp` has those not yet delivered
SEPARATOR = b"From "  # with which a message of an mbox begins
MOST_PARTS = 1000  # of a message, however they are nested


def is_mail_folder(path: str) -> bool:
    """Whether a folder is a maildir, holds maildirs, or its first document is a mail by its name."""
    inside = [path, *(entry.path for entry in folder.entries(path) if entry.is_dir())]
    if any(Path(each, "cur").is_dir() and Path(each, "new").is_dir() for each in inside):
        return True
    first = next(folder.documents(path), "")
    return Path(without_suffix(first.lower())).suffix in SUFFIXES


def in_folder(path: str) -> list[File]:
    """The files of mail below a folder, but for those that a maildir is still to deliver."""
    return [files.named(each) for each in folder.documents(path) if Path(each).parent.name != "tmp"]


def label_of(file: File, below: str | None) -> str:
    """The label of the messages of a file, which was given itself or as one ``below`` a folder.

    >>> label_of(files.named("in/spam.mbox.gz"), None), label_of(files.named("in/ham/1.eml"), None)
    ('spam', 'ham')
    >>> label_of(files.named("in/ham/cur/1:2,S"), "in"), label_of(files.named("in/cur/1:2,S"), "in")
    ('ham', 'in')
    """
    path = Path(file.name)
    inside = () if below is None else Path(os.path.relpath(file.path, below)).parts[:-1]
    if inside and inside[0] not in MAILDIR:
        return inside[0]
    stem = Path(without_suffix(path.name))
    if stem.suffix.lower() in SUFFIXES[1:]:
        return stem.stem
    above = path.absolute().parent
    return above.parent.name if above.name in MAILDIR else above.name


def parts(
    found: Sequence[File], request: ColumnRequest, progress: Position, below: str | None = None
) -> Parts:
    """Parts of the messages in some files."""

    def rows() -> Iterator[Row]:
        for file in found:
            label = label_of(file, below)
            with files.trouble(file), files.opened(file.path) as (stream, position):
                for number, raw in enumerate(_messages(file, stream), start=1):
                    at = f"{file.name}, message {number}" if raw.startswith(SEPARATOR) else file.name
                    yield _row(raw, label), None, None, at, raw
                    progress.current = position()
            progress.finish(file.size)

    where = found[0].name if len(found) == 1 else f"{len(found):,} files"
    yield from record_parts(rows(), request, Origin(where, "message"))


def _messages(file: File, stream: BinaryIO) -> Iterator[bytes]:
    """The messages of an mbox, one after the other; or the one that the file is."""
    is_mbox = without_suffix(file.name.lower()).endswith(SUFFIXES[1:])
    pending: list[bytes] = []
    size, is_blank, is_first = 0, True, True
    for line in stream:
        if is_blank and line.startswith(SEPARATOR) and (is_mbox or is_first):
            is_mbox = True
            if pending:
                yield b"".join(pending)
            pending, size = [], 0
        elif is_mbox and is_first and line.strip():
            raise BadFile(
                f"`{file.name}` is not an mbox file: its first line is not a `From ` line",
                hint="a single message is an .eml file; other texts are read with `--format`",
            )
        elif is_mbox and is_first:
            continue
        is_first = False
        pending.append(line)
        size += len(line)
        if size > RECORD_BYTES:
            raise BadFile(f"a message of `{file.name}` is longer than 1 GiB")
        is_blank = not line.strip()
    if pending:
        yield b"".join(pending)


def _row(raw: bytes, label: str) -> dict[str, str] | Unreadable:
    from email import message_from_bytes

    if raw.startswith(SEPARATOR):
        raw = re.sub(rb"(?m)^>(>*From )", rb"\1", raw.partition(b"\n")[2])
    try:
        message = message_from_bytes(raw)
        subject, body = _header(message, "subject"), _body(message)
        sender, date = _header(message, "from"), _date(message)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError) as error:
        return Unreadable(f"not a message that can be read: {error}")  # the parser has faults of its own
    text = f"{subject}\n{body}" if subject and body else subject or body
    return {"text": text, "subject": subject, "body": body, "from": sender, "date": date, "label": label}


def _header(message: Message, name: str) -> str:
    """A header as people read it, encoded words decoded; as it is where that fails."""
    from email.errors import HeaderParseError
    from email.header import decode_header

    given = message.get(name)
    if given is None:
        return ""
    try:
        decoded = decode_header(given)
    except (HeaderParseError, ValueError, LookupError):
        decoded = [(str(given), None)]
    words = [word if isinstance(word, str) else _text(word, charset) for word, charset in decoded]
    return " ".join("".join(words).encode(errors="replace").decode().split())


def _date(message: Message) -> str:
    """When it was sent, as ISO 8601 has it; as it is written where that cannot be told."""
    from email.utils import parsedate_to_datetime

    written = _header(message, "date")
    try:
        return parsedate_to_datetime(written).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return written


def _body(message: Message) -> str:
    """The plain text of a message or, where there is none, the text of its HTML."""
    plain: list[str] = []
    rich: list[str] = []
    pending, seen = [message], 0
    while pending and (seen := seen + 1) <= MOST_PARTS:
        part = pending.pop()
        kind = part.get_content_type()
        if part is not message and (part.get_content_disposition() == "attachment" or part.get_filename()):
            continue
        payload = part.get_payload()
        if isinstance(payload, list):
            if part is message or kind.startswith("multipart/"):  # a message within is an attachment
                pending += [each for each in reversed(payload) if not isinstance(each, str)]
        elif kind in ("text/plain", "text/html") or (part is message and not kind.startswith("text/")):
            content = part.get_payload(decode=True)
            content = content if isinstance(content, bytes) else str(payload).encode(errors="replace")
            (rich if kind == "text/html" else plain).append(_text(content, part.get_content_charset()))
    text = "\n".join(plain)
    return (text if text.strip() else "\n".join(map(text_of_html, rich))).strip()


def _text(raw: bytes, charset: str | None) -> str:
    """Bytes as text: in the encoding that they say, else in UTF-8, else in that of Western Windows."""
    for encoding in (charset, "utf-8"):
        try:
            if encoding is not None:
                return raw.decode(encoding).replace("\r\n", "\n").encode(errors="replace").decode()
        except (UnicodeError, LookupError, ValueError):
            continue
    return raw.decode("cp1252", errors="replace").replace("\r\n", "\n")


def text_of_html(html: str) -> str:
    r"""The text that HTML shows.

    >>> text_of_html("<style>p {}</style><p>Win a <b>free</b> phone&excl;</p><p>Call<br>now</p>")
    'Win a free phone!\nCall\nnow'
    """
    from html.parser import HTMLParser

    shown: list[str] = []

    class Reader(HTMLParser):
        hidden = ""

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if not self.hidden and tag in ("script", "style", "title"):
                self.hidden = tag
            if tag in BLOCKS:
                shown.append("\n")

        def handle_endtag(self, tag: str) -> None:
            if tag == self.hidden:
                self.hidden = ""
            if tag in BLOCKS:
                shown.append("\n")

        def handle_data(self, data: str) -> None:
            if not self.hidden:
                shown.append(re.sub(r"\s+", " ", data))

    reader = Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(shown).split("\n"))
    return "\n".join(line for line in lines if line)


BLOCKS = frozenset(
    "p br div tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote pre hr section article td th".split()
)
