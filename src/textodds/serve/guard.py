"""Connections before they are requests: too many, too slow, too long a head, no HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from textodds.serve import problems
from textodds.serve.problems import Problem, unavailable

CONNECTIONS = 500  # at the same time
MOST_CHUNK = 1 << 18  # bytes that come at once
HEAD = 64 << 10  # bytes before the body of a request
EVERY = 1.0  # seconds between looks at the clock


class GuardProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits on what comes before a request is complete."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._head, self._in_body, self._head_at = 0, False, 0.0
        self._came = self._read = 0  # bytes since the head, and how many of them were body
        self._since = self.loop.time()  # when the head of a request began to be awaited; 0 if it is not
        if len(self.connections) > CONNECTIONS:
            self._refuse(unavailable("limit.connections", f"{CONNECTIONS} connections are open already"))

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is more than a head can be."""
        if not self._since and not self._in_body:
            self._since = self.loop.time()
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._since:
            self._head += len(data)
        elif self._in_body:
            self._came += len(data)
        # A chunk of one byte has six around it; trailers may be as long as a head, and no longer.
        if self._head > HEAD or self._came > HEAD + MOST_CHUNK + 8 * self._read:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._refuse(Problem(status, "limit.head", f"the head has more than {HEAD:,} bytes"))

    def on_headers_complete(self) -> None:
        """The head of a request is here."""
        self._head, self._since, self._in_body, self._head_at = 0, 0.0, True, self.loop.time()
        self._came = self._read = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body of a request is here."""
        self._read += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of a request is here."""
        self._in_body = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(Problem(HTTPStatus.BAD_REQUEST, "http", "that is no HTTP request"))

    def end_if_stalled(self, patience: float, answering: float) -> None:
        """Let go who has not sent the head of a request, or not taken its answer, for too long.

        A request that is still being answered is not cut off: its time is limited where it is answered, and
        its client must be told so.
        """
        now = self.loop.time()
        if self._since:
            if now - self._since > patience:
                self.transport.abort()
        elif now - self._head_at > answering and (
            self.transport.get_write_buffer_size() or (self._in_body and self.cycle.response_complete)
        ):
            self.transport.abort()

    def _refuse(self, problem: Problem) -> None:
        if self.transport.is_closing():
            return
        status, body = problems.details(problem)
        head = f"HTTP/1.1 {status} {problem.status.phrase}\r\ncontent-type: {problems.MEDIA.decode()}\r\n"
        more = "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in problem.headers)
        end = f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write((head + more + end).encode() + body)
        self.transport.close()


async def watch(connections: Iterable[object], patience: float, answering: float) -> None:
    """Look after connections, for ever."""
    while True:
        await asyncio.sleep(EVERY)
        for connection in list(connections):
            if isinstance(connection, GuardProtocol):
                connection.end_if_stalled(patience, answering)
