"""The page on a slow network, as the browser's own protocol throttles it: 400 ms a request, 400 kbit/s."""

import pytest
from playwright.sync_api import expect

from serve.browsing import answer, choose, mail, write

pytestmark = pytest.mark.long

SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
PATIENCE = 60_000


def throttled(page):
    """The page, from here on behind a slow network, without what it has kept."""
    protocol = page.context.new_cdp_session(page)
    protocol.send("Network.enable")
    protocol.send("Network.setCacheDisabled", {"cacheDisabled": True})
    protocol.send("Network.emulateNetworkConditions", SLOW)
    return page


def test_a_skeleton_shows_before_anything_has_come_and_then_an_answer(visit, mail_service):
    page = throttled(visit(mail_service, ""))
    page.goto("about:blank")
    page.goto(f"{mail_service.address}/", wait_until="commit")
    expect(page.locator("#skeleton")).to_be_visible()
    expect(page.locator(".verdict")).to_be_hidden()
    expect(answer(page).locator(".verdict")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#skeleton")).to_have_count(0)


def test_answers_cannot_overtake_one_another(visit, mail_service, client_of):
    page = throttled(visit(mail_service))
    for text in ("win a free prize", "meeting agenda report budget", "lunch at home with mum, dinner"):
        write(page, text)
    label = client_of(mail_service).post("/v1/classify", {"text": text}).json()["label"]
    expect(page.locator("#why:not(.stale) .reading")).to_contain_text("dinner", timeout=PATIENCE)
    expect(answer(page).locator(".verdict .label")).to_have_text(label, timeout=PATIENCE)


def test_every_label_is_kept_however_quickly_keys_are_pressed(visit, serve, tmp_path, client_of):
    service = serve("--new", "--classes", "ham,spam,work", path=tmp_path / "new.textodds")
    page = visit(service, "")
    choose(page, "label", "a.csv", "text\n" + "".join(f"{text}\n" for _, text in mail(40, seed=11)))
    expect(page.locator("#asked")).to_be_visible()
    throttled(page)
    given = []
    for key in ("1", "2", "3"):
        text = page.locator("#asked").text_content()
        for _ in range(3):  # what is pressed before the next text shows is not taken for that one
            page.keyboard.press(key)
        expect(page.locator("#asked")).not_to_have_text(text, use_inner_text=False, timeout=PATIENCE)
        given.append(text)
    found = client_of(service).get("/v1/labelling/history").json()["acts"]
    labels = {act["text"]: act["label"] for act in found if act["kind"] == "label"}
    assert labels == dict(zip(given, ("ham", "spam", "work"), strict=True))
