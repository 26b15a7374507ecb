"""A load on a service: requests that are ready as bytes, over connections that are kept."""

from __future__ import annotations

import gc
import json
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

LARGEST = 1 << 18  # bytes taken from a socket at once
MARK = b"content-length: "


class Refused(Exception):
    """An answer that is no 200: nothing that was measured counts."""


def post(path: str, body: Any) -> bytes:
    """A request."""
    content = json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def get(path: str) -> bytes:
    """A request without a body."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


class Connection:
    """One connection, with one request under way at most."""

    __slots__ = ("_from", "_got", "_size", "_unsent", "body", "due", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self._unsent, self._got = memoryview(b""), b""
        self._from, self._size = 0, -1  # where the body begins and the answer ends, once that is known
        self.body, self.due = b"", 0.0

    def send(self, message: bytes | memoryview) -> bool:
        """Whether all of it went out; what did not is sent by `go_on`."""
        try:
            sent = self.socket.send(message)
        except BlockingIOError:
            sent = 0
        self._unsent = memoryview(message)[sent:] if sent < len(message) else memoryview(b"")
        return not self._unsent

    def go_on(self) -> bool:
        """Send what is left; whether that was all."""
        return self.send(self._unsent)

    def receive(self) -> bool:
        """Take what came; whether the answer is complete."""
        data = self.socket.recv(LARGEST)
        if not data:
            raise Refused("the service closed the connection")
        self._got = self._got + data if self._got else data
        if self._size < 0:
            end = self._got.find(b"\r\n\r\n")
            if end < 0:
                return False
            if not self._got.startswith(b"HTTP/1.1 200"):
                raise Refused(self._got[:600].decode(errors="replace"))
            at = self._got.index(MARK, 0, end + 2) + len(MARK)
            self._from = end + 4
            self._size = self._from + int(self._got[at : self._got.index(b"\r", at)])
        if len(self._got) < self._size:
            return False
        self.body, self._got, self._size = self._got[self._from :], b"", -1
        return True

    def close(self) -> None:
        self.socket.close()


@dataclass(frozen=True)
class Load:
    """What became of requests: seconds from the first to the last answer, and of each its own."""

    wall: float
    generator: float  # CPU seconds of the one who asks
    latencies: Sequence[float]


def ask(port: int, message: bytes) -> bytes:
    """The answer to one request."""
    with _measuring(port, 1) as (connections, poll):
        (connection,) = connections.values()
        if not connection.send(message):
            poll.modify(connection.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)
        while True:
            for number, event in poll.poll():
                if event & select.EPOLLOUT and connection.go_on():
                    poll.modify(number, select.EPOLLIN)
                if event & ~select.EPOLLOUT and connection.receive():
                    return connection.body


def closed(port: int, messages: Iterator[bytes], n: int, connections: int) -> Load:
    """``n`` requests, each connection asking again as soon as it has its answer."""
    clock, latencies = time.perf_counter, []
    with _measuring(port, connections) as (open_ones, poll):
        cpu, begin = time.process_time(), clock()
        for number, connection in list(open_ones.items())[:n]:
            message = next(messages)  # made before the clock starts
            connection.due = clock()
            if not connection.send(message):
                poll.modify(number, select.EPOLLIN | select.EPOLLOUT)
        asked = min(n, connections)
        while len(latencies) < n:
            for number, event in poll.poll():
                connection = open_ones[number]
                if event & select.EPOLLOUT and connection.go_on():
                    poll.modify(number, select.EPOLLIN)
                if event & ~select.EPOLLOUT and connection.receive():
                    latencies.append(clock() - connection.due)
                    if asked < n:
                        asked += 1
                        message = next(messages)
                        connection.due = clock()
                        if not connection.send(message):
                            poll.modify(number, select.EPOLLIN | select.EPOLLOUT)
        return Load(clock() - begin, time.process_time() - cpu, latencies)


@dataclass
class Stream:
    """Requests of one kind, and when each is due, in seconds from the beginning.

    ``latencies`` are from when a request was due, ``late`` is how much later it was sent: with every
    connection busy, or the one who asks held up, that is waiting like any other.
    """

    messages: Iterator[bytes]
    due: Sequence[float]
    connections: int
    latencies: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)


def scheduled(port: int, streams: Sequence[Stream]) -> Load:
    """Send requests when they are due, whether or not others are answered; small ones only.

    Waits by asking for events all the time: a wait that sleeps is too coarse for the schedule.
    """
    clock = time.perf_counter
    with _measuring(port, sum(stream.connections for stream in streams)) as (open_ones, poll):
        idle: list[list[Connection]] = []
        owner: dict[int, int] = {}
        free = iter(open_ones.items())
        for k, stream in enumerate(streams):
            mine = [next(free) for _ in range(stream.connections)]
            owner |= dict.fromkeys((number for number, _ in mine), k)
            idle.append([connection for _, connection in mine])
        sent, wanted = [0] * len(streams), sum(len(stream.due) for stream in streams)
        done, cpu, begin = 0, time.process_time(), clock()
        while done < wanted:
            for k, stream in enumerate(streams):
                while sent[k] < len(stream.due) and idle[k]:
                    due, now = begin + stream.due[sent[k]], clock()
                    if due > now:
                        break
                    connection = idle[k].pop(0)  # in turn: one that sends nothing for long is let go
                    connection.due = due
                    if not connection.send(next(stream.messages)):
                        raise Refused("a request did not fit into the socket")
                    stream.late.append(now - due)
                    sent[k] += 1
            for number, _ in poll.poll(0):
                connection = open_ones[number]
                if connection.receive():
                    k = owner[number]
                    streams[k].latencies.append(clock() - connection.due)
                    idle[k].append(connection)
                    done += 1
        return Load(clock() - begin, time.process_time() - cpu, streams[0].latencies)


@contextmanager
def _measuring(port: int, n: int) -> Iterator[tuple[dict[int, Connection], select.epoll]]:
    """Open connections by their number, and what tells their events; nothing is collected meanwhile."""
    opened = [Connection(port) for _ in range(n)]
    poll = select.epoll()
    for connection in opened:
        poll.register(connection.socket.fileno(), select.EPOLLIN)
    gc.collect()
    gc.disable()
    try:
        yield {connection.socket.fileno(): connection for connection in opened}, poll
    finally:
        gc.enable()
        poll.close()
        for connection in opened:
            connection.close()
