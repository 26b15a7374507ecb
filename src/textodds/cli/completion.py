"""``completion``: make the shell complete commands, options, learners and files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from click.shell_completion import get_completion_class

from textodds.cli.commands import COMPLETE, PROGRAM, command, commands, option
from textodds.cli.options import OneOf
from textodds.cli.output import echo, say
from textodds.errors import InputError

SHELLS = ("bash", "zsh", "fish")
COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }"  # else zsh has no `compdef`
INSTALL = "Write the script where the shell reads it, or print it."


@dataclass(frozen=True)
class ShellFiles:
    """Where the script of a shell goes, and the file with a line that reads it, if the shell needs one."""

    script: Path
    startup: Path | None

    @classmethod
    def of(cls, shell: str) -> ShellFiles:
        """Of a shell, by the folders that its user has chosen."""
        home = Path.home()
        if shell == "fish":  # which reads this folder by itself
            folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions"
            return cls(folder / f"{PROGRAM}.fish", None)
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        startup = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc" if shell == "zsh" else home / ".bashrc"
        return cls(data / PROGRAM / f"completion.{shell}", startup)

    @property
    def line(self) -> str:
        """What reads the script."""
        return f"[ -r {self._quoted} ] && . {self._quoted}  # completion of {PROGRAM}"

    @property
    def _quoted(self) -> str:
        return "'" + str(self.script).replace("'", "'\\''") + "'"


@command(
    "completion",
    examples=["textodds completion --install", "textodds completion --show --shell zsh"],
)
@option("Completion", "--install/--show", "install", default=False, show_default="show", help=INSTALL)
@option("Completion", "--shell", type=OneOf(SHELLS), help="The shell.  [default: the one that you use]")
def completion(install: bool, shell: str | None) -> None:
    """Set up completion with the Tab key.

    Completes commands, options, learners and files, in bash (4.4 or later), zsh and fish. `--install`
    writes a script for your shell and adds a line to `~/.bashrc` or `~/.zshrc` that reads it (fish needs
    none). It can be run again.
    """
    name = shell or _shell_in_use()
    script = script_of(name)
    if not install:
        echo(script)
        return
    place = ShellFiles.of(name)
    _write(place.script, script)
    if place.startup is not None:
        _add(place.startup, place.line)
    say(f"open a new terminal, or type: source {place.script}")


def script_of(shell: str) -> str:
    """The script that makes a shell ask us."""
    made = get_completion_class(shell)
    assert made is not None
    source = made(commands, {}, PROGRAM, COMPLETE).source()
    return f"{COMPINIT}\n{source}".rstrip("\n") if shell == "zsh" else source.rstrip("\n")


def _shell_in_use() -> str:
    """The shell that has started us or, where that cannot be seen, the one that the user logs in with."""
    try:
        parent = Path(f"/proc/{os.getppid()}/comm").read_text(encoding="utf-8")
    except OSError:
        parent = ""
    names = [parent.strip().lstrip("-"), Path(os.environ.get("SHELL", "")).name]
    found = next((name for name in names if name in SHELLS), None)
    if found is None:
        known = names[1] or "none"
        raise InputError(
            f"cannot detect the shell (SHELL is {known}); completion is for {', '.join(SHELLS)}",
            hint="name it: `--shell bash`",
        )
    return found


def _write(path: Path, script: str) -> None:
    """Write the script, unless it stands there."""
    if path.is_file() and path.read_text(encoding="utf-8") == script + "\n":
        say(f"{path} exists already")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script + "\n", encoding="utf-8")
    say(f"wrote {path}")


def _add(path: Path, line: str) -> None:
    """Add a line to a file of commands, unless it stands there."""
    before = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    if line in before.splitlines():
        say(f"{path} reads it already")
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(("" if before.endswith("\n") or not before else "\n") + line + "\n")
    say(f"added a line to {path} that reads it")
