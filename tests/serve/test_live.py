"""The model that answers is that of what stands: whatever the order, windows, snapshots and files."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import textodds
from serve.durable import (
    LABELS,
    PROBES,
    TRAINING,
    WORDS,
    Core,
    base_at,
    forgetting,
    learning,
    must_be_same,
    must_equal,
    trained,
)
from textodds.errors import Conflict, InputError, ModelFileError, TextoddsError, Unsupported
from textodds.model.text_model import TextModel
from textodds.serve.protocol.messages import Forgotten
from textodds.serve.records.journal import Change, Journal, JournalEntry
from textodds.serve.updates import fold, live_model

NAMED = [
    ("b1", "spam", "cash prize free entry"),
    ("b2", "ham", "lunch at noon tomorrow"),
    ("b3", "eggs", "bacon and lunch"),
]
names = st.sampled_from(["b1", "b2", "b3", "j1", "j2", "j3"])
documents = st.tuples(
    names,
    st.sampled_from([*LABELS, "bacon"]),
    st.sampled_from([NAMED[0][2], NAMED[1][2], "free lunch", "", "a new word"]),
)
requests = st.one_of(
    st.tuples(st.just("learn"), st.lists(documents, min_size=1, max_size=3)),
    st.tuples(st.just("forget"), st.lists(names, min_size=1, max_size=3)),
)


class Corrected(RuleBasedStateMachine):
    """Learns, forgets, folds, saves and begins again, beside a dictionary of what stands."""

    @initialize(named=st.booleans(), learner=st.sampled_from(["multinomial", "bernoulli"]))
    def begin(self, named: bool, learner: str) -> None:
        self.folder = TemporaryDirectory()
        self.options = {"learner": learner}
        path = Path(self.folder.name) / "mail.textodds"
        self.stands = {name: (label, text) for name, label, text in NAMED} if named else {}
        self.of_training = set(self.stands)
        base_at(path, TRAINING, NAMED if named else (), **self.options)
        self.core = Core(path, Journal(":memory:"))

    def teardown(self) -> None:
        if hasattr(self, "core"):
            try:
                self.again(kept=True)
                self.again(kept=False)
            finally:
                self.core.journal.close()
                self.folder.cleanup()

    @rule(group=st.lists(requests, min_size=1, max_size=3))
    def ask(self, group: list[tuple[str, list[Any]]]) -> None:
        works, expected = [], []
        for kind, asked in group:
            if kind == "learn":
                works.append(learning(*asked, new=True))
                expected.append(self._tried(asked, self._learned))
            else:
                texts = {name: text for name, _, text in NAMED}
                works.append(forgetting(*(Forgotten(id=n, text=texts.get(n)) for n in asked)))
                expected.append(self._tried(asked, self._forgotten))
        found = self.core.together(*works)
        for got, wanted in zip(found, expected, strict=True):
            if wanted is None:
                assert isinstance(got, InputError), got
            else:
                assert not isinstance(got, Exception), got
                assert [one.changed for one in got.documents] == wanted

    def _tried(self, asked: list[Any], do: Callable[[Any], bool]) -> list[bool] | None:
        """What a request changes; None, and nothing is changed, if it is to be refused."""
        before = dict(self.stands), set(self.of_training)
        try:
            return [do(one) for one in asked]
        except ValueError:
            self.stands, self.of_training = before
            return None

    def _learned(self, document: tuple[str, str, str]) -> bool:
        name, label, text = document
        if name not in self.stands:
            self.stands[name] = (label, text)
            return True
        mine = self.stands[name]
        if mine[0] != label or (name not in self.of_training and mine[1] != text):
            raise ValueError
        return False

    def _forgotten(self, name: str) -> bool:
        if name not in self.stands:
            return False
        text = {name: text for name, _, text in NAMED}.get(name)
        if text is not None and self.stands[name][1] != text:
            raise ValueError  # it was learned again here, with another text than is sent along
        del self.stands[name]
        self.of_training.discard(name)
        return True

    @rule()
    def fold(self) -> None:
        must_equal(self.core.model, [*TRAINING, *self.stands.values()], **self.options)

    @rule()
    def save(self) -> None:
        self.core.writer.save()
        saved = textodds.load(self.core.settings.snapshot)
        assert isinstance(saved, TextModel)
        must_equal(saved, [*TRAINING, *self.stands.values()], **self.options)

    @rule(kept=st.booleans())
    def again(self, kept: bool) -> None:
        if not kept:
            self.core.settings.snapshot.unlink(missing_ok=True)
        self.core = self.core.begun_again()
        assert self.core.live.serving.seq == self.core.journal.last
        must_equal(self.core.live.serving.model, [*TRAINING, *self.stands.values()], **self.options)

    @rule(at=st.floats(0, 1))
    def spoil(self, at: float) -> None:
        """Cut the snapshot off."""
        snapshot = self.core.settings.snapshot
        if snapshot.exists():
            whole = snapshot.read_bytes()
            snapshot.write_bytes(whole[: int(at * (len(whole) - 1))])

    @invariant()
    def versions_have_the_last_entry(self) -> None:
        if hasattr(self, "core"):
            assert self.core.live.acknowledged == self.core.journal.last


class TestCorrected(Corrected.TestCase):  # type: ignore[name-defined, misc]
    settings = settings(
        max_examples=60, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    return base_at(tmp_path / "mail.textodds", TRAINING, NAMED)


@pytest.fixture
def core(mail: Path) -> Iterator[Core]:
    with closing(Journal(":memory:")) as journal:
        yield Core(mail, journal)


SPAM = ("j1", "spam", "win cash now")
HAM = ("j2", "ham", "see you tomorrow")
ALL = [*TRAINING, *(pair[1:] for pair in NAMED)]


def test_readers_have_a_model_and_a_version_that_belong_together(core: Core) -> None:
    """While others learn and fold, every pair that a reader takes is right, and numbers only grow."""
    changes = [(f"j{n % 7}", LABELS[n % 3], f"{WORDS[n % 16]} {WORDS[n % 5]}") for n in range(60)]
    stands: dict[str, tuple[str, str]] = {}
    expected = {0: trained(ALL)}
    works = []
    for name, label, text in changes:
        if name in stands:
            works.append(forgetting(name))
            del stands[name]
            expected[len(works)] = trained([*ALL, *stands.values()])
        works.append(learning((name, label, text)))
        stands[name] = (label, text)
        expected[len(works)] = trained([*ALL, *stands.values()])
    taken: list[list[tuple[int, TextModel]]] = [[] for _ in range(3)]
    done = threading.Event()

    def read(mine: list[tuple[int, TextModel]]) -> None:
        while not done.is_set():
            serving = core.live.fold()
            if not mine or mine[-1][0] != serving.seq:
                mine.append((serving.seq, serving.model))

    readers = [threading.Thread(target=read, args=(mine,)) for mine in taken]
    for one in readers:
        one.start()
    for work in works:
        core.ask(work)
    done.set()
    for one in readers:
        one.join()
    for mine in taken:
        assert [seq for seq, _ in mine] == sorted({seq for seq, _ in mine})
        for seq, model in mine:
            assert [model(text) for text in PROBES] == [expected[seq](text) for text in PROBES]
    must_be_same(core.model, expected[len(works)])


def _calibrated(path: Path, **saved: bool) -> TextModel:
    """A model of 200 texts, which is enough to calibrate it, as it is in a file."""
    random = Random(1)
    texts = [
        " ".join(random.choices(WORDS[:9] if n % 2 else WORDS[5:], k=random.randint(2, 7)))
        for n in range(200)
    ]
    labels = ["spam" if n % 2 else "ham" for n in range(200)]
    base = textodds.train(texts, labels, learner="multinomial", threads=1)
    base.save(path, **saved)
    found = textodds.load(path, threads=1)
    assert isinstance(found, TextModel)
    assert found.calibration is not None
    return found


def test_without_documents_a_model_keeps_its_calibration_and_promises_nothing(tmp_path: Path) -> None:
    base = _calibrated(tmp_path / "mail.textodds", documents=False)
    with closing(Journal(":memory:")) as journal:
        core = Core(tmp_path / "mail.textodds", journal)
        assert core.model.held_out is not None
        core.learn(SPAM, HAM, ("j3", "eggs", "bacon"), new=True)
        core.live.fold()
        core.forget("j3", "j1")
        core.live.fold()
        core.learn(("j1", "ham", "win cash now"))
        base.learn(["see you tomorrow", "win cash now"], ["ham", "ham"])
        for one in (core, core.begun_again()):
            must_be_same(one.model, base)
            assert np.array_equal(one.model.predict_proba(PROBES), base.predict_proba(PROBES))
            assert one.model.held_out is None
            assert one.live.serving.version == f"{one.live.base.digest[:12]}.6"  # there is no more to come


def test_a_version_has_one_card_before_and_after_a_restart(tmp_path: Path) -> None:
    _calibrated(tmp_path / "mail.textodds")
    with closing(Journal(":memory:")) as journal:
        core = Core(tmp_path / "mail.textodds", journal)
        for often in (False, True):
            core.learn((f"j{often}", "eggs", "bacon"), new=True)
            core.live.solve() if often else core.live.fold()
            core.forget(f"j{often}")
            before, after = core.live.solve(), core.begun_again().live.serving
            assert before.version == after.version
            assert before.model.tally == after.model.tally
            assert before.model.held_out is not None
            assert after.model.held_out is not None
            assert np.array_equal(before.model.held_out.p_answer, after.model.held_out.p_answer)
            assert before.model.info == after.model.info


def test_a_failed_fold_loses_nothing(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    core.learn(SPAM)

    def fails(*_: object) -> TextModel:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(live_model, "fold_in", fails)
        with pytest.raises(MemoryError):
            core.live.fold()
    assert core.live.acknowledged == 1
    must_equal(core.model, [*ALL, SPAM[1:]])


@pytest.mark.parametrize("undone", ["learn", "forget"])
def test_what_is_acknowledged_can_be_folded(tmp_path: Path, undone: str) -> None:
    """Words in more than half of the documents are left out: with the next one, all of them."""
    path = tmp_path / "mail.textodds"
    if undone == "learn":
        base_at(path, [("ham", "noon"), ("spam", "cash")], max_df=0.5)
        work: Any = learning(("j1", "ham", "noon cash"))
    else:
        model = trained([("ham", "noon"), ("spam", "cash"), ("ham", "noon cash")], min_df=2)
        model.learn("noon cash", "ham", ids="b1")
        model.forget("noon cash", "ham")  # now `b1` alone makes its words frequent enough
        model.save(path)
        work = forgetting(Forgotten(id="b1", label="ham", text="noon cash"))
    with closing(Journal(":memory:")) as journal:
        core = Core(path, journal)
        (answer,) = core.together(work)
        assert isinstance(answer, TextoddsError) == (journal.last == 0)
        core.live.fold()
        assert core.begun_again().model("noon").label in ("ham", "spam")


def test_a_journal_of_several_portions_is_read_after_texts_were_erased(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    core.learn(SPAM)
    core.learn(HAM)
    core.forget("j1")
    core.writer.save()
    core.settings.snapshot.unlink()
    monkeypatch.setattr(fold, "PORTION", 2)
    must_equal(core.begun_again().model, [*ALL, HAM[1:]])


@pytest.mark.parametrize("portion", [1, 2, 3, 100])
def test_portions_of_any_size_make_the_same_model(
    core: Core, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    core.learn(SPAM, HAM)
    core.forget(Forgotten(id="b1", text=NAMED[0][2]), "j1")
    core.learn(("b1", "ham", "call me"), ("j1", "ham", "win"))
    monkeypatch.setattr(fold, "PORTION", portion)
    stands = [*TRAINING, *(pair[1:] for pair in NAMED[1:]), HAM[1:], ("ham", "call me"), ("ham", "win")]
    must_equal(core.begun_again().model, stands)


def _snapshot_of(core: Core, change: Callable[[dict[str, Any]], object]) -> None:
    """The snapshot of another model altogether, its header changed: using it would be seen."""
    model = trained([*TRAINING, ("spam", "another model"), ("eggs", "another")])
    seq = core.journal.last
    about = {"base": core.live.base.digest, "journal": core.journal.key, "seq": seq}
    about["entry"] = core.journal.mark(seq)
    model.info["served"] = change(about) or about
    model.save(core.settings.snapshot)


def test_a_snapshot_is_used(core: Core) -> None:
    """Those below are ignored for their faults, not for another reason."""
    core.learn(SPAM)
    _snapshot_of(core, lambda about: None)
    again = core.begun_again()
    assert again.live.saved == 1
    assert "another" in again.model.vocabulary.words(np.arange(len(again.model.vocabulary)))
    assert "served" not in again.model.info


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.update(base="0" * 64),
        lambda about: about.update(seq="1"),
        lambda about: about.pop("seq"),
        lambda about: about.pop("base"),
        lambda about: "all of it",
        lambda about: [1, 2],
    ],
)
def test_a_snapshot_of_something_else_is_ignored(
    core: Core, change: Callable[[dict[str, Any]], object]
) -> None:
    core.learn(SPAM)
    _snapshot_of(core, change)
    again = core.begun_again()
    assert again.live.saved == 0
    must_equal(again.model, [*ALL, SPAM[1:]])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"journal": "0" * 32}, r"holds 1 correction of another journal than .*, which has 1$"),
        ({"seq": 400}, r"holds 400 corrections, and the journal .* only the first 1 of them$"),
        ({"entry": "0" * 64}, r"holds 1 correction, and the journal .* has others in their place$"),
    ],
)
def test_a_snapshot_that_holds_more_than_the_journal_is_neither_ignored_nor_written_over(
    core: Core, change: dict[str, Any], told: str
) -> None:
    core.learn(SPAM)
    _snapshot_of(core, lambda about: about.update(change))
    path, before = core.settings.snapshot, core.settings.snapshot.read_bytes()
    with pytest.raises(ModelFileError) as refused:
        core.begun_again()
    assert re.search(told, refused.value.problem)
    assert "`--accept-loss`" in str(refused.value.hint)
    for n in (1, 2):
        path.write_bytes(before)
        again = core.begun_again(accept_loss=True)
        must_equal(again.model, [*ALL, SPAM[1:]])
        again.writer.save()
        assert path.with_name(f"{path.name}.{n}").read_bytes() == before
        must_equal(again.begun_again().model, [*ALL, SPAM[1:]])


def test_a_snapshot_that_is_no_model_is_ignored(core: Core, tmp_path: Path) -> None:
    core.learn(SPAM)
    core.writer.save()
    whole = core.settings.snapshot.read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + length])
    header["__metadata__"]["textodds"] = "{}"
    hollow = json.dumps(header).encode()
    for content in (
        b"",
        b"\0" * 100,
        whole[:7],
        whole[: len(whole) // 2],
        whole[:-1],
        b"\xff" * 8 + whole[8:],
        struct.pack("<Q", len(hollow)) + hollow + whole[8 + length :],
    ):
        core.settings.snapshot.write_bytes(content)
        again = core.begun_again()
        assert again.live.saved == 0
        must_equal(again.model, [*ALL, SPAM[1:]])
    core.settings.snapshot.unlink()
    core.settings.snapshot.mkdir()
    must_equal(core.begun_again().model, [*ALL, SPAM[1:]])


def test_a_snapshot_with_damaged_counts_is_ignored(core: Core) -> None:
    core.learn(SPAM)
    core.writer.save()
    whole = core.settings.snapshot.read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    start, end = json.loads(whole[8 : 8 + length])["tally.starts"]["data_offsets"]
    place = 8 + length + start
    core.settings.snapshot.write_bytes(whole[:place] + b"\0" * (end - start) + whole[8 + length + end :])
    again = core.begun_again()
    again.learn(HAM)
    must_equal(again.model, [*ALL, SPAM[1:], HAM[1:]])


@pytest.mark.parametrize("restored", [True, False])
def test_a_journal_that_was_lost_or_restored_costs_no_correction_in_silence(
    mail: Path, restored: bool
) -> None:
    """The journal is put back as it was, or gone: the snapshot has what it has not."""
    core = Core(mail)
    core.learn(SPAM)
    path = core.settings.journal
    core.journal.close()
    shutil.copy(path, path.with_name("backup"))
    core = Core(mail)
    core.learn(("j3", "eggs", "bacon"))
    core.writer.save()
    core.journal.close()
    snapshot = core.settings.snapshot.read_bytes()
    path.unlink()
    if restored:
        path.with_name("backup").rename(path)
    with closing(Journal(path)) as journal:
        with pytest.raises(ModelFileError, match="holds 2 corrections"):
            Core(mail, journal)
        assert core.settings.snapshot.read_bytes() == snapshot
        core = Core(mail, journal, accept_loss=True)
        core.learn(HAM)
        core.writer.save()
        must_equal(core.begun_again().model, [*ALL, *[SPAM[1:]] * restored, HAM[1:]])
    kept = textodds.load(f"{core.settings.snapshot}.1")
    must_equal(kept, [*ALL, SPAM[1:], ("eggs", "bacon")])  # type: ignore[arg-type]


def test_the_journal_of_another_model_is_learned_by_this_one(core: Core, tmp_path: Path) -> None:
    core.learn(SPAM)
    core.forget(Forgotten(id="b1", text=NAMED[0][2]))
    core.writer.save()
    other = base_at(tmp_path / "other.textodds", TRAINING[:5], learner="bernoulli")
    again = Core(other, core.journal)
    must_equal(again.model, [*TRAINING[:5], SPAM[1:]], learner="bernoulli")


def _cannot_learn(path: Path) -> TextModel:
    """A model file that cannot learn."""
    texts, labels = [text for _, text in TRAINING], [label for label, _ in TRAINING]
    model = textodds.train(texts, labels, learner="softmax", features="words", threads=1)
    assert isinstance(model, TextModel)
    model.save(path, documents=False)
    return model


def test_a_file_that_cannot_learn_what_was_corrected_is_refused_and_the_model_stays(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j2")
    before, old = core.live.fold(), core.settings.model.read_bytes()
    _cannot_learn(core.settings.model)
    with pytest.raises(Unsupported, match=r"cannot learn 1 correction .*cannot be updated"):
        core.ask(core.live.reload)
    assert core.live.fold() is before
    assert core.learn(("j3", "ham", "home")) == [True]
    with pytest.raises(Unsupported, match="cannot learn 2 corrections"):
        core.begun_again()
    core.settings.model.write_bytes(old)
    must_equal(core.begun_again().model, [*ALL, SPAM[1:], ("ham", "home")])


def test_a_file_that_cannot_be_made_to_forget_is_refused(core: Core) -> None:
    """Whether it has learned the document again, it does not say."""
    core.forget(Forgotten(id="b1", text=NAMED[0][2]))
    _cannot_learn(core.settings.model)
    with pytest.raises(Unsupported, match="cannot learn 1 correction "):
        core.ask(core.live.reload)


def test_a_file_that_cannot_learn_is_served_once_corrections_are_taken_back(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j1", "j2")
    softmax = _cannot_learn(core.settings.model)
    assert core.ask(core.live.reload)
    for one in (core, core.begun_again()):
        assert np.array_equal(one.model.predict_proba(PROBES), softmax.predict_proba(PROBES))
        with pytest.raises(Unsupported):
            one.learn(("j3", "ham", "home"))
    assert _reloaded(core, *NAMED)
    must_equal(core.model, ALL)
    must_equal(core.begun_again().model, ALL)


def test_a_file_whose_weights_cannot_be_fitted_with_the_corrections_is_refused(core: Core) -> None:
    """Its only document of a class is one that was forgotten here."""
    core.forget(Forgotten(id="b2", text=NAMED[1][2]))
    before = core.live.fold()
    spam = [pair for pair in TRAINING if pair[0] == "spam"]
    model = trained([*spam, ("ham", "noon")], learner="softmax", features="words")
    model.learn(NAMED[1][2], "ham", ids="b2")
    model.forget("noon", "ham")
    model.save(core.settings.model)
    with pytest.raises(InputError, match=r"no weights of `mail[.]textodds` can be fitted"):
        core.ask(core.live.reload)
    assert core.live.fold() is before
    assert core.journal.base == before.digest


def _reloaded(core: Core, *named: tuple[str, str, str], training: list[tuple[str, str]] = TRAINING) -> bool:
    base_at(core.settings.model, training, named)
    return bool(core.ask(core.live.reload))


def _refused(core: Core, *named: tuple[str, str, str]) -> None:
    """The file is refused, the model stays and learns on; with the old file all begins as before."""
    before, old = core.live.fold(), core.settings.model.read_bytes()
    with pytest.raises(Conflict):
        _reloaded(core, *named)
    assert core.live.fold() is before
    assert core.live.base.digest == before.digest
    with pytest.raises(Conflict):
        core.begun_again()
    core.settings.model.write_bytes(old)
    assert not core.ask(core.live.reload)
    must_be_same(core.begun_again().model, before.model)
    assert core.learn(("after", "ham", "see me")) == [True]
    assert core.live.fold().seq == before.seq + 1


def test_a_file_that_is_the_same_is_not_loaded_again(core: Core) -> None:
    core.learn(SPAM)
    before = core.live.fold()
    assert core.ask(core.live.reload) is False
    assert core.live.fold() is before


def test_a_new_file_takes_the_corrections_along(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j2", Forgotten(id="b1", text=NAMED[0][2]))
    training = [*TRAINING[:4], ("ham", "another text"), ("eggs", "omelette")]
    assert _reloaded(core, *NAMED, training=training)
    stands = [*training, *(pair[1:] for pair in NAMED[1:]), SPAM[1:]]
    assert core.live.serving.seq == core.journal.last
    must_equal(core.model, stands)
    core.learn(("b1", "ham", "now otherwise"))
    core.forget("j1")
    must_equal(core.model, [*stands[:-1], ("ham", "now otherwise")])
    must_equal(core.begun_again().model, [*stands[:-1], ("ham", "now otherwise")])
    core.writer.save()
    must_equal(core.begun_again().model, [*stands[:-1], ("ham", "now otherwise")])


def test_a_new_file_that_has_learned_a_correction_does_not_learn_it_twice(core: Core) -> None:
    core.learn(SPAM, HAM)
    assert _reloaded(core, *NAMED, SPAM)
    must_equal(core.model, [*ALL, SPAM[1:], HAM[1:]])
    assert core.learn(SPAM) == [False]
    assert core.forget("j1") == [True]
    must_equal(core.model, [*ALL, HAM[1:]])
    must_equal(core.begun_again().model, [*ALL, HAM[1:]])
    core.writer.save()
    must_equal(core.begun_again().model, [*ALL, HAM[1:]])
    assert core.learn(("j1", "eggs", "other")) == [True]
    must_equal(core.begun_again().model, [*ALL, HAM[1:], ("eggs", "other")])


def test_a_new_file_that_has_a_correction_under_another_label_is_refused(core: Core) -> None:
    core.learn(SPAM)
    _refused(core, *NAMED, ("j1", "ham", "win cash now"))


def test_a_new_file_that_has_what_was_forgotten_forgets_it_while_its_text_is_known(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j1")
    assert _reloaded(core, *NAMED, SPAM)
    must_equal(core.model, [*ALL, HAM[1:]])
    core.writer.save()
    core.settings.snapshot.unlink()
    must_equal(core.begun_again().model, [*ALL, HAM[1:]])
    assert core.learn(SPAM) == [True]
    must_equal(core.begun_again().model, [*ALL, HAM[1:], SPAM[1:]])


def test_a_new_file_that_has_what_was_forgotten_and_erased_is_refused(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j1")
    core.writer.save()
    _refused(core, *NAMED, SPAM)


def test_a_new_file_that_has_what_was_forgotten_under_another_label_is_refused(core: Core) -> None:
    core.learn(SPAM, HAM)
    core.forget("j1")
    _refused(core, *NAMED, ("j1", "eggs", "win cash now"))


def test_a_new_file_that_was_trained_on_a_corrected_label_is_taken(core: Core) -> None:
    core.learn(SPAM)
    core.forget("j1")
    core.learn(("j1", "ham", "win cash now"))
    assert _reloaded(core, *NAMED, ("j1", "ham", "win cash now"))
    must_equal(core.model, [*ALL, ("ham", "win cash now")])


def test_a_new_file_that_was_trained_on_what_was_erased_and_learned_again_is_taken(core: Core) -> None:
    core.learn(SPAM)
    core.forget("j1")
    core.writer.save()
    core.learn(("j1", "ham", "win cash now"))
    assert _reloaded(core, *NAMED, ("j1", "ham", "win cash now"))
    must_equal(core.model, [*ALL, ("ham", "win cash now")])


def test_a_new_file_that_was_trained_on_a_corrected_text_is_right_or_refused(core: Core) -> None:
    core.learn(SPAM)
    core.forget("j1")
    core.learn(("j1", "spam", "win a phone"))
    try:
        _reloaded(core, *NAMED, ("j1", "spam", "win a phone"), training=[*TRAINING, SPAM[1:]])
    except Conflict:
        return
    must_equal(core.model, [*ALL, SPAM[1:], ("spam", "win a phone")])


def test_a_file_that_is_no_model_is_refused_and_the_old_one_stays(core: Core) -> None:
    core.learn(SPAM)
    before = core.live.fold()
    core.settings.model.write_bytes(b"not a model")
    with pytest.raises(ModelFileError):
        core.ask(core.live.reload)
    core.settings.model.unlink()
    with pytest.raises(ModelFileError):
        core.ask(core.live.reload)
    assert core.live.fold() is before
    core.learn(HAM)
    must_equal(core.model, [*ALL, SPAM[1:], HAM[1:]])


def test_writing_over_the_model_file_in_place_does_not_change_what_answers(core: Core) -> None:
    before = [core.model(text) for text in PROBES]
    size = core.settings.model.stat().st_size
    with core.settings.model.open("rb+") as file:
        file.write(b"\0" * size)
    assert [core.model(text) for text in PROBES] == before
    core.learn(SPAM)
    must_equal(core.model, [*ALL, SPAM[1:]])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
def test_only_the_owner_may_read_a_snapshot(core: Core) -> None:
    core.learn(SPAM)
    for _ in range(2):
        core.writer.save()
        assert core.settings.snapshot.stat().st_mode & 0o777 == 0o600


def test_a_snapshot_that_cannot_be_written_leaves_the_last_one(core: Core) -> None:
    core.learn(SPAM)
    core.writer.save()
    core.learn(HAM)
    folder, saved = core.settings.model.parent, core.settings.snapshot.read_bytes()
    moved = folder.with_name("moved")
    folder.rename(moved)
    with pytest.raises(ModelFileError):
        core.writer.save()
    moved.rename(folder)
    assert core.settings.snapshot.read_bytes() == saved
    assert (core.live.saved, core.writer.failed_snapshots) == (1, 1)
    must_equal(core.begun_again().model, [*ALL, SPAM[1:], HAM[1:]])


def test_forgotten_texts_leave_the_files_with_the_next_snapshot(mail: Path) -> None:
    """From the journal, its log and the snapshot, to the last byte; the words that others have stay."""
    core = Core(mail)
    core.learn(
        ("j1", "spam", "plughsecret win"), ("j2", "ham", "kept words"), ("j3", "ham", "xyzzysecret " * 9000)
    )
    core.writer.save()
    core.forget("j1", "j3")
    core.writer.save()
    raw = b"".join(part.read_bytes() for part in mail.parent.iterdir())
    assert b"plughsecret" not in raw
    assert b"xyzzysecret" not in raw
    assert b"kept words" in raw
    core.journal.close()


def test_the_text_that_a_document_had_before_leaves_the_files_too(mail: Path) -> None:
    core = Core(mail)
    core.learn(("j1", "spam", "plughsecret win"))
    core.forget("j1")
    core.learn(("j1", "spam", "harmless win"))
    core.writer.save()
    raw = b"".join(part.read_bytes() for part in mail.parent.iterdir())
    core.journal.close()
    assert b"plughsecret" not in raw


def test_a_text_learned_and_forgotten_here_under_an_id_of_training_is_erased(mail: Path) -> None:
    core = Core(mail)
    core.forget(Forgotten(id="b1", text=NAMED[0][2]))
    core.learn(("b1", "ham", "plughsecret"))
    core.forget("b1")
    core.writer.save()
    raw = b"".join(part.read_bytes() for part in mail.parent.iterdir())
    core.journal.close()
    assert b"plughsecret" not in raw
    core = Core(mail)
    core.settings.snapshot.unlink()
    must_equal(core.begun_again().model, [*TRAINING, *(pair[1:] for pair in NAMED[1:])])
    core.journal.close()


def test_erasing_that_a_crash_has_prevented_is_done_on_the_next_start(mail: Path) -> None:
    core = Core(mail)
    core.learn(("j1", "spam", "plughsecret win"))
    core.forget("j1")
    core.live.save()  # and here it is killed
    core.journal.close()
    core = Core(mail)
    core.ask(lambda: None)
    raw = core.settings.journal.read_bytes()
    core.journal.close()
    assert b"plughsecret" not in raw


def test_entries_that_no_service_would_write_are_an_error_and_not_a_wrong_model(mail: Path) -> None:
    """A journal that was changed by hand: forgetting what training has not, by its counts."""
    with closing(Journal(":memory:")) as journal:
        journal.append([Change(-1, "b1", "spam", "words that were never there")])
        with pytest.raises(InputError):
            Core(mail, journal)


def test_a_damaged_journal_is_an_error_with_a_reason(mail: Path) -> None:
    core = Core(mail)
    core.learn(*((f"m{n}", "spam", "win " * 50) for n in range(200)))
    core.journal.close()
    path = core.settings.journal
    whole = bytearray(path.read_bytes())
    for place in range(4096 + 100, len(whole), 4096):
        whole[place - 100 : place - 60] = b"\xff" * 40
    path.write_bytes(whole)
    with pytest.raises((ModelFileError, sqlite3.DatabaseError)):
        Core(mail)


@pytest.mark.parametrize("learner", ["multinomial", "multinomial:binary"])
def test_an_answer_beside_corrections_is_that_of_the_version_it_names(tmp_path: Path, learner: str) -> None:
    random = Random(3)
    fresh = [
        (random.choice(("ham", "spam")), " ".join(random.choices(WORDS, k=8)) + f" w{n}") for n in range(60)
    ]
    long = " ".join([*WORDS, *(f"w{n}" for n in range(60))] * 30)  # for which the kernel lets others run
    seen: list[tuple[int, dict[str, float], list[list[float]]]] = []
    done = threading.Event()
    path = base_at(tmp_path / "m", learner=learner)
    with closing(Journal(":memory:")) as journal:
        live = Core(path, journal).live

        def ask() -> None:
            while not done.is_set():
                serving = live.serving
                answers = serving.model.predict_proba([long, "win w7 w31"]).tolist()
                seen.append((serving.seq, serving.model(long).probabilities, answers))

        readers = [threading.Thread(target=ask) for _ in range(2)]
        for reader in readers:
            reader.start()
        for n, (label, text) in enumerate(fresh, 1):
            live.take([JournalEntry(n, 1, f"j{n}", label, text, "")])
            live.fold()
        done.set()
        for reader in readers:
            reader.join()
    by_version = {seq: (one, many) for seq, one, many in seen}
    assert len(by_version) > 1
    assert all(by_version[seq] == (one, many) for seq, one, many in seen)
    for seq, (one, many) in by_version.items():
        offline = trained([*TRAINING, *fresh[:seq]], learner=learner)
        assert one == offline(long).probabilities
        assert many == offline.predict_proba([long, "win w7 w31"]).tolist()
