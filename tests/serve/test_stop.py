"""An orderly end: what was taken is answered, what was learned is there again, and nothing is left behind."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from serve.wire import connected, evaluation, one_answer

LONG = 120  # seconds after which something that must come has not


def learning(service, clients, stop_after):
    """Documents that were acknowledged while the service was stopped, and what went wrong but for its end."""
    acknowledged, wrong = [], []
    begun = threading.Barrier(clients + 1)

    def learn(who):
        client = service.client()
        try:
            learn_by(client, who)
        finally:
            client.close()

    def learn_by(client, who):
        client.get("/healthz")
        begun.wait()
        for n in range(100_000):
            document = {"id": f"{who}-{n}", "text": f"free w{n}", "label": "ham"}
            try:
                answer = client.post("/v1/learn", {"documents": [document]})
            except ConnectionError:  # nobody is there any more
                return
            if answer.status == 200:
                acknowledged.append(document["id"])
            elif answer.status != 503:
                wrong.append(answer.body)

    threads = [threading.Thread(target=learn, args=(who,)) for who in range(clients)]
    for thread in threads:
        thread.start()
    begun.wait()
    wait_for(lambda: len(acknowledged) >= stop_after or wrong)
    stopped = service.process.send_signal
    return threads, stopped, acknowledged, wrong


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_while_many_learn_it_ends_well_and_all_that_was_acknowledged_is_there_again(serve, model, number):
    service = serve()
    threads, send, acknowledged, wrong = learning(service, 16, 40)
    send(number)
    _, log = service.process.communicate(timeout=LONG)
    for thread in threads:
        thread.join()
    assert (service.process.returncode, log, wrong) == (0, "", [])
    assert len(acknowledged) > 16
    with socket.socket() as listening:  # the port is free at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", service.port))
    names = {path.name for path in model.parent.iterdir()}
    assert names == {"mail.textodds", "mail.textodds.journal", "mail.textodds.journal.snapshot"}
    with sqlite3.connect(model.parent / "mail.textodds.journal") as journal:
        kept = {name for (name,) in journal.execute("SELECT id FROM entries")}
    journal.close()
    assert set(acknowledged) <= kept
    again = serve("--port", str(service.port))
    client = again.client()
    assert client.get("/v1/corrections").json()["total"] == len(kept)
    assert client.get("/v1/model").json()["corrections"] == len(kept)
    client.close()


def wait_for(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_under_way(service):
    """Whether a request other than this one is being answered."""
    with closing(service.client()) as client:
        return "textodds_requests_under_way 2.0" in client.get("/metrics").body.decode()


def lets_in(service):
    """Whether one can still connect."""
    try:
        with connected(service.port):
            return True
    except ConnectionError:
        return False


def test_a_request_that_was_taken_is_answered_before_the_end(serve):
    service = serve("--timeout", str(LONG))
    with connected(service.port, LONG) as connection:
        connection.sendall(evaluation(100))
        wait_for(lambda: is_under_way(service))
        service.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not lets_in(service))
        assert one_answer(connection).json()["n"] == 100
    assert service.stop() == (0, "")


def test_while_stopping_no_more_are_let_in(serve):
    service = serve("--timeout", str(LONG))
    with connected(service.port, 60) as connection:
        connection.sendall(evaluation(60_000))
        wait_for(lambda: is_under_way(service))
        service.process.send_signal(signal.SIGTERM)
        wait_for(lambda: not lets_in(service))
        assert service.process.poll() is None
    assert service.stop()[0] == 0


def test_who_idles_does_not_hold_up_the_end(serve):
    service = serve("--timeout", "300")
    with connected(service.port) as idle, connected(service.port) as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one_answer(kept).status == 200
        assert service.stop() == (0, "")
        assert idle.recv(10) == b""


def test_told_twice_it_still_ends_with_all_that_was_acknowledged(serve):
    service = serve()
    threads, send, acknowledged, wrong = learning(service, 4, 8)
    for _ in range(3):
        send(signal.SIGINT)
        time.sleep(0.01)
    service.process.communicate(timeout=LONG)
    for thread in threads:
        thread.join()
    assert (service.process.returncode, wrong) == (0, [])
    client = serve().client()
    entries = client.get("/v1/corrections?limit=500").json()
    assert entries["total"] >= len(acknowledged)
    client.close()


def test_a_stop_in_the_middle_of_measuring_leaves_no_process_behind(serve):
    service = serve("--timeout", "1")
    file = b"label,text\n" + b"".join(b"l%d,free w%d\n" % (n, n) for n in range(20_000))
    ended = []

    def evaluate():
        client = service.client()
        try:
            ended.append(client.send("POST", "/v1/evaluate", file, content_type="text/csv").status)
        except ConnectionError:
            ended.append(None)
        finally:
            client.close()

    thread = threading.Thread(target=evaluate)
    thread.start()
    wait_for(lambda: children_of(service.process.pid) or ended)
    children = children_of(service.process.pid)
    assert service.stop()[0] == 0
    thread.join()
    assert not any(is_alive(child) for child in children)


def children_of(pid):
    told = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in told.stdout.split()]


def is_alive(pid):
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(told.stdout.strip()) and not told.stdout.startswith("Z")


def started(*options, **kwargs):
    """A start that must fail: its exit status and what it said."""
    command = [sys.executable, "-m", "textodds", "serve", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False, **kwargs)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_a_port_that_is_in_use_is_said(serve, tmp_path, model):
    service = serve()
    journal = tmp_path / "another"
    status, said = started(model, "--port", service.port, "--journal", journal)
    assert status == 2
    assert f"port {service.port}: " in said
    assert "hint: stop what listens there, or give another `--port`" in said
    client = service.client()
    assert client.get("/readyz").status == 200
    client.close()
    assert not journal.exists()


def test_a_journal_that_is_in_use_is_said(serve, model):
    service = serve()
    status, said = started(model, "--port", 0)
    assert status == 2
    assert "is in use by another process" in said
    assert "--journal" in said
    client = service.client()
    assert client.post("/v1/learn", {"documents": [{"text": "a", "label": "ham"}]}).status == 200
    client.close()


def test_a_start_that_fails_leaves_nothing_behind(tmp_path):
    for name in ("missing.textodds", "bad.textodds"):
        (tmp_path / "bad.textodds").write_bytes(b"nonsense")
        status, said = started(tmp_path / name, "--port", 0)
        assert status == 2
        assert said.startswith("error: ")
    assert {path.name for path in tmp_path.iterdir()} == {"bad.textodds"}


def test_without_the_extra_it_says_what_to_install(model):
    for missing in ("starlette", "uvicorn", "msgspec", "httptools", "prometheus_client"):
        program = (
            f"import sys; sys.modules[{missing!r}] = None\n"
            f"from textodds.cli import main\nsys.exit(main(['serve', {str(model)!r}, '--port', '0']))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=LONG, check=False
        )
        assert done.returncode == 2
        assert done.stderr == (
            f"error: the service needs {missing.replace('_', '-')}, which is not installed\n\n"
            "hint: pip install 'textodds[serve]'\n"
        )


def test_where_it_listens_is_told_as_json(serve):
    service = serve()
    assert set(service.told) == {"address", "version", "pid"}
    assert service.told["pid"] == service.process.pid
    client = service.client()
    assert json.loads(client.get("/healthz").body)["version"] == service.told["version"]
    client.close()
