"""How good a model is on a DataFrame: sums that tasks take and Spark adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textodds.data import Batch
from textodds.judge.evaluation import Evaluation, EvaluationSums
from textodds.learn.forms.linear import log_softmax
from textodds.model.leave_one_out import LeaveOneOut, LeftOut, left_out
from textodds.spark.count import bits_on
from textodds.spark.dataframes import collected, rows_of
from textodds.spark.models import ModelOrFile, loaded, model_of, sent
from textodds.spark.tasks import PART_SPARK, RowErrors, admitted, part_of, partition_number, parts_of, side_of
from textodds.spark.wire import packed, telling, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from textodds.model.text_model import TextModel
    from textodds.spark.wire import Batches


def evaluate(
    model: ModelOrFile,
    df: DataFrame,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    *,
    left_out: bool = False,
    bad_rows: str = "stop",
) -> Evaluation:
    """Measured quality on the rows of a DataFrame, as `TextModel.evaluate` has it.

    With ``left_out`` the rows are those that the model has learned, each measured under the model of all
    others; ``weight`` is then the column of the weights they were learned with.
    """
    rows = rows_of(df, text, label, weight if left_out else None, labelled=True)
    found = learned(model) if left_out else model_of(model)
    name = sent(rows.sparkSession, found, counts=left_out)
    measured = rows.mapInArrow(telling(_measure, name, left_out, bits_on(rows), bad_rows), PART_SPARK)
    merged = measured.repartition("part").mapInArrow(telling(_merge, found.class_names), PART_SPARK)
    return _merged(sorted(collected(merged)), found.class_names).finish()


def learned(model: ModelOrFile) -> TextModel:
    """A model from which documents can be left out."""
    found = model_of(model)
    LeaveOneOut(found.tally, found.recipe)  # refuses others
    return found


def _measure(batches: Batches, name: str, left_out: bool, bits: int, bad_rows: str) -> Batches:
    """The sums of one partition, by the model that was sent under a name."""
    model = loaded(name)
    measuring = EvaluationSums(model.class_names)
    for batch in admitted(batches, RowErrors(bad_rows)):
        scores, evidence = model.score_batch(batch)
        labels = batch.label_list()
        if left_out:
            found = without_own(name, batch)
            labels = [labels[row] for row in found.rows.tolist()]
            measuring.add(labels, found.log_posterior, evidence[found.rows])
        else:
            measuring.add(labels, log_softmax(scores), evidence)
    if measuring.n:
        yield part_of(side_of(partition_number(), bits), _packed(measuring))


def _merge(batches: Batches, classes: Sequence[str]) -> Batches:
    """One sum for all that came."""
    total = _merged(parts_of(batches), classes)
    if total.n:
        yield part_of(partition_number(), _packed(total))


def _merged(parts: Iterable[tuple[int, bytes]], classes: Sequence[str]) -> EvaluationSums:
    total = EvaluationSums(classes)
    for _, payload in parts:
        header, arrays = unpacked(payload)
        header["confusion"] = Counter({(label, answer): rows for label, answer, rows in header["confusion"]})
        total.merge(EvaluationSums(**header, bins=arrays["bins"]))
    return total


def without_own(name: str, batch: Batch) -> LeftOut:
    """What the model that was sent says of documents it has learned, each without its own counts."""
    return left_out(loaded(name), [batch], _without(name))


@lru_cache(maxsize=2)
def _without(name: str) -> LeaveOneOut:
    model = loaded(name)
    return LeaveOneOut(model.tally, model.recipe)


def _packed(measuring: EvaluationSums) -> bytes:
    about = {name: getattr(measuring, name) for name in ("n", "no_evidence", "known", "loss", "squares")}
    confusion = [[*pair, rows] for pair, rows in measuring.confusion.items()]
    return packed({**about, "classes": measuring.classes, "confusion": confusion}, {"bins": measuring.bins})
