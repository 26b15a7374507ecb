"""How many instructions the hot kernels take on an input that is always the same, counted by valgrind.

`make instructions` counts them and writes `instructions.json`; `tests/text/test_instructions.py` compares.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = Path(__file__).with_suffix(".json")
KERNELS = ("count", "scripts", "predict", "pairs", "characters", "gather")
"""Counting words, of other scripts too; scores of naive Bayes, with pairs, with characters; gathering."""


def rustc() -> str:
    """The compiler: another one gives other instructions."""
    return _output("rustc", "--version").strip()


def build() -> Path:
    """The program that runs one kernel."""
    build = ("cargo", "build", "--release", "--quiet", "-p", "textodds-core", "--example", "kernels")
    messages = _output(*build, "--message-format", "json").splitlines()
    programs = [json.loads(message).get("executable") for message in messages]
    return Path(next(program for program in reversed(programs) if program))


def count(program: Path, kernel: str) -> int:
    """The instructions of a kernel, without what prepares its input."""
    valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    only = ("--collect-atstart=no", "--toggle-collect=*measured*")
    done = subprocess.run(
        (*valgrind, *only, program, kernel), capture_output=True, text=True, check=True, timeout=600
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1])


def counts(*kernels: str) -> dict[str, int]:
    """The instructions of some kernels, by default of all."""
    program = build()
    return {kernel: count(program, kernel) for kernel in kernels or KERNELS}


def _output(*command: str) -> str:
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=900
    ).stdout


if __name__ == "__main__":
    figures = {"rustc": rustc(), "instructions": counts()}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(FIGURES.read_text())
