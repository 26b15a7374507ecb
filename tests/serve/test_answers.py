"""What the service answers is what the library answers, to the last bit."""

import itertools
import json
import math
import shutil
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np
import pytest

import textodds
from pairs import in_turn, pairwise
from serve.conftest import MESSAGES
from serve.running import settled
from serve.wire import problem, running
from textodds.serve.protocol import messages
from textodds.study.active import most_useful

TEXTS = [
    "win a free phone now",
    "see you at noon, are you home?",
    "",
    "zyx",
    "call call call",
    "Free prize 🎉 e\u0301clair ＦＲＥＥ at\u00a0home",
    "\x00 now \n\t home",
    "now " * 3000,
]
THREE = [*MESSAGES, ("work", "meeting at noon about the report"), ("work", "send me the report now")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A model of three classes with probabilities of its own."""
    found = tmp_path_factory.mktemp("answers") / "mail.textodds"
    rows = [text for _, text in THREE], [label for label, _ in THREE]
    textodds.train(*rows, learner="multinomial").save(found)
    return found


@pytest.fixture(scope="module")
def model(path):
    return textodds.load(path)


@pytest.fixture(scope="module")
def service(path):
    with running(path) as found:
        yield found


@pytest.fixture
def client(service):
    found = service.client()
    yield found
    found.close()


def fine(answer, kind):
    """The body of an answer, once it is known to be of its type and to have no null for a number."""
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "application/json"
    msgspec.json.decode(answer.body, type=kind)
    return answer.json()


def of_library(model, text):
    """What the model says, as JSON would have it."""
    said = model(text)
    return json.loads(
        json.dumps(
            {
                "label": said.label,
                "probability": said.probability,
                "evidence": said.evidence,
                "probabilities": dict(said.probabilities),
            }
        )
    )


def nearly(answer):
    """The same answer, but for the last bits: one text alone is added up in another order than many."""
    shares = {label: pytest.approx(share, rel=1e-9) for label, share in answer["probabilities"].items()}
    return answer | {"probabilities": shares, "probability": pytest.approx(answer["probability"], rel=1e-9)}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_one_text_is_classified_as_the_library_does(client, model, text):
    found = fine(client.post("/v1/classify", {"text": text}), messages.ClassifyAnswer)
    digest, _, seq = found.pop("version").partition(".")
    assert (len(digest), seq) == (12, "0")
    assert found == of_library(model, text)


def test_the_version_begins_with_the_hash_of_the_file(client, path):
    import hashlib

    version = client.post("/v1/classify", {"text": "now"}).json()["version"]
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(version.split(".")[0])


def test_a_batch_is_its_texts_one_by_one(client, model):
    found = fine(client.post("/v1/classify/batch", {"texts": TEXTS, "top": 3}), messages.BatchAnswer)
    assert "rule" not in found
    shares = [dict(zip(model.classes_, row, strict=True)) for row in model.predict_proba(TEXTS).tolist()]
    assert [answer["probabilities"] for answer in found["answers"]] == shares
    for text, answer in zip(TEXTS, found["answers"], strict=True):
        assert answer == nearly(of_library(model, text))
    brief = fine(client.post("/v1/classify/batch", {"texts": TEXTS}), messages.BatchAnswer)
    for answer in found["answers"]:
        del answer["probabilities"]
    assert brief == found


def test_an_empty_batch_has_no_answers(client):
    for more in ({}, {"abstain": 0.1}, {"top": 1}, {"prior": {"ham": 0.5, "spam": 0.25, "work": 0.25}}):
        assert client.post("/v1/classify/batch", {"texts": [], **more}).json()["answers"] == []


@pytest.mark.parametrize("prior", [(0.9, 0.09, 0.01), (1 / 3, 1 / 3, 1 / 3), (0.5, 0.5 - 1e-12, 1e-12)])
def test_another_prior_is_that_of_the_model_with_that_prior(client, model, prior):
    prior = dict(zip(model.classes_, prior, strict=True))
    expected = model.with_prior(prior).predict_proba(TEXTS)
    body = {"texts": TEXTS, "prior": prior, "top": 3}
    found = fine(client.post("/v1/classify/batch", body), messages.BatchAnswer)
    got = [[answer["probabilities"][label] for label in model.classes_] for answer in found["answers"]]
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    for text, answer in zip(TEXTS, found["answers"], strict=True):
        one = client.post("/v1/classify", {"text": text, "prior": prior}).json()
        assert {name: one[name] for name in answer} == answer
        assert answer["probability"] == max(answer["probabilities"].values())


def test_a_prior_comes_in_any_unit(client):
    """The description of the field says so: a prior of 9 and 1 is one of 0.9 and 0.1."""
    for unit in (1, 10, 1e9, 1e-9):
        prior = {"ham": 0.5 * unit, "spam": 0.25 * unit, "work": 0.25 * unit}
        answer = client.post("/v1/classify", {"text": "now", "prior": prior})
        assert answer.status == 200, answer.body
        if unit == 1:
            first = answer.json()
        for label, share in answer.json()["probabilities"].items():
            assert share == pytest.approx(first["probabilities"][label], rel=1e-12)


def expected_losses(shares, classes, costs):
    """The expected loss of every answer, by its definition."""
    return {
        answer: math.fsum(
            shares[truth] * costs.get((truth, answer), float(truth != answer)) for truth in classes
        )
        for answer in classes
    }


@in_turn(2)
@pytest.mark.parametrize("abstain", [None, 0.0, 0.05, 0.4, 3.0])
@pytest.mark.parametrize(
    "costs",
    [
        {},
        {("ham", "spam"): 20.0},
        {("ham", "spam"): 20.0, ("work", "spam"): 7.5, ("spam", "ham"): 0.1},
        {("spam", "spam"): 0.25, ("ham", "ham"): 0.0},
        {(truth, answer): 0.0 for truth in ("ham", "spam", "work") for answer in ("ham", "spam", "work")},
    ],
)
def test_the_decision_is_the_cheapest_by_enumeration(client, model, costs, abstain):
    if not costs and abstain is None:
        return
    sent = [{"truth": truth, "answer": answer, "cost": cost} for (truth, answer), cost in costs.items()]
    body = {"texts": TEXTS, "costs": sent, "abstain": abstain, "top": 3}
    found = fine(client.post("/v1/classify/batch", body), messages.BatchAnswer)["answers"]
    for text, answer in zip(TEXTS, found, strict=True):
        losses = expected_losses(answer["probabilities"], model.classes_, costs)
        if abstain is not None:
            losses[None] = abstain
        assert answer["expected_loss"] == pytest.approx(min(losses.values()), rel=1e-9, abs=1e-12)
        assert losses[answer["action"]] == pytest.approx(min(losses.values()), rel=1e-9, abs=1e-12)
        one = client.post("/v1/classify", {"text": text, "costs": sent, "abstain": abstain}).json()
        assert {name: one[name] for name in answer} == answer
        expected = of_library(model, text)
        assert {name: answer[name] for name in expected} == nearly(expected)


@pytest.mark.parametrize("second", [5.0, 2.0])
def test_two_costs_for_one_pair_are_refused(client, second):
    costs = [{"truth": "ham", "answer": "spam", "cost": cost} for cost in (5.0, second)]
    found = problem(client.post("/v1/classify", {"text": "free", "costs": costs}), 422)
    assert found["detail"] == "`costs` has two costs of answering `spam` where `ham` is the truth"


def test_without_costs_there_is_no_action(client):
    for more in ({}, {"top": 1}, {"costs": []}, {"abstain": None}):
        found = client.post("/v1/classify", {"text": "now", **more}).json()
        assert {"action", "expected_loss", "rule"}.isdisjoint(found)


def test_top_gives_the_most_probable_first_and_the_label_among_them(client, model):
    for text, top in itertools.product(TEXTS, (1, 2, 3, 1_000_000)):
        found = fine(client.post("/v1/classify", {"text": text, "top": top}), messages.ClassifyAnswer)
        whole = of_library(model, text)["probabilities"]
        order = sorted(whole, key=lambda label: -whole[label])[:top]
        assert list(found["probabilities"]) == order
        assert found["probabilities"] == {label: pytest.approx(whole[label], rel=1e-9) for label in order}
        assert found["label"] == order[0]


@pairwise
@pytest.mark.parametrize("rival", [None, "others", "ham"])
@pytest.mark.parametrize("label", [None, "spam"])
@pytest.mark.parametrize("text", TEXTS[:-1], ids=range(len(TEXTS) - 1))
def test_an_explanation_is_the_librarys_and_adds_up(client, model, text, label, rival):
    if label is None and rival == model(text).label:
        problem(client.post("/v1/explain", {"text": text, "rival": rival}), 422, "input")
        return
    answer = client.post("/v1/explain", {"text": text, "label": label, "rival": rival})
    found = fine(answer, messages.ExplainAnswer)
    why = model.explain(text, label, rival)
    assert (found["label"], found["rival"], found["probability"]) == (why.label, why.rival, why.probability)
    total = math.fsum([found["start"], found["remainder"], *(word["log_odds"] for word in found["words"])])
    assert total == pytest.approx(found["log_odds"], abs=1e-9)
    assert found["start"] == pytest.approx(why.start)
    assert found["log_odds"] == why.log_odds
    assert [(w["word"], w["log_odds"]) for w in found["words"]] == [(w.word, w.log_odds) for w in why.words]
    if rival == "others":
        odds = found["probability"] / (1 - found["probability"])
        assert math.exp(found["log_odds"]) == pytest.approx(odds, rel=1e-9)


def test_places_are_in_code_points(client):
    text = "🎉🎉 free e\u0301clair 👩‍👩‍👧 phone ＦＲＥＥ now"
    found = client.post("/v1/explain", {"text": text}).json()
    stretches = {text[place["start"] : place["end"]]: place for place in found["places"]}
    assert {"free", "phone", "now"} <= set(stretches)
    assert [p["start"] for p in found["places"]] == sorted(p["start"] for p in found["places"])
    for stretch, place in stretches.items():
        assert 0 <= place["start"] < place["end"] <= len(text)
        if stretch.isascii():
            assert place["word"] == stretch
    assert not stretches["e\u0301clair"]["known"]
    assert stretches["free"]["known"]


def test_a_flip_flips(client):
    text = "win a free phone now, are you home?"
    label = client.post("/v1/explain", {"text": text}).json()["label"]
    found = client.post("/v1/explain/flip", {"text": text}).json()["flip"]
    gone = set(found["words"])
    rest = " ".join(word for word in text.replace(",", "").replace("?", "").split() if word not in gone)
    answer = client.post("/v1/classify", {"text": rest}).json()
    assert answer["label"] == found["label_after"] != label
    assert answer["probability"] == pytest.approx(found["probability_after"])
    assert found["exact"]
    for fewer in itertools.combinations(set(text.replace(",", "").replace("?", "").split()), len(gone) - 1):
        kept = " ".join(word for word in text.replace(",", "").replace("?", "").split() if word not in fewer)
        assert client.post("/v1/classify", {"text": kept}).json()["label"] == label


def test_an_explanation_does_not_look_for_the_fewest_words(client):
    """That takes hundreds of times as long, and is asked for by itself."""
    text = "win a free phone now, are you home?"
    assert "flip" not in client.post("/v1/explain", {"text": text}).json()
    nothing = client.post("/v1/explain/flip", {"text": ""}).json()
    assert nothing == {"flip": None, "version": nothing["version"]}
    against = {"text": text, "label": "spam", "rival": "ham"}
    assert client.post("/v1/explain/flip", against).json()["flip"]["label_after"] == "ham"
    refused = client.post("/v1/explain/flip", {**against, "parts": True})
    assert (refused.status, refused.json()["code"]) == (422, "input.fields")


def test_words_are_the_librarys(client, model):
    for label, limit in (("spam", 3), ("ham", 20), ("work", 1000)):
        found = fine(client.get(f"/v1/words?label={label}&limit={limit}"), messages.WordsAnswer)
        expected = model.top_words(label, limit)
        assert [(word["word"], word["log_odds"]) for word in found["words"]] == [tuple(w) for w in expected]
        assert found["rival"] is None
    found = fine(client.get("/v1/words?label=spam&rival=ham"), messages.WordsAnswer)
    expected = model.separating_words("spam", "ham", 20)
    assert found["words"] == [
        {"word": w.word, "log_odds": w.log_odds_ratio, "low": w.low, "high": w.high} for w in expected
    ]


def test_the_card_tells_what_the_model_is(client, model):
    card = fine(client.get("/v1/model"), messages.Card)
    assert card["name"] == "mail.textodds"
    sizes = {c["label"]: c["documents"] for c in card["classes"]}
    assert sizes == {"ham": 4, "spam": 4, "work": 2}
    assert card["documents"] == len(THREE)
    assert {c["label"]: pytest.approx(c["prior"]) for c in card["classes"]} == {
        label: size / len(THREE) for label, size in sizes.items()
    }
    assert card["words"] == len({word for _, text in THREE for word in text.split()})
    assert card["has_probabilities"]
    assert card["cannot_learn"] is None
    assert card["corrections"] == 0
    assert card["limits"]["text"] == 100_000
    if card["quality"] is not None:
        assert sum(part["rows"] for part in card["quality"]["reliability"]) == card["quality"]["n"]


def test_suggestions_are_the_librarys(client, model):
    texts = [*TEXTS[:-1], "now home", "prize at noon", "now home"]
    for limit in (1, 3, 1000):
        found = fine(client.post("/v1/suggest", {"texts": texts, "limit": limit}), messages.SuggestAnswer)
        expected = [one._asdict() for one in most_useful(model, texts, limit)]
        assert found["suggestions"] == json.loads(json.dumps(expected))
    assert client.post("/v1/suggest", {"texts": []}).json()["suggestions"] == []


def test_corrections_are_told_the_latest_first(path, tmp_path):
    with running(Path(shutil.copy(path, tmp_path / "m.textodds"))) as service:
        client = service.client()
        texts = {"a": "free lunch 🍜", "b": "quote ' \" \\ \x00 ;--", "c": ""}
        for name, text in texts.items():
            body = {"documents": [{"id": name, "text": text, "label": "ham"}]}
            assert client.post("/v1/learn", body).json()["documents"] == [{"id": name, "changed": True}]
            assert client.post("/v1/learn", body).json()["documents"] == [{"id": name, "changed": False}]
        client.post("/v1/forget", {"documents": [{"id": "b"}]})
        found = fine(client.get("/v1/corrections"), messages.CorrectionsAnswer)
        assert [(c["id"], c["change"], c["stands"]) for c in found["corrections"]] == [
            ("b", "forgotten", True),
            ("c", "learned", True),
            ("b", "learned", False),
            ("a", "learned", True),
        ]
        assert {c["id"]: c["text"] for c in found["corrections"]} == texts
        assert found["total"] == 4
        assert found["version"].endswith((".4", ".4~"))
        assert len(client.get("/v1/corrections?limit=2").json()["corrections"]) == 2
        assert client.get("/v1/model").json()["corrections"] == 2
        learned = textodds.load(path)
        learned.learn([texts["a"], texts["c"]], ["ham", "ham"])
        assert settled(client).endswith(".4")
        for text in TEXTS:
            assert client.post("/v1/classify", {"text": text}).json()["probabilities"] == dict(
                learned(text).probabilities
            )
        assert service.stop()[0] == 0


def without_counts(path):
    rows = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
    textodds.train(*rows, learner="multinomial").save(path, counts=False)


def of_one_class(path):
    textodds.train(["see you", "at noon"], ["ham", "ham"]).save(path)


KINDS = {
    learner: lambda path, learner=learner: textodds.train(
        [t for _, t in THREE], [label for label, _ in THREE], learner=learner
    ).save(path)
    for learner in (
        "multinomial",
        "bernoulli",
        "complement",
        "softmax",
        "nb-softmax",
        "lda",
        "qda",
        "gaussian",
    )
} | {"without counts": without_counts, "one class": of_one_class}

ASKED = [
    ("/v1/classify", {"text": "free now"}, messages.ClassifyAnswer),
    ("/v1/classify", {"text": ""}, messages.ClassifyAnswer),
    ("/v1/classify", {"text": "free now", "top": 1}, messages.ClassifyAnswer),
    ("/v1/classify", {"text": "free now", "abstain": 0.1}, messages.ClassifyAnswer),
    ("/v1/classify/batch", {"texts": TEXTS}, messages.BatchAnswer),
    ("/v1/classify/batch", {"texts": [], "abstain": 1}, messages.BatchAnswer),
    ("/v1/explain", {"text": "free now zyx"}, messages.ExplainAnswer),
    ("/v1/explain", {"text": ""}, messages.ExplainAnswer),
    ("/v1/explain", {"text": "free now", "rival": "others"}, messages.ExplainAnswer),
    ("/v1/explain/flip", {"text": "free now zyx"}, messages.FlipAnswer),
    ("/v1/explain/flip", {"text": ""}, messages.FlipAnswer),
    ("/v1/suggest", {"texts": TEXTS}, messages.SuggestAnswer),
    ("/v1/learn", {"documents": [{"id": "a", "text": "free", "label": "ham"}]}, messages.ChangeAnswer),
    ("/v1/classify", {"text": "free now"}, messages.ClassifyAnswer),
    ("/v1/forget", {"documents": [{"id": "a"}]}, messages.ChangeAnswer),
    ("/v1/snapshot", {}, messages.SnapshotAnswer),
    ("/v1/reload", {}, messages.ReloadAnswer),
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_learner_answers_or_says_clearly_why_not(kind, tmp_path):
    KINDS[kind](tmp_path / "m.textodds")
    model = textodds.load(tmp_path / "m.textodds")
    with running(tmp_path / "m.textodds") as service:
        client = service.client()
        for label, rival in itertools.permutations([*model.classes_, "others"], 2):
            for path in (f"/v1/words?label={quote(label)}", f"/v1/words?label={label}&rival={rival}"):
                answer = client.get(path)
                if answer.status == 200:
                    fine(answer, messages.WordsAnswer)
                else:
                    assert answer.status in (409, 422)
                    problem(answer, answer.status)
        for path, body, gives in ASKED:
            answer = client.post(path, body)
            if answer.status == 200:
                fine(answer, gives)
            else:
                assert answer.status in (409, 422), (path, body, answer.body)
                problem(answer, answer.status)
        card = fine(client.get("/v1/model"), messages.Card)
        prior = dict.fromkeys(model.classes_, 1 / len(model.classes_))
        answer = client.post("/v1/classify", {"text": "free now", "prior": prior})
        if card["has_probabilities"]:
            expected = model.with_prior(prior)("free now").probabilities
            got = fine(answer, messages.ClassifyAnswer)["probabilities"]
            assert got == {label: pytest.approx(share, rel=1e-9) for label, share in expected.items()}
        else:
            problem(answer, 409, "unsupported")
        if kind in ("complement", "qda", "without counts", "one class"):  # each takes a second
            file = "".join(f"{label},{text}\n" for label, text in THREE).encode()
            answer = client.send("POST", "/v1/evaluate", b"label,text\n" + file, content_type="text/csv")
            found = fine(answer, messages.EvaluateAnswer)
            right = np.mean([model(text).label == label for label, text in THREE])
            assert (found["n"], found["accuracy"]) == (len(THREE), right)
        fine(client.get("/v1/corrections"), messages.CorrectionsAnswer)
        assert client.get("/metrics").status == 200
        status, log = service.stop()
        assert (status, log) == (0, "")
