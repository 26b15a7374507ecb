"""The page: from a file without labels to a model, by keyboard."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from serve.browsing import as_shown, choose, mail, train

pytestmark = pytest.mark.long

ROWS = mail(40, seed=11)
TRUTH = {text: label for label, text in ROWS}
CONTENT = "text\n" + "".join(f"{text}\n" for text in TRUTH)
KEYS = {"ham": "1", "spam": "2", "work": "3"}


@pytest.fixture
def service(serve):
    """Of two classes that are trained: ham is 1, spam is 2."""
    return serve()


@pytest.fixture
def new(serve, tmp_path):
    """A model that has learned nothing, of three classes."""
    return serve("--new", "--classes", "ham,spam,work", path=tmp_path / "new.textodds")


@pytest.fixture
def client(service, client_of):
    return client_of(service)


def begin(page, name="new.csv", content=CONTENT):
    """Start to label a file."""
    choose(page, "label", name, content)
    expect(page.locator("#asked")).to_be_visible()


def current(page):
    return page.locator("#asked").evaluate("node => node.textContent")


def press(page, key):
    """Press a key and wait for what comes next; the text that was asked about."""
    before = current(page)
    page.keyboard.press(key)
    expect(page.locator("#asked")).not_to_have_text(before, use_inner_text=False)
    return before


def label_some(page, n):
    """Label texts rightly, by keyboard; the texts."""
    return [press(page, KEYS[TRUTH[current(page)]]) for _ in range(n)]


def exported(client):
    lines = client.get("/v1/labelling/labels.jsonl").body.decode().splitlines()
    return [(row["text"], row["label"]) for row in map(json.loads, lines)]


def test_from_nothing_to_a_model_with_honest_uncertainty(visit, new, client_of):
    page = visit(new, "")
    expect(page.get_by_text("This model has learned nothing yet")).to_be_visible()  # it begins with labelling
    expect(page.locator("#about")).to_have_text("nothing learned yet")
    begin(page)
    expect(page.locator("#label-count")).to_have_text("0 labels · 40 left")
    expect(page.get_by_text("Too few to say")).to_be_visible()
    expect(page.locator("#label-file")).not_to_be_visible()  # the form has folded away
    texts = label_some(page, 10)
    expect(page.locator("#label-count")).to_have_text("10 labels · 30 left")
    assert exported(client_of(new)) == [(text, TRUTH[text]) for text in texts]
    expect(page.locator("#about")).to_contain_text("3 classes")
    texts += label_some(page, 12)
    found = client_of(new).get("/v1/labelling/progress").json()["accuracy"]
    worth = page.get_by_role("region", name="How good is it?")
    expect(worth.locator(".large")).to_have_text(as_shown(found["accuracy"]))
    for end in found["interval"]:
        expect(worth).to_contain_text(as_shown(end))
    expect(worth.get_by_role("img", name=re.compile("Learning curve"))).to_be_visible()


def test_words_that_tell_are_tinted_and_the_guess_is_on_enter(visit, service, client):
    page = visit(service, "label")
    begin(page)
    text = current(page)
    guess = client.post("/v1/classify", {"text": text}).json()
    accept = page.locator("[data-accept]")
    expect(accept).to_contain_text(guess["label"])
    expect(accept).to_contain_text(as_shown(guess["probability"]))
    expect(page.locator("#asked .word").first).to_be_visible()
    assert current(page) == text
    press(page, "Enter")
    assert exported(client) == [(text, guess["label"])]


def test_a_word_has_the_colour_of_its_class_in_every_view(visit, service):
    """Of two classes: in the text that is labelled, on its keys, in the text that is tried."""
    page = visit(service, "label")
    begin(page, content="text\nfree prize now\nsee you at noon\n")
    colours = "node => [node.classList.contains('one'), getComputedStyle(node).borderBottomColor]"
    found = {}
    for _ in range(2):
        expect(page.locator("#asked .word").first).to_be_visible()
        for word in page.locator("#asked .word").all():
            found[word.inner_text()] = word.evaluate(colours)
        expect(page.locator(".telling")).to_contain_text(re.compile("for ham.*for spam|for spam.*for ham"))
        press(page, "s") if len(found) < 4 else None
    assert found["prize"][0] is False
    assert found["noon"][0] is True
    keys = page.get_by_role("group", name="Give a label").get_by_role("button")
    expect(keys.nth(0).locator(".swatch.one")).to_be_visible()  # ham
    expect(keys.nth(1).locator(".swatch.two")).to_be_visible()
    page.goto(f"{service.address}/#try?text=prize%20at%20noon")
    for name in ("prize", "noon"):
        word = page.locator("#why .reading .word", has_text=name)
        expect(word).to_be_visible()
        assert word.evaluate(colours) == found[name]


def test_what_is_undone_elsewhere_is_gone_from_labelling(visit, new):
    page = visit(new, "")
    begin(page)
    label_some(page, 3)
    page.get_by_role("link", name="Try it").click()
    page.get_by_role("region", name="Recent corrections").get_by_role("button", name="Undo").first.click()
    expect(page.locator("#correction-list li.fallen")).to_have_count(1)
    page.get_by_role("link", name="Label").click()
    expect(page.locator("#label-count")).to_contain_text("2 labels ·")


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}])
def test_many_classes_leave_room_for_the_text(visit, serve, tmp_path, size):
    names = [f"group.of.news-{n}" for n in range(20)]
    rows = [(name, f"word{n} of the text") for n, name in enumerate(names)] * 2
    page = visit(serve(path=train(tmp_path / "many.textodds", rows)), "label", viewport=size)
    begin(page, content='text\n"' + "word3 and a long text\n" * 60 + '"\n')
    room = page.evaluate(
        "() => document.querySelector('.keys').getBoundingClientRect().top"
        " - document.querySelector('#asked').getBoundingClientRect().top"
    )
    assert room >= size["height"] / 4
    assert page.evaluate("() => document.documentElement.scrollWidth") <= size["width"]
    expect(page.locator("[data-accept]")).to_be_in_viewport()


def test_undo_takes_back_the_last_act_and_nothing_else(visit, service, client):
    page = visit(service, "label")
    begin(page)
    before = client.post("/v1/classify", {"text": "call now"}).json()["probabilities"]
    first, second = press(page, "1"), press(page, "2")
    skipped = press(page, "s")
    press(page, "u")
    assert current(page) == skipped
    assert exported(client) == [(first, "ham"), (second, "spam")]
    press(page, "u")
    assert current(page) == second
    assert exported(client) == [(first, "ham")]
    page.keyboard.press("u")
    expect(page.locator("#label-count")).to_contain_text("0 labels")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert client.post("/v1/classify", {"text": "call now"}).json()["probabilities"] == before


def test_a_page_that_is_loaded_again_goes_on_where_it_was(visit, new):
    page = visit(new, "")
    begin(page)
    label_some(page, 3)
    text = current(page)
    page.reload()
    expect(page.locator("#asked")).to_have_text(text)
    expect(page.locator("#label-count")).to_have_text("3 labels · 37 left")
    page.locator(".files summary").click()
    choose(page, "label", "copy.csv", CONTENT)
    expect(page.get_by_text("The file was here before")).to_be_visible()


def test_a_service_that_is_killed_loses_no_label(visit, serve, tmp_path, client_of):
    visit.allow("ERR_CONNECTION", "ERR_EMPTY_RESPONSE")
    options = ("--new", "--classes", "ham,spam,work")
    service = serve(*options, path=tmp_path / "new.textodds")
    page = visit(service, "")
    begin(page)
    texts = label_some(page, 4)
    text = current(page)
    service.kill()
    page.keyboard.press("1")
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    again = serve(*options, "--port", str(service.port), path=tmp_path / "new.textodds")
    expect(page.locator("#label-count")).to_contain_text("5 labels")
    assert exported(client_of(again)) == [*((each, TRUTH[each]) for each in texts), (text, "ham")]


def test_a_key_pressed_twice_labels_one_text(visit, service, client):
    page = visit(service, "label")
    begin(page)
    first = current(page)
    page.evaluate(
        """() => { for (let i = 0; i < 2; i++) document.getElementById("labelling").dispatchEvent(
             new KeyboardEvent("keydown", { key: "1", bubbles: true, cancelable: true })); }"""
    )
    expect(page.locator("#label-count")).to_contain_text("1 label ·")
    expect(page.locator("#asked")).not_to_have_text(first, use_inner_text=False)
    assert exported(client) == [(first, "ham")]


def test_keys_do_nothing_in_fields_and_elsewhere(visit, service, client):
    page = visit(service, "label")
    begin(page)
    page.locator("#labelling").get_by_text("A new class…").click()
    field = page.locator("#labelling").get_by_label("Its name")
    field.press_sequentially("us1")
    expect(field).to_have_value("us1")
    page.get_by_role("link", name="Try it").click()
    text = page.get_by_label("Your text")
    expect(text).to_be_visible()  # keys go to the page that is there
    text.press_sequentially("121s")
    expect(page.locator(".verdict")).to_be_visible()
    assert exported(client) == []


def test_classes_are_added_before_and_while_labelling(visit, serve, tmp_path, client_of):
    service = serve("--new", path=tmp_path / "new.textodds")
    page = visit(service, "")
    page.get_by_label("A class", exact=True).fill("news")
    page.get_by_role("button", name="Add a class").click()
    expect(page.locator(".pill")).to_have_text(["news"])
    begin(page)
    text = current(page)
    page.locator("#labelling").get_by_text("A new class…").click()
    page.locator("#labelling").get_by_label("Its name").fill("sport")
    page.get_by_role("button", name="Add it and learn").click()
    expect(page.locator("#label-count")).to_contain_text("1 label ·")
    assert exported(client_of(service)) == [(text, "sport")]
    expect(page.get_by_role("group", name="Give a label").get_by_role("button")).to_have_text(
        ["1news", "2sport"]
    )


def test_texts_are_found_by_search_and_labelled(visit, new, client_of):
    page = visit(new, "")
    begin(page)
    page.get_by_text("Search the texts").click()
    page.get_by_label("Search", exact=True).fill("prize win")
    found = page.locator(".found li")
    expect(found.first).to_contain_text("prize")
    text = found.first.locator("span").last.inner_text()
    page.get_by_role("button", name=re.compile("^Label this text")).first.click()
    expect(page.locator("#asked")).to_contain_text(text)
    page.locator("#labelling").focus()
    page.keyboard.press("2")
    expect(page.locator("#label-count")).to_contain_text("1 label ·")
    assert exported(client_of(new)) == [(text, "spam")]


def test_nearly_identical_texts_are_labelled_at_once_unless_that_is_turned_off(visit, new, client_of):
    long = "please send the minutes of the meeting and the budget to the office today"
    page = visit(new, "")
    begin(page, content=f"text\n{long}\n{long} ok\n{long}!\n")
    expect(page.get_by_label("Label 2 texts that are nearly the same, too")).to_be_checked()
    page.keyboard.press("3")
    expect(page.get_by_text("All done")).to_be_visible()
    assert len(exported(client_of(new))) == 3
    page.keyboard.press("u")
    expect(page.locator("#asked")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("3")
    expect(page.locator("#label-count")).to_have_text("1 label · 2 left")


def test_history_has_edit_and_goes_back_and_labels_are_downloaded(visit, new, client_of):
    page = visit(new, "")
    begin(page)
    texts = label_some(page, 5)
    page.get_by_text("History", exact=True).click()
    page.locator(".acts select").first.select_option("ham")
    expect(page.locator(".acts li")).to_have_count(7)  # five labels, the edit, the beginning
    assert dict(exported(client_of(new)))[texts[4]] == "ham"
    page.get_by_role("button", name="Go back to the labels after act 2").click()
    expect(page.locator("#label-count")).to_contain_text("2 labels ·")
    assert exported(client_of(new)) == [(text, TRUTH[text]) for text in texts[:2]]
    with page.expect_download() as given:
        page.get_by_role("button", name="Download labels (CSV)").click()
    content = Path(given.value.path()).read_text(encoding="utf-8")
    rows = [(row["text"], row["label"]) for row in csv.DictReader(io.StringIO(content, newline=""))]
    assert rows == exported(client_of(new))


def test_precision_is_checked_with_yes_and_no(visit, new, client_of):
    page = visit(new, "")
    begin(page)
    label_some(page, 12)
    page.get_by_role("button", name="Check the precision of spam").click()
    expect(page.get_by_text("Are these texts spam")).to_be_visible()
    page.locator("#labelling").focus()
    right = answered = 0
    while page.locator("#asked").count():
        text = current(page)
        right, answered = right + (TRUTH[text] == "spam"), answered + 1
        page.keyboard.press("Enter" if TRUTH[text] == "spam" else KEYS[TRUTH[text]])
        expect(page.get_by_text(text, exact=True).and_(page.locator("#asked"))).to_have_count(0)
    expect(page.locator(".told")).to_contain_text(f"Precision {right} of {answered}")
    expect(page.locator("#check-state")).to_have_text(f" {answered} of {answered} answered.")
    told = page.get_by_text("Are these texts spam").locator("..")
    assert told.evaluate("node => node.offsetHeight") < 160  # it does not take the room of the text


def test_two_people_at_once_and_where_they_disagree(visit, new, client_of):
    pages = {}
    for name in ("Ann", "Bob"):
        pages[name] = visit(new, "")
        pages[name].get_by_label("Your name").fill(name)
        pages[name].get_by_label("Your name").press("Enter")
        if name == "Ann":
            begin(pages[name])
        expect(pages[name].locator("#asked")).to_be_visible()
    ann, bob = pages.values()
    assert current(ann) != current(bob)
    ann.locator("#labelling").focus()
    (text,) = label_some(ann, 1)
    bob.locator("#labelling").focus()
    label_some(bob, 1)
    people = bob.get_by_role("region", name="Who labels")
    expect(people).to_contain_text("Ann")
    expect(people).to_contain_text("Bob")
    bob.get_by_label("Next text").select_option("second")
    expect(bob.locator("#asked")).to_have_text(text)
    bob.locator("#labelling").focus()
    bob.keyboard.press("1" if TRUTH[text] != "ham" else "2")
    bob.get_by_text("Contradicting labels: 1").click()
    expect(bob.locator(".beside figcaption")).to_have_count(2)
    bob.locator(".label-record").get_by_role("button", name=TRUTH[text], exact=True).click()
    expect(bob.get_by_text("Contradicting labels")).to_have_count(0)
    assert (text, TRUTH[text]) in exported(client_of(new))


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}])
def test_on_a_phone_the_text_the_keys_and_the_progress_fit(visit, new, options):
    page = visit(new, "", viewport={"width": 360, "height": 740}, **options)
    begin(page)
    label_some(page, 2)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    for place in ("#asked", "#label-count", ".keys"):
        expect(page.locator(place)).to_be_in_viewport()


def test_a_model_that_cannot_learn_says_so_and_what_to_do(visit, serve, tmp_path):
    path = train(tmp_path / "s.textodds", mail(60), documents=False, learner="softmax")
    page = visit(serve(path=path), "label")
    expect(page.locator("#view-label")).to_contain_text("This model cannot learn")
    expect(page.locator("#view-label")).to_contain_text("textodds serve new.textodds --new")


def test_a_file_without_texts_is_told(visit, service):
    visit.allow("422")
    page = visit(service, "label")
    choose(page, "label", "a.csv", 'text,b\n"",1\n" ",2\n')
    expect(page.get_by_role("alert")).to_contain_text("the uploaded file has no texts")
