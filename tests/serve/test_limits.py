"""However much, however slow: it ends in a clear refusal, and others are answered meanwhile and after."""

import contextlib
import json
import os
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from serve.wire import (
    HOST,
    JSON,
    connected,
    evaluation,
    message,
    one_answer,
    post,
    problem,
    running,
    said,
    until_closed,
)

SLOW = b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: 1000\r\n\r\n{"
LONG = 120  # seconds after which something that must end has not


@pytest.fixture(scope="module")
def service(trained, tmp_path_factory):
    """A service with small limits."""
    journal = str(tmp_path_factory.mktemp("limits") / "journal")
    options = ("--max-text", "1000", "--max-batch", "10", "--max-body", "20000", "--max-upload", "30000")
    options += ("--max-requests", "2", "--timeout", str(LONG), "--journal", journal)
    with running(trained, *options) as found:
        yield found


@pytest.fixture(scope="module")
def impatient(trained, tmp_path_factory):
    """A service that waits for nobody."""
    journal = str(tmp_path_factory.mktemp("impatient") / "journal")
    with running(trained, "--max-requests", "2", "--timeout", "0.2", "--journal", journal) as found:
        yield found


@pytest.fixture(scope="module")
def patient(trained, tmp_path_factory):
    """A service with limits of sizes that has time, also on a busy machine."""
    journal = str(tmp_path_factory.mktemp("patient") / "journal")
    options = ("--max-text", "1000", "--max-batch", "10", "--max-body", "1000000", "--max-upload", "30000")
    options += ("--max-requests", "4", "--timeout", "120", "--journal", journal)
    with running(trained, *options) as found:
        yield found


@pytest.fixture
def client(service):
    found = service.client()
    yield found
    answer = found.get("/healthz") if found.get("/healthz").status == 200 else None
    found.close()
    assert answer is not None


def answers(service):
    """Whether the service answers another."""
    with contextlib.closing(service.client()) as one:
        return one.post("/v1/classify", {"text": "free phone"}).status == 200


def well(service):
    """Whether the service answers another; on a busy machine one that is impatient may refuse some before."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if answers(service):
            return True
    return False


def open_files(service):
    """How many files and connections the service has open."""
    return len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))


def memory(service):
    """Bytes that the service has in memory."""
    pages = int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_text_may_have_so_many_characters_and_not_one_more(patient):
    client = patient.client()
    for path, make in (
        ("/v1/classify", lambda text: {"text": text}),
        ("/v1/classify/batch", lambda text: {"texts": ["a", text]}),
        ("/v1/explain", lambda text: {"text": text}),
        ("/v1/suggest", lambda text: {"texts": [text]}),
        ("/v1/learn", lambda text: {"documents": [{"text": text, "label": "ham"}]}),
        ("/v1/forget", lambda text: {"documents": [{"id": "a", "text": text}]}),
    ):
        assert client.post(path, make("é" * 1000)).status == 200
        found = problem(client.post(path, make("é" * 1001)), 413, "limit.text")
        assert "1,001" in found["detail"]
        assert "1,000" in found["detail"]


def test_a_batch_may_have_so_many_texts_and_not_one_more(patient):
    client = patient.client()
    for path, make in (
        ("/v1/classify/batch", lambda n: {"texts": ["a"] * n}),
        ("/v1/suggest", lambda n: {"texts": ["a"] * n}),
        ("/v1/learn", lambda n: {"documents": [{"text": "a", "label": "ham"}] * n}),
        ("/v1/forget", lambda n: {"documents": [{"id": "none"}] * n}),
    ):
        assert client.post(path, make(10)).status == 200
        problem(client.post(path, make(11)), 413, "limit.batch")


def padded(size):
    """A request of so many bytes."""
    body = b'{"text": "free"' + b" " * (size - 16) + b"}"
    assert len(body) == size
    return body


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("size", "status"), [(20_000, 200), (20_001, 413), (50_000, 413), (500_000, 413)])
def test_a_body_may_have_so_many_bytes_and_not_one_more(service, size, status, chunked):
    body = padded(size)
    if chunked:
        head = b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
        parts = [body[start : start + 5000] for start in range(0, size, 5000)]
        sent = [head, *(b"%x\r\n%s\r\n" % (len(part), part) for part in parts), b"0\r\n\r\n"]
    else:
        sent = [post("/v1/classify", body)]
    answer = said(service.port, *sent)
    if status == 200:
        assert answer.json()["evidence"] == 1
    else:
        problem(answer, 413, "limit.body")
    assert well(service)


@pytest.mark.parametrize("size", [5_000_000, 20_000_000])
def test_who_sends_far_too_much_is_told_so_by_a_usual_client(service, size):
    """A client that sends all before it reads must find the refusal, not a broken connection."""
    one = service.client()
    problem(one.send("POST", "/v1/classify", b"x" * size, content_type="application/json"), 413, "limit.body")
    one.close()


def test_a_length_that_is_only_claimed_is_refused_at_once(service):
    head = b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: 9000000000000\r\n\r\n"
    problem(said(service.port, head), 413, "limit.body")


def test_a_file_has_a_limit_of_its_own(patient):
    one = patient.client()
    file = b"label,text\n" + b"ham,see you at noon\n" * 1600
    problem(one.send("POST", "/v1/evaluate", file, content_type="text/csv"), 413, "limit.upload")
    one.close()
    one = patient.client()
    file = file[:29_000].rpartition(b"\n")[0] + b"\n"
    assert one.send("POST", "/v1/evaluate", file, content_type="text/csv").status == 200
    one.close()


@pytest.fixture(scope="module")
def busy(trained, tmp_path_factory):
    """A service that answers one request at a time, and has one that takes long."""
    journal = str(tmp_path_factory.mktemp("busy") / "journal")
    with running(trained, "--max-requests", "1", "--timeout", "60", "--journal", journal) as found:
        with connected(found.port) as slow:
            slow.sendall(evaluation(60_000))
            end = time.monotonic() + LONG
            while answers(found):
                assert time.monotonic() < end
            yield found
        end = time.monotonic() + LONG
        while not answers(found):  # it was given up with its client
            assert time.monotonic() < end


def test_too_many_at_once_are_told_to_come_again(busy):
    one = busy.client()
    for path, body in (("/v1/classify", {"text": "a"}), ("/v1/forget", {"documents": [{"id": "a"}]})):
        answer = one.post(path, body)
        problem(answer, 503, "limit.requests")
        assert int(answer.headers["retry-after"]) >= 1
    problem(one.get("/v1/model"), 503, "limit.requests")


def test_how_it_is_can_be_asked_even_when_it_is_busy(busy):
    """Who looks after services would otherwise end one for having much to do."""
    one = busy.client()
    assert [one.get(path).status for path in ("/healthz", "/readyz", "/")] == [200, 200, 200]


def test_a_large_body_is_refused_in_words_when_too_many_are_at_once(busy):
    body = message(texts=["x" * 900] * 10) + b" " * 3_000_000
    answer = busy.client().send("POST", "/v1/classify/batch", body, content_type="application/json")
    problem(answer, 503, "limit.requests")


def test_bodies_that_are_awaited_keep_nobody_from_being_answered(patient):
    whole = post("/v1/classify", message(text="free phone"))
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connected(patient.port, LONG)) for _ in range(8)]
        for one in slow:
            one.sendall(whole[:-9])
        for _ in range(9):
            assert well(patient)
        for one in slow:
            one.sendall(whole[-9:])
        assert {one_answer(one).status for one in slow} == {200}


def test_bodies_that_are_awaited_hold_a_bounded_memory_and_small_ones_still_come(patient):
    """Sixteen times the largest body, and the smallest always."""
    whole, before = post("/v1/classify", padded(1_000_000)), memory(patient)
    small = post("/v1/classify", message(text="free phone"))
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(connected(patient.port, LONG)) for _ in range(40)]
        for one in held:
            one.sendall(whole[:-1])
        refused, _, _ = select.select(held, [], [], LONG)
        assert refused
        for one in refused:
            problem(one_answer(one), 503, "limit.bodies")
        assert memory(patient) < before + (64 << 20)
        slow = stack.enter_context(connected(patient.port, LONG))
        slow.sendall(small[:-9])
        assert well(patient)
        slow.sendall(small[-9:])
        assert one_answer(slow).status == 200
    end = time.monotonic() + LONG
    while said(patient.port, whole, timeout=LONG).status != 200:
        assert time.monotonic() < end


def test_a_body_that_does_not_come_is_not_waited_for(impatient):
    answer = said(impatient.port, SLOW, timeout=LONG)
    problem(answer, 503, "limit.time")
    assert well(impatient)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\n" + HOST])
def test_a_head_that_does_not_come_is_not_waited_for(impatient, sent):
    with connected(impatient.port, LONG) as connection:
        connection.sendall(sent)
        assert until_closed(connection) == b""


DROPS = [
    (b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n"),
    (b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: 15000\r\n\r\n", b" "),
    (b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    (b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    (b"POST /nowhere HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    (b"POST /v1/snapshot HTTP/1.1\r\n" + JSON + b"Content-Length: 15000\r\n\r\n", b" "),
]


def test_who_sends_drop_by_drop_is_let_go(impatient):
    """However it is done: slow heads, bodies, trailers, and bodies that nobody asked for; all at once."""

    def is_let_go(head, drop):
        end = time.monotonic() + LONG
        with connected(impatient.port, LONG) as connection:
            connection.sendall(head)
            connection.settimeout(0.05)
            while time.monotonic() < end:
                try:
                    connection.sendall(drop)
                    if connection.recv(1 << 16) == b"":
                        return True
                except TimeoutError:
                    continue
                except ConnectionError:
                    return True
        return False

    with ThreadPoolExecutor(len(DROPS)) as pool:
        assert list(pool.map(is_let_go, *zip(*DROPS, strict=True))) == [True] * len(DROPS)
    assert well(impatient)


def test_trailers_have_an_end(service):
    """What comes after the last chunk is a head, too, and bounded like one."""
    before, line = memory(service), (b"X: " + b"y" * 1000 + b"\r\n") * 100
    head = b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    sent = 0
    with connected(service.port, LONG) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(head)
        for _ in range(1000):
            connection.sendall(line)
            sent += len(line)
    assert sent < 50_000_000
    assert memory(service) < before + (30 << 20)
    assert well(service)


def test_who_never_reads_is_let_go(trained, tmp_path):
    """Answers that are not taken may not be kept for ever."""
    journal = str(tmp_path / "journal")
    with running(trained, "--timeout", "0.3", "--journal", journal) as service:
        one = service.client()
        for start in range(0, 200, 20):
            documents = [{"id": str(start + n), "text": "free " * 200, "label": "spam"} for n in range(20)]
            while one.post("/v1/learn", {"documents": documents}).status != 200:
                pass  # that was too slow; by their ids they are learned once
        before = open_files(service)
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                connection = stack.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", service.port))
                asked = b"GET /v1/corrections?limit=500 HTTP/1.1\r\n" + HOST + b"\r\n"
                connection.sendall(asked * 60)  # more than the system keeps for a client
            end = time.monotonic() + LONG
            time.sleep(1)
            while open_files(service) > before:
                assert time.monotonic() < end, "those who never read are still waited for"
                assert well(service)
                time.sleep(0.2)


def test_who_asks_much_and_reads_nothing_is_let_go_without_a_fault(trained, tmp_path):
    with running(trained, "--timeout", "0.5", "--journal", str(tmp_path / "journal")) as service:
        request = post("/v1/explain", message(text="win a free phone now " * 900))
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                connection = stack.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", service.port))
                connection.settimeout(0.5)
                with contextlib.suppress(TimeoutError, ConnectionError):
                    connection.sendall(request * 8)
            time.sleep(1)
            assert well(service)
        time.sleep(1)
        assert well(service)
        status, log = service.stop()
        assert status == 0
        assert "Traceback" not in log


def test_a_request_that_takes_too_long_is_ended(tmp_path):
    """Measuring takes longer than a tenth of a second: that it is ended is told, and others go on."""
    import textodds

    texts = [f"word{n % 977} other{n % 331} free{n % 7}" for n in range(20_000)]
    labels = [str(n % 50) for n in range(20_000)]
    textodds.train(texts, labels, learner="multinomial").save(tmp_path / "m.textodds")
    with running(tmp_path / "m.textodds", "--timeout", "0.01") as service:
        client = service.client()
        texts = [" ".join(f"word{n * m % 977}" for n in range(300)) for m in range(1000)]
        answer = client.post("/v1/suggest", {"texts": texts, "limit": 1000})
        if answer.status != 200:
            problem(answer, 503, "limit.time")
        file = b"label,text\n" + b"".join(b"%d,word%d free\n" % (n % 50, n) for n in range(50_000))
        problem(client.send("POST", "/v1/evaluate", file, content_type="text/csv"), 503, "limit.time")
        end = time.monotonic() + LONG
        while client.get("/healthz").status != 200:  # a hundredth of a second is short for that, too
            assert time.monotonic() < end


def test_too_many_connections_are_refused_and_those_that_end_make_room(trained, tmp_path):
    from textodds.serve.guard import CONNECTIONS

    with running(trained, "--timeout", str(LONG), "--journal", str(tmp_path / "journal")) as service:
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(connected(service.port)) for _ in range(CONNECTIONS)]
            assert well_on(held[0])
            assert well_on(held[-1])
            with connected(service.port) as connection:
                answer = one_answer(connection)
                problem(answer, 503, "limit.connections")
                assert until_closed(connection) == b""
            assert well_on(held[-1])
        end = time.monotonic() + LONG
        while True:
            try:
                one = service.client()
                if one.get("/healthz").status == 200:
                    break
            except ConnectionError:
                pass
            finally:
                one.close()
            assert time.monotonic() < end


def well_on(connection):
    connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    return one_answer(connection).status == 200


def test_slow_ones_do_not_hold_up_quick_ones(trained, tmp_path):
    """While many explain at length one short text after another is answered."""
    with running(trained, "--journal", str(tmp_path / "journal")) as service:
        done = threading.Event()
        statuses = []

        def explain():
            one = service.client()
            text = " ".join(f"{word}{n}" for n in range(500) for word in ("free", "home", "noon"))
            while not done.is_set():
                statuses.append(one.post("/v1/explain", {"text": text[:20_000]}).status)

        threads = [threading.Thread(target=explain) for _ in range(6)]
        for thread in threads:
            thread.start()
        client = service.client()
        try:
            found = [client.post("/v1/classify", {"text": "free phone"}).status for _ in range(100)]
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert set(found) == {200}
        assert set(statuses) <= {200, 503}


def test_the_limits_are_told_in_the_card(client):
    limits = client.get("/v1/model").json()["limits"]
    assert json.dumps(limits, sort_keys=True) == json.dumps(
        {"text": 1000, "explained": 20_000, "batch": 10, "body": 20_000, "upload": 30_000}, sort_keys=True
    )
