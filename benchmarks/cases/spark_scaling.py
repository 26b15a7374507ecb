"""What training on Spark costs as rows, classes and partitions grow, and what that makes of larger data."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from bench import Bench
from corpora import Missing
from result import Result, Table, Target, digits
from sparking.program import found_by, must_have_spark
from sparking.projection import TB, Assumed, Measured, projected
from sparking.replicated import Replicated, replicated

DATA = "ag_news_subset"
DISTINCT = ("ag_news_subset", "imdb")
SIZE, QUICK_SIZE = 500e6, 20e6  # bytes of text
SHARES = (1 / 8, 1 / 4, 1 / 2, 1, 2)
CLASSES = (4, 40, 400)
PARTITIONS, QUICK_PARTITIONS = (4, 16, 64, 256), (2, 8, 16)
USUAL, QUICK_USUAL = 16, 8
LARGER, CORES = (TB, 100 * TB), (10, 100, 1000)
SIZES_OF_TASKS = (256e6, 1e9)
FLAT = 1.1
CLAIM = "training on Spark: CPU of an added gigabyte, from once to twice the data against up to it"


def scaling(bench: Bench) -> Result:
    result = Result(
        "spark-scaling",
        "Training on Spark: how costs grow",
        "`textodds.spark.train` of multinomial naive Bayes on copies of the AG News subset, in one session "
        "of Spark on this machine (`local[2]`). Partitions grow in number with rows, and so stay as large; "
        "classes are made up, by a hash of the text. Medians of rounds that took turns. A job has a "
        "stage that counts (a task for each partition), one that adds up what tasks hand on, and what the "
        "driver does before and after.",
    )
    try:
        must_have_spark()
        data, order = _order(bench, result)
    except Missing as missing:
        result.skip(str(missing))
        result.targets.append(Target(CLAIM, False, FLAT, None, "times"))
        return result
    found = found_by("scaling", order, bench.workspace)
    runs, first = [_medians(one, data) for one in found["runs"]], found["runs"][0]["runs"][0]
    told = ("copies", "rows", "text_bytes", "parquet_bytes")
    result.raw.append({**{name: getattr(data, name) for name in told}, **found, "runs": runs})
    result.notes.append(
        f"{data.rows:,} rows, {digits(data.text_bytes / 1e6)} MB of text, "
        f"{digits(data.parquet_bytes / 1e6)} MB as Parquet. Spark {found['about']['pyspark']}, "
        f"{found['about']['java']}. A first round is left out, in which the JVM has yet to compile; the "
        f"first training of all took {digits(first['cpu'])} s of CPU and {digits(first['wall'])} s."
    )
    _growing(result, runs)
    _bytes(result, runs, found["sizes"], data)
    _growth(result, found["growth"])
    measured = constants(runs, found)
    result.raw.append({"projection": {"measured": asdict(measured), "assumed": asdict(Assumed())}})
    _projected(result, measured)
    return result


def _order(bench: Bench, result: Result) -> tuple[Replicated, dict[str, Any]]:
    """The data, and what the program is told."""
    print("  writing Parquet", flush=True)
    partitions = QUICK_PARTITIONS if bench.quick else PARTITIONS
    data = replicated(
        bench.corpora[DATA].train,
        bench.workspace / "spark-scaling",
        size=QUICK_SIZE if bench.quick else SIZE,
        files=max(partitions),
        made_up=CLASSES,
    )
    distinct = []
    for name in DISTINCT:
        try:
            distinct += [str(part.path) for part in (bench.corpora[name].train, bench.corpora[name].test)]
        except Missing as missing:
            result.skip(str(missing))
    return data, {
        "files": [str(path) for path in data.paths],
        "largest_file": max(path.stat().st_size for path in data.paths),
        "usual": QUICK_USUAL if bench.quick else USUAL,
        "shares": SHARES,
        "classes": CLASSES,
        "partitions": partitions,
        "rounds": 1 + min(3, bench.rounds),
        "distinct": distinct,
        "growth_classes": CLASSES[0],
    }


def _medians(one: dict[str, Any], data: Replicated) -> dict[str, Any]:
    """A contender with the medians of its runs but the first: seconds in all and by stage, and bytes."""
    later = one["runs"][1:]

    def median(of: Any) -> float:
        return float(statistics.median(of(run) for run in later))

    def stage(name: str, *, adding: bool) -> float:
        return median(lambda run: sum(s[name] for s in run["stages"] if (s["read"] > 0) == adding))

    return {
        **one,
        "text_bytes": data.text_bytes * one.get("share", 1),
        "cpu": median(lambda run: run["cpu"]),
        "wall": median(lambda run: run["wall"]),
        "counting": stage("seconds", adding=False),
        "counting_tasks": stage("task_seconds", adding=False),
        "adding": stage("seconds", adding=True),
        "adding_tasks": stage("task_seconds", adding=True),
        "driver": median(lambda run: run["wall"] - sum(s["seconds"] for s in run["stages"])),
        "shuffled": stage("written", adding=False),
    }


def _growing(result: Result, runs: list[dict[str, Any]]) -> None:
    for by in ("rows", "classes", "partitions"):
        columns = (f"by {by}", "text MB", "partitions", "CPU s", "CPU s per GB", "range", "wall s",
                   "counting s", "adding up s", "driver s", "shuffled MB", "tally MB")  # fmt: skip
        table = Table(f"By {by}", columns)
        for run in _of(runs, by):
            name = {"rows": f"{run.get('share', 1):g} of the data", "classes": str(run.get("classes"))}.get(
                by,
                str(run["partitions"]) + ("" if run.get("sampled", True) else ", without a sample of texts"),
            )
            gigabytes = run["text_bytes"] / 1e9
            each = [one["cpu"] / gigabytes for one in run["runs"][1:]]
            table.rows.append(
                (
                    name,
                    digits(run["text_bytes"] / 1e6),
                    str(run["partitions"]),
                    digits(run["cpu"]),
                    digits(run["cpu"] / gigabytes),
                    f"{digits(min(each))} – {digits(max(each))}",
                    *(digits(run[part]) for part in ("wall", "counting", "adding", "driver")),
                    *(digits(run[part] / 1e6) for part in ("shuffled", "tally_bytes")),
                )
            )
        result.tables.append(table)
    least, *_, whole, twice = _of(runs, "rows")
    first, second = (
        (more["cpu"] - less["cpu"]) / (more["text_bytes"] - less["text_bytes"])
        for less, more in ((least, whole), (whole, twice))
    )
    result.raw.append({"cpu_of_an_added_gigabyte": [first * 1e9, second * 1e9]})
    result.targets.append(Target(CLAIM, False, FLAT, second / first, "times"))


def _of(runs: Iterable[dict[str, Any]], by: str) -> Iterator[dict[str, Any]]:
    return (run for run in runs if run["by"] == by)


def _bytes(result: Result, runs: list[dict[str, Any]], sizes: list[dict[str, Any]], data: Replicated) -> None:
    columns = ("partitions", "text of each, MB", "its tally, MB", "its sample of texts, MB",
               "all that is handed on, MB", "as it is shuffled, MB")  # fmt: skip
    table = Table("What tasks hand on", columns)
    for size in sizes:
        n, handed = size["tasks"], size["tally_bytes"] + size["sample_bytes"]
        run = next(r for r in _of(runs, "partitions") if r["partitions"] == n and r["sampled"])
        each = (
            data.text_bytes / n,
            size["tally_bytes"] / n,
            size["sample_bytes"] / n,
            handed,
            run["shuffled"],
        )
        table.rows.append((str(n), *(digits(number / 1e6) for number in each)))
    result.tables.append(table)


def _growth(result: Result, growth: list[dict[str, float]]) -> None:
    table = Table("Texts that do not repeat", ("texts, each once, MB", "words", "tally MB", "counted, MB/s"))
    for one in growth:
        numbers = (one["text_bytes"] / 1e6, one["words"], one["tally_bytes"] / 1e6)
        table.rows.append((*map(digits, numbers), digits(one["text_bytes"] / one["kernel_seconds"] / 1e6)))
    result.tables.append(table)
    result.notes.append(
        "Copies bring no new words, so that tallies of larger partitions are hardly larger; how they grow on "
        "texts that do not repeat (AG News subset and IMDB, mixed, four made-up classes) is measured apart, "
        "by the kernel on one core without Spark."
    )


def constants(runs: list[dict[str, Any]], found: dict[str, Any]) -> Measured:
    """What the projection takes from measurements: least squares, none below zero."""
    counted = [run for run in runs if run["by"] in ("rows", "partitions") and run.get("sampled", True)]
    count_byte, count_task = _fitted(
        [(run["text_bytes"], run["partitions"]) for run in counted],
        [run["counting_tasks"] for run in counted],
    )
    sizes = {size["tasks"]: size for size in found["sizes"]}
    added = list(_of(runs, "partitions"))
    handed = [
        (
            1,
            sizes[run["partitions"]]["tally_bytes"],
            run["sampled"] * sizes[run["partitions"]]["sample_bytes"],
        )
        for run in added
    ]
    _, tally_byte, sample_byte = _fitted(handed, [run["adding_tasks"] for run in added])
    grown = found["growth"]
    _, driver_byte = _fitted(
        [(1, one["tally_bytes"]) for one in grown], [one["driver_seconds"] for one in grown]
    )
    # Of few classes, as those of the growth; with what calibrating takes.
    driver = statistics.median(run["driver"] - run["tally_bytes"] * driver_byte for run in counted)
    shuffled = sum(run["shuffled"] for run in added) / sum(tally + sample for _, tally, sample in handed)
    most = found["sizes"][0]
    later = [one for one in grown if one["text_bytes"] >= grown[-1]["text_bytes"] / 20]
    exponent, _ = np.polyfit(
        *(np.log([one[key] for one in later]) for key in ("text_bytes", "tally_bytes")), 1
    )
    return Measured(
        count_byte,
        count_task,
        tally_byte,
        sample_byte,
        max(driver, 0.0),
        driver_byte,
        most["sample_bytes"] / most["tasks"],
        grown[-1]["tally_bytes"],
        grown[-1]["text_bytes"],
        float(exponent),
        shuffled,
        {
            int(partitions): tuple((tallies, samples) for tallies, samples in spread)
            for partitions, spread in found["spreads"].items()
        },
    )


def _fitted(columns: list[tuple[float, ...]], seconds: list[float]) -> list[float]:
    """Factors of the columns that are not below zero and fit best; each run counts as much as any other."""
    from scipy.optimize import nnls

    matrix, target = np.array(columns, float), np.array(seconds)
    unit = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    factors, _ = nnls(matrix / unit / target[:, None], np.ones(len(target)))
    return [float(factor) for factor in factors / unit]


def _projected(result: Result, measured: Measured) -> None:
    columns = ("text, TB", "text of a task, MB", "cores", "tasks", "counting", "shuffle", "adding up",
               "driver", "in all", "shuffled, TB", "text read, GB/s")  # fmt: skip
    table = Table("Calculated", columns)
    for text in LARGER:
        for task in SIZES_OF_TASKS:
            for cores in CORES:
                found = projected(text, cores, measured, Assumed(partition=task))
                result.raw.append({"projected": {**asdict(found), "partition": task, "total": found.total}})
                parts = (found.counting, found.shuffle, found.reduce, found.driver, found.total)
                table.rows.append(
                    (
                        f"{text / TB:g}",
                        digits(task / 1e6),
                        str(cores),
                        f"{found.tasks:,}",
                        *map(lasting, parts),
                        digits(found.shuffle_bytes / TB),
                        digits(found.storage / 1e9),
                    )
                )
    result.tables.append(table)
    result.notes.append(
        "The last table is calculated (`benchmarks/sparking/projection.py`), and was not measured on any "
        "cluster."
    )


def lasting(seconds: float) -> str:
    """A time as people say it: two or three digits."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds)} s"
