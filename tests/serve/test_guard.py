"""What the guard lets through does not depend on how bytes are cut into packets, nor on what came before."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from random import Random

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from serve.running import Answer
from serve.wire import answers, problem
from textodds.serve.endpoint import SAFE, respond
from textodds.serve.guard import HEAD, GuardProtocol

LONG = 60.0
LAST = b"Connection: close\r\n"
SAID = [(name.decode(), value.decode()) for name, value in SAFE]

Talk = Callable[[GuardProtocol], Awaitable[None]]


async def length(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how many bytes the body has."""
    size, more = 0, True
    while more:
        part = await receive()
        if part["type"] == "http.disconnect":
            return
        size, more = size + len(part.get("body", b"")), part.get("more_body", False)
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def heard(talk: Talk, app: Callable[[Scope, Receive, Send], Awaitable[None]] = length) -> list[Answer]:
    """The answers on a connection until it is closed, of what is given to its guard."""

    async def all_of_it() -> bytes:
        config = uvicorn.Config(app, http=GuardProtocol, ws="none", lifespan="off", log_config=None)
        config.load()
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=theirs, limit=1 << 24)
        _, protocol = await asyncio.get_running_loop().connect_accepted_socket(
            lambda: GuardProtocol(config, ServerState(), {}), ours
        )
        await talk(protocol)
        try:
            return await asyncio.wait_for(reader.read(), LONG)
        finally:
            writer.close()

    return answers(asyncio.run(all_of_it()))


def spoken(packets: Sequence[bytes]) -> list[Answer]:
    """The answers to packets."""

    async def talk(protocol: GuardProtocol) -> None:
        for packet in packets:
            protocol.data_received(packet)

    return heard(talk)


def cuts(sent: bytes) -> list[list[bytes]]:
    """Bytes in one packet, and cut in several ways: before, within and after ends, evenly, and at random."""
    random, ends = Random(len(sent)), [i for i in range(len(sent)) if sent.startswith(b"\r\n\r\n", i)][:3]
    places = [[], [len(sent) - 1], [HEAD], list(range(1000, len(sent), 1000))]
    places += [[end + offset] for end in ends for offset in range(5)]
    places += [[end + offset for offset in range(5)] for end in ends[:1]]
    places += [sorted(random.sample(range(1, len(sent)), 5)) for _ in range(10)]
    places.append(list(range(1, 100)) + list(range(len(sent) - 99, len(sent))))
    found = []
    for at in places:
        edges = [0, *(place for place in at if 0 < place < len(sent)), len(sent)]
        found.append([sent[a:b] for a, b in pairwise(edges)])
    return found


def request(head: int = 0, body: bytes = b"", more: bytes = b"", *, chunks: int = 0) -> bytes:
    """A request whose head has so many bytes; in chunks of a size, or with its length in the head."""
    how = b"Transfer-Encoding: chunked\r\n" if chunks else b"Content-Length: %d\r\n" % len(body)
    lines = b"POST / HTTP/1.1\r\nHost: localhost\r\n" + how + more
    lines += b"X: " + b"y" * max(0, head - len(lines) - len(b"X: \r\n\r\n")) + b"\r\n\r\n"
    assert not head or len(lines) == head
    if not chunks:
        return lines + body
    parts = [body[start : start + chunks] for start in range(0, len(body), chunks)]
    return lines + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def test_a_head_may_have_so_many_bytes_and_not_one_more_however_it_is_cut() -> None:
    for packets in cuts(request(HEAD, more=LAST)):
        (answer,) = spoken(packets)
        assert (answer.status, answer.body) == (200, b"0"), [len(packet) for packet in packets][:9]
    for size in (HEAD + 1, 200_000):
        for packets in cuts(request(size, more=LAST)):
            (answer,) = spoken(packets)
            problem(answer, 431, "limit.head")


@pytest.mark.parametrize("chunks", [0, 1, 1000, 300_000])
def test_a_large_body_may_come_with_its_head(chunks: int) -> None:
    body = b"x" * 20_000 if chunks == 1 else b'{"text": "\r\n\r\n0\r\n\r\n"}' * 10_000
    for packets in cuts(request(60_000, body, chunks=chunks) + request(60_000, b"b", LAST)):
        assert [(answer.status, int(answer.body)) for answer in spoken(packets)] == [
            (200, len(body)),
            (200, 1),
        ], [len(packet) for packet in packets][:9]


def test_requests_that_come_together_are_counted_one_by_one() -> None:
    sent = request(40_000, b"a" * 10) + request(50_000, b"b" * 70_000, chunks=999) + request(60_000)
    for packets in cuts(sent + request(HEAD, b"c" * 5, LAST)):
        assert [(answer.status, answer.body) for answer in spoken(packets)] == [
            (200, b"10"),
            (200, b"70000"),
            (200, b"0"),
            (200, b"5"),
        ]


@pytest.mark.parametrize(
    ("wrong", "status", "code"), [(request(HEAD + 1), 431, "limit.head"), (b"nonsense\r\n\r\n", 400, "http")]
)
def test_what_is_refused_is_refused_after_the_answers_to_what_came_before(
    wrong: bytes, status: int, code: str
) -> None:
    for packets in cuts(request(0, b"a" * 10) + request(0, b"b" * 7) + wrong + request()):
        first, second, refusal = spoken(packets)
        assert (first.body, second.body) == (b"10", b"7")
        problem(refusal, status, code)


def test_trailers_are_bounded_however_they_are_cut() -> None:
    line = b"X: " + b"y" * 1000 + b"\r\n"
    sent = request(0, b"a" * 10, chunks=10)[:-2] + line * 100 + b"\r\n"
    for before in (b"", request(0, b"b" * 7)):
        for packets in cuts(before + sent):
            *firsts, refusal = spoken(packets)
            assert [answer.body for answer in firsts] == ([b"7"] if before else [])
            problem(refusal, 431, "limit.head")


@pytest.mark.parametrize("behind", [b"", b"GET /heal", request(0, b"b", LAST)[:-1]])
def test_a_request_that_is_being_answered_is_not_cut_off_whatever_comes_behind_it(behind: bytes) -> None:
    """The guard looks again and again, long after every time that it has for a client."""
    begun = asyncio.Event()

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        await begun.wait()
        await length(scope, receive, send)

    async def talk(protocol: GuardProtocol) -> None:
        protocol.data_received(request(0, b"a" * 10, b"" if behind else LAST))
        if behind:
            protocol.data_received(behind)
        for _ in range(3):
            await asyncio.sleep(0.01)
            protocol.end_if_stalled(0, 0)
        begun.set()
        while not protocol.transport.is_closing():  # now it is the turn of what came behind
            await asyncio.sleep(0.01)
            if protocol.server_state.total_requests:
                protocol.end_if_stalled(0, 1e9)
                if behind.startswith(b"POST"):
                    protocol.data_received(b"b")

    found = heard(talk, late)
    assert [answer.body for answer in found] == [b"10", b"1"][: 2 if behind.startswith(b"POST") else 1]


async def served(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers as the service does."""
    await receive()
    await respond(scope, send, 200, b'{"a": 1}', b"application/json")


@pytest.mark.parametrize(
    ("line", "lasts"),
    [(b"GET / HTTP/1.1", [b"", LAST]), (b"GET / HTTP/1.0", [b""]), (b"HEAD / HTTP/1.1", [LAST])],
)
def test_an_answer_in_one_piece_says_what_uvicorns_does(line: bytes, lasts: list[bytes]) -> None:
    async def ask(protocol: GuardProtocol) -> None:
        for last in lasts:
            protocol.data_received(line + b"\r\n" + last + b"\r\n")
            await asyncio.sleep(0)
            while not protocol.cycle.response_complete:
                await asyncio.sleep(0)

    first, *others = heard(ask, served)
    assert (first.status, first.body) == (200, b"" if line.startswith(b"HEAD") else b'{"a": 1}')
    usual = {"content-type": "application/json", "content-length": "8", **dict(SAID)}
    assert first.headers == (usual if len(lasts) > 1 else usual | {"connection": "close"})
    for other in others:  # which uvicorn wrote, since it is the last one
        assert (other.body, other.headers) == (first.body, usual | {"connection": "close"})


def test_a_connection_without_requests_is_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(protocol: GuardProtocol) -> None:
        protocol.data_received(b"GET / HTTP/1.1\r\n\r\n")
        protocol.end_if_stalled(LONG, LONG)
        await asyncio.sleep(0)
        while not protocol.cycle.response_complete:
            await asyncio.sleep(0)
        protocol.end_if_stalled(LONG, LONG)
        assert not protocol.transport.is_closing()
        monkeypatch.setattr("textodds.serve.guard.KEPT", -1.0)
        protocol.data_received(b"GET / HT")
        protocol.end_if_stalled(LONG, LONG)
        assert not protocol.transport.is_closing()  # it has begun to ask
        protocol.data_received(b"TP/1.1\r\n\r\n")
        while not protocol.cycle.response_complete:
            await asyncio.sleep(0)
        protocol.end_if_stalled(LONG, LONG)
        assert protocol.transport.is_closing()

    assert [answer.status for answer in heard(ask, served)] == [200, 200]


@pytest.mark.parametrize("blank", [b"", b"\r\n", b"\r\n\r\n", b"\r\n\r\n\r\n\r\n"])
def test_empty_lines_before_a_request_are_passed_over_and_counted(blank: bytes) -> None:
    first, second = request(), request(HEAD - len(blank), more=LAST)
    assert [answer.status for answer in spoken([first, blank + second])] == [200, 200]
    over = request(HEAD + 1 - len(blank), more=LAST)
    assert [answer.status for answer in spoken([first, blank + over])] == [200, 431]
