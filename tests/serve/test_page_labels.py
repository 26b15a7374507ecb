"""The page of a model of several labels: chips, each with its own why, and their correction."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import as_shown, choose, write
from serve.running import settled
from serve.test_page_access import UNNAMED, WIDE, faint
from serve.tickets import ticket_model

pytestmark = pytest.mark.long

TEXT = "please help with the invoice of my card today"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return ticket_model(tmp_path_factory.mktemp("labels") / "tickets.textodds")


@pytest.fixture
def service(serve, path, tmp_path):
    return serve("--journal", str(tmp_path / "journal"), path=path)


@pytest.fixture
def client(service, client_of):
    return client_of(service)


def classify(client, text=TEXT):
    return client.post("/v1/classify", {"text": text}).json()


def chip(page, label):
    return page.locator(f'.chip[data-label="{label}"]')


def toggle(page, label):
    return page.get_by_role("button", name=f"{label} is right")


def why(page, label):
    return page.get_by_role("button", name=re.compile(f"^{label} .*why$"))


def test_labels_that_are_given_stand_first_and_the_others_are_faded(visit, service, client):
    page = visit(service)
    write(page, TEXT)
    said = classify(client)
    assert said["labels"] == ["billing", "urgent"]
    chips = page.get_by_role("list", name="Labels").get_by_role("listitem")
    expect(chips).to_have_count(4)
    ranked = sorted(said["probabilities"], key=lambda label: -said["probabilities"][label])
    assert [each.get_attribute("data-label") for each in chips.all()] == ranked
    for label, p in said["probabilities"].items():
        expect(chip(page, label)).to_contain_text(as_shown(p))
        expect(chip(page, label)).to_have_class(re.compile("given" if label in said["labels"] else "faded"))
        expect(toggle(page, label)).to_have_attribute("aria-pressed", str(label in said["labels"]).lower())
        mark = chip(page, label).locator(".mark").evaluate("(mark) => mark.style.insetInlineStart")
        assert float(mark.strip("%")) == pytest.approx(100 * said["thresholds"][label], abs=0.01)
        spoken = "given" if label in said["labels"] else "not given"
        expect(why(page, label)).to_contain_text(f", {spoken}, threshold")
    expect(page.locator("#answer-live")).to_contain_text("billing")
    expect(page.locator("#costs")).to_be_hidden()
    page.get_by_role("navigation").get_by_text("Label", exact=True).click()
    expect(page.locator("#view-label")).to_contain_text("This model gives several labels a text")


def test_every_chip_shows_its_own_why(visit, service, client):
    page = visit(service)
    write(page, TEXT)
    box = page.locator("#why")
    expect(box.get_by_role("heading")).to_have_text("Why billing")
    expect(why(page, "billing")).to_have_attribute("aria-pressed", "true")
    why(page, "urgent").click()
    expect(box.get_by_role("heading")).to_have_text("Why urgent")
    expect(why(page, "urgent")).to_have_attribute("aria-pressed", "true")
    expect(why(page, "billing")).to_have_attribute("aria-pressed", "false")
    found = client.post("/v1/explain", {"text": TEXT, "label": "urgent"}).json()
    expect(box.locator("tfoot .number")).to_have_text(f"{found['log_odds']:+.2f}".replace("-", "\u2212"))
    for word in box.locator(".reading .word.for").all_inner_texts():
        (place,) = [each for each in found["places"] if each["word"] == word.lower()]
        assert place["log_odds"] > 0
    expect(box).to_contain_text(as_shown(found["probability"]))
    write(page, f"{TEXT} now")
    expect(box.get_by_role("heading")).to_have_text("Why urgent")  # it stays while one types


def test_chips_are_toggled_saved_and_undone_by_keyboard(visit, service, client):
    page, before = visit(service), classify(client)
    write(page, TEXT)
    expect(chip(page, "bug")).to_be_visible()
    toggle(page, "urgent").focus()
    page.keyboard.press("Space")
    expect(toggle(page, "urgent")).to_be_focused()
    expect(toggle(page, "urgent")).to_have_attribute("aria-pressed", "false")
    toggle(page, "bug").press("Enter")
    expect(toggle(page, "bug")).to_have_attribute("aria-pressed", "true")
    pending = page.locator("#pending")
    expect(pending).to_contain_text("The right labels: billing, bug")
    pending.get_by_role("button", name="Save").press("Enter")
    outcome = page.locator("#outcome")
    expect(outcome).to_contain_text("Learned: billing, bug.")
    (entry,) = client.get("/v1/corrections").json()["corrections"]
    assert (entry["labels"], entry["text"], entry["change"]) == (["billing", "bug"], TEXT, "learned")
    after = classify(client)
    assert after["probabilities"]["bug"] > before["probabilities"]["bug"]
    assert after["probabilities"]["urgent"] < before["probabilities"]["urgent"]
    expect(pending).to_be_hidden()
    back = outcome.get_by_role("button", name="Undo")
    expect(back).to_be_focused()
    page.keyboard.press("Enter")
    expect(outcome).to_contain_text("Forgotten: billing, bug.")
    settled(client)
    again = classify(client)
    assert again["probabilities"] == before["probabilities"]
    expect(chip(page, "bug")).to_contain_text(as_shown(before["probabilities"]["bug"]))


def test_cancel_and_another_text_leave_everything_as_it_was(visit, service, client):
    page = visit(service)
    write(page, TEXT)
    toggle(page, "bug").click()
    expect(chip(page, "bug")).to_have_class(re.compile("added"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#pending")).to_be_hidden()
    expect(toggle(page, "bug")).to_have_attribute("aria-pressed", "false")
    toggle(page, "billing").click()
    expect(chip(page, "billing")).to_have_class(re.compile("taken"))
    write(page, "the screen fails")
    expect(page.locator("#pending")).to_be_hidden()
    expect(toggle(page, "bug")).to_have_attribute("aria-pressed", "true")
    assert client.get("/v1/corrections").json()["total"] == 0


def test_all_labels_can_be_taken_away_and_a_new_one_added(visit, service, client):
    page = visit(service)
    write(page, "my screen is broken since the crash")
    assert classify(client, "my screen is broken since the crash")["labels"] == ["bug"]
    expect(chip(page, "bug")).to_be_visible()
    toggle(page, "bug").click()
    expect(page.locator("#pending")).to_contain_text("no label")
    page.get_by_text("Another label…").click()
    page.get_by_label("Its name").fill("hardware")
    page.get_by_role("button", name="Add it").click()
    expect(chip(page, "hardware")).to_contain_text("new")
    expect(page.locator("#pending")).to_contain_text("The right labels: hardware")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#outcome")).to_contain_text("Learned: hardware.")
    assert client.get("/v1/corrections").json()["corrections"][0]["labels"] == ["hardware"]
    expect(page.get_by_role("banner").get_by_text("5 labels")).to_be_visible()
    expect(chip(page, "hardware")).not_to_contain_text("new")
    listed = page.locator("#correction-list li").first
    expect(listed).to_contain_text("hardware")
    listed.get_by_role("button").click()
    expect(page.get_by_role("banner").get_by_text("4 labels")).to_be_visible()


def test_a_text_without_a_label_says_so(visit, service, client):
    page = visit(service)
    write(page, "please have the a my we")
    assert classify(client, "please have the a my we")["labels"] == []
    expect(page.get_by_role("region", name="Its labels")).to_contain_text("No label")
    expect(page.locator("#answer-live")).to_have_text("no label")


def test_a_service_that_only_reads_has_chips_without_marks(visit, serve, path):
    page = visit(serve("--read-only", path=path))
    write(page, TEXT)
    expect(chip(page, "billing")).to_be_visible()
    expect(toggle(page, "billing")).to_be_hidden()
    expect(page.locator("#correct")).to_contain_text("It cannot be corrected here")


def test_labels_of_others_are_shown_as_text(visit, serve, tmp_path):
    evil, right = "<img src=x onerror=alert(1)>", "\u202eabc \u0007"
    texts, labels = ["crash now", "refund it", "see you"] * 120, [[evil], [right, evil], []] * 120
    textodds.train(texts, labels, learner="multinomial").save(tmp_path / "evil.textodds")
    page = visit(serve(path=tmp_path / "evil.textodds"))
    write(page, "crash refund")
    expect(page.locator(".chip")).to_have_count(2)
    expect(page.locator(".chip .name").filter(has_text=evil)).to_be_visible()
    page.locator(".chip .toggle").first.click()
    expect(page.locator("#pending b").first).to_be_visible()
    assert page.locator("main img").count() == 0


@pytest.fixture
def toggled(visit, service):
    """The page with chips of every look: given, faded, added, taken, new with a long name."""
    page = visit(service)
    write(page, TEXT)
    toggle(page, "bug").click()
    toggle(page, "urgent").click()
    page.get_by_text("Another label…").click()
    page.get_by_label("Its name").fill("Donaudampfschiffahrtsgesellschaftskapitaen" * 3)
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".chip")).to_have_count(5)
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chips_can_be_read(toggled, scheme):
    toggled.emulate_media(color_scheme=scheme)
    assert faint(toggled) == []
    assert toggled.evaluate(UNNAMED) == []


@pytest.mark.parametrize(("width", "letters"), [(360, "100%"), (640, "200%")])
def test_chips_fit_a_phone_and_large_letters(toggled, width, letters):
    toggled.set_viewport_size({"width": width, "height": 700})
    toggled.locator("html").evaluate("(node, size) => { node.style.fontSize = size; }", letters)
    assert toggled.evaluate(WIDE) <= 0
    for button in toggled.locator(".chip button").all():
        size = button.bounding_box()
        assert size["height"] >= 32
        assert size["width"] >= 32


def test_chips_are_reached_by_tab_in_their_order_and_focus_is_seen(toggled):
    toggled.locator(".chip button").first.focus()
    wanted = toggled.locator(".chip button:not([disabled])").count()
    for n in range(wanted):
        place = toggled.evaluate(
            """() => { const all = [...document.querySelectorAll(".chip button:not([disabled])")];
              const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
              return [all.indexOf(document.activeElement), outlineStyle, parseFloat(outlineWidth)]; }"""
        )
        if n:  # the first was not reached by a key
            assert place == [n, "solid", 3]
        toggled.keyboard.press("Tab")
    expect(toggled.get_by_role("button", name="Save")).to_be_focused()


def test_a_file_is_answered_measured_and_downloaded(visit, service, client):
    page = visit(service, "files")
    rows = [
        ("urgent refund", "billing|urgent"),
        ("the crash now", "bug|urgent"),
        ("please", ""),
        ("locked", "login"),
    ]
    choose(
        page, "files", "tickets.csv", "text,labels\n" + "".join(f"{text},{labels}\n" for text, labels in rows)
    )
    expect(page.get_by_label("Labels are separated by")).to_have_value("|")
    page.get_by_role("button", name="Classify all rows").click()
    measured = page.get_by_role("region", name="Evaluation")
    expect(measured).to_contain_text("micro-F1")
    expect(measured.get_by_role("row", name=re.compile("^bug"))).to_be_visible()
    expect(page.get_by_role("region", name="First rows")).to_contain_text("no label")
    with page.expect_download() as loading:
        page.get_by_role("button", name="Download as CSV").click()
    lines = list(csv.reader(io.StringIO(loading.value.path().read_text("utf-8-sig"))))
    assert lines[0] == ["text", "labels", "predicted_labels"]
    for (text, _), line in zip(rows, lines[1:], strict=True):
        assert line[2] == "|".join(classify(client, text)["labels"])


def test_the_model_shows_thresholds_and_held_out_quality(visit, service, client):
    page, card = visit(service, "model"), client.get("/v1/model").json()
    quality = page.get_by_role("region", name="How good it is")
    expect(quality).to_contain_text(as_shown(card["label_quality"]["micro_f1"]))
    labels = page.get_by_role("region", name="Its labels")
    labels.get_by_text("Thresholds").click()
    for each in card["labels"]:
        row = labels.get_by_role("row", name=re.compile(f"^{each['label']}"))
        expect(row).to_contain_text(as_shown(each["threshold"]))
    expect(page.locator("#words-rival")).to_have_count(0)
    page.locator("#words-class").select_option("login")
    expect(page.locator("#telling")).to_contain_text("password")
