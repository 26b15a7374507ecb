"""What the tests of the command line share: a little data, and processes of their own."""

import os
import pty
import subprocess
import sys
from contextlib import suppress

MAIL = """\
text,label
win a free phone,spam
free prize inside,spam
claim your free prize,spam
see you at six,ham
lunch at noon?,ham
are you at home,ham
"""

COMMAND = [sys.executable, "-m", "textodds"]


def textodds(*args, **settings):
    """A finished process of its own, with the bytes or text it printed; `forked.run` is quicker."""
    settings = {"text": True, "timeout": 300, "capture_output": True, **settings}
    return subprocess.run([*COMMAND, *args], check=False, **settings)


def on_a_terminal(argv, watch=lambda seen: None, **environment):
    """What a process prints whose stdout and stderr are a terminal; ``watch`` is shown it as it comes."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment}
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # how Linux says that the other end is closed
        while part := os.read(ours, 65536):
            seen += part
            watch(seen.decode(errors="ignore"))
    os.close(ours)
    assert process.wait(300) == 0, seen.decode()
    return seen.decode()
