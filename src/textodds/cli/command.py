"""Commands whose help shows examples first and options in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from textodds.errors import InputError, suggestion

F = TypeVar("F", bound=Callable[..., Any])


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

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

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


def command(name: str, *, examples: Sequence[str]) -> Callable[[Callable[..., Any]], click.Command]:
    """A decorator that makes a `Command` of a function, with the docstring as its description."""
    return click.command(name, cls=Command, examples=examples)


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
