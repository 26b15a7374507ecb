"""The command line: one file per command."""

from __future__ import annotations

import os
import sys

PROGRAM = "textodds"
_COMPLETE = "_TEXTODDS_COMPLETE"  # what click's completion scripts set


def main(argv: list[str] | None = None) -> int:
    """Exit status of a command: 0 done, 1 the answer is no, 2 could not be done, 3 a bug, 130 stopped."""
    from textodds.cli.errors import guarded

    return guarded(lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    from click.exceptions import Exit

    from textodds.cli.commands import commands
    from textodds.cli.output import shown_warnings

    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, PROGRAM, _COMPLETE, instruction)
    try:
        # Not `commands.main`: that has words and exit codes of its own for what goes wrong.
        with shown_warnings(), commands.make_context(PROGRAM, list(argv)) as context:
            status = commands.invoke(context)
    except Exit as done:  # after `--help` or `--version`
        status = done.exit_code
    sys.stdout.flush()  # a reader that has gone away is met here rather than while the interpreter ends
    return int(status or 0)
