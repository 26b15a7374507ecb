"""What runs on executors: iterators of Arrow batches to iterators of Arrow batches, by the same kernels."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from textodds.data import Batch
from textodds.data.admission import admit_texts
from textodds.data.label_sets import LabelSets, are_lists
from textodds.data.rejects import Origin, Rejects
from textodds.errors import BadRow, VocabularyPruned
from textodds.model.file import tally_arrays
from textodds.spark.wire import packed, unpacked
from textodds.stats.sample import HashSample
from textodds.stats.tally import Sum, Tally, TallyBuilder
from textodds.text import TextSettings, Vocabulary

if TYPE_CHECKING:
    from textodds.spark.wire import Batches

PART = pa.schema([("part", pa.int32()), ("payload", pa.binary())])
"""What tasks hand on: a part of the sum by its number; below zero, what goes beside the counts."""

PART_SPARK = "part int, payload binary"

SAMPLE = pa.schema(
    [("text", pa.large_string()), ("label", pa.string()), ("rows", pa.uint64()), ("weight", pa.uint64())]
)
"""How a sample travels."""


def part_of(part: int, payload: bytes) -> pa.RecordBatch:
    """One row of `PART`."""
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int32()), pa.array([payload], pa.binary())], schema=PART
    )


def parts_of(batches: Batches) -> Iterator[tuple[int, bytes]]:
    """The rows of `PART` in batches."""
    for batch in batches:
        for part, payload in zip(batch.column("part"), batch.column("payload"), strict=True):
            yield part.as_py(), payload.as_py()


class RowErrors(Rejects):
    """Bad rows that are counted, since an executor has no place for a file of them."""

    may_be_kept = False

    def add(
        self, origin: Origin, at: int | str, reason: str, row: str | bytes, *, hint: str | None = None
    ) -> None:
        """Take note of a bad row; raises `BadRow` where bad rows stop the run."""
        if not self.skips:  # where it stands says little in a DataFrame, so it is shown
            shown = row if isinstance(row, str) else row.decode(errors="backslashreplace")
            raise BadRow(origin.where, int(at), f"{reason} ({shown[:200]})", origin.unit, hint=hint)
        self.count += 1
        self.reasons[reason] += 1


def admitted(batches: Batches, rejects: Rejects) -> Iterator[Batch]:
    """The good rows of Arrow batches with a column ``text``, and perhaps ``label`` and ``weight``."""
    origin, first = Origin(f"partition {partition_number()} of the DataFrame", "row"), 1
    for batch in batches:
        columns = {name: batch.column(name) for name in batch.schema.names}
        rows = (columns["text"], columns.get("label"), columns.get("weight"))
        sets = LabelSets() if are_lists(columns.get("label")) else None
        good = admit_texts(*rows, rejects, origin, lambda i, first=first: first + i, sets)  # type: ignore[misc]
        first += batch.num_rows
        if good is not None:
            yield good


def partition_number() -> int:
    """The number of the partition that this task has; 0 outside a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def side_of(partition: int, bits: int) -> int:
    """Where what a partition has beside the counts is merged, so that no task has to read that of all."""
    return partition % ((1 << bits) // 2 or 1)


@dataclass
class Aside:
    """What a pass finds beside the counts: a sample of the texts, and how many rows there were."""

    drawn: HashSample
    rows: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def packed(self) -> bytes:
        """As bytes."""
        about = {"rows": self.rows, "rejected": self.rejected, "reasons": self.reasons}
        sample = pa.RecordBatch.from_pydict(self.drawn.columns(), SAMPLE).serialize()
        whole = {"is_whole": self.drawn.is_whole}
        return packed(about | whole, {"sample": np.frombuffer(sample, np.uint8)})

    def take(self, data: bytes) -> None:
        """Take in that of other rows, which `packed` made bytes of."""
        about, arrays = unpacked(data)
        sample = pa.ipc.read_record_batch(pa.py_buffer(arrays["sample"]), SAMPLE)
        self.drawn.put(sample.to_pydict(), is_whole=about["is_whole"])
        self.rows += about["rows"]
        self.rejected += about["rejected"]
        self.reasons.update(about["reasons"])


def count_rows(
    batches: Batches, settings: dict[str, Any] | None, bits: int, memory: int, size: int, bad_rows: str
) -> Batches:
    """Counts a partition: its tally in parts, and a sample of ``size`` texts; nothing for one without rows.

    Without ``settings`` only the sample is taken.
    """
    rejects, aside = RowErrors(bad_rows), Aside(HashSample(size))
    counting = None
    if settings is not None:
        counting = TallyBuilder(TextSettings(**settings), threads=1, memory=memory)
    for batch in admitted(batches, rejects):
        aside.rows += len(batch)
        if size:
            aside.drawn.offer(batch)
        if counting is not None:
            counting.add(batch)
    aside.rejected, aside.reasons = rejects.count, rejects.reasons
    if aside.rows or aside.rejected:
        yield part_of(-1 - side_of(partition_number(), bits), aside.packed())
    if counting is not None and aside.rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VocabularyPruned)  # the driver says it once
            tally = counting.finish()
        for number, part in enumerate(tally.cut(bits)):
            if part.classes:  # there is nothing in it otherwise
                yield part_of(number, packed_tally(part))


def add_parts(batches: Batches, bits: int, memory: int, size: int) -> Batches:
    """Adds up parts of the same number."""
    sums: dict[int, Sum] = {}
    asides: dict[int, Aside | bytes] = {}  # bytes, as they came, until there is more to add
    for part, payload in parts_of(batches):
        if part >= 0:
            share = max(memory >> bits, 1)
            sums.setdefault(part, Sum(share)).add(tally_of(payload))
        elif part not in asides:
            asides[part] = payload
        else:
            merged = asides[part]
            if isinstance(merged, bytes):
                first, merged = merged, Aside(HashSample(size))
                merged.take(first)
                asides[part] = merged
            merged.take(payload)
    for part, aside in asides.items():
        yield part_of(part, aside if isinstance(aside, bytes) else aside.packed())
    for part, adding in sums.items():
        total = adding.total()
        assert total is not None
        yield part_of(part, packed_tally(total))


def packed_tally(tally: Tally) -> bytes:
    """A tally as bytes."""
    return packed({"classes": tally.classes}, tally_arrays(tally))


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
