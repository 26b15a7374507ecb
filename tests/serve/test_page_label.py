"""The page: labelling by keyboard."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import expect

from serve.browsing import as_shown, choose, mail, train

pytestmark = pytest.mark.long

TEXTS = [text for _, text in mail(24, seed=11)]
CONTENT = "text\n" + "".join(f"{text}\n" for text in TEXTS)


@pytest.fixture
def service(serve):
    """Of two classes: ham is 1, spam is 2."""
    return serve()


@pytest.fixture
def client(service, client_of):
    return client_of(service)


def begin(page, name="new.csv", content=CONTENT):
    """Start to label a file."""
    choose(page, "label", name, content)
    page.get_by_role("button", name="Start labelling").click()
    expect(page.locator("#asked")).to_be_visible()


def current(page):
    return page.locator("#asked").evaluate("node => node.textContent")


def press(page, key):
    """Press a key and wait for what comes next; the text that was asked about."""
    before = current(page)
    page.keyboard.press(key)
    expect(page.locator("#asked")).not_to_have_text(before, use_inner_text=False)
    return before


def learned(client):
    """(text, label) that stand, the earliest first."""
    found = client.get("/v1/corrections?limit=500").json()["corrections"]
    return [
        (each["text"], each["label"])
        for each in reversed(found)
        if each["stands"] and each["change"] == "learned"
    ]


def test_the_first_text_is_the_most_useful_with_the_guess_of_the_model(visit, service, client):
    page = visit(service, "label")
    begin(page)
    found = client.post("/v1/suggest", {"texts": TEXTS, "limit": 1}).json()["suggestions"][0]
    assert current(page) == TEXTS[found["index"]]
    accept = page.get_by_role("button", name=f"It is {found['label']}")
    expect(accept).to_contain_text(as_shown(found["probability"]))
    expect(page.locator("#label-count")).to_have_text("0 labels given")


def test_keys_label_skip_accept_and_undo(visit, service, client):
    page = visit(service, "label")
    begin(page)
    count = page.locator("#label-count")
    guess = lambda text: client.post("/v1/classify", {"text": text}).json()["label"]  # noqa: E731
    expected, right = [], 0

    first = current(page)
    right += guess(first) == "ham"
    press(page, "1")
    expected.append((first, "ham"))
    expect(count).to_contain_text("1 label given")
    assert learned(client) == expected

    second = current(page)
    right += guess(second) == "spam"
    press(page, "2")
    expected.append((second, "spam"))
    assert learned(client) == expected

    skipped = press(page, "s")
    assert learned(client) == expected

    third = current(page)
    label = guess(third)
    press(page, "Enter")
    expected.append((third, label))
    right += 1
    assert learned(client) == expected
    expect(count).to_have_text(f"3 labels given · guess right {right} of 3 times")

    before_version = client.get("/healthz").json()["version"]
    press(page, "u")
    expect(page.locator("#asked")).to_have_text(third)
    assert learned(client) == expected[:2]
    expect(count).to_have_text(f"2 labels given · guess right {right - 1} of 2 times")
    assert client.get("/healthz").json()["version"] != before_version
    assert skipped not in [text for text, _ in learned(client)]


def test_undo_forgets_to_the_last_bit(visit, service, client):
    before = client.post("/v1/classify", {"text": "call now"}).json()["probabilities"]
    page = visit(service, "label")
    begin(page)
    for key in "1212":
        press(page, key)
    assert client.post("/v1/classify", {"text": "call now"}).json()["probabilities"] != before
    for left in (3, 2, 1, 0):
        page.keyboard.press("u")
        expect(page.locator("#label-count")).to_contain_text(f"{left} label")
    assert client.post("/v1/classify", {"text": "call now"}).json()["probabilities"] == before


def test_no_text_is_asked_about_twice_and_all_come_to_an_end(visit, service, client):
    page = visit(service, "label")
    texts = TEXTS[:12]
    begin(page, content="text\n" + "".join(f"{text}\n" for text in texts))
    seen = []
    for i in range(12):
        seen.append(current(page))
        page.keyboard.press("s" if i % 4 == 3 else str(1 + i % 2))
        if i < 11:
            expect(page.locator("#asked")).not_to_have_text(seen[-1], use_inner_text=False)
    expect(page.get_by_text("All done")).to_be_visible()
    assert sorted(seen) == sorted(texts)
    assert len(learned(client)) == 9
    expect(page.locator("#label-count")).to_contain_text("9 labels given")
    page.keyboard.press("u")
    expect(page.locator("#label-count")).to_contain_text("8 labels given")


def test_a_key_pressed_twice_labels_one_text(visit, service, client):
    page = visit(service, "label")
    begin(page)
    first = current(page)
    page.evaluate(
        """() => { for (let i = 0; i < 2; i++) document.getElementById("labelling").dispatchEvent(
             new KeyboardEvent("keydown", { key: "1", bubbles: true, cancelable: true })); }"""
    )
    expect(page.locator("#label-count")).to_contain_text("1 label given")
    expect(page.locator("#asked")).not_to_have_text(first, use_inner_text=False)
    assert learned(client) == [(first, "ham")]


def test_after_five_labels_the_most_useful_are_asked_for_anew(visit, service):
    page = visit(service, "label")
    asked = []
    page.on(
        "request", lambda request: asked.append(request.post_data_json) if "suggest" in request.url else None
    )
    begin(page)
    done = [press(page, "1") for _ in range(5)]
    assert len(asked) == 2
    assert sorted(asked[1]["texts"] + done) == sorted(TEXTS)


def test_keys_do_nothing_in_fields_and_elsewhere(visit, service, client):
    page = visit(service, "label")
    begin(page)
    page.locator("#labelling").get_by_text("A new class…").click()
    field = page.locator("#labelling").get_by_label("Its name")
    field.fill("")
    field.press_sequentially("us1")
    expect(field).to_have_value("us1")
    assert learned(client) == []
    page.get_by_role("link", name="Try it").click()
    text = page.get_by_label("Your text")
    expect(text).to_be_visible()  # keys go to the page that is there
    text.press_sequentially("121s")
    expect(page.locator(".verdict")).to_be_visible()
    assert learned(client) == []


def test_a_new_class_can_be_given(visit, service, client):
    page = visit(service, "label")
    begin(page)
    text = current(page)
    page.locator("#labelling").get_by_text("A new class…").click()
    page.locator("#labelling").get_by_label("Its name").fill("sport")
    page.get_by_role("button", name="Add it and learn").click()
    expect(page.locator("#label-count")).to_contain_text("1 label given")
    assert learned(client) == [(text, "sport")]
    expect(page.get_by_role("group", name="Give a label").get_by_role("button", name="sport")).to_be_visible()


def test_labels_can_be_downloaded(visit, service, client):
    page = visit(service, "label")
    begin(page)
    press(page, "1")
    press(page, "2")
    with page.expect_download() as given:
        page.get_by_role("button", name="Download labels").click()
    content = Path(given.value.path()).read_text(encoding="utf-8")
    rows = [(row["text"], row["label"]) for row in csv.DictReader(io.StringIO(content, newline=""))]
    assert rows == learned(client)


def test_of_a_large_file_a_random_part_takes_part(visit, serve):
    page = visit(serve("--max-batch", "10"), "label")
    begin(page)
    expect(page.locator("#labelling")).to_contain_text("A random 10 of the 24 texts of new.csv take part.")


def test_a_model_that_cannot_learn_gives_labels_to_take_away(visit, serve, tmp_path):
    page = visit(
        serve(path=train(tmp_path / "s.textodds", mail(60), documents=False, learner="softmax")), "label"
    )
    begin(page)
    expect(page.locator("#labelling")).to_contain_text("The model does not learn from them")
    press(page, "1")
    expect(page.locator("#label-count")).to_contain_text("1 label given")


def test_a_file_without_texts_is_told(visit, service):
    page = visit(service, "label")
    choose(page, "label", "a.csv", 'text,b\n"",1\n" ",2\n')
    page.get_by_role("button", name="Start labelling").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no text")


def test_a_service_that_is_gone_loses_no_label(visit, serve, model, client_of):
    visit.allow("ERR_CONNECTION", "ERR_EMPTY_RESPONSE")
    service = serve()
    page = visit(service, "label")
    begin(page)
    text = current(page)
    service.kill()
    page.keyboard.press("1")
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    again = serve("--port", str(service.port))
    expect(page.locator("#label-count")).to_contain_text("1 label given")
    assert learned(client_of(again)) == [(text, "ham")]
