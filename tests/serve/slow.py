"""A slow network, for any browser: each request takes its time, and so do its bytes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 4096
DELAY, RATE = 0.2, 100_000  # seconds a request, bytes a second

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextmanager
def slow_network(port: int) -> Iterator[str]:
    """The address at which a service of this machine is reached late and slowly."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(lambda *near: _join(near, port), "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    asyncio.run_coroutine_threadsafe(_end(server), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _end(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _join(near: Ends, port: int) -> None:
    with suppress(OSError, asyncio.CancelledError):  # one of both has gone
        far = await asyncio.open_connection("127.0.0.1", port)
        try:
            await asyncio.gather(_pass(near[0], far[1], DELAY), _pass(far[0], near[1], 0.0))
        finally:
            far[1].close()
            near[1].close()


async def _pass(giver: asyncio.StreamReader, taker: asyncio.StreamWriter, delay: float) -> None:
    while piece := await giver.read(PIECE):
        await asyncio.sleep(delay + len(piece) / RATE)
        taker.write(piece)
        await taker.drain()
    taker.close()
