"""The fields of a binary file one after the other, none of them beyond its end."""

from __future__ import annotations

import mmap
import struct
from typing import Any

import numpy as np

from textodds.data.named_arrays import AnyArray
from textodds.errors import ModelFileError

NUMBER, WIDE, BYTE = struct.Struct("<i"), struct.Struct("<q"), struct.Struct("B")


class Fields:
    """Reads little-endian numbers, names and arrays; what is asked for is there, or the file is cut off."""

    def __init__(self, content: bytes | mmap.mmap) -> None:
        self._content, self.at = content, 0

    @property
    def left(self) -> int:
        """Bytes that are not read yet."""
        return len(self._content) - self.at

    def array(self, kind: str, n: int, what: str) -> AnyArray:
        """The next n numbers of a NumPy type, as they lie in the file."""
        size = np.dtype(kind).itemsize
        if not 0 <= n <= self.left // size:
            raise ModelFileError(
                f"it is cut off: {n:,} numbers of its {what} take more than {self.left:,} bytes"
            )
        found = np.frombuffer(self._content, kind, n, self.at)
        self.at += n * size
        return found

    def unpack(self, form: struct.Struct, what: str) -> tuple[Any, ...]:
        """The next numbers of a form."""
        if form.size > self.left:
            raise ModelFileError(f"it is cut off within its {what}")
        found = form.unpack_from(self._content, self.at)
        self.at += form.size
        return found

    def number(self, what: str) -> int:
        """The next whole number of 32 bits."""
        return int(self.unpack(NUMBER, what)[0])

    def wide(self, what: str) -> int:
        """The next whole number of 64 bits."""
        return int(self.unpack(WIDE, what)[0])

    def flag(self, what: str) -> bool:
        """The next byte, which must be a yes or no."""
        value = int(self.unpack(BYTE, what)[0])
        if value > 1:
            raise ModelFileError(f"the byte that says whether its {what} must be 0 or 1, got {value}")
        return bool(value)

    def name(self, what: str) -> bytes:
        """The bytes up to the next zero, which is passed over."""
        end = self._content.find(b"\0", self.at)
        if end < 0:
            raise ModelFileError(f"it is cut off within {what}")
        found = bytes(self._content[self.at : end])
        self.at = end + 1
        return found
