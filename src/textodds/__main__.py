"""``textodds`` as a process; ``python -m textodds`` is the same, where scripts are not on the path."""

import atexit
import contextlib
import gc
import os
import sys
import threading
from typing import NoReturn


def run() -> NoReturn:
    """Run the command of this process, and end it with the command's exit status.

    The objects that modules are made of are neither looked through for garbage nor taken apart at the end,
    where the system takes back the memory anyway: that is a fifth of the time of a short command.
    """
    gc.disable()
    from textodds.cli import main

    gc.enable()
    status = main()
    atexit._run_exitfuncs()
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon for thread in others):
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
