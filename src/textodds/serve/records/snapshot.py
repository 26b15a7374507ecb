"""The snapshot of a corrected model: whose it is, and whether it holds more than the journal does.

A model file with one more entry in its header, ``served``: the model file it began as, the journal, and the
last entry that it holds, with a mark of that entry. All that a snapshot holds is in the journal, or else
the journal was lost or put back as it was before: then nothing is begun, and the snapshot is left as it is.
"""

from __future__ import annotations

import copy
import itertools
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from textodds.data.written_file import remove_leftovers
from textodds.errors import ModelFileError, TextoddsError
from textodds.serve.records.journal import PRIVATE, Journal
from textodds.serve.rows import Model
from textodds.serve.settings import Settings
from textodds.serve.updates.fold import ServedModel, open_model

logger = logging.getLogger("textodds.serve")


class Snapshot(NamedTuple):
    """A model, and its header."""

    model: Model
    base: str  # the model file it began as, by its hash
    journal: str
    seq: int  # the last entry that it holds
    entry: str  # the mark of that entry


def save(path: Path, served: ServedModel, journal: Journal) -> None:
    """Write a snapshot, whole or not at all."""
    model = copy.copy(served.model)
    about = {"base": served.digest, "journal": journal.key, "seq": served.seq}
    model.info = {**model.info, "served": {**about, "entry": journal.mark(served.seq)}}
    is_new = not path.exists()
    with suppress(OSError):  # which saving will tell
        path.touch(PRIVATE)
    try:
        model.save(path)
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


def must_be_new(settings: Settings, base: str) -> None:
    """Refuse to begin a new model in the place of one that was not begun so."""
    path = settings.model
    if not path.exists() or not path.stat().st_size:
        return
    try:
        snapshot = _read(path)
    except TextoddsError:
        snapshot = None
    if snapshot is None or snapshot.base != base:
        raise ModelFileError(
            f"`{path}` is there already, and was not begun with `--new`",
            hint="leave out `--new` to serve it, or name another file",
        )


def recover(settings: Settings, journal: Journal, base: str) -> ServedModel | None:
    """The model of the snapshot, if it is one of this model file; None if the journal must be read.

    Refuses to begin on a snapshot that holds more than the journal, unless the loss is accepted.
    """
    path = settings.snapshot
    remove_leftovers(path)  # of one that was cut off
    try:
        # An empty file is the place of one that was about to be written when the service was killed.
        snapshot = _read(path) if path.exists() and path.stat().st_size else None
    except TextoddsError as error:  # no loss: all is in the file and the journal
        logger.warning("the snapshot is not used, and the journal is read instead: %s", error.problem)
        return None
    if snapshot is None:
        return None
    if missing := _missing(snapshot, journal):
        kept = next(p for n in itertools.count(1) if not (p := path.with_name(f"{path.name}.{n}")).exists())
        if not settings.accept_loss:
            raise ModelFileError(
                f"the snapshot `{path}` {missing}",
                hint="put the whole journal back, with its `-wal` file if there is one; or go on without "
                f"these corrections by `--accept-loss`, which keeps the snapshot as `{kept.name}`",
            )
        path.rename(kept)
        logger.warning("the snapshot %s; it is kept as `%s`", missing, kept)
        return None
    if not snapshot.base == journal.base == base:
        return None
    return ServedModel(snapshot.model, base, snapshot.seq)


def _read(path: Path) -> Snapshot | None:
    """The snapshot in a file; None if it is another model."""
    model = open_model(path).model  # which compares every checksum
    about: Any = model.info.pop("served", None)
    if not isinstance(about, dict) or type(about.get("seq")) is not int:
        return None
    texts = [about.get(name) for name in ("base", "journal", "entry")]
    if not all(isinstance(text, str) for text in texts):
        return None
    return Snapshot(model, about["base"], about["journal"], about["seq"], about["entry"])


def _missing(snapshot: Snapshot, journal: Journal) -> str | None:
    """What a snapshot holds and the journal does not; None if there is no such thing."""
    seq, last = snapshot.seq, journal.last
    if not seq:
        return None
    if snapshot.journal != journal.key:
        return f"holds {_corrections(seq)} of another journal than `{journal.path}`, which has {last:,}"
    if seq > last:
        return f"holds {_corrections(seq)}, and the journal `{journal.path}` only the first {last:,} of them"
    if snapshot.entry != journal.mark(seq):
        return f"holds {_corrections(seq)}, and the journal `{journal.path}` has others in their place"
    return None


def _corrections(number: int) -> str:
    return "1 correction" if number == 1 else f"{number:,} corrections"
