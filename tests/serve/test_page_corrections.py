"""The page: "That is wrong", and taking it back."""

import re

import pytest
from playwright.sync_api import expect

from serve.browsing import answer, as_shown, mail, train, write
from serve.running import settled

pytestmark = pytest.mark.long

TEXT = "call now to see the prize"


@pytest.fixture
def service(serve, tmp_path):
    """A service of three classes, to be taught."""
    return serve(path=train(tmp_path / "three.textodds", mail(60)))


@pytest.fixture
def client(service, client_of):
    return client_of(service)


def classify(client, text=TEXT):
    """What the full solution of all corrections says: a quick one has the calibration of the one before."""
    settled(client)
    return client.post("/v1/classify", {"text": text}).json()


def corrections(client):
    return client.get("/v1/corrections").json()["corrections"]


def correct(page, label, text=TEXT):
    """Say that the answer is wrong."""
    write(page, text)
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_role("group", name="The right label").get_by_role("button", name=label, exact=True).click()
    expect(page.locator("#outcome")).to_contain_text(f"Learned: {label}")


def test_a_correction_is_learned_and_the_change_is_shown(visit, service, client):
    before = classify(client)
    wrong, right = before["label"], "work"
    assert wrong != right
    page = visit(service)
    write(page, TEXT)
    page.get_by_role("button", name="That is wrong").click()
    group = page.get_by_role("group", name="The right label")
    expect(group.get_by_role("button", name=wrong, exact=True)).to_have_count(0)
    group.get_by_role("button", name=right, exact=True).click()
    outcome = page.locator("#outcome")
    expect(outcome).to_contain_text("Learned: work.")
    (found,) = corrections(client)
    assert (found["text"], found["label"], found["change"], found["stands"]) == (TEXT, right, "learned", True)
    after = classify(client)
    assert after["probabilities"][right] > before["probabilities"][right]
    for label in (right, wrong):
        was, now = as_shown(before["probabilities"][label]), as_shown(after["probabilities"][label])
        row = outcome.get_by_role("listitem").filter(has_text=label)  # follows the full solution
        expect(row).to_have_text(re.compile(f"{was.pattern}.*{now.pattern}"))
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(after["probability"]))
    expect(page.get_by_role("banner").get_by_text("1 correction")).to_be_visible()


def test_undo_gives_back_the_old_probability_exactly(visit, service, client):
    before = classify(client)
    page = visit(service)
    correct(page, "work")
    assert classify(client)["probabilities"] != before["probabilities"]
    expect(page.locator("#outcome").get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_contain_text("Forgotten: work.")
    assert classify(client)["probabilities"] == before["probabilities"]
    expect(answer(page).locator(".verdict")).to_contain_text(before["label"])
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(before["probability"]))
    latest, first = corrections(client)
    assert (latest["change"], latest["id"]) == ("forgotten", first["id"])
    assert not first["stands"]


def test_corrections_are_listed_survive_a_reload_and_can_be_undone_one_by_one(visit, service, client):
    before = classify(client, "see the film")
    page = visit(service)
    correct(page, "work")
    learned_one = classify(client, "see the film")
    correct(page, "spam", "home at noon")
    page.reload()
    listed = page.get_by_role("region", name="Recent corrections").get_by_role("listitem")
    expect(listed).to_have_count(2)
    expect(listed.nth(0)).to_contain_text("home at noon")
    expect(listed.nth(0)).to_contain_text("spam")
    expect(listed.nth(1)).to_contain_text(TEXT)
    page.get_by_role("button", name="Undo: home at noon").click()
    expect(page.get_by_role("button", name="Undo: home at noon")).to_have_count(0)
    expect(listed.nth(0)).to_contain_text("forgotten")
    assert classify(client, "see the film") == {**learned_one, "version": classify(client)["version"]}
    page.get_by_role("button", name=f"Undo: {TEXT}").click()
    expect(page.get_by_role("button", name=re.compile("^Undo"))).to_have_count(0)
    assert classify(client, "see the film")["probabilities"] == before["probabilities"]
    expect(page.get_by_role("banner").get_by_text("correction")).to_have_count(0)


def test_a_correction_survives_the_service(visit, serve, client_of):
    visit.allow("ERR_CONNECTION")  # the first page goes on asking
    service = serve()
    page = visit(service)
    correct(page, "ham", "win a free phone now")
    after = classify(client_of(service), "win a free phone now")
    assert service.stop()[0] == 0
    again = serve()
    assert classify(client_of(again), "win a free phone now")["probabilities"] == after["probabilities"]
    page = visit(again)
    expect(page.get_by_role("region", name="Recent corrections")).to_contain_text("win a free phone now")


def test_a_new_class_is_added_only_when_asked_for(visit, service, client):
    page = visit(service)
    write(page, "goal in the last minute")
    page.get_by_role("button", name="That is wrong").click()
    group = page.get_by_role("group", name="The right label")
    group.get_by_text("A new class…").click()
    group.get_by_label("Its name").fill("sport")
    group.get_by_role("button", name="Add it and learn").click()
    outcome = page.locator("#outcome")
    expect(outcome).to_contain_text("Learned: sport.")
    expect(outcome.get_by_role("listitem").filter(has_text="sport")).to_contain_text("new →")
    after = classify(client, "goal in the last minute")
    assert "sport" in after["probabilities"]
    expect(outcome).to_contain_text(as_shown(after["probabilities"]["sport"]))
    expect(page.get_by_role("banner")).to_contain_text("4 classes")
    bars = answer(page).get_by_role("list", name="Probability of each class").get_by_role("listitem")
    expect(bars).to_have_count(4)
    outcome.get_by_role("button", name="Undo").click()
    expect(outcome).to_contain_text("Forgotten: sport.")
    shown = {each["label"] for each in client.get("/v1/model").json()["classes"]}
    expect(bars).to_have_count(len(shown))


def test_escape_closes_the_choice_and_learns_nothing(visit, service, client):
    page = visit(service)
    write(page, TEXT)
    button = page.get_by_role("button", name="That is wrong")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("group", name="The right label")).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert corrections(client) == []


def test_another_text_takes_the_choice_and_the_outcome_away(visit, service):
    page = visit(service)
    correct(page, "work")
    write(page, TEXT + " and then")
    expect(page.locator("#outcome")).to_be_hidden()
    page.get_by_role("button", name="That is wrong").click()
    write(page, "home")
    expect(page.get_by_role("group", name="The right label")).to_be_hidden()


def test_an_id_is_learned_once_however_often_it_is_pressed(visit, service, client):
    page = visit(service)
    write(page, TEXT)
    page.get_by_role("button", name="That is wrong").click()
    button = page.get_by_role("group", name="The right label").get_by_role("button", name="work", exact=True)
    button.evaluate("(node) => { node.click(); node.click(); }")
    expect(page.locator("#outcome")).to_contain_text("Learned: work.")
    expect(page.get_by_role("region", name="Recent corrections").get_by_role("listitem")).to_have_count(1)
    assert len(corrections(client)) == 1


def test_a_correction_that_another_has_undone_is_told(visit, service, client):
    visit.allow("status of 4")
    page = visit(service)
    correct(page, "work")
    (found,) = corrections(client)
    client.post("/v1/forget", {"documents": [{"id": found["id"]}]})
    page.locator("#outcome").get_by_role("button", name="Undo").click()
    expect(page.locator("#outcome").get_by_role("button", name="Undo")).to_have_count(0)
    assert [each["change"] for each in corrections(client)] == ["forgotten", "learned"]


def test_a_softmax_model_is_corrected_and_what_is_shown_settles(visit, serve, client_of, tmp_path):
    service = serve(path=train(tmp_path / "s.textodds", mail(60), learner="softmax:C=3"))
    client, page = client_of(service), visit(service)
    before = classify(client)
    right = next(label for label in before["probabilities"] if label != before["label"])
    correct(page, right)
    expect(page.locator("#version")).to_have_text(re.compile(r"\.1$"))  # the mark of the quick answer is gone
    after = classify(client)
    assert after["version"].endswith(".1")
    assert after["probabilities"][right] > before["probabilities"][right]
    page.locator("#outcome").get_by_role("button", name="Undo").click()
    expect(page.locator("#version")).to_have_text(re.compile(r"\.2$"))
    assert classify(client)["probabilities"] == pytest.approx(before["probabilities"], abs=1e-2)


def test_a_model_that_cannot_learn_says_why(visit, serve, client_of, tmp_path):
    service = serve(path=train(tmp_path / "s.textodds", mail(60), documents=False, learner="softmax"))
    why = client_of(service).get("/v1/model").json()["cannot_learn"]
    page = visit(service)
    write(page, TEXT)
    expect(answer(page)).to_contain_text(f"It cannot be corrected here: {why}")
    expect(page.get_by_role("button", name="That is wrong")).to_be_hidden()
