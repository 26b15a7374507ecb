"""``mix``: the shares of the classes in data without labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

from textodds.cli.commands import argument, command
from textodds.cli.options import Reading, model_argument, reading_options, running_options, source_for
from textodds.cli.output import counted, one_line, say, show, strong, table
from textodds.cli.progress import watched
from textodds.model.file import load
from textodds.model.multilabel.multilabel_model import MultiLabelModel

if TYPE_CHECKING:
    from textodds.judge.class_mix import Mix
    from textodds.model.file import Model


@command(
    "mix", examples=["textodds mix mail.textodds today.csv", "textodds mix mail.textodds today.csv --json"]
)
@model_argument()
@argument("data", "Data without labels: files, patterns, a database, or - for stdin.", nargs=-1)
@reading_options(labelled=False)
@running_options(json="Print the proportions as one JSON object.")
def mix(
    model: str,
    data: tuple[str, ...],
    threads: int | None,
    as_json_: bool,
    quiet: bool,
    **options: Unpack[Reading],
) -> None:
    """Estimate class proportions in unlabelled data.

    Prints the estimated share of each class, with a 95 % interval, and its share in training. Counts of
    predicted labels are biased towards the training proportions; this estimate is not, as long as
    texts within each class are like those in training. Of several labels a text, prints the mean
    probability of each label: the share of texts that have it, if they are like those in training.
    """
    from textodds.judge.class_mix import log_posteriors, model_mix

    opened = load(model, threads=threads)
    source = source_for(opened, data, options, labelled=False)
    if isinstance(opened, MultiLabelModel):
        from textodds.cli.several_labels import shares

        with watched(source, "reading", quiet=quiet, classes=len(opened.classes_)) as batches:
            found = shares.plain(opened, shares.shares_of(opened, batches))
        show(found, shares.lines(found), json=as_json_)
        return
    with watched(source, "reading", quiet=quiet, classes=len(opened.classes_)) as batches:
        log_posterior = log_posteriors(opened, batches)
    estimate = model_mix(opened, log_posterior)
    if opened.held_out is None:
        say("the model is not calibrated: the intervals may be too narrow", quiet=quiet)
    show(estimate.as_dict(opened.class_names), _lines(opened, estimate), json=as_json_)


def _lines(model: Model, estimate: Mix) -> Iterator[str]:
    shares = zip(model.class_names, estimate.share, estimate.interval, estimate.before, strict=True)
    rows = [
        [one_line(name), strong(f"{now:.4f}"), f"{low:.4f} to {high:.4f}", f"{before:.4f}"]
        for name, now, (low, high), before in shares
    ]
    yield from table(("class", "share now", "95 % interval", "in training"), rows)
    yield ""
    changed = (
        "the class proportions changed"
        if estimate.p_value < 0.05
        else "no evidence that the class proportions changed"
    )
    test = f"likelihood ratio test, p = {estimate.p_value:.2g}"
    yield f"  {changed} ({test}), in {counted(estimate.n, 'row')}"
