"""Parquet of as many bytes of text as are wanted: shuffled copies of a corpus."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpora import Part

ROW_GROUP = 20_000


@dataclass(frozen=True)
class Replicated:
    """Files of Parquet, and what is in them."""

    paths: tuple[Path, ...]
    copies: int
    rows: int
    text_bytes: int  # UTF-8, as it is in memory
    parquet_bytes: int


def replicated(
    part: Part, folder: Path, *, size: float, files: int, made_up: Sequence[int] = ()
) -> Replicated:
    """Copies of a corpus, each in another order, as files of equal rows; about ``size`` bytes of text.

    ``made_up`` asks for columns ``label_K`` beside, of K classes that depend on the text alone.
    """
    folder.mkdir()
    columns = {"text": pa.array(part.texts, pa.string()), "label": pa.array(part.labels, pa.string())}
    for classes in made_up:
        numbers = (zlib.crc32(text.encode()) % classes for text in part.texts)
        columns[f"label_{classes}"] = pa.array([f"class {k}" for k in numbers], pa.string())
    corpus = pa.table(columns)
    copies, rng = max(1, round(size / part.size)), np.random.default_rng(0)
    order = np.concatenate([rng.permutation(len(corpus)) for _ in range(copies)])
    paths = []
    for number, rows in enumerate(np.array_split(order, files)):
        path = folder / f"part-{number:03}.parquet"
        pq.write_table(corpus.take(pa.array(rows)), path, compression="zstd", row_group_size=ROW_GROUP)
        paths.append(path)
    return Replicated(
        tuple(paths),
        copies,
        len(order),
        copies * part.size,
        sum(path.stat().st_size for path in paths),
    )
