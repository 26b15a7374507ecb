"""What the page asks at first sight, and after a correction that changed little, as types."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from textodds.serve.protocol.messages import NewLabel, Request, Text, Version
from textodds.serve.protocol.row_messages import Row


class ShownExample(Struct, kw_only=True):
    """A text, or a row, to try the model on."""

    text: str | UnsetType = UNSET
    row: dict[str, Any] | UnsetType = UNSET
    about: Annotated[
        str,
        Meta(
            description="How it was chosen: `typical` of its class, `doubtful`, or `given` by the operator."
        ),
    ]


class ExamplesAnswer(Struct, kw_only=True):
    """Texts to try the model on, up to five; none where others may read and none were given."""

    examples: list[ShownExample]
    version: Version


class CopiesRequest(Request, kw_only=True):
    """A text, and the label that it should have."""

    text: Text
    label: NewLabel


class CopiesRowRequest(Request, kw_only=True):
    """A row, and the label that it should have."""

    row: Row
    label: NewLabel


class CopiesAnswer(Struct, kw_only=True):
    """How often the model would have to learn just this text to give it that label."""

    copies: Annotated[
        int | None, Meta(description="So often, beside what it has learned; null if `most` would not do.")
    ]
    most: Annotated[int, Meta(description="The most that were tried.")]
    version: Version
