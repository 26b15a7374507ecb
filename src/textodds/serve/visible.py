r"""Characters that cannot be seen, or that turn others around, written as escapes where people read.

>>> print(visible("ham\u202espam\n"))
ham\u202espam\n
"""

from __future__ import annotations

import logging
import re

_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text in which control characters and marks of direction are escaped."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class VisibleFormatter(logging.Formatter):
    """Writes a message on one line, whatever was sent to the service."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name is that of logging)
        """The line, without what may follow it of an exception."""
        record.message = visible(record.message)
        return super().formatMessage(record)
