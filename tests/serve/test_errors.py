"""Whatever is wrong with a request is said in one shape, and never how the machine looks inside."""

import json
import shutil
import signal
import socket
import time
from pathlib import Path

import pytest

import textodds
from pairs import in_turn, together
from serve.wire import HOST, JSON, answers, connected, one_answer, post, problem, running, said, until_closed

WITHOUT_A_BODY = ("/v1/snapshot", "/v1/reload")
TAKING_JSON = ("/v1/classify", "/v1/classify/batch", "/v1/explain", "/v1/learn", "/v1/forget", "/v1/suggest")
GETTING = ("/v1/model", "/v1/corrections", "/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/docs")


@pytest.fixture(scope="module")
def service(trained, tmp_path_factory):
    with running(trained, "--journal", str(tmp_path_factory.mktemp("errors") / "journal")) as found:
        yield found
        assert found.client().get("/healthz").status == 200  # whatever the tests have sent


@pytest.fixture
def client(service):
    found = service.client()
    yield found
    found.close()


@together
@in_turn(1)
@pytest.mark.parametrize("path", TAKING_JSON)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"\x00",
        b"\xff\xfe{\x00}\x00",
        b'\xef\xbb\xbf{"text": "a"}',
        b'{"text" "a"}',
    ],
)
def test_what_is_no_json_is_400(client, path, body):
    found = problem(client.send("POST", path, body, content_type="application/json"), 400, "input.json")
    assert len(found["detail"]) <= 300


@together
@in_turn(1)
@pytest.mark.parametrize("path", TAKING_JSON)
@pytest.mark.parametrize(
    "value", [b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b"NaN", b'"\x00"']
)
def test_strings_that_are_no_unicode_are_400(client, path, value):
    body = {
        "/v1/classify": b'{"text": %s}',
        "/v1/classify/batch": b'{"texts": ["a", %s]}',
        "/v1/explain": b'{"text": "a", "label": %s}',
        "/v1/learn": b'{"documents": [{"text": %s, "label": "ham"}]}',
        "/v1/forget": b'{"documents": [{"id": %s}]}',
        "/v1/suggest": b'{"texts": [%s]}',
    }[path]
    answer = client.send("POST", path, body % value, content_type="application/json")
    problem(answer, 400, "input.json")


@together
@in_turn(1)
@pytest.mark.parametrize("path", TAKING_JSON)
@pytest.mark.parametrize("depth", [10, 10_000, 1_000_000])
def test_nesting_is_no_way_in(client, path, depth):
    for body in (b"[" * depth, b'{"x": ' * depth, b'{"text": ' + b"[" * depth + b"]" * depth + b"}"):
        if len(body) < 4 << 20:
            answer = client.send("POST", path, body, content_type="application/json")
            assert answer.status in (400, 422)
            problem(answer, answer.status)


WRONG = [
    ("/v1/classify", {}),
    ("/v1/classify", []),
    ("/v1/classify", None),
    ("/v1/classify", {"text": None}),
    ("/v1/classify", {"text": 1}),
    ("/v1/classify", {"text": ["a"]}),
    ("/v1/classify", {"texts": ["a"]}),
    ("/v1/classify", {"text": "a", "more": 1}),
    ("/v1/classify", {"text": "a", "top": 0}),
    ("/v1/classify", {"text": "a", "top": 1.5}),
    ("/v1/classify", {"text": "a", "top": "1"}),
    ("/v1/classify", {"text": "a", "top": True}),
    ("/v1/classify", {"text": "a", "top": 10**30}),
    ("/v1/classify", {"text": "a", "abstain": -1}),
    ("/v1/classify", {"text": "a", "abstain": 1e13}),
    ("/v1/classify", {"text": "a", "abstain": "1"}),
    ("/v1/classify", {"text": "a", "prior": {}}),
    ("/v1/classify", {"text": "a", "prior": {"spam": 1}}),
    ("/v1/classify", {"text": "a", "prior": {"spam": 1, "ham": 0}}),
    ("/v1/classify", {"text": "a", "prior": {"spam": 0.5, "ham": -0.5}}),
    ("/v1/classify", {"text": "a", "prior": {"spam": 0.5, "ham": 0.3, "eggs": 0.2}}),
    ("/v1/classify", {"text": "a", "prior": [0.5, 0.5]}),
    ("/v1/classify", {"text": "a", "costs": {"ham": 1}}),
    ("/v1/classify", {"text": "a", "costs": [{"truth": "ham", "answer": "spam"}]}),
    ("/v1/classify", {"text": "a", "costs": [{"truth": "ham", "answer": "eggs", "cost": 1}]}),
    ("/v1/classify", {"text": "a", "costs": [{"truth": "ham", "answer": "spam", "cost": -1}]}),
    ("/v1/classify/batch", {"texts": "abc"}),
    ("/v1/classify/batch", {"texts": ["a", None]}),
    ("/v1/explain", {"text": "a", "label": "eggs"}),
    ("/v1/explain", {"text": "a", "rival": "eggs"}),
    ("/v1/explain", {"text": "a", "label": "spam", "rival": "spam"}),
    ("/v1/explain", {"text": "a", "label": ""}),
    ("/v1/suggest", {"texts": ["a"], "limit": 0}),
    ("/v1/suggest", {"texts": ["a"], "limit": 1001}),
    ("/v1/learn", {"documents": []}),
    ("/v1/learn", {"documents": [{"text": "a"}]}),
    ("/v1/learn", {"documents": [{"text": "a", "label": ""}]}),
    ("/v1/learn", {"documents": [{"text": "a", "label": "eggs"}]}),
    ("/v1/learn", {"documents": [{"text": "a", "label": "x" * 1001}], "new_labels": True}),
    ("/v1/learn", {"documents": [{"id": "", "text": "a", "label": "ham"}]}),
    ("/v1/learn", {"documents": [{"id": "x" * 201, "text": "a", "label": "ham"}]}),
    ("/v1/learn", {"documents": [{"text": "a", "label": "ham"}], "new_labels": 1}),
    ("/v1/forget", {"documents": [{"text": "a"}]}),
    ("/v1/forget", {"documents": []}),
]


@together
@pytest.mark.parametrize(("path", "body"), WRONG, ids=lambda value: json.dumps(value)[:60])
def test_fields_that_are_not_what_they_must_be_are_422(client, path, body):
    sent = json.dumps(body).encode()
    found = problem(client.send("POST", path, sent, content_type="application/json"), 422)
    assert found["code"] in ("input", "input.fields")


@together
@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"1" + b"0" * 400, b"1" + b"0" * 5000, b"1e-400"])
def test_numbers_beyond_all_bounds_are_refused_or_read(client, number):
    for field in (b"abstain", b"top"):
        body = b'{"text": "a", "' + field + b'": ' + number + b"}"
        answer = client.send("POST", "/v1/classify", body, content_type="application/json")
        if answer.status != 200:
            assert answer.status in (400, 422)
            problem(answer, answer.status)


def test_an_unknown_label_of_any_length_is_told_shortly(client):
    """What is sent is not sent back at length, nor compared with every class at length."""
    long = "x" * 1_000_000
    for path, body in (
        ("/v1/explain", {"text": "a", "label": long}),
        ("/v1/classify", {"text": "a", "costs": [{"truth": long, "answer": "ham", "cost": 1}]}),
        ("/v1/classify", {"text": "a", "prior": {long: 0.5, "ham": 0.5}}),
        ("/v1/forget", {"documents": [{"id": "long", "label": long}]}),
    ):
        client.post("/v1/learn", {"documents": [{"id": "long", "text": "a", "label": "ham"}]})
        answer = client.post(path, body)
        assert answer.status in (409, 413, 422)
        problem(answer, answer.status)
        assert len(answer.body) < 10_000, (path, len(answer.body))


@together
@pytest.mark.parametrize(
    "query",
    [
        "",
        "?label",
        "?label=eggs",
        "?label=spam&limit=x",
        "?label=spam&limit=0",
        "?label=spam&limit=1001",
        "?label=spam&limit=-1",
        "?label=spam&limit=",
        "?label=spam&limit=1.5",
        "?label=spam&limit=99999999999999999999999999",
        "?label=spam&limit=NaN",
        "?label=spam&more=1",
        "?label=spam&rival=spam",
        "?label=spam&rival=eggs",
        "?label=%ED%A0%80",
        "?label=%FF",
        "?label=%00",
        "?label=%",
    ],
)
def test_a_query_that_is_wrong_is_422(client, query):
    problem(client.get(f"/v1/words{query}"), 422)


def test_a_parameter_that_comes_twice_is_refused(client):
    """Which of the two was meant nobody knows."""
    problem(client.get("/v1/words?label=spam&label=ham"), 422)


def test_many_parameters_are_422(client):
    for n in (20, 21, 1000):
        problem(client.get("/v1/words?label=spam&" + "&".join(f"a{i}=1" for i in range(n))), 422)


def test_a_path_that_leads_nowhere_is_404(client):
    for path in (
        "/nowhere",
        "/v1",
        "/v1/",
        "/v1/classify/",
        "//v1/model",
        "/v1/reports/",
        "/v1/reports/nonsense",
        "/v1/reports/..%2f..%2fetc%2fpasswd",
        "/page/",
        "/page/nothing.js",
        "/page/..%2fapp.js",
        "/page/%2e%2e/routes.js",
        "/page/index.html%00.js",
        "/%ff%00%0a",
        "/" + "a" * 10_000,
    ):
        found = problem(client.get(path), 404, "not-found")
        assert len(found["detail"]) < 300


@pytest.mark.parametrize("path", [*TAKING_JSON, *WITHOUT_A_BODY, "/v1/evaluate"])
def test_get_where_post_is_asked_for_is_405(client, path):
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = client.send(method, path)
        problem(answer, 405, "method")
        assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", GETTING)
def test_post_where_get_is_asked_for_is_405(client, path):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = client.send(method, path)
        problem(answer, 405, "method")
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("path", [*GETTING, "/v1/words?label=spam", "/page/style.css"])
def test_head_is_get_without_the_body(client, path):
    full, head = client.get(path), client.send("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == full.headers["content-type"]
    assert abs(int(head.headers["content-length"]) - len(full.body)) < 500  # metrics count the asking
    assert client.get("/healthz").status == 200


def test_head_of_nothing_is_404(client):
    assert (client.send("HEAD", "/nowhere").status, client.send("HEAD", "/v1/classify").status) == (404, 405)
    assert client.get("/healthz").status == 200


@in_turn(1)
@pytest.mark.parametrize("path", TAKING_JSON)
@pytest.mark.parametrize(
    "media", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_another_type_of_body_is_415(client, path, media):
    headers = {"content_type": media} if media else {}
    problem(client.send("POST", path, b'{"text": "a"}', **headers), 415, "media-type")


def test_json_with_parameters_is_json(client):
    for media in ("application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"):
        assert client.send("POST", "/v1/classify", b'{"text": "a"}', content_type=media).status == 200


def test_a_large_body_of_the_wrong_type_is_refused_in_words(client, service):
    """Not by a connection that breaks while it is being sent."""
    for size in (100_000, 1_000_000, 3_000_000):
        for path, status in (("/v1/classify", 415), ("/nowhere", 404), ("/v1/model", 405)):
            one = service.client()
            problem(one.send("POST", path, b"x" * size, content_type="text/plain"), status)
            one.close()


def test_contradictions_are_409(client):
    def learn(**document):
        return client.post(
            "/v1/learn", {"documents": [{"id": "c", "text": "free", "label": "ham"} | document]}
        )

    assert learn().status == 200
    problem(learn(label="spam"), 409, "input.conflict")
    problem(learn(text="other"), 409, "input.conflict")
    for wrong in ({"label": "spam"}, {"text": "other"}):
        problem(client.post("/v1/forget", {"documents": [{"id": "c", **wrong}]}), 409, "input.conflict")
    assert client.post("/v1/forget", {"documents": [{"id": "c"}]}).json()["documents"][0]["changed"]


@together
@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n",
        "GET /é HTTP/1.1\r\n".encode() + HOST + b"\r\n",
        b"GET /v1/words?label=\xff HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: x\r\n\r\n",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: -1\r\n\r\n",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /v1/classify HTTP/1.1\r\n"
        + JSON
        + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: gzip\r\n\r\n{}",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_the_connection_closed(service, sent):
    with connected(service.port) as connection:
        connection.sendall(sent)
        (answer,) = answers(until_closed(connection))
    problem(answer, 400, "http")
    assert answer.headers["connection"] == "close"


def test_a_head_without_end_is_431(service):
    line = b"X: " + b"y" * 1000 + b"\r\n"
    with connected(service.port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST)
        try:
            for _ in range(1000):
                connection.sendall(line)
        except ConnectionError:
            return  # it was closed: the refusal may be lost with what was still under way
        problem(answers(until_closed(connection))[0], 431, "limit.head")


def test_a_head_a_little_too_long_is_431_in_words(service):
    with connected(service.port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"y" * (66 << 10))
        problem(answers(until_closed(connection))[0], 431, "limit.head")


def test_requests_that_come_together_are_answered_in_order(service):
    sent = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    sent += post("/v1/classify", b'{"text": "free phone"}') + b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n"
    sent += b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    with connected(service.port) as connection:
        connection.sendall(sent)
        found = answers(until_closed(connection))
    assert [answer.status for answer in found] == [200, 200, 404, 200]
    assert "label" in found[1].json()


def test_a_client_that_goes_away_is_forgotten(service):
    for sent in (
        b"",
        b"G",
        b"POST /v1/classify HTTP/1.1\r\n" + JSON,
        post("/v1/classify", b'{"text": "a"}')[:-5],
    ):
        with connected(service.port) as connection:
            connection.sendall(sent)
    for _ in range(20):  # and one that does not wait for its answer
        with connected(service.port) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            connection.sendall(post("/v1/explain", b'{"text": "free phone"}'))
    assert service.client().get("/healthz").status == 200


def test_a_body_is_asked_for_before_it_is_sent(service):
    body = b'{"text": "a"}'
    with connected(service.port) as connection:
        whole = post("/v1/classify", body, b"Expect: 100-continue\r\n")
        connection.sendall(whole[: -len(body)])
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert one_answer(connection).status == 200


def test_a_request_in_chunks_is_read(service):
    head = b"POST /v1/classify HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    chunks = [b"%x\r\n%s\r\n" % (1, bytes([byte])) for byte in b'{"text": "free"}']
    assert said(service.port, head, *chunks, b"0\r\n\r\n").json()["evidence"] == 1


def test_a_websocket_is_not_spoken(service):
    upgrade = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n"
    )
    assert said(service.port, b"GET /v1/model HTTP/1.1\r\n" + HOST + upgrade + b"\r\n").status != 101


def test_every_answer_forbids_to_be_guessed_at_kept_or_framed(client):
    for path in ("/", "/healthz", "/v1/model", "/nowhere", "/openapi.json"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
    for path in ("/", "/docs"):
        headers = client.get(path).headers
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


def test_what_cannot_be_seen_is_escaped_in_errors_and_in_the_log(trained, tmp_path):
    """Marks that turn the direction of text around, and lines that would forge another entry of the log."""
    model = Path(shutil.copy(trained, tmp_path / "mail.textodds"))
    document = {"id": "m\u202e\n2026 ERROR forged", "text": "free", "label": "ham"}
    with running(model) as service:
        client = service.client()
        assert client.post("/v1/learn", {"documents": [document]}).status == 200
        found = problem(client.post("/v1/learn", {"documents": [{**document, "label": "spam"}]}), 409)
        assert "`m\\u202e\\n2026 ERROR forged`" in found["detail"]
        other = textodds.load(model)
        other.learn("free", "spam", ids=document["id"])
        other.save(model)
        service.process.send_signal(signal.SIGHUP)
        while b"textodds_reloads_refused_total 1.0" not in client.get("/metrics").body:
            time.sleep(0.02)
        log = service.stop()[1]
    assert "`m\\u202e\\n2026 ERROR forged`" in log
    assert "\n2026 ERROR forged" not in log
