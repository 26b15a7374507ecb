"""A program: what training costs as rows, classes and partitions grow, and what travels between tasks."""

from __future__ import annotations

import bisect
import itertools
import random
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import textodds.spark
from corpora import Part
from measure import interleaved
from sparking.names import BAYES
from sparking.program import main
from sparking.session import OnSpark, about, stages, started
from textodds import TextSettings
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import recipe_of
from textodds.model.text_model import TextModel
from textodds.spark.count import bits_of
from textodds.spark.dataframes import rows_of
from textodds.spark.tasks import PART_SPARK, count_rows, packed_tally, tally_of
from textodds.spark.wire import telling
from textodds.stats.sample import SAMPLE
from textodds.stats.tally import MEMORY, Sum, Tally

SHUFFLE_PARTITIONS = (200, 2000)  # Spark's own, and what is usual with a thousand cores
BITS = bits_of(str(SHUFFLE_PARTITIONS[0]))
SMALLEST = 1 << 20  # bytes of text that vocabularies are first looked at


@dataclass
class Trained(OnSpark):
    """Training as a contender, whose stages are kept run by run."""

    about: dict[str, Any] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def time(self) -> tuple[float, float]:
        before = max(stages(self.spark), default=-1)
        cpu, wall = super().time()
        # That workers were woken is a stage, too, but nothing is shuffled there.
        own = [stage for stage in stages(self.spark, before).values() if stage.written or stage.read]
        self.runs.append({"cpu": cpu, "wall": wall, "stages": [asdict(stage) for stage in own]})
        self.about["tally_bytes"] = size_of(self.result.tally)
        return cpu, wall


def scaling(order: dict[str, Any]) -> dict[str, Any]:
    """Costs by rows, classes and partitions; bytes by task; how tallies grow on texts that do not repeat."""
    spark = started(Path(order["scratch"]))
    # One file makes one partition; `coalesce` takes some together without moving rows.
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(order["largest_file"]))
    usual = order["usual"]
    contenders = [
        *(_by_rows(spark, order, share) for share in order["shares"]),
        *(
            _trained(spark, _rows(spark, order, usual), {"by": "classes", "classes": n}, label=f"label_{n}")
            for n in order["classes"]
        ),
        *(
            _trained(spark, _rows(spark, order, n), {"by": "partitions", "sampled": calibrate}, calibrate)
            for n in order["partitions"]
            for calibrate in (True, False)
        ),
    ]
    interleaved(contenders, order["rounds"])
    return {
        "about": about(),
        "runs": [{**who.about, "name": who.name, "runs": who.runs} for who in contenders],
        "sizes": [_sizes(spark, _rows(spark, order, n)) for n in order["partitions"]],
        "spreads": {partitions: _spread(spark, partitions) for partitions in SHUFFLE_PARTITIONS},
        "growth": growth([Part(Path(path)) for path in order["distinct"]], order["growth_classes"]),
    }


def _rows(spark: Any, order: dict[str, Any], partitions: int, share: float = 1) -> Any:
    """A share of the rows in so many partitions."""
    files = order["files"][: max(1, round(share * len(order["files"])))]
    rows = spark.read.parquet(*files)
    return (rows.union(rows) if share == 2 else rows).coalesce(partitions)


def _by_rows(spark: Any, order: dict[str, Any], share: float) -> Trained:
    rows = _rows(spark, order, max(1, round(share * order["usual"])), share)
    return _trained(spark, rows, {"by": "rows", "share": share})


def _trained(
    spark: Any, rows: Any, told: dict[str, Any], calibrate: bool = True, label: str = "label"
) -> Trained:
    told["partitions"] = rows.rdd.getNumPartitions()
    name = ", ".join(f"{key} {value}" for key, value in told.items())
    job = partial(textodds.spark.train, rows, "text", label, learner=BAYES, calibrate=calibrate)
    return Trained(name, job, spark, is_cold=False, about=told)


def _sizes(spark: Any, rows: Any) -> dict[str, Any]:
    """What tasks hand on, in bytes: tallies, and samples of texts."""
    counting = telling(count_rows, TextSettings().as_dict(), BITS, MEMORY, SAMPLE, "stop")
    parts = rows_of(rows, "text", "label", labelled=True).mapInArrow(counting, PART_SPARK)
    found = parts.selectExpr("part", "octet_length(payload) bytes").collect()
    return {
        "tasks": rows.rdd.getNumPartitions(),
        "tally_bytes": sum(row.bytes for row in found if row.part >= 0),
        "sample_bytes": sum(row.bytes for row in found if row.part < 0),
    }


def _spread(spark: Any, partitions: int) -> list[tuple[int, int]]:
    """Parts of tallies and of samples that fall to each task which adds up, if it has any."""
    bits = bits_of(str(partitions))
    parts = spark.range(-(1 << bits >> 1), 1 << bits).selectExpr("cast(id as int) part")
    placed = parts.repartition(partitions, "part").selectExpr("spark_partition_id() at", "part")
    found: dict[int, tuple[int, int]] = {}
    for row in placed.collect():
        tallies, samples = found.get(row.at, (0, 0))
        found[row.at] = (tallies + (row.part >= 0), samples + (row.part < 0))
    return sorted(found.values())


def growth(parts: Sequence[Part], classes: int) -> list[dict[str, float]]:
    """Words and bytes of the tally of more and more texts, each once, and CPU seconds of the kernel for them.

    The labels are made up.
    """
    texts = [text for part in parts for text in part.texts]
    random.Random(0).shuffle(texts)
    labels = [f"class {zlib.crc32(text.encode()) % classes}" for text in texts]
    ends = list(itertools.accumulate(len(text.encode()) for text in texts))
    tally, start, seconds, due, found = None, 0, 0.0, SMALLEST, []
    while start < len(texts):
        stop = min(bisect.bisect(ends, due) + 1, len(texts))
        begin = time.process_time()
        some = Tally.of(texts[start:stop], labels[start:stop], threads=1)
        seconds += time.process_time() - begin
        tally = some if tally is None else tally + some
        found.append(
            {
                "text_bytes": ends[stop - 1],
                "words": len(tally.vocabulary),
                "tally_bytes": size_of(tally),
                "kernel_seconds": seconds,
                "driver_seconds": _driver(tally),
            }
        )
        start, due = stop, 2 * due
    return found


def _driver(tally: Tally) -> float:
    """Seconds to make a model of a tally that comes in parts, as the driver does."""
    parts = [packed_tally(part) for part in tally.cut(BITS) if part.classes]
    begin, adding = time.perf_counter(), Sum()
    for part in parts:
        adding.add(tally_of(part))
    whole = adding.total()
    assert whole is not None
    TextModel.of_tally(whole, recipe_of(MultinomialLearner(alpha=1.0)), {}, threads=1)
    return time.perf_counter() - begin


def size_of(tally: Tally) -> int:
    """Bytes of a tally as tasks hand it on, in parts."""
    return sum(len(packed_tally(part)) for part in tally.cut(BITS) if part.classes)


if __name__ == "__main__":
    main(scaling)
