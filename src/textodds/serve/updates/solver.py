"""The full solution of a corrected model, found beside the answers: once corrections pause, not for each."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from time import monotonic

from textodds.errors import TextoddsError
from textodds.serve.updates.live_model import Live

logger = logging.getLogger("textodds.serve")

QUIET = 0.5  # seconds without a correction before the model is solved
LATEST = 30.0  # seconds that corrections may keep coming before it is solved all the same
SHARE = 10.0  # so many times as long as a solution takes they may as well: one core is not all its own


class Solver(threading.Thread):
    """The thread that solves."""

    def __init__(self, live: Live) -> None:
        super().__init__(name="textodds-solver", daemon=True)
        self._live = live
        self._stops = False

    def run(self) -> None:
        """Solve whenever corrections have come and pause, until told to stop."""
        took = 0.0
        with suppress(TextoddsError):  # of counts that are damaged, which a correction tells
            self._live.prepare()
        while self._paused(max(LATEST, SHARE * took)):
            begun = monotonic()
            try:
                self._live.solve()
            except TextoddsError as error:  # the quick model goes on
                logger.error("the model could not be solved: %s", error.problem)
            except Exception:
                logger.exception("the model could not be solved")
            took = monotonic() - begun

    def _paused(self, latest: float) -> bool:
        """Wait for corrections, then for a pause, or for ``latest`` seconds at most; whether to go on."""
        changed = self._live.changed
        changed.wait()
        until = monotonic() + latest
        while changed.is_set() and not self._stops and monotonic() < until:
            changed.clear()
            changed.wait(QUIET)
        changed.clear()
        return not self._stops

    def stop(self) -> None:
        """Solve no more."""
        self._stops = True
        self._live.changed.set()
