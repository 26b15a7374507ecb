"""``evaluate``: measure a model on labelled texts."""

from __future__ import annotations

from typing import Any

from textodds.cli import quality
from textodds.cli.command import argument, command, option
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import portions, reading_options, source_for
from textodds.cli.talk import as_json, echo, say
from textodds.cli.values import Value, share
from textodds.opening import load


@command(
    "evaluate",
    examples=[
        "textodds evaluate mail.textodds held_out.csv",
        "textodds evaluate mail.textodds held_out.csv --fail-under 0.95 --json",
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
@reading_options(labelled=True)
@running_options(json="Print the measures as one JSON object.")
def evaluate(
    model: str,
    data: tuple[str, ...],
    fail_under: float | None,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> int:
    """Measure a model on labelled texts or tables.

    Prints accuracy, macro-F1 and log-loss with 95 % intervals, then precision, recall and F1 of
    each class, and which classes are taken for which. Use data that the model has not learned from.
    """
    measured = load(model, threads=threads)
    source = source_for(measured, data, options, labelled=True)
    with watched(source, "measuring", quiet=quiet) as watch:
        evaluation = measured.evaluate_batches(portions(watch.batches(), len(measured.classes_)))
    if as_json_:
        echo(as_json(evaluation.as_dict()))
    else:
        for line in quality.report(evaluation):
            echo(line)
    if fail_under is None or evaluation.accuracy >= fail_under:
        return 0
    say(f"accuracy {evaluation.accuracy:.4f} is below {fail_under:g}", quiet=quiet)
    return 1
