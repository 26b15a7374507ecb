"""The fenced blocks of a page, and what a page says about them in comments."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^`\n]*)$")
COMMENT = re.compile(r"<!--\s*(first|data|not run):\s*(.*?)\s*-->", re.DOTALL)

RUN = {"python", "console", "sh"}
"""Kinds of blocks that run."""

SHOWN = {"text", "json", "jsonl", "csv", "rust", "toml", "math", "nginx"}
"""Kinds that cannot: output, data, files, formulas."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    ``data`` are the files it reads, with the part of a real data set (`sms_spam/train`) that each stands for;
    ``first`` the commands to run before it; and ``reason`` says why it is not run at all.
    """

    line: int
    language: str
    text: str
    data: tuple[tuple[str, str], ...] = ()
    first: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def is_directive(self):
        return self.language.startswith("{")

    @property
    def runs(self):
        return self.language in RUN and self.reason is None


def blocks_of(page):
    """The blocks of a page, in order. Comments stand directly before the block that they are about."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found, before, at = [], [], 0
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if not opened:
            before = [*before, lines[at]] if _is_about_a_block(before, lines[at]) else []
            at += 1
            continue
        indent, ticks = opened["indent"], opened["ticks"]
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == ticks)
        text = "\n".join(line.removeprefix(indent) for line in lines[at + 1 : end]) + "\n"
        said = COMMENT.findall("\n".join(before))
        first = tuple(what for kind, what in said if kind == "first")
        reason = next((what for kind, what in said if kind == "not run"), None)
        given = [file for kind, what in said if kind == "data" for file in what.split(",")]
        data = tuple(tuple(part.strip() for part in file.split("=")) for file in given)
        found.append(Block(at + 1, opened["language"].strip(), text, data, first, reason))
        before, at = [], end + 1
    return found


def _is_about_a_block(before, line):
    """Whether a line goes on with a comment, or with the blank lines around it."""
    is_open = "\n".join(before).count("<!--") > "\n".join(before).count("-->")
    return is_open or not line.strip() or line.lstrip().startswith("<!--")
