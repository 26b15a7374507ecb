"""The model that answers: a file, and everything that the journal has learned and forgotten since.

Readers take `Live.serving` once, and have a model and its version that belong together and never change.
A correction that is on disk waits in a window; it is folded into a new model by the first who wants an
answer after it. Folding costs as much as the model is large, not as there are corrections: many that
come together cost as much as one.
"""

from __future__ import annotations

import copy
import hashlib
import shutil
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from glob import escape
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from textodds.errors import Conflict, InputError, ModelFileError, TextoddsError, Unsupported
from textodds.model.file import load
from textodds.model.text_model import TextModel
from textodds.serve.journal import Journal, JournalEntry
from textodds.serve.settings import Settings
from textodds.stats.document_ids import DocumentIds
from textodds.stats.tally import Tally

PORTION = 20_000  # entries that are folded at once when a journal is read
DIGEST = 12  # hexadecimal digits of the hash of a file that versions begin with


class Base(NamedTuple):
    """The model in the file, as it was opened, and the SHA-256 of that file."""

    model: TextModel
    digest: str

    @property
    def cannot_learn(self) -> str | None:
        """Why the model cannot learn; None if it can."""
        try:
            self.model.must_be_counts()
            _ = self.model.tally
        except TextoddsError as error:
            return error.problem
        return None

    def has(self, name: str) -> bool:
        """Whether a document of this id was learned in training."""
        return self.model.document_ids is not None and name in self.model.document_ids


def open_model(path: Path) -> Base:
    """The model in a file, read from a private copy: overwriting the file cannot affect the service."""
    try:
        with path.open("rb") as file, tempfile.NamedTemporaryFile(suffix=".textodds") as private:
            shutil.copyfileobj(file, private, 1 << 20)
            private.flush()
            private.seek(0)
            digest = hashlib.file_digest(private, "sha256").hexdigest()
            return Base(_of_texts(private.name, path), digest)
    except FileNotFoundError as error:
        raise ModelFileError(f"no model file at `{path}`", hint="make one: textodds train DATA") from error
    except OSError as error:
        raise ModelFileError(f"cannot open `{path}` as a model: {error.strerror or error}") from error


def _of_texts(private: str, path: Path) -> TextModel:
    try:
        model = load(private, threads=1)  # requests run side by side, each on one
    except ModelFileError as error:
        raise ModelFileError(error.problem.replace(private, str(path)), hint=error.hint) from error
    if not isinstance(model, TextModel):
        raise Unsupported(
            f"`{path}` is a model of tables, and the service reads texts",
            hint="serve a model that was trained on texts",
        )
    if fields := model.recipe.settings.fields:
        raise Unsupported(
            f"`{path}` reads the columns {', '.join(fields)}, and the service reads one text at a time",
            hint=f"train it on the columns joined: `--text {'+'.join(fields)}`",
        )
    return model


class ServedModel(NamedTuple):
    """A model, the file it began as, and the last entry of the journal that it holds."""

    model: TextModel
    digest: str
    seq: int

    @property
    def version(self) -> str:
        """Which model this is: its file, then the last entry."""
        return version_of(self.digest, self.seq)


def version_of(digest: str, seq: int) -> str:
    """The name of the model that a file and the entries up to one make."""
    return f"{digest[:DIGEST]}.{seq}"


class Live:
    """The base, the journal, and the model of both."""

    def __init__(self, settings: Settings, journal: Journal, base: Base) -> None:
        self._settings, self._journal, self.base = settings, journal, base
        self._window: list[JournalEntry] = []  # acknowledged, and not in the model yet
        self._folding, self._changing = threading.Lock(), threading.Lock()
        self.reloads = self.refused = 0  # of the model file
        self.saved = 0  # the last entry that a snapshot holds
        self.serving = self._recover()
        self._rest: Tally | None = None

    def _recover(self) -> ServedModel:
        """The last snapshot with what the journal has since; without one, the file with all of it.

        A snapshot that cannot be used is no loss: all is in the file and the journal.
        """
        with suppress(TextoddsError):
            snapshot = self._snapshot()
            if snapshot is not None:
                serving = catch_up(snapshot, self._journal, self.base.model)
                self.saved = snapshot.seq
                return serving
        return self._from(self.base)

    def _from(self, base: Base) -> ServedModel:
        """A model file with all of the journal, if it can learn: else that waits for one that can."""
        journal = self._journal
        if base.cannot_learn is not None:
            return ServedModel(base.model, base.digest, journal.last)
        is_new = journal.base != base.digest
        since = journal.last if is_new else journal.since
        model = base.model
        before = journal.standing_at(since)
        while standing := list(islice(before, PORTION)):
            model = teach(model, base.model, standing)
        serving = catch_up(ServedModel(model, base.digest, since), journal, base.model)
        if is_new:
            journal.rest_on(base.digest, since)
        return serving

    def _snapshot(self) -> ServedModel | None:
        path = self._settings.snapshot
        for part in path.parent.glob(f".{escape(path.name)}.*.part"):  # of one that was cut off
            part.unlink(missing_ok=True)
        if not path.exists():
            return None
        model = open_model(path).model
        about = model.info.pop("served", None)
        if not isinstance(about, dict) or not isinstance(about.get("seq"), int):
            return None
        journal, seq = self._journal, about["seq"]
        if about != self._about(seq) or journal.base != self.base.digest or seq > journal.last:
            return None
        return ServedModel(model, self.base.digest, about["seq"])

    def _about(self, seq: int) -> dict[str, object]:
        """What tells whose snapshot one is."""
        journal = self._journal
        return {"base": self.base.digest, "journal": journal.key, "seq": seq, "entry": journal.mark(seq)}

    @property
    def acknowledged(self) -> int:
        """The last entry that an answer must rest on."""
        with self._changing:
            return self._window[-1].seq if self._window else self.serving.seq

    @property
    def waiting(self) -> int:
        """Entries that are not in the model yet."""
        return len(self._window)

    def labels(self) -> tuple[set[str], dict[str, str]]:
        """The classes of the model, and the labels of documents that wait to be learned, by their ids."""
        with self._changing:
            classes, last = set(self.serving.model.classes_), {entry.id: entry for entry in self._window}
        return classes, {name: entry.label for name, entry in last.items() if entry.sign > 0}

    def take(self, entries: Iterable[JournalEntry]) -> None:
        """Let the next answer rest on entries, which are on disk."""
        with self._changing:
            self._window += entries

    @property
    def may_be_left_without_words(self) -> bool:
        """Whether a change could leave no word that the recipe selects, of which no model can be made."""
        selection = self.base.model.recipe.selection
        return (selection.min_df, selection.max_df) != (1, 1.0)

    def trial(self, entries: Sequence[JournalEntry]) -> ServedModel:
        """What answers would rest on after entries, which are not on disk yet; an error, if on nothing."""
        with self._folding:
            window = [*self._window, *entries]
            model = of_base(fold_in(self.serving.model, window), self.base.model)
            return ServedModel(model, self.base.digest, window[-1].seq)

    def adopt(self, serving: ServedModel) -> None:
        """Let answers rest on what was tried, which is on disk now."""
        with self._folding, self._changing:
            self.serving, self._window = serving, []

    def fold(self) -> ServedModel:
        """The model with all that was taken before this call."""
        with self._folding:
            with self._changing:
                window = self._window[:]
            if window:
                model = of_base(fold_in(self.serving.model, window), self.base.model)
                with self._changing:
                    self.serving = ServedModel(model, self.base.digest, window[-1].seq)
                    del self._window[: len(window)]
            return self.serving

    def rest(self) -> Tally:
        """The counts of training, without the documents of it that were forgotten here.

        What is learned here is not in them: a document of training can only be taken from these.
        """
        if self._rest is None:
            rest = self.base.model.tally
            gone = [entry for entry in self._journal.first_forgotten() if self.base.has(entry.id)]
            if gone:
                rest = rest - self.count(gone)
            self._rest = rest
        return self._rest

    def without(self, rest: Tally, entry: JournalEntry) -> Tally:
        """``rest`` without one more document of training; `InputError` if it cannot have been there."""
        left = rest - self.count([entry])
        if not left.classes:
            raise InputError("that would forget every document of training", hint="delete the model instead")
        return left

    def set_rest(self, rest: Tally) -> None:
        """Documents of training were forgotten, on disk too, and ``rest`` is what is left."""
        self._rest = rest

    def count(self, entries: Iterable[JournalEntry]) -> Tally:
        """The counts of documents, by the settings of the model."""
        model, (texts, labels, _) = self.base.model, columns(entries)
        return Tally.of(texts, labels, settings=model.recipe.settings, threads=model.threads)

    def save(self) -> ServedModel:
        """Write a snapshot, whole or not at all; the model that it holds."""
        serving = self.fold()
        model = copy.copy(serving.model)
        model.info = {**model.info, "served": self._about(serving.seq)}
        model.save(self._settings.snapshot)
        self.saved = serving.seq
        return serving

    def reload(self) -> bool:
        """Take the model file as it is now, with all of the journal; whether it is another than before.

        On an error everything stays as it was.
        """
        try:
            changed = self._reload()
        except BaseException:
            self.refused += 1
            raise
        self.reloads += 1
        return changed

    def _reload(self) -> bool:
        path = self._settings.model
        try:
            base = open_model(path)
        except TextoddsError as error:  # who asks for it need not know where it is
            error.problem = error.problem.replace(str(path), path.name)
            raise
        if base.digest == self.base.digest:
            return False
        self.fold()
        serving = self._from(base)
        with self._folding, self._changing:
            self.base, self.serving, self._rest, self.saved = base, serving, None, 0
        return True


def catch_up(serving: ServedModel, journal: Journal, base: TextModel) -> ServedModel:
    """A model with the entries of the journal that it does not hold."""
    model, seq = serving.model, serving.seq
    entries = journal.after(seq)
    while window := list(islice(entries, PORTION)):
        model, seq = fold_in(model, window), window[-1].seq
    return ServedModel(of_base(model, base) if seq else model, serving.digest, seq)


def of_base(model: TextModel, base: TextModel) -> TextModel:
    """A model of other counts, with what is not counted as the base has it.

    So a version says all of a model, by whatever way its counts have come about.
    """
    same = model.classes_ == base.classes_
    model = copy.copy(model)
    model.typical, model.held_out = base.typical, base.held_out if same else None
    model.calibration = base.calibration
    if base.calibration is not None and not same:
        model.calibration = base.calibration.of_classes(base.classes_, model.classes_)
    measured = ("quality", "fingerprint", "left_out")  # of the base, which this no longer is
    info = {part: value for part, value in base.info.items() if part not in measured}
    model.info = {**info, "documents": model.tally.n_documents}
    return model


def teach(model: TextModel, base: TextModel, standing: Iterable[JournalEntry]) -> TextModel:
    """A model with the documents that stood in a journal before its base was served.

    Those that the base has learned itself, in training, are not learned again, and what was forgotten is
    forgotten again. A base that has a document under another label is refused, and one that has what was
    forgotten here and cannot be made to forget it, since the text is erased.
    """
    document_ids = base.document_ids or DocumentIds.none()
    changes = []
    for entry in standing:
        known = document_ids.label_of(entry.id)
        if known is not None and entry.sign < 0 and entry.text is None:
            raise Conflict(
                f"document `{entry.id}` was forgotten here, and the model file has learned it again",
                hint="train the model without it",
            )
        if known is not None and known != entry.label:
            raise Conflict(
                f"document `{entry.id}` is learned as `{known}` in the model file, and as `{entry.label}` in "
                "the journal",
                hint="train the model with the label that is right, or forget the document here first",
            )
        if (known is None) == (entry.sign > 0):
            changes.append(entry)
    return fold_in(model, changes)


def fold_in(model: TextModel, window: Iterable[JournalEntry]) -> TextModel:
    """Another model, with what a window of entries has learned and without what it has forgotten.

    Counts add, so only what is left in the end of each document matters: one learned and forgotten within
    the window is never counted, nor is one whose text is erased, since it is forgotten later.
    """
    document_ids = model.document_ids or DocumentIds.none()
    first: dict[str, JournalEntry] = {}
    last: dict[str, JournalEntry] = {}
    for entry in window:
        first.setdefault(entry.id, entry)
        last[entry.id] = entry
    gone = [entry for name, entry in first.items() if entry.sign < 0 and name in document_ids]
    fresh = [entry for entry in last.values() if entry.sign > 0 and entry.text is not None]
    for entry in gone:
        if entry.text is None:
            raise Conflict(f"the text of document `{entry.id}`, which is to be forgotten, is erased")
    if not gone and not fresh:
        return model
    changed = copy.copy(model)  # its parts are replaced, never changed: who reads the old one goes on
    for change, entries in ((changed.forget, gone), (changed.learn, fresh)):
        if entries:
            texts, labels, ids = columns(entries)
            change(texts, labels, ids=ids)
    return changed


def columns(entries: Iterable[JournalEntry]) -> tuple[list[str], list[str], list[str]]:
    """Texts, labels and ids of entries."""
    rows = list(entries)
    return [entry.text or "" for entry in rows], [entry.label for entry in rows], [entry.id for entry in rows]
