"""How the served model differs from another, as types."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from textodds.serve.protocol.messages import Answer, Version


class ClassChange(Struct):
    """A class of either model: documents and prior of the other model, then of the one that is served."""

    documents: tuple[float | None, float | None]
    prior: tuple[float | None, float | None]


class CompareAnswer(Struct, kw_only=True):
    """How the served model differs from the other one: of each pair the first is of the other model."""

    other: Annotated[str, Meta(description="The name of its file.")]
    classes: dict[str, ClassChange]
    recipe: Annotated[list[tuple[str, Any, Any]], Meta(description="What was chosen, where that differs.")]
    features: Annotated[tuple[int, int], Meta(description="Words, or columns.")]
    n_gained: int
    gained: Annotated[list[tuple[str, float | None]], Meta(description="With counts, where they are known.")]
    n_lost: int
    lost: list[tuple[str, float | None]]
    between: Annotated[
        tuple[str, str] | None, Meta(description="The two classes whose weights differ most; null of tables.")
    ]
    moved: Annotated[
        list[tuple[str, float, float]], Meta(description="Words, and their log-odds between these two.")
    ]
    shifted: Annotated[
        list[tuple[str, str, float]], Meta(description="Columns, the class where each differs most, how far.")
    ]
    version: Version


class OtherAnswers(Struct, kw_only=True):
    """What the other model answers, in the order of the texts; ``version`` is of the model that is served."""

    answers: list[Answer]
    other: Annotated[str, Meta(description="The version of the other model.")]
    version: Version
