"""What training would take on more data and cores than there are here: calculated, not measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MB, GB, TB = 10**6, 10**9, 10**12


@dataclass(frozen=True)
class Measured:
    """What was found on one machine; seconds are those of one core that does nothing else."""

    count_byte: float  # seconds for a byte of text
    count_task: float  # seconds for a task, whatever its rows
    reduce_tally_byte: float  # seconds to add a byte of a tally to the rest
    reduce_sample_byte: float  # seconds to merge a byte of a sample of texts
    driver: float  # seconds of the driver, whatever there is to do
    driver_byte: float  # seconds of the driver for a byte of the tally of all rows
    sample_bytes: float  # of the texts that a task draws
    tally_bytes: float  # of the tally of ``text_bytes`` of texts that do not repeat
    text_bytes: float
    exponent: float  # with which that tally grows with its text
    compressed: float  # bytes that the shuffle writes for one that a task hands on
    spreads: Mapping[int, Sequence[tuple[int, int]]]
    """Parts of tallies and of samples that fall to each task that adds up, by partitions of a shuffle."""

    def tally_of(self, text_bytes: float) -> float:
        """Bytes of the tally of so many bytes of text (Heaps' law)."""
        return self.tally_bytes * (text_bytes / self.text_bytes) ** self.exponent


@dataclass(frozen=True)
class Assumed:
    """What was not measured."""

    partition: float = 256 * MB  # of text in a task
    machine_cores: int = 16
    bandwidth: float = GB  # bytes a second into a machine, by network and disk
    memory: float = 2 << 30  # bytes of a tally at most: textodds drops the rarest words beyond
    launches: float = 1000.0  # tasks a second that the driver starts
    shuffles: int = 2  # partitions of a shuffle for each core, where that is more than Spark's own 200


@dataclass(frozen=True)
class Projection:
    """Seconds of each part of training on so much text by so many cores; one part follows the other."""

    text_bytes: float
    cores: int
    tasks: int
    counting: float
    shuffle: float
    reduce: float
    driver: float
    shuffle_bytes: float

    @property
    def total(self) -> float:
        """Seconds in all."""
        return self.counting + self.shuffle + self.reduce + self.driver

    @property
    def storage(self) -> float:
        """Bytes of text a second that must come from storage while rows are counted."""
        return self.text_bytes / self.counting


def projected(text_bytes: float, cores: int, measured: Measured, assumed: Assumed) -> Projection:
    """How long one pass of counting, adding up and making a model would take.

    Tasks run in waves, one on each core, or as fast as the driver starts them. Then every part of all tallies
    goes to the one task that adds it up; these tasks are as many as the one of `Measured.spreads` has that
    goes with the cores, and the one with most to do is waited for. Nothing fails, no task is slower than
    others, storage is as fast as `Projection.storage`.

    Examples
    --------
    One core at 1 MB/s that has 100 MB in two tasks of 1 s each besides, whose tallies of 10 MB are added up
    at 10 MB/s:

    >>> measured = Measured(1e-6, 1, 1e-7, 0, 1, 0, 0, 10e6, 50e6, 0.0, 1, {1: [(1, 0)]})
    >>> found = projected(100e6, 1, measured, Assumed(partition=50e6, bandwidth=10e6))
    >>> found.counting, found.shuffle, found.reduce, found.driver
    (102.0, 2.0, 2.0, 2.0)
    """
    tasks = math.ceil(text_bytes / assumed.partition)
    each = text_bytes / tasks
    wave = each * measured.count_byte + measured.count_task
    counting = max(math.ceil(tasks / cores) * wave, tasks / assumed.launches)
    tallies = tasks * min(measured.tally_of(each), assumed.memory)
    samples = tasks * measured.sample_bytes
    most = max(assumed.shuffles * cores, min(measured.spreads))
    spread = measured.spreads[max(partitions for partitions in measured.spreads if partitions <= most)]
    parts, sides = (max(1, sum(of)) for of in zip(*spread, strict=True))
    load = [(tallies * p / parts, samples * s / sides) for p, s in spread]
    moved = [measured.compressed * (tally + sample) for tally, sample in load]
    machines = min(max(1, cores // assumed.machine_cores), len(load))
    work = [t * measured.reduce_tally_byte + s * measured.reduce_sample_byte for t, s in load]
    whole = min(measured.tally_of(text_bytes), assumed.memory)
    return Projection(
        text_bytes,
        cores,
        tasks,
        counting,
        max(sum(moved) / machines, max(moved)) / assumed.bandwidth,
        max(sum(work) / cores, max(work)),
        measured.driver + whole * (measured.driver_byte + 1 / assumed.bandwidth),
        sum(moved),
    )
