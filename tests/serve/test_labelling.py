"""Labelling over HTTP: files, the next text, acts that last, and what they are worth."""

import csv
import io
import json
import random
import sqlite3
import threading
from collections import Counter
from http.client import HTTPException

import numpy as np
import pytest

import textodds
from serve.browsing import mail
from serve.running import settled
from textodds.cli import main
from textodds.judge.evaluation import wilson
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import recipe_of
from textodds.serve.blank import SMOOTHING
from textodds.serve.labelling.pool import text_id
from textodds.serve.labelling.progress import Curve, measured

ROWS = mail(60, seed=3)
TRUTH = {text: label for label, text in ROWS}
FILE = "text\n" + "".join(f"{text}\n" for _, text in ROWS)
LEARNER = f"multinomial:alpha={SMOOTHING}"


@pytest.fixture
def begin(tmp_path, serve, client_of):
    """Starts a new model's service, again and again."""

    def start(*options):
        service = serve("--new", *options, path=tmp_path / "new.textodds")
        return service, client_of(service)

    return start


@pytest.fixture
def client(begin):
    return begin()[1]


def send(client, content=FILE, name="mail.csv", query=""):
    body = content if isinstance(content, bytes) else content.encode()
    return client.send("POST", f"/v1/labelling/files?name={name}{query}", body, content_type="text/plain")


def ask(client, what, **given):
    answer = client.post(f"/v1/labelling/{what}", given)
    assert answer.status == 200, answer.body
    return answer.json()


def state(client, by=""):
    return client.get(f"/v1/labelling?by={by}").json()


def label_some(client, n, by="", order="random", truth=TRUTH):
    """Label texts as they come, rightly; their ids."""
    found = []
    for _ in range(n):
        text = ask(client, "next", by=by, order=order)["text"]
        ask(client, "label", by=by, id=text["id"], label=truth[text["text"]])
        found.append(text["id"])
    return found


def exported(client):
    lines = client.get("/v1/labelling/labels.jsonl").body.decode().splitlines()
    return [json.loads(line) for line in lines]


def test_encoding_separator_and_column_of_a_file_are_found(client):
    content = "id;Nachricht;n\n1;schöne Grüße, Deine Käthe;2\n2;Hüte und Mäntel;3\n".encode("latin-1")
    found = send(client, content, "brief.csv").json()
    assert (found["file"]["encoding"], found["file"]["column"], found["new"]) == ("cp1252", "Nachricht", 2)
    assert {each["text"] for each in client.get("/v1/labelling/search?q=%C3%BC").json()["texts"]} == {
        "schöne Grüße, Deine Käthe",
        "Hüte und Mäntel",
    }
    other = send(client, content, "brief.csv", "&text=n").json()
    assert (other["file"]["column"], other["file"]["texts"]) == ("n", 2)
    assert state(client)["texts"] == 2


def test_a_file_that_cannot_be_read_is_told_and_changes_nothing(client):
    assert send(client, b"", "a.csv").status == 422
    assert send(client, "text\n \n\n", "a.csv").json()["detail"] == "the uploaded file has no texts"
    missing = send(client, FILE, "a.csv", "&text=body").json()
    assert missing["code"] == "input.missing-column"
    assert state(client)["files"] == []


def test_the_same_file_twice_and_the_same_text_twice_are_known(begin):
    service, client = begin()
    assert send(client).json()["new"] == 60
    label_some(client, 3)
    again = send(client).json()
    assert (again["new"], again["labelled"]) == (0, 3)
    more = send(client, FILE + ROWS[0][1] + "\nanother text\n", "more.csv").json()
    assert more["new"] == 1
    service.kill()
    _, client = begin()
    assert (state(client)["texts"], state(client)["labelled"]) == (61, 3)


def test_ten_labels_make_a_model_that_is_the_one_of_training(client):
    send(client)
    label_some(client, 10, order="useful")
    settled(client)
    rows = exported(client)
    assert len(rows) == 10
    assert [row["label"] for row in rows] == [TRUTH[row["text"]] for row in rows]
    expected = textodds.train([row["text"] for row in rows], [row["label"] for row in rows], learner=LEARNER)
    for _, text in ROWS[:5]:
        found = client.post("/v1/classify", {"text": text}).json()["probabilities"]
        assert found == expected(text).probabilities


def test_each_order_gives_texts_that_have_no_label_and_all_come_to_an_end(client):
    send(client, "text\n" + "".join(f"{text}\n" for _, text in ROWS[:12]) + "!!!\n")
    truth = {**TRUTH, "!!!": "ham"}
    seen = [label_some(client, 1, order=order, truth=truth)[0] for order in ("useful", "doubt", "random") * 4]
    seen += label_some(client, 1, order="useful", truth=truth)
    assert len(set(seen)) == 13
    assert ask(client, "next", order="useful")["text"] is None
    assert state(client)["remaining"] == 0


def test_what_is_shown_is_shown_again_until_it_is_answered(client):
    send(client)
    first = ask(client, "next", by="ann", order="useful")
    assert ask(client, "next", by="ann", order="useful") == first


def test_people_are_given_different_texts_and_each_label_has_a_name(client):
    send(client)
    texts = {by: ask(client, "next", by=by, order="random")["text"]["id"] for by in ("ann", "bob", "cyd")}
    assert len(set(texts.values())) == 3
    for by, name in texts.items():
        ask(client, "label", by=by, id=name, label="ham")
    assert {row["id"]: row["by"] for row in exported(client)} == {name: by for by, name in texts.items()}
    assert {each["by"]: each["labels"] for each in state(client)["people"]} == {"ann": 1, "bob": 1, "cyd": 1}


def test_undo_takes_back_the_last_act_skip_included_and_nothing_else(client):
    send(client)
    label_some(client, 4, by="ann")
    label_some(client, 1, by="bob")
    before = exported(client)
    shown = ask(client, "next", by="ann", order="random")["text"]["id"]
    ask(client, "skip", by="ann", id=shown)
    assert ask(client, "next", by="ann", order="random")["text"]["id"] != shown
    undone = ask(client, "undo", by="ann")
    assert (undone["text"], undone["changed"]) == (shown, [])
    assert ask(client, "next", by="ann", order="random", id=shown)["text"]["id"] == shown
    assert exported(client) == before
    ask(client, "undo", by="ann")
    assert exported(client) == [row for at, row in enumerate(before) if at != 3]
    for _ in range(3):
        ask(client, "undo", by="ann")
    assert exported(client) == [before[4]]
    nothing = client.post("/v1/labelling/undo", {"by": "ann"})
    assert (nothing.status, nothing.json()["detail"]) == (409, "there is nothing to undo")


def test_what_somebody_else_has_changed_since_is_not_undone(client):
    send(client)
    (name,) = label_some(client, 1, by="ann")
    ask(client, "label", by="bob", id=name, label="other")
    refused = client.post("/v1/labelling/undo", {"by": "ann"})
    assert refused.status == 409
    assert exported(client)[0]["label"] == "other"


def test_texts_that_are_nearly_the_same_are_labelled_at_once_and_undone_at_once(client):
    long = "please send the minutes of the meeting and the budget to the office today"
    send(client, f"text\n{long}\n{long.upper()}!\n{long} ok\nsomething else altogether\n")
    shown = ask(client, "next", id=text_id(long))
    assert len(shown["alike"]) == 2
    act = ask(client, "label", id=text_id(long), label="work", alike=True)
    assert (len(act["changed"]), state(client)["labelled"]) == (3, 3)
    ask(client, "undo")
    assert state(client)["labelled"] == 0
    ask(client, "label", id=text_id(long), label="work")
    assert state(client)["labelled"] == 1
    again = ask(client, "next", id=text_id(f"{long} ok"))
    assert [each["label"] for each in again["like_labelled"]] == ["work"]


def test_contradictions_and_second_opinions_stand_side_by_side_until_they_are_settled(client):
    long = "please send the minutes of the meeting and the budget to the office today"
    send(client, f"text\n{long}\n{long} ok\nfree prize\n")
    ask(client, "label", by="ann", id=text_id(long), label="work")
    ask(client, "label", by="bob", id=text_id(f"{long} ok"), label="spam")
    (group,) = client.get("/v1/labelling/contradictions").json()["groups"]
    assert {(each["label"], each["by"]) for each in group} == {("work", "ann"), ("spam", "bob")}
    ask(client, "label", by="bob", id=text_id(f"{long} ok"), label="work")
    assert state(client)["contradictions"] == 0
    ask(client, "label", by="ann", id=text_id("free prize"), label="spam")
    second = ask(client, "next", by="bob", order="second")["text"]
    ask(client, "label", by="bob", id=second["id"], label="ham", second=True)
    assert state(client)["contradictions"] == 1
    assert "ham" not in {row["label"] for row in exported(client)}  # it is an opinion only
    ask(client, "label", by="ann", id=second["id"], label=second["label"])
    assert state(client)["contradictions"] == 0


def test_a_repaired_journal_knows_who_has_given_each_label(begin, tmp_path, capsys):
    service, client = begin("--classes", "ham,spam,work")
    send(client)
    label_some(client, 3, by="ann")
    (last,) = label_some(client, 1, by="bob")
    ask(client, "undo", by="bob")
    ask(client, "label", by="bob", id=last, label="work")
    history = client.get("/v1/labelling/history").json()["acts"]
    service.stop()
    journal, mended = tmp_path / "new.textodds.journal", tmp_path / "mended"
    assert main(["journal", "repair", str(journal), "-o", str(mended)]) == 0
    assert capsys.readouterr().err == f"wrote {mended}: 6 corrections, 6 acts of labelling\n"
    for each in tmp_path.glob("new.textodds.journal*"):
        if each.suffix != ".texts":
            each.unlink()
    mended.rename(journal)
    again, client = begin("--classes", "ham,spam,work", "--accept-loss")
    assert client.get("/v1/labelling/history").json()["acts"] == history
    again.stop()
    damage = sqlite3.connect(journal)
    damage.execute("UPDATE acts SET changes = '[[' WHERE n = 4")  # which the fifth takes back
    damage.commit()
    damage.close()
    assert main(["journal", "repair", str(journal), "-o", str(mended)]) == 0
    assert (
        capsys.readouterr().err == f"wrote {mended}: 6 corrections, 4 acts of labelling\nlost 2 acts: 4, 5\n"
    )


def test_history_edits_and_goes_back_to_any_state_of_the_model(client):
    send(client)
    ids = label_some(client, 12)
    settled(client)
    then, before = exported(client)[:8], client.post("/v1/classify", {"text": ROWS[0][1]}).json()
    ask(client, "label", id=ids[2], label="other")
    ask(client, "label", id=ids[3], label=None)
    acts = client.get("/v1/labelling/history?limit=3").json()["acts"]
    assert [(act["n"], act["label"], act["now"]) for act in acts[:2]] == [
        (14, None, None),
        (13, "other", "other"),
    ]
    ask(client, "back", act=8)
    assert sorted((row["text"], row["label"]) for row in exported(client)) == sorted(
        (row["text"], row["label"]) for row in then
    )
    ask(client, "undo")
    assert len(exported(client)) == 11
    ask(client, "back", act=12)
    settled(client)
    assert (
        client.post("/v1/classify", {"text": ROWS[0][1]}).json()["probabilities"] == before["probabilities"]
    )
    ask(client, "back", act=0)
    assert client.post("/v1/classify", {"text": "x"}).json()["code"] == "model.new"


def test_precision_of_a_class_is_estimated_from_twenty_random_answers(client):
    rows = mail(400, seed=9)
    truth = {text: label for label, text in rows}
    send(client, "text\n" + "".join(f"{text}\n" for _, text in rows))
    label_some(client, 60, truth=truth)
    serving = {text: client.post("/v1/classify", {"text": text}).json()["label"] for text in truth}
    check = ask(client, "check", label="spam")
    assert len(check["changed"]) == 20
    by_id = {text_id(text): text for text in truth}
    assert {serving[by_id[name]] for name in check["changed"]} == {"spam"}
    right = 0
    for _ in range(20):
        text = ask(client, "next", order="check", check=check["act"])["text"]
        right += truth[text["text"]] == "spam"
        ask(client, "label", id=text["id"], label=truth[text["text"]])
    assert ask(client, "next", order="check", check=check["act"])["text"] is None
    (found,) = client.get("/v1/labelling/progress").json()["checks"]
    assert (found["answered"], found["right"]) == (20, right)
    np.testing.assert_allclose(found["interval"], wilson(right, 20))


def test_accuracy_is_that_of_models_trained_without_each_text():
    """The oracle: train on all others, ask about the one."""
    rows = mail(24, seed=4)
    labelled = [(text, label) for label, text in rows]
    right = 0
    for at, (text, label) in enumerate(labelled):
        rest = labelled[:at] + labelled[at + 1 :]
        model = textodds.train([a for a, _ in rest], [b for _, b in rest], learner=LEARNER, calibrate=False)
        right += model(text).label == label
    found = measured(labelled, recipe_of(MultinomialLearner(alpha=SMOOTHING)))
    assert (found.n, found.right) == (24, right)
    assert (found.low, found.high) == wilson(right, 24)
    assert found.largest == max(Counter(label for _, label in labelled).values())


def test_where_labels_are_few_nothing_is_said_and_later_there_is_a_curve(client):
    send(client)
    label_some(client, 9)
    early = client.get("/v1/labelling/progress").json()
    assert (early["accuracy"], early["too_few"], early["curve"]) == (None, "that takes 10 labels", [])
    label_some(client, 31)
    found = client.get("/v1/labelling/progress").json()
    assert found["accuracy"] == found["curve"][-1]
    assert found["curve"][-1]["labels"] == 40
    sizes = [point["labels"] for point in found["curve"]]
    assert sizes == sorted(sizes)
    assert set(sizes) <= {10, 15, 20, 30, 40}
    low, high = found["accuracy"]["interval"]
    assert low < found["accuracy"]["accuracy"] < high


def test_texts_that_are_nearly_the_same_do_not_make_it_look_better(client):
    rows = [(label, f"{text} and {text[::-1]} {at}") for at, (label, text) in enumerate(mail(12, seed=6))]
    copies = [(label, f"{text} {mark}") for label, text in rows for mark in ("one", "two", "three")]
    truth = {text: label for label, text in copies}
    send(client, "text\n" + "".join(f"{text}\n" for _, text in copies))
    while (shown := ask(client, "next", order="random")["text"]) is not None:
        ask(client, "label", id=shown["id"], label=truth[shown["text"]], alike=True)
    assert state(client)["labelled"] == 36
    assert client.get("/v1/labelling/progress").json()["labels"] < 36


def test_a_point_of_the_curve_is_measured_once():
    labelled = [(text, label) for label, text in mail(40, seed=4)]
    recipe, curve = recipe_of(MultinomialLearner(alpha=SMOOTHING)), Curve()
    first = curve.of(labelled[:30], recipe)
    assert curve.of(labelled, recipe)[: len(first)] == first
    other = [(text, "ham" if at < 12 else label) for at, (text, label) in enumerate(labelled)]
    assert curve.of(other, recipe) != first


def test_labels_are_exported_as_csv_and_json_lines(client):
    send(client, 'text\n"a, ""quoted"" text\nof two lines"\nplain\n')
    for row in client.get("/v1/labelling/search?q=").json()["texts"]:
        ask(client, "label", by="Ann", id=row["id"], label="x")
    content = client.get("/v1/labelling/labels.csv").body.decode()
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert rows == exported(client)
    assert {row["text"] for row in rows} == {'a, "quoted" text\nof two lines', "plain"}


def test_classes_can_be_named_before_any_text_has_one(begin):
    service, client = begin("--classes", "spam,ham")
    ask(client, "classes", label="work")
    again = client.post("/v1/labelling/classes", {"label": " work "})
    assert again.status == 409
    service.kill()
    _, client = begin("--classes", "spam,ham")
    assert [each["label"] for each in state(client)["classes"]] == ["ham", "spam", "work"]


def test_a_trained_model_is_labelled_for_too(serve, client_of):
    client = client_of(serve())
    send(client)
    before = client.post("/v1/classify", {"text": "call now"}).json()["probabilities"]
    label_some(client, 6, order="useful")
    assert client.post("/v1/classify", {"text": "call now"}).json()["probabilities"] != before
    found = client.get("/v1/labelling/progress").json()
    assert found["accuracy"] is None
    assert "other texts" in found["too_few"]
    for _ in range(6):
        ask(client, "undo")
    assert client.post("/v1/classify", {"text": "call now"}).json()["probabilities"] == before


def test_a_service_that_only_reads_is_not_labelled_for(serve, client_of):
    refused = client_of(serve("--read-only")).get("/v1/labelling")
    assert (refused.status, refused.json()["code"]) == (409, "unsupported")
    assert "--new" in refused.json()["hint"]


def test_the_token_gives_a_name_to_who_gives_none(begin, client_of, monkeypatch, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("ann write abcdefghijklmnopq1\nbob read abcdefghijklmnopq2\n")
    tokens.chmod(0o600)
    service, _ = begin("--tokens", str(tokens))
    ann, bob = client_of(service, "abcdefghijklmnopq1"), client_of(service, "abcdefghijklmnopq2")
    send(ann)
    label_some(ann, 1)
    assert exported(ann)[0]["by"] == "ann"
    assert bob.post("/v1/labelling/next", {}).status == 403
    assert bob.get("/v1/labelling").json()["labelled"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kill_at_any_moment_loses_nothing_acknowledged(begin, seed):
    """Label, skip, edit and undo until the service is killed; then all that was acknowledged is there."""
    draw = random.Random(seed)
    service, client = begin()
    send(client)
    timer = threading.Timer(draw.uniform(0.05, 0.6), service.process.kill)
    expected: dict[str, str] = {}
    acts, pending = 0, None
    timer.start()
    try:
        while True:
            text = ask(client, "next", order=draw.choice(("random", "useful", "doubt")))["text"]
            if text is None:
                break
            what = draw.random()
            if what < 0.15:
                pending = ("skip", None, None)
                ask(client, "skip", id=text["id"])
            elif what < 0.3 and expected:
                name = draw.choice(list(expected))
                pending = ("label", name, "other")
                ask(client, "label", id=name, label="other")
                expected[name] = "other"
            else:
                pending = ("label", text["id"], TRUTH[text["text"]])
                ask(client, "label", id=text["id"], label=pending[2])
                expected[text["id"]] = pending[2]
            acts, pending = acts + 1, None
    except (OSError, ConnectionError, HTTPException):
        pass
    timer.join()
    service.kill()
    _, client = begin()
    found = {row["id"]: row["label"] for row in exported(client)}
    total = client.get("/v1/labelling/history").json()["total"]
    if pending is not None and total == acts + 1 and pending[1] is not None:
        expected[pending[1]] = pending[2]  # on disk, and not acknowledged in time
    assert total in (acts, acts + 1)
    assert found == expected
    settled_rows = exported(client)
    if len(set(expected.values())) > 1:
        settled(client)
        model = textodds.train(
            [row["text"] for row in settled_rows], [row["label"] for row in settled_rows], learner=LEARNER
        )
        answer = client.post("/v1/classify", {"text": ROWS[0][1]}).json()["probabilities"]
        assert answer == model(ROWS[0][1]).probabilities
