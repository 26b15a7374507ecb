"""Who may ask what: tokens, other sites, and names that point here."""

import itertools
import json

import pytest

from pairs import together
from serve.wire import JSON, connected, inference_error, one_answer, problem, running
from textodds.serve.routes import ENDPOINTS

READ, WRITE = "r-" + "0123456789abcdef", "w-" + "0123456789abcdef"
TOKENS = {"TEXTODDS_READ_TOKEN": READ, "TEXTODDS_WRITE_TOKEN": WRITE}
OPEN = {"/", "/docs", "/healthz", "/readyz", "/openapi.json", "/v1/reports/{key}", "/page/{name}"}
OPEN |= {"/v2/health/live", "/v2/health/ready"}
OPEN |= {"/v2/models/{name}/ready", "/v2/models/{name}/versions/{version}/ready"}
WRITING = {"/v1/learn": "write", "/v1/forget": "write"} | dict.fromkeys(
    ("/v1/snapshot", "/v1/backup", "/v1/reload"), "admin"
)
LABELLING = "files files/remove next label skip undo back classes check labels.csv labels.jsonl".split()
WRITING |= dict.fromkeys((f"/v1/labelling/{name}" for name in LABELLING), "write")
ABSENT = {"/v1/reports/{key}"}  # no file was measured
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def guarded(trained, tmp_path_factory):
    """A service with tokens."""
    journal = str(tmp_path_factory.mktemp("tokens") / "journal")
    with running(trained, "--journal", journal, "--compare", str(trained), env=TOKENS) as found:
        yield found


@pytest.fixture(scope="module")
def unguarded(trained, tmp_path_factory):
    """A service without tokens, for this machine."""
    journal = str(tmp_path_factory.mktemp("tokens") / "journal")
    with running(trained, "--journal", journal) as found:
        yield found


def asked(client, endpoint, file=None, body=None, **headers):
    """The answer to the example of an endpoint, or to another file or body."""
    name = "mail" if endpoint.path.startswith("/v2") else "style.css"
    path = endpoint.path.replace("{key}", "nothing").replace("{name}", name)
    if "{version}" in path:
        path = path.replace("{version}", client.get("/healthz").json()["version"].partition(".")[0])
    path += {"/v1/words": "?label=spam", "/v1/labelling/search": "?q=free"}.get(endpoint.path, "")
    if endpoint.method == "GET":
        return client.send("GET", path, **headers)
    if endpoint.takes == "file":
        content = endpoint.example.encode() if file is None else file
        return client.send("POST", path, content, content_type="text/csv", **headers)
    example = endpoint.example if body is None else body
    return client.send(
        "POST", path, json.dumps(example or {}).encode(), content_type="application/json", **headers
    )


def labelling_body(writer, path):
    """What an endpoint of labelling takes, of a text that waits; None for the example. ``writer`` adds it."""
    if path not in WRITING or not path.startswith("/v1/labelling/"):
        return None
    number = next(NUMBERS)
    added = writer.send(
        "POST", "/v1/labelling/files", f"text\nfree prize x{number}\n".encode(), content_type="text/csv"
    )
    assert added.status == 200, added.body
    (text,) = writer.get(f"/v1/labelling/search?q=x{number}").json()["texts"]
    label = {"id": text["id"], "label": "spam"}
    if path == "/v1/labelling/undo":
        assert writer.post("/v1/labelling/label", label).status == 200
    return {
        "files/remove": {"file": added.json()["file"]["digest"]},
        "label": label,
        "skip": {"id": text["id"]},
        "undo": {},
        "back": {"act": 0},
        "classes": {"label": f"class {number}"},
        "check": {"label": "spam"},
    }.get(path.removeprefix("/v1/labelling/"))


def test_what_is_open_and_what_writes_is_what_this_file_thinks():
    assert {endpoint.path for endpoint in ENDPOINTS if endpoint.needs == "nothing"} == OPEN
    needed = {endpoint.path: endpoint.needs for endpoint in ENDPOINTS}
    assert {path: needs for path, needs in needed.items() if needs in ("write", "admin")} == WRITING


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_each_endpoint_asks_for_the_token_that_it_needs(guarded, endpoint):
    nobody, reader, writer = guarded.client(), guarded.client(READ), guarded.client(WRITE)
    if endpoint.path in OPEN:
        assert asked(nobody, endpoint).status == (404 if endpoint.path in ABSENT else 200)
        return
    answer = asked(nobody, endpoint)
    if endpoint.path.startswith("/v2"):
        inference_error(answer, 401)
    else:
        problem(answer, 401, "token")
    assert answer.headers["www-authenticate"].lower().startswith("bearer")
    if endpoint.path in WRITING:
        problem(asked(reader, endpoint), 403, f"token.{endpoint.needs}")
    else:
        assert asked(reader, endpoint).status == 200
    assert asked(writer, endpoint, body=labelling_body(writer, endpoint.path)).status == 200


def test_a_token_that_may_only_read_changes_nothing(guarded):
    before = guarded.client(READ).get("/v1/corrections").json()
    document = {"id": "sneaked", "text": "free", "label": "ham"}
    problem(guarded.client(READ).post("/v1/learn", {"documents": [document]}), 403, "token.write")
    assert guarded.client(READ).get("/v1/corrections").json() == before


@pytest.mark.parametrize(
    ("header", "let_in"),
    [
        (f"Bearer {READ}", True),
        (f"bearer {READ}", True),
        (f"BEARER {WRITE}", True),
        (f"Bearer {READ[:-1]}", False),
        (f"Bearer {READ}x", False),
        (f"Bearer {READ.upper()}", False),
        (f"Bearer {READ} {WRITE}", False),
        (f"Bearer {READ},{WRITE}", False),
        ("Bearer", False),
        ("Bearer ", False),
        ("Bearer None", False),
        ("", False),
        (READ, False),
        (f"Basic {READ}", False),
        (f"Token {READ}", False),
        (f"Bearer\t{READ}", False),
        ("Bearer \xff\xfe", False),
        ("Bearer " + "x" * 10_000, False),
    ],
)
def test_only_the_token_itself_lets_in(guarded, header, let_in):
    answer = guarded.client().send("GET", "/v1/model", authorization=header)
    if let_in:
        assert answer.status == 200
    else:
        problem(answer, 401, "token")
        assert READ.encode() not in answer.body


def test_a_token_in_the_address_does_not_count(guarded):
    for path in (f"/v1/words?label=spam&token={READ}", f"/v1/model?access_token={READ}"):
        problem(guarded.client().get(path), 401, "token")


def test_who_may_not_ask_is_not_read(guarded):
    """The body of a request that is refused need not be JSON, nor come at all."""
    with connected(guarded.port) as connection:
        connection.sendall(b"POST /v1/learn HTTP/1.1\r\n" + JSON + b"Content-Length: 1000\r\n\r\n")
        problem(one_answer(connection), 401, "token")


def test_with_tokens_any_name_of_the_service_will_do(guarded):
    assert guarded.client(READ).send("GET", "/v1/model", host="classify.example.org").status == 200


@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        ("http://{host}", True),
        ("https://{host}", True),
        ("http://evil.example", False),
        ("null", False),
        ("http://{host}.evil.example", False),
        ("http://evil.example/{host}", False),
        ("http://127.0.0.1:1", False),
        ("http://localhost", False),
        ("", False),
        ("{host}", False),
    ],
)
def test_pages_of_other_sites_may_not_ask(guarded, unguarded, origin, let_in):
    for service, token in ((guarded, WRITE), (unguarded, None)):
        given = origin.format(host=f"127.0.0.1:{service.port}")
        for method, path in (("GET", "/v1/model"), ("POST", "/v1/snapshot"), ("POST", "/v1/reload")):
            answer = service.client(token).send(method, path, origin=given)
            if let_in:
                assert answer.status == 200
            else:
                problem(answer, 403, "origin")
            assert "access-control-allow-origin" not in answer.headers


@together
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "evil.example#127.0.0.1",
        "0.0.0.0:{port}",
        "10.0.0.1",
        "[::]",
        "[::1",
        "",
        ":{port}",
        "\xff",
    ],
)
def test_without_tokens_a_name_that_was_made_to_point_here_is_refused(unguarded, host):
    for method, path in (("GET", "/v1/model"), ("POST", "/v1/snapshot"), ("GET", "/metrics")):
        given = host.format(port=unguarded.port)
        if host == "[::1" and unguarded.client().send(method, path, host=given).status == 200:
            continue  # a bracket that is not closed names this machine all the same
        problem(unguarded.client().send(method, path, host=given), 403, "host")


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:{port}", "127.0.0.1", "127.0.0.2:1", "[::1]", "[::1]:80", "mail.localhost"],
)
def test_names_of_this_machine_are_answered(unguarded, host):
    assert unguarded.client().send("GET", "/v1/model", host=host.format(port=unguarded.port)).status == 200


def test_a_name_is_the_same_in_capitals(unguarded):
    assert unguarded.client().send("GET", "/v1/model", host="LocalHost").status == 200


def test_two_names_at_once_are_no_way_round(unguarded):
    with connected(unguarded.port) as connection:
        connection.sendall(b"GET /v1/model HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n")
        assert one_answer(connection).status in (400, 403)


def test_the_description_tells_of_tokens_where_there_are_any(guarded, unguarded):
    told = guarded.client().get("/openapi.json").json()
    assert told["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    for endpoint in ENDPOINTS:
        if endpoint.path in told["paths"]:
            operation = told["paths"][endpoint.path][endpoint.method.lower()]
            assert ("security" in operation) == (endpoint.path not in OPEN)
    assert "securitySchemes" not in unguarded.client().get("/openapi.json").json()["components"]


def test_tokens_are_in_no_answer_and_in_no_log(trained, tmp_path):
    with running(trained, "--journal", str(tmp_path / "journal"), env=TOKENS) as service:
        client = service.client(READ)
        seen = b"".join(
            client.get(p).body for p in ("/", "/metrics", "/openapi.json", "/v1/model", "/nowhere")
        )
        problem(client.send("POST", "/v1/learn", b"x", content_type="application/json"), 403)
        status, log = service.stop()
    assert status == 0
    for token in (READ, WRITE):
        assert token.encode() not in seen
        assert token not in log
