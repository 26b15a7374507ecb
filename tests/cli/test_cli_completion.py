"""`completion`: what Tab completes, in a real shell, and what is written for it, once."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from textodds.cli import main
from textodds.cli.commands import COMMANDS
from textodds.learn.registry import names_of

DEADLINE = 300  # seconds, which only a failure waits for


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of its own, in which `textodds` is a command."""
    found = tmp_path / "a home"
    (found / "bin").mkdir(parents=True)
    program = found / "bin" / "textodds"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m textodds "$@"\n')
    program.chmod(0o755)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "SHELL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.setenv("PATH", f"{found / 'bin'}:{os.environ['PATH']}")
    return found


def completions(monkeypatch, capsys, line):
    """What is answered when Tab is pressed at the end of a line."""
    words = line.split(" ")
    monkeypatch.setenv("_TEXTODDS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("textodds exp", ["plain,explain", "plain,export"]),
        ("textodds ", [f"plain,{name}" for name in COMMANDS]),
        ("textodds predict mail.textodds --max", ["plain,--max-error"]),
        ("textodds predict ma", ["file,ma"]),
        ("textodds explain mail.textodds new", ["file,new"]),
        ("textodds train mail.csv -o mo", ["file,mo"]),
        ("textodds train mail.csv --test t", ["file,t"]),
        ("textodds train mail.csv --learner mult", ["plain,multinomial"]),
        ("textodds train mail.csv --learner ", [f"plain,{name}" for name in ("auto", *names_of())]),
        ("textodds compare mail.csv --models bernoulli,mult", ["plain,bernoulli,multinomial"]),
        ("textodds train mail.csv --format par", ["plain,parquet"]),
        ("textodds train mail.csv --text bo", []),
        ("textodds journal re", ["plain,repair"]),
        ("textodds journal check mail", ["file,mail"]),
        ("textodds plot b", ["plain,boundaries"]),
        ("textodds predict mail.textodds --top abc --quie", ["plain,--quiet"]),
        ("textodds predict mail.textodds --nothing --quie", ["plain,--quiet"]),
    ],
)
def test_commands_options_learners_and_files_are_completed(monkeypatch, capsys, line, expected):
    found = completions(monkeypatch, capsys, line)
    assert found == expected


def test_completing_a_command_imports_none(home):
    code = "import sys; from textodds.cli import main; main([]); print('numpy' in sys.modules)"
    told = {"_TEXTODDS_COMPLETE": "bash_complete", "COMP_WORDS": "textodds ex", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **told}
    )
    assert done.stdout.split() == ["plain,explain", "plain,export", "False"]


STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installing_twice_is_installing_once(home, capsys, shell):
    script = home / ".local" / "share" / "textodds" / f"completion.{shell}"
    if shell == "fish":
        script = home / ".config" / "fish" / "completions" / "textodds.fish"
    else:
        (home / STARTUP[shell]).write_text("alias ll='ls -l'")  # without an end of line
    assert main(["completion", "--install", "--shell", shell]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    said = [f"wrote {script}"]
    if shell in STARTUP:
        said.append(f"added a line to {home / STARTUP[shell]} that reads it")
    assert err.splitlines() == [*said, f"open a new terminal, or type: source {script}"]
    assert main(["completion", "--show", "--shell", shell]) == 0
    assert capsys.readouterr().out == script.read_text()
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert main(["completion", "--install", "--shell", shell]) == 0
    assert f"{script} exists already\n" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    if shell in STARTUP:
        first, second = (home / STARTUP[shell]).read_text().splitlines()
        assert first == "alias ll='ls -l'"
        assert second == f"[ -r '{script}' ] && . '{script}'  # completion of textodds"


def test_an_older_script_is_replaced(home, capsys):
    script = home / ".local" / "share" / "textodds" / "completion.bash"
    script.parent.mkdir(parents=True)
    script.write_text("old\n")
    assert main(["completion", "--install", "--shell", "bash"]) == 0
    assert f"wrote {script}\n" in capsys.readouterr().err
    assert "_textodds_completion" in script.read_text()


def test_the_shell_is_found_or_asked_for(home, capsys, monkeypatch):
    """The tests run in no shell, so that the one of the login is what there is."""
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    monkeypatch.setattr(os, "getppid", lambda: 0)
    assert main(["completion", "--install"]) == 0
    assert "textodds.fish" in capsys.readouterr().err
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main(["completion", "--install"]) == 2
    assert capsys.readouterr().err == (
        "error: cannot detect the shell (SHELL is tcsh); completion is for bash, zsh, fish\n\n"
        "hint: name it: `--shell bash`\n"
    )


def test_the_shell_that_has_started_us_comes_before_that_of_the_login(home):
    line = "textodds completion --install; true"  # or bash would become the program
    env = {**os.environ, "SHELL": "/usr/bin/fish"}
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=True, env=env, timeout=DEADLINE
    )
    assert str(home / ".bashrc") in done.stderr


class Terminal:
    """A shell that a person types in."""

    def __init__(self, argv, folder):
        self._ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "dumb", "INPUTRC": "/dev/null"}
        self._process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=folder, start_new_session=True
        )
        os.close(theirs)

    def until(self, wanted):
        """Read until that is seen, from here on."""
        seen, end = "", time.monotonic() + DEADLINE
        while wanted not in seen:
            assert time.monotonic() < end, f"{wanted!r} is not in {seen!r}"
            if select.select([self._ours], [], [], 1)[0]:
                seen += os.read(self._ours, 65536).decode(errors="replace")

    def type(self, text):
        os.write(self._ours, text.encode())

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


ABSENT = [
    pytest.param(
        shell, marks=pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")
    )
    for shell in ("bash", "zsh", "fish")
]


@pytest.mark.parametrize("shell", ABSENT)
def test_tab_completes_in_a_shell_that_is_opened_anew(home, tmp_path, capsys, shell):
    (home / ".bashrc").write_text("PS1='ready> '\n")
    (home / ".zshrc").write_text("PROMPT='ready> '\n")
    (home / ".config" / "fish").mkdir(parents=True)
    (home / ".config" / "fish" / "config.fish").write_text("function fish_prompt; echo -n 'ready> '; end\n")
    assert main(["completion", "--install", "--shell", shell]) == 0
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "mail.textodds").touch()
    (folder / "new mail.csv").touch()
    terminal = Terminal([shell, "-i"], folder)
    try:
        terminal.until("ready> ")
        terminal.type("textodds expl\t")
        terminal.until("textodds explain ")
        terminal.type("mai\t")
        terminal.until("mail.textodds ")
        terminal.type("ne\t")
        terminal.until("mail.csv ")
        terminal.type("--why\t")
        terminal.until("--why-not ")
        terminal.type("\x15textodds train --learner berno\t")
        terminal.until("bernoulli")
        terminal.type("\x15textodds completion --sh\t\t")
        terminal.until("--shell")
    finally:
        terminal.close()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_works_by_the_variables_of_bash(home):
    """As bash calls it, without a terminal."""
    assert main(["completion", "--install", "--shell", "bash"]) == 0
    script = home / ".local" / "share" / "textodds" / "completion.bash"
    line = f"""source '{script}'; complete -p textodds
      COMP_WORDS=(textodds train mail.csv --learner soft); COMP_CWORD=4
      _textodds_completion textodds; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(
        ["bash", "--norc", "-c", line], capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    assert done.stdout.splitlines() == ["complete -o nosort -F _textodds_completion textodds", "softmax"]
    assert Path(script).stat().st_mode & 0o111 == 0
