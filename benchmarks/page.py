"""The page: what was promised, what was reached, and every number behind it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cases import CASES
from chart import bars
from result import Bar, digits

CAVEATS = """\
- **Ratios, not seconds.** All contenders of a table took turns in the same run on the same machine (A B
  C, A B C, …). Seconds depend on the machine and on what else it was doing; ratios much less. CPU seconds
  are those of all threads. Wall times of a machine that others use are the weakest numbers here.
- **Medians.** A number is the median of its runs, and a ratio that of two medians. The column “range” has
  the extremes among single rounds. Every run is in the JSON files beside this page (of single documents,
  the percentiles).
- **The same work?** scikit-learn's `CountVectorizer` and `MultinomialNB` are used with their defaults.
  The targets are judged on the defaults of textodds, whose words differ a little; the rows with
  scikit-learn's words do exactly the same. fastText and Vowpal Wabbit learn *other* models, often better
  ones: compare the accuracies.
- **Warm.** Files are in the page cache; modules are imported and small things made before timing, except
  where a whole process is measured. Strings are copied before each run, because CPython keeps the UTF-8
  form of a string and the second run would otherwise be spared work.
- **One thread for peers.** BLAS and OpenMP are held to one thread (`OMP_NUM_THREADS=1` and the like),
  fastText to `thread=1`. Vowpal Wabbit reads its file on a thread of its own.
- **English, mostly.** Of the data sets only “79 languages” is not English text.
"""

REPRODUCE = """\
    pip install -e '.[bench]'             # fastText and Vowpal Wabbit are left out where they do not install
    make bench                            # or: python benchmarks/run.py
    make bench-accuracy                   # what `train` chooses, of many labels and few, against peers
    make bench-serve                      # the service
    make bench-spark                      # Spark, against MLlib; takes Java 17

The data sets are read from `../shared/data` beside the repository, or from the folder in `TEXTODDS_DATA`:
a folder for each, with `train.csv.gz` and `test.csv.gz` of the columns `label` and `text` (of a table,
`label` and its own). Those that are absent are skipped. They are unpacked to a temporary folder (`TMPDIR`),
which needs 3 GB and is removed at the end.

    python benchmarks/run.py --quick                         # two minutes; not for quoting
    python benchmarks/run.py --only train-memory --repeat 9  # one case; the page keeps the others

`--out DIR` writes elsewhere. `--quick` writes to a temporary folder unless told otherwise.
"""


def write(out: Path) -> Path:
    """Write the page of all results in a folder, with its chart."""
    results = [
        json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        for name in CASES
        if (out / f"{name}.json").is_file()
    ]
    every = [Bar(**bar) for result in results for bar in result["bars"]]
    if every:
        (out / "faster.svg").write_text(bars("How many times faster textodds is", every), encoding="utf-8")
    page = out / "README.md"
    page.write_text("\n".join(_lines(results, has_chart=bool(every))).rstrip() + "\n", encoding="utf-8")
    return page


def _lines(results: Sequence[dict[str, Any]], *, has_chart: bool) -> Iterable[str]:
    yield "# Benchmarks\n"
    yield "Written by `benchmarks/run.py`; do not edit.\n"
    yield "## Before you read the numbers\n"
    yield CAVEATS
    yield "## Promised and reached\n"
    targets = [target for result in results for target in result["targets"]]
    met = sum(target["met"] is True for target in targets)
    missed = sum(target["met"] is False for target in targets)
    unknown = len(targets) - met - missed
    yield f"{met} met, {missed} missed{f', {unknown} not measured' if unknown else ''}.\n"
    yield from _table(
        ("what", "target", "reached", "range", ""),
        [
            (target["claim"], _asked(target), _reached(target), _range(target), _verdict(target))
            for target in targets
        ],
    )
    if has_chart:
        yield "![How many times faster textodds is, by case, on a logarithmic scale](faster.svg)\n"
    for result in results:
        yield from _section(result)
    yield "## Machine\n"
    yield from _machine(results)
    yield "## How to reproduce\n"
    yield REPRODUCE


def _section(result: dict[str, Any]) -> Iterable[str]:
    yield f"## {result['title']}\n"
    yield f"{result['about']}\n"
    for target in result["targets"]:
        said = f"{_asked(target)}; {_reached(target)}"
        yield f"- {target['claim']}: target {said}: {_verdict(target)}"
    yield ""
    for table in result["tables"]:
        yield from _table(table["columns"], table["rows"])
    for note in result["notes"]:
        yield f"{note}\n"
    if result["skipped"]:
        yield "Skipped:\n"
        yield from (f"- {reason}" for reason in result["skipped"])
        yield ""
    where = result["machine"]
    if where.get("kernels_of_children"):
        found = ", ".join(where["kernels_of_children"])
        yield (
            "**The kernels were rebuilt while this ran**: this process had loaded "
            f"`{where['kernel_sha256']}`, processes that it started may have used `{found}`.\n"
        )
    if where["quick"]:
        yield "**A quick run**: few rounds, small files.\n"
    yield f"Raw timings: [{result['name']}.json]({result['name']}.json), {where['date']}.\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _asked(target: dict[str, Any]) -> str:
    return f"{'at least' if target['at_least'] else 'at most'} {digits(target['asked'])} {target['unit']}"


def _reached(target: dict[str, Any]) -> str:
    return "" if target["reached"] is None else f"{digits(target['reached'])} {target['unit']}"


def _range(target: dict[str, Any]) -> str:
    return "" if target["low"] is None else f"{digits(target['low'])} – {digits(target['high'])}"


def _verdict(target: dict[str, Any]) -> str:
    return {True: "met", False: "**missed**", None: "not measured"}[target["met"]]


def _machine(results: Sequence[dict[str, Any]]) -> Iterable[str]:
    machines = [result["machine"] for result in results]
    same = ("cpu", "cores", "memory_gib", "system", "python", "packages", "kernel_sha256")
    if any(one[key] != machines[0][key] for one in machines for key in same):
        yield "**Not all cases were measured on the same machine and versions**; this is the newest.\n"
    if not machines:
        return
    newest = max(machines, key=lambda one: one["date"])
    loads = [one["load_average"][0] for one in machines]
    yield f"- {newest['cpu']}, {newest['cores']} cores, {newest['memory_gib']} GiB, {newest['system']}"
    yield f"- Python {newest['python']}; {', '.join(f'{k} {v}' for k, v in newest['packages'].items())}"
    builds = ", ".join(f"`{build}`" for build in dict.fromkeys(one["kernel_sha256"] for one in machines))
    yield f"- kernels of textodds: {builds} (the first digits of their SHA-256)"
    yield f"- load average before each case: {', '.join(str(load) for load in loads)} (idle is 0)"
    yield f"- {newest['date']}\n"
