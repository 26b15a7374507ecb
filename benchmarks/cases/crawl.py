"""Many files of Parquet, classified by models of fastText: ours, converted, and fastText itself."""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

import peers
from bench import Bench
from corpora import Missing
from measure import Child, interleaved, run_child
from result import Bar, Result, Table, Target, digits, times

FILES = 8
ASKED = {"words": 300.0, "pairs": 150.0}  # MB of text in a second of CPU
FASTER, SHARE = 10.0, 0.1  # than fastText with pairs, and of its memory

ALONE, WHOLE, FASTTEXT = "textodds, --keep id", "textodds, all columns", "fastText, id and answer"

TRAIN = """
import sys
import fasttext

lines, path, ngrams = sys.argv[1:]
fasttext.train_supervised(lines, thread=1, verbose=0, epoch=2, wordNgrams=int(ngrams)).save_model(path)
"""

# What a careful user writes: batches of rows, the texts of which are one line each.
BY_FASTTEXT = """
import glob, os, sys
import fasttext
import pyarrow as pa
from pyarrow import parquet

model = fasttext.load_model(sys.argv[1])
os.makedirs(sys.argv[3], exist_ok=True)
for path in sorted(glob.glob(sys.argv[2])):
    with parquet.ParquetWriter(os.path.join(sys.argv[3], os.path.basename(path)), pa.schema(
        [("id", pa.int64()), ("label", pa.string()), ("probability", pa.float64())]
    )) as out:
        for batch in parquet.ParquetFile(path).iter_batches(4096, columns=["id", "text"], use_threads=False):
            texts = [text.replace("\\n", " ") for text in batch.column("text").to_pylist()]
            labels, shares = model.predict(texts)
            answers = [[each[0] for each in labels], [float(each[0]) for each in shares]]
            out.write_batch(pa.record_batch([batch.column("id"), *answers], schema=out.schema))
"""


class Anew(Child):
    """A command that finds nothing of what it wrote before: a run skips files that are finished."""

    def __init__(self, name: str, out: Path, argv: list[str], rounds: int | None = None) -> None:
        super().__init__(name, argv, rounds=rounds)
        self._out = out

    def time(self) -> tuple[float, float]:
        shutil.rmtree(self._out, ignore_errors=True)
        spent = super().time()
        assert any(self._out.glob("*.parquet")), "nothing was written"
        return spent


def crawl(bench: Bench) -> Result:
    """Text in a second of CPU, and memory, of whole processes that answer a folder of Parquet."""
    result = Result(
        "crawl",
        "Many files, by a model of fastText",
        "Parquet files of the texts of IMDB with an id, classified by a model of two labels from fastText: "
        "`textodds predict MODEL 'in/*.parquet' -o out/` in one process and one thread, the model converted "
        "by `textodds from-fasttext`, and fastText on batches of 4,096 rows. CPU time and memory of whole "
        "processes, megabytes of text.",
    )
    columns = ("model", "who", "CPU s", "MB per CPU s", "peak MB", "textodds (`--keep id`) is faster by")
    table = Table("", columns)
    result.tables.append(table)
    try:
        peers.module("fasttext")
        size = _write(bench)
        for kind, ngrams in (("words", 1), ("pairs", 2)):
            _measure(bench, kind, ngrams, size, result, table)
    except Missing as missing:
        result.skip(str(missing))
        return result
    result.notes.append(
        f"The files have {size / 1e6:,.0f} MB of text in all. Of fastText the conversion of its lists to "
        "Python's is measured too, which its own command has not: but that reads no Parquet."
    )
    return result


def _write(bench: Bench) -> int:
    """The files, each with all texts in another order, and lines to train on; the bytes of text."""
    import pyarrow as pa
    from pyarrow import parquet

    corpus, shuffler = bench.corpora["imdb"], random.Random(1)
    texts = [*corpus.train.texts, *corpus.test.texts]
    folder = bench.workspace / "in"
    folder.mkdir(exist_ok=True)
    for number in range(1 if bench.quick else FILES):
        shuffler.shuffle(texts)
        parquet.write_table(pa.table({"id": range(len(texts)), "text": texts}), folder / f"{number}.parquet")
    with (bench.workspace / "lines.txt").open("w", encoding="utf-8") as lines:
        for text, label in zip(corpus.train.texts, corpus.train.labels, strict=True):
            lines.write(f"__label__{label} {' '.join(text.split())}\n")
    return sum(len(text.encode()) for text in texts) * len(list(folder.iterdir()))


def _measure(bench: Bench, kind: str, ngrams: int, size: int, result: Result, table: Table) -> None:
    print(f"  {kind}", flush=True)
    folder = bench.workspace
    theirs, ours = folder / f"{kind}.bin", folder / f"{kind}.textodds"
    # The wheel reads memory that it has not written; glibc fills new memory with zeros for 255.
    train = [sys.executable, "-W", "ignore", "-c", TRAIN, str(folder / "lines.txt"), str(theirs), str(ngrams)]
    run_child(train, env={"MALLOC_PERTURB_": "255"})
    command = str(Path(sys.executable).with_name("textodds"))
    run_child([command, "from-fasttext", str(theirs), "-o", str(ours)])
    files = os.fspath(folder / "in" / "*.parquet")
    out = folder / "out"
    predict = [command, "predict", str(ours), files, "-o", f"{out}/", "--workers", "1", "--threads", "1"]
    by_fasttext = [sys.executable, "-W", "ignore", "-c", BY_FASTTEXT, str(theirs), files, str(out)]
    contenders = [
        Anew(ALONE, out, [*predict, "--quiet", "--keep", "id"]),
        Anew(WHOLE, out, [*predict, "--quiet"]),
        Anew(FASTTEXT, out, by_fasttext, rounds=2),
    ]
    series = interleaved(contenders, bench.rounds)
    peaks = {each.name: max(run.peak for run in each.runs) / 1e6 for each in contenders}
    result.record(kind, series, peak_mb=peaks)
    speed = {who: size / 1e6 / seconds.median() for who, seconds in series.items()}
    for who, seconds in series.items():
        ratio = result.ratio(kind, seconds, series[ALONE])
        faster = times(ratio.value) if who == FASTTEXT else ""
        cells = (digits(seconds.median()), digits(speed[who]), digits(peaks[who]))
        table.rows.append((kind, who, *cells, faster))
    ratio = result.ratio(kind, series[FASTTEXT], series[ALONE])
    result.bars.append(Bar(f"many files, {kind}", "fastText", ratio.value, FASTER if ngrams > 1 else None))
    claim = f"many files, {kind}: MB of text in a CPU second"
    result.targets.append(Target(claim, True, ASKED[kind], speed[ALONE], "MB"))
    if ngrams > 1:
        result.targets += [
            Target.times(f"many files, {kind}, CPU, against fastText", FASTER, ratio),
            Target(
                f"many files, {kind}: share of fastText's memory",
                False,
                SHARE,
                peaks[ALONE] / peaks[FASTTEXT],
                "of it",
            ),
        ]
