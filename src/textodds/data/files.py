"""Files: which a path means, their formats, how they are opened, and what to say when that fails."""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import io
import json
import os
import re
import stat
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from textodds.data import compression
from textodds.data.compression import MAGIC, MOST, packing_of, without_suffix
from textodds.data.rejects import SUFFIX
from textodds.data.values import cut
from textodds.errors import BadFile, InputError, nearest_files, suggestion

STDIN = "-"
BUFFER = 1 << 20
MOST_COPIED = 8 << 30  # bytes of a pipe, or of an unpacked file, that are copied for want of a file
NAMELESS = "/proc/self/fd"  # where Linux opens what is open already, with or without a name

FORMATS = ("csv", "tsv", "jsonl", "parquet", "fasttext", "lines", "folder", "database", "mail", "excel")
DELIMITED = ("csv", "tsv")

# Those that can be read from a pipe as they come; the others are read from several places at once.
STREAMED = ("csv", "tsv", "jsonl", "fasttext", "lines")

BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".eml": "mail",
    ".mbox": "mail",
    ".mbx": "mail",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".duckdb": "database",
    ".ddb": "database",
    ".db": "database",
    ".sqlite": "database",
    ".sqlite3": "database",
}

ADDRESS = re.compile(r"(?:jdbc:)?([A-Za-z][A-Za-z0-9+.-]+)://")
SCHEMES = {
    "a web address": ("http", "https", "ftp"),
    "in cloud storage": ("s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "wasbs", "r2", "hf"),
    "in a cluster": ("hdfs", "dbfs"),
    "a database server": (
        "postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "sqlserver", "snowflake", "bigquery",
        "redshift", "clickhouse", "mongodb", "mongodb+srv",
    ),
}  # fmt: skip

BOM = b"\xef\xbb\xbf"
SQLITE_MAGIC = b"SQLite format 3\x00"
DUCKDB_MAGIC = b"DUCK"  # at byte 8
PARQUET_MAGIC = b"PAR1"
MODEL_MAGIC = b'\0\0\0\0{"'  # at byte 4: safetensors begin with a length, and JSON
FASTTEXT_PREFIX = b"__label__"


@dataclass(frozen=True, slots=True)
class File:
    """A file: where it lies, and what to call it in messages."""

    path: str
    name: str
    encoding: str | None = None  # that its bytes are in, if it is not UTF-8

    @property
    def size(self) -> int:
        """Bytes on disk; 0 for a pipe."""
        if self.is_pipe:
            return 0
        with trouble(self):
            return Path(self.path).stat().st_size

    @property
    def is_pipe(self) -> bool:
        """Whether it can be read only once: stdin, a named pipe, `<(command)` of the shell."""
        if self.path == STDIN:
            return True
        with trouble(self):
            mode = Path(self.path).stat().st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def named(path: str, encoding: str | None = None) -> File:
    """The file at ``path``, called as the user calls it."""
    name = "stdin" if path == STDIN else os.fsencode(path).decode(errors="backslashreplace")
    return File(path, name, encoding)


def is_utf8(path: str) -> bool:
    """Whether the name of a file is text, which Linux does not ask for."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def found(path: str) -> list[str]:
    """Paths of the files, or of the one folder, that ``path`` means: itself, or what it matches as a glob."""
    if path == STDIN or _exists(path):
        return [path]
    if (error := elsewhere(path)) is not None:
        raise error
    if not glob.has_magic(path):
        raise missing(path)
    # Rows rejected by an earlier run often lie beside the data, and are no data.
    matched = sorted(
        match
        for match in glob.glob(path, recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not Path(match).is_dir() and (path.endswith(SUFFIX) or not match.endswith(SUFFIX))
    )
    if not matched:
        raise BadFile(f"no file matches `{path}`", hint=_near(_fixed_part(path)) or "check the pattern")
    return matched


def elsewhere(path: str) -> BadFile | None:
    """The error for an address, which is not read: what to do instead. None for a path."""
    if not (address := ADDRESS.match(path)):
        return None
    scheme = address[1].lower()
    shown = cut(re.sub(r"//[^/@]*@", "//…@", path), 200)  # without a password
    if scheme in ("file", "sqlite", "duckdb"):
        inner = path[address.end() :]
        local = inner if scheme == "file" else inner.removeprefix("/")  # sqlite:///mail.db, after SQLAlchemy
        return BadFile(f"`{shown}` is an address, not a path", hint=f"give the path: `{local}`")
    what = next((kind for kind, schemes in SCHEMES.items() if scheme in schemes), "an address")
    if what == "a database server":
        hint = (
            "write the rows to a file, such as CSV, with the client of the database; or copy them to a DuckDB"
        )
        hint += " or SQLite file, and read that: `mail.duckdb --query 'SELECT text, label FROM mail'`"
        return BadFile(f"`{shown}` is a database server, and only files are read", hint=hint)
    name = Path(path.partition("?")[0].rstrip("/")).name or "data"
    copied = {"s3": "aws s3 cp", "gs": "gcloud storage cp", "hdfs": "hdfs dfs -get"}
    command = f"curl -L -o {name}" if scheme in ("http", "https", "ftp") else copied.get(scheme)
    there = f": `{command} {shown}{' .' if scheme in copied else ''}`, then name `{name}`" if command else ""
    return BadFile(
        f"`{shown}` is {what}, and only files on this machine are read", hint=f"download it first{there}"
    )


def missing(path: str) -> BadFile:
    """The error for a path at which there is nothing."""
    hint = _near(path)
    if hint is None and " " in path:
        hint = "to give texts rather than files, put them in a list"
    shown = path if len(path) <= 200 else f"{path[:200]}…"
    return BadFile(f"no file at `{shown}`", hint=hint or "check the path")


def is_folder(path: str) -> bool:
    """Whether ``path`` is a folder."""
    return path != STDIN and Path(path).is_dir()


def head(path: str, size: int = 1 << 16, encoding: str | None = None) -> bytes:
    """The first bytes of the file, unpacked and in UTF-8; fewer where the file is shorter or cut off."""
    taken = b""
    with trouble(named(path)), opened(path, encoding) as (stream, _), contextlib.suppress(EOFError):
        while len(taken) < size and (more := stream.read(min(4096, size - len(taken)))):
            taken += more
    return taken


def has_two_labels(begun: bytes) -> bool:
    r"""Whether a line of fastText among the first ones has two labels.

    >>> has_two_labels(b"__label__a see you\n__label__a __label__b call me\n")
    True
    """
    for line in begun.splitlines():
        words = line.split(None, 2)
        if len(words) > 1 and all(word.startswith(FASTTEXT_PREFIX) for word in words[:2]):
            return True
    return False


@contextlib.contextmanager
def opened(path: str, encoding: str | None = None) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """A stream of the file's bytes, unpacked if it is packed, and a way to ask how far it has come.

    What is in another ``encoding`` comes in UTF-8.
    """
    # Not `sys.stdin`: a thread waiting in it would keep the interpreter from ending.
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(io.FileIO(0, closefd=False) if path == STDIN else io.FileIO(path))
        packed = io.BufferedReader(raw, BUFFER)
        stream: BinaryIO = stack.enter_context(packed)
        # By content, since names lie: browsers unpack `x.csv.gz` and keep the name.
        if (packing := packing_of(packed.peek(MOST))) is not None:
            pieces = stack.enter_context(compression.unpacked(named(path).name, packing, packed))
            stream = stack.enter_context(io.BufferedReader(pieces, BUFFER))
        if encoding is not None:
            from textodds.data.encoding import Transcoded

            stream = stack.enter_context(
                io.BufferedReader(Transcoded(named(path).name, encoding, stream), BUFFER)
            )
        yield stream, lambda: raw.tell() if raw.seekable() else 0


class Copy:
    """A temporary copy of a file or a pipe, unpacked and, if an ``encoding`` is given, in UTF-8.

    Where the system can open a file that has no name any more, it has none from the start: whatever ends
    the process takes it along. A database needs its name, which is then removed at the end.
    """

    def __init__(
        self, path: str, suffix: str, *, is_named: bool = False, encoding: str | None = None
    ) -> None:
        import tempfile

        handle, self.path = tempfile.mkstemp(prefix="textodds-", suffix=suffix)
        self.close = weakref.finalize(self, _removed, handle, self.path)
        if not is_named and Path(NAMELESS).is_dir():
            Path(self.path).unlink()
            self.path = f"{NAMELESS}/{handle}"
        try:
            self._fill(path, handle, encoding)
        except BaseException:
            self.close()
            raise

    def _fill(self, path: str, handle: int, encoding: str | None) -> None:
        import shutil
        import tempfile

        left = most = min(MOST_COPIED, shutil.disk_usage(tempfile.gettempdir()).free // 2)
        name = named(path).name
        with (
            io.FileIO(handle, "w", closefd=False) as target,
            trouble(named(path)),
            opened(path, encoding) as (stream, _),
        ):
            while piece := stream.read(min(BUFFER, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise BadFile(
                        f"`{name}` holds more than {most >> 20:,} MiB, which are as many as are copied to "
                        f"`{tempfile.gettempdir()}`",
                        hint="put it in a file, unpacked; or name its format, to have it read as it comes: "
                        "`--format csv` (format='csv')",
                    )
                target.write(piece)

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _removed(handle: int, path: str) -> None:
    os.close(handle)
    Path(path).unlink(missing_ok=True)


@contextlib.contextmanager
def unpacked(path: str, suffix: str, *, but: str | None = None, encoding: str | None = None) -> Iterator[str]:
    """Path of ``path`` itself or, if it is packed, of an unpacked copy that is removed afterwards.

    What the reader unpacks by itself (``but``) is left packed; what is in another ``encoding`` is copied too.
    """
    if encoding is not None:
        with Copy(path, suffix, encoding=encoding) as copy:
            yield copy.path
        return
    with trouble(named(path)), io.FileIO(path) as raw:
        packing = packing_of(raw.read(MOST))
    if packing in (None, but):
        yield path
        return
    with Copy(path, suffix) as copy:
        yield copy.path


@contextlib.contextmanager
def trouble(file: File, rows: Callable[[], int] | None = None) -> Iterator[None]:
    """Errors of the operating system and of gzip become `BadFile`; ``rows`` counts those read so far."""
    try:
        yield
    except EOFError as error:
        after = f" after row {rows():,}" if rows is not None and rows() else ""
        packing = str(error) if str(error) in MAGIC else "gzip"
        raise BadFile(
            f"`{file.name}` ends in the middle of its {packing} stream{after}; "
            "it was cut off when copied or is still being written",
            hint=f"check it with `{packing} -t {file.name}`, and copy it again",
        ) from error
    except FileNotFoundError as error:
        raise missing(file.name) from error
    except IsADirectoryError as error:
        raise folder_instead(file.name) from error
    except PermissionError as error:
        raise BadFile(
            f"`{file.name}` may not be read: permission denied",
            hint=f"check the permissions with `ls -l {file.name}`",
        ) from error
    except (OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadFile(f"`{file.name}` cannot be read: {reason}", hint="copy the file again") from error


def folder_instead(path: str) -> BadFile:
    """The error for a folder where a file is wanted."""
    return BadFile(
        f"`{path}` is a folder, not a file",
        hint=f"give the files in it as a pattern, such as `{Path(path) / '*.csv'}`",
    )


def must_be_format(name: str | None) -> None:
    """Fail if ``name`` is not the name of a format."""
    if name is not None and name not in FORMATS:
        raise InputError(
            f"unknown format `{name}`{suggestion(name, FORMATS)}",
            hint=f"the formats are {', '.join(FORMATS)}",
        )


def format_of_name(path: str) -> str | None:
    """The format that the name of a file promises, if any.

    >>> format_of_name("mail.CSV.gz"), format_of_name("mail.txt")
    ('csv', None)
    """
    path = without_suffix(path.lower())
    return BY_SUFFIX.get(Path(path).suffix)


def format_of_content(file: File, *, tabular: bool) -> str:
    """The format that the first bytes of a file show.

    What shows nothing is plain lines unless it must be ``tabular``. Then it is a table if its first
    line can be a header, and otherwise an error: to guess would be to learn from noise.
    """
    start = head(file.path, encoding=file.encoding)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    if start.startswith(SQLITE_MAGIC) or start[8:12] == DUCKDB_MAGIC:
        return "database"
    if start[4:10] == MODEL_MAGIC:
        raise BadFile(
            f"`{file.name}` is a model, not data",
            hint="put the data after the model: `textodds learn MODEL DATA`",
        )
    start = start.removeprefix(BOM).lstrip()
    if start.startswith(FASTTEXT_PREFIX):
        return "fasttext"
    line, end, _ = start.partition(b"\n")
    if _is_object(line, whole=bool(end)):
        return "jsonl"
    if not tabular:
        return "lines"
    if start.startswith(b"["):
        return "jsonl"
    if not start or any(mark in line for mark in b",;\t|"):
        return "csv"
    shown = cut(line.strip().decode(errors="backslashreplace"), 60)
    raise BadFile(
        f"cannot tell the format of `{file.name}`; its first line is `{shown}`",
        hint="say so with `--format csv`, `tsv`, `jsonl`, `parquet` or `fasttext` (format='csv')",
    )


def refuse_utf16(file: File) -> None:
    """Fail for a file saved as "Unicode text" on Windows, or in UTF-32, of which every row would be bad."""
    start = b"" if file.is_pipe or file.encoding is not None else head(file.path, 4)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or start == b"\0\0\xfe\xff":
        coding = "UTF-32" if start in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") else "UTF-16"
        raise BadFile(
            f"`{file.name}` is in {coding}, not in UTF-8",
            hint=f"say so: `--encoding {coding.lower()}` (encoding='{coding.lower()}')",
        )


def encoding_hint(file: File, row: str | bytes) -> str | None:
    """What to do about a row of ``file`` that is not UTF-8, if it may be in another encoding."""
    if file.encoding is not None or not isinstance(row, bytes):
        return None
    from textodds.data import encoding

    sample = b"" if file.is_pipe else head(file.path, encoding.SAMPLE)
    return encoding.proposal(sample + b"\n" + row)


def keys_of(line: bytes) -> list[str]:
    """The keys of the JSON object that a line is; none of any other line."""
    try:
        item = json.loads(line) if line.startswith(b"{") else None
    except (ValueError, RecursionError):
        return []
    return list(item) if isinstance(item, dict) else []


def _is_object(line: bytes, *, whole: bool) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        # Longer than was looked at, or a bad row: then a quoted key says enough.
        return line[1:].lstrip().startswith(b'"') or not whole


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # a text that was taken for a path
            return False
        with trouble(named(path)):
            raise


def _near(path: str) -> str | None:
    folder, name = os.path.split(path)
    if len(path) > 1000:
        return None
    if folder and not _exists(folder):
        return f"there is no folder `{folder}`"
    try:
        there = sorted(entry.name for entry in os.scandir(folder or "."))
    except OSError:
        return None
    near = nearest_files(name, there, n=3)
    if not near:
        return None
    return "did you mean " + " or ".join(f"`{Path(folder) / name}`" for name in near) + "?"


def _fixed_part(pattern: str) -> str:
    """The path down to the first part with a wildcard, whose folder can be looked into."""
    parts = Path(pattern).parts
    wild = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return str(Path(*parts[: wild + 1]))


class Spool:
    """A pipe as a file: copied to a temporary one when first asked for, which lives as long as this."""

    def __init__(self, file: File) -> None:
        self._pipe = file

    @functools.cached_property
    def _copy(self) -> Copy:
        return Copy(self._pipe.path, "")

    @functools.cached_property
    def _named_copy(self) -> Copy:
        return Copy(self._copy.path, "", is_named=True)

    @property
    def file(self) -> File:
        """The copy, called as the pipe is."""
        return File(self._copy.path, self._pipe.name, self._pipe.encoding)

    @property
    def named_file(self) -> File:
        """A copy that has a name, for databases."""
        return File(self._named_copy.path, self._pipe.name)
