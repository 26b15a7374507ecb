"""A server that gives every request the same small answer: what the one who asks can do at most."""

from __future__ import annotations

import asyncio
import json
import os

import uvloop

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


class Same(asyncio.Protocol):
    """Answers whatever arrives at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(ANSWER)  # type: ignore[attr-defined]


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Same, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"address": f"http://127.0.0.1:{port}/", "pid": os.getpid()}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
