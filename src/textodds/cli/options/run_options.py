"""The options of every command that works through data."""

from __future__ import annotations

from collections.abc import Callable

from textodds.cli.command import F, option, together
from textodds.cli.options.option_types import Value, above_zero

SECTION = "Running"


def running_options(*, json: str) -> Callable[[F], F]:
    """``--threads``, ``--json`` (which prints what ``json`` says) and ``--quiet``."""
    return together(
        option(
            SECTION,
            "--threads",
            type=Value(above_zero, "a whole number above 0"),
            metavar="N",
            help="Threads to use.  [default: TEXTODDS_THREADS, or one per core]",
        ),
        option(SECTION, "--json", "as_json_", is_flag=True, help=json),
        option(SECTION, "--quiet", is_flag=True, help="Say nothing but warnings and errors."),
    )
