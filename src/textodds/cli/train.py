"""``train``: learn a classifier from labelled texts."""

from __future__ import annotations

import contextlib
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli import model_files, summaries, tables
from textodds.cli.command import argument, command, option
from textodds.cli.option_types import Value, in_bytes, share
from textodds.cli.output import (
    aligned,
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
from textodds.cli.progress import Watch, fitting, racing, watched
from textodds.cli.recipe import (
    CHOICES,
    learner_from,
    pins_from,
    recipe_from,
    recipe_options,
    refuse_of_texts,
    text_choices,
)
from textodds.cli.running import running_options
from textodds.cli.source import opened, portions, reading_options, source_for
from textodds.data import Source
from textodds.errors import InputError, MissingColumn
from textodds.judge.evaluation import Evaluation
from textodds.learn.recipe import recipe_of
from textodds.learn.registry import AUTO, LEARNERS
from textodds.model.file import load
from textodds.model.text_model import TextModel
from textodds.stats.tally import MEMORY
from textodds.stats.threads import checked_threads
from textodds.training.train import may_be_table, must_be_of_tables, train_on, train_stream

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.model.file import Model
    from textodds.model.table_model import TableModel
    from textodds.training.choose import Pins

LARGEST = 10  # classes that the summary names


@dataclass(frozen=True)
class Summary:
    """What was learned, from what, and where it is."""

    model: Model
    path: Path
    bytes: int
    source: Any
    rows: int
    bytes_read: int
    seconds: float
    evaluation: Evaluation | None


@command(
    "train",
    examples=[
        "textodds train mail.csv",
        "textodds train 'logs/*.jsonl' --text message --label level -o logs.textodds",
        "textodds train tickets.parquet --ngrams 1-2 --min-df 2 --test held_out.parquet",
        "textodds train reviews.csv --learner nb-softmax --test reviews_test.csv",
        "textodds train people.csv --label income --columns id=ignore",
        "textodds train 'mail/*.parquet' --learner multinomial --spark local[2]",
    ],
)
@argument(
    "data", "Files, patterns, a folder with a sub-folder per class, a database, or - for stdin.", nargs=-1
)
@option(
    "Output",
    "-o",
    "--output",
    metavar="MODEL",
    help="The model file; otherwise DATA.textodds in this folder.",
)
@option(
    "Output", "--no-counts", is_flag=True, help="Save a smaller model that cannot learn, forget or be merged."
)
@option(
    "Output",
    "--typical",
    is_flag=True,
    help="Keep how surprising typical texts are, so that `predict --familiarity` can tell what is not like "
    "them.",
)
@option(
    "Output",
    "--no-calibrate",
    is_flag=True,
    help="Leave probabilities as Bayes' rule has them, rather than make them right on texts left out.",
)
@option("Output", "--test", metavar="DATA", help="Measure the model on this data, and keep the result in it.")
@reading_options(labelled=True, weighted=True)
@option(
    "Data",
    "--unlabelled",
    metavar="DATA",
    help="Learn from these texts too, whose labels are guessed (EM); for naive Bayes.",
)
@recipe_options()
@option(
    "Learner",
    "--unlabelled-weight",
    type=Value(share, "a number from 0 to 1"),
    metavar="W",
    help="What an unlabelled text counts, from 0 to 1.  [default: 1]",
)
@option(
    "Learner",
    "--temperature",
    type=Value(float, "a number such as 10"),
    metavar="T",
    help="Above 1, be less sure of the labels of unlabelled texts; 10 for long ones.  [default: 1]",
)
@option(
    "Running",
    "--memory",
    type=Value(in_bytes, "a size such as 2GB or 500MB"),
    default="2GiB",
    metavar="SIZE",
    help="Bytes that words may use before the rarest are dropped.",
)
@option(
    "Spark",
    "--spark",
    metavar="MASTER",
    help="Read and learn on Spark: local[2], spark://HOST:7077, yarn, or sc://HOST for Connect.",
)
@option(
    "Spark",
    "--conf",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of Spark, such as spark.executor.memory=4g; may be given several times.",
)
@running_options(json="Print what was learned as JSON on stdout.")
def train(
    data: tuple[str, ...],
    output: str | None,
    no_counts: bool,
    test: str | None,
    memory: int = MEMORY,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Learn a classifier from labelled texts or tables.

    Reads CSV, TSV, JSON lines, Parquet, fastText lines, folders and databases, gzipped or not; tries
    features and learners on texts that it holds out, unless they are named; and writes one model
    file. Naive Bayes that is named reads once, in bounded memory, and can learn, forget and merge.
    """
    path = model_files.default_path(data) if output is None else Path(output)
    of_tables = ("columns", "like", "missing", "max_cells")
    if not options["unlabelled"]:
        _refuse_unlabelled(options)
    on_spark, conf = options.pop("spark"), options.pop("conf")
    if on_spark is None and conf:
        raise InputError("`--conf` is a setting of Spark", hint="say where it runs: `--spark local[2]`")
    named = options["learner"]
    is_table = (named in LEARNERS and not LEARNERS[named].is_of_texts) or any(
        options[name] for name in of_tables
    )
    if on_spark is not None:
        from textodds.cli import spark

        spark.refuse(options, is_table=is_table, threads=threads)
    source: Any = None if is_table or on_spark is not None else opened(data, options)
    pins = None
    if not is_table:
        pins = pins_from(options)
        if pins is None and options["budget"] is not None and not _is_open(options):
            raise InputError("`--budget` is for choosing, and nothing is left to choose", hint="leave it out")
        if pins is None:
            recipe = _semisupervised(options) if options["unlabelled"] else recipe_from(options)
    model_files.must_be_writable(path, [*data, *([test] if test else [])])
    started = time.perf_counter()
    model: Model | None = None
    watch: Any
    if on_spark is not None:
        choice = (None if pins is not None else recipe, pins)
        model, source = spark.trained(on_spark, conf, data, options, *choice, memory=memory, quiet=quiet)
        watch = source
    elif not is_table:
        try:
            if pins is not None:
                model, watch = _chosen(source, pins, options, threads=threads, memory=memory, quiet=quiet)
            else:
                model, watch = _of_texts(source, recipe, options, threads=threads, memory=memory, quiet=quiet)
        except MissingColumn as error:
            usual = options["learner"] in (None, AUTO) and not options["unlabelled"]
            if not may_be_table(error, None if usual or pins is not None else recipe.learner, source):
                if source.description == "stdin" and error.wanted == "text":
                    hint = f"{error.hint}; or say that it is a table: `--learner mixed`"
                    raise InputError(error.problem, hint=hint) from error
                raise
    if model is None:
        model, watch, source = _of_rows(data, {**options, "no_counts": no_counts}, quiet=quiet)
    seconds = time.perf_counter() - started
    tested: Any = None
    if test is not None:
        reading = {**options, "weight": None, "query": None, "rejects": None}
        tested = source_for(model, [test], reading, labelled=True)
    if len(model.classes_) == 1:
        warn(f"there is only one class: every answer will be '{one_line(model.classes_[0])}'")
    evaluation = None
    if tested is not None:
        with watched(tested, "measuring", quiet=quiet) as on_test:
            batches = portions(on_test.batches(), len(model.classes_))
            evaluation = model.evaluate_batches(batches)
        model.info["quality"] = model_files.quality_of(evaluation, tested.description)
    written = model_files.write(model, path, counts=not no_counts)
    summary = Summary(model, path, written, source, watch.rows, watch.bytes, seconds, evaluation)
    if as_json_:
        echo(as_json(_plain(summary)))
    elif not quiet:
        _tell(summary)


def _is_open(options: dict[str, Any]) -> bool:
    """Whether a learner that is named chooses its features by itself."""
    return not options["unlabelled"] and recipe_from(options).is_open


def _refuse_unlabelled(options: dict[str, Any]) -> None:
    """Fail for an option that is about unlabelled texts where there are none."""
    for name in ("unlabelled_weight", "temperature"):
        if options[name] is not None:
            raise InputError(
                f"`--{name.replace('_', '-')}` is about unlabelled texts",
                hint="give them: `--unlabelled DATA`",
            )


def _semisupervised(options: dict[str, Any]) -> Recipe:
    """The recipe for labelled and unlabelled texts."""
    if options["learner"] not in (None, "multinomial", "semisupervised"):
        raise InputError(
            f"{options['learner']} does not learn from unlabelled texts",
            hint="leave out `--learner`, or `--unlabelled`",
        )
    for name in ("stream", "typical"):
        if options[name]:
            raise InputError(f"`--{name}` needs labelled texts only", hint="leave out one of the two")
    learner = learner_from({**options, "learner": "semisupervised"}, "semisupervised")
    given = {"weight": options["unlabelled_weight"], "temperature": options["temperature"]}
    learner = replace(learner, **{name: value for name, value in given.items() if value is not None})
    return recipe_of(learner, **text_choices(options))


def _of_texts(
    source: Source, recipe: Recipe, options: dict[str, Any], *, threads: int | None, memory: int, quiet: bool
) -> tuple[TextModel, Watch]:
    with watched(source, "learning", quiet=quiet) as watch:
        if options["unlabelled"]:
            from textodds.training.semisupervised import train_semisupervised_on

            reading = {**options, "label": None, "weight": None, "query": None, "rejects": None}
            others = opened([options["unlabelled"]], reading, labelled=False)
            return train_semisupervised_on(source, others, recipe, threads=threads, watch=watch), watch
        if options["stream"]:
            return train_stream(source, recipe, threads=threads, watch=watch), watch
        with fitting(quiet=quiet) as told:
            choices: dict[str, Any] = {"typical": options["typical"], "threads": threads, "memory": memory}
            choices |= {"calibrate": not options["no_calibrate"], "budget": options["budget"]}
            return train_on(source, recipe, watch=watch, fitting=told, **choices), watch


def _chosen(
    source: Source, pins: Pins, options: dict[str, Any], *, threads: int | None, memory: int, quiet: bool
) -> tuple[TextModel, Watch]:
    """A model whose learner, or features, or both are chosen."""
    from textodds.training.choose import BUDGET, pool_of, settle

    threads = checked_threads(threads)
    budget = BUDGET if options["budget"] is None else options["budget"]
    calibrate = not options["no_calibrate"]
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(watched(source, "reading", quiet=quiet))
        pooled = pool_of(source, memory=memory, watch=watch)
        if source.replayable:  # otherwise the rest may still have to come
            stack.close()
        with racing(quiet=quiet) as told:
            settled = settle(pooled, pins, budget=budget, threads=threads, calibrate=calibrate, watch=told)
        how: dict[str, Any] = {"threads": threads, "memory": memory, "calibrate": calibrate}
        how["typical"] = options["typical"]
        how |= {"choice": settled.choice, "batches": settled.batches}
        if source.replayable:
            watch = stack.enter_context(watched(source, "learning", quiet=quiet, again=True))
            how["watch"] = watch
        with fitting(quiet=quiet) as steps:
            return train_on(source, settled.recipe, fitting=steps, **how), watch


def _of_rows(data: tuple[str, ...], options: dict[str, Any], *, quiet: bool) -> tuple[TableModel, Watch, Any]:
    """A model of a table, whose columns are found by type unless said otherwise."""
    from textodds.training.tables import open_table, train_table_on

    refuse_of_texts(options)
    learner = learner_from(options, "mixed")
    like = None if options["like"] is None else load(options["like"])
    if like is not None and not like.is_table:
        raise InputError(f"`{options['like']}` is a model of texts, not of tables")
    must_be_of_tables(learner, like)
    words = text_choices(options)
    if like is not None:
        given = [name for name in ("learner", *CHOICES) if options[name] not in (None, False)] + list(words)
        if given:
            raise InputError(
                f"`--{given[0].replace('_', '-')}` is as in the model that `--like` names",
                hint="leave out one of the two",
            )
    if options["no_counts"]:
        raise InputError("a model of a table is its counts", hint="leave `--no-counts` out")
    if options["stream"]:
        raise InputError("`--stream` is for softmax", hint="leave it out: tables are always read in one pass")
    chosen: dict[str, Any] = {"columns": options["columns"], "like": like}
    source = open_table(
        tables.paths_of(data, options), learner=learner, **chosen, **tables.reading_of(options)
    )
    with watched(source, "learning", quiet=quiet) as watch:
        model = train_table_on(
            source, learner, typical=options["typical"], words=words, watch=watch, **chosen
        )
    return model, watch, source


def _plain(summary: Summary) -> dict[str, Any]:
    rejects = summary.source.rejects
    return {
        **model_files.plain(summary.model, summary.path, summary.bytes),
        "rows": summary.rows,
        "seconds": summary.seconds,
        "rows_per_second": summary.rows / summary.seconds,
        "bytes_read": summary.bytes_read,
        "megabytes_per_second": summary.bytes_read / 1e6 / summary.seconds,
        "fit": summary.model.info.get("fit"),
        "chosen": summary.model.info.get("chosen"),
        "left_out": summary.model.info.get("left_out"),
        "rejected": rejects.count,
        "rejects": None if rejects.path is None else str(rejects.path),
        "quality": None if summary.evaluation is None else summary.evaluation.as_dict(),
    }


def _tell(summary: Summary) -> None:
    model, seconds = summary.model, summary.seconds
    speed = [f"{summary.rows / seconds:,.0f} rows/s"]
    if summary.bytes_read:
        speed.append(f"{summary.bytes_read / 1e6 / seconds:.3g} MB/s")
    learned = f"{counted(summary.rows, 'row')} of {summary.source.description}"
    say(f"learned {strong(learned)} in {duration(seconds)} {faint('(' + ', '.join(speed) + ')')}")
    say()
    documents = model.class_documents
    total = sum(documents.values())
    rows = [[faint("class"), faint("rows" if total == summary.rows else "weight"), faint("share")]]
    largest = sorted(documents, key=lambda label: -documents[label])[:LARGEST]
    rows += [
        [one_line(label), weight(documents[label]), f"{documents[label] / total:.1%}"] for label in largest
    ]
    for line in aligned(rows):
        say(line)
    if len(documents) > LARGEST:
        say(faint(f"  and {counted(len(documents) - LARGEST, 'smaller class')}"))
    say()
    if found := model.info.get("unlabelled"):
        settled = "settled after" if found["converged"] else "had not settled after"
        about = f"{weight(found['documents'])} unlabelled texts of {found['source']}"
        say(f"  {about} count by the labels guessed for them: EM {settled} {found['iterations']} steps")
        say()
    if isinstance(model, TextModel):
        for line in summaries.selection_lines(model.info.get("chosen")):
            say(line)
        if "chosen" in model.info:
            say()
        for line in summaries.fit_lines(model.info.get("fit"), model.recipe.as_dict()["settings"]):
            say(line)
        for line in summaries.held_out_lines(model.info.get("left_out")):
            say(line)
    else:
        for line in tables.choice_lines(model):
            say(line)
        say()
    if summary.evaluation is not None:
        for line in summaries.evaluation_headline(summary.evaluation):
            say(line)
        test_rows = counted(summary.evaluation.n, "row")
        say(faint(f"  on {test_rows} of {model.info['quality']['source']}; ranges are 95 % intervals"))
        say()
    say(f"wrote {strong(str(summary.path))}: {counted(*model.extent)}, {size(summary.bytes)}")
    say()
    name = shlex.quote(str(summary.path))
    say(f"next:  textodds predict {name} " + ("NEW_DATA" if model.is_table else '--say "a text of your own"'))
    say(f"       textodds {'inspect ' + name if summary.evaluation else 'evaluate ' + name + ' TEST_DATA'}")
