"""A model of several labels over HTTP: its answers are those of the model."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

import textodds
from pairs import together
from serve.test_openapi import operations, schema_of, schemathesis
from serve.tickets import ticket_model
from serve.wire import problem, running

TEXTS = ["urgent refund of my card", "the screen fails", "", "please", "reset my password now crash crash"]
LEARNERS = ["multinomial", "softmax"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return ticket_model(tmp_path_factory.mktemp("labels") / "tickets.textodds")


@pytest.fixture(scope="module")
def model(path):
    found = textodds.load(path)
    assert found.held_labels is not None, "it is calibrated"
    return found


@pytest.fixture(scope="module")
def service(path, tmp_path_factory):
    with running(path, "--journal", str(tmp_path_factory.mktemp("journal") / "journal")) as found:
        yield found


@pytest.fixture
def client(service):
    found = service.client()
    yield found
    found.close()


def classify(client, text, **options):
    answer = client.post("/v1/classify", {"text": text, **options})
    assert answer.status == 200, answer.body
    return answer.json()


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_answer_is_that_of_the_model(learner, tmp_path):
    path = ticket_model(tmp_path / "tickets.textodds", learner)
    model = textodds.load(path)
    with running(path) as service:
        client = service.client()
        for text in TEXTS:
            said, answer = model(text), classify(client, text)
            assert answer.pop("version").endswith(".0")
            assert answer == {
                "labels": list(said.labels),
                "probabilities": said.probabilities,
                "thresholds": said.thresholds,
                "evidence": said.evidence,
            }
        client.close()


def test_many_texts_are_answered_as_each_by_itself(client):
    batch = client.post("/v1/classify/batch", {"texts": TEXTS}).json()
    for text, many in zip(TEXTS, batch["answers"], strict=True):
        one = classify(client, text)
        assert (many["labels"], many["evidence"]) == (one["labels"], one["evidence"])
        assert many["probabilities"] == pytest.approx(
            {name: one["probabilities"][name] for name in one["labels"]}
        )
        assert batch["thresholds"] == one["thresholds"]
    assert client.post("/v1/classify/batch", {"texts": []}).json()["answers"] == []


def test_top_has_the_most_probable_labels_given_or_not(client):
    whole = classify(client, TEXTS[0])
    some = classify(client, TEXTS[0], top=3)
    ranked = sorted(whole["probabilities"].items(), key=lambda item: -item[1])[:3]
    assert list(some["probabilities"].items()) == ranked
    assert some["thresholds"] == {name: whole["thresholds"][name] for name, _ in ranked}
    assert some["labels"] == whole["labels"]
    batch = client.post("/v1/classify/batch", {"texts": TEXTS[:1], "top": 3}).json()
    assert batch["answers"][0]["probabilities"] == pytest.approx(dict(ranked))


def test_every_label_has_a_why_of_its_own(client, model):
    answer = classify(client, TEXTS[0])
    for label, p in answer["probabilities"].items():
        why = client.post("/v1/explain", {"text": TEXTS[0], "label": label}).json()
        assert (why["label"], why["rival"]) == (label, f"not {label}")
        assert why["probability"] == pytest.approx(p, rel=1e-9)
        total = why["start"] + sum(word["log_odds"] for word in why["words"]) + why["remainder"]
        assert total == pytest.approx(why["log_odds"])
    first = client.post("/v1/explain", {"text": TEXTS[0]}).json()
    assert first["label"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_without_the_words_of_a_flip_the_label_is_not_given_or_is(client):
    flips = 0
    for text in ["urgent refund of my card", "now crash fails the password"]:
        before = classify(client, text)
        for label in before["probabilities"]:
            flip = client.post("/v1/explain/flip", {"text": text, "label": label}).json()["flip"]
            if flip is None:
                continue
            flips += 1
            rest = " ".join(word for word in text.split() if word not in flip["words"])
            after = classify(client, rest)
            assert (label in after["labels"]) != (label in before["labels"])
            p = after["probabilities"][label]
            is_there = label in after["labels"]
            assert flip["label_after"] == (label if is_there else f"not {label}")
            assert flip["probability_after"] == pytest.approx(p if is_there else 1 - p, rel=1e-6)
    assert flips >= 4


def test_the_card_has_labels_with_shares_and_thresholds(client, model):
    card = client.get("/v1/model").json()
    assert card["several_labels"] is True
    assert card["goal"] == "f1"
    thresholds = {each["label"]: each["threshold"] for each in card["labels"]}
    assert thresholds == classify(client, "")["thresholds"]
    for each in card["classes"]:
        (own,) = (label for label in card["labels"] if label["label"] == each["label"])
        assert own["share"] == pytest.approx(each["documents"] / card["documents"], abs=0.01)
    quality = card["label_quality"]
    assert card["quality"] is None
    assert quality["n"] == len(model.held_labels.p)
    assert 0.9 < quality["micro_f1"] <= 1
    low, high = quality["micro_f1_interval"]
    assert low <= quality["micro_f1"] <= high
    assert sum(each["rows"] for each in quality["reliability"]) == quality["n"] * len(thresholds)


def test_words_speak_for_a_label(client, model):
    found = client.get("/v1/words?label=bug&limit=5").json()
    assert [(each["word"], each["log_odds"]) for each in found["words"]] == model.top_words("bug", 5)
    refused = problem(client.get("/v1/words?label=bug&rival=login"), 409)
    assert (refused["code"], refused["hint"]) == ("unsupported", "leave out `rival`")
    assert "did you mean `login`" in problem(client.get("/v1/words?label=logn"), 422)["detail"]


@together
@pytest.mark.parametrize(
    ("place", "body", "code", "hint"),
    [
        (
            "/v1/classify",
            {"text": "a", "costs": [{"truth": "bug", "answer": "login", "cost": 2}]},
            "input.fields",
            "thresholds",
        ),
        ("/v1/classify", {"text": "a", "prior": {"bug": 1}}, "input.fields", "for models of one label"),
        ("/v1/classify/batch", {"texts": ["a"], "abstain": 0.1}, "input.fields", "for models of one label"),
        ("/v1/explain", {"text": "a", "rival": "bug"}, "input.fields", "leave out `rival`"),
        ("/v1/explain", {"text": "a", "label": "bugg"}, "input", ""),
        ("/v1/suggest", {"texts": ["a"]}, "unsupported", "/v1/classify"),
        ("/v1/classify", {"row": {"a": "b"}}, "input.fields", "send `text` or `texts`"),
    ],
)
def test_what_is_for_one_label_is_refused_with_a_hint(place, body, code, hint, client):
    answer = client.post(place, body)
    assert answer.status in (409, 422)
    found = problem(answer, answer.status)
    assert found["code"] == code
    assert hint in found.get("hint", "")


def test_the_open_inference_protocol_has_lists_in_json_and_probabilities(client, service):
    about = client.get("/v2/models/tickets").json()
    assert [each["name"] for each in about["outputs"]] == ["labels", "probabilities", "classes"]
    thresholds = classify(client, "")["thresholds"]
    assert (
        dict(zip(about["parameters"]["classes"], about["parameters"]["thresholds"], strict=True))
        == thresholds
    )
    tensor = {"name": "text", "shape": [len(TEXTS)], "datatype": "BYTES", "data": TEXTS}
    labels, probabilities = client.post("/v2/models/tickets/infer", {"inputs": [tensor]}).json()["outputs"]
    assert (labels["name"], labels["datatype"], labels["shape"]) == ("labels", "BYTES", [len(TEXTS)])
    assert (probabilities["name"], probabilities["shape"]) == ("probabilities", [len(TEXTS), 4])
    for row, text in enumerate(TEXTS):
        said = classify(client, text)
        assert json.loads(labels["data"][row]) == said["labels"]
        assert probabilities["data"][4 * row : 4 * row + 4] == pytest.approx(
            list(said["probabilities"].values())
        )
    for wrong in ("label", "probability"):
        asked = {"inputs": [tensor], "outputs": [{"name": wrong}]}
        answer = client.post("/v2/models/tickets/infer", asked)
        assert (answer.status, "ask for `labels`" in answer.json()["error"]) == (422, True)


def test_a_file_is_evaluated_label_by_label(client, model):
    file = b"label,text\nbilling|urgent,urgent refund\n,please\nbug,the password crash\nnew|bug,error\n"
    answer = client.send("POST", "/v1/evaluate?label_separator=%7C", file, content_type="text/csv")
    assert answer.status == 200, answer.body
    found = answer.json()
    wanted = model.evaluate(
        ["urgent refund", "please", "the password crash", "error"],
        [["billing", "urgent"], [], ["bug"], ["new", "bug"]],
    ).as_dict()
    assert found.pop("version")
    assert found == json.loads(json.dumps(wanted))
    assert found["unknown_labels"] == {"new": 1}


def test_the_separator_of_training_is_the_usual_one_of_a_file(tmp_path):
    rows = ["text;labels", *(f"{word} now;a+b" for word in "x y z".split()), "see you;", "well;a"]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(rows * 30).replace(";", ",").replace("\ntext,labels", ""), encoding="utf-8")
    model = textodds.train(data, label="labels", label_separator="+", learner="multinomial")
    model.save(tmp_path / "m.textodds")
    with running(tmp_path / "m.textodds") as service:
        client = service.client()
        found = client.send("POST", "/v1/evaluate", data.read_bytes(), content_type="text/csv").json()
        client.close()
    assert set(found["by_label"]) == {"a", "b"}
    assert found["unknown_labels"] == {}


def test_what_is_described_is_answered(client):
    told = client.get("/openapi.json").json()
    for schema in told["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema_of(told, schema))
    version, answered = client.get("/healthz").json()["version"].partition(".")[0], 0
    for path, method, operation in operations(told):
        content = operation.get("requestBody", {"content": {}})["content"] if method == "post" else {}
        for media, each in content.items():
            if "example" not in each or path in (
                "/v1/suggest",
                "/v1/learn",
                "/v1/forget",
                "/v1/compare/batch",
            ):
                continue
            example = each["example"]
            jsonschema_rs.validate(schema_of(told, each["schema"]), example)
            body = json.dumps(example).encode() if media == "application/json" else example.encode()
            place = path.replace("{name}", "tickets").replace("{version}", version)
            answer = client.send("POST", place, body, content_type=media)
            if path.startswith(("/v1/learn/copies", "/v1/labelling")):  # of one label a text, which they say
                problem(answer, 409)
                continue
            assert answer.status == 200, (path, answer.body)
            gives = operation["responses"]["200"]["content"]["application/json"]["schema"]
            jsonschema_rs.validate(schema_of(told, gives), answer.json())
            answered += 1
    assert answered == 7
    for path in ("/v1/model", "/v1/corrections"):
        gives = told["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema_rs.validate(schema_of(told, gives), client.get(path).json())
    learn = told["paths"]["/v1/learn"]["post"]["requestBody"]["content"]["application/json"]
    assert learn["example"]["documents"][0]["labels"] == ["billing"]
    jsonschema_rs.validate(schema_of(told, learn["schema"]), learn["example"])


OWN = ("/v1/classify", "/v1/classify/batch", "/v1/explain", "/v1/learn", "/v1/forget", "/v1/corrections")


@pytest.mark.slow
def test_whatever_is_sent_the_answer_is_one_that_is_described(path, tmp_path):
    with running(path, "--journal", str(tmp_path / "journal")) as service:
        places = [part for place in (*OWN, "/v1/model", "/v1/words") for part in ("--include-path", place)]
        status, found = schemathesis(
            service,
            tmp_path,
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance", *places),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", "10"),
        )
        assert status == 0, found
        client = service.client()
        assert client.get("/readyz").status == 200


def test_columns_of_texts_are_rows_with_several_labels(tmp_path):
    rows = [
        {"subject": f"{word} {n}", "body": "hello there", "labels": labels}
        for n in range(60)
        for word, labels in (
            ("invoice", ["billing"]),
            ("crash", ["bug"]),
            ("crash invoice", ["billing", "bug"]),
            ("hi", []),
        )
    ]
    model = textodds.train(rows, text=["subject", "body"], label="labels", learner="multinomial")
    model.save(tmp_path / "rows.textodds")
    with running(tmp_path / "rows.textodds") as service:
        client = service.client()
        row = {"subject": "crash", "body": "hello"}
        answer = client.post("/v1/classify", {"row": row}).json()
        assert answer["labels"] == list(model(row).labels) == ["bug"]
        many = client.post("/v1/classify/batch", {"rows": [row, row]}).json()["answers"]
        assert [each["labels"] for each in many] == [["bug"], ["bug"]]
        why = client.post("/v1/explain", {"row": row, "label": "billing"}).json()
        assert {each["column"] for each in why["columns"]} == {"subject", "body"}
        document = {"id": "r", "row": row, "labels": ["billing", "bug"]}
        assert client.post("/v1/learn", {"documents": [document]}).status == 200
        after = client.post("/v1/classify", {"row": row}).json()
        assert after["probabilities"]["billing"] > answer["probabilities"]["billing"]
        (entry,) = client.get("/v1/corrections").json()["corrections"]
        assert (entry["row"], entry["labels"], "text" in entry) == (row, ["billing", "bug"], False)
        refused = problem(client.post("/v1/learn", {"documents": [{"text": "a", "labels": []}]}), 422)
        assert "the model reads rows" in refused["hint"]
        client.close()
