"""Running a page: its blocks in order, in one folder, with what it shows compared to what comes."""

import contextlib
import doctest
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path

from textodds.cli import main

SHELL = re.compile(r"[|<>;&]|\$\(")
"""What only a shell understands, outside quotes."""


def run(block, names, folder):
    """What went wrong in a block, in words, or nothing; ``names`` are those that Python blocks share."""
    for command in block.first:
        status, output = ran(command, folder)
        if status:
            return f"`{command}` ended with {status}:\n{output}"
    if block.language == "python":
        return run_python(block, names)
    text = re.sub(r"^", "$ ", block.text.strip(), flags=re.M) if block.language == "sh" else block.text
    return run_console(text, folder)


def run_python(block, names):
    """A block with prompts as a doctest, one without as it is."""
    told = io.StringIO()
    if ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, names, "block", None, block.line)
        doctest.DocTestRunner(verbose=False).run(test, out=told.write, clear_globs=False)
        names.update(test.globs)
        return told.getvalue()
    try:
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    except Exception:
        return traceback.format_exc()
    return ""


def run_console(text, folder):
    """Commands after `$`, and what they print; where nothing is shown, anything may be printed."""
    wrong = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, expected = split(part)
        status, output = ran(command, folder)
        if status != status_of(command, expected):
            wrong.append(f"`{command}` ended with {status}:\n{output}")
        elif expected.strip() and not same(expected, output):
            wrong.append(f"`{command}` printed\n{output}\nwhere the page has\n{expected}")
    return "\n".join(wrong)


def status_of(command, expected):
    """The exit status that a page leads to expect: 2 where an error is shown, or as a remark says, or 0."""
    said = re.search(r"#.*exit status (\d)", command)
    return 2 if expected.startswith("error:") else int(said[1]) if said else 0


def split(part):
    """A command, which may go on where a line ends in a backslash, and what follows it."""
    lines = part.splitlines()
    end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
    return "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])


def ran(command, folder):
    """Exit status and output of a command: of ours in this process, of any other in a shell."""
    if command.startswith("textodds serve "):
        return served(command, folder)
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", command)
    if command.startswith("textodds ") and not SHELL.search(bare):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            status = main(shlex.split(command, comments=True)[1:])
        stream.flush()
        return status, stream.buffer.getvalue().decode("utf-8")
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": paths, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def served(command, folder):
    """The first line of a service, which is stopped then; its port is a free one, shown as the usual one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    typed = [sys.executable, "-m", "textodds", *shlex.split(command, comments=True)[1:], "--port", str(port)]
    service = subprocess.Popen(typed, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = service.stdout.readline()
    finally:
        service.send_signal(signal.SIGTERM)
        service.communicate()
    return service.returncode, line.replace(f":{port}/", ":8790/")


def same(expected, output):
    """Whether the output is as shown: `…` stands for anything within a line, alone for any lines."""
    parts = []
    for line in filter(str.strip, expected.splitlines()):
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + r" *\n")
    printed = "".join(f"{line.rstrip()}\n" for line in output.splitlines() if line.strip())
    return re.fullmatch("".join(parts), printed) is not None
