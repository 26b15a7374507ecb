"""What is asked and answered where the model reads rows: columns by name in the place of a text."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from textodds.serve.protocol.messages import (
    ChangeRequest,
    CorrectionCount,
    CorrectionEntry,
    DecisionOptions,
    ForgottenDocument,
    LabelledDocument,
    LearnDocuments,
    Named,
    OddsSum,
    Parts,
    Request,
    Version,
    WordOdds,
)

Value = str | int | float | bool | None
Row = Annotated[
    dict[str, Any],  # checked with the columns of the model: what is wrong then has a name
    Meta(
        description="Values by the names of columns. A column that is left out, or null, is a missing value."
    ),
]


class ClassifyRowRequest(DecisionOptions, kw_only=True):
    """One row."""

    row: Row


class ClassifyRowsRequest(DecisionOptions, kw_only=True):
    """Several rows, which are decided alike."""

    rows: list[Row]


class ExplainRowRequest(Request):
    """A row, and the classes whose odds are to be explained."""

    row: Row
    label: Annotated[Named | None, Meta(description="By default the most probable class.")] = None
    rival: Annotated[Named | None, Meta(description="By default the runner-up.")] = None
    parts: Parts = False


class ColumnOdds(Struct):
    """What a column adds to the log-odds; columns that are weighed together have one name, `a, b`."""

    column: str
    value: Value
    log_odds: float


class ExplainRowAnswer(OddsSum, kw_only=True):
    """A sum: ``start``, every column's ``log_odds`` and ``remainder`` add up to ``log_odds``.

    ``start`` is ``prior``, the model's own ``intercept``, what ``calibration`` adds to them (null where that
    is nothing), and of some models of texts what absent words add. ``words`` are those of a model of several
    columns of texts, each under the name of its column; so are ``parts``, its features, if asked for.
    """

    columns: list[ColumnOdds]
    words: list[WordOdds]
    has_words: bool
    parts: list[WordOdds] | UnsetType = UNSET
    version: Version


class RowDocument(LabelledDocument, kw_only=True):
    """A row under its right label. Without an id it is given one, which the answer tells."""

    row: Row


class LearnRowsRequest(LearnDocuments, kw_only=True):
    """Rows to learn: all of them, or, on an error, none."""

    documents: Annotated[list[RowDocument], Meta(min_length=1)]


class ForgottenRow(ForgottenDocument, kw_only=True):
    """A row to forget. What was learned here is known by its id; else row and label are needed too."""

    row: Row | None = None


class ForgetRowsRequest(ChangeRequest):
    """Rows to forget: all of them, or, on an error, none."""

    documents: Annotated[list[ForgottenRow], Meta(min_length=1)]


class RowCorrection(CorrectionEntry, kw_only=True):
    """An entry of the journal; ``stands`` if it has not been undone or replaced since."""

    row: Annotated[Row | None, Meta(description="Null once the row of a forgotten document is erased.")]


class RowCorrectionsAnswer(CorrectionCount, kw_only=True):
    """What was learned and forgotten here, the latest first."""

    corrections: list[RowCorrection]


class SuggestRowsRequest(Request):
    """Rows without labels."""

    rows: list[Row]
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10
