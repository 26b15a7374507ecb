"""Reading ahead in a thread, so that reading the next batch overlaps with counting this one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

# A read of a pipe on which nothing comes cannot be interrupted; then the thread is left to the end of
# the process, which does not wait for it.
PATIENCE = 2.0  # seconds

_END = object()


def prefetched(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """The same ``items``, of which up to ``depth`` are made ready in a background thread.

    An exception in ``items`` is raised here, after what came before it. Closing this iterator stops
    the thread after the item it is at, and closes ``items`` in the thread that made them.

    >>> list(prefetched(range(3)))
    [0, 1, 2]
    """
    assert depth >= 1, "nothing would ever be made ready"
    ready: SimpleQueue[tuple[object, BaseException | None]] = SimpleQueue()
    room = threading.Semaphore(depth)
    stopped = threading.Event()

    def produce() -> None:
        error: BaseException | None = None
        try:
            iterator = iter(items)
            try:
                while room.acquire() and not stopped.is_set():
                    ready.put((next(iterator), None))
            except StopIteration:
                pass
            finally:
                if hasattr(iterator, "close"):
                    iterator.close()
        except BaseException as raised:  # whatever it is, it belongs to the consumer
            error = raised
        ready.put((_END, error))

    thread = threading.Thread(target=produce, name="textodds-prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            room.release()
            yield item  # type: ignore[misc]
            del item
    finally:
        stopped.set()
        room.release()
        thread.join(PATIENCE)
