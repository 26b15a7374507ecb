"""Runs a command, of which only the one that is called is imported; help, exit status and errors of all."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

import click

import textodds
from textodds.cli.misuse import meaning_of, must_not_be_swapped
from textodds.cli.output import echo, harmless, shown_warnings, styled
from textodds.cli.overwrite import Paths, must_not_overwrite, themselves
from textodds.errors import InputError, TextoddsError, not_installed, suggestion

PROGRAM = "textodds"
UNDONE, BUG, STOPPED, PIPE_CLOSED = 2, 3, 130, 141
COMPLETE = "_TEXTODDS_COMPLETE"  # what click's completion scripts set

F = TypeVar("F", bound=Callable[..., int | None])
Section = tuple[str, Callable[[], Iterable[tuple[str, str]]]]
"""A title, and what stands under it, made when the help is shown."""


class Option(click.Option):
    """An option that stands in a section of the help.

    ``reads`` gives the files that its value names to be read; ``writes`` is what is written to the file
    that it names, which may be one of those that the parameters ``may_replace`` name. The names ``also`` are
    accepted, but not shown.
    """

    def __init__(
        self,
        *args: Any,
        section: str = "Options",
        reads: Paths | None = None,
        writes: str | None = None,
        may_replace: Sequence[str] = (),
        also: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.section, self.reads, self.writes, self.may_replace = section, reads, writes, may_replace
        self.also = also

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Accept all of its names."""
        shown = self.opts
        self.opts = [*shown, *self.also]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Values that begin so: those of its type, or files."""
        is_path = self.writes is not None or self.reads is themselves
        return super().shell_complete(ctx, incomplete) or (_files(incomplete) if is_path else [])


class Argument(click.Argument):
    """An argument that the help says something about; it names files to be read."""

    def __init__(self, *args: Any, about: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.about, self.reads = about, themselves

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Values that begin so: those of its type, or files."""
        return super().shell_complete(ctx, incomplete) or _files(incomplete)


def _files(incomplete: str) -> list[Any]:
    """That the shell is to complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


class Command(click.Command):
    """A command with examples in its help."""

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), section: Section | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples, self.section = examples, section

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would write over what it is given to read."""
        must_not_be_swapped(ctx)
        must_not_overwrite(self.params, ctx.params)
        return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the command does, then how it is called, as it would be typed."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments, then options by section, sections in the order in which they are met."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, Argument):
                sections.setdefault("Arguments", []).append((parameter.human_readable_name, parameter.about))
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Other"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        if self.section is not None:
            title, made = self.section
            with formatter.section(title):
                formatter.write_dl(list(made()))


def command(
    name: str, *, examples: Sequence[str], section: Section | None = None
) -> Callable[[F], click.Command]:
    """A decorator that makes a `Command` of a function, with the docstring as its description."""
    return click.command(name, cls=Command, examples=examples, section=section)


def argument(name: str, about: str, **settings: object) -> Callable[[F], F]:
    """A decorator that adds an `Argument`."""
    return click.argument(name, cls=Argument, about=about, **settings)


def option(section: str, *names: str, **settings: object) -> Callable[[F], F]:
    """A decorator that adds an `Option` to a section of the help."""
    return click.option(*names, cls=Option, section=section, **settings)


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several, read from top to bottom."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


class CommandGroup(click.Group):
    """A group of commands that names a near miss."""

    noun = "command"
    example = ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, and what is left for it."""
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            names = self.list_commands(ctx)
            listed = (" and " if len(names) == 2 else ", ").join(names)
            raise InputError(
                f"there is no {self.noun} `{name}`{suggestion(name, names)}",
                hint=f"the {self.noun}s are {listed}{self.example}",
            )
        return name, command, rest


COMMANDS = {
    "train": "Train a classifier on labelled texts or tables.",
    "predict": "Predict labels of texts or table rows.",
    "explain": "Show which words decided an answer.",
    "evaluate": "Measure a model on labelled texts or tables.",
    "compare": "Compare models on the same data.",
    "words": "Show a text as its table of word counts.",
    "mix": "Estimate class proportions in unlabelled data.",
    "inspect": "Show what a model has learned.",
    "learn": "Learn more labelled texts.",
    "forget": "Forget labelled texts.",
    "merge": "Merge models into one.",
    "audit": "Find labels that look wrong.",
    "sample": "Sample texts or rows from a model.",
    "diff": "Show how two models differ.",
    "serve": "Serve a model over HTTP, with a web page.",
    "journal": "Check, export or repair a service's journal of corrections.",
    "export": "Export a model to another format.",
    "from-fasttext": "Convert a fastText classifier to a model.",
    "plot": "Plot classifiers, likelihoods and gradient descent.",
    "completion": "Set up completion with the Tab key.",
    "demo": "Train, measure, explain and correct a spam filter.",
}
ELSEWHERE = {"forget": "learn", "plot": "plot_curves"}
"""Commands that are not in a file of their own name; `plot` has pictures in two."""

WITHOUT_BLAS = ("predict", "explain", "inspect")
"""Commands whose work is in the kernels, which have threads of their own: they multiply no large matrices."""


class Commands(CommandGroup):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they are met."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in WITHOUT_BLAS:  # whose threads take a tenth of the time of a short command to start
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        gc.disable()  # what modules are made of stays: to look through it for garbage takes 20 ms
        try:
            name = cmd_name.replace("-", "_")
            module = import_module(f"textodds.cli.{ELSEWHERE.get(name, name)}")
        finally:
            gc.enable()
        command: click.Command = getattr(module, name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Commands and options that begin so."""
        from click.shell_completion import CompletionItem

        found = [(name, about) for name, about in COMMANDS.items() if name.startswith(incomplete)]
        items = [CompletionItem(name, help=about) for name, about in found]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Start with `textodds demo`; `textodds COMMAND --help` describes a command.",
)
@click.version_option(textodds.__version__, message="textodds %(version)s")
def commands() -> None:
    """Every word shifts the odds: learn by how much, decide, and show the working."""


def main(argv: list[str] | None = None) -> int:
    """Exit status of a command: 0 done, 1 the answer is no, 2 could not be done, 3 a bug, 130 stopped."""
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label in an alphabet that the terminal lacks is no failure
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(sys.argv[1:] if argv is None else argv)
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
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (missing := not_installed(error, "this")):
            return _undone(missing.problem, missing.hint)
        import traceback

        traceback.print_exc()
        echo("", err=True)
        _undone(
            "this is a bug in textodds",
            "please report it, with the command and the traceback above",
        )
        return BUG


class _Closed(io.TextIOBase):
    """In the place of a stdout that is closed: what is written to it is an error."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "stdout")


def _fill_closed_streams() -> None:
    """Put something in the place of streams that whoever called has closed.

    Their numbers must be taken: the next file to be opened would have one, and be read as stdin.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    nothing = io.TextIOWrapper(io.BytesIO())
    sys.stdin, sys.stderr = sys.stdin or nothing, sys.stderr or nothing
    sys.stdout = sys.stdout or _Closed()


def _run(argv: list[str]) -> int:
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, PROGRAM, COMPLETE, instruction)
    try:
        # Not `commands.main`: that has words and exit codes of its own for what goes wrong.
        with shown_warnings(), commands.make_context(PROGRAM, list(argv)) as context:
            status = commands.invoke(context)
    except click.exceptions.Exit as done:  # after `--help` or `--version`
        status = done.exit_code
    sys.stdout.flush()  # a reader that has gone away is met here rather than while the interpreter ends
    return int(status or 0)


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
        problem = f"there is no option `{error.option_name}`"
        parameters = [] if context is None else context.command.get_params(context)
        known = [name for parameter in parameters for name in parameter.opts]
        if meant := meaning_of(error.option_name, known):
            return _undone(problem, meant)
        if "--learner" in known and (learner := _with_setting(error.option_name)):
            return _undone(problem, f"it is a setting: `--learner {learner}=…`")
        return _undone(problem + suggestion(error.option_name, known), hint)
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
        errno.EACCES: "check the permissions with `ls -l`",
        errno.EPERM: "check the permissions with `ls -l`",
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
