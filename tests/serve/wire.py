"""What tests of the HTTP side share: bytes on a socket, the shape of a refusal, services by module."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import textodds
from serve.conftest import MESSAGES
from serve.running import Answer, Client, Running

HOST = b"Host: localhost\r\n"
JSON = HOST + b"Content-Type: application/json\r\n"
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
LEAKS = re.compile(rb'Traceback|File \\?"|\.py\b|/tmp/|/home/|/root/|/usr/|/var/|/work/|site-packages')


def evaluation(rows: int) -> bytes:
    """A request that evaluates so many rows: 100 take a moment, and thousands of labels a long one."""
    labels = (b"ham" if n < 100 else b"l%d" % n for n in range(rows))
    file = b"label,text\n" + b"".join(b"%s,free w%d\n" % (label, n) for n, label in enumerate(labels))
    head = f"POST /v1/evaluate HTTP/1.1\r\nContent-Length: {len(file)}\r\nContent-Type: text/csv\r\n"
    return head.encode() + HOST + b"\r\n" + file


def problem(answer: Answer, status: int, code: str | None = None) -> dict[str, Any]:
    """The body of a refusal, once it is known to be of the shape that every refusal has."""
    assert answer.status == status, answer.body[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert set(found) - {"hint"} == {"type", "title", "status", "detail", "code"}
    assert found["status"] == status
    assert found["title"] == TITLES[status]
    assert found["type"] == f"urn:textodds:error:{found['code']}"
    assert all(isinstance(found[name], str) and found[name] for name in ("title", "detail", "code"))
    assert isinstance(found.get("hint", ""), str)
    assert not LEAKS.search(answer.body), answer.body[:500]
    assert ("retry-after" in answer.headers) == (status == 503)
    assert code is None or found["code"] == code, found
    return found


def inference_error(answer: Answer, status: int) -> str:
    """What a refusal says, once it is known to be of the shape of the Open Inference Protocol."""
    assert answer.status == status, answer.body[:500]
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    assert set(found) == {"error"}
    assert found["error"]
    assert isinstance(found["error"], str)
    assert not LEAKS.search(answer.body), answer.body[:500]
    assert ("retry-after" in answer.headers) == (status == 503)
    return str(found["error"])


@contextmanager
def connected(port: int, timeout: float = 60) -> Iterator[socket.socket]:
    """A bare connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        yield connection


def answers(received: bytes) -> list[Answer]:
    """The answers in bytes that were received, each with a length; none of them to HEAD."""
    found = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        found.append(Answer(int(first.split()[1]), headers, rest[:length]))
        received = rest[length:]
    return found


def until_closed(connection: socket.socket) -> bytes:
    """What comes until the other side closes; an error if it does not."""
    received = b""
    try:
        while part := connection.recv(1 << 16):
            received += part
    except ConnectionError:
        pass
    return received


def one_answer(connection: socket.socket) -> Answer:
    """The next answer on a connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(1 << 16)
        assert part, received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))  # type: ignore[union-attr]
    while len(body) < length:
        part = connection.recv(1 << 16)
        assert part, received
        body += part
    return answers(head + b"\r\n\r\n" + body)[0]


def said(port: int, *parts: bytes, timeout: float = 60) -> Answer:
    """The answer to bytes."""
    with connected(port, timeout) as connection:
        for part in parts:
            connection.sendall(part)
        return one_answer(connection)


def post(path: str, body: bytes, more: bytes = b"") -> bytes:
    """A request as bytes."""
    head = (
        f"POST {path} HTTP/1.1\r\n".encode() + JSON + more + f"Content-Length: {len(body)}\r\n\r\n".encode()
    )
    return head + body


def message(**fields: Any) -> bytes:
    """JSON."""
    return json.dumps(fields).encode()


def small_model(path: Path, **recipe: Any) -> Path:
    """A model of the few messages, saved."""
    texts, labels = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
    textodds.train(texts, labels, **recipe).save(path)
    return path


@contextmanager
def running(model: Path, *options: str, **kwargs: Any) -> Iterator[Running]:
    """A service, which ends with the block, as do its clients."""
    service = Running(model, *options, **kwargs)
    clients: list[Client] = []
    make = service.client

    def client(*args: Any, **kwargs: Any) -> Client:
        clients.append(make(*args, **kwargs))
        return clients[-1]

    service.client = client  # type: ignore[method-assign]
    try:
        yield service
    finally:
        for one in clients:
            one.close()
        if service.process.poll() is None:
            service.kill()
