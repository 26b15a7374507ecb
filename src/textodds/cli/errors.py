"""What went wrong, as words on stderr and an exit status: the only place where one becomes the other."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable

import click

from textodds.cli.output import echo, harmless, styled
from textodds.errors import TextoddsError, suggestion

UNDONE, BUG, STOPPED, PIPE_CLOSED = 2, 3, 130, 141


def guarded(run: Callable[[], int]) -> int:
    """The status that ``run`` returns, or that of what it raises, which is said on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label in an alphabet that the terminal lacks is no failure
            stream.reconfigure(errors="backslashreplace")
    try:
        return run()
    except TextoddsError as error:
        return _undone(error.problem, error.hint)
    except click.UsageError as error:
        return _misused(error)
    except (KeyboardInterrupt, click.Abort):
        echo("stopped", err=True)
        return STOPPED
    except BrokenPipeError:  # `textodds predict … | head` has seen enough
        _abandon_stdout()
        return PIPE_CLOSED
    except MemoryError:
        return _undone(
            "there is not enough memory",
            "for `train`: bound the words with `--memory 500MB` or hash them: `--learner auto:hash_bits=22`",
        )
    except OSError as error:
        status = _undone(*_of_system(error))
        _abandon_stdout()
        return status
    except Exception:
        traceback.print_exc()
        echo("", err=True)
        _undone(
            "this is a fault of textodds, not of yours",
            "please report it, with the command and the lines above",
        )
        return BUG


def _undone(problem: str, hint: str | None) -> int:
    echo(f"{styled('error:', fg='red', bold=True)} {harmless(problem)}", err=True)
    if hint is not None:
        echo(f"\n{styled('hint:', fg='cyan', bold=True)} {harmless(hint)}", err=True)
    return UNDONE


def _misused(error: click.UsageError) -> int:
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2 and later: `textodds` alone
        echo(error.format_message(), err=True)
        return UNDONE
    hint = f"see `{'textodds COMMAND' if context is None else context.command_path} --help`"
    if isinstance(error, click.NoSuchOption):
        known = (
            [] if context is None else [name for p in context.command.get_params(context) for name in p.opts]
        )
        if "--learner" in known and (learner := _with_setting(error.option_name)):
            return _undone(
                f"there is no option `{error.option_name}`", f"it is a setting: `--learner {learner}=…`"
            )
        return _undone(
            f"there is no option `{error.option_name}`{suggestion(error.option_name, known)}", hint
        )
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return _undone(f"{_named(error.param)} is missing", hint)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _undone(f"{_named(error.param)}: {_as_clause(error.message)}", hint)
    return _undone(_as_clause(error.format_message()), hint)


def _with_setting(option: str) -> str | None:
    """A learner with the setting of this name, if there is one."""
    from textodds.learn.recipe import OF_TEXTS
    from textodds.learn.registry import AUTO, LEARNERS, names_of, settings_of

    name = option.lstrip("-").removeprefix("no-").replace("-", "_")
    if name in OF_TEXTS:
        return f"{AUTO}:{name}"
    return next((f"{each}:{name}" for each in names_of() if name in settings_of(LEARNERS[each].load())), None)


def _named(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.rstrip(".")
    return f"`{max(parameter.opts, key=len)}`"


def _as_clause(message: str) -> str:
    """Click's sentence without its capital and its full stop."""
    return message[:1].lower() + message[1:].rstrip(".")


def _of_system(error: OSError) -> tuple[str, str | None]:
    reason = (error.strerror or str(error)).lower()
    problem = reason if error.filename is None else f"`{os.fsdecode(error.filename)}`: {reason}"
    hints = {
        errno.ENOSPC: "free some space, or write to another disk",
        errno.EDQUOT: "free some of your quota, or write to another disk",
        errno.EACCES: "check who may read and write there with `ls -l`",
        errno.EPERM: "check who may read and write there with `ls -l`",
        errno.EROFS: "write to another disk",
    }
    return problem, hints.get(error.errno or 0)


def _abandon_stdout() -> None:
    """Drop what cannot be written to stdout, or the interpreter would complain of it as it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):  # a stdout that is no file has nothing to complain of
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
