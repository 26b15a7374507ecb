"""The page of how training on Spark scales: ``python -m sparking.page RESULTS PAGE PICTURE``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from result import digits
from sparking.picture import Panel, lines

TITLE = "CPU seconds per gigabyte of text"


def main(results: Path, page: Path, picture: Path) -> None:
    """Write the page and its picture from the results of the case ``spark-scaling``."""
    found = json.loads((results / "spark-scaling.json").read_text(encoding="utf-8"))
    raw: dict[str, Any] = {key: value for one in found["raw"] for key, value in one.items()}
    picture.write_text(drawn(raw["runs"]), encoding="utf-8")
    where = Path(os.path.relpath(picture, page.parent)).as_posix()
    page.write_text("\n".join(told(found, raw, where)).rstrip() + "\n", encoding="utf-8")


def drawn(runs: Sequence[dict[str, Any]]) -> str:
    """The picture."""

    def panel(title: str, by: str, x: str) -> Panel:
        some = [run for run in runs if run["by"] == by and run.get("sampled", True)]
        points = [(float(run[x]), run["cpu"] / run["text_bytes"] * 1e9) for run in some]
        return Panel(title, points, [digits(at / 1e6 if x == "text_bytes" else at) for at, _ in points])

    panels = (
        panel("MB of text", "rows", "text_bytes"),
        panel("classes", "classes", "classes"),
        panel("partitions", "partitions", "partitions"),
    )
    return lines("What training on Spark costs", TITLE, panels)


def told(found: dict[str, Any], raw: dict[str, Any], picture: str) -> Iterable[str]:
    """The page, line by line."""
    tables = {table["title"]: table for table in found["tables"]}
    measured, assumed = raw["projection"]["measured"], raw["projection"]["assumed"]
    machine = found["machine"]
    before, after = raw["cpu_of_an_added_gigabyte"]
    yield "# Scaling on Spark\n"
    yield (
        "What `textodds.spark.train` costs as data grow, measured on one small machine, and what follows for "
        "large clusters if the assumptions below hold. `make bench-spark` measures it anew; "
        "`benchmarks/results/spark-scaling.json` has every run.\n"
    )
    if machine["quick"]:
        yield "**A quick run on small files: not for quoting.**\n"
    yield "## Measured\n"
    yield (
        f"{raw['rows']:,} rows, {digits(raw['text_bytes'] / 1e6)} MB of text: {raw['copies']} copies of the "
        f"AG News subset as Parquet. Spark {raw['about']['pyspark']}, `local[2]`, {machine['cpu']}, "
        f"{machine['cores']} cores. Multinomial naive Bayes, calibrated. CPU seconds are those of the "
        "driver, of its JVM and of all Python workers.\n"
    )
    yield f"![CPU seconds per gigabyte of text, by rows, classes and partitions]({picture})\n"
    yield (
        f"**Rows.** A gigabyte more takes {digits(before)} s of CPU up to "
        f"{digits(raw['text_bytes'] / 1e6)} MB, and {digits(after)} s from there to twice as much. "
        "Partitions stay as large, and grow in number. What little data costs more per gigabyte is what "
        "every job costs.\n"
    )
    yield from _table(tables["By rows"])
    yield (
        "**Classes.** Made up, by a hash of the text, so that every class has every word: a tally grows with "
        "the pairs of words and classes that occur.\n"
    )
    yield from _table(tables["By classes"])
    yield (
        "**Partitions.** Of the same rows. Every task hands on one tally, and a sample of at most 5,000 "
        "texts that probabilities are calibrated by, whatever the size of its partition: many small "
        "partitions are dear, few large ones are not. Without calibration (`calibrate=False`) there is no "
        "sample.\n"
    )
    yield from _table(tables["By partitions"])
    yield from _table(tables["What tasks hand on"])
    yield (
        "**Words.** Copies bring no new words; texts that do not repeat do. These are the AG News subset and "
        "IMDB, mixed, counted by the kernel on one core without Spark. From a twentieth of them to all, the "
        f"tally grows with the power {measured['exponent']:.2f} of the text (Heaps' law).\n"
    )
    yield from _table(tables["Texts that do not repeat"])
    yield "## Calculated\n"
    yield (
        "No cluster was used. One part follows the other: all rows are counted, the tallies are shuffled, "
        "added up, and the driver makes the model.\n"
    )
    yield from _table(tables["Calculated"])
    yield from _reasons(measured, assumed)


def _reasons(measured: dict[str, Any], assumed: dict[str, Any]) -> Iterable[str]:
    yield "From the measurements:\n"
    yield (
        f"- counting: {digits(1 / measured['count_byte'] / 1e6)} MB of text a second on a core, and "
        f"{digits(measured['count_task'])} s for each task, with reading Parquet and Spark's own work;"
    )
    yield (
        f"- what a task hands on: a sample of {digits(measured['sample_bytes'] / 1e6)} MB, and a tally of "
        f"{digits(measured['tally_bytes'] / 1e6)} MB for {digits(measured['text_bytes'] / 1e6)} MB of text, "
        "of more text by Heaps' law; the shuffle writes "
        f"{digits(measured['compressed'])} of it after compression;"
    )
    yield (
        f"- adding up: {digits(1 / max(measured['reduce_tally_byte'], 1e-12) / 1e6)} MB of tallies and "
        f"{digits(1 / max(measured['reduce_sample_byte'], 1e-12) / 1e6)} MB of samples a second on a core; "
        f"{'; '.join(map(_spread, measured['spreads'].items()))}: more cores than that do not help here;"
    )
    yield (
        f"- the driver: {digits(measured['driver'])} s, and {digits(measured['driver_byte'] * 1e9)} s for a "
        "gigabyte of the tally of all rows.\n"
    )
    yield "Assumed:\n"
    yield (
        f"- `spark.sql.shuffle.partitions` is {assumed['shuffles']} for each core, where that is more than "
        "Spark's own 200;"
    )
    yield (
        f"- machines of {assumed['machine_cores']} cores like those here, which do nothing else, each with "
        f"{digits(assumed['bandwidth'] / 1e9)} GB/s by network and disk; ten cores are one machine;"
    )
    yield (
        "- storage that delivers what the column “text read” says, uncompressed, to all machines at once; "
        f"a driver that starts {assumed['launches']:g} tasks a second;"
    )
    yield (
        "- texts whose words grow in number by Heaps' law from what was measured, which is a long way to go. "
        f"Tallies stay below {assumed['memory'] / 2**30:g} GiB, beyond which textodds drops the rarest "
        "words, and says so;"
    )
    yield (
        "- a few classes and short texts, as measured. A sample of longer texts is larger in proportion, and "
        "a tally of many classes is, too;"
    )
    yield (
        "- nothing fails, no task is slower than others, and the many small blocks of a large shuffle cost "
        "nothing.\n"
    )


def _spread(one: tuple[str, list[tuple[int, int]]]) -> str:
    partitions, adding = one
    parts, samples = (sum(of) for of in zip(*adding, strict=True))
    most = max(tallies for tallies, _ in adding)
    return (
        f"where a shuffle has {int(partitions):,} partitions, tallies have {parts} parts and samples "
        f"{samples}, which Spark's hash puts on {len(adding)} tasks, the fullest with {most} parts"
    )


def _table(table: dict[str, Any]) -> Iterable[str]:
    yield f"| {' | '.join(table['columns'])} |"
    yield "|" + "---|" * len(table["columns"])
    yield from (f"| {' | '.join(row)} |" for row in table["rows"])
    yield ""


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
