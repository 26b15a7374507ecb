"""The directive ``textodds-commands``: what every command does, how it is called, and its options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from textodds.cli.commands import Argument, commands


class Commands(SphinxDirective):
    """All commands, a section each, in the order in which `textodds --help` lists them."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        with commands.make_context("textodds", [], resilient_parsing=True) as context:
            return [
                section
                for name in commands.list_commands(context)
                for section in self._sections(name, commands.get_command(context, name), context)
            ]

    def _sections(
        self, name: str, command: click.Command | None, parent: click.Context
    ) -> Iterator[nodes.section]:
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent)
        section = nodes.section(ids=[_place(context)])
        section += nodes.title(text=context.command_path)
        section += self._paragraphs(command.help or "")
        usage = " ".join(command.collect_usage_pieces(context))
        section += self._block(f"$ {context.command_path} {usage}".rstrip(), "console")
        section += self._examples(command)
        section += self._options(command, context)
        self.state.document.note_explicit_target(section)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                section += list(self._sections(inner, command.get_command(context, inner), context))
        yield section

    def _paragraphs(self, text: str) -> list[nodes.Node]:
        return [self._line(" ".join(part.split())) for part in text.replace("\b", "").split("\n\n") if part]

    def _line(self, text: str) -> nodes.paragraph:
        """A paragraph in which what stands in backticks is code."""
        parts = text.split("`")
        line = nodes.paragraph()
        for number, part in enumerate(parts):
            line += nodes.literal(text=part) if number % 2 else nodes.Text(part)
        return line

    def _block(self, text: str, language: str) -> nodes.literal_block:
        return nodes.literal_block(text, text, language=language)

    def _examples(self, command: click.Command) -> list[nodes.Node]:
        lines = [f"$ {line}" for line in getattr(command, "examples", ())]
        return [self._block("\n".join(lines), "console")] if lines else []

    def _options(self, command: click.Command, context: click.Context) -> list[nodes.Node]:
        """The arguments, then the options under the headings that the help has."""
        headed: dict[str, list[tuple[str, str, str]]] = {}
        for parameter in command.get_params(context):
            if isinstance(parameter, Argument):
                entry = (parameter.human_readable_name, parameter.about, "")
                headed.setdefault("Arguments", []).append(entry)
            elif record := parameter.get_help_record(context):
                place = f"{_place(context)}-{max(parameter.opts, key=len).lstrip('-')}"
                headed.setdefault(getattr(parameter, "section", "Other"), []).append((*record, place))
        out: list[nodes.Node] = []
        for heading, entries in headed.items():
            out.append(nodes.rubric(text=heading))
            listed = nodes.definition_list(classes=["options"])
            for written, about, place in entries:
                term = nodes.term("", "", nodes.literal(text=written))
                if place:
                    term["ids"].append(place)
                listed += nodes.definition_list_item(
                    "", term, nodes.definition("", *(self._paragraphs(about) or [nodes.paragraph()]))
                )
            out.append(listed)
        return out


def _place(context: click.Context) -> str:
    """Where a command is on the page."""
    return context.command_path.replace(" ", "-")


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known to Sphinx."""
    app.add_directive("textodds-commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
