"""Programs that start a session of Spark, in a process of their own; what they find comes back as JSON."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora import Missing
from measure import Series, Timing

HERE = Path(__file__).resolve().parent.parent


def must_have_spark() -> None:
    """Fail where there is no Spark to measure."""
    for module in ("pyspark", "psutil"):
        if importlib.util.find_spec(module) is None:
            raise Missing(f"{module} is not installed: pip install {module}")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise Missing("there is no Java, which Spark runs on")


def found_by(name: str, order: dict[str, Any], workspace: Path) -> Any:
    """What ``sparking/<name>.py`` finds when it is given an order; it shows on the terminal how far it is."""
    with tempfile.TemporaryDirectory(dir=workspace) as scratch:
        given, told = Path(scratch) / "order.json", Path(scratch) / "found.json"
        given.write_text(json.dumps({**order, "scratch": scratch}), encoding="utf-8")
        paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),  # for Spark's workers, too
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONWARNINGS": "ignore",
        }
        command = [sys.executable, "-m", f"sparking.{name}", str(given), str(told)]
        with (Path(scratch) / "log").open("w+", encoding="utf-8") as log:
            if subprocess.run(command, cwd=scratch, env=environment, stderr=log).returncode:
                log.seek(0)
                raise RuntimeError(f"sparking.{name} failed: {log.read().strip()[-2000:]}")
        return json.loads(told.read_text(encoding="utf-8"))


def main(program: Callable[[dict[str, Any]], Any]) -> None:
    """Run a program on the order that was given, and write what it finds."""
    given, told = map(Path, sys.argv[1:])
    found = program(json.loads(given.read_text(encoding="utf-8")))
    told.write_text(json.dumps(found), encoding="utf-8")


def plain(series: dict[str, Series]) -> dict[str, list[list[float]]]:
    """Timings as plain data."""
    return {name: [[t.round, t.cpu, t.wall] for t in one.timings] for name, one in series.items()}


def series_of(found: dict[str, list[list[float]]]) -> dict[str, Series]:
    """The timings that `plain` made plain data of."""
    return {
        name: Series(name, tuple(Timing(int(at), cpu, wall) for at, cpu, wall in runs))
        for name, runs in found.items()
    }
