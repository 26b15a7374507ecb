"""What ``mix`` prints of a model of several labels a text: the share of texts with each label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from textodds.cli.output import counted, faint, one_line, strong, table
from textodds.judge.label_shares import LabelShares, label_shares
from textodds.learn.multilabel.odds import sigmoid

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.model.multilabel.multilabel_model import MultiLabelModel


def shares_of(model: MultiLabelModel, batches: Iterable[Batch]) -> LabelShares:
    """The shares in a stream of batches."""
    held = model.held_labels
    known = None if held is None else (held.p.astype("f8"), held.truth)
    return label_shares((sigmoid(model.score_batch(batch)[0]) for batch in batches), known)


def plain(model: MultiLabelModel, found: LabelShares) -> dict[str, Any]:
    """The shares as plain data."""
    n = model.n_texts
    return {
        "n": found.n,
        "several_labels": True,
        "labels": {
            name: {
                "share": share,
                "interval": list(interval),
                "standard_error": error,
                "in_training": model.class_documents[name] / n if n else None,
            }
            for name, share, interval, error in zip(
                model.class_names,
                found.share.tolist(),
                found.intervals,
                found.standard_error.tolist(),
                strict=True,
            )
        },
    }


def lines(about: dict[str, Any]) -> Iterator[str]:
    """The same in words."""
    rows = []
    for name, each in about["labels"].items():
        low, high = each["interval"]
        before = "–" if each["in_training"] is None else f"{each['in_training']:.4f}"
        rows.append([one_line(name), strong(f"{each['share']:.4f}"), f"{low:.4f} to {high:.4f}", before])
    yield from table(("label", "share now", "95 % interval", "in training"), rows)
    yield ""
    yield faint(
        f"  in {counted(about['n'], 'row')}, if they are like those in training; shares do not sum to 1"
    )
