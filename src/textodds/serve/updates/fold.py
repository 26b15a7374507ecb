"""How corrections become part of a model: at once, nearly or exactly, and then in full."""

from __future__ import annotations

import copy
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from textodds.data import Batch
from textodds.data.label_sets import is_set, labels_in
from textodds.errors import Conflict, InputError, ModelFileError, TextoddsError
from textodds.learn.recipe import is_of_documents
from textodds.model.basis import Basis
from textodds.model.file import load
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.multilabel.quick_labels import quick_form_of_labels, take_odds
from textodds.model.quick import QuickForm, Recounted, quick_form
from textodds.model.tables.table_model import TableModel
from textodds.model.tables.table_tally import TableTally
from textodds.model.text_model import TextModel
from textodds.serve.blank import blank_digest, blank_model, is_blank
from textodds.serve.records.journal import JournalEntry, Kind
from textodds.serve.rows import Model, batches_of, reads_rows
from textodds.stats.document_ids import DocumentIds

logger = logging.getLogger("textodds.serve")

AnyBasis: TypeAlias = Basis[Any, Any]  # of texts or of rows
M = TypeVar("M", bound=Model)

PORTION = 20_000  # entries that are folded at once when a journal is read
DIGEST = 12  # hexadecimal digits of the hash of a file that versions begin with


class Base(NamedTuple):
    """The model in the file, as it was opened, and the SHA-256 of that file."""

    model: Model
    digest: str
    fixed: str | None = None  # why the service keeps no corrections, whatever the model could do

    @property
    def cannot_learn(self) -> str | None:
        """Why the model cannot learn; None if it can."""
        try:
            _ = self.model.basis
        except TextoddsError as error:
            return error.problem
        return self.fixed

    @property
    def reads_rows(self) -> bool:
        """Whether the model reads rows of columns by name, rather than one text."""
        return reads_rows(self.model)

    @property
    def several_labels(self) -> bool:
        """Whether a document may have several labels, or none."""
        return isinstance(self.model, MultiLabelModel)

    @property
    def kind(self) -> Kind:
        """What corrections of the model are made of."""
        return Kind(self.reads_rows, self.several_labels)

    @property
    def must_try(self) -> bool:
        """Whether a change could leave too little to make a model of: no word, too few rows."""
        if isinstance(self.model, TableModel):
            return True
        recipe = self.model.recipe
        selection = recipe.selection
        return not is_of_documents(recipe) and (selection.min_df, selection.max_df) != (1, 1.0)

    def label_of(self, name: str) -> str | None:
        """The label under which a document was learned in training; None if it was not."""
        return None if self.model.document_ids is None else self.model.document_ids.label_of(name)


def new_model() -> Base:
    """A model that has learned nothing, and of which there is no file."""
    model = blank_model()
    return Base(model, blank_digest(model.recipe))


def open_model(path: Path) -> Base:
    """The model in a file, read from a private copy: overwriting the file cannot affect the service."""
    try:
        with path.open("rb") as file, tempfile.NamedTemporaryFile(suffix=".textodds") as private:
            shutil.copyfileobj(file, private, 1 << 20)
            private.flush()
            private.seek(0)
            digest = hashlib.file_digest(private, "sha256").hexdigest()
            return Base(_opened(private.name, path), digest)
    except FileNotFoundError as error:
        raise ModelFileError(f"no model file at `{path}`", hint="make one: textodds train DATA") from error
    except OSError as error:
        raise ModelFileError(f"cannot open `{path}` as a model: {error.strerror or error}") from error


def _opened(private: str, path: Path) -> Model:
    try:
        return load(private, threads=1, check=True)  # requests run side by side, each on one
    except ModelFileError as error:
        raise ModelFileError(error.problem.replace(private, str(path)), hint=error.hint) from error


class ServedModel(NamedTuple):
    """A model, the file it began as, and the last entry of the journal that it holds."""

    model: Model
    digest: str
    seq: int
    is_solved: bool = True  # whether all that follows from its documents was found from just these

    @property
    def version(self) -> str:
        """Which model this is: its file, then the last entry; marked while its solution is to come."""
        return version_of(self.digest, self.seq, is_solved=self.is_solved)


def version_of(digest: str, seq: int, *, is_solved: bool) -> str:
    """The name of the model that a file and the entries up to one make."""
    return f"{digest[:DIGEST]}.{seq}{'' if is_solved else '~'}"


class BasisWithIds(NamedTuple):
    """What a model rests on: documents or counts of them, and the ids of those that have one."""

    basis: AnyBasis
    document_ids: DocumentIds

    @classmethod
    def of(cls, model: Model) -> BasisWithIds:
        """What a model rests on now."""
        return cls(model.basis, model.document_ids or DocumentIds.none())

    def after(self, model: Model, window: Iterable[JournalEntry]) -> BasisWithIds:
        """What the model would rest on after a window of entries."""
        gone, fresh, document_ids = net_changes(self.document_ids, window)
        basis = self.basis
        if gone:
            basis = basis - basis_of(model, gone)
        if fresh:
            basis = basis + basis_of(model, fresh)
        return BasisWithIds(basis, document_ids)


class Folded(NamedTuple):
    """A model with entries folded into it since it was solved, and its form, ready for more."""

    serving: ServedModel
    form: QuickForm | None  # None: to be made of the model when it is needed


def catch_up(
    model: Model, standing: BasisWithIds, entries: Iterator[JournalEntry]
) -> tuple[BasisWithIds, int]:
    """What a model rests on after entries, and the number of the last of them, 0 if there is none."""
    seq = 0
    while window := list(islice(entries, PORTION)):
        standing, seq = standing.after(model, window), window[-1].seq
    return standing, seq


def solution(model: Model, standing: BasisWithIds, base: Base, seq: int) -> ServedModel:
    """A model that rests on ``standing``, with all that follows from it.

    Documents to which no weights can be fitted leave those that there are, and the model unsolved.
    """
    before, basis = model.basis, standing.basis
    if not basis.classes and isinstance(model, TextModel):  # of a new model, all that it has learned
        return ServedModel(blank_model(model.recipe), base.digest, seq)
    changed = copy.copy(model)  # its parts are replaced, never changed: who reads the old one goes on
    if basis.tally is before.tally and basis.corpus is before.corpus:
        measured = ("quality", "fingerprint") if seq else ()  # as after changes that have undone each other
        changed.info = {part: value for part, value in model.info.items() if part not in measured}
        return ServedModel(changed, base.digest, seq)
    changed.document_ids = standing.document_ids
    try:
        changed.stand_on(basis)
        changed.follow()
    except TextoddsError as error:
        if isinstance(model, TableModel) or not is_of_documents(model.recipe):
            raise
        logger.error("the weights were not updated: %s", error.problem)
        changed._tally, changed.corpus = basis.tally, basis.corpus
        return ServedModel(changed, base.digest, seq, is_solved=False)
    if not changed.has_documents:
        changed = like(changed, base.model, changed.tally.n_documents)
    return ServedModel(changed, base.digest, seq)


def form_of(model: Model) -> QuickForm | None:
    """The form of a model of texts, ready to be changed; that of a table is made of its counts."""
    if isinstance(model, TableModel) or is_blank(model):
        return None
    return quick_form_of_labels(model) if isinstance(model, MultiLabelModel) else quick_form(model)


def fold_in(
    folded: Folded, window: Sequence[JournalEntry], last: Model, standing: Callable[[], BasisWithIds]
) -> Folded:
    """Another model, with what a window of entries has learned and without what it has forgotten.

    Its form is that of the counts, or near that of the documents; calibration and promises are those of
    ``last``. What it rests on is found by ``standing`` when it is asked for.
    """
    (model, digest, _, is_solved), form = folded
    gone, fresh, document_ids = net_changes(model.document_ids or DocumentIds.none(), window)
    if not gone and not fresh:
        return Folded(ServedModel(model, digest, window[-1].seq, is_solved), form)
    found = cache(standing)
    known = model.info.get("documents")
    before = float(known) if isinstance(known, int | float) else model.basis.n_documents
    if isinstance(model, TextModel) and (is_blank(model) or before + len(fresh) <= len(gone)):
        after = solution(model, found(), Base(last, digest), window[-1].seq)  # from nothing, or to it
        return Folded(after._replace(is_solved=False), None)
    changed = copy.copy(model)
    changed.document_ids = document_ids
    changed._corpus = (lambda: corpus_of(found())) if model.has_documents else None
    if isinstance(changed, TableModel):
        changed._install_counts(_counts_after(changed, gone, fresh))
    else:
        form = form or form_of(model)  # of the counts before
        assert form is not None
        changed._tally = (lambda: tally_of(found())) if model.has_counts else None
        form = _install_quickly(changed, form, gone, fresh)
    changed = like(changed, last, before + len(fresh) - len(gone))
    return Folded(ServedModel(changed, digest, window[-1].seq, not model.has_documents), form)


def _install_quickly(
    changed: TextModel | MultiLabelModel, form: QuickForm, gone: list[JournalEntry], fresh: list[JournalEntry]
) -> QuickForm | None:
    """Let a model become that of other documents, by its form or by its counts; the form that it then has."""
    after = form.changed(batch_of(changed, gone), batch_of(changed, fresh))
    if after is None:
        changed._install_counts(changed.tally)
    else:
        changed._install(changed.recipe, after.vocabulary, after.form, changed.scale, after.changes)
        if isinstance(after, Recounted):
            changed._tally = after.tally
    return after


def _counts_after(model: TableModel, gone: list[JournalEntry], fresh: list[JournalEntry]) -> TableTally:
    """The counts of a table, which are exact, after rows were forgotten and learned."""
    tally = model.tally
    if gone:
        tally = tally - model.count(batches(model, gone))
    if fresh:
        tally = tally + model.count(batches(model, fresh))
    if not tally.classes:
        raise InputError("that would forget every row", hint="delete the model instead")
    return tally


def like(model: M, last: Model, documents: float) -> M:
    """A model of other counts or weights, with what is found of documents as ``last`` has it."""
    same = model.class_names == last.class_names
    model = copy.copy(model)
    model._is_behind = False
    if isinstance(model, MultiLabelModel) and isinstance(last, MultiLabelModel):
        take_odds(model, last)
    else:
        model.typical = last.typical
        model.held_out = last.held_out if same and last.has_documents else None  # else it promises nothing
        model.calibration = last.calibration
        if last.calibration is not None and not same:
            model.calibration = last.calibration.of_classes(last.class_names, model.class_names)
    measured = ("quality", "fingerprint", "left_out")  # of another model than this
    info = {part: value for part, value in last.info.items() if part not in measured}
    model.info = {**info, "documents": documents}
    return model


def told_label(name: str) -> str:
    r"""A label, or a set of them, as errors tell it.

    >>> told_label("spam"), told_label("\x1ea\x1eb"), told_label("\x1e")
    ('`spam`', '`a`, `b`', 'having no label')
    """
    names = labels_in(name) if is_set(name) else (name,)
    return ", ".join(f"`{label}`" for label in names) or "having no label"


def teach(base: Model, standing: Iterable[JournalEntry]) -> Iterator[JournalEntry]:
    """What a base has to learn and to forget of documents that stood in a journal before it was served.

    Those that the base has learned itself, in training, are not learned again, and what was forgotten is
    forgotten again. A base that has a document under another label is refused, and one that has what was
    forgotten here and cannot be made to forget it, since the text is erased.
    """
    document_ids = base.document_ids or DocumentIds.none()
    for entry in standing:
        known = document_ids.label_of(entry.id)
        if known is not None and entry.sign < 0 and entry.text is None:
            raise Conflict(
                f"document `{entry.id}` was forgotten here, and the model file has learned it again",
                hint="train the model without it",
            )
        if known is not None and known != entry.label:
            raise Conflict(
                f"document `{entry.id}` is learned as {told_label(known)} in the model file, and as "
                f"{told_label(entry.label)} in the journal",
                hint="train the model with the label that is right, or forget the document here first",
            )
        if (known is None) == (entry.sign > 0):
            yield entry


def net_changes(
    document_ids: DocumentIds, window: Iterable[JournalEntry]
) -> tuple[list[JournalEntry], list[JournalEntry], DocumentIds]:
    """The documents that a window of entries forgets, those that it learns, and the ids after it.

    Only what is left in the end of each document matters: one learned and forgotten within the window is
    never counted, nor is one whose text is erased, since it is forgotten later.
    """
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
    for sign, entries in ((-1, gone), (1, fresh)):
        ids, labels = [entry.id for entry in entries], [entry.label for entry in entries]
        document_ids, passes = document_ids.changed(ids, labels, sign)
        entries[:] = [entry for entry, passed in zip(entries, passes.tolist(), strict=True) if passed]
    return gone, fresh, document_ids


def without(model: Model, rest: AnyBasis, entry: JournalEntry) -> AnyBasis:
    """``rest`` without one more document of training; `InputError` if it cannot have been there."""
    left = rest - basis_of(model, [entry])
    if not left.classes:
        raise InputError("that would forget every document of training", hint="delete the model instead")
    return left


def basis_of(model: Model, entries: Sequence[JournalEntry]) -> AnyBasis:
    """What a model would rest on had it learned just the documents of entries."""
    return model.basis_of(batches(model, entries))


def batches(model: Model, entries: Sequence[JournalEntry]) -> list[Batch]:
    """The documents of entries, as a model reads them."""
    texts, labels = [entry.text or "" for entry in entries], [entry.label for entry in entries]
    return batches_of(model, texts, labels, [entry.id for entry in entries])


def batch_of(model: TextModel | MultiLabelModel, entries: Sequence[JournalEntry]) -> Batch:
    """The documents of entries, as a model of texts reads them."""
    return batches(model, entries)[0] if entries else Batch([], [], None)


def tally_of(standing: BasisWithIds) -> Any:
    """The counts of what a model of counts rests on."""
    assert standing.basis.tally is not None
    return standing.basis.tally


def corpus_of(standing: BasisWithIds) -> Any:
    """The documents of what a model that keeps them rests on."""
    assert standing.basis.corpus is not None
    return standing.basis.corpus
