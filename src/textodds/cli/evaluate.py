"""``evaluate``: measure a model on labelled texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from textodds.cli import decision, quality
from textodds.cli.command import argument, command, option
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import portions, reading_options, source_for
from textodds.cli.talk import aligned, as_json, echo, faint, say, strong
from textodds.cli.values import Value, share
from textodds.opening import load

if TYPE_CHECKING:
    from textodds.decide import MeanLoss, Rule
    from textodds.evaluate import Evaluation
    from textodds.opening import Model


@command(
    "evaluate",
    examples=[
        "textodds evaluate mail.textodds held_out.csv",
        "textodds evaluate mail.textodds held_out.csv --fail-under 0.95 --json",
        'textodds evaluate mail.textodds test.csv --loss "ham->spam: 20"',
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
@decision.loss_options()
@reading_options(labelled=True)
@running_options(json="Print the measures as one JSON object.")
def evaluate(
    model: str,
    data: tuple[str, ...],
    fail_under: float | None,
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
    """
    measured = load(model, threads=threads)
    rule = decision.rule_of(measured, loss, abstain, quiet=quiet)
    source = source_for(measured, data, options, labelled=True)
    decided = None
    with watched(source, "measuring", quiet=quiet) as watch:
        batches = portions(watch.batches(), len(measured.classes_))
        if rule is None:
            evaluation = measured.evaluate_batches(batches)
        else:
            evaluation, decided = _deciding(measured, rule, batches)
    if as_json_:
        echo(as_json(evaluation.as_dict() | ({} if decided is None else decided.as_dict())))
    else:
        for line in [*quality.report(evaluation), *([] if decided is None else _lines(decided))]:
            echo(line)
    if fail_under is None or evaluation.accuracy >= fail_under:
        return 0
    say(f"accuracy {evaluation.accuracy:.4f} is below {fail_under:g}", quiet=quiet)
    return 1


def _deciding(model: Model, rule: Rule, batches: Iterable[Any]) -> tuple[Evaluation, MeanLoss | None]:
    """The quality of beliefs, and the loss of decisions on rows whose label the model has."""
    import numpy as np

    from textodds.decide import Decisions, numbers_of
    from textodds.evaluate import evaluate as measure
    from textodds.linear import log_softmax

    truths, actions, expected = [], [], []

    def scored() -> Iterator[Any]:
        for batch in batches:
            scores, evidence = model.score_batch(batch)
            labels, log_posterior = batch.label_list(), log_softmax(scores)
            truths.append(numbers_of(labels, model.classes_))
            decisions = rule.decide(log_posterior)
            actions.append(decisions.action)
            expected.append(decisions.expected_loss)
            yield labels, log_posterior, evidence

    evaluation = measure(scored(), model.classes_)
    truth, action = np.concatenate(truths), np.concatenate(actions)
    known = truth >= 0
    if not known.any():
        return evaluation, None
    of_known = Decisions(action[known], np.concatenate(expected)[known])
    return evaluation, rule.expected_loss(of_known, truth[known])


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
