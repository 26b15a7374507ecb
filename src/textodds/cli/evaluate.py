"""``evaluate``: measure a model on labelled texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli import decision, summaries
from textodds.cli.command import argument, command, option
from textodds.cli.option_types import Value, share
from textodds.cli.output import aligned, as_json, echo, faint, say, size, strong
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import portions, reading_options, source_for
from textodds.errors import InputError, ModelFileError
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.judge.decisions import MeanLoss, Rule
    from textodds.judge.evaluation import Evaluation
    from textodds.model.file import Model
    from textodds.study.report.evaluation_data import EvaluationData


@command(
    "evaluate",
    examples=[
        "textodds evaluate mail.textodds held_out.csv",
        "textodds evaluate mail.textodds held_out.csv --fail-under 0.95 --json",
        'textodds evaluate mail.textodds test.csv --loss "ham->spam: 20"',
        "textodds evaluate mail.textodds held_out.csv --report mail.html",
    ],
)
@argument("model", "A model file made by `train`.")
@argument("data", "Labelled data: files, patterns, a folder, a database, or - for stdin.", nargs=-1)
@option(
    "Verdict",
    "--fail-under",
    type=Value(share, "a number from 0 to 1"),
    metavar="ACCURACY",
    help="Exit with status 1 if the accuracy is below this.",
)
@option(
    "Report",
    "--report",
    metavar="FILE.html",
    help="Write a page with pictures: confusions, classes, calibration, words and the surest mistakes.",
)
@decision.loss_options()
@reading_options(labelled=True)
@running_options(json="Print the measures as one JSON object.")
def evaluate(
    model: str,
    data: tuple[str, ...],
    fail_under: float | None,
    report: str | None = None,
    loss: tuple[str, ...] = (),
    abstain: float | None = None,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> int:
    """Measure a model on labelled texts or tables.

    Prints accuracy, macro-F1 and log-loss with 95 % intervals, then precision, recall and F1 of
    each class, and which classes are taken for which. Use data that the model has not learned from.
    With losses, the mean loss of deciding by them and the share that is answered come at the end.
    A report is one file for a browser, which shows the same and more; it needs
    `pip install 'textodds[plot]'`.
    """
    page = None if report is None else _must_be_writable(Path(report), model, data)
    measured = load(model, threads=threads)
    rule = decision.rule_of(measured, loss, abstain, quiet=quiet)
    source = source_for(measured, data, options, labelled=True)
    deciding = None if rule is None else _Deciding(measured, rule)
    with watched(source, "measuring", quiet=quiet) as watch:
        batches = portions(watch.batches(), len(measured.classes_))
        evaluation, gathered = _pass(measured, batches, deciding, reported=page is not None)
    decided = None if deciding is None else deciding.mean_loss()
    if page is not None and gathered is not None:
        _write_report(page, measured, evaluation, gathered, Path(model), source.description)
    if as_json_:
        about = evaluation.as_dict() | ({} if decided is None else decided.as_dict())
        echo(as_json(about | ({} if page is None else {"report": str(page)})))
    else:
        for line in [*summaries.evaluation_lines(evaluation), *([] if decided is None else _lines(decided))]:
            echo(line)
        if page is not None:
            say(f"\nwrote {strong(str(page))}: {size(page.stat().st_size)}", quiet=quiet)
    if fail_under is None or evaluation.accuracy >= fail_under:
        return 0
    say(f"accuracy {evaluation.accuracy:.4f} is below {fail_under:g}", quiet=quiet)
    return 1


class _Deciding:
    """Decides by losses as scored rows pass, those whose label the model has."""

    def __init__(self, model: Model, rule: Rule) -> None:
        self._model, self._rule = model, rule
        self._kept: list[tuple[Any, Any, Any]] = []  # true classes, actions, expected losses

    def __call__(self, labels: Sequence[str], log_posterior: Any) -> None:
        from textodds.judge.decisions import numbers_of

        truth = numbers_of(labels, self._model.classes_)
        decisions = self._rule.decide(log_posterior)
        self._kept.append((truth, decisions.action, decisions.expected_loss))

    def mean_loss(self) -> MeanLoss | None:
        import numpy as np

        from textodds.judge.decisions import Decisions

        truth, action, expected = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        known = truth >= 0
        if not known.any():
            return None
        return self._rule.expected_loss(Decisions(action[known], expected[known]), truth[known])


def _pass(
    model: Model, batches: Iterable[Any], deciding: _Deciding | None, *, reported: bool
) -> tuple[Evaluation, EvaluationData | None]:
    """The quality of beliefs, and what a report needs besides."""
    if reported:
        from textodds.study.report.evaluation_data import measured

        return measured(model, batches, deciding)
    if deciding is None:
        return model.evaluate_batches(batches), None
    from textodds.judge.evaluation import evaluate as measure
    from textodds.learn.forms.linear import log_softmax

    def scored() -> Iterator[Any]:
        for batch in batches:
            scores, evidence = model.score_batch(batch)
            labels, log_posterior = batch.label_list(), log_softmax(scores)
            deciding(labels, log_posterior)
            yield labels, log_posterior, evidence

    return measure(scored(), model.classes_), None


def _must_be_writable(path: Path, model: str, data: Sequence[str]) -> Path:
    """The path of a report; fails now, rather than after the work, where none can be drawn or written."""
    from textodds.study.report.picture import require_matplotlib

    require_matplotlib()
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"`{path}` does not end as a page that can be written", hint="name it `*.html`, for a browser"
        )
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        why = (
            "it is a folder"
            if path.is_dir()
            else f"permission denied in `{path.parent}`"
            if path.parent.is_dir()
            else f"there is no folder `{path.parent}`"
        )
        raise ModelFileError(
            f"cannot write `{path}`: {why}",
            hint="choose a folder that exists and may be written to, with `--report`",
        )
    for given in (model, *data):
        if path.exists() and Path(given).exists() and path.samefile(given):
            raise InputError(
                f"the report would replace `{path}`, which it is made of",
                hint="name another file with `--report`",
            )
    return path


def _write_report(
    page: Path, model: Model, evaluation: Evaluation, gathered: EvaluationData, path: Path, data: str
) -> None:
    """Write the page, whole or not at all."""
    from textodds.model.file import replacing
    from textodds.study.report.evaluation_page import evaluation_page

    stat = path.stat()
    written = datetime.fromtimestamp(stat.st_mtime, UTC)
    more = [("file", f"{path}, {size(stat.st_size)}, written {written:%Y-%m-%d %H:%M} UTC")]
    drawn = evaluation_page(model, evaluation, gathered, called=path.name, data=data, more=more)
    with replacing(page) as temporary:
        temporary.write_text(drawn, encoding="utf-8")


def _lines(decided: MeanLoss) -> Iterator[str]:
    yield ""
    measures = (
        ("mean loss", decided.mean, decided.interval),
        ("answered", decided.answered, decided.answered_interval),
    )
    rows = [
        [name, strong(f"{value:.4f}"), faint(f"{low:.4f} to {high:.4f}")]
        for name, value, (low, high) in measures
    ]
    yield from aligned(rows)
    yield faint("  of deciding by these losses; all above is of the most probable class")
