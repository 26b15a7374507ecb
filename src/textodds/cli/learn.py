"""``learn``: learn more labelled texts, exactly."""

from __future__ import annotations

from typing import Any

from textodds.cli.change import change, change_options
from textodds.cli.commands import command


@command(
    "learn",
    examples=[
        "textodds learn mail.textodds more.csv",
        'textodds learn mail.textodds --say "win a free phone" --label-is spam',
    ],
)
@change_options("Learn")
def learn(**options: Any) -> None:
    """Learn more labelled texts, exactly.

    Afterwards the model is the one that training on these texts too would have given: new words and
    new classes included, to the last bit.
    """
    change(1, **options)
