"""Gaussian models of dense numbers: from rows in memory, and in one pass over a file."""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
from bench import SKLEARN, Bench
from corpora import Missing
from dense import K, Rows, V, batches_of, rows_of
from measure import ChildRun, InProcess, interleaved, run_child
from result import Bar, Result, Table, Target, digits, times
from textodds.data.batch import BATCH_ROWS

OURS = "textodds"

MODELS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "GaussianNB": {SKLEARN: ("GaussianNB", {})},
    "LDA": {
        SKLEARN: ("LinearDiscriminantAnalysis", {}),
        f"{SKLEARN}, lsqr": ("LinearDiscriminantAnalysis", {"solver": "lsqr"}),
    },
    "QDA": {
        SKLEARN: ("QuadraticDiscriminantAnalysis", {}),
        f"{SKLEARN}, eigen": ("QuadraticDiscriminantAnalysis", {"solver": "eigen"}),
    },
}

FASTER = 3.0  # times, in fitting, than the default solver
APART = 1.0  # rows in a million that may get another label, for rounding
BATCHES = 10.0  # what counts as a small multiple of a batch: a limit chosen here
GROUP = 50_000  # rows of a row group of Parquet
GROWTH = 1.1  # what counts as not growing, for four times as many rows


def gaussian(bench: Bench) -> Result:
    N = 100_000 if bench.quick else 1_000_000
    result = Result(
        "gaussian",
        "Gaussian models of numbers",
        f"GaussianNB, LDA and QDA against scikit-learn's of the same name, all with "
        f"their defaults: {N:,} rows of {V} float64 in {K} Gaussian classes of own covariances, made by a "
        "seeded generator. `fit` on all rows, and `predict` of the same rows.",
    )
    try:
        peers.module("sklearn")
        X, y = rows_of(N)
        for model in MODELS:
            _one_model(bench, model, X, y, result)
        del X, y
    except Missing as missing:
        result.skip(str(missing))
        for model in MODELS:
            result.targets.append(Target.times(_claim(model, N), FASTER, None))
    _one_pass(bench, N, result)
    return result


def _one_model(bench: Bench, model: str, X: Rows, y: NDArray[np.int64], result: Result) -> None:
    from textodds.interop import estimators

    print(f"  {model}", flush=True)
    theirs = MODELS[model]
    name = next(iter(theirs.values()))[0]
    made: dict[str, Any] = {OURS: getattr(estimators, name)}
    for who, (_, options) in theirs.items():
        made[who] = lambda options=options: _peer(name, options)
    system: dict[str, list[float]] = {who: [] for who in made}

    def fitted(who: str) -> Any:
        before = os.times().system
        model = made[who]().fit(X, y)
        system[who].append(os.times().system - before)
        return model

    fits = [InProcess(who, lambda _, who=who: fitted(who), times=2 if who == OURS else 1) for who in made]
    for make in made.values():  # whatever is imported or made but once is not to be timed
        make().fit(X[:1000], y[:1000]).predict(X[:1000])
    data = f"{model}, {len(X):,} × {V}"
    fitting = interleaved(fits, bench.rounds)
    answers = [
        InProcess(
            fit.name, lambda _, fitted=fit.result: fitted.predict(X), times=2 if fit.name == OURS else 1
        )
        for fit in fits
    ]
    predicting = interleaved(answers, bench.rounds)
    labels = {who.name: np.asarray(who.result) for who in answers}
    right = {who: float(np.mean(found == y)) for who, found in labels.items()}
    alike = {who: float(np.mean(found == labels[OURS])) for who, found in labels.items()}
    result.record(f"{data}, fit", fitting, accuracy=right, same_answers=alike, system_s=system)
    result.record(f"{data}, predict", predicting)

    if not result.tables:
        columns = (
            "model", "who", "fit CPU s", "best", "of it system", "textodds is faster by",
            "predict CPU s", "best", "textodds is faster by", "accuracy, training rows",
            "same answers as textodds",
        )  # fmt: skip
        result.tables.append(Table("", columns))
    for who in made:
        fit = result.ratio(f"{data}, fit", fitting[who], fitting[OURS])
        predict = result.ratio(f"{data}, predict", predicting[who], predicting[OURS])
        result.tables[0].rows.append(
            (
                model,
                who,
                digits(fitting[who].median()),
                digits(fitting[who].best()),
                digits(statistics.median(system[who])),
                "" if who == OURS else times(fit.value),
                digits(predicting[who].median()),
                digits(predicting[who].best()),
                "" if who == OURS else times(predict.value),
                f"{100 * right[who]:.4f} %",
                "" if who == OURS else f"{100 * alike[who]:.4f} %",
            )
        )
        if who == SKLEARN:
            result.targets.append(Target.times(_claim(model, len(X)), FASTER, fit))
            result.bars.append(Bar(f"fit {data}", SKLEARN, fit.value, FASTER))
            result.bars.append(Bar(f"predict {data}", SKLEARN, predict.value))
    apart = 1e6 * (1 - min(alike.values()))
    result.targets.append(
        Target(
            f"{model}, rows that get another label than scikit-learn's", False, APART, apart, "per million"
        )
    )


def _peer(name: str, options: dict[str, Any]) -> Any:
    from sklearn import discriminant_analysis, naive_bayes

    return getattr(naive_bayes if name == "GaussianNB" else discriminant_analysis, name)(**options)


def _claim(model: str, N: int) -> str:
    return f"fit {model}, {N:,} × {V}, CPU, against scikit-learn's default solver"


BY_HAND = """
import sys
sys.path.insert(0, sys.argv[1])
from dense import batches_of
from textodds.stats.moments import Moments
total = None
for rows, codes in batches_of(int(sys.argv[2]), 16384):
    part = Moments.of(rows, [str(code) for code in codes], full=True)
    total = part if total is None else total + part
"""

TRAIN = """
import sys, textodds
textodds.train(sys.argv[1], learner=sys.argv[2])
"""

TRAIN_BY_SKLEARN = """
import sys, pandas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
path = sys.argv[1]
frame = pandas.read_csv(path) if path.endswith("csv") else pandas.read_parquet(path)
model = GaussianNB() if sys.argv[2] == "gaussian" else LinearDiscriminantAnalysis()
model.fit(frame.drop(columns="label").to_numpy(), frame["label"].to_numpy())
"""

PANDAS = "pandas and scikit-learn"


def _one_pass(bench: Bench, N: int, result: Result) -> None:
    """Peak memory of processes that learn as the rows pass."""
    print("  one pass", flush=True)
    few, small = 200, N // 4
    batch = BATCH_ROWS * V * 8
    columns = ("rows from", "rows", "who", "peak MB", "without imports MB", "in batches", "CPU s", "wall s")
    table = Table("", columns)
    peaks: dict[tuple[str, int], float] = {}  # above the baseline
    whole: dict[tuple[str, int], int] = {}

    def tell(source: str, n: int, who: str, argv: list[str], baseline: int | None) -> ChildRun:
        run = run_child([sys.executable, "-c", *argv])
        above = None if baseline is None else run.peak - baseline
        if n > few:
            if above is not None:
                key = (f"{who} from {source}", n)
                peaks[key], whole[key] = above, run.peak
            table.rows.append(
                (
                    source,
                    f"{n:,}",
                    who,
                    digits(run.peak / 1e6),
                    "" if above is None else digits(above / 1e6),
                    "" if above is None else digits(above / batch),
                    digits(run.cpu),
                    digits(run.wall),
                )
            )
        result.raw.append(
            {
                "data": f"one pass, {source}, {n} rows",
                "contender": who,
                "peak_bytes": run.peak,
                "baseline_bytes": baseline,
                "cpu_s": run.cpu,
                "wall_s": run.wall,
            }
        )
        return run

    def all_sizes(source: str, who: str, argv: dict[int, list[str]]) -> None:
        baseline = tell(source, few, who, argv[few], None).peak
        for n in (small, N):
            tell(source, n, who, argv[n], baseline)

    here = str(Path(__file__).resolve().parent.parent)
    sizes = (few, small, N)
    all_sizes("a generator", "textodds, `Moments`", {n: [BY_HAND, here, str(n)] for n in sizes})
    for kind in ("csv", "parquet"):
        paths = {n: bench.workspace / f"gaussian-{n}.{kind}" for n in sizes}
        for n, path in paths.items():
            _write(path, n)
        source = f"{'CSV' if kind == 'csv' else 'Parquet'}, {paths[N].stat().st_size / 1e6:,.0f} MB"
        for learner in ("gaussian", "lda"):
            all_sizes(source, f"textodds, {learner}", {n: [TRAIN, str(paths[n]), learner] for n in sizes})
            if not bench.quick:
                tell(source, N, f"{PANDAS}, {learner}", [TRAIN_BY_SKLEARN, str(paths[N]), learner], None)
        for path in paths.values():
            path.unlink()
    result.tables.append(table)
    for (who, n), above in peaks.items():
        if n == N:
            claim = f"one pass, {N:,} × {V}, peak memory without imports, {who}"
            result.targets.append(Target(claim, False, BATCHES, above / batch, "batches"))
    growth = max(whole[who, N] / whole[who, small] for who, n in whole if n == N)
    claim = f"one pass, peak memory, {N:,} rows against {small:,}, the largest"
    result.targets.append(Target(claim, False, GROWTH, growth, "times"))
    result.notes += [
        f"“One pass”: a process of its own that adds up `Moments` of batches of {BATCH_ROWS:,} rows from a "
        'generator, or runs `textodds.train(path, learner="gaussian")` or `"lda"` on a file of the same '
        f"rows. A batch is {BATCH_ROWS:,} rows of {V} float64, {digits(batch / 1e6)} MB; all {N:,} rows are "
        f"{N * V * 8 / 1e6:,.0f} MB. Row groups of the Parquet files have {GROUP:,} rows, "
        f"{digits(GROUP * V * 8 / 1e6)} MB. “Without imports” is what the peak is above that of the same "
        f"process with {few} rows. That {BATCHES:g} batches are few, and {GROWTH} times as much is not "
        "growing, are limits chosen here. Parquet is read by pyarrow, which holds a buffer "
        'of 1 MiB and a page or two of every column; `"lda"` chooses its shrinkage on the first batch, '
        "which probably is what it takes more. pandas and scikit-learn read the whole file; peak and "
        "seconds are with imports.",
        "“Of it system” is what the kernel took of the seconds to fit, probably to hand out memory for "
        "copies of all rows; textodds takes rows in blocks. It varies between rounds, and between machines: "
        "without it the ratios are smaller.",
        "Not compared: scikit-learn's `GaussianNB.partial_fit`, which does not give the model of all rows at "
        "once; its LDA and QDA do not learn in batches.",
    ]


def _write(path: Path, N: int) -> None:
    """The rows in a file, with a column of labels."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    names = [*(f"x{v}" for v in range(V)), "label"]
    schema = pa.schema([*((name, pa.float64()) for name in names[:-1]), ("label", pa.string())])
    writer: Any
    if path.suffix == ".csv":
        writer = pa.csv.CSVWriter(path, schema)
    else:
        writer = pa.parquet.ParquetWriter(path, schema)
    with writer:
        for rows, codes in batches_of(N, GROUP):
            labels = pa.array([f"class {code}" for code in codes])
            rounded = rows.round(6)
            columns = [*(pa.array(rounded[:, v]) for v in range(V)), labels]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
