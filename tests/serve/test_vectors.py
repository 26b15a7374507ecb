"""Rows with vectors, asked of a real service."""

import pytest

import textodds
from serve.test_token_file import until
from serve.wire import running
from training.test_table_vectors import BOTH, both


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "both.textodds"
    textodds.train(*both(200, 1), columns=BOTH).save(path)
    return path


def test_a_row_with_a_vector_is_answered_explained_and_learned(made, tmp_path):
    model = textodds.load(made)
    table, labels = both(4, 2)
    rows = [
        {"text": text, "embedding": vector.tolist()}
        for text, vector in zip(table["text"], table["embedding"], strict=True)
    ]
    with running(made, "--journal", str(tmp_path / "journal")) as service:
        client = service.client()
        for row in rows:
            found = client.post("/v1/classify", {"row": row}).json()
            assert found["probabilities"] == model(row).probabilities
        why = client.post("/v1/explain", {"row": rows[0]}).json()
        total = why["start"] + sum(each["log_odds"] for each in why["columns"]) + why["remainder"]
        assert total == pytest.approx(why["log_odds"])
        assert any("6 numbers" in str(each["value"]) for each in why["columns"])
        cards = {each["name"]: each for each in client.get("/v1/model").json()["columns"]}
        assert (cards["embedding"]["kind"], cards["embedding"]["size"]) == ("vector", 6)
        for wrong, problem in (
            ([1.0, 2.0], "`embedding` has 2 numbers, not 6"),
            ([0.0, None, 0, 0, 0, 0], "`embedding` has no number at position 2"),
            ("abc", "column `embedding` must be a list of numbers"),
        ):
            refused = client.post("/v1/classify", {"row": {**rows[0], "embedding": wrong}})
            assert refused.status == 422
            assert problem in refused.json()["detail"]
        learned = {"documents": [{"row": rows[0], "label": labels[0]}]}
        assert client.post("/v1/learn", learned).status == 200
        model.learn([rows[0]], [labels[0]])
        expected = pytest.approx(model(rows[1]).probabilities)  # found by a process beside it
        until(lambda: client.post("/v1/classify", {"row": rows[1]}).json()["probabilities"] == expected)


def test_tensors_of_vectors_are_rows_of_them(made):
    model = textodds.load(made)
    table, _ = both(3, 3)
    texts = {"name": "text", "shape": [3], "datatype": "BYTES", "data": table["text"]}
    with running(made) as service:
        client = service.client()
        inputs = {each["name"]: each for each in client.get("/v2/models/both").json()["inputs"]}
        assert inputs["embedding"]["shape"] == [-1, 6]
        for data in (table["embedding"].tolist(), table["embedding"].ravel().tolist()):
            vectors = {"name": "embedding", "shape": [3, 6], "datatype": "FP32", "data": data}
            asked = {"inputs": [texts, vectors], "outputs": [{"name": "probabilities"}]}
            (found,) = client.post("/v2/models/both/infer", asked).json()["outputs"]
            assert found["data"] == pytest.approx(model.predict_proba(table).ravel().tolist())
        vectors = {**vectors, "shape": [3, 5]}
        refused = client.post("/v2/models/both/infer", {"inputs": [texts, vectors]})
        assert refused.status == 422
