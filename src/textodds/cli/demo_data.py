"""Where the example messages lie."""

from __future__ import annotations

from pathlib import Path

from textodds.errors import BadFile

LEARNED, HELD_OUT = "messages.csv", "new_messages.csv"


def folder() -> Path:
    """The folder of the example messages."""
    place = Path(__file__).resolve().parent / "demo_data"
    if (place / LEARNED).is_file() and (place / HELD_OUT).is_file():
        return place
    raise BadFile(
        "the example messages are not installed", hint="install textodds again, or run it from its repository"
    )
