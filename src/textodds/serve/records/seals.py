"""Whether a journal is as it was written: digests of its entries, each over the one before, and its log.

Of entry n with the fields f_n, and of its text under a random salt,

    seal_n  = SHA-256(salt_n ‖ text_n)                               (1)
    chain_n = SHA-256(chain_{n-1} ‖ f_n ‖ seal_n),  chain_0 = key    (2)

where the lengths of the parts come first. A text that is erased takes its salt along: what is left, the
seal, says nothing about it, and the chain still holds.

SQLite drops what follows a damaged frame of its write-ahead log without a word, as it cannot tell that from a
write that was cut off. A commit that another frame follows was not cut off: `read_log` tells the two apart.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

HEAD, FRAME = 32, 24  # bytes of the head of a log, and of a frame
MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # the order of bytes in checksums
SALT = 16  # bytes


class Sealed(NamedTuple):
    """A row of the journal as it is stored."""

    seq: int
    sign: int
    id: str
    label: str
    text: str | None
    at: str
    salt: bytes | None
    seal: bytes
    chain: bytes


def digest(*parts: bytes | str | int) -> bytes:
    """The SHA-256 of parts, after the lengths of all of them."""
    told = [part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass") for part in parts]
    lengths = struct.pack(f">{len(told)}Q", *map(len, told))
    return hashlib.sha256(lengths + b"".join(told)).digest()


def text_seal(salt: bytes, text: str) -> bytes:
    """The seal of a text, (1)."""
    return digest(salt, text)


def chained(before: bytes, row: Sealed) -> bytes:
    """The chain of a row after one whose chain is ``before``, (2)."""
    return digest(before, row.seq, row.sign, row.id, row.label, row.at, row.seal)


def is_whole(before: bytes, row: Sealed) -> bool:
    """Whether a row is as it was written after one whose chain is ``before``."""
    if (row.text is None) != (row.salt is None):
        return False
    if row.text is not None and row.salt is not None and text_seal(row.salt, row.text) != row.seal:
        return False
    return chained(before, row) == row.chain


def first_damaged(rows: Iterable[Sealed], key: str, last: int) -> int | None:
    """The number of the first row that is missing or not as it was written; None if all are."""
    before, seq = key.encode(), 0
    for seq, row in enumerate(rows, 1):
        if row.seq != seq or not is_whole(before, row):
            return seq
        before = row.chain
    return None if seq == last else min(seq, last) + 1


def read_log(database: Path) -> Literal["whole", "cut off", "damaged"]:
    """What the write-ahead log of a database is; none at all is whole."""
    try:
        content = Path(f"{database}-wal").read_bytes()
    except OSError:
        return "whole"
    if len(content) <= HEAD + FRAME:
        return "whole"
    magic, _, page, _, *salts = struct.unpack(">6I", content[:24])
    order = MAGIC.get(magic, ">")
    sums = _checksum(content[:24], order, (0, 0))
    if magic not in MAGIC or sums != struct.unpack(">2I", content[24:HEAD]) or page < 512:
        return "damaged"
    bad = commits = False
    for is_ours, is_commit, frame in _frames(content, page, salts):
        if commits and is_ours:  # after a commit that is not whole others came: it was on disk once
            return "damaged"
        if not bad:
            found = _checksum(frame[FRAME:], order, _checksum(frame[:8], order, sums))
            bad, sums = (*salts, *found) != struct.unpack(">4I", frame[8:FRAME]), found
        commits |= bad and is_ours and is_commit
    return "cut off" if bad and commits else "whole"


def _frames(content: bytes, page: int, salts: list[int]) -> Iterator[tuple[bool, bool, bytes]]:
    """Of every frame whether it is of this log, not of one before it, whether it commits, and its bytes.

    Of a frame of another log both salts differ, of a damaged one only one does.
    """
    for start in range(HEAD, len(content) - FRAME - page + 1, FRAME + page):
        frame = content[start : start + FRAME + page]
        _, size, *own = struct.unpack(">4I", frame[:16])
        yield own[0] == salts[0] or own[1] == salts[1], size > 0, frame


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """The checksum of SQLite's file format, section 4.2, continued."""
    a, b = sums
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for x, y in zip(words, words, strict=True):
        a = (a + x + b) & 0xFFFFFFFF
        b = (b + y + a) & 0xFFFFFFFF
    return a, b
