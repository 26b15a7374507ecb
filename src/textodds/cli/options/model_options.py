"""What commands that take a model share: options, and texts that stand on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from textodds.cli.command import F, argument, option
from textodds.cli.options.data_options import refuse_reading
from textodds.cli.options.option_types import Value, above_zero
from textodds.data import Batch
from textodds.errors import InputError

if TYPE_CHECKING:
    from textodds.model.file import Model

COUNT = Value(above_zero, "a whole number above 0")


def model_argument() -> Callable[[F], F]:
    """``MODEL``."""
    return argument("model", "A model file made by `train`.")


def top_option(default: int, about: str) -> Callable[[F], F]:
    """``--top``."""
    return option("What to show", "--top", type=COUNT, metavar="N", default=default, help=about)


def say_option(about: str) -> Callable[[F], F]:
    """``--say``."""
    return option("Texts", "--say", "texts", multiple=True, metavar="TEXT", help=about)


def literal_batches(
    model: Model, texts: Sequence[str], data: Sequence[str], options: dict[str, Any], label: str | None = None
) -> Iterable[Any]:
    """Batches of the texts that ``--say`` gives (rows as JSON for a table), all of one label if any."""
    if data:
        raise InputError("texts are given both in data and with `--say`", hint="leave out one of the two")
    refuse_reading(options)
    labels = None if label is None else [label] * len(texts)
    if model.is_table:
        from textodds.cli.tables import said_row

        rows = [said_row(model, text) for text in texts]  # type: ignore[arg-type]
        return model.read(rows, labels, labelled=label is not None)  # type: ignore[union-attr]
    return [Batch(list(texts), labels, None)]
