"""The commands by name, imported when they are called; help shows examples first and options in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

import click

import textodds
from textodds.errors import InputError, suggestion

F = TypeVar("F", bound=Callable[..., Any])
Section = tuple[str, Callable[[], Iterable[tuple[str, str]]]]
"""A title, and what stands under it, made when the help is shown."""


class Option(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class Argument(click.Argument):
    """An argument that the help says something about."""

    def __init__(self, *args: Any, about: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.about = about


class Command(click.Command):
    """A command with examples in its help."""

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), section: Section | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples, self.section = examples, section

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
) -> Callable[[Callable[..., Any]], click.Command]:
    """A decorator that makes a `Command` of a function, with the docstring as its description."""
    return click.command(name, cls=Command, examples=examples, section=section)


def argument(name: str, about: str, **settings: Any) -> Callable[[F], F]:
    """A decorator that adds an `Argument`."""
    return click.argument(name, cls=Argument, about=about, **settings)


def option(section: str, *names: str, **settings: Any) -> Callable[[F], F]:
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
    "train": "Learn a classifier from labelled texts or tables.",
    "predict": "Label texts or rows of a table.",
    "explain": "Show which words decided an answer.",
    "evaluate": "Measure a model on labelled texts or tables.",
    "compare": "Measure all models on the same data, side by side.",
    "mix": "Estimate class proportions in unlabelled data.",
    "inspect": "Show what a model has learned.",
    "learn": "Learn more labelled texts, exactly.",
    "forget": "Forget labelled texts, exactly.",
    "merge": "Make one model of several.",
    "audit": "Find labels that look wrong.",
    "sample": "Draw texts or rows from a model.",
    "diff": "Show how two models differ.",
    "serve": "Answer and learn over HTTP, with a page to try it on.",
    "export": "Write a model for other programs.",
    "plot": "Draw Gaussian classifiers of columns of numbers.",
    "demo": "See all of it work on a few hundred messages.",
}


class Commands(CommandGroup):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they are met."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"textodds.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Start with `textodds demo`; every command explains itself with `textodds COMMAND --help`.",
)
@click.version_option(textodds.__version__, message="textodds %(version)s")
def commands() -> None:
    """Every word shifts the odds: learn by how much, decide, and show the working."""
