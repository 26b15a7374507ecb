"""Run one command from a small process, and say what it used.

A child's peak memory as the kernel tells it (``ru_maxrss``) starts at that of the process it was
forked from. The benchmark holds whole corpora, so it never starts what it measures itself: this
script, of some ten megabytes, does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time


def main() -> None:
    order = json.load(sys.stdin)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen(
            order["argv"], stdin=subprocess.PIPE, stdout=out, stderr=err, env={**os.environ, **order["env"]}
        )
        assert child.stdin is not None
        try:
            child.stdin.write(order["stdin"].encode())
            child.stdin.close()
        except BrokenPipeError:  # it does not read
            pass
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        json.dump(
            {
                "code": child.returncode,
                "cpu": usage.ru_utime + usage.ru_stime,
                "wall": wall,
                "peak": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
                "out": out.read().decode(errors="replace"),
                "err": err.read().decode(errors="replace"),
            },
            sys.stdout,
        )


if __name__ == "__main__":
    main()
