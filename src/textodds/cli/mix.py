"""``mix``: the shares of the classes in data without labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.cli.command import argument, command
from textodds.cli.output import aligned, as_json, counted, echo, faint, one_line, say, strong
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import portions, reading_options, source_for
from textodds.errors import Unsupported
from textodds.learn.forms.linear import log_softmax
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.judge.class_mix import Mix
    from textodds.model.file import Model


@command(
    "mix",
    examples=[
        "textodds mix mail.textodds today.csv",
        "textodds mix mail.textodds today.csv --json",
    ],
)
@argument("model", "A model file made by `train`.")
@argument("data", "Data without labels: files, patterns, a database, or - for stdin.", nargs=-1)
@reading_options(labelled=False)
@running_options(json="Print the mix as one JSON object.")
def mix(
    model: str,
    data: tuple[str, ...],
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Estimate class proportions in unlabelled data.

    Prints the share of each class now, with a 95 % interval, and its share in training. It is a better
    estimate than the count of answers, which leans to the mix of training; it takes what a class looks
    like to be what it was.
    """
    from textodds.judge.class_mix import class_mix

    opened = load(model, threads=threads)
    if not getattr(getattr(opened, "form", None), "is_posterior", True):
        raise Unsupported(
            "a complement model has scores, not probabilities that a mix could be found from",
            hint="train with another learner, such as multinomial",
        )
    source = source_for(opened, data, options, labelled=False)
    with watched(source, "reading", quiet=quiet) as watch:
        log_posterior = _posteriors(opened, watch.batches())
    form: Any = getattr(opened, "form", opened)
    trained = _trained(opened)
    held_out = opened.held_out
    found = class_mix(log_posterior, form.log_prior, held_out, trained)
    if held_out is None:
        say("the intervals take the probabilities of the model at their word", quiet=quiet)
    if as_json_:
        echo(as_json(_about(opened, found)))
        return
    for line in _table(opened, found):
        echo(line)


def _posteriors(model: Model, batches: Iterable[Any]) -> Any:
    parts = [
        log_softmax(model.score_batch(batch)[0])
        for batch in portions(batches, len(model.classes_))
        if len(batch)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, len(model.classes_)))


def _trained(model: Model) -> Any:
    """The shares of the classes in training; None, for the prior, where they are not known."""
    try:
        documents = np.array([model.class_documents[name] for name in model.classes_])
    except Unsupported:
        return None
    return documents / documents.sum() if documents.sum() > 0 else None


def _about(model: Model, found: Mix) -> dict[str, Any]:
    by_class = {
        name: {
            "share": float(found.share[k]),
            "interval": found.interval[k].tolist(),
            "standard_error": float(found.standard_error[k]),
            "in_training": float(found.before[k]),
        }
        for k, name in enumerate(model.classes_)
    }
    return {"n": found.n, "classes": by_class, "statistic": found.statistic, "p_value": found.p_value}


def _table(model: Model, found: Mix) -> list[str]:
    rows = [[faint(name) for name in ("class", "share now", "95 % interval", "in training")]]
    for k, name in enumerate(model.classes_):
        low, high = found.interval[k].tolist()
        rows.append(
            [
                one_line(name),
                strong(f"{found.share[k]:.4f}"),
                f"{low:.4f} to {high:.4f}",
                f"{found.before[k]:.4f}",
            ]
        )
    changed = "the mix has changed" if found.p_value < 0.05 else "no sign that the mix has changed"
    n = counted(found.n, "row")
    return [*aligned(rows), "", f"  {changed} (likelihood ratio test, p = {found.p_value:.2g}), in {n}"]
