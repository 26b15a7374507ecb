"""Asking a model on Spark: predictions and explanations as columns, and as functions of SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar, get_type_hints

import numpy as np
import pyarrow as pa

from textodds.data import Batch
from textodds.data.admission import admit_texts
from textodds.data.arrow import texts_of
from textodds.data.rejects import Origin
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.forms.linear import log_softmax
from textodds.learn.multilabel.odds import sigmoid
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.spark.dataframes import columns_of, must_be_frame, text_of
from textodds.spark.models import (
    AnyModelOrFile,
    ModelOfTexts,
    ModelOrFile,
    any_loaded,
    any_model_of,
    loaded,
    model_of,
    sent,
)
from textodds.spark.quality import learned, without_own
from textodds.spark.tasks import RowErrors
from textodds.spark.wire import telling

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    Function: TypeAlias = Callable[..., Column]

A = TypeVar("A")
P = ParamSpec("P")
Columns = Iterator[pa.Array]

SEVERAL = "struct<labels: array<string>, evidence: int>"
SEVERAL_PROBABILITIES = "struct<labels: array<string>, evidence: int, probabilities: map<string, double>>"
PREDICTION = "struct<label: string, probability: double, evidence: int>"
PROBABILITIES = (
    "struct<label: string, probability: double, evidence: int, probabilities: map<string, double>>"
)
SHARES = "struct<label: string, shares: array<double>>"
EXPLANATION = (
    "struct<label: string, rival: string, probability: double, log_odds: double, start: double, "
    "remainder: double, words: array<struct<word: string, count: int, log_odds: double>>>"
)
EXPLAINED = ("label", "rival", "probability", "log_odds", "start", "remainder")
LEFT_OUT = "struct<label: string, probability: double, own: double>"


def predict(
    model: AnyModelOrFile,
    df: DataFrame,
    text: str | None = None,
    *,
    column: str = "prediction",
    probabilities: bool = False,
) -> DataFrame:
    """The DataFrame with a column of predictions: label, probability, and known words (``evidence``).

    A text that is null, or not UTF-8, has the prediction null. With ``probabilities`` there is a map of them
    all, by class. A model of several labels a text has ``labels``, an array of those that are given, most
    probable first, in the place of label and probability.
    """
    asked = prediction(must_be_frame(df).sparkSession, model, probabilities=probabilities)
    return df.withColumn(column, asked(text_of(df, text)))


def explain(
    model: AnyModelOrFile, df: DataFrame, text: str | None = None, *, column: str = "explanation"
) -> DataFrame:
    """The DataFrame with a column of explanations: what each word adds to the log-odds of the answer.

    ``start``, the words and ``remainder`` add up to ``log_odds``, as in `textodds.model.explain.Explanation`.
    Of several labels a text, the most probable is explained.
    """
    asked = explanation(must_be_frame(df).sparkSession, model)
    return df.withColumn(column, asked(text_of(df, text)))


def leave_one_out(
    model: ModelOrFile,
    df: DataFrame,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    *,
    column: str = "left_out",
) -> DataFrame:
    """The DataFrame with a column of what the model of all other rows says of each: exactly, in one pass.

    ``label`` is its answer, ``probability`` that of the answer, ``own`` that of the row's own label: labels
    that look wrong are where it is small. The rows must have been learned, under these labels and weights.
    """
    columns = columns_of(df, text, label, weight, labelled=True)
    name = sent(df.sparkSession, learned(model), counts=True)
    return df.withColumn(column, _udf(LEFT_OUT, _leave_out, name)(*columns.values()))


def register(spark: SparkSession, model: AnyModelOrFile, name: str = "textodds") -> None:
    """Make a model known to SQL, as functions ``<name>_predict`` and ``<name>_explain`` of a text.

    Examples
    --------
    ``SELECT mail_predict(body).label, count(*) FROM messages GROUP BY 1``
    """
    spark.udf.register(f"{name}_predict", prediction(spark, model, probabilities=True))
    spark.udf.register(f"{name}_explain", explanation(spark, model))


def prediction(spark: SparkSession, model: AnyModelOrFile, *, probabilities: bool = False) -> Function:
    """A function of a column of texts to one of predictions."""
    found = any_model_of(model)
    name = sent(spark, found)
    if isinstance(found, MultiLabelModel):
        kind = SEVERAL_PROBABILITIES if probabilities else SEVERAL
        return _udf(kind, _predict_several, name, probabilities)
    wanted = ("probability", "evidence", *(["probabilities"] * probabilities))
    return _udf(PROBABILITIES if probabilities else PREDICTION, _predict, name, wanted)


def shares(spark: SparkSession, model: ModelOrFile) -> Function:
    """A function of a column of texts to one of labels and the probabilities of all classes, in order."""
    return _udf(SHARES, _predict, sent(spark, model_of(model)), ("shares",))


def explanation(spark: SparkSession, model: AnyModelOrFile) -> Function:
    """A function of a column of texts to one of explanations."""
    return _udf(EXPLANATION, _explain, sent(spark, any_model_of(model)))


def _udf(
    kind: str, task: Callable[Concatenate[Iterator[A], P], Columns], *how: P.args, **more: P.kwargs
) -> Function:
    """A function of Spark that is given Arrow arrays, of one column or several, as the task's types say."""
    from pyspark.sql.pandas.functions import arrow_udf  # where its types are known

    told = telling(task, *how, **more)

    def asked(batches: Iterator[A]) -> Columns:
        yield from told(batches)

    given, *_ = (hints := get_type_hints(task)).values()
    asked.__annotations__ = {"batches": given, "return": hints["return"]}
    return arrow_udf(asked, kind)  # type: ignore[call-overload, no-any-return]


def _readable(array: pa.Array) -> tuple[list[str] | pa.Array, Mask]:
    """The texts of an array, empty where there are none, and where that is (N,)."""
    texts, problems = texts_of(array)
    missing = np.zeros(len(array), dtype=bool)
    if problems:
        missing[list(problems)] = True
        texts = ["" if bad else texts[i].as_py() for i, bad in enumerate(missing)]
    return texts, missing


def _predict(arrays: Columns, name: str, wanted: tuple[str, ...]) -> Columns:
    model = loaded(name)
    names, K = pa.array(model.class_names, pa.string()), len(model.classes_)
    for array in arrays:
        texts, missing = _readable(array)
        scores, evidence = model.score_batch(Batch(texts, None, None))
        posterior = np.exp(log_softmax(scores))
        best = scores.argmax(axis=1)
        columns = {"label": names.take(pa.array(best))}
        if "probability" in wanted:
            columns["probability"] = pa.array(posterior[np.arange(len(best)), best])
        if "evidence" in wanted:
            columns["evidence"] = pa.array(evidence[:, 0].astype(np.int32))
        if "probabilities" in wanted:
            columns["probabilities"] = _by_name(names, posterior)
        if "shares" in wanted:
            ends = pa.array(np.arange(len(best) + 1, dtype=np.int32) * K)
            columns["shares"] = pa.ListArray.from_arrays(ends, pa.array(posterior.reshape(-1)))
        yield _struct(columns, missing)


def _predict_several(arrays: Columns, name: str, probabilities: bool) -> Columns:
    model = any_loaded(name)
    assert isinstance(model, MultiLabelModel)
    names = pa.array(model.class_names, pa.string())
    for array in arrays:
        texts, missing = _readable(array)
        scores, evidence = model.score_batch(Batch(texts, None, None))
        p = sigmoid(scores)
        given = model.given(p)
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = order[np.take_along_axis(given, order, axis=1)]  # the rows one after the other
        ends = np.concatenate([[0], np.cumsum(given.sum(axis=1))]).astype(np.int32)
        columns = {
            "labels": pa.ListArray.from_arrays(pa.array(ends), names.take(pa.array(ranked))),
            "evidence": pa.array(evidence[:, 0].astype(np.int32)),
        }
        if probabilities:
            columns["probabilities"] = _by_name(names, p)
        yield _struct(columns, missing)


def _by_name(names: pa.Array, p: Floats) -> pa.Array:
    """Probabilities (N, K) as a map from names in each row."""
    N, K = p.shape
    ends = pa.array(np.arange(N + 1, dtype=np.int32) * K)
    keys = names.take(pa.array(np.tile(np.arange(K), N)))
    return pa.MapArray.from_arrays(ends, keys, pa.array(p.reshape(-1)))


def _explain(arrays: Columns, name: str) -> Columns:
    word = pa.struct([("word", pa.string()), ("count", pa.int32()), ("log_odds", pa.float64())])
    parts = [(part, pa.string() if part in ("label", "rival") else pa.float64()) for part in EXPLAINED]
    kind = pa.struct([*parts, ("words", pa.list_(word))])
    model = any_loaded(name)
    for array in arrays:
        given, missing = _readable(array)
        rows = [None if bad else _why(model, str(text)) for text, bad in zip(given, missing, strict=True)]
        yield pa.array(rows, kind)


def _why(model: ModelOfTexts, text: str) -> dict[str, object]:
    why = model.explain(text)
    found = {part: getattr(why, part) for part in EXPLAINED}
    return {**found, "words": [word._asdict() for word in why.words]}


def _leave_out(batches: Iterator[tuple[pa.Array, ...]], name: str) -> Columns:
    names = pa.array(loaded(name).class_names, pa.string())
    for columns in batches:
        batch, here = _learned(*columns)
        n, answer = len(columns[0]), np.zeros(len(columns[0]), np.int64)
        probability, own, missing = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
        if batch is not None:
            found = without_own(name, batch)
            rows = here[found.rows]
            best = found.log_posterior.argmax(axis=1)
            missing[rows], answer[rows], own[rows] = False, best, np.exp(found.own)
            probability[rows] = np.exp(found.log_posterior.max(axis=1))
        said = {"label": names.take(pa.array(answer))}
        yield _struct(said | {"probability": pa.array(probability), "own": pa.array(own)}, missing)


def _learned(
    texts: pa.Array, labels: pa.Array, weights: pa.Array | None = None
) -> tuple[Batch | None, Integers]:
    """The rows that can have been learned, and where they stand."""
    positions: list[int] = []
    rejects = RowErrors("skip")

    def note(origin: Origin, at: int | str, *why: object, hint: str | None = None) -> None:
        positions.append(int(at))

    rejects.add = note  # type: ignore[method-assign,assignment]
    batch = admit_texts(texts, labels, weights, rejects, Origin("the DataFrame", "row"), lambda at: at)
    return batch, np.delete(np.arange(len(texts)), positions)


def _struct(columns: dict[str, pa.Array], missing: Mask) -> pa.Array:
    fields = [pa.field(name, array.type) for name, array in columns.items()]
    return pa.StructArray.from_arrays(list(columns.values()), fields=fields, mask=pa.array(missing))
