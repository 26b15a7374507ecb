"""Peak memory while training from files larger than it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import shutil
import sys
from pathlib import Path

from bench import Bench
from corpora import Corpus, Missing
from measure import ChildRun, run_child
from result import Result, Table, Target, digits

TRAIN = """
import json, sys, textodds
model = textodds.train(sys.argv[1], learner='multinomial')
vocabulary = model.vocabulary
print(json.dumps([len(vocabulary), vocabulary.keys.nbytes + vocabulary.arena.nbytes]))
"""

# What training needs to be imported, on a file of two rows.
BASELINE = "import sys, textodds; textodds.train(sys.argv[1], learner='multinomial')"

TRAIN_BY_SKLEARN = """
import json, sys, pandas
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
frame = pandas.read_csv(sys.argv[1], keep_default_na=False, dtype=str)
vectorizer = CountVectorizer()
MultinomialNB().fit(vectorizer.fit_transform(frame["text"]), frame["label"])
print(json.dumps([len(vectorizer.vocabulary_), 0]))
"""

MOST = 400e6
GROWTH = 1.1  # what counts as not growing, for a file four or five times larger


def memory(bench: Bench) -> Result:
    small, large = (50e6, 200e6) if bench.quick else (250e6, 1e9)
    result = Result(
        "memory",
        "Peak memory",
        "Largest resident memory of a process that trains from a CSV file, threads by default. The files "
        "repeat the training rows of IMDB, so that the vocabulary is the same in all.",
    )
    limit = f"peak memory, training from {_named(large)}, imports and vocabulary included"
    growth = f"peak memory, {_named(large)} against {_named(small)}"
    columns = ("file", "who", "peak MB", "without imports MB", "words", "CPU s", "wall s", "MB per CPU s")
    table = Table("", columns)
    tiny = bench.workspace / "tiny.csv"
    tiny.write_text("label,text\na,one\nb,two\n")
    baseline = run_child([sys.executable, "-c", BASELINE, str(tiny)])
    peaks = {}
    try:
        rows = _encoded(bench.corpora["imdb"])
        for size in (small, large) if bench.quick else (small, large, 2 * large):
            path = bench.workspace / f"{_named(size).replace(' ', '')}.csv"
            _write(rows, path, size)
            runs = [
                run_child([sys.executable, "-c", TRAIN, str(path)]) for _ in range(1 if bench.quick else 2)
            ]
            run = max(runs, key=lambda run: run.peak)
            peaks[size] = run.peak
            result.raw.append({"file": _named(size), "peaks_of_runs": [run.peak for run in runs]})
            _tell(result, table, path, "textodds", run, baseline.peak)
            if size == small and not bench.quick:
                theirs = run_child([sys.executable, "-c", TRAIN_BY_SKLEARN, str(path)])
                _tell(result, table, path, "pandas and scikit-learn", theirs, 0)
            path.unlink()
    except Missing as missing:
        result.skip(str(missing))
        result.targets.append(Target(limit, False, MOST / 1e6, None, "MB"))
        result.targets.append(Target(growth, False, GROWTH, None, "times"))
        return result
    result.tables.append(table)
    result.targets.append(Target(limit, False, MOST / 1e6, peaks[large] / 1e6, "MB"))
    result.targets.append(Target(growth, False, GROWTH, peaks[large] / peaks[small], "times"))
    result.notes.append(
        f"A process that trains on two short rows peaks at {digits(baseline.peak / 1e6)} MB: that is Python "
        "and what it imports. The target allows 400 MB and the vocabulary; it is judged here on the whole "
        f"process. “Not growing” is taken as at most {GROWTH} times, for a file {large / small:.0f} times "
        "larger: a limit chosen here. The largest file shows whether the peak levels off."
    )
    return result


def _named(size: float) -> str:
    return f"{size / 1e9:g} GB" if size >= 1e9 else f"{size / 1e6:g} MB"


def _encoded(corpus: Corpus) -> list[bytes]:
    """The rows of a corpus as lines of CSV."""
    lines = []
    for text, label in zip(corpus.train.texts, corpus.train.labels, strict=True):
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow((label, text))
        lines.append(line.getvalue().encode())
    return lines


def _write(rows: list[bytes], path: Path, size: float) -> None:
    """Write a file of so many bytes, up to part of a row, that repeats these rows."""
    if shutil.disk_usage(path.parent).free < 2 * size:
        raise Missing(f"not enough room in {path.parent} for a file of {_named(size)}")
    with path.open("wb") as file:
        written = file.write(b"label,text\n")
        for row in itertools.cycle(rows):
            if written + len(row) > size:
                return
            written += file.write(row)


def _tell(result: Result, table: Table, path: Path, who: str, run: ChildRun, baseline: int) -> None:
    words, vocabulary = json.loads(run.out)
    size = path.stat().st_size
    table.rows.append(
        (
            f"{size / 1e6:,.0f} MB",
            who,
            digits(run.peak / 1e6),
            digits((run.peak - baseline) / 1e6) if baseline else "",
            f"{words:,}",
            digits(run.cpu),
            digits(run.wall),
            digits(size / 1e6 / run.cpu),
        )
    )
    result.raw.append(
        {
            "file_bytes": size,
            "contender": who,
            "peak_bytes": run.peak,
            "baseline_bytes": baseline,
            "vocabulary_bytes": vocabulary,
            "cpu_s": run.cpu,
            "wall_s": run.wall,
        }
    )
