"""Connections before they are requests: too many, too slow, too long a head, no HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from textodds.serve.protocol import problems
from textodds.serve.protocol.problems import Problem, unavailable

if TYPE_CHECKING:
    from starlette.types import Send

CONNECTIONS = 500  # at the same time
HEAD = 64 << 10  # bytes before the body of a request
CHUNK = 16 << 10  # bytes of chunked bodies that are read before they are counted
EVERY = 1.0  # seconds between looks at the clock
KEPT = 75.0  # seconds for which a connection is kept for another request
END = b"\r\n\r\n"  # of a head, and of a chunked body


class GuardProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits on what comes before a request is complete."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._head, self._in_body, self._head_at = 0, False, 0.0
        self._length = self._read = 0  # bytes of the body that the head tells of, and that came
        self._came = 0  # bytes of a chunked body, with all around it
        self._skip = 0  # bytes of a chunked body in which to look for no end
        self._tail = b""  # what came last, if an `END` may have begun there
        self._since = self.loop.time()  # when the head of a request began to be awaited; 0 if it is not
        self._idle = 0.0  # when the last answer was given; 0 while there is something to do
        self._answering: RequestResponseCycle | None = None  # the request whose turn it is
        self._refusal: Problem | None = None  # for when those before it are answered
        if len(self.connections) > CONNECTIONS:
            self._refuse(unavailable("limit.connections", f"{CONNECTIONS} connections are open already"))

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is more than a head can be: however it is cut into packets."""
        self._idle, start = 0.0, 0
        if not (self._since or self._in_body or self._refusal) and not self.transport.is_closing():
            end = data.find(END, 0, HEAD) + len(END)
            if end >= len(END):  # a head in one piece, as most are
                self._head = start = end
                super().data_received(data[:end])
                self._since = self.loop.time() if self._head else 0.0  # only empty lines do not end one
        while start < len(data) and not self.transport.is_closing() and self._refusal is None:
            if not self._since and not self._in_body:
                self._since = self.loop.time()
            start += self._take(data[start : start + self._step(data, start)])

    def _step(self, data: bytes, start: int) -> int:
        """How many bytes there are up to where a head or a body may end."""
        rest = len(data) - start
        if self._in_body and self._length > self._read:
            return min(self._length - self._read, rest)
        most = CHUNK if self._in_body else HEAD + 1
        seam = (self._tail + data[start : start + len(END) - 1]).find(END)
        if seam >= 0 and not self._skip:
            return seam + len(END) - len(self._tail)
        found = data.find(END, start + self._skip, start + most)
        return min(most, rest) if found < 0 else found + len(END) - start

    def _take(self, part: bytes) -> int:
        """Read bytes that belong to one head or to one body; how many there were."""
        if self._in_body and self._length > self._read:
            super().data_received(part)
            return len(part)
        was_in_body, is_end = self._in_body, (self._tail + part).endswith(END)
        self._tail = b"" if is_end else (self._tail + part)[1 - len(END) :]
        if was_in_body:
            self._came += len(part)
        else:
            self._head += len(part)
        if self._head <= HEAD:
            super().data_received(part)
        if was_in_body and self._in_body and is_end:  # it has ends in it: not every one is worth a stop
            self._skip = min(2 * self._skip + len(END), CHUNK - len(END))
        # A chunk of one byte has six around it; trailers may be as long as a head, and no longer.
        if self._head > HEAD or self._came > HEAD + 8 * self._read:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._refuse(Problem(status, "limit.head", f"the head has more than {HEAD:,} bytes"))
        return len(part)

    def on_headers_complete(self) -> None:
        """The head of a request is here."""
        self._head, self._since, self._in_body, self._head_at = 0, 0.0, True, self.loop.time()
        self._came = self._read = self._skip = 0
        self._length = 0
        for name, value in self.headers:
            if name == b"content-length":  # two of them are no HTTP
                self._length = int(value) if value.strip().isdigit() else 0
                break
        super().on_headers_complete()
        if self._answering is None:
            self._answering = self.cycle

    def on_body(self, body: bytes) -> None:
        """A part of the body of a request is here."""
        self._read += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of a request is here."""
        self._in_body, self._length, self._came, self._skip = False, 0, 0, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A request is answered: the next has its turn, or one that could not be read is refused.

        Unlike in uvicorn, no timer is set for each answer to close the connection: `end_if_stalled` does.
        """
        self._answering = None
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._answering, app = self.pipeline.pop()
                self._start_asgi_task(self._answering, app)
            else:
                self._idle = self.loop.time()
        if self._since:
            self._since = self.loop.time()
        if self._answering is None and self._refusal is not None:
            self._refuse(self._refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that is being answered; uvicorn tells the one that came last."""
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(Problem(HTTPStatus.BAD_REQUEST, "http", "not an HTTP request"))

    def end_if_stalled(self, patience: float, answering: float) -> None:
        """Let go who has not sent the head of a request, or not taken its answer, for too long.

        A request that is still being answered is not cut off: its time is limited where it is answered, and
        its client must be told so.
        """
        now = self.loop.time()
        if self._idle and now - self._idle > KEPT:
            self.transport.close()
        elif self._since and self._answering is None:
            if now - self._since > patience:
                self.transport.abort()
        elif now - self._head_at > answering and (
            self.transport.get_write_buffer_size() or (self._in_body and self.cycle.response_complete)
        ):
            self.transport.abort()

    def _refuse(self, problem: Problem) -> None:
        """Say what is wrong, after the answers to what came before it, and close the connection."""
        if self.transport.is_closing():
            return
        is_own = self._in_body and self.cycle is self._answering  # it is wrong with what is being answered
        if self._answering is not None and not is_own:
            if self._in_body:
                self.pipeline.popleft()
            self._refusal = problem
            return
        status, body = problems.details(problem)
        head = f"HTTP/1.1 {status} {problem.status.phrase}\r\ncontent-type: {problems.MEDIA.decode()}\r\n"
        more = "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in problem.headers)
        end = f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write((head + more + end).encode() + body)
        self.transport.close()


def sent_at_once(send: Send, media: bytes, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bool:
    """Whether a 200 was written in one piece: uvicorn looks at each header of each answer again.

    Left to it are answers that end their connection, or whose client does not take what it was sent.
    """
    cycle = getattr(send, "__self__", None)
    if (
        not isinstance(cycle, RequestResponseCycle)
        or cycle.response_started
        or cycle.disconnected
        or not cycle.keep_alive
        or cycle.flow.write_paused
        or cycle.scope["method"] == "HEAD"
    ):
        return False
    named = b"".join([b"%b: %b\r\n" % each for each in (*cycle.default_headers, *headers)])
    head = b"HTTP/1.1 200 OK\r\n%bcontent-type: %b\r\ncontent-length: %d\r\n\r\n"
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(head % (named, media, len(body)) + body)
    cycle.message_event.set()
    cycle.on_response()
    return True


async def watch(connections: Iterable[object], patience: float, answering: float) -> None:
    """Look after connections, for ever."""
    while True:
        await asyncio.sleep(EVERY)
        for connection in list(connections):
            if isinstance(connection, GuardProtocol):
                connection.end_if_stalled(patience, answering)
