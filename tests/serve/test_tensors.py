"""The Open Inference Protocol, version 2: tensors in the place of texts and rows, to real services.

`SPECIFICATION` is the schema of the protocol (kserve, open_inference_rest.yaml) in as many words.
"""

import json
import subprocess
import sys

import jsonschema_rs
import numpy as np
import pytest

import textodds
from pairs import together
from serve.conftest import MESSAGES
from serve.test_metrics import measured, requests
from serve.test_rows import ROW, mails, people, table
from serve.wire import inference_error, running

TEXTS = ["win a free phone", "see you at noon", "", "zzz"]
TENSOR = {
    "type": "object",
    "required": ["name", "shape", "datatype", "data"],
    "properties": {
        "name": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer"}},
        "datatype": {"type": "string"},
        "data": {"type": "array", "items": {"type": ["number", "string", "boolean"]}},
    },
}
CARD = {**TENSOR, "required": ["name", "shape", "datatype"]}
SPECIFICATION = {
    "server": {"required": ["name", "version", "extensions"]},
    "model": {
        "required": ["name", "platform"],
        "properties": {
            "name": {"type": "string"},
            "platform": {"type": "string"},
            "versions": {"type": "array", "items": {"type": "string"}},
            "inputs": {"type": "array", "items": CARD},
            "outputs": {"type": "array", "items": CARD},
        },
    },
    "inference": {
        "required": ["model_name", "outputs"],
        "properties": {
            "model_name": {"type": "string"},
            "model_version": {"type": "string"},
            "id": {"type": "string"},
            "outputs": {"type": "array", "items": TENSOR},
        },
    },
}


@pytest.fixture(scope="module")
def service(trained, tmp_path_factory):
    with running(trained, "--journal", str(tmp_path_factory.mktemp("tensors") / "journal")) as found:
        yield found


@pytest.fixture(scope="module")
def of_rows(tmp_path_factory):
    """A service of a table, and its model."""
    path = tmp_path_factory.mktemp("tensors") / "people.textodds"
    table().save(path)
    with running(path) as found:
        yield found, textodds.load(path)


def tensor(data, name="text", datatype="BYTES", shape=None, **more):
    return {"name": name, "shape": shape or [len(data)], "datatype": datatype, "data": data, **more}


def wanted(*names):
    return [{"name": name} for name in names]


def answered(client, body, path="/v2/models/mail/infer"):
    """The tensors of an answer by name, as arrays, once they are known to be as the protocol has them."""
    answer = client.post(path, body)
    assert answer.status == 200, answer.body
    found = answer.json()
    jsonschema_rs.validate(SPECIFICATION["inference"], found)
    kinds = {"BYTES": object, "FP64": float}
    return {
        each["name"]: np.array(each["data"], kinds[each["datatype"]]).reshape(each["shape"])
        for each in found["outputs"]
    }


def test_the_service_and_the_model_are_described(service, trained):
    client, model = service.client(), textodds.load(trained)
    server, found = client.get("/v2").json(), client.get("/v2/models/mail").json()
    jsonschema_rs.validate(SPECIFICATION["server"], server)
    assert server == {"name": "textodds", "version": textodds.__version__, "extensions": []}
    assert client.get("/v2/").json() == server
    jsonschema_rs.validate(SPECIFICATION["model"], found)
    assert (found["name"], found["platform"]) == ("mail", "textodds")
    assert found["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
    assert {each["name"]: each["shape"] for each in found["outputs"]} == {
        "label": [-1],
        "probability": [-1],
        "probabilities": [-1, 2],
        "classes": [2],
    }
    assert found["parameters"] == {"classes": list(model.class_names)}
    version = client.get("/healthz").json()["version"]
    assert found["versions"] == [version.partition(".")[0], version]


def test_probes_say_that_it_runs_and_is_ready(service):
    client = service.client()
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"live": True, "ready": True}
    assert client.get("/v2/models/mail/ready").json() == {"name": "mail", "ready": True}
    assert "no model" in inference_error(client.get("/v2/models/nail/ready"), 404)


def test_texts_are_answered_as_the_model_answers_them(service, trained):
    client, model = service.client(), textodds.load(trained)
    found = answered(client, {"inputs": [tensor(TEXTS)]})
    assert list(found) == ["label", "probability"]
    said = [model(text) for text in TEXTS]
    assert found["label"].tolist() == [each.label for each in said]
    assert found["probability"].tolist() == pytest.approx([each.probability for each in said], abs=1e-12)
    every = answered(client, {"inputs": [tensor(TEXTS)], "outputs": wanted("classes", "probabilities")})
    assert every["classes"].tolist() == list(model.class_names)
    np.testing.assert_allclose(every["probabilities"], model.predict_proba(TEXTS), atol=1e-12)
    assert every["probabilities"].max(axis=1).tolist() == found["probability"].tolist()


def test_one_column_may_be_flat_or_nested_and_no_texts_are_no_answers(service):
    client = service.client()
    flat = answered(client, {"inputs": [tensor(TEXTS)]})
    for data in (TEXTS, [[text] for text in TEXTS]):
        found = answered(client, {"inputs": [tensor(data, shape=[len(TEXTS), 1])]})
        assert found["label"].tolist() == flat["label"].tolist()
    body = {"inputs": [tensor([], shape=[0])], "outputs": wanted("label", "probabilities")}
    found = answered(client, body)
    assert found["label"].shape == (0,)
    assert found["probabilities"].shape == (0, 2)


def test_the_id_of_a_request_comes_back(service):
    client = service.client()
    for name in ("42", "", "é"):
        assert (
            client.post("/v2/models/mail/infer", {"id": name, "inputs": [tensor(["a"])]}).json()["id"] == name
        )
    assert "id" not in client.post("/v2/models/mail/infer", {"inputs": [tensor(["a"])]}).json()


def test_a_version_is_the_file_or_the_file_with_its_corrections(client):
    file, before = client.get("/v2/models/mail").json()["versions"]
    body = {"inputs": [tensor(["zzz"])], "outputs": wanted("label", "classes")}
    for version in (file, before):
        assert client.post(f"/v2/models/mail/versions/{version}/infer", body).status == 200
        assert client.get(f"/v2/models/mail/versions/{version}").status == 200
        assert client.get(f"/v2/models/mail/versions/{version}/ready").status == 200
    documents = [{"id": "1", "text": "zzz zzz", "label": "news"}]
    assert client.post("/v1/learn", {"documents": documents, "new_labels": True}).status == 200
    answer = client.post(f"/v2/models/mail/versions/{file}/infer", body).json()
    assert answer["model_version"].startswith(f"{file}.1")
    assert answer["outputs"][0]["data"] == ["news"]
    assert answer["outputs"][1]["data"] == ["ham", "news", "spam"]
    assert client.get("/v2/models/mail").json()["parameters"]["classes"] == ["ham", "news", "spam"]
    for path in ("", "/ready"):
        said = inference_error(client.get(f"/v2/models/mail/versions/{before}{path}"), 404)
        assert before in said
    assert file in inference_error(client.post(f"/v2/models/mail/versions/{before}/infer", body), 404)


def columns_of(rows, names):
    """A tensor for each column: numbers as FP64, all else as BYTES."""
    kinds = {"age": "FP64", "size": "FP64"}
    return [tensor([row.get(name) for row in rows], name, kinds.get(name, "BYTES")) for name in names]


def test_rows_are_a_tensor_for_each_column(of_rows):
    service, model = of_rows
    client, (rows, _) = service.client(), people(20)
    rows = [*rows, ROW]
    body = {"inputs": columns_of(rows, ROW), "outputs": wanted("label", "probabilities")}
    found = answered(client, body, "/v2/models/people/infer")
    said = [model({name: value for name, value in row.items() if value is not None}) for row in rows]
    assert found["label"].tolist() == [each.label for each in said]
    expected = [[each.probabilities[label] for label in model.class_names] for each in said]
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-12)
    some = {"inputs": columns_of(rows[:3], ["job"]), "outputs": wanted("probability")}
    found = answered(client, some, "/v2/models/people/infer")
    assert found["probability"].tolist() == pytest.approx(
        [model({"job": row["job"]}).probability for row in rows[:3]], abs=1e-12
    )
    cards = client.get("/v2/models/people").json()["inputs"]
    assert {each["name"]: each["datatype"] for each in cards} == {
        "age": "FP64",
        "size": "FP64",
        "job": "BYTES",
        "note": "BYTES",
    }


def test_numbers_may_be_of_any_datatype_and_true_is_what_a_row_takes_it_for(of_rows):
    service, _ = of_rows
    client = service.client()
    kinds = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP16", "FP32", "FP64")
    outputs = wanted("probability")
    alike = {
        answered(
            client, {"inputs": [tensor([41], "age", kind)], "outputs": outputs}, "/v2/models/people/infer"
        )["probability"][0]
        for kind in kinds
    }
    assert alike == {client.post("/v1/classify", {"row": {"age": 41}}).json()["probability"]}
    for name in ("age", "job"):
        told = client.post("/v1/classify", {"row": {name: True}})
        answer = client.post("/v2/models/people/infer", {"inputs": [tensor([True], name, "BOOL")]})
        assert answer.status == told.status
        if told.status == 200:
            assert answer.json()["outputs"][1]["data"] == [told.json()["probability"]]


def test_columns_of_texts_are_tensors_too(tmp_path):
    path = tmp_path / "a.b.textodds"
    mails().save(path)
    model = textodds.load(path)
    with running(path) as service:
        body = {
            "inputs": [tensor(["clerk", "cook"], "subject"), tensor(["free cash", None], "body")],
            "outputs": wanted("label", "probability"),
        }
        found = answered(service.client(), body, "/v2/models/a.b/infer")
    said = [model({"subject": "clerk", "body": "free cash"}), model({"subject": "cook"})]
    assert found["label"].tolist() == [each.label for each in said]
    assert found["probability"].tolist() == pytest.approx([each.probability for each in said], abs=1e-12)


TEXT = tensor(["a"])
REFUSED = [
    ({}, 422, "inputs"),
    ({"inputs": []}, 422, "inputs"),
    ({"inputs": [TEXT, TEXT]}, 422, "more than one tensor"),
    ({"inputs": [tensor(["a"], "txt")]}, 422, "no input `txt`"),
    ({"inputs": [tensor([1], datatype="FP64")]}, 422, "must be of BYTES; got FP64"),
    ({"inputs": [tensor(["a"], datatype="STRING")]}, 422, "inputs[0].datatype"),
    ({"inputs": [tensor([1])]}, 422, "value 0 must be of BYTES; got 1"),
    ({"inputs": [tensor(["a", None])]}, 422, "value 1 must be of BYTES; got null"),
    ({"inputs": [tensor([["a"]])]}, 422, 'value 0 must be of BYTES; got ["a"]'),
    ({"inputs": [tensor([["a"], "b"], shape=[2, 1])]}, 422, "value 1 must be a list of one value"),
    ({"inputs": [tensor([["a", "b"]], shape=[1, 1])]}, 422, "value 0 must be a list of one value"),
    ({"inputs": [tensor(["a", "b"], shape=[3])]}, 422, "2 values and the shape [3]"),
    ({"inputs": [tensor(["a", "b"], shape=[1, 2])]}, 422, "shape [N] or [N, 1]"),
    ({"inputs": [{**TEXT, "shape": []}]}, 422, "shape [N] or [N, 1]"),
    ({"inputs": [tensor(["a"], shape=[-1])]}, 422, "inputs[0].shape[0]"),
    ({"inputs": [TEXT], "outputs": wanted("labels")}, 422, "outputs[0].name"),
    ({"inputs": [TEXT], "outputs": wanted("label", "label")}, 422, "asks for `label` twice"),
    ({"inputs": [TEXT], "id": 42}, 422, "id"),
    ({"inputs": [TEXT], "parameters": {"timeout": 1}}, 422, "no parameter `timeout`"),
    ({"inputs": [{**TEXT, "parameters": {"content_typ": "str"}}]}, 422, "did you mean `content_type`?"),
    ({"inputs": [{**TEXT, "parameters": {"content_type": "base64"}}]}, 422, "got `base64`"),
    ({"inputs": [TEXT], "more": 1}, 422, "more"),
    ({"inputs": [{**TEXT, "parameters": {"binary_data_size": 5}}]}, 415, "binary tensor data extension"),
    ({"inputs": [TEXT], "parameters": {"binary_data_output": True}}, 415, "`binary_data: false`"),
    (
        {"inputs": [TEXT], "outputs": [{"name": "label", "parameters": {"binary_data": True}}]},
        415,
        "binary tensor data extension",
    ),
    ({"inputs": [tensor(["x" * 100_001])]}, 413, "100,001 characters"),
    ({"inputs": [tensor(["x"] * 1001)]}, 413, "1,001 texts"),
]


@together
@pytest.mark.parametrize(("body", "status", "said"), REFUSED)
def test_what_is_not_of_the_protocol_is_refused_with_its_place(service, body, status, said):
    assert said in inference_error(service.client().post("/v2/models/mail/infer", body), status)


ROWS_REFUSED = [
    ([tensor([1], "agee", "FP64")], "no column `agee`; did you mean `age`?"),
    ([tensor([], "agee", "FP64", shape=[0])], "no column `agee`"),
    ([tensor([1], "age", "FP64")] * 2, "two tensors `age`"),
    ([tensor([1], "age", "FP64"), tensor(["a", "b"], "job")], "differ in length: `age` 1, `job` 2"),
    ([tensor([1.5], "age", "INT64")], "`inputs[0]` (`age`): value 0 must be of INT64; got 1.5"),
    ([tensor([300], "age", "UINT8")], "must be of UINT8; got 300"),
    ([tensor([True], "age", "FP64")], "must be of FP64; got true"),
    ([tensor([1], "age", "BOOL")], "must be of BOOL; got 1"),
    ([tensor(["41", "old"], "age")], "row 1"),
]


@together
@pytest.mark.parametrize(("inputs", "said"), ROWS_REFUSED)
def test_columns_that_do_not_fit_the_model_are_refused_with_their_place(of_rows, inputs, said):
    client = of_rows[0].client()
    assert said in inference_error(client.post("/v2/models/people/infer", {"inputs": inputs}), 422)


def test_what_clients_of_mlserver_say_of_the_content_is_taken(service):
    text = tensor(["free"], parameters={"content_type": "str"})
    outputs = [{"name": "label", "parameters": {"binary_data": False}}]
    body = {"inputs": [text], "outputs": outputs, "parameters": {"content_type": "pd"}}
    assert answered(service.client(), body)["label"].tolist() == ["spam"]


def test_every_refusal_has_the_shape_of_the_protocol(service):
    client, place = service.client(), "/v2/models/mail/infer"
    said = inference_error(client.send("POST", place, b"{", content_type="application/json"), 400)
    assert "is not JSON" in said
    inference_error(client.send("POST", place, b"{}", content_type="text/plain"), 415)
    inference_error(client.send("DELETE", place), 405)
    inference_error(client.get("/v2/nothing"), 404)
    inference_error(client.get("/v2/models/mail/versions/1"), 404)
    body = json.dumps({"inputs": [TEXT]}).encode()
    headers = {"content_type": "application/json"}
    inference_error(client.send("POST", place, body, origin="https://evil.example", **headers), 403)
    inference_error(client.send("POST", place, body, host="evil.example", **headers), 403)
    binary = client.send("POST", place, body + b"\0", inference_header_content_length="9", **headers)
    assert "binary tensor data extension" in inference_error(binary, 415)


def test_a_body_beyond_the_limit_is_told_in_the_protocol(model):
    body = json.dumps({"inputs": [tensor(["x" * 2000])]}).encode()
    with running(model, "--max-body", "2000") as service:
        answer = service.client().send("POST", "/v2/models/mail/infer", body, content_type="application/json")
    assert "more than 2,000 bytes" in inference_error(answer, 413)


def test_inferences_are_counted(client):
    client.post("/v2/models/mail/infer", {"inputs": [tensor(["a", "b", "c"])]})
    client.post("/v2/models/nail/infer", {"inputs": [tensor(["a"])]})
    found = measured(client)
    assert requests(found, "/v2/models/{name}/infer", 200) == 1
    assert requests(found, "/v2/models/{name}/infer", 404) == 1
    assert found[("textodds_texts_total",)] == 3


TRITON = """
import json, sys
import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

address, texts = sys.argv[1], json.loads(sys.argv[2])
client = triton.InferenceServerClient(address)
told = [client.is_server_live(), client.is_server_ready(), client.is_model_ready("mail")]
told.append(client.is_model_ready("nail"))
about = client.get_model_metadata("mail")
version = about["versions"][0]
text = triton.InferInput("text", [len(texts)], "BYTES")
text.set_data_from_numpy(np.array(texts, dtype=object), binary_data=False)
names = [each["name"] for each in about["outputs"]]
outputs = [triton.InferRequestedOutput(name, binary_data=False) for name in names]
result = client.infer("mail", [text], outputs=outputs, request_id="42", model_version=version)
found = {name: result.as_numpy(name).tolist() for name in names}
refused = []
for options in ({"outputs": None}, {"outputs": outputs, "model_version": "9"}):
    try:
        client.infer("mail", [text], **options)
    except InferenceServerException as error:
        refused.append([error.status(), error.message()])
text.set_data_from_numpy(np.array(texts, dtype=object), binary_data=True)
try:
    client.infer("mail", [text], outputs=outputs)
except InferenceServerException as error:
    refused.append([error.status(), error.message()])
server = client.get_server_metadata()
print(json.dumps([told, server, found, result.get_response()["id"], refused]))
"""


def test_tritons_client_reads_all_of_it(service, trained):
    """The client of another server that speaks the protocol, in a process of its own."""
    texts = [text for _, text in MESSAGES] + ["déjà vu", ""]
    command = [sys.executable, "-c", TRITON, f"127.0.0.1:{service.port}", json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    told, server, found, name, refused = json.loads(done.stdout)
    model = textodds.load(trained)
    assert told == [True, True, True, False]
    assert server["name"] == "textodds"
    assert name == "42"
    assert found["label"] == model.predict(texts).tolist()
    assert found["classes"] == list(model.class_names)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(texts), atol=1e-12)
    np.testing.assert_allclose(found["probability"], model.predict_proba(texts).max(axis=1), atol=1e-12)
    assert [status for status, _ in refused] == ["415", "404", "415"]
    assert all("binary tensor data extension" in said for status, said in refused if status == "415")
