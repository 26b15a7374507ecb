import gc
import itertools
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textodds.data import prefetched, read
from textodds.errors import BadRow


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "textodds-prefetch"]


@settings(max_examples=30)
@given(st.lists(st.integers()), st.integers(1, 4))
def test_items_arrive_unchanged_and_in_order(items, depth):
    assert list(prefetched(items, depth)) == items


def test_the_work_is_done_in_another_thread():
    def items():
        yield threading.current_thread()

    assert next(iter(prefetched(items()))) is not threading.current_thread()


def test_no_more_than_depth_items_are_made_ready():
    made = []
    stream = prefetched((made.append(n) or n for n in itertools.count()), depth=2)
    assert next(stream) == 0
    time.sleep(0.05)
    assert len(made) <= 3  # the one taken, and two ready
    stream.close()


def test_an_exception_crosses_over_after_what_came_before_it():
    stream = prefetched(iter(read(iter([("a", "x")] * 16_384 + [("b", None)]))))
    assert len(next(stream)) == 16_384
    with pytest.raises(BadRow, match="row 16385"):
        next(stream)
    assert not threads()


def test_an_exception_on_starting_crosses_over():
    source = read(iter([("a", "x")]))
    assert len(list(source)) == 1
    with pytest.raises(ValueError, match="only once"):
        list(prefetched(source))


def test_a_database_that_is_bound_to_its_thread_can_be_read_ahead(tmp_path):
    connection = sqlite3.connect(tmp_path / "mail.db")
    connection.execute("CREATE TABLE mail AS SELECT 'a' AS text, 'x' AS label")
    connection.commit()
    connection.close()
    assert [len(batch) for batch in prefetched(read(tmp_path / "mail.db"))] == [1]
    stream = prefetched(read(tmp_path / "mail.db"))
    next(stream)
    stream.close()


def test_closing_early_stops_the_thread_and_closes_the_items_in_it():
    closed_in = []

    def items():
        try:
            yield from itertools.count()
        finally:
            closed_in.append(threading.current_thread().name)

    stream = prefetched(items())
    assert next(stream) == 0
    stream.close()
    assert not threads()
    assert closed_in == ["textodds-prefetch"]


def test_dropping_the_iterator_stops_the_thread():
    stream = prefetched(itertools.count())
    next(stream)
    del stream
    gc.collect()
    assert not threads()


def test_an_iterator_that_is_never_started_has_no_thread():
    prefetched(itertools.count())
    assert not threads()


def test_an_error_in_the_consumer_leaves_no_thread():
    def consume():
        for _ in prefetched(itertools.count()):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        consume()
    gc.collect()
    assert not threads()


@pytest.mark.slow
def test_an_interrupt_while_stdin_is_silent_ends_the_process():
    """All at once: each is let wait for its thread."""
    processes = {}
    for options in ("format='lines', labelled=False", "format='jsonl'", ""):
        script = f"""
from textodds.data import prefetched, read
try:
    print('waiting', flush=True)
    list(prefetched(read('-', {options})))
except KeyboardInterrupt:
    print('interrupted', flush=True)
"""
        command = [sys.executable, "-c", script]
        pipe = subprocess.PIPE
        processes[options] = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        for process in processes.values():
            assert process.stdout.readline() == b"waiting\n"
        time.sleep(0.3)
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        for process in processes.values():
            process.wait(300)
    finally:
        for process in processes.values():
            process.kill()
    for options, process in processes.items():
        with process:
            told = process.stdout.read(), process.stderr.read(), process.returncode
        assert told == (b"interrupted\n", b"", 0), options
