"""``train``: learn a classifier from labelled texts."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click
from click.core import ParameterSource

from textodds.cli import model_files, summaries
from textodds.cli.commands import argument, command, option
from textodds.cli.options import (
    TIME,
    Reading,
    SomeOf,
    Value,
    column_options,
    goal_option,
    in_bytes,
    learner_option,
    learners_and_settings,
    paths_of,
    reading_of,
    reading_options,
    running_options,
    source_for,
    switch_off,
    textbook_option,
)
from textodds.cli.output import counted, duration, faint, one_line, size, strong, tell, warn, warning
from textodds.cli.overwrite import themselves
from textodds.cli.progress import Progress, progress, watched
from textodds.cli.spark import setting, trained
from textodds.data import Source
from textodds.errors import InputError, Unsupported
from textodds.judge.baseline import Baseline
from textodds.judge.evaluation import Evaluation, held_out_measures
from textodds.learn.registry import AUTO
from textodds.model.file import load_one_label
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.text.settings import FEATURES

if TYPE_CHECKING:
    from textodds.judge.thresholds import Goal
    from textodds.model.file import AnyModel, Model

LARGEST = 10  # classes that the summary names
SIZE = Value(in_bytes, "a size such as 2GB or 500MB")
SETTING = "Set a Spark property; may be repeated."
CONF = Value(setting, "KEY=VALUE: spark.executor.memory=4g")
FEATURES_HELP = f"{', '.join(FEATURES)}; or several."
OUTPUT = "The model file.  [default: DATA.textodds here]"
UNLABELLED = "Unlabelled texts to learn from too."
VECTORS = "Word vectors of word2vec, GloVe, model2vec, …."
CLEAN = "Merge labels that differ only in case or spaces."
BUDGET = "Core time to select and train.  [default: 60s]"
GOAL = "For several labels: f1, recall=0.9, …  [default: f1]"
MEMORY = "Memory for words; rare ones go first.  [default: 2GiB]"


@dataclass(frozen=True)
class Summary:
    """What was learned, from what, and where it is."""

    model: Model
    path: Path
    bytes: int
    observed: Progress
    seconds: float
    evaluation: Evaluation | None
    weight: str | None = None  # the column of weights, where one was named
    is_of_kept: bool = False  # whether it was learned from documents that another model has kept
    is_open: bool = False  # whether the learner was left to choose

    @property
    def held_out(self) -> dict[str, Any] | None:
        """What was measured on texts of training that were held out."""
        model = self.model
        return held_out_measures(model.info.get("left_out"), model.held_out, model.class_names)

    @property
    def warnings(self) -> list[str]:
        """Which classes have few texts, and whether the model does not beat the largest class alone.

        By the test data if there are any, otherwise by texts held out, whose classes are those learned.
        """
        model, held_out = self.model, self.held_out
        found = Baseline.of(model.class_documents.items()).few(model.noun, "to learn from")
        if self.evaluation is not None:
            return found + self.evaluation.warnings()
        if held_out is None or model.held_out is None:
            return found
        baseline = Baseline.of_held_out(model.held_out, model.class_names)
        return found + baseline.not_beaten(held_out["accuracy"])

    @property
    def rows(self) -> int:
        """Rows that were learned from."""
        return round(self.model.info["documents"]) if self.is_of_kept else self.observed.rows_read


class TrainCommand(Reading):
    """What ``train`` takes beside data and what it writes, in the words of `textodds.train` mostly."""

    learner: str | None
    features: str | tuple[str, ...] | None
    budget: float | None
    typical: bool
    calibrate: bool
    documents: bool
    clean_labels: bool
    textbook: bool
    unlabelled: str | None
    vectors: str | None
    stream: bool
    columns: dict[str, str] | None
    like: str | None
    memory: int | None
    goal: Goal | None
    threads: int | None
    spark: str | None
    conf: tuple[tuple[str, str], ...]


def _default_path(context: click.Context, _: click.Parameter, output: str | None) -> str:
    return str(model_files.default_path(context.params.get("data", ()))) if output is None else output


@command(
    "train",
    examples=[
        "textodds train mail.csv",
        "textodds train 'logs/*.jsonl' --text message --label level -o logs.textodds",
        "textodds train tickets.parquet --learner multinomial:ngrams=1-2:min_df=2 --test held_out.parquet",
        "textodds train people.csv --label income --columns id=ignore",
        "textodds train --like mail.textodds -o again.textodds",
        "textodds train tickets.csv --label-separator '|' --goal precision=0.9",
        "textodds train 'mail/*.parquet' --learner multinomial --spark local[2]",
    ],
    section=("Learners, and their settings", learners_and_settings),
)
@argument("data", "Files, patterns, a folder of classes, a database, or - for stdin.", nargs=-1)
@option("Output", "-o", "--output", metavar="MODEL", writes="model", callback=_default_path, help=OUTPUT)
@option("Output", "--no-counts", is_flag=True, help="Write a smaller file that cannot learn or forget.")
@option("Output", "--typical", is_flag=True, help="Store what `predict --familiarity` needs.")
@switch_off("Output", "documents", "Drop documents; only naive Bayes can then learn.")
@switch_off("Output", "calibrate", "Do not calibrate probabilities.")
@option("Output", "--test", metavar="DATA", reads=themselves, help="Evaluate the model on this data.")
@reading_options(labelled=True, weighted=True)
@option("Data", "--clean-labels", is_flag=True, help=CLEAN)
@option("Data", "--unlabelled", metavar="DATA", reads=themselves, help=UNLABELLED)
@option("Data", "--vectors", metavar="FILE", reads=themselves, help=VECTORS)
@column_options()
@learner_option("auto, or mixed for tables")
@textbook_option()
@option("Learner", "--features", type=SomeOf([AUTO, *FEATURES]), metavar="NAME", help=FEATURES_HELP)
@option("Learner", "--budget", type=TIME, metavar="TIME", help=BUDGET)
@goal_option("Learner", GOAL)
@option("Learner", "--stream", is_flag=True, help="Learn softmax in one pass, in bounded memory.")
@option("Running", "--memory", type=SIZE, metavar="SIZE", help=MEMORY)
@option("Spark", "--spark", metavar="MASTER", help="local[2], spark://HOST:7077, yarn or sc://HOST.")
@option("Spark", "--conf", type=CONF, multiple=True, metavar="KEY=VALUE", help=SETTING)
@running_options(json="Print what was learned as JSON on stdout.")
def train(
    data: tuple[str, ...],
    output: str,
    no_counts: bool,
    test: str | None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Unpack[TrainCommand],
) -> None:
    """Train a classifier on labelled texts or tables.

    Reads CSV, JSON, Parquet, Excel, mail, folders, databases; selects features and learner on held-out
    texts; keeps texts to learn and forget.
    """
    is_of_kept = options["like"] is not None and not data and options["query"] is None
    if is_of_kept and click.get_current_context().get_parameter_source("output") is ParameterSource.DEFAULT:
        raise InputError("the new model has no name", hint="give one: `-o MODEL`; or name data")
    path = Path(output)
    if options["spark"] is None and options["conf"]:
        raise InputError("`--conf` is a setting of Spark", hint="say where it runs: `--spark local[2]`")
    model_files.must_be_writable(path)
    started = time.perf_counter()
    with progress(quiet=quiet) as observer:
        model = _trained(data, options, observer)
    seconds = time.perf_counter() - started
    is_of_several = isinstance(model, MultiLabelModel)
    if len(model.classes_) == 1 and not is_of_several:
        warn(f"only one class: every answer will be '{one_line(model.class_names[0])}'")
    evaluation: Any = None
    if test is not None:
        reading = reading_of(options) | {"weight": None, "query": None, "rejects_path": None}
        tested = source_for(model, [test], reading, labelled=True)
        with watched(tested, "measuring", quiet=quiet, classes=len(model.classes_)) as batches:
            evaluation = model.evaluate_batches(batches)
        if not is_of_kept:  # of a table the last source, after one of texts was tried
            _warn_of_shared(observer.sources[0 if options["unlabelled"] else -1], tested)
        model.info["quality"] = {"source": tested.description} | evaluation.as_dict()
    written = model_files.write(model, path, counts=not no_counts)
    if isinstance(model, MultiLabelModel):
        from textodds.cli.several_labels.training import tell_trained

        tell_trained(model, path, written, evaluation, observer, seconds, json=as_json_, quiet=quiet)
        return
    is_told = any(options[name] for name in ("like", "unlabelled", "vectors", "stream", "textbook"))
    is_open = options["learner"] in (None, AUTO) and not is_told
    about = (observer, seconds, evaluation, options["weight"], is_of_kept, is_open)
    summary = Summary(model, path, written, *about)
    tell(_plain(summary), _lines(summary), json=as_json_, quiet=quiet)


def _warn_of_shared(learned: object, tested: Source) -> None:
    """Say how many rows of the test data were learned from, where both can be read again."""
    from textodds.study.duplicates import rows_in_common

    if not isinstance(learned, Source) or not (learned.replayable and tested.replayable):
        return
    if shared := rows_in_common(learned, tested):
        warn(
            f"{counted(shared, 'row')} of {tested.description} are among those learned from: "
            "the measures are too optimistic"
        )


def _trained(data: tuple[str, ...], options: TrainCommand, observer: Progress) -> AnyModel:
    """The model that the options ask for, by `textodds.train` or `textodds.spark.train`."""
    elsewhere = ("learner", "like", "spark", "conf")
    how: dict[str, Any] = {name: value for name, value in options.items() if name not in elsewhere}
    how |= {"learner": options["learner"], "like": None, "observer": observer}
    if options["like"] is not None:
        how["like"] = load_one_label(options["like"])
    is_kept = isinstance(how["like"], TextModel) and not data and options["query"] is None
    if options["spark"] is not None:
        if isinstance(how["like"], TextModel):
            raise InputError(
                "`--like` with a model of texts does not run on Spark", hint="leave out `--spark`"
            )
        if how.pop("label_separator") is not None:
            raise Unsupported(
                "on Spark several labels come as arrays, not behind one another in one field",
                hint="split them first: `functions.split(df.labels, '[|]')`; or leave out `--spark`",
            )
        return trained(options["spark"], options["conf"], data, how)
    from textodds.training.train import train as of_library

    source: object = None if is_kept else paths_of(data, options["query"])
    model: AnyModel = of_library(source, **how)
    return model


def _columns_read(summary: Summary) -> dict[str, Any]:
    """Which columns were read and which were left, of data whose columns have names."""
    model, schema = summary.model, summary.model.schema
    if summary.is_of_kept or not schema.columns:
        return {}
    left = schema.names("ignore")
    if isinstance(model, TextModel):
        left = list(getattr(summary.observed.sources[0], "left", ()))  # a DataFrame of Spark does not say
    noun = "text" if isinstance(model, TextModel) else "columns"
    beside = {"label": schema.label, "weight": summary.weight, "left": left}
    return {noun: [column.name for column in schema.used], **beside}


def _plain(summary: Summary) -> dict[str, object]:
    rejects = None if summary.is_of_kept else summary.observed.source.rejects
    rows, bytes_read = summary.rows, summary.observed.bytes_read
    return {
        **model_files.plain(summary.model, summary.path, summary.bytes),
        "read": _columns_read(summary),
        "rows": rows,
        "seconds": summary.seconds,
        "rows_per_second": rows / summary.seconds,
        "bytes_read": bytes_read,
        "megabytes_per_second": bytes_read / 1e6 / summary.seconds,
        **{name: summary.model.info.get(name) for name in ("fit", "chosen", "uncalibrated")},
        "left_out": summary.held_out,
        "warnings": summary.warnings,
        "not_decided": summary.model.info.get("not_decided"),
        "rejected": 0 if rejects is None else rejects.count,
        "rejects": None if rejects is None or rejects.path is None else str(rejects.path),
        "quality": None if summary.evaluation is None else summary.evaluation.as_dict(),
    }


def _lines(summary: Summary) -> Iterator[str]:
    model, seconds, n = summary.model, summary.seconds, summary.rows
    speed = [f"{n / seconds:,.0f} rows/s"]
    if summary.observed.bytes_read:
        speed.append(f"{summary.observed.bytes_read / 1e6 / seconds:.3g} MB/s")
    learned = f"{counted(n, 'row')} of {model.info['source']}"
    if summary.is_of_kept:
        learned = f"{counted(n, 'document')} kept by the model"
    yield f"learned {strong(learned)} in {duration(seconds)} {faint('(' + ', '.join(speed) + ')')}"
    if isinstance(model, TextModel) and (read := _columns_read(summary)):  # those of a table are listed below
        named = {name: [each] if isinstance(each, str) else each for name, each in read.items() if each}
        yield "; ".join(f"{name}: {', '.join(map(one_line, each))}" for name, each in named.items())
    yield ""
    documents = model.class_documents
    noun = "rows" if sum(documents.values()) == n else "weight"
    yield from summaries.class_lines(documents, noun, LARGEST)
    yield ""
    if found := model.info.get("unlabelled"):
        yield from summaries.unlabelled_lines(found, model.info.get("neighbours"))
        yield ""
    elif known := model.info.get("neighbours"):
        yield from summaries.vector_lines(known)
        yield ""
    if isinstance(model, TextModel):
        yield from summaries.selection_lines(model.info.get("chosen"))
        if without := model.info.get("not_decided"):
            yield faint(f"  not tried: {', '.join(without)}, which need the original texts; give data")
        if "chosen" in model.info:
            yield ""
        elif summary.is_open:
            yield f"{model.recipe.learner.entry.name}: {summaries.why_not_chosen(n)}"
        yield from summaries.fit_lines(model.info.get("fit"), model.recipe.as_dict()["settings"])
        yield from summaries.held_out_lines(summary.held_out)
    else:
        yield from summaries.column_lines(model)
        yield ""
        yield from summaries.held_out_lines(summary.held_out, "rows")
    if model.info.get("textbook"):
        yield "textbook mode: nothing tuned, probabilities not calibrated"
    yield from summaries.uncalibrated_lines(model.info.get("uncalibrated"))
    if summary.evaluation is None and summary.held_out is None:
        yield from summaries.unmeasured_lines(n, model.noun)
    if summary.evaluation is not None:
        yield from summaries.evaluation_headline(summary.evaluation)
        test_rows = counted(summary.evaluation.n, "row")
        yield faint(f"  on {test_rows} of {model.info['quality']['source']}; ranges are 95 % intervals")
        yield from summaries.unknown_label_lines(summary.evaluation)
        yield ""
    yield from map(warning, summary.warnings)
    if why := model.info.get("not_kept"):
        when = "learning and forgetting will not recalibrate it"
        yield f"  its {model.rests_on} are not kept: {why}; {when}"
        yield ""
    yield f"wrote {strong(str(summary.path))}: {counted(*model.extent)}, {size(summary.bytes)}"
    yield ""
    name = shlex.quote(str(summary.path))
    is_one_text = isinstance(model, TextModel) and not model.recipe.settings.fields
    new = '--say "a text of your own"' if is_one_text else "NEW_DATA"
    yield f"next:  textodds predict {name} {new}"
    yield f"       textodds {'inspect ' + name if summary.evaluation else 'evaluate ' + name + ' TEST_DATA'}"
