"""``train``: learn a classifier from labelled texts."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from textodds.cli import model_files, summaries
from textodds.cli.commands import argument, command, option
from textodds.cli.options import (
    TIME,
    Reading,
    SomeOf,
    Value,
    column_options,
    in_bytes,
    learner_option,
    learners_and_settings,
    paths_of,
    reading_of,
    reading_options,
    running_options,
    source_for,
    switch_off,
)
from textodds.cli.output import (
    as_json,
    counted,
    duration,
    echo,
    faint,
    one_line,
    say,
    size,
    strong,
    warn,
    weight,
)
from textodds.cli.progress import Progress, progress, watched
from textodds.errors import InputError
from textodds.judge.evaluation import Evaluation
from textodds.learn.registry import AUTO
from textodds.model.file import load
from textodds.model.text_model import TextModel
from textodds.text.settings import FEATURES

if TYPE_CHECKING:
    from textodds.model.file import Model

LARGEST = 10  # classes that the summary names
SIZE = Value(in_bytes, "a size such as 2GB or 500MB")
FEATURES_HELP = f"{', '.join(FEATURES)}; or several."
BUDGET = "Time that choosing and learning may take.  [default: 60s]"
MEMORY = "Bytes of words before rare ones are dropped.  [default: 2GiB]"


@dataclass(frozen=True)
class Summary:
    """What was learned, from what, and where it is."""

    model: Model
    path: Path
    bytes: int
    observed: Progress
    seconds: float
    evaluation: Evaluation | None


class TrainOptions(Reading):
    """What ``train`` takes beside data and what it writes, in the words of `textodds.train` mostly."""

    learner: str | None
    features: str | tuple[str, ...] | None
    budget: float | None
    typical: bool
    calibrate: bool
    unlabelled: str | None
    stream: bool
    columns: dict[str, str] | None
    like: str | None
    memory: int | None
    threads: int | None
    spark: str | None
    conf: tuple[str, ...]


@command(
    "train",
    examples=[
        "textodds train mail.csv",
        "textodds train 'logs/*.jsonl' --text message --label level -o logs.textodds",
        "textodds train tickets.parquet --learner multinomial:ngrams=1-2:min_df=2 --test held_out.parquet",
        "textodds train people.csv --label income --columns id=ignore",
        "textodds train 'mail/*.parquet' --learner multinomial --spark local[2]",
    ],
    section=("Learners, and their settings", learners_and_settings),
)
@argument("data", "Files, patterns, a folder of classes, a database, or - for stdin.", nargs=-1)
@option("Output", "-o", "--output", metavar="MODEL", help="The model file.  [default: DATA.textodds here]")
@option("Output", "--no-counts", is_flag=True, help="Save a smaller model, which cannot learn or forget.")
@option("Output", "--typical", is_flag=True, help="Keep typical surprise, for `predict --familiarity`.")
@switch_off("Output", "calibrate", "Do not calibrate probabilities.")
@option("Output", "--test", metavar="DATA", help="Measure the model on this data too.")
@reading_options(labelled=True, weighted=True)
@option("Data", "--unlabelled", metavar="DATA", help="Learn from these texts too, by EM; for naive Bayes.")
@column_options()
@learner_option("auto, or mixed for tables")
@option("Learner", "--features", type=SomeOf([AUTO, *FEATURES]), metavar="NAME", help=FEATURES_HELP)
@option("Learner", "--budget", type=TIME, metavar="TIME", help=BUDGET)
@option("Learner", "--stream", is_flag=True, help="Learn softmax in one pass, in bounded memory.")
@option("Running", "--memory", type=SIZE, metavar="SIZE", help=MEMORY)
@option("Spark", "--spark", metavar="MASTER", help="local[2], spark://HOST:7077, yarn or sc://HOST.")
@option("Spark", "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be repeated.")
@running_options(json="Print what was learned as JSON on stdout.")
def train(
    data: tuple[str, ...],
    output: str | None,
    no_counts: bool,
    test: str | None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Unpack[TrainOptions],
) -> None:
    """Learn a classifier from labelled texts or tables.

    Reads CSV, TSV, JSON lines, Parquet, fastText lines, folders and databases, gzipped or not; tries
    features and learners on texts that it holds out, unless they are named; and writes one model
    file. Naive Bayes that is named reads once, in bounded memory, and can learn, forget and merge.
    """
    path = model_files.default_path(data) if output is None else Path(output)
    if options["spark"] is None and options["conf"]:
        raise InputError("`--conf` is a setting of Spark", hint="say where it runs: `--spark local[2]`")
    model_files.must_be_writable(path, [*data, *([test] if test else [])])
    started = time.perf_counter()
    with progress(quiet=quiet) as observer:
        model = _trained(data, options, observer)
    seconds = time.perf_counter() - started
    if len(model.classes_) == 1:
        warn(f"there is only one class: every answer will be '{one_line(model.classes_[0])}'")
    evaluation = None
    if test is not None:
        reading = reading_of(options) | {"weight": None, "query": None, "rejects_path": None}
        tested = source_for(model, [test], reading, labelled=True)
        with watched(tested, "measuring", quiet=quiet, classes=len(model.classes_)) as batches:
            evaluation = model.evaluate_batches(batches)
        model.info["quality"] = {"source": tested.description} | evaluation.as_dict()
    written = model_files.write(model, path, counts=not no_counts)
    summary = Summary(model, path, written, observer, seconds, evaluation)
    if as_json_:
        echo(as_json(_plain(summary)))
        return
    for line in _lines(summary):
        say(line, quiet=quiet)


def _trained(data: tuple[str, ...], options: TrainOptions, observer: Progress) -> Model:
    """The model that the options ask for, by `textodds.train` or `textodds.spark.train`."""
    elsewhere = ("learner", "like", "spark", "conf")
    how: dict[str, Any] = {name: value for name, value in options.items() if name not in elsewhere}
    how |= {"learner": options["learner"], "like": None, "observer": observer}
    if options["learner"] is None and not (options["typical"] or options["unlabelled"] or options["stream"]):
        how["learner"] = AUTO
    if options["like"] is not None:
        how["like"] = load(options["like"])
        if isinstance(how["like"], TextModel):
            raise InputError(f"`{options['like']}` is a model of texts, not of tables")
        how["learner"] = None if options["learner"] == AUTO else options["learner"]
    if options["spark"] is not None:
        from textodds.cli.spark import trained

        return trained(options["spark"], options["conf"], data, how)
    from textodds.training.train import train as of_library

    return of_library(paths_of(data, options["query"]), **how)


def _plain(summary: Summary) -> dict[str, object]:
    rejects = summary.observed.source.rejects
    rows, bytes_read = summary.observed.rows_read, summary.observed.bytes_read
    return {
        **model_files.plain(summary.model, summary.path, summary.bytes),
        "rows": rows,
        "seconds": summary.seconds,
        "rows_per_second": rows / summary.seconds,
        "bytes_read": bytes_read,
        "megabytes_per_second": bytes_read / 1e6 / summary.seconds,
        **{name: summary.model.info.get(name) for name in ("fit", "chosen", "left_out")},
        "rejected": rejects.count,
        "rejects": None if rejects.path is None else str(rejects.path),
        "quality": None if summary.evaluation is None else summary.evaluation.as_dict(),
    }


def _lines(summary: Summary) -> Iterator[str]:
    model, seconds, n = summary.model, summary.seconds, summary.observed.rows_read
    speed = [f"{n / seconds:,.0f} rows/s"]
    if summary.observed.bytes_read:
        speed.append(f"{summary.observed.bytes_read / 1e6 / seconds:.3g} MB/s")
    learned = f"{counted(n, 'row')} of {model.info['source']}"
    yield f"learned {strong(learned)} in {duration(seconds)} {faint('(' + ', '.join(speed) + ')')}"
    yield ""
    documents = model.class_documents
    noun = "rows" if sum(documents.values()) == n else "weight"
    yield from summaries.class_lines(documents, noun, LARGEST)
    yield ""
    if found := model.info.get("unlabelled"):
        settled = "settled after" if found["converged"] else "had not settled after"
        about = f"{weight(found['documents'])} unlabelled texts of {found['source']}"
        yield f"  {about} count by the labels guessed for them: EM {settled} {found['iterations']} steps"
        yield ""
    if isinstance(model, TextModel):
        yield from summaries.selection_lines(model.info.get("chosen"))
        if "chosen" in model.info:
            yield ""
        yield from summaries.fit_lines(model.info.get("fit"), model.recipe.as_dict()["settings"])
        yield from summaries.held_out_lines(model.info.get("left_out"))
    else:
        yield from summaries.column_lines(model)
        yield ""
    if summary.evaluation is not None:
        yield from summaries.evaluation_headline(summary.evaluation)
        test_rows = counted(summary.evaluation.n, "row")
        yield faint(f"  on {test_rows} of {model.info['quality']['source']}; ranges are 95 % intervals")
        yield ""
    yield f"wrote {strong(str(summary.path))}: {counted(*model.extent)}, {size(summary.bytes)}"
    yield ""
    name = shlex.quote(str(summary.path))
    is_one_text = isinstance(model, TextModel) and not model.recipe.settings.fields
    new = '--say "a text of your own"' if is_one_text else "NEW_DATA"
    yield f"next:  textodds predict {name} {new}"
    yield f"       textodds {'inspect ' + name if summary.evaluation else 'evaluate ' + name + ' TEST_DATA'}"
