"""The model that answers: a file, and everything that the journal has learned and forgotten since.

Readers take `Live.serving` once, and have a model and its version that belong together and never change.
A correction that is on disk waits in a window; it is folded into a new model by the first who wants an
answer after it. Folding is quick (`textodds.model.quick`): it costs as much as the corrections contain, and
leaves the model that others are reading as it is. What takes longer, and follows from all
documents (weights that are fitted, calibration, promises), is found by `Live.solve`, which nobody who asks
waits for; then the model is the one that training on the same documents gives.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from textodds.data.label_sets import labels_in
from textodds.errors import InputError, TextoddsError, Unsupported
from textodds.model.tables.table_model import TableModel
from textodds.serve.blank import NothingLearned, is_blank
from textodds.serve.records import snapshot as snapshots
from textodds.serve.records.journal import Journal, JournalEntry
from textodds.serve.settings import Settings
from textodds.serve.updates.fold import (
    AnyBasis,
    Base,
    BasisWithIds,
    Folded,
    ServedModel,
    basis_of,
    catch_up,
    fold_in,
    form_of,
    open_model,
    solution,
    teach,
    version_of,
)
from textodds.serve.updates.solver_process import SolverProcess

BRIEF = 4  # entries that are folded in while others wait


class Live:
    """The base, the journal, and the model of both."""

    def __init__(
        self, settings: Settings, journal: Journal, base: Base, beside: SolverProcess | None = None
    ) -> None:
        self._settings, self._journal, self.base, self._beside = settings, journal, base, beside
        self._window: list[JournalEntry] = []  # acknowledged, and not in the model that answers yet
        self._pending: list[JournalEntry] = []  # in the model that answers, and not in the solved one yet
        self._folding, self._changing, self._solving = threading.Lock(), threading.Lock(), threading.Lock()
        self.changed = threading.Event()  # set when something was taken
        self.reloads = self.refused = 0  # of the model file
        self.solutions = 0
        self.saved = 0  # the last entry that a snapshot holds
        self._solved = self._recover()
        self._folded = Folded(self._solved, None)
        self._rest: AnyBasis | None = None

    @property
    def serving(self) -> ServedModel:
        """The model that answers."""
        return self._folded.serving

    def _recover(self) -> ServedModel:
        """The last snapshot with what the journal has since; without one, the file with all of it.

        A snapshot that cannot be used is no loss: all is in the file and the journal.
        """
        snapshot = None
        self._journal.must_suit(self.base.kind, self._settings.model.name)
        self._journal.keep(self.base.kind)
        if self.base.fixed is None:
            snapshot = snapshots.recover(self._settings, self._journal, self.base.digest)
        if snapshot is not None:
            with suppress(TextoddsError):
                after = self._journal.after(snapshot.seq)
                standing, seq = catch_up(snapshot.model, BasisWithIds.of(snapshot.model), after)
                solved = solution(snapshot.model, standing, self.base, max(seq, snapshot.seq))
                self.saved = snapshot.seq
                return solved
        return self._from(self.base)

    def _from(self, base: Base, *, is_swap: bool = False) -> ServedModel:
        """A model file with all of the journal; one that cannot learn it is refused."""
        journal = self._journal
        if base.cannot_learn is not None:
            _must_owe_nothing(journal, self._settings.model.name, base.cannot_learn)
            return ServedModel(base.model, base.digest, journal.last)
        is_new = journal.base != base.digest
        since = journal.last if is_new else journal.since
        before = teach(base.model, journal.standing_at(since))
        standing, _ = catch_up(base.model, BasisWithIds.of(base.model), before)
        standing, seq = catch_up(base.model, standing, journal.after(since))
        solved = solution(base.model, standing, base, max(seq, since))
        if is_swap and not solved.is_solved:  # its weights would be those without the corrections
            raise InputError(
                f"no weights of `{self._settings.model.name}` can be fitted with the corrections",
                hint="the log says why; train it on documents of all classes",
            )
        if is_new:
            journal.rest_on(base.digest, since)
        return solved

    @property
    def acknowledged(self) -> int:
        """The last entry that an answer must rest on."""
        with self._changing:
            return self._window[-1].seq if self._window else self.serving.seq

    @property
    def waiting(self) -> int:
        """Entries that are not in the model yet."""
        return len(self._window)

    @property
    def unsolved(self) -> int:
        """Entries that the full solution does not hold yet."""
        return len(self._pending) + len(self._window)

    def version_after(self, seq: int) -> str:
        """The version of an answer that rests on entries up to one, at first."""
        solved = self._solved
        is_solved = solved.is_solved and seq <= solved.seq
        return version_of(self.base.digest, seq, is_solved=is_solved or not solved.model.has_documents)

    def labels(self) -> tuple[set[str], dict[str, str]]:
        """The classes of the model, and the labels of documents that wait to be learned, by their ids."""
        with self._changing:
            classes, last = set(self.serving.model.class_names), {entry.id: entry for entry in self._window}
        return classes, {name: entry.label for name, entry in last.items() if entry.sign > 0}

    def take(self, entries: Iterable[JournalEntry]) -> None:
        """Let the next answer rest on entries, which are on disk."""
        with self._changing:
            self._window += entries
        self.changed.set()

    def trial(self, entries: Sequence[JournalEntry]) -> Folded:
        """What answers would rest on after entries, which are not on disk yet; an error, if on nothing."""
        with self._folding:
            return self._with([*self._window, *entries])

    def adopt(self, folded: Folded, entries: Iterable[JournalEntry]) -> None:
        """Let answers rest on what was tried, which is on disk now."""
        with self._folding, self._changing:
            self._pending += [*self._window, *entries]
            self._folded, self._window = folded, []
        self.changed.set()

    def fold(self) -> ServedModel:
        """The model with all that was taken before this call."""
        with self._folding:
            with self._changing:
                window = self._window[:]
            if window:
                folded = self._with(window)
                with self._changing:
                    self._folded = folded
                    self._pending += window
                    del self._window[: len(window)]
            return self.serving

    def _with(self, window: Sequence[JournalEntry]) -> Folded:
        """The model that answers, with a window of entries folded in."""
        pending, n = self._pending, len(self._pending)  # of which more will only follow
        return self._fold_in(self._folded, window, self._solved, lambda: pending[:n])

    def _fold_in(
        self,
        folded: Folded,
        window: Sequence[JournalEntry],
        solved: ServedModel,
        pending: Callable[[], list[JournalEntry]],
    ) -> Folded:
        """A model with a window of entries, ``pending`` being those that it holds since it was solved."""

        def standing() -> BasisWithIds:
            return BasisWithIds.of(solved.model).after(solved.model, [*pending(), *window])

        last = solved.model if solved.model.has_documents else self.base.model
        return fold_in(folded, window, last, standing)

    def prepare(self) -> None:
        """Make the form of the model ready to be changed, so that the first correction need not."""
        folded, can_learn = self._folded, self.base.cannot_learn is None
        if folded.form is not None or not can_learn:
            return
        form = form_of(folded.serving.model)
        with self._folding, self._changing:
            if self._folded is folded:
                self._folded = Folded(folded.serving, form)

    def solve(self) -> ServedModel:
        """The model that training gives on all documents taken before this call; who asks need not wait."""
        with self._solving:
            with self._changing:
                solved, base = self._solved, self.base
                entries = [*self._pending, *self._window]
            if not entries:
                return solved
            found = None if self._beside is None else self._beside.solved(solved, base, entries)
            if found is None:
                standing, seq = catch_up(solved.model, BasisWithIds.of(solved.model), iter(entries))
                found = solution(solved.model, standing, base, seq)
            if not found.is_solved:  # what answers is nearer than the old weights are
                return found
            return self._adopt(found, base)

    def _adopt(self, found: ServedModel, base: Base) -> ServedModel:
        """Let answers rest on a solution and on what came while it was found; the model that is solved."""
        folded, later = Folded(found, form_of(found.model)), list[JournalEntry]()
        while True:  # most of what came is folded in before anyone has to wait for it
            with self._changing:
                more = [entry for entry in self._pending if entry.seq > folded.serving.seq]
            if len(more) <= BRIEF:
                break
            folded = self._with_later(folded, more, found, later)
            later += more
        with self._folding, self._changing:
            if self.base is not base:  # another file was taken meanwhile
                return self._solved
            more = [entry for entry in self._pending if entry.seq > folded.serving.seq]
            if more:
                folded = self._with_later(folded, more, found, later)
            self._solved, self._folded, self._pending = found, folded, [*later, *more]
            self._window = [entry for entry in self._window if entry.seq > found.seq]
            self.solutions += 1
        return found

    def _with_later(
        self, folded: Folded, more: list[JournalEntry], found: ServedModel, later: list[JournalEntry]
    ) -> Folded:
        before = later[:]
        return self._fold_in(folded, more, found, lambda: before)

    def must_leave_classes(self, entries: Sequence[JournalEntry]) -> None:
        """Refuse entries after which too few classes would be left for the model to tell apart."""
        forgets, model = any(entry.sign < 0 for entry in entries), self.base.model
        if not forgets or isinstance(model, TableModel):  # of tables it is tried
            return
        if not self.base.several_labels and not model.recipe.learner.entry.needs_documents:
            return
        with self._changing:
            solved, waiting = self._solved, [*self._pending, *self._window]
        left = Counter(solved.model.class_documents)
        for entry in (*waiting, *entries):
            for label in labels_in(entry.label) if self.base.several_labels else (entry.label,):
                left[label] += entry.sign
        number = sum(n > 0 for n in left.values())
        if self.base.several_labels and not number:
            raise InputError(
                "that would leave no document with a label, and nothing to learn from",
                hint="learn documents with a label first",
            )
        if not self.base.several_labels and number < 2:
            raise InputError(
                "that would leave documents of one class only, which this model has nothing to tell from",
                hint="learn documents of another class first",
            )

    def rest(self) -> AnyBasis:
        """What training has left, without the documents of it that were forgotten here.

        What is learned here is not in it: a document of training can only be taken from this.
        """
        if self._rest is None:
            model, rest = self.base.model, self.base.model.basis
            gone = [
                entry for entry in self._journal.first_forgotten() if self.base.label_of(entry.id) is not None
            ]
            if gone:
                rest = rest - basis_of(model, gone)
            self._rest = rest
        return self._rest

    def set_rest(self, rest: AnyBasis) -> None:
        """Documents of training were forgotten, on disk too, and ``rest`` is what is left."""
        self._rest = rest

    def save(self) -> ServedModel:
        """Write a snapshot, whole or not at all; the model that it holds."""
        if self.base.fixed is not None:
            raise Unsupported(self.base.fixed, hint="there are no corrections to save")
        solved = self.solve()
        if is_blank(solved.model):
            raise NothingLearned
        if not solved.is_solved:
            raise InputError(
                "the model cannot be fitted to its documents as they are now, and is not saved",
                hint="learn more documents; what was learned is in the journal",
            )
        snapshots.save(self._settings.snapshot, solved, self._journal)
        self.saved = solved.seq
        return solved

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
        if self._settings.new:  # its file is what it has saved itself
            return False
        try:
            base = open_model(path)._replace(fixed=self.base.fixed)
        except TextoddsError as error:  # who asks for it need not know where it is
            error.problem = error.problem.replace(str(path), path.name)
            raise
        if base.digest == self.base.digest:
            return False
        self._journal.must_suit(base.kind, path.name)
        self.fold()
        solved = self._from(base, is_swap=True)
        self._journal.keep(base.kind)
        with self._folding, self._changing:
            self.base, self._rest, self.saved = base, None, 0
            self._solved, self._folded, self._pending = solved, Folded(solved, None), []
        self.prepare()
        return True


def _must_owe_nothing(journal: Journal, name: str, why: str) -> None:
    """Refuse a model file that cannot learn, and would answer without what was corrected."""
    if owed := journal.owed():
        corrections = "1 correction" if owed == 1 else f"{owed:,} corrections"
        raise Unsupported(
            f"`{name}` cannot learn {corrections} of the journal: {why}",
            hint="train it again without `--no-documents` and `--no-counts`, "
            "or serve it with another `--journal`",
        )
