"""What the tests of durable learning share: an answer that is known without the service, and clients."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import textodds
from textodds.model.text_model import TextModel
from textodds.serve.protocol.messages import Document, ForgetRequest, Forgotten, LearnRequest
from textodds.serve.records.journal import Journal
from textodds.serve.settings import Settings
from textodds.serve.updates.fold import open_model
from textodds.serve.updates.live_model import Live
from textodds.serve.updates.writer import Writer
from textodds.stats.tally import Tally

WORDS = "free win cash prize call now you home noon see lunch are me at phone urgent".split()
LABELS = ("eggs", "ham", "spam")
TRAINING = [
    ("spam", "win a free phone now"),
    ("spam", "free prize claim now call"),
    ("spam", "urgent call to win cash"),
    ("ham", "see you at noon"),
    ("ham", "are you home now"),
    ("ham", "call me when you are home"),
    ("eggs", "lunch at noon, free prize"),
]
PROBES = ["win a prize", "see you at home", "lunch now", "xyzzy", "free free free call", "urgent", ""]


def trained(documents: Iterable[tuple[str, str]], **options: Any) -> TextModel:
    """A model of (label, text) pairs, all learned at once."""
    rows = list(documents)
    options = {"learner": "multinomial", "calibrate": False, "threads": 1, **options}
    if options["learner"] in ("multinomial", "multinomial:binary", "bernoulli"):
        options["learner"] += ":alpha=1"  # which few texts have, and keep however many are learned
    model = textodds.train([text for _, text in rows], [label for label, _ in rows], **options)
    assert isinstance(model, TextModel)
    return model


def base_at(
    path: Path,
    training: Sequence[tuple[str, str]] = TRAINING,
    named: Sequence[tuple[str, str, str]] = (),
    **options: Any,
) -> Path:
    """A model file of documents without ids, and of some (id, label, text) with."""
    model = trained(training, **options)
    if named:
        names, labels, texts = (list(column) for column in zip(*named, strict=True))
        model.learn(texts, labels, ids=names)
    model.save(path)
    return path


def must_equal(model: TextModel, documents: Iterable[tuple[str, str]], **options: Any) -> None:
    """Refuse a model that is not, bit for bit, the one of (label, text) pairs learned at once."""
    rows = list(documents)
    expected = trained(rows, **options)
    settings = expected.recipe.settings
    at_once = Tally.of([text for _, text in rows], [label for label, _ in rows], settings=settings)
    assert model.tally == at_once
    must_be_same(model, expected)


def must_be_same(model: TextModel, expected: TextModel) -> None:
    """Refuse models that differ in a bit of what they count or answer."""
    assert model.classes_ == expected.classes_
    assert model.tally == expected.tally
    for part in ("default", "slope", "base", "dense", "starts", "class_of", "exceptions"):
        mine, theirs = (getattr(of.linear.weights, part) for of in (model, expected))
        assert np.array_equal(mine, theirs), part
    assert np.array_equal(model.linear.log_prior, expected.linear.log_prior)
    assert np.array_equal(model.linear.intercept, expected.linear.intercept)
    for text in PROBES:
        assert model(text) == expected(text)


class Core:
    """Journal, model and writer of a service, without HTTP; requests are done when asked, in one thread."""

    def __init__(
        self, model: Path, journal: Journal | None = None, every: int = 10_000, **options: Any
    ) -> None:
        self.settings = Settings(model, model.with_name(model.name + ".journal"), **options)
        self.journal = journal or Journal(self.settings.journal)
        self.every = every
        self.live = Live(self.settings, self.journal, open_model(model))
        self.writer = Writer(self.live, self.journal, snapshot_every=every)

    def begun_again(self, **options: Any) -> Core:
        """Another core on the same journal, as after a restart."""
        return Core(self.settings.model, self.journal, self.every, **options)

    def together(self, *works: Any) -> list[Any]:
        """What becomes of requests that are queued together: answers, and errors in their place."""

        async def ask() -> list[Any]:
            waiting = [self.writer.submit(work) for work in works]
            waiting.append(self.writer.submit(None))
            self.writer.run()
            return await asyncio.gather(*waiting, return_exceptions=True)

        return asyncio.run(ask())[:-1]

    def ask(self, work: Any) -> Any:
        """The answer to one request; raises what it was refused with."""
        (found,) = self.together(work)
        if isinstance(found, BaseException):
            raise found
        return found

    def learn(self, *documents: tuple[str, str, str], new: bool = False) -> list[bool]:
        """Whether each (id, label, text) has changed something."""
        return [one.changed for one in self.ask(learning(*documents, new=new)).documents]

    def forget(self, *names: str | Forgotten) -> list[bool]:
        """Whether each id has changed something."""
        return [one.changed for one in self.ask(forgetting(*names)).documents]

    @property
    def model(self) -> TextModel:
        """The model that answers now."""
        return self.live.fold().model


def learning(*documents: tuple[str, str, str], new: bool = False) -> LearnRequest:
    """A request to learn (id, label, text)."""
    rows = [Document(id=name, label=label, text=text) for name, label, text in documents]
    return LearnRequest(documents=rows, new_labels=new)


def forgetting(*names: str | Forgotten) -> ForgetRequest:
    """A request to forget ids."""
    rows = [name if isinstance(name, Forgotten) else Forgotten(id=name) for name in names]
    return ForgetRequest(documents=rows)


class Row(NamedTuple):
    """An entry as it is in the file."""

    seq: int
    sign: int
    id: str
    label: str
    text: str | None


def rows_of(journal: Path) -> list[Row]:
    """The entries in a file that nobody has open, read from a copy: the file stays as a crash has left it."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for end in ("", "-wal"):
            if Path(f"{journal}{end}").exists():
                shutil.copy(f"{journal}{end}", f"{copy}{end}")
        db = sqlite3.connect(copy)
        try:
            there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone()
            found = db.execute("SELECT seq, sign, id, label, text FROM entries ORDER BY seq") if there else ()
            return [Row._make(row) for row in found]
        finally:
            db.close()


@dataclass
class Request:
    """Something a client sends, and what it would change if it is done now."""

    path: str
    documents: list[dict[str, str]]
    changes: list[bool] | None  # None: it must be refused

    @property
    def body(self) -> dict[str, Any]:
        return {"documents": self.documents}

    def message(self) -> LearnRequest | ForgetRequest:
        """The request as the writer takes it."""
        if self.path == "/v1/learn":
            return LearnRequest(documents=[Document(**one) for one in self.documents])
        return ForgetRequest(documents=[Forgotten(**one) for one in self.documents])


@dataclass
class Sender:
    """A client with ids of its own, who knows what must stand after each acknowledgement."""

    name: str
    seed: object
    stands: dict[str, tuple[str, str]] = field(default_factory=dict)  # by id: label and text
    pending: Request | None = None
    last: Request | None = None
    acknowledged: int = 0
    latest: int = 0  # the highest number in a version that was answered

    def __post_init__(self) -> None:
        self.random = Random(str(self.seed))

    def next(self) -> Request:
        """What to send now, which is what was cut off, if something was: pending until `acknowledge`."""
        if self.pending is None:
            self.pending = self._made()
        return self.pending

    def _made(self) -> Request:
        random = self.random
        if self.last is not None and random.random() < 0.2:  # twice, as after a lost answer
            return Request(self.last.path, self.last.documents, [False] * len(self.last.documents))
        ids = random.sample([f"{self.name}'{n}" for n in range(10)], random.randint(1, 5))
        if random.random() < 0.45:
            return Request(
                "/v1/forget", [{"id": name} for name in ids], [name in self.stands for name in ids]
            )
        documents, is_refused = [], False
        for name in ids:
            label, text = random.choice(LABELS), " ".join(random.choices(WORDS, k=random.randint(0, 8)))
            if name in self.stands and random.random() < 0.9:
                label, text = self.stands[name]
            is_refused |= name in self.stands and (label, text) != self.stands[name]
            documents.append({"id": name, "label": label, "text": text})
        return Request(
            "/v1/learn", documents, None if is_refused else [name not in self.stands for name in ids]
        )

    def acknowledge(self, changed: list[bool] | None, seq: int = 0) -> None:
        """The pending request was answered: with what it has changed, or None if it was refused."""
        assert self.pending is not None
        assert changed == self.pending.changes, f"{self.pending} was answered with {changed}"
        if changed is not None:
            self.see(seq)
            self.acknowledged += 1
            self.stands = self._after()
            self.last = self.pending
        self.pending = None

    def see(self, seq: int) -> None:
        """The number of a version was answered, which may not be lower than one before."""
        assert seq >= self.latest, f"{seq} was answered after {self.latest}"
        self.latest = seq

    def settle(self, rows: Sequence[Row]) -> bool:
        """After a crash: whether what was pending is done; all that was acknowledged must be there.

        What is pending is then to be sent again, and is done once.
        """
        mine = standing(row for row in rows if row.id.startswith(f"{self.name}'"))
        if mine == self.stands:
            return False
        assert self.pending is not None, "what was acknowledged is not there"
        assert mine == self._after(), "a request was neither done nor left"
        self.stands = mine
        self.pending = Request(
            self.pending.path, self.pending.documents, [False] * len(self.pending.documents)
        )
        return True

    def _after(self) -> dict[str, tuple[str, str]]:
        """What stands once the pending request is done."""
        assert self.pending is not None
        stands = dict(self.stands)
        for document in self.pending.documents if self.pending.changes is not None else ():
            if self.pending.path == "/v1/learn":
                stands[document["id"]] = (document["label"], document["text"])
            else:
                stands.pop(document["id"], None)
        return stands


def standing(rows: Iterable[Row]) -> dict[str, tuple[str, str]]:
    """What is learned by the entries, by id; refuses entries that learn or forget what is so already."""
    stands: dict[str, tuple[str, str]] = {}
    for row in rows:
        assert (row.sign > 0) == (row.id not in stands), f"{row} was applied twice"
        if row.sign > 0:
            stands[row.id] = (row.label, row.text)  # type: ignore[assignment]
        else:
            label, _ = stands.pop(row.id)
            assert label == row.label
    assert all(text is not None for _, text in stands.values()), "the text of a standing document is gone"
    return stands


def must_be_whole(rows: Sequence[Row]) -> None:
    """Refuse entries that are not numbered one by one."""
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
