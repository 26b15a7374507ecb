"""What the page shows at first, and what a correction that changed little is told."""

import pytest

import textodds
from serve.browsing import mail, train
from serve.running import settled

TOKENS = {"TEXTODDS_READ_TOKEN": "r" * 24, "TEXTODDS_WRITE_TOKEN": "w" * 24}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return train(tmp_path_factory.mktemp("look") / "mail.textodds", mail(300))


def test_examples_are_a_typical_text_of_each_class_and_the_most_doubtful(serve, path, client_of):
    client = client_of(serve(path=path))
    found = client.get("/v1/examples").json()["examples"]
    model = textodds.load(path)
    texts = {text for _, text in mail(300)}
    assert [each["about"] for each in found] == ["typical"] * 3 + ["doubtful"]
    assert {each["text"] for each in found} <= texts
    typical = [model(each["text"]) for each in found[:3]]
    assert {said.label for said in typical} == {"spam", "ham", "work"}
    assert model(found[3]["text"]).probability == min(model(text).probability for text in texts)


def test_texts_of_training_are_not_shown_where_others_may_read(serve, path, tmp_path, client_of):
    client = client_of(serve("--read-only", path=path, env=TOKENS), token="r" * 24)
    assert client.get("/v1/examples").json()["examples"] == []
    (tmp_path / "some.csv").write_text("text\n" + "".join(f"example {i}\n" for i in range(9)))
    client = client_of(
        serve("--read-only", "--examples", str(tmp_path / "some.csv"), path=path, env=TOKENS), token="r" * 24
    )
    found = client.get("/v1/examples").json()["examples"]
    assert found == [{"text": f"example {i}", "about": "given"} for i in range(5)]


def test_examples_of_a_table_are_rows(serve, tmp_path, client_of):
    rows = [{"age": 20 + i, "job": "clerk" if i % 2 else "cook"} for i in range(40)]
    labels = ["young" if row["age"] < 40 else "old" for row in rows]
    textodds.train(rows, labels, learner="mixed").save(tmp_path / "t.textodds")
    (tmp_path / "rows.csv").write_text("age,job\n41,clerk\n,cook\n")
    client = client_of(serve("--examples", str(tmp_path / "rows.csv"), path=tmp_path / "t.textodds"))
    found = client.get("/v1/examples").json()["examples"]
    assert [each["row"] for each in found] == [{"age": 41.0, "job": "clerk"}, {"age": None, "job": "cook"}]
    assert client.post("/v1/classify", {"row": found[0]["row"]}).status == 200


def test_an_examples_file_that_cannot_be_read_stops_the_service_at_once(serve, path, tmp_path):
    (tmp_path / "empty.csv").write_text("text\n")
    with pytest.raises(RuntimeError, match="has no"):
        serve("--examples", str(tmp_path / "empty.csv"), path=path)


def test_the_title_and_the_link_are_in_the_card_and_the_title_in_the_page(serve, path, client_of):
    title = "Mail <b>& co</b>"
    client = client_of(
        serve("--read-only", "--page-title", title, "--data-link", "https://example.org/data", path=path)
    )
    card = client.get("/v1/model").json()
    assert (card["title"], card["data_link"]) == (title, "https://example.org/data")
    page = client.get("/").body.decode()
    assert '<h1 id="name">Mail &lt;b&gt;&amp; co&lt;/b&gt;</h1>' in page
    with pytest.raises(RuntimeError, match="must be an address on the web"):
        serve("--read-only", "--data-link", "javascript:alert(1)", path=path)


def test_a_prior_may_name_some_classes(serve, path, client_of):
    client = client_of(serve(path=path))
    own = {each["label"]: each["prior"] for each in client.get("/v1/model").json()["classes"]}
    rest = own["ham"] + own["work"]
    whole = {"spam": 0.3, "ham": 0.7 * own["ham"] / rest, "work": 0.7 * own["work"] / rest}
    text = "win the report at noon"
    some = client.post("/v1/classify", {"text": text, "prior": {"spam": 0.3}}).json()
    every = client.post("/v1/classify", {"text": text, "prior": whole}).json()
    assert some["probabilities"] == pytest.approx(every["probabilities"], rel=1e-12)
    refused = client.post("/v1/classify", {"text": text, "prior": {"spam": 3, "ham": 7}})
    assert refused.status == 422
    assert "2 of 3 classes" in refused.json()["detail"]
    assert client.post("/v1/classify", {"text": text, "prior": {"spma": 0.3}}).status == 422


@pytest.mark.parametrize("learner", ["multinomial", "softmax"])
def test_so_many_copies_change_the_answer_and_fewer_do_not(serve, tmp_path, client_of, learner):
    """What is said is done: by the quick model, and by the full solution to within a few copies."""
    path = train(tmp_path / "mail.textodds", mail(300), learner=learner)
    client = client_of(serve(path=path))
    text = "win free prize cash claim urgent"
    asked = {"text": text, "label": "ham"}
    copies = client.post("/v1/learn/copies", asked).json()["copies"]
    assert copies >= 1
    assert client.get("/v1/model").json()["corrections"] == 0  # nothing was learned

    def learned(first, last):
        documents = [{"id": f"copy {i}", **asked} for i in range(first, last)]
        if documents:
            assert client.post("/v1/learn", {"documents": documents}).status == 200
        return client.post("/v1/classify", {"text": text}).json()["label"]

    assert learned(0, copies - 1) == "spam"
    assert learned(copies - 1, copies) == "ham"
    settled(client)
    in_full = client.post("/v1/learn/copies", asked).json()["copies"]  # that are still missing
    assert in_full <= max(2, copies // 3)
    assert client.post("/v1/learn/copies", asked).json()["copies"] is not None


def test_copies_of_what_is_answered_so_already_are_none_and_of_no_class_refused(serve, path, client_of):
    client = client_of(serve(path=path))
    text = "win free prize cash"
    assert client.post("/v1/learn/copies", {"text": text, "label": "spam"}).json()["copies"] == 0
    refused = client.post("/v1/learn/copies", {"text": text, "label": "spma"}).json()
    assert "did you mean `spam`" in refused["detail"]


def test_the_other_model_answers_and_differs_as_diff_says(serve, path, tmp_path, client_of):
    other = train(tmp_path / "other.textodds", mail(120, seed=2))
    service = serve("--read-only", "--compare", str(other), path=path)
    client = client_of(service)
    assert client.get("/v1/model").json()["compare"] == "other.textodds"
    before, now = textodds.load(other), textodds.load(path)
    found = client.get("/v1/compare").json()
    expected = textodds.diff(before, now)
    assert found["features"] == list(expected.features)
    assert [word for word, _, _ in found["moved"]] == [word for word, _, _ in expected.moved]
    assert found["classes"]["spam"]["documents"] == list(expected.classes["spam"].documents)
    texts = [text for _, text in mail(50, seed=8)]
    answers = client.post("/v1/compare/batch", {"texts": texts}).json()
    assert [each["label"] for each in answers["answers"]] == before.predict(texts).tolist()
    assert answers["version"] == client.get("/healthz").json()["version"]


def test_a_model_that_reads_something_else_is_not_compared_with(serve, path, tmp_path, client_of):
    rows = [{"age": 20 + i} for i in range(40)]
    textodds.train(rows, ["a" if i < 20 else "b" for i in range(40)], learner="mixed").save(
        tmp_path / "t.textodds"
    )
    with pytest.raises(RuntimeError, match="reads other columns"):
        serve("--read-only", "--compare", str(tmp_path / "t.textodds"), path=path)
    refused = client_of(serve("--read-only", path=path)).get("/v1/compare")
    assert (refused.status, refused.json()["code"]) == (409, "unsupported")
