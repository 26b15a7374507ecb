"""What runs on executors: iterators of Arrow batches to iterators of Arrow batches, by the same kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from textodds.data import Batch
from textodds.data.admission import admit_texts
from textodds.data.rejects import Origin, Rejects
from textodds.errors import BadRow, VocabularyPruned
from textodds.model import text_file
from textodds.spark.wire import packed, unpacked
from textodds.stats.hash_sample import HashSample
from textodds.stats.tally import Sum, Tally, TallyBuilder
from textodds.text import TextSettings, Vocabulary

PART = pa.schema([("part", pa.int32()), ("payload", pa.binary())])
"""What tasks hand on: a part of the sum by its number; below zero, what goes beside the counts."""

PART_SPARK = "part int, payload binary"

SAMPLE = pa.schema(
    [("text", pa.large_string()), ("label", pa.string()), ("rows", pa.uint64()), ("weight", pa.uint64())]
)
"""How a sample travels."""


def part_of(part: int, payload: bytes) -> Any:
    """One row of `PART`."""
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int32()), pa.array([payload], pa.binary())], schema=PART
    )


def parts_of(batches: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """The rows of `PART` in batches."""
    for batch in batches:
        for part, payload in zip(batch.column("part"), batch.column("payload"), strict=True):
            yield part.as_py(), payload.as_py()


class RowErrors(Rejects):
    """Bad rows that are counted, since an executor has no place for a file of them."""

    def __init__(self, policy: str) -> None:
        super().__init__(policy, None, "rows")

    def add(self, origin: Origin, at: Any, reason: str, row: str | bytes) -> None:
        """Take note of a bad row; raises `BadRow` where bad rows stop the run."""
        if not self.skips:  # where it stands says little in a DataFrame, so it is shown
            shown = row if isinstance(row, str) else row.decode(errors="backslashreplace")
            raise BadRow(origin.where, at, f"{reason} ({shown[:200]})", origin.unit)
        self.count += 1
        self.reasons[reason] += 1


def admitted(batches: Iterator[Any], rejects: Rejects) -> Iterator[Batch]:
    """The good rows of Arrow batches with a column ``text``, and perhaps ``label`` and ``weight``."""
    origin, first = Origin(f"partition {partition_number()} of the DataFrame", "row"), 1
    for batch in batches:
        columns = {name: batch.column(name) for name in batch.schema.names}
        rows = (columns["text"], columns.get("label"), columns.get("weight"))
        good = admit_texts(*rows, rejects, origin, lambda i, first=first: first + i)  # type: ignore[misc]
        first += batch.num_rows
        if good is not None:
            yield good


def partition_number() -> int:
    """The number of the partition that this task has; 0 outside a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


@dataclass
class Aside:
    """What a pass finds beside the counts: a sample of the texts, and how many rows there were."""

    drawn: HashSample
    rows: int = 0
    rejected: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def merge(self, other: Aside) -> None:
        """Take in that of other rows."""
        self.drawn.merge(other.drawn)
        self.rows += other.rows
        self.rejected += other.rejected
        for reason, rows in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + rows

    def packed(self) -> bytes:
        """As bytes."""
        about = {"rows": self.rows, "rejected": self.rejected, "reasons": self.reasons}
        sample = pa.RecordBatch.from_pydict(self.drawn.columns(), SAMPLE).serialize()
        whole = {"is_whole": self.drawn.is_whole}
        return packed(about | whole, {"sample": np.frombuffer(sample, np.uint8)})

    @classmethod
    def unpacked(cls, data: bytes, size: int) -> Aside:
        """What `packed` made bytes of, of a sample of this size."""
        about, arrays = unpacked(data)
        drawn, sample = HashSample(size), pa.ipc.read_record_batch(pa.py_buffer(arrays["sample"]), SAMPLE)
        drawn.put(sample.to_pydict(), is_whole=about["is_whole"])
        return cls(drawn, about["rows"], about["rejected"], about["reasons"])


@dataclass(frozen=True)
class Count:
    """Counts a partition: its tally in parts, and a sample of its texts.

    Without ``settings`` only the sample is taken.
    """

    settings: dict[str, Any] | None
    bits: int
    memory: int
    size: int  # of the sample
    bad_rows: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The tally of one partition; nothing for one without rows."""
        rejects, aside = RowErrors(self.bad_rows), Aside(HashSample(self.size))
        counting = None
        if self.settings is not None:
            counting = TallyBuilder(TextSettings(**self.settings), threads=1, memory=self.memory)
        for batch in admitted(batches, rejects):
            aside.rows += len(batch)
            if self.size:
                aside.drawn.offer(batch)
            if counting is not None:
                counting.add(batch)
        aside.rejected, aside.reasons = rejects.count, dict(rejects.reasons)
        if aside.rows or aside.rejected:
            sides = (1 << self.bits) // 2 or 1  # so that no task has to read the samples of all
            yield part_of(-1 - partition_number() % sides, aside.packed())
        if counting is not None and aside.rows:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", VocabularyPruned)  # the driver says it once
                tally = counting.finish()
            for number, part in enumerate(tally.cut(self.bits)):
                if part.classes:  # there is nothing in it otherwise
                    yield part_of(number, packed_tally(part))


@dataclass(frozen=True)
class Add:
    """Adds up parts of the same number."""

    bits: int
    memory: int
    size: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Every part once."""
        sums: dict[int, Sum] = {}
        asides: dict[int, Aside | bytes] = {}  # bytes, as they came, until there is more to add
        for part, payload in parts_of(batches):
            if part >= 0:
                share = max(self.memory >> self.bits, 1)
                sums.setdefault(part, Sum(share)).add(tally_of(payload))
            elif part not in asides:
                asides[part] = payload
            else:
                merged = asides[part]
                if isinstance(merged, bytes):
                    merged = Aside.unpacked(merged, self.size)
                merged.merge(Aside.unpacked(payload, self.size))
                asides[part] = merged
        for part, aside in asides.items():
            yield part_of(part, aside if isinstance(aside, bytes) else aside.packed())
        for part, adding in sums.items():
            total = adding.total()
            assert total is not None
            yield part_of(part, packed_tally(total))


def packed_tally(tally: Tally) -> bytes:
    """A tally as bytes."""
    return packed({"classes": tally.classes}, text_file.tally_arrays(tally))


def tally_of(data: bytes) -> Tally:
    """What `packed_tally` made bytes of; whether it fits together is seen when it is added to another."""
    header, arrays = unpacked(data)
    fraction, pruned = arrays["about"].tolist()
    return Tally(
        fraction,
        tuple(header["classes"]),
        arrays["class_documents"].astype(np.int64),
        Vocabulary(arrays["keys"], arrays["arena"]),
        arrays["starts"].astype(np.uint64),
        arrays["class_of"].astype(np.uint32),
        arrays["occurrences"].astype(np.int64),
        arrays["documents"].astype(np.int64),
        pruned,
    )
