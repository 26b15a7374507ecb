"""``evaluate``: measure a model on labelled texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from textodds.cli import model_files, summaries
from textodds.cli.commands import argument, command, option
from textodds.cli.decision import SECTION, loss_options, rule_given
from textodds.cli.options import (
    SHARE,
    Reading,
    goal_option,
    model_argument,
    reading_options,
    running_options,
    source_for,
)
from textodds.cli.output import faint, say, show, size, strong
from textodds.cli.progress import watched
from textodds.cli.texts import warn_of_labels
from textodds.data.written_file import replacing
from textodds.errors import InputError
from textodds.model.file import load
from textodds.model.multilabel.label_refusals import refuse, refuse_of_one
from textodds.model.multilabel.multilabel_model import MultiLabelModel

if TYPE_CHECKING:
    from textodds.judge.decisions import DecisionCosts, MeanLoss
    from textodds.judge.evaluation import Evaluation
    from textodds.judge.label_evaluation import LabelEvaluation
    from textodds.judge.thresholds import Goal
    from textodds.model.file import Model
    from textodds.study.report.evaluation_data import EvaluationData

FAIL_UNDER = "Exit with status 1 if the accuracy (of several labels: micro-F1) is below this."
GOAL = "Of several labels: measure with thresholds for this goal."
PAGE = "Write an HTML report: confusion matrix, classes, calibration, words and the most confident mistakes."


@command(
    "evaluate",
    examples=[
        "textodds evaluate mail.textodds held_out.csv",
        "textodds evaluate mail.textodds held_out.csv --fail-under 0.95 --json",
        'textodds evaluate mail.textodds test.csv --loss "ham->spam: 20"',
        "textodds evaluate mail.textodds held_out.csv --report mail.html",
    ],
)
@model_argument()
@argument("data", "Labelled data: files, patterns, a folder, a database, or - for stdin.", nargs=-1)
@option("Verdict", "--fail-under", type=SHARE, metavar="SHARE", help=FAIL_UNDER)
@option("Report", "--report", metavar="FILE.html", writes="report", help=PAGE)
@loss_options()
@goal_option(SECTION, GOAL)
@reading_options(labelled=True)
@running_options(json="Print the measures as one JSON object.")
def evaluate(
    model: str,
    data: tuple[str, ...],
    fail_under: float | None,
    report: str | None,
    loss: tuple[str, ...],
    abstain: float | None,
    goal: Goal | None,
    threads: int | None,
    as_json_: bool,
    quiet: bool,
    **options: Unpack[Reading],
) -> int:
    """Measure a model on labelled texts or tables.

    Prints accuracy, macro-F1 and log-loss with 95 % intervals, the accuracy of the largest class alone,
    precision, recall and F1 of each class, and the confusion matrix; and warns if the model does not
    beat the largest class, or if a class has few rows. Use data that the model was not trained on.
    With losses, also prints the mean loss of the decisions and the share that is answered.
    Of several labels a text, prints micro-, macro- and sample-F1, subset accuracy, precision of the most
    probable labels, ranking and log-loss, and precision, recall and F1 of each label.
    A report is one HTML file that shows the same and more; it needs
    `pip install 'textodds[plot]'`.
    """
    from textodds.judge.decisions import DecisionCosts

    page = None if report is None else _checked_page(Path(report))
    measured = load(model, threads=threads)
    if isinstance(measured, MultiLabelModel):
        refuse({"loss": loss, "abstain": abstain})
        where = None if page is None else (page, Path(model))
        return _evaluate_labels(measured, data, fail_under, goal, where, options, json=as_json_, quiet=quiet)
    refuse_of_one({"goal": goal})
    rule = rule_given(measured, loss, abstain, quiet=quiet)
    source = source_for(measured, data, options, labelled=True)
    costs = None if rule is None else DecisionCosts(rule)
    with watched(source, "measuring", quiet=quiet, classes=len(measured.classes_)) as batches:
        evaluation, gathered = _measured(measured, batches, costs, for_page=page is not None)
    known = evaluation.n - sum(evaluation.unknown_labels.values())
    _must_know_a_label(evaluation, measured.class_names, known, "or use data of this model")
    if page is not None and gathered is not None:
        from textodds.study.report.evaluation_page import evaluation_page

        _write_page(page, evaluation_page, (measured, evaluation, gathered), Path(model), source.description)
    cost = None if costs is None else costs.mean_loss()
    beside = {"cost": None if cost is None else cost.as_dict(), "report": None if page is None else str(page)}
    about = evaluation.as_dict() | {name: part for name, part in beside.items() if part is not None}
    lines = [*summaries.evaluation_lines(evaluation), *([] if cost is None else _cost_lines(cost))]
    show(about, lines, json=as_json_)
    return _status("accuracy", evaluation.accuracy, fail_under, page, json=as_json_, quiet=quiet)


def _evaluate_labels(
    model: MultiLabelModel,
    data: tuple[str, ...],
    fail_under: float | None,
    goal: Goal | None,
    page: tuple[Path, Path] | None,
    options: Reading,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Measure a model of several labels a text; ``page`` is where the report goes, and the model's file."""
    from textodds.cli.several_labels.measures import evaluation_lines

    if goal is not None:
        model = model.with_goal(goal)
    source = source_for(model, data, options, labelled=True)
    with watched(source, "measuring", quiet=quiet, classes=len(model.classes_)) as batches:
        if page is None:
            evaluation = model.evaluate_batches(batches)
        else:
            from textodds.study.report.label_data import measured_labels

            evaluation, gathered = measured_labels(model, batches)
    warn_of_labels(source, options)
    known = sum(row["rows"] for row in evaluation.by_label.values())
    hint = "and the separator with `--label-separator`"
    _must_know_a_label(evaluation, evaluation.labels, known, hint)
    beside = {} if page is None else {"report": str(page[0])}
    if page is not None:
        from textodds.study.report.label_page import label_page

        _write_page(page[0], label_page, (model, evaluation, gathered), page[1], source.description)
    show(evaluation.as_dict() | beside, evaluation_lines(evaluation), json=json)
    written = None if page is None else page[0]
    return _status("micro-F1", evaluation.micro_f1, fail_under, written, json=json, quiet=quiet)


def _status(
    measure: str, value: float, fail_under: float | None, page: Path | None, *, json: bool, quiet: bool
) -> int:
    """The status to exit with, after a word on the page and on a measure that is too low."""
    if page is not None:
        say(f"\nwrote {strong(str(page))}: {size(page.stat().st_size)}", quiet=quiet or json)
    if fail_under is None or value >= fail_under:
        return 0
    say(f"{measure} {value:.4f} is below {fail_under:g}", quiet=quiet)
    return 1


def _measured(
    model: Model, batches: Iterable[object], costs: DecisionCosts | None, *, for_page: bool
) -> tuple[Evaluation, EvaluationData | None]:
    """The quality of a model, and what a page shows besides."""
    if for_page:
        from textodds.study.report.evaluation_data import measured

        return measured(model, batches, costs)
    from textodds.judge.evaluation import evaluate, scored_batches

    return evaluate(scored_batches(model, batches, costs), model.class_names), None


def _must_know_a_label(
    evaluation: Evaluation | LabelEvaluation, ours: Sequence[str], known: float, hint: str
) -> None:
    """Fail where no row has a label that the model knows: then nothing is measured."""
    unknown = evaluation.unknown_labels
    if not unknown or known:
        return
    theirs, own = (", ".join(f"`{name}`" for name in names[:5]) for names in (sorted(unknown), ours))
    raise InputError(
        f"none of the {evaluation.n:,} rows has a label of the model: they have {theirs}, it has {own}",
        hint=f"name the label column with `--label COLUMN`, {hint}",
    )


def _checked_page(path: Path) -> Path:
    """The path of a report; fails now, rather than after the work, where none can be drawn or written."""
    from textodds.study.report.page import require_page

    require_page()
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"the report must be an .html file, got `{path}`", hint="name it `*.html`, for a browser"
        )
    model_files.must_be_writable(path, option="--report")
    return path


def _write_page(
    page: Path, draw: Callable[..., str], measured: tuple[object, ...], path: Path, data: str
) -> None:
    """Write the page that is drawn of what was measured, whole or not at all."""
    stat = path.stat()
    written = datetime.fromtimestamp(stat.st_mtime, UTC)
    more = [("file", f"{path}, {size(stat.st_size)}, written {written:%Y-%m-%d %H:%M} UTC")]
    drawn = draw(*measured, called=path.name, data=data, more=more)
    with replacing(page) as temporary:
        temporary.write_text(drawn, encoding="utf-8")


def _cost_lines(cost: MeanLoss) -> list[str]:
    measures = ("mean loss", cost.mean, cost.interval), ("answered", cost.answered, cost.answered_interval)
    about = faint("  under these losses; the measures above are of the most probable class")
    return ["", *summaries.measure_lines(*measures), about]
