"""Corrections of several labels: on disk before they are acknowledged, and in the next answer."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import textodds
from pairs import together
from serve.durable import rows_of
from serve.running import Running, settled
from serve.tickets import WORDS, ticket_model, tickets
from serve.wire import problem
from textodds.cli import main
from textodds.data.label_sets import labels_in, name_of
from textodds.errors import Conflict, ModelFileError
from textodds.serve.records.journal import Change, Journal, Kind
from textodds.serve.records.salvage import repair
from textodds.serve.updates.fold import told_label

TEXT = "please the receipt of my lunch"
LEARNERS = ["multinomial", "softmax"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tickets")
    return {name: ticket_model(folder / f"{name}.textodds", name) for name in LEARNERS}


@pytest.fixture
def start(files, serve, tmp_path):
    def begin(learner="multinomial", *options):
        path = tmp_path / "tickets.textodds"
        if not path.exists():
            path.write_bytes(files[learner].read_bytes())
        return serve(*options, path=path)

    return begin


def learn(client, *documents, status=200, **more):
    rows = [{"id": name, "text": text, "labels": labels} for name, text, labels in documents]
    answer = client.post("/v1/learn", {"documents": rows, **more})
    assert answer.status == status, answer.body
    return answer.json()


def classify(client, text=TEXT):
    return client.post("/v1/classify", {"text": text}).json()


def numbers(answer):
    """What an answer says, without what names the model."""
    return {name: value for name, value in answer.items() if name != "version"}


def said(model, text=TEXT):
    found = model(text)
    return {
        "labels": list(found.labels),
        "probabilities": found.probabilities,
        "thresholds": found.thresholds,
        "evidence": found.evidence,
    }


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_correction_counts_in_the_next_answer_and_then_exactly(learner, start, files, client_of):
    client = client_of(start(learner))
    before = classify(client)
    found = learn(client, ("t1", TEXT, ["urgent", "login"]))
    assert found["documents"] == [{"id": "t1", "changed": True}]
    assert found["version"].endswith(".1~")
    quick = classify(client)
    assert quick["version"].endswith((".1~", ".1"))
    for label in ("urgent", "login"):
        assert quick["probabilities"][label] > before["probabilities"][label]
    assert quick["probabilities"]["billing"] < before["probabilities"]["billing"]
    assert settled(client).endswith(".1")
    model = textodds.load(files[learner])
    model.learn(TEXT, ["urgent", "login"])
    assert numbers(classify(client)) == said(model)


def test_counts_are_exact_at_once(start, files, client_of):
    client = client_of(start())
    before = textodds.load(files["multinomial"])
    learn(client, ("t1", TEXT, ["bug"]), ("t2", "receipt receipt", []))
    quick = classify(client)
    model = textodds.load(files["multinomial"])
    model.learn([TEXT, "receipt receipt"], [["bug"], []])
    model.odds, model.thresholds, model._is_behind = before.odds, before.thresholds, False
    if quick["version"].endswith("~"):  # calibration is that of the last full solution
        assert numbers(quick) == said(model)


@pytest.mark.parametrize("learner", LEARNERS)
def test_undo_gives_back_the_model_of_the_file(learner, start, files, client_of):
    client = client_of(start(learner))
    before = classify(client)
    learn(client, ("t1", TEXT, ["bug", "login"]), ("t2", "something new", []))
    assert numbers(classify(client)) != numbers(before)
    answer = client.post(
        "/v1/forget", {"documents": [{"id": "t1", "labels": ["login", "bug"]}, {"id": "t2"}]}
    )
    assert [each["changed"] for each in answer.json()["documents"]] == [True, True]
    settled(client)
    after = classify(client)
    if learner == "multinomial":
        assert numbers(after) == numbers(before)
    else:  # to within the tolerance of the solver
        assert after["labels"] == before["labels"]
        assert after["probabilities"] == pytest.approx(before["probabilities"], abs=1e-3)


def test_by_its_id_a_document_is_learned_once_whatever_the_order_of_its_labels(start, client_of):
    client = client_of(start())
    learn(client, ("t1", TEXT, ["bug", "login"]))
    again = learn(client, ("t1", TEXT, ["login", "bug"]))
    assert again["documents"] == [{"id": "t1", "changed": False}]
    found = problem(client.post("/v1/learn", body("t1", TEXT, ["bug"])), 409, "input.conflict")
    assert found["detail"] == "document `t1` was learned as `bug`, `login`, and now comes as `bug`"
    assert "under the new labels" in found["hint"]
    found = problem(client.post("/v1/learn", body("t1", TEXT, [])), 409, "input.conflict")
    assert found["detail"].endswith("now comes as having no label")
    wrong = {"documents": [{"id": "t1", "labels": []}]}
    assert "to be forgotten as having no label" in problem(client.post("/v1/forget", wrong), 409)["detail"]


def body(name, text, labels, **more):
    return {"documents": [{"id": name, "text": text, "labels": labels}], **more}


def test_no_label_at_all_is_something_to_learn(start, client_of):
    client = client_of(start())
    text = "crash crash on the screen"
    before = classify(client, text)
    learn(client, *((f"n{n}", text, []) for n in range(40)))
    after = classify(client, text)
    assert after["probabilities"]["bug"] < before["probabilities"]["bug"]
    entry = client.get("/v1/corrections?limit=1").json()["corrections"][0]
    assert (entry["labels"], entry["change"], entry["stands"]) == ([], "learned", True)


def test_a_new_label_must_be_meant(start, client_of):
    client = client_of(start())
    found = problem(client.post("/v1/learn", body("t1", TEXT, ["bug", "bugs"])), 422, "input")
    assert "did you mean `bug`" in found["detail"]
    assert "new_labels" in found["hint"]
    learn(client, ("t1", TEXT, ["bug", "lunch"]), new_labels=True)
    answer = classify(client)
    assert set(answer["probabilities"]) == {*WORDS, "lunch"} == set(answer["thresholds"])
    learn(client, ("t2", TEXT, ["lunch"]))  # it is known now
    settled(client)
    assert [each["label"] for each in client.get("/v1/model").json()["labels"]] == sorted([*WORDS, "lunch"])
    client.post("/v1/forget", {"documents": [{"id": "t1"}, {"id": "t2"}]})
    settled(client)
    assert set(classify(client)["probabilities"]) == set(WORDS)


def test_softmax_has_a_new_label_at_once(start, client_of):
    client = client_of(start("softmax"))
    learn(client, ("t1", TEXT, ["lunch"]), new_labels=True)
    quick = classify(client)
    assert 0 < quick["probabilities"]["lunch"] < 1
    assert client.post("/v1/explain", {"text": TEXT, "label": "lunch"}).status == 200
    assert settled(client).endswith(".1")


HOSTILE = [
    ({"id": "x", "text": "a", "labels": "bug"}, "input.fields", "Expected `array`"),
    ({"id": "x", "text": "a", "labels": None}, "input.fields", "Expected `array`"),
    ({"id": "x", "text": "a", "labels": {"bug": 1}}, "input.fields", "Expected `array`"),
    ({"id": "x", "text": "a", "labels": [1]}, "input.fields", "Expected `str`"),
    ({"id": "x", "text": "a", "labels": [["bug"]]}, "input.fields", "Expected `str`"),
    ({"id": "x", "text": "a", "labels": [""]}, "input.fields", "length >= 1"),
    ({"id": "x", "text": "a", "labels": ["l" * 1001]}, "input.fields", "length <= 1000"),
    ({"id": "x", "text": "a", "labels": [f"l{n}" for n in range(1001)]}, "input.fields", "length <= 1000"),
    ({"id": "x", "text": "a"}, "input.fields", "missing required field `labels`"),
    ({"id": "x", "text": "a", "label": "bug"}, "input.fields", "unknown field `label`"),
    ({"id": "x", "text": "a", "labels": ["bug"], "label": "bug"}, "input.fields", "unknown field `label`"),
    ({"id": "x", "text": "a", "labels": ["bug", "bug"]}, "input", "`bug` comes twice"),
    ({"id": "x", "text": "a", "labels": ["bug\x1elogin"]}, "input", "record separator"),
    ({"id": "x", "text": "a", "labels": ["\x1ebug"]}, "input", "record separator"),
    ({"id": "x", "text": "a", "labels": ["\x1e"]}, "input", "record separator"),
    ({"id": "x", "text": "a", "labels": [" "]}, "input", "blank"),
    ({"id": "x", "text": "a", "labels": ["\u00a0\t"]}, "input", "blank"),
    ({"id": "x", "text": "a", "labels": ["bug "]}, "input", "looks like"),
    ({"id": "x", "text": "a", "labels": ["new", "new "]}, "input", "looks like"),
]


def test_hostile_labels_are_refused_and_change_nothing(start, client_of):
    client = client_of(start())

    @together
    @pytest.mark.parametrize(("document", "code", "words"), HOSTILE)
    def refuse(document, code, words):
        sent = {"documents": [{"id": "good", "text": "a", "labels": ["bug"]}, document], "new_labels": True}
        found = problem(client.post("/v1/learn", sent), 422, code)
        assert words in found["detail"]
        assert found.get("hint")

    refuse()
    assert client.get("/v1/corrections").json()["total"] == 0
    assert classify(client)["version"].endswith(".0")


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_last_document_with_a_label_is_not_forgotten(learner, tmp_path, serve, client_of):
    texts, labels = ["crash now", *["hello", "see you"] * 150], [["bug"], *[[]] * 300]
    model = textodds.train(texts, labels, learner=learner)
    model.learn(["more crash now"], [["bug"]], ids=["kept"])
    model.forget(["crash now"], [["bug"]])
    model.save(tmp_path / "one.textodds")
    client = client_of(serve(path=tmp_path / "one.textodds"))
    kept = {"documents": [{"id": "kept", "text": "more crash now", "labels": ["bug"]}]}
    found = problem(client.post("/v1/forget", kept), 422)
    assert "no document with a label" in found["detail"]
    learn(client, ("here", "crash", ["bug"]))
    assert client.post("/v1/forget", kept).status == 200
    problem(client.post("/v1/forget", {"documents": [{"id": "here"}]}), 422)
    assert settled(client).endswith(".2")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_restart_and_a_snapshot_give_the_same_answers(learner, start, client_of):
    service = start(learner)
    client = client_of(service)
    learn(client, ("t1", TEXT, ["login", "urgent"]), ("t2", "the crash of my card", []))
    settled(client)
    before = classify(client)
    assert client.post("/v1/snapshot").json()["version"] == before["version"]
    learn(client, ("t3", TEXT, ["bug"]))
    settled(client)
    after = classify(client)
    client.close()
    assert service.stop() == (0, "")
    client = client_of(start(learner))
    again = classify(client)
    assert (again["labels"], again["version"]) == (after["labels"], after["version"])
    assert again["probabilities"] == pytest.approx(
        after["probabilities"], abs=1e-3 if learner == "softmax" else 0
    )
    found = client.get("/v1/corrections").json()["corrections"]
    assert [each["labels"] for each in found] == [["bug"], [], ["login", "urgent"]]


def test_killed_at_any_moment_nothing_acknowledged_is_lost(files, tmp_path, client_of):
    """In little; `test_kill` does it at length for one label, on the same way to disk."""
    path, random = tmp_path / "tickets.textodds", Random(3)
    path.write_bytes(files["multinomial"].read_bytes())
    stands: dict[str, tuple[str, list[str]]] = {}
    for turn in range(5):
        service = Running(path, "--snapshot-every", "5")
        client = client_of(service)
        model = textodds.load(files["multinomial"])
        if stands:
            model.learn([text for text, _ in stands.values()], [labels for _, labels in stands.values()])
        assert numbers(classify(client)) == said(model)
        if turn == 4:
            client.close()
            assert service.stop() == (0, "")
            break
        for n in range(random.randrange(3, 12)):
            if stands and random.random() < 0.3:
                name = random.choice(sorted(stands))
                assert client.post("/v1/forget", {"documents": [{"id": name}]}).status == 200
                del stands[name]
            else:
                labels = random.sample(sorted(WORDS), random.randrange(4))
                text = " ".join(random.choices(" ".join(WORDS.values()).split(), k=4))
                learn(client, (f"{turn}.{n}", text, labels))
                stands[f"{turn}.{n}"] = (text, labels)
        service.kill()
        kept: dict[str, tuple[str, tuple[str, ...]]] = {}
        for row in rows_of(Path(f"{path}.journal")):
            if row.sign > 0:
                kept[row.id] = (row.text or "", labels_in(row.label))
            else:
                del kept[row.id]
        assert kept == {name: (text, tuple(sorted(labels))) for name, (text, labels) in stands.items()}


def test_a_journal_of_sets_is_not_read_by_a_model_of_one_label_nor_the_other_way_round(
    start, model, serve, tmp_path, client_of
):
    service = start()
    client = client_of(service)
    learn(client, ("t1", TEXT, ["bug"]))
    sets = service.model.read_bytes()
    service.model.write_bytes(model.read_bytes())
    found = problem(client.post("/v1/reload"), 409)
    assert (
        "holds corrections of texts with several labels, and `tickets.textodds` gives one label"
        in found["detail"]
    )
    assert classify(client)["version"].endswith((".1", ".1~"))
    service.stop()
    with pytest.raises(RuntimeError, match="several labels"):
        serve(path=service.model)
    one = serve("--journal", str(tmp_path / "one.journal"), path=service.model)
    other = client_of(one)
    assert (
        other.post("/v1/learn", {"documents": [{"id": "a", "text": "free", "label": "spam"}]}).status == 200
    )
    hint = problem(other.post("/v1/learn", body("b", "free", ["spam"])), 422)["hint"]
    assert "the model gives one label" in hint
    service.model.write_bytes(sets)
    assert "gives several labels" in problem(other.post("/v1/reload"), 409)["detail"]


def test_a_service_may_change_from_one_label_to_several_before_it_learns(start, model, client_of):
    service = start()
    client = client_of(service)
    sets = service.model.read_bytes()
    service.model.write_bytes(model.read_bytes())
    assert client.post("/v1/reload").json()["changed"] is True
    assert client.post("/v1/classify", {"text": "free"}).json()["label"] == "spam"
    service.model.write_bytes(sets)
    assert client.post("/v1/reload").json()["changed"] is True
    learn(client, ("t1", TEXT, ["bug"]))


def test_the_kind_of_a_journal_is_sealed_kept_and_repaired(tmp_path, capsys):
    place, mended = tmp_path / "journal", tmp_path / "mended"
    with closing(Journal(place)) as journal:
        journal.keep(Kind(sets=True))
        journal.append([Change(1, "a", name_of(["x", "y"]), "free"), Change(1, "b", name_of([]), "see")])
        with pytest.raises(
            Conflict, match="corrections of texts with several labels, and `m` gives one label"
        ):
            journal.must_suit(Kind(), "m")
        with pytest.raises(Conflict, match="reads rows with several labels"):
            journal.must_suit(Kind(rows=True, sets=True), "m")
    with closing(Journal(place)) as journal:
        assert journal.kind == Kind(sets=True)
    assert main(["journal", "export", str(place)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["labels"], "label" in line) for line in lines] == [(["x", "y"], False), ([], False)]
    repair(place, mended)
    with closing(Journal(mended)) as journal:
        assert journal.kind == Kind(sets=True)
    with closing(Journal(place)) as journal:
        journal._db.execute("PRAGMA user_version = 2")
    with pytest.raises(ModelFileError, match="damaged: its header"):
        Journal(place)


def test_the_audit_log_has_lists_of_labels(start, tmp_path, client_of):
    client = client_of(start("multinomial", "--audit", str(tmp_path / "audit")))
    learn(client, ("t1", TEXT, ["login", "bug"]), ("t2", TEXT, []))
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert [(line["labels"], "label" in line) for line in lines] == [(["bug", "login"], False), ([], False)]


def test_a_document_of_training_is_forgotten_by_id_text_and_labels(tmp_path, files, serve, client_of):
    model = textodds.load(files["multinomial"])
    before = said(model)
    model.learn([TEXT], [["bug", "urgent"]], ids=["old"])
    model.save(tmp_path / "t.textodds")
    client = client_of(serve(path=tmp_path / "t.textodds"))
    sent = {"id": "old", "text": TEXT, "labels": ["bug"]}
    found = problem(client.post("/v1/forget", {"documents": [sent]}), 409)
    assert told_label(name_of(["bug", "urgent"])) in found["detail"]
    assert "labels too" in problem(client.post("/v1/forget", {"documents": [{"id": "old"}]}), 422)["hint"]
    sent["labels"] = ["urgent", "bug"]
    assert client.post("/v1/forget", {"documents": [sent]}).json()["documents"][0]["changed"] is True
    settled(client)
    assert numbers(classify(client)) == before


def test_a_large_model_is_solved_in_a_process_of_its_own(tmp_path, serve, client_of):
    texts, labels = tickets(2100, seed=9)
    textodds.train(texts, labels, learner="softmax:C=3", ngrams=(1, 1)).save(tmp_path / "l.textodds")
    client = client_of(serve(path=tmp_path / "l.textodds"))
    learn(client, ("t1", TEXT, ["login"]))
    assert settled(client).endswith(".1")


def test_counts_without_documents_learn_and_keep_their_thresholds(tmp_path, files, serve, client_of):
    path = tmp_path / "counts.textodds"
    textodds.load(files["multinomial"]).save(path, documents=False)
    service = serve(path=path)
    client = client_of(service)
    before = classify(client)
    found = learn(client, ("t1", TEXT, ["bug"]))
    assert found["version"].endswith(".1"), "there is no full solution to come"
    after = classify(client)
    assert after["probabilities"]["bug"] > before["probabilities"]["bug"]
    assert after["thresholds"] == before["thresholds"]
    assert client.get("/v1/model").json()["label_quality"] is None
    client.close()
    service.kill()
    again = client_of(serve(path=path))
    assert numbers(classify(again)) == numbers(after)


def test_a_softmax_model_without_documents_answers_but_cannot_learn(tmp_path, files, serve, client_of):
    path = tmp_path / "weights.textodds"
    textodds.load(files["softmax"]).save(path, documents=False)
    client = client_of(serve(path=path))
    assert classify(client)["labels"] == list(textodds.load(path)(TEXT).labels)
    assert "without its documents" in problem(client.post("/v1/learn", body("a", "b", [])), 409)["detail"]
