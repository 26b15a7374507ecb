"""Models that read rows: of tables, and of several columns of texts. What texts can, rows can."""

import json
import logging
import random
import threading
from contextlib import closing

import numpy as np
import pytest

import textodds
from serve.durable import Core, rows_of
from serve.test_token_file import until
from serve.wire import problem, running
from textodds.cli import main
from textodds.errors import Conflict, InputError
from textodds.model.tables.table_model import TableModel
from textodds.serve.protocol.row_messages import (
    ForgetRowsRequest,
    ForgottenRow,
    LearnRowsRequest,
    RowDocument,
)
from textodds.serve.records.journal import Journal
from textodds.serve.records.salvage import repair

WORDS = "free win cash prize call now you home noon see lunch".split()


def people(n, seed=3):
    """Rows of numbers, categories and texts, some of them missing, and their labels."""
    draw, rows, labels = random.Random(seed), [], []
    for at in range(n):
        label = "yes" if at % 2 else "no"
        rows.append(
            {
                "age": round(draw.gauss(40 if label == "yes" else 30, 8), 1) if at % 9 else None,
                "size": draw.gauss(170, 10),
                "job": draw.choice(["clerk", "nurse", "smith"] if label == "yes" else ["clerk", "cook"]),
                "note": " ".join(draw.choices(WORDS, k=5)) if at % 7 else None,
            }
        )
        labels.append(label)
    return rows, labels


KINDS = {
    "mixed": ("age", "size", "job", "note"),
    "gaussian": ("age", "size"),
    "lda": ("size",),
    "qda": ("size",),
    "categorical": ("job",),
    "table": ("job",),
}


def table(learner="mixed", n=120, **options):
    rows, labels = people(n)
    names = KINDS[learner]
    columns = {"note": "text"} if "note" in names else {}
    rows = [{name: row[name] for name in names} for row in rows]
    return textodds.train(rows, labels, columns=columns, learner=learner, **options)


def mails(n=40):
    """A model of two columns of texts."""
    rows, labels = people(n)
    mail = [{"subject": row["job"], "body": row["note"] or "hello"} for row in rows]
    mail = [{**row, "label": label} for row, label in zip(mail, labels, strict=True)]
    return textodds.train(mail, text=["subject", "body"], label="label", learner="multinomial")


ROW = {"age": 41, "size": 171.5, "job": "clerk", "note": "free cash"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "people.textodds"
    table().save(path)
    return path


@pytest.fixture(scope="module")
def service(made):
    """A service of a table, for tests that teach it nothing."""
    with running(made, "--journal", str(made.with_name("unused.journal"))) as found:
        yield found


@pytest.fixture(scope="module")
def mail_rows(tmp_path_factory):
    """A service of two columns of texts, and its model."""
    path = tmp_path_factory.mktemp("mail") / "mail.textodds"
    mails().save(path)
    with running(path) as found:
        yield found, textodds.load(path)


def test_a_row_is_answered_as_the_model_answers_it(service, made):
    client, model = service.client(), textodds.load(made)
    for row in (ROW, {"job": "cook"}, {"age": "41", "job": None}, {"age": 41.0, "note": ""}):
        found, said = client.post("/v1/classify", {"row": row}).json(), model(row)
        assert found["probabilities"] == said.probabilities
        assert (found["label"], found["evidence"]) == (said.label, said.evidence)
    rows = [ROW, {"age": "41"}, {"job": 5}, {"job": "cook", "age": 3.5}, {"age": None}]
    batch = client.post("/v1/classify/batch", {"rows": rows, "top": 2}).json()["answers"]
    alone = [client.post("/v1/classify", {"row": row}).json() for row in rows]
    assert [each["label"] for each in batch] == [each["label"] for each in alone]
    for one, other in zip(batch, alone, strict=True):
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-12)
        assert one["evidence"] == other["evidence"]
    assert client.post("/v1/classify/batch", {"rows": []}).json()["answers"] == []


def test_costs_a_prior_and_abstention_decide_about_rows(service, made):
    client, model = service.client(), textodds.load(made)
    decided = {"costs": [{"truth": "yes", "answer": "no", "cost": 5}], "prior": {"yes": 1, "no": 9}}
    found = client.post("/v1/classify", {"row": ROW, **decided}).json()
    assert found["probabilities"] == pytest.approx(
        model.with_prior({"yes": 0.1, "no": 0.9})(ROW).probabilities
    )
    assert found["action"] == (
        "yes" if 5 * found["probabilities"]["yes"] > found["probabilities"]["no"] else "no"
    )
    assert client.post("/v1/classify", {"row": ROW, "abstain": 0}).json()["action"] is None


def test_an_explanation_of_a_row_adds_up_column_by_column(service, made):
    found = service.client().post("/v1/explain", {"row": ROW}).json()
    total = found["start"] + sum(each["log_odds"] for each in found["columns"]) + found["remainder"]
    assert total == pytest.approx(found["log_odds"])
    assert {each["column"]: each["value"] for each in found["columns"]} == ROW
    said = textodds.load(made)(ROW)
    assert (found["label"], found["probability"]) == (said.label, said.probability)
    assert found["prior"] + found["calibration"] == pytest.approx(found["start"])
    turned = service.client().post("/v1/explain", {"row": ROW, "label": found["rival"]}).json()
    assert turned["log_odds"] == pytest.approx(-found["log_odds"])
    refused = service.client().post("/v1/explain", {"row": ROW, "parts": True})
    assert refused.json()["detail"] == "a model of a table has columns, and no other parts"


def test_columns_of_texts_whose_features_are_letters_add_up_word_by_word(tmp_path):
    said = [("spam", "win free cash"), ("ham", "home at noon"), ("ham", "call me now")]
    rows = [
        {"subject": f"{text} {i % 5}!", "body": f"{text}, {text}", "label": label}
        for i in range(40)
        for label, text in said
    ]
    model = textodds.train(
        rows, text=["subject", "body"], learner="softmax", unit="characters-in-words", ngrams=(1, 4)
    )
    model.save(tmp_path / "letters.textodds")
    row = {"subject": "Free cash!!!", "body": "call me - at noon"}
    with running(tmp_path / "letters.textodds") as service:
        found = service.client().post("/v1/explain", {"row": row, "parts": True}).json()
    before = found["start"] + found["remainder"]
    for parts in (found["columns"], found["words"], found["parts"]):
        assert before + sum(each["log_odds"] for each in parts) == pytest.approx(found["log_odds"], abs=1e-12)
    names = {word["word"] for word in found["words"]}
    assert {"subject:free", "subject:cash", "body:call", "body:noon"} <= names
    assert {"subject: fre", "body:all "} <= {part["word"] for part in found["parts"]}


@pytest.mark.parametrize(
    ("row", "code", "detail", "hint"),
    [
        ({"agee": 1}, "input", "there is no column `agee`; did you mean `age`?", "the columns are age, size"),
        ({"AGE": 1}, "input", "`row`: there is no column `AGE`; did you mean `age`?", "the columns are age"),
        ({}, "input", "`row` has none of the columns of the model", "left out, or null, is a missing value"),
        ({"age": "old"}, "input.bad-row", "`row`: `age` is `old`, not a number", "is a missing value"),
        ({"age": 1e300}, "input.bad-row", "`row`: `age` is 1e+300; numbers go up to", "correct the value"),
        ({"age": [41]}, "input", "must be a number, a text, true or false, or null; got [41]", "age"),
        ({"job": {"a": 1}}, "input", 'column `job` must be', "the columns are"),
        ([41], "input.fields", "`row`: Expected `object`, got `array`", "openapi"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_refused_with_its_column(service, row, code, detail, hint):
    client = service.client()
    for path in ("/v1/classify", "/v1/explain"):
        found = problem(client.post(path, {"row": row}), 422, code)
        assert detail in found["detail"]
        assert hint in found["hint"]
    documents = [{"id": "good", "row": ROW, "label": "yes"}, {"id": "bad", "row": row, "label": "yes"}]
    problem(client.post("/v1/learn", {"documents": documents}), 422, code)
    assert client.get("/v1/corrections").json()["total"] == 0
    if isinstance(row, dict):
        found = problem(client.post("/v1/classify/batch", {"rows": [ROW, row]}), 422, code)
        assert found["detail"].startswith("`rows[1]`")


def test_texts_for_rows_and_rows_for_texts_are_refused_with_what_is_wanted(service, client):
    found = problem(service.client().post("/v1/classify", {"text": "free"}), 422, "input.fields")
    assert found["hint"] == "the model reads rows: send `row` or `rows`, with age, size, job, note"
    found = problem(client.post("/v1/classify", {"row": ROW}), 422, "input.fields")
    assert found["hint"] == "the model reads one text: send `text` or `texts`"


def test_what_has_no_meaning_for_tables_is_refused_with_a_hint(service):
    client = service.client()
    found = problem(client.get("/v1/words?label=yes"), 409, "unsupported")
    assert found["hint"] == "explain a row: POST /v1/explain"
    problem(client.post("/v1/suggest", {"rows": [ROW]}), 409, "unsupported")
    upload = b"age,size,job,note,label\n41,170,clerk,free,yes\n"
    answer = client.send("POST", "/v1/evaluate?text=note", upload, content_type="text/csv")
    assert problem(answer, 422)["hint"] == "leave `text` out of the query"


def test_the_limit_of_a_text_is_one_of_a_row(service):
    found = service.client().post("/v1/classify", {"row": {"note": "x" * 60_000, "job": "y" * 60_000}})
    assert problem(found, 413, "limit.text")["detail"] == "row 0 has 120,000 characters, and may have 100,000"
    problem(service.client().post("/v1/explain", {"row": {"note": "x" * 30_000}}), 413, "limit.text")


def test_the_card_tells_the_columns_and_few_categories(service):
    card = service.client().get("/v1/model").json()
    kinds = {each["name"]: each["kind"] for each in card["columns"]}
    assert kinds == {"age": "number", "size": "number", "job": "category", "note": "text"}
    categories = {each["name"]: each["categories"] for each in card["columns"]}
    assert categories == {"age": None, "size": None, "job": ["clerk", "cook", "nurse", "smith"], "note": None}
    assert card["has_probabilities"]
    assert card["quality"]["n"] > 0
    assert b"textodds_words 0.0" in service.client().get("/metrics").body


def test_the_description_names_the_columns_and_its_examples_are_answered(service):
    client = service.client()
    told = client.get("/openapi.json").json()
    schema = told["components"]["schemas"]["ClassifyRowRequest"]["properties"]["row"]
    assert set(schema["properties"]) == set(ROW)
    for path in ("/v1/classify", "/v1/classify/batch", "/v1/explain", "/v1/forget"):
        body = told["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert client.post(path, body["example"]).status == 200, path
    learned = told["paths"]["/v1/learn"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert learned["documents"][0]["label"] in ("no", "yes")
    upload = told["paths"]["/v1/evaluate"]["post"]["requestBody"]["content"]["text/csv"]["example"]
    assert client.send("POST", "/v1/evaluate", upload.encode(), content_type="text/csv").json()["n"] == 1
    assert "ClassifyRequest" not in told["components"]["schemas"]


def test_several_columns_of_texts_are_rows_too(mail_rows):
    service, model = mail_rows
    client, row = service.client(), {"subject": "clerk", "body": "free cash"}
    assert client.post("/v1/classify", {"row": row}).json()["probabilities"] == model(row).probabilities
    found = client.post("/v1/explain", {"row": row}).json()
    assert found["start"] + sum(each["log_odds"] for each in found["columns"]) == pytest.approx(
        found["log_odds"]
    )
    assert {each["column"] for each in found["columns"]} == set(row)
    words = {each["word"]: each["log_odds"] for each in found["words"]}
    assert set(words) == {"subject:clerk", "body:free", "body:cash"}
    assert problem(client.post("/v1/classify", {"row": {"subject": 5}}), 422)["detail"] == (
        "`row`: column `subject` must be a text, or null; got 5"
    )
    assert (
        "did you mean `subject`"
        in problem(client.post("/v1/classify", {"row": {"subjct": ""}}), 422)["detail"]
    )
    assert client.get("/v1/words?label=yes").json()["words"]
    rows = [{"subject": "clerk", "body": word} for word in ("free", "noon", "lunch")]
    assert client.post("/v1/suggest", {"rows": rows, "limit": 2}).status == 200
    upload = b"subject,body,label\nclerk,free cash,yes\ncook,noon,no\n"
    assert client.send("POST", "/v1/evaluate", upload, content_type="text/csv").json()["n"] == 2
    learned = client.post("/v1/learn", {"documents": [{"id": "m", "row": row, "label": "no"}]})
    assert learned.json()["documents"] == [{"id": "m", "changed": True}]
    model.learn(row, "no")
    until(lambda: not client.post("/v1/classify", {"row": row}).json()["version"].endswith("~"))
    assert client.post("/v1/classify", {"row": row}).json()["probabilities"] == model(row).probabilities
    assert client.get("/v1/corrections").json()["corrections"][0]["row"] == row


# Without HTTP: what is learned, kept and carried over.


def learning(*documents, new=False):
    rows = [RowDocument(id=name, label=label, row=row) for name, label, row in documents]
    return LearnRowsRequest(documents=rows, new_labels=new)


def forgetting(*names):
    return ForgetRowsRequest(documents=[ForgottenRow(id=name) for name in names])


def same(model, expected, rows):
    assert model.classes_ == expected.classes_
    assert np.array_equal(model.predict_proba(rows), expected.predict_proba(rows))


@pytest.mark.parametrize("learner", KINDS)
def test_rows_are_learned_and_forgotten_exactly_by_every_model_of_tables(tmp_path, learner):
    path = tmp_path / "t.textodds"
    table(learner).save(path)
    core, expected = Core(path), textodds.load(path)
    fresh, labels = people(6, seed=11)
    fresh = [{name: row[name] for name in KINDS[learner]} for row in fresh]
    documents = [(f"r{at}", label, row) for at, (row, label) in enumerate(zip(fresh, labels, strict=True))]
    core.ask(learning(*documents))
    expected.learn(fresh, labels)
    probes = [{name: row[name] for name in KINDS[learner]} for row in people(30, seed=5)[0]]
    probes = [row for row in probes if None not in row.values()]
    assert np.array_equal(
        core.model.predict_proba(probes, calibrate=False), expected.predict_proba(probes, calibrate=False)
    ), "the next answer rests on exact counts"
    same(core.live.solve().model, expected, probes)
    core.ask(forgetting("r0", "r3"))
    expected.forget([fresh[0], fresh[3]], [labels[0], labels[3]])
    same(core.live.solve().model, expected, probes)
    core.ask(core.writer.save)
    again = Core(path, core.journal)
    assert again.live.saved == core.journal.last, "it begins by the snapshot"
    same(again.model, expected, probes)
    assert again.ask(learning(documents[1])).documents[0].changed is False
    again.ask(forgetting("r1"))
    expected.forget(fresh[1], labels[1])
    same(again.live.solve().model, expected, probes)


def test_a_row_is_the_same_whatever_the_order_of_its_columns(tmp_path, made):
    core = Core(made, Journal(tmp_path / "journal"))
    assert core.ask(learning(("a", "yes", ROW))).documents[0].changed
    turned = {"note": "free cash", "job": "clerk", "size": 171.5, "age": 41.0}
    assert not core.ask(learning(("a", "yes", turned))).documents[0].changed
    with pytest.raises(Conflict, match="`a` was learned with another row"):
        core.ask(learning(("a", "yes", {**ROW, "age": 42})))
    with pytest.raises(Conflict, match="learned as `yes`"):
        core.ask(learning(("a", "no", ROW)))
    assert [entry.text for entry in core.journal.after(0)] == [
        json.dumps(ROW, sort_keys=True, separators=(",", ":"))
    ]


def test_a_row_that_no_model_can_be_made_of_is_refused_before_it_is_on_disk(tmp_path):
    path = tmp_path / "t.textodds"
    table("qda").save(path)
    core = Core(path)
    with pytest.raises(InputError, match="missing number in column `size`"):
        core.ask(learning(("a", "yes", {"size": None})))
    assert core.journal.last == 0
    assert core.model.classes_ == ("no", "yes")


def test_a_bad_row_beside_good_ones_is_refused_alone(tmp_path, made):
    core = Core(made, Journal(tmp_path / "journal"))
    good, bad = learning(("a", "yes", ROW)), learning(("b", "yes", {"age": "old"}))
    found = core.together(good, bad, learning(("c", "no", ROW)))
    assert isinstance(found[1], InputError)
    assert found[1].problem == "`document b`: `age` is `old`, not a number"
    assert [entry.id for entry in core.journal.after(0)] == ["a", "c"]


def test_corrections_of_rows_are_carried_into_a_swapped_model(tmp_path):
    path = tmp_path / "t.textodds"
    table().save(path)
    core = Core(path)
    core.ask(learning(("a", "yes", ROW), ("b", "no", {"job": "smith"}), ("c", "no", ROW)))
    core.ask(forgetting("c"))
    other = table("categorical", n=80)
    other.save(path)
    assert core.live.reload()
    other.learn([{"job": "clerk"}, {"job": "smith"}], ["yes", "no"])
    same(core.model, other, [{"job": job} for job in ("clerk", "nurse", "cook")])
    assert core.live.serving.seq == 4


def test_a_journal_of_rows_is_not_read_by_a_model_of_texts_nor_the_other_way_round(tmp_path, model):
    path = tmp_path / "t.textodds"
    table().save(path)
    core = Core(path)
    texts = textodds.load(model)
    texts.save(path)
    assert core.live.reload(), "nothing was corrected yet"
    table().save(path)
    assert core.live.reload()
    core.ask(learning(("a", "yes", ROW)))
    texts.save(path)
    before = core.live.serving
    with pytest.raises(Conflict, match=r"holds corrections of rows, and .* reads texts"):
        core.live.reload()
    assert core.live.serving is before
    with pytest.raises(Conflict, match="holds corrections of rows") as refused:
        Core(path, core.journal)
    assert refused.value.hint == "serve it with another `--journal`"


def test_the_kind_of_a_journal_is_sealed(tmp_path, made):
    with closing(Core(made, Journal(tmp_path / "journal")).journal) as journal:
        assert journal.of_rows
        journal._db.execute("PRAGMA user_version = 2")
    with pytest.raises(textodds.errors.ModelFileError, match="damaged: its header"):
        Journal(tmp_path / "journal")


def test_rows_are_exported_as_objects_and_repaired(tmp_path, made, capsys):
    core = Core(made, Journal(tmp_path / "journal"))
    core.ask(learning(("a", "yes", ROW)))
    core.journal.close()
    assert main(["journal", "export", str(tmp_path / "journal")]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["row"], found["label"], found["sign"]) == (ROW, "yes", "learned")
    assert "text" not in found
    repair(tmp_path / "journal", tmp_path / "mended")
    with closing(Journal(tmp_path / "mended")) as mended:
        assert mended.of_rows
        assert [entry.id for entry in mended.after(0)] == ["a"]


def test_answers_go_on_while_rows_are_learned(tmp_path, made):
    """A correction is counted by the writer: who asks has the model before, or the one after."""
    core = Core(made, Journal(tmp_path / "journal"))
    begun, ended = threading.Event(), threading.Event()
    trial = core.live.trial

    def slow(entries):
        begun.set()
        assert ended.wait(60)
        return trial(entries)

    core.live.trial = slow
    asking = threading.Thread(target=core.ask, args=(learning(("a", "yes", ROW)),))
    asking.start()
    assert begun.wait(60)
    assert not core.live.waiting
    assert core.live.serving.seq == 0
    assert core.live.serving.model(ROW).label in ("yes", "no")
    ended.set()
    asking.join()
    assert (core.live.serving.seq, core.live.waiting) == (1, 0)


def test_a_table_of_many_rows_is_solved_beside_the_service(tmp_path, made, caplog):
    from textodds.serve.updates.solver_process import SolverProcess

    core = Core(made, Journal(tmp_path / "journal"))
    core.live._beside = beside = SolverProcess(1)
    core.ask(learning(("a", "yes", ROW)))
    with caplog.at_level(logging.WARNING):
        found = core.live.solve()
    assert beside._process is not None
    assert not caplog.text
    expected = textodds.load(made)
    expected.learn(ROW, "yes")
    same(found.model, expected, [ROW, {"job": "cook"}])
    beside.close()


def test_rows_survive_a_kill_and_are_in_the_audit_log(serve, tmp_path):
    path, audit = tmp_path / "t.textodds", tmp_path / "audit"
    table().save(path)
    first = serve("--audit", str(audit), path=path)
    client = first.client()
    for name, label in (("a", "yes"), ("b", "no")):
        answer = client.post("/v1/learn", {"documents": [{"id": name, "row": ROW, "label": label}]})
        assert answer.status == 200, answer.body
    assert client.post("/v1/forget", {"documents": [{"id": "b"}]}).status == 200
    client.close()
    first.kill()
    assert [row.id for row in rows_of(tmp_path / "t.textodds.journal")] == ["a", "b", "b"]
    assert [json.loads(line)["change"] for line in audit.read_text().splitlines()] == [
        "learned", "learned", "forgotten"
    ]  # fmt: skip
    client = serve(path=path).client()
    model = textodds.load(path)
    assert isinstance(model, TableModel)
    model.learn(ROW, "yes")
    assert client.post("/v1/classify", {"row": ROW}).json()["probabilities"] == model(ROW).probabilities
    found = client.get("/v1/corrections").json()
    assert [(each["change"], each["row"], each["stands"]) for each in found["corrections"]] == [
        ("forgotten", ROW, True), ("learned", ROW, False), ("learned", ROW, True)
    ]  # fmt: skip
    assert client.post("/v1/snapshot").status == 200
    assert client.get("/v1/corrections").json()["corrections"][0]["row"] is None, (
        "what is forgotten is erased"
    )
    client.close()


def test_a_snapshot_of_a_table_remembers_ids_and_is_merged(tmp_path, made):
    core = Core(made, Journal(tmp_path / "journal"))
    core.ask(learning(("a", "yes", ROW)))
    saved = core.live.solve().model
    saved.save(tmp_path / "saved.textodds")
    loaded = textodds.load(tmp_path / "saved.textodds")
    assert "a" in loaded.document_ids
    assert "a" in (loaded + textodds.load(made)).document_ids
