"""The page: a text, and its answer while it is typed."""

import re
from contextlib import closing

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import answer, as_shown, write
from serve.running import Running
from serve.wire import connected, evaluation

HINT = "Type or paste a text."
TEXTS = [
    "Win a free prize now, call me",
    "see you at home tomorrow",
    "now",
    "🎉 free\u00a0cash 🎉 e\u0301 \u202eabc\u202c شكرا report",
    "free " * 2000,
    "call me\n\n\tat the office\r\nnow",
]


@pytest.mark.parametrize("text", TEXTS, ids=["spam", "ham", "one word", "unicode", "long", "lines"])
def test_the_answer_is_that_of_the_model(visit, mail_service, mail_file, text):
    page = visit(mail_service)
    write(page, text)
    read = page.get_by_label("Your text").input_value()  # a browser has line feeds only
    said = textodds.load(mail_file)(read)
    verdict = answer(page).locator(".verdict")
    expect(verdict).to_contain_text(said.label)
    expect(verdict).to_contain_text(as_shown(said.probability))
    bars = answer(page).get_by_role("list", name="Probability of each class").get_by_role("listitem")
    ranked = sorted(said.probabilities.items(), key=lambda pair: -pair[1])
    for row, (label, p) in zip(bars.all(), ranked, strict=True):
        expect(row).to_contain_text(label)
        expect(row).to_contain_text(as_shown(p))


def test_typing_letter_by_letter_ends_with_the_answer_to_the_whole(visit, mail_service, mail_file):
    page = visit(mail_service)
    field = page.get_by_label("Your text")
    expect(field).to_be_focused()
    field.press_sequentially("win cash at the office, see the report")
    said = textodds.load(mail_file)(field.input_value())
    expect(answer(page).locator(".verdict")).to_have_text(re.compile(said.label))
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(said.probability))
    expect(page.locator("#answer-live")).to_have_text(re.compile(said.label))


def test_at_first_there_is_a_hint_and_nothing_is_asked(visit, mail_service):
    page = visit(mail_service)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    expect(answer(page)).to_contain_text(HINT)
    write(page, "  \n ")
    expect(answer(page)).to_contain_text(HINT)
    expect(page.get_by_role("button", name="That is wrong")).to_be_hidden()
    assert not [url for url in asked if "/v1/classify" in url or "/v1/explain" in url]


def test_the_latest_answer_wins_and_requests_do_not_pile_up(visit, mail_service, mail_file):
    page = visit(mail_service)
    expect(answer(page)).to_contain_text(HINT)
    held, asked = [], []

    def hold_the_first(route):
        asked.append(route.request.post_data_json)
        held.append(route) if len(asked) == 1 else route.continue_()

    page.route("**/v1/classify", hold_the_first)
    with page.expect_request("**/v1/classify"):
        write(page, "win free cash")
    for text in ("meeting", "meeting about", "meeting about the report"):
        write(page, text)
    expect(page.get_by_role("table")).to_be_visible()  # why is asked apart
    expect(answer(page)).to_contain_text(HINT)
    assert asked == [{"text": "win free cash"}]
    held[0].continue_()
    said = textodds.load(mail_file)("meeting about the report")
    assert said.label == "work"
    expect(answer(page).locator(".verdict")).to_contain_text("work")
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(said.probability))
    assert asked == [{"text": "win free cash"}, {"text": "meeting about the report"}]


def test_an_answer_that_comes_after_the_text_was_cleared_is_dropped(visit, mail_service):
    page = visit(mail_service)
    held = []
    page.route("**/v1/classify", lambda route: held.append(route))
    with page.expect_request("**/v1/classify"):
        write(page, "win free cash")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_label("Your text")).to_be_focused()
    with page.expect_response("**/v1/classify"):
        held[0].continue_()
    page.unroute("**/v1/classify")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(answer(page)).to_contain_text(HINT)
    expect(answer(page).locator(".verdict")).to_have_count(0)


def test_a_text_without_a_known_word_says_that_the_prior_has_answered(visit, mail_service, mail_file):
    page = visit(mail_service)
    write(page, "zyx qqq")
    said = textodds.load(mail_file)("zyx qqq")
    assert said.evidence == 0
    expect(answer(page)).to_contain_text("No known word")
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(said.probability))
    write(page, "zyx win")
    expect(answer(page)).not_to_contain_text("No known word")


def test_a_link_can_carry_a_text(visit, mail_service):
    page = visit(mail_service, "try?text=win%20free%20cash")
    expect(page.get_by_label("Your text")).to_have_value("win free cash")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")


def test_a_text_beyond_the_limit_is_not_sent(visit, serve):
    page = visit(serve("--max-text", "50"))
    write(page, "🎉" * 45)
    expect(page.locator("#text-note")).to_have_text("45 of at most 50 characters")
    expect(answer(page).locator(".verdict")).to_be_visible()
    write(page, "🎉" * 51)
    expect(answer(page)).to_contain_text("too long")
    expect(answer(page).locator(".verdict")).to_have_count(0)
    write(page, "🎉" * 50)
    expect(answer(page).locator(".verdict")).to_be_visible()


def test_a_service_that_is_gone_is_told_and_waited_for(visit, serve, model):
    visit.allow("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
    service = serve()
    page = visit(service)
    write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")
    service.stop()
    write(page, "see you at home")
    banner = page.get_by_text("The service does not answer")
    expect(banner).to_be_visible()
    serve("--port", str(service.port))
    expect(banner).to_be_hidden()
    expect(answer(page).locator(".verdict")).to_contain_text("ham")


def test_a_busy_service_is_asked_again(visit, serve):
    visit.allow("status of 503")
    service = serve("--max-requests", "1")
    page = visit(service)
    write(page, "see you at home")
    expect(page.get_by_role("table")).to_be_visible()
    with connected(service.port) as other, closing(service.client()) as client:
        other.sendall(evaluation(60_000))  # which holds the one place
        while client.get("/metrics").status != 503:
            pass
        with page.expect_response(lambda answer: answer.status == 503):
            write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")


def test_answers_follow_a_new_model(visit, serve, model, tmp_path):
    service = serve()
    page = visit(service)
    write(page, "noon noon")
    expect(answer(page).locator(".verdict")).to_contain_text("ham")
    textodds.train(["noon at noon", "home"], ["spam", "ham"]).save(tmp_path / "new")
    (tmp_path / "new").replace(model)
    client = service.client()
    assert client.post("/v1/reload", {}).json()["changed"]
    client.close()
    write(page, "noon noon ")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")
    expect(page.get_by_text(re.compile(r"2 classes · 3 words"))).to_be_visible()


def test_the_page_has_the_name_of_the_model(visit, mail_service: Running):
    page = visit(mail_service)
    expect(page).to_have_title("mail.textodds · textodds")
    expect(page.get_by_role("heading", level=1)).to_have_text("mail.textodds")
