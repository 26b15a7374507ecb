"""The commands by name; the code of each is imported when it is called, so that starting stays cheap."""

from __future__ import annotations

from importlib import import_module

import click

import textodds
from textodds.cli.command import CommandGroup

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
