"""One pass over a DataFrame: its tally, and a sample of its texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textodds.spark.dataframes import collected
from textodds.spark.tasks import PART_SPARK, Aside, add_parts, count_rows, tally_of
from textodds.spark.wire import telling
from textodds.stats.sample import HashSample
from textodds.stats.tally import Sum, Tally, warn_pruned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from textodds.text import TextSettings

FEWEST, MOST = 5, 10
"""Sums are taken in 2^5 parts at least, and 2^10 at most; each part costs every task a little."""


@dataclass(frozen=True, eq=False)
class CountResult:
    """What a pass has found; ``tally`` is None where only a sample was wanted, or there were no rows."""

    tally: Tally | None
    aside: Aside


def bits_of(partitions: str | None) -> int:
    """In how many parts sums are taken, as a power of two, where a shuffle has so many partitions.

    Whoever has many cores has told Spark to have many; a quarter to an eighth of them is used.

    Examples
    --------
    >>> bits_of("200"), bits_of("2000"), bits_of("auto")
    (5, 8, 5)
    """
    tasks = int(partitions) if partitions is not None and partitions.isdecimal() else 0
    return min(max(FEWEST, (tasks // 8).bit_length()), MOST)


def bits_on(df: DataFrame) -> int:
    """`bits_of` as many partitions as a shuffle has where a DataFrame is."""
    return bits_of(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))


def count(
    rows: DataFrame, settings: TextSettings | None, *, memory: int, size: int, bad_rows: str = "stop"
) -> CountResult:
    """The tally of a DataFrame, and a sample of ``size`` texts; `rows_of` names the columns.

    Each task counts its partition and cuts the tally by the hashes of words; Spark brings parts of the same
    range together, where they are added up. So each count travels once, and the driver gets one tally.
    """
    plain = None if settings is None else settings.as_dict()
    bits = bits_on(rows)
    counted = rows.mapInArrow(telling(count_rows, plain, bits, memory, size, bad_rows), PART_SPARK)
    added = counted.repartition("part").mapInArrow(telling(add_parts, bits, memory, size), PART_SPARK)
    adding, aside = Sum(memory), Aside(HashSample(size))
    for part, payload in sorted(collected(added), key=lambda row: row[0]):
        if part >= 0:
            adding.add(tally_of(payload))
        else:
            aside.take(payload)
    tally = adding.total()
    if tally is not None and tally.pruned:
        warn_pruned(memory, tally.pruned, stacklevel=5)
    return CountResult(tally, aside)
