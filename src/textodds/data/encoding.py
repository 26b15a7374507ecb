"""Encodings other than UTF-8: a stream of bytes is transcoded as it comes; likely ones are proposed.

No encoding is guessed and used: where bytes are not UTF-8, the error proposes those that decode a sample of
the file plausibly, with a word as it would then read.
"""

from __future__ import annotations

import codecs
import io
import itertools
import re
import unicodedata
from typing import Any, BinaryIO

from textodds.errors import BadFile, InputError, suggestion

PIECE = 1 << 16
SAMPLE = 1 << 18  # bytes of the beginning of a file that an encoding is tried on

# In the order in which they are tried: those that refuse most first.
CANDIDATES = (
    "euc_kr", "shift_jis", "euc_jp", "big5", "gb18030", "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253",
    "cp1254", "cp850", "mac_roman",
)  # fmt: skip

# What texts in these are mostly, or in good part, made of; other bytes decode to anything.
MADE_OF = {"euc_kr": ("HANGUL", 0.8), "shift_jis": ("HIRAGANA", 0.2), "euc_jp": ("HIRAGANA", 0.2)}

COMMON = "‘’“”„–—…€£¥§©®°±²³·«»¿¡ºª×½¼¾•™、。「」・！？：，；（）　ー々"
WORD = re.compile(r"[^\W\d_]+")


def checked(name: str) -> str | None:
    """The name of an encoding as Python has it; None for UTF-8, which needs no change.

    >>> checked("windows-1252"), checked("UTF8"), checked("Latin-1")
    ('cp1252', None, 'iso8859-1')
    """
    try:
        found = codecs.lookup(name)
        is_text = isinstance("".encode(found.name), bytes)
    except (LookupError, ValueError, TypeError):
        is_text = False
    if not is_text:
        known = ["utf-8", "utf-16", "utf-32", "latin-1", *(each.replace("_", "-") for each in CANDIDATES)]
        raise InputError(
            f"unknown encoding `{name}`{suggestion(name, known)}",
            hint="write one that Python knows, such as cp1252, latin-1, utf-16 or shift-jis",
        )
    return None if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


def is_utf8(sample: bytes) -> bool:
    r"""Whether the beginning of a file has letters beyond ASCII, and is UTF-8.

    >>> is_utf8("Köln".encode()), is_utf8("Köln".encode("cp1252")), is_utf8(b"plain")
    (True, False, False)
    """
    text = _decoded(sample, "utf-8")
    return text is not None and not text.isascii()


class Transcoded(io.RawIOBase):
    """The UTF-8 of a stream in another encoding, in pieces; ``name`` is that of the file, for messages."""

    def __init__(self, name: str, encoding: str, stream: BinaryIO) -> None:
        self._name, self._encoding, self._stream = name, encoding, stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._is_done = b"", False
        self._bytes, self._lines = 0, 1  # read so far

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what there is; how many bytes that are."""
        while not self._ready and not self._is_done:
            piece = self._stream.read(PIECE)
            self._is_done = not piece
            self._ready = self._decoded(piece)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _decoded(self, piece: bytes) -> bytes:
        held = self._decoder.getstate()[0]  # bytes of a character that is not whole yet
        try:
            text = self._decoder.decode(piece, final=self._is_done)
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            before = (held + piece)[:start].decode(self._encoding, errors="replace")
            line = self._lines + before.count("\n")
            at = self._bytes - len(held) + start
            raise BadFile(
                f"`{self._name}`, line {line}: byte {at:,} of the file is not {self._encoding}",
                hint="name another encoding with `--encoding` (encoding=), or leave it out for UTF-8",
            ) from error
        self._bytes += len(piece)
        self._lines += text.count("\n")
        return text.encode(errors="surrogatepass")


def proposal(sample: bytes) -> str | None:
    r"""What to do about bytes that are not UTF-8: which encodings decode them plausibly, and how they read.

    >>> proposal("Viele Grüße aus Köln".encode("cp1252"))
    "it may be in cp1252, in which it reads `Grüße`: `--encoding cp1252` (encoding='cp1252')"
    >>> proposal(bytes(range(128, 256))) is None
    True
    """
    found: dict[str, str] = {}  # encodings, by how the first strange word then reads
    for encoding in CANDIDATES if (wide := _wide(sample)) is None else (wide,):
        text = _decoded(sample, encoding)
        if text is not None and (wide is not None or _is_plausible(text, encoding)):
            found.setdefault(_strange_word(text), encoding)
    if not found:
        return None
    (word, first), *others = found.items()
    also = "".join(f"; or in {encoding}, `{other}`" for other, encoding in others[:1])
    name = first.replace("_", "-")
    reads = f", in which it reads `{word}`{also.replace('_', '-')}" if word else ""
    return f"it may be in {name}{reads}: `--encoding {name}` (encoding='{name}')"


def _wide(sample: bytes) -> str | None:
    """UTF-16 or UTF-32, of which half of the bytes or more are zero in most languages of Europe."""
    if sample.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 < len(sample) or min(even, odd) * 10 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decoded(sample: bytes, encoding: str) -> str | None:
    """The text of a sample, which may end within a character."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeError:
        return None


def _is_plausible(text: str, encoding: str) -> bool:
    """Whether letters beyond ASCII stand where people write them, and nearly nothing else is beyond ASCII.

    Latin letters with accents are few in a word, and a capital does not follow a small letter; letters of
    other alphabets make up whole words.
    """
    strange = [character for character in text if character > "\x7f"]
    if any(unicodedata.category(each) in ("Cc", "Co", "Cn", "Cs") for each in strange):
        return False
    alphabet, share = MADE_OF.get(encoding, ("", 0.0))
    letters = [each for each in strange if each.isalpha()]
    if sum(unicodedata.name(each, "").startswith(alphabet) for each in letters) < share * len(letters):
        return False
    odd = sum(1 for each in strange if not each.isalpha() and each not in COMMON and not each.isspace())
    for word in WORD.findall(text):
        beyond = [each for each in word if each > "\x7f"]
        if not beyond:
            continue
        is_latin = all(unicodedata.name(each, "").startswith("LATIN") for each in beyond)
        turns = sum(1 for a, b in itertools.pairwise(word) if a.islower() and b.isupper())
        mixed = len(word) - len(beyond) if not is_latin else 0
        crowded = len(beyond) if is_latin and len(beyond) > 2 and 2 * len(beyond) > len(word) else 0
        rare = 0 if is_latin else sum("HALFWIDTH" in unicodedata.name(each, "") for each in beyond)
        alphabets = {unicodedata.name(each, "?").split()[0] for each in beyond} - {
            "CJK",
            "HIRAGANA",
            "KATAKANA",
        }
        odd += min(len(beyond), turns + mixed + crowded + rare + max(0, len(alphabets) - 1))
    return bool(strange) and odd <= len(strange) // 20


def _strange_word(text: str) -> str:
    """The first word that has a letter beyond ASCII."""
    words = (word for word in WORD.findall(text) if any(each > "\x7f" for each in word))
    return next(words, "")[:30]
