"""What other systems lack is not missed: fcntl, resource, uvloop, and files that are replaced while open."""

import subprocess
import sys
import textwrap

import pytest

# What Windows has not, taken away before anything of ours is imported.
LESS = """
import contextlib, importlib, os, signal, sys

# Libraries of others have here what they need here.
for name in ("asyncio logging socket subprocess tempfile numpy click safetensors.numpy " + OTHERS).split():
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
for name in ("fcntl", "resource", "uvloop", "termios", "pwd", "grp", "tty", "pty", "rich"):
    sys.modules[name] = None
for name in (
    "O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY pread pwrite preadv fork forkpty nice chown fchown fchmod "
    "getuid geteuid getgid sched_getaffinity sched_setscheduler SCHED_IDLE sched_param statvfs mkfifo killpg"
).split():
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL", "SIGALRM", "setitimer", "pthread_sigmask"):
    if hasattr(signal, name):
        delattr(signal, name)
import textodds.data.written_file as written_file
written_file.HOLDS = True
"""


OTHERS = (
    "sklearn.base scipy.sparse pyarrow.parquet pandas duckdb onnx matplotlib.figure jinja2 starlette.routing"
)
OTHERS += " uvicorn.server msgspec prometheus_client httptools pyspark.ml pyspark.sql python_calamine"


def runs(code, cwd, others=""):
    program = f"OTHERS = {others!r}\n" + LESS + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported_without_what_some_systems_lack(tmp_path):
    pytest.importorskip("pyspark")
    told = runs(
        """
        import pkgutil, textodds
        names = [m.name for m in pkgutil.walk_packages(textodds.__path__, "textodds.")]
        for name in names:
            if not name.endswith("__main__"):
                importlib.import_module(name)
        print(len(names))
        """,
        tmp_path,
        OTHERS,
    )
    assert int(told) > 200


def test_a_model_is_made_changed_in_place_and_asked(tmp_path):
    (tmp_path / "mail.csv").write_text("text,label\nfree phone,spam\nsee you,ham\n" * 8)
    told = runs(
        """
        from textodds.cli import main
        model = ["mail.textodds"]
        assert main(["train", "mail.csv", "--learner", "multinomial", "-o", *model, "--quiet"]) == 0
        assert main(["learn", *model, "mail.csv", "--quiet"]) == 0
        assert main(["forget", *model, "mail.csv", "--quiet"]) == 0
        with open("mail.csv") as stdin:
            os.dup2(stdin.fileno(), 0)
            assert main(["predict", *model, "-"]) == 0
        """,
        tmp_path,
    )
    assert told.count("spam") == 8
    assert not list(tmp_path.glob(".textodds-*"))


def test_a_file_is_closed_before_it_is_replaced_or_removed(tmp_path):
    runs(
        """
        from pathlib import Path
        opened = set()
        real_open, real_close = os.open, os.close
        def tracked(path, *args, **kwargs):
            handle = real_open(path, *args, **kwargs)
            opened.add(handle)
            return handle
        def closed(handle):
            opened.discard(handle)
            real_close(handle)
        os.open, os.close = tracked, closed
        for method in ("replace", "unlink"):
            real = getattr(Path, method)
            def checked(self, *args, real=real, **kwargs):
                assert not opened, "a file is open"
                return real(self, *args, **kwargs)
            setattr(Path, method, checked)
        with written_file.replacing("a.txt") as temporary:
            temporary.write_text("one")
        try:
            with written_file.replacing("a.txt") as temporary:
                raise KeyError
        except KeyError:
            pass
        assert Path("a.txt").read_text() == "one" and os.listdir() == ["a.txt"]
        """,
        tmp_path,
    )


def test_the_audit_log_and_the_solver_do_without(tmp_path):
    runs(
        """
        from pathlib import Path
        from textodds.serve.records.audit import AuditLog
        from textodds.serve.parent import give_way
        give_way()
        path = Path("audit.jsonl")
        path.write_bytes(b"a line that was cut")
        audit = AuditLog(path)
        audit._add([b"two\\n"])
        audit._add([b"three\\n"])
        audit.close()
        assert path.read_bytes() == b"a line that was cut\\ntwo\\nthree\\n"
        """,
        tmp_path,
        OTHERS,
    )
