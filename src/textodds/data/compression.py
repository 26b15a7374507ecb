"""Compressed files: how they are packed, by their first bytes, since names lie; and how they are unpacked."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any, BinaryIO

from textodds.errors import BadFile, require

MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
    "zip": b"PK\x03\x04",
}
BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # with which a bzip2 file goes on, behind a digit: `BZh` may be a name
MOST = max(map(len, MAGIC.values())) + len(BLOCKS[0])  # bytes that tell

SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
PACKED = SUFFIXES[:4]
"""Endings of files that are written packed."""

LEVEL = 1  # of gzip: a sixth larger than the usual 6, in a third of its time, which is that of the answers


def packing_of(head: bytes) -> str | None:
    r"""How what begins so is packed; None if it is not.

    >>> packing_of(b"\x1f\x8b\x08"), packing_of(b"BZh91AY&SY"), packing_of(b"BZhou,text")
    ('gzip', 'bzip2', None)
    """
    for name, magic in MAGIC.items():
        if head.startswith(magic) and (name != "bzip2" or head[4:10] in BLOCKS):
            return name
    return None


def without_suffix(name: str) -> str:
    """The name of a file without what says that it is packed.

    >>> without_suffix("mail.csv.BZ2"), without_suffix("mail.csv")
    ('mail.csv', 'mail.csv')
    """
    ending = next((each for each in SUFFIXES if name.lower().endswith(each)), "")
    return name[: len(name) - len(ending)]


def unpacked(name: str, packing: str, stream: BinaryIO) -> io.RawIOBase:
    """The bytes that are packed in a stream; ``name`` is that of the file, for messages."""
    opened: Any = _OPENERS[packing](name, stream)
    return _InPieces(opened, packing)


class _InPieces(io.RawIOBase):
    """A packed stream that hands over what it has: to fill a buffer would lose all before a cut."""

    def __init__(self, stream: Any, packing: str) -> None:
        self._stream, self._packing = stream, packing
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._read(len(buffer))
        except EOFError as error:
            raise EOFError(self._packing) from error
        except Exception as error:  # bz2, lzma, zipfile, zlib and zstandard have errors of their own
            raise OSError(None, f"its {self._packing} stream is damaged ({error})") from error
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            with contextlib.suppress(Exception):
                self._stream.close()
        super().close()


def _gzip(name: str, stream: BinaryIO) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=stream)


def _bzip2(name: str, stream: BinaryIO) -> Any:
    import bz2

    return bz2.BZ2File(stream)


def _xz(name: str, stream: BinaryIO) -> Any:
    import lzma

    return lzma.LZMAFile(stream)


def _zstd(name: str, stream: BinaryIO) -> Any:
    with contextlib.suppress(ImportError):
        from compression.zstd import ZstdFile  # type: ignore[import-not-found]  # from Python 3.14 on

        return ZstdFile(stream)
    unpack = f"unpack it: `zstd -d {name}`"
    require("zstandard", why=f"unpacking `{name}`", otherwise=unpack)
    from zstandard import ZstdDecompressor

    return ZstdDecompressor().stream_reader(stream, read_across_frames=True)


def _zip(name: str, stream: BinaryIO) -> Any:
    import zipfile

    if not stream.seekable():
        raise BadFile(f"`{name}` is a zip archive, which cannot be read from a pipe", hint="put it in a file")
    try:
        archive = zipfile.ZipFile(stream)
        members = [each for each in archive.infolist() if not each.is_dir()]
        if any(each.filename in ("xl/workbook.xml", "content.xml") for each in members):
            raise BadFile(f"`{name}` is a spreadsheet", hint="say so: `--format excel` (format='excel')")
        if len(members) != 1:
            raise BadFile(
                f"`{name}` is a zip archive of {len(members):,} files; of one file it could be read",
                hint=f"unpack it, and name the files: `unzip {name}`",
            )
        return archive.open(members[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # damaged, or with a password
        raise BadFile(
            f"`{name}` cannot be unpacked: {error}", hint=f"check it with `unzip -t {name}`"
        ) from error


_OPENERS = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd, "zip": _zip}


def packing_of_name(name: str) -> str:
    """The ending that says that a file is to be written packed, in lower case; empty if none does.

    >>> packing_of_name("answers.csv.GZ"), packing_of_name("answers.csv")
    ('.gz', '')
    """
    return next((each for each in PACKED if name.lower().endswith(each)), "")


def packed(packing: str, name: str, stream: BinaryIO) -> Any:
    """A stream that packs what is written to it, as its ending says: the same bytes every time."""
    if packing == ".gz":
        import gzip

        return gzip.GzipFile("", "wb", LEVEL, stream, mtime=0)
    if packing == ".bz2":
        import bz2

        return bz2.BZ2File(stream, "wb", compresslevel=LEVEL)
    if packing == ".xz":
        import lzma

        return lzma.LZMAFile(stream, "wb", preset=LEVEL)
    with contextlib.suppress(ImportError):
        from compression.zstd import ZstdFile

        return ZstdFile(stream, "wb")
    require("zstandard", why=f"writing `{name}`", otherwise="write gzip: name it *.gz")
    from zstandard import ZstdCompressor

    return ZstdCompressor().stream_writer(stream, closefd=False)
