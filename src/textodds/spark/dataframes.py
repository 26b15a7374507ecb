"""DataFrames: the columns that are read, and jobs whose errors are ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textodds.data import Schema
from textodds.data.columns import ColumnRequest
from textodds.data.labels import BOOLEAN, INTEGER, NUMBER, TEXT, LabelType
from textodds.errors import InputError, Unsupported
from textodds.spark.wire import raised

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHERE = "the DataFrame"

T = TypeVar("T")


def columns_of(
    df: DataFrame, text: str | None, label: str | None = None, weight: str | None = None, *, labelled: bool
) -> dict[str, Column]:
    """The columns that are wanted, as ``text``, ``label`` and ``weight``; the last two if there are any."""
    places = _places(df, text, label, weight, labelled=labelled)
    return {name: df["`" + df.columns[at].replace("`", "``") + "`"] for name, at in places.items()}


def rows_of(
    df: DataFrame,
    text: str | None,
    label: str | None = None,
    weight: str | None = None,
    *,
    labelled: bool,
    several: bool = False,
) -> DataFrame:
    """The columns that are wanted, under the names ``text``, ``label`` and ``weight``.

    Labels that are arrays, several a row, are refused unless there may be ``several``.
    """
    places = _places(df, text, label, weight, labelled=labelled)
    if "label" in places and not several and _is_array(df, places["label"]):
        raise Unsupported(
            f"the labels in `{df.columns[places['label']]}` are arrays, several a row, and this is for one",
            hint="on Spark `train` and `predict` take several labels; for the rest collect the rows",
        )
    # To Spark, `Text` and `text` are one name.
    numbered = df.toDF(*(f"c{at}" for at in range(len(df.columns))))
    return numbered.select(*(numbered[f"c{at}"].alias(name) for name, at in places.items()))


def _places(
    df: DataFrame, text: str | None, label: str | None, weight: str | None, *, labelled: bool
) -> dict[str, int]:
    named = [] if text is None else [text] if isinstance(text, str) else list(text)
    request = ColumnRequest(named, label, weight, labelled=labelled)
    found = request.places(WHERE, must_be_frame(df).columns)
    at, *others = next(iter(found.columns.values()))
    if others:
        raise InputError(
            f"the text is of several columns, `{'`, `'.join(named)}`, and Spark reads one",
            hint="join them first: df.withColumn('text', concat_ws('\\n', …))",
        )
    kind = df.schema.fields[at].dataType.simpleString()
    if not kind.startswith(("string", "varchar", "char", "binary", "void")):
        raise InputError(
            f"the column `{df.columns[at]}` holds {kind}, not text",
            hint="name another column: text='COLUMN'",
        )
    places = {"text": at, "label": found.label, "weight": found.weight}
    return {name: place for name, place in places.items() if place is not None}


def has_label_sets(df: DataFrame, text: str | None, label: str | None) -> bool:
    """Whether the column of labels has arrays: several labels a row."""
    return _is_array(df, _places(df, text, label, None, labelled=True)["label"])


def _is_array(df: DataFrame, at: int) -> bool:
    return df.schema.fields[at].dataType.typeName() == "array"


def schema_of(df: DataFrame, text: str | None, label: str | None) -> Schema:
    """The names of the columns of the texts and of the labels, as a model remembers them."""
    request = ColumnRequest([] if text is None else [text], label)
    request.places(WHERE, df.columns)
    assert request.schema is not None
    return request.schema


def label_type(df: DataFrame, schema: Schema) -> LabelType:
    """The type of the labels, as `textodds.train` finds it in a table of the same columns."""
    if schema.label is None:
        return LabelType()
    kind = df.schema[schema.label].dataType
    name = getattr(kind, "elementType", kind).typeName()
    integers = {"byte": "int8", "short": "int16", "integer": "int32", "long": "int64"}
    if name in integers:
        return LabelType(INTEGER, integers[name])
    return LabelType({"boolean": BOOLEAN, "float": NUMBER, "double": NUMBER}.get(name, TEXT))


def text_of(df: DataFrame, text: str | None) -> Column:
    """The column of texts."""
    return columns_of(df, text, labelled=False)["text"]


def must_be_frame(df: object) -> DataFrame:
    """Fail for what is no DataFrame of Spark."""
    if not hasattr(df, "mapInArrow"):
        raise InputError(
            f"expected a Spark DataFrame, got {type(df).__module__}.{type(df).__name__}",
            hint="for data of other kinds use textodds.train",
        )
    return df  # type: ignore[return-value]


def collected(parts: DataFrame) -> list[tuple[int, bytes]]:
    """The rows of a DataFrame of `textodds.spark.tasks.PART`."""
    from textodds.spark.tasks import parts_of

    return list(parts_of(iter(run(parts.toArrow).to_batches())))


def run(job: Callable[[], T]) -> T:
    """What a job of Spark returns; an error of ours in one of its tasks is raised as it was there."""
    try:
        return job()
    except Exception as failure:
        error = raised(failure)
        if error is None:
            raise
        raise error from None
