"""A corrected model answers otherwise at once, and is soon the one of training on the same documents."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import textodds
from serve.durable import PROBES, WORDS, Core
from serve.running import Client, Running, settled
from textodds.errors import InputError
from textodds.model.text_model import TextModel
from textodds.serve.protocol.messages import Forgotten
from textodds.serve.records.journal import Journal
from textodds.serve.updates import live_model as lives
from textodds.serve.updates import solver as solvers
from textodds.serve.updates.fold import ServedModel
from textodds.serve.updates.solver import Solver
from textodds.serve.updates.solver_process import SolverProcess

Rows = list[tuple[str, str]]  # label, text

COUNTS = ("multinomial", "multinomial:binary", "bernoulli", "complement")
FITTED = ("softmax:C=3", "nb-softmax:C=3", "lda", "complement:transform")
LONG = 60.0


def _rows(n: int, seed: int = 1) -> Rows:
    """Texts of two classes that share many of their words."""
    random = Random(seed)
    return [
        (
            "spam" if i % 2 else "ham",
            " ".join(random.choices(WORDS[:10] if i % 2 else WORDS[5:], k=random.randint(3, 9))),
        )
        for i in range(n)
    ]


def _trained(rows: Rows, learner: str, like: TextModel | None = None) -> TextModel:
    """A model of rows; with the smoothing of another, since what was chosen stays."""
    name = learner.partition(":")[0]
    words = {} if name in ("multinomial", "bernoulli") else {"ngrams": (1, 1)}
    named = learner if like is None or learner not in COUNTS else like.recipe.learner
    model = textodds.train(
        [text for _, text in rows], [label for label, _ in rows], learner=named, threads=1, **words
    )
    assert isinstance(model, TextModel)
    assert model.has_documents
    return model


def _base(path: Path, rows: Rows, learner: str, *named: tuple[str, str, str]) -> TextModel:
    """A model file of rows without ids, and of some (id, label, text) with."""
    model = _trained(rows, learner)
    if named:
        names, labels, texts = (list(column) for column in zip(*named, strict=True))
        model.learn(texts, labels, ids=names)
    model.save(path)
    return model


def _must_be_trained(model: TextModel, rows: Rows, learner: str) -> None:
    """Refuse a model whose answers are not those of one that was trained on these rows."""
    offline = _trained(rows, learner, model)
    assert model.classes_ == offline.classes_
    mine, theirs = (each.predict_proba(PROBES) for each in (model, offline))
    if learner in COUNTS:
        assert np.array_equal(mine, theirs)
        assert (model.held_out is None) == (offline.held_out is None)
        if model.held_out is not None and offline.held_out is not None:
            assert np.array_equal(model.held_out.p_answer, offline.held_out.p_answer)
    else:
        assert (model.predict(PROBES) == offline.predict(PROBES)).all()
        assert np.abs(mine - theirs).max() < 1e-2


@contextmanager
def _core(path: Path) -> Iterator[Core]:
    with closing(Journal(":memory:")) as journal:
        yield Core(path, journal)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("learner", [*COUNTS, *FITTED])
def test_once_solved_a_model_is_the_one_of_its_documents_in_any_order(
    tmp_path: Path, learner: str, seed: int
) -> None:
    rows, named = _rows(160), [("b1", "ham", "noon lunch xyzzy"), ("b2", "spam", "cash cash plugh")]
    _base(tmp_path / "m", rows, learner, *named)
    random, stands = Random(seed), {name: (label, text) for name, label, text in named}
    fresh = [(f"j{n}", *row) for n, row in enumerate(_rows(12, seed=2))]
    fresh += [("new", "eggs", "bacon and xyzzy"), ("newer", "eggs", "bacon at noon")]
    random.shuffle(fresh)
    with _core(tmp_path / "m") as core:
        for name, label, text in fresh:
            core.learn((name, label, text), new=True)
            stands[name] = (label, text)
            if random.random() < 0.3:
                gone = random.choice(sorted(stands))
                core.forget(Forgotten(id=gone, text=stands.pop(gone)[1]))
            if random.random() < 0.5:
                assert core.live.fold().version.endswith(f".{core.journal.last}~")
            if random.random() < 0.15:
                core.live.solve()
        solved = core.live.solve()
        assert core.live.fold() is solved
        assert solved.version.endswith(f".{core.journal.last}")
        for serving in (solved, core.begun_again().live.serving):
            assert serving.version == solved.version
            _must_be_trained(serving.model, [*rows, *stands.values()], learner)
        core.writer.save()
        _must_be_trained(core.begun_again().model, [*rows, *stands.values()], learner)


@pytest.mark.parametrize("learner", ["softmax:C=3", "nb-softmax:C=3", "lda", "complement:transform"])
def test_a_correction_moves_the_answer_at_once_and_is_taken_back(tmp_path: Path, learner: str) -> None:
    base, text = _base(tmp_path / "m", _rows(160), learner), "win a free prize"
    with _core(tmp_path / "m") as core:
        before = core.model(text).probabilities
        core.learn(("j1", "ham", text))
        quick = core.model(text).probabilities
        assert before["ham"] < quick["ham"] < 1 - 1e-9
        assert core.model.class_documents["ham"] == 81
        assert core.model.info["documents"] == 161
        core.forget("j1")
        assert core.model(text).probabilities == pytest.approx(before, abs=1e-9)
        core.learn(("j2", "eggs", "bacon " + text), new=True)
        assert core.model.classes_ == ("eggs", "ham", "spam")
        assert sum(core.model(text).probabilities.values()) == pytest.approx(1)
        for other in ("", "see you at home"):
            probabilities = core.model(other).probabilities
            assert probabilities.pop("eggs") < 0.1
            assert probabilities == pytest.approx(base(other).probabilities, abs=0.1)


def test_an_answer_does_not_wait_for_the_solution_and_has_what_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(160)
    _base(tmp_path / "m", rows, "softmax:C=3")
    begun, go_on, solution = threading.Event(), threading.Event(), lives.solution

    def slow(*given: Any) -> ServedModel:
        begun.set()
        assert go_on.wait(LONG)
        return solution(*given)

    with _core(tmp_path / "m") as core:
        core.learn(("j1", "ham", "win cash"))
        monkeypatch.setattr(lives, "solution", slow)
        solving = threading.Thread(target=core.live.solve)
        solving.start()
        assert begun.wait(LONG)
        core.learn(("j2", "ham", "free prize"))
        serving = core.live.fold()
        assert (serving.seq, serving.is_solved) == (2, False)
        core.learn(("j3", "spam", "noon"))
        go_on.set()
        solving.join()
        assert core.live.serving.seq == 2  # never fewer than before
        assert (core.live.waiting, core.live.unsolved) == (1, 2)
        assert core.live.fold().seq == 3
        assert core.live.solve().is_solved
        more = [("ham", "win cash"), ("ham", "free prize"), ("spam", "noon")]
        _must_be_trained(core.model, [*rows, *more], "softmax:C=3")


@pytest.mark.parametrize("learner", ["multinomial", "softmax:C=3"])
def test_a_process_of_its_own_finds_the_same_model_and_is_not_missed_when_it_dies(
    tmp_path: Path, learner: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows = _rows(160)
    _base(tmp_path / "m", rows, learner)
    beside = SolverProcess(beside=0)
    with _core(tmp_path / "m") as core, closing(beside):
        core.live._beside = beside
        for n, (label, text) in enumerate(
            more := [*_rows(8, seed=2), ("eggs", "bacon"), ("eggs", "egg xyzzy")]
        ):
            core.learn((f"j{n}", label, text), new=True)
            if n == 2:
                assert core.live.solve().model is beside._known
        assert core.live.solve().model is beside._known
        assert core.live.fold().version.endswith(".10")
        _must_be_trained(core.model, [*rows, *more], learner)
        assert beside._process is not None
        assert beside._folder is not None
        assert [path.name for path in Path(beside._folder.name).iterdir()] == ["begun.textodds"]
        beside._process.kill()
        core.learn(("j10", "ham", "noon"))
        assert core.live.solve().is_solved
        assert "has failed" in caplog.text
        core.learn(("j11", "spam", "cash"))
        assert core.live.solve().model is beside._known  # another one
        _must_be_trained(core.model, [*rows, *more, ("ham", "noon"), ("spam", "cash")], learner)
        process, folder = beside._process, Path(beside._folder.name)
        assert process.stdin is not None
        process.stdin.close()  # as when the service is killed
        assert process.wait(LONG) == 0
        assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="this system has no policy for idle work")
def test_the_process_that_solves_gives_way_to_the_one_that_answers(tmp_path: Path) -> None:
    _base(tmp_path / "m", _rows(160), "multinomial")
    beside = SolverProcess(beside=0)
    with _core(tmp_path / "m") as core, closing(beside):
        core.live._beside = beside
        core.learn(("one", "ham", "noon"))
        core.live.solve()
        assert beside._process is not None
        solver = beside._process.pid
        assert os.sched_getscheduler(solver) == os.SCHED_IDLE
        assert os.getpriority(os.PRIO_PROCESS, solver) == 19
        assert os.getsid(solver) == os.getsid(0)  # `nice` counts within a session only
        assert os.getpgid(solver) != os.getpgid(0)  # Ctrl-C is not for it


def test_many_that_came_meanwhile_are_folded_into_the_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, more, solution = _rows(160), _rows(30, seed=2), lives.solution
    _base(tmp_path / "m", rows, "multinomial")

    def meanwhile(*given: Any) -> ServedModel:
        for n, (label, text) in enumerate(more[1:], 1):
            core.learn((f"j{n}", label, text))
        core.live.fold()
        return solution(*given)

    with _core(tmp_path / "m") as core:
        core.learn(("j0", *more[0]))
        monkeypatch.setattr(lives, "solution", meanwhile)
        core.live.solve()
        monkeypatch.setattr(lives, "solution", solution)
        serving = core.live.serving
        assert (serving.seq, serving.is_solved, core.live.unsolved) == (30, False, 29)
        offline = _trained([*rows, *more], "multinomial", core.model)
        for text in PROBES:  # of calibration the quick answer has the last one
            assert np.array_equal(serving.model.score([text])[0], offline.score([text])[0])
        assert core.live.serving.model.tally == offline.tally
        core.live.solve()
        _must_be_trained(core.model, [*rows, *more], "multinomial")


def test_corrections_that_come_together_are_solved_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solvers, "QUIET", 0.2)
    _base(tmp_path / "m", _rows(160), "multinomial")
    with _core(tmp_path / "m") as core:
        solver = Solver(core.live)
        solver.start()
        for n in range(10):
            core.learn((f"j{n}", "ham", f"noon w{n}"))
            time.sleep(0.02)
        _until(lambda: core.live.serving.is_solved and core.live.serving.seq == 10)
        assert core.live.solutions <= 2
        solver.stop()
        solver.join(LONG)
        assert not solver.is_alive()


def test_corrections_without_a_pause_are_solved_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solvers, "LATEST", 0.3)
    monkeypatch.setattr(solvers, "SHARE", 0.0)
    _base(tmp_path / "m", _rows(160), "multinomial")
    with _core(tmp_path / "m") as core:
        solver = Solver(core.live)
        solver.start()
        end = time.monotonic() + LONG
        while not core.live.solutions and time.monotonic() < end:
            core.learn((f"j{core.journal.last}", "ham", "noon"))
            time.sleep(0.05)
        assert core.live.solutions
        solver.stop()
        solver.join(LONG)


def test_a_model_that_cannot_be_solved_goes_on_with_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = _rows(160)
    _base(tmp_path / "m", rows, "softmax:C=3")

    def fails(*_: object) -> None:
        raise InputError("no weights for these")

    with _core(tmp_path / "m") as core:
        before = core.model("win cash").probabilities
        core.learn(("j1", "ham", "win cash"))
        with monkeypatch.context() as patch:
            patch.setattr(TextModel, "stand_on", fails)
            for one in (core, core.begun_again()):
                assert not one.live.solve().is_solved
                assert one.live.fold().version.endswith(".1~")
                assert one.model("lunch").label == "ham"
                assert one.model.class_documents["ham"] == 81
                with pytest.raises(InputError, match="not saved"):
                    one.writer.save()
        assert core.model("win cash").probabilities != before
        assert "no weights for these" in caplog.text
        core.learn(("j2", "spam", "noon"))
        assert core.live.solve().is_solved
        _must_be_trained(core.model, [*rows, ("ham", "win cash"), ("spam", "noon")], "softmax:C=3")


def test_a_model_that_tells_classes_apart_keeps_two(tmp_path: Path) -> None:
    rows = [("ham", "noon lunch"), ("ham", "lunch at noon"), ("spam", "win cash")]
    model = _trained(rows, "softmax:C=3:min_df=1")
    model.learn("win a prize", "spam", ids="b1")
    model.forget("win cash", "spam")  # now `b1` alone is spam
    model.save(tmp_path / "m")
    with _core(tmp_path / "m") as core:
        with pytest.raises(InputError, match="one class only"):
            core.forget(Forgotten(id="b1", text="win a prize"))
        assert core.journal.last == 0
        core.learn(("j1", "eggs", "bacon"), new=True)
        assert core.forget(Forgotten(id="b1", text="win a prize")) == [True]
        assert core.live.solve().model.classes_ == ("eggs", "ham")


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("learner", ["multinomial", "softmax:C=3"])
def test_a_service_answers_as_the_model_of_its_documents_also_after_it_was_killed(
    serve: Callable[..., Running], tmp_path: Path, learner: str
) -> None:
    rows = _rows(160)
    base = _base(tmp_path / "m.textodds", rows, learner)

    def must_answer(client: Client, stands: Rows) -> None:
        offline = _trained([*rows, *stands], learner, base)
        for text in PROBES:
            found, said = client.post("/v1/classify", {"text": text}).json(), offline(text)
            assert found["label"] == said.label
            near = 0.0 if learner in COUNTS else 1e-2
            assert found["probabilities"] == pytest.approx(said.probabilities, abs=near, rel=0.0)

    service = serve(path=tmp_path / "m.textodds")
    client = service.client()
    assert client.get("/v1/model").json()["cannot_learn"] is None
    text = "win a free prize"
    before = client.post("/v1/classify", {"text": text}).json()
    fresh = [("j1", "ham", text), ("j2", "spam", "noon lunch home"), ("j3", "ham", "urgent call")]
    documents = [{"id": name, "label": label, "text": text} for name, label, text in fresh]
    answer = client.post("/v1/learn", {"documents": documents}).json()
    assert answer["version"].endswith(".3~")
    quick = client.post("/v1/classify", {"text": text}).json()
    assert quick["probabilities"]["ham"] > before["probabilities"]["ham"]
    client.post("/v1/forget", {"documents": [{"id": "j2"}]})
    stands = [("ham", text), ("ham", "urgent call")]
    assert settled(client).endswith(".4")
    must_answer(client, stands)
    client.post("/v1/learn", {"documents": [{"id": "j4", "label": "spam", "text": "see you"}]})
    service.kill()
    client.close()
    again = serve(path=tmp_path / "m.textodds")
    client = again.client()
    assert settled(client).endswith(".5")
    must_answer(client, [*stands, ("spam", "see you")])
    assert b"textodds_unsolved 0.0" in client.get("/metrics").body
    client.close()
    assert again.stop() == (0, "")
    client = serve(path=tmp_path / "m.textodds").client()
    assert settled(client).endswith(".5")
    must_answer(client, [*stands, ("spam", "see you")])
    client.close()
