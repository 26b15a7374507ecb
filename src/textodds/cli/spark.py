"""``--spark``: a session, the files that it reads, and how far it has come."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.output import one_line
from textodds.data import files
from textodds.errors import BadFile, InputError, require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from textodds.model.text_model import TextModel

FORMATS = ("csv", "tsv", "jsonl", "parquet")


def trained(
    master: str, conf: Iterable[tuple[str, str]], data: Sequence[str], how: dict[str, Any]
) -> TextModel:
    """A model trained on Spark; ``how`` are options of `textodds.train`, of which Spark refuses some."""
    require("pyspark", why="`--spark`")
    from textodds.spark.training import plan_on_spark, train

    if not data:
        raise InputError("there is no data", hint="name files, patterns or folders that Spark can read")
    files = {"format": how.pop("format")}  # which Spark reads
    files |= {name: how.pop(name) is not False for name in ("quoting", "header")}
    columns = ("learner", "features", "observer", "text", "label", "weight", "bad_rows", "goal")
    plan_on_spark(  # refuses before there is a session what Spark has no part in
        how["learner"], how["features"], {name: how[name] for name in how if name not in columns}
    )
    with session(master, dict(conf)) as spark:
        from textodds.spark.dataframes import run
        from textodds.spark.progress import tasks_told

        with tasks_told(spark, how["observer"]):  # reading is a job, where there is a schema to be found
            df = run(lambda: read(spark, data, is_here=master.startswith("local"), **files))
        model: Any = train(df, **how)
    model.info["source"] = data[0] if len(data) == 1 else f"{len(data)} files"
    return model  # type: ignore[no-any-return]


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark and its value, as `--conf` takes them."""
    key, mark, value = text.partition("=")
    if not mark or not key:
        raise ValueError
    return key.strip(), value


@contextlib.contextmanager
def session(master: str, settings: dict[str, str]) -> Iterator[SparkSession]:
    """A session of Spark that ends with the command; what it says on stderr is heard only if it fails."""
    require("pyspark", why="`--spark`")
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has textodds
    if python := settings.get("spark.pyspark.python"):
        os.environ["PYSPARK_PYTHON"] = python  # only `spark-submit` looks at the setting itself
    builder = SparkSession.builder.appName("textodds")
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        quiet = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
        if master.startswith("local"):
            quiet["spark.ui.enabled"] = "false"
        builder = builder.master(master).config(map={**quiet, **settings})
    with tempfile.TemporaryFile() as log, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        try:
            with _stderr_to(log.fileno()):
                spark = builder.getOrCreate()
        except Exception as error:
            log.seek(0)
            raise InputError(
                f"cannot start Spark at `{master}`: {_reason(error, log.read().decode(errors='replace'))}",
                hint="Spark takes Java 17; the master is local[2], spark://HOST:7077, yarn, or sc://HOST",
            ) from error
        if master.startswith("sc://"):
            for key, value in settings.items():
                spark.conf.set(key, value)
        try:
            yield spark
        finally:
            spark.stop()


def _reason(error: Exception, log: str) -> str:
    """Why there is no session, in one line."""
    if "stopped SparkContext" in str(error):  # it gave up waiting, and says so elsewhere
        return "the master does not answer"
    told = [line for line in log.splitlines() if "rror" in line or "xception" in line]
    lines = [line for line in told if not line.startswith("\tat ")] or str(error).splitlines()
    return one_line(lines[0])[:200] if lines else type(error).__name__


@contextlib.contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """What is written to stderr goes to a file, also by programs that are started meanwhile, for ever."""
    kept = os.dup(2)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def read(
    spark: SparkSession,
    data: Sequence[str],
    *,
    is_here: bool,
    format: str | None,  # noqa: A002 - the word of the command line
    quoting: bool,
    header: bool,
) -> DataFrame:
    """The DataFrame of some files, by their format; ``is_here`` if Spark reads those of this machine."""
    found = {format or files.format_of_name(path.removesuffix(".gz")) or "" for path in data}
    kind = found.pop() if len(found) == 1 else ""
    if kind not in FORMATS:
        raise InputError(
            "cannot tell the format of these files from their names",
            hint=f"name it: `--format {FORMATS[-1]}`, one of {', '.join(FORMATS)}",
        )
    paths = list(data)
    for path in paths if is_here else ():
        if not ("://" in path or any(mark in path for mark in "*?[") or Path(path).exists()):
            raise BadFile(f"no file at `{path}`", hint="name files, patterns or folders that Spark can read")
    if kind == "parquet":
        return spark.read.parquet(*paths)
    if kind == "jsonl":
        return spark.read.json(paths)
    separator = "\t" if kind == "tsv" else ","
    quote = "\u0000" if not quoting else '"'
    df = spark.read.csv(paths, header=header, sep=separator, quote=quote, escape=quote, multiLine=True)
    df = df.na.fill("")  # a field without characters is an empty text, here as elsewhere; Spark has null
    return df.toDF(*(str(i + 1) for i in range(len(df.columns)))) if not header else df
