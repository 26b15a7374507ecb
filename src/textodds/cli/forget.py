"""``forget``: forget labelled texts, exactly."""

from __future__ import annotations

from typing import Any

from textodds.cli.change import change, change_options
from textodds.cli.commands import command


@command(
    "forget",
    examples=[
        "textodds forget mail.textodds withdrawn.csv",
        'textodds forget mail.textodds --say "win a free phone" --label-is spam',
    ],
)
@change_options("Forget")
def forget(**options: Any) -> None:
    """Forget labelled texts, exactly.

    Afterwards the model is the one that training without these texts would have given, to the last
    bit. If they were never learned, nothing is changed and the exit status is 2.
    """
    change(-1, **options)
