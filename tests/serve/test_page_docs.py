"""The page of the API: every endpoint as the service describes it, asked from the page; for everybody."""

import itertools
import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from serve.browsing import Visits
from serve.test_page_access import CONTRASTS, CONTROLS, UNNAMED, WIDE
from serve.test_page_tokens import READ, WRITE, give
from serve.wire import running
from textodds.serve.routes import ENDPOINTS

pytestmark = pytest.mark.long

SHOWN = [
    (each.method, each.path) for each in ENDPOINTS if not each.path.startswith(("/page/", "/openapi.json"))
]


def docs(visits, service, named="", **options):
    """The page, once it shows the endpoints."""
    page = visits(service, **options)
    page.goto(f"{service.address}/docs{named}")
    expect(page.get_by_role("heading", name="Endpoints")).to_be_visible()
    return page


def opened(page, method, path):
    """The part of an endpoint, unfolded by its link; and its form."""
    page.locator("#contents-list").get_by_role("link", name=f"{method} {path}", exact=True).click()
    form = page.get_by_role("form", name=f"Try {method} {path}", exact=True)
    expect(form).to_be_visible()
    return page.locator("details.endpoint").filter(has=form), form


def sent(form):
    """What is answered when the form is sent: the status, and the answer."""
    form.get_by_role("button", name="Send").click()
    expect(form.get_by_role("button", name="Send")).to_be_enabled(timeout=300_000)
    line = form.locator(".answered p").first
    expect(line).to_contain_text(re.compile(r"^\d{3}"))
    return int(line.inner_text()[:3]), form.locator(".answered pre").inner_text()


def test_every_endpoint_is_there_as_it_is_described(visit, mail_service, client_of):
    page = docs(visit, mail_service)
    told = client_of(mail_service).get("/openapi.json").json()
    headings = page.locator(".endpoint h2").all_inner_texts()
    assert sorted(headings) == sorted(f"{method} {path}" for method, path in SHOWN)
    expect(page.locator("#contents-list a")).to_have_count(len(SHOWN))
    for path, item in told["paths"].items():
        for method, operation in item.items():
            part, form = opened(page, method.upper(), path)
            expect(part.locator("summary").first).to_contain_text(operation["summary"])
            for parameter in operation.get("parameters", ()):
                name = parameter["name"]
                expect(part.get_by_role("group", name="Parameters")).to_contain_text(name)
                field = form.get_by_label(name, exact=True)
                expect(field).to_have_js_property("required", parameter["required"])
            for content in operation.get("requestBody", {"content": {}})["content"].values():
                if "example" in content:
                    example = content["example"]
                    body = form.get_by_label("Body").input_value()
                    assert (body if isinstance(example, str) else json.loads(body)) == example


def test_the_shapes_name_fields_types_bounds_and_what_they_mean(visit, mail_service):
    page = docs(visit, mail_service)
    part, _ = opened(page, "POST", "/v1/classify")
    asked, answered = (part.locator(".body > .fields").nth(at) for at in range(2))
    assert asked.locator("> li > code").all_inner_texts() == ["text", "prior", "costs", "abstain", "top"]
    assert "text string, required A text to read." in asked.inner_text()
    assert "top integer, 1 to 1,000,000 or null Probabilities of so many classes" in asked.inner_text()
    costs = asked.locator("> li").nth(2)
    assert "costs list of object, at most 10,000 items" in costs.inner_text()
    assert costs.locator(".fields code").all_inner_texts() == ["truth", "answer", "cost"]
    assert "probability number, 0 to 1\n" in answered.inner_text()
    assert "expected_loss number, not always there" in answered.inner_text()
    part, _ = opened(page, "GET", "/v1/corrections")
    assert 'change "forgotten" or "learned"\n' in part.inner_text()
    part.get_by_text("Refusals").first.click()
    expect(part.get_by_role("group", name="Refusals")).to_contain_text("422")


def test_what_is_sent_is_answered_as_the_service_does(visit, mail_service, client_of):
    visit.allow("status of 422")
    page, client = docs(visit, mail_service), client_of(mail_service)
    _, form = opened(page, "POST", "/v1/classify")
    form.get_by_label("Body").fill('{"text": "win <b>cash</b> at home"}')
    status, answer = sent(form)
    expected = client.post("/v1/classify", {"text": "win <b>cash</b> at home"}).json()
    assert (status, json.loads(answer)) == (200, expected)
    form.get_by_label("Body").fill('{"txet": "win"}')
    status, answer = sent(form)
    assert (status, json.loads(answer)["code"]) == (422, "input.fields")
    _, form = opened(page, "GET", "/v1/words")
    form.get_by_label("label").fill("spam")
    form.get_by_label("limit").fill("2")
    status, answer = sent(form)
    assert (status, json.loads(answer)) == (200, client.get("/v1/words?label=spam&limit=2").json())
    _, form = opened(page, "POST", "/v1/evaluate")
    status, answer = sent(form)
    assert (status, json.loads(answer)["n"]) == (200, 2)
    form.get_by_label("Or a file").set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": b"label,text\nspam,free\n"}
    )
    status, answer = sent(form)
    assert (status, json.loads(answer)["n"]) == (200, 1)
    _, form = opened(page, "GET", "/")
    status, answer = sent(form)
    assert (status, answer.startswith("<!doctype html>")) == (200, True)
    assert page.evaluate("() => document.querySelectorAll('script').length") == 1


def test_the_line_for_curl_says_the_same(visit, mail_service):
    page = docs(visit, mail_service)
    _, form = opened(page, "POST", "/v1/classify")
    form.get_by_label("Body").fill('{"text": "it\'s"}')
    form.get_by_text("The same with curl").click()
    expect(form.get_by_label("The same with curl")).to_have_text(
        f"curl '{mail_service.address}/v1/classify' -H 'Content-Type: application/json' "
        """--data-binary '{"text": "it'\\''s"}'"""
    )


def test_a_file_is_not_shown_as_text(visit, mail_service):
    page = docs(visit, mail_service)
    _, form = opened(page, "GET", "/v1/backup")
    form.get_by_role("button", name="Send").click()
    expect(form.locator(".answered")).to_contain_text("application/vnd.sqlite3")
    expect(form.locator(".answered")).to_contain_text("The answer is a file")


def test_an_endpoint_has_an_address(visit, mail_service):
    page = docs(visit, mail_service, "#get-v1-model")
    form = page.get_by_role("form", name="Try GET /v1/model")
    expect(form).to_be_visible()
    expect(page.locator("#get-v1-model > summary")).to_be_focused()


def test_the_page_of_the_model_leads_there_and_back(visit, mail_service):
    page = visit(mail_service)
    page.get_by_role("link", name="HTTP API").click()
    expect(page).to_have_url(f"{mail_service.address}/docs")
    page.get_by_role("link", name="The page of this model").click()
    expect(page.get_by_label("Your text")).to_be_visible()


@pytest.fixture(scope="module")
def guarded(trained, tmp_path_factory):
    path = shutil.copy(trained, tmp_path_factory.mktemp("docs") / "mail.textodds")
    with running(path, env={"TEXTODDS_READ_TOKEN": READ, "TEXTODDS_WRITE_TOKEN": WRITE}) as found:
        yield found


def test_a_token_is_asked_for_kept_and_shared_with_the_page(visit, guarded):
    visit.allow("status of 401", "status of 403")
    page = docs(visit, guarded)
    expect(page.locator("#tokens")).to_contain_text("Requests need a token")
    part, form = opened(page, "POST", "/v1/classify")
    expect(part).to_contain_text("Needs a token of the scope read.")
    form.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Not now").click()
    expect(form.locator(".answered p").first).to_contain_text("401")
    form.get_by_role("button", name="Send").click()
    give(page, READ)
    expect(form.locator(".answered p").first).to_contain_text("200")
    part, form = opened(page, "POST", "/v1/learn")
    expect(form).to_contain_text("This changes what the model has learned.")
    form.get_by_role("button", name="Send").click()
    expect(page.get_by_role("dialog")).to_contain_text("this token may read only")
    give(page, WRITE)
    expect(form.locator(".answered p").first).to_contain_text("200")
    page.get_by_role("link", name="The page of this model").click()
    expect(page.locator("#version")).to_contain_text("Version")  # without another question
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.fixture(scope="module")
def full(browser, mail_service):
    """The page with endpoints of every kind unfolded and asked; it stays open for several tests."""
    visits = Visits(browser)
    page = docs(visits, mail_service)
    for method, path in (
        ("POST", "/v1/classify"),
        ("GET", "/v1/words"),
        ("POST", "/v1/evaluate"),
        ("POST", "/v1/learn"),
    ):
        part, _ = opened(page, method, path)
        for closed in part.locator(".body details > summary").all():
            closed.click()
    sent(page.get_by_role("form", name="Try POST /v1/classify", exact=True))
    yield page
    visits.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_the_light_and_in_the_dark(full, scheme):
    full.emulate_media(color_scheme=scheme)
    found = full.evaluate(CONTRASTS)
    assert len(found) > 100
    assert [each for each in found if each[0] < 4.5] == []


@pytest.mark.parametrize("width", [360, 700, 1200])
def test_it_is_never_wider_than_the_screen(full, width):
    full.set_viewport_size({"width": width, "height": 740})
    assert full.evaluate(WIDE) <= 0


def test_letters_of_twice_the_size_fit(full):
    full.set_viewport_size({"width": 640, "height": 400})
    full.locator("html").evaluate("(node) => { node.style.fontSize = '200%'; }")
    assert full.evaluate(WIDE) <= 0
    full.locator("html").evaluate("(node) => { node.style.fontSize = ''; }")


def test_every_control_has_a_name_and_headings_have_an_order(full):
    assert full.evaluate(UNNAMED) == []
    for role in ("banner", "main", "contentinfo"):
        expect(full.get_by_role(role)).to_have_count(1)
    levels = full.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')].filter((node) => node.checkVisibility())"
        ".map((node) => Number(node.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = full.evaluate("() => [...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(set(ids)) == len(ids)


def test_everything_is_reached_by_tab(visit, mail_service):
    """An endpoint is unfolded, filled in and sent without a pointer."""
    page = docs(visit, mail_service)
    page.set_viewport_size({"width": 1200, "height": 900})
    expected = page.evaluate(
        """(controls) => [...document.querySelectorAll(controls)]
             .filter((node) => node.checkVisibility() && !node.disabled && node.tabIndex >= 0)
             .map((node, i) => (node.dataset.stop = String(i)))""",
        CONTROLS,
    )
    reached = []
    for _ in expected:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.dataset.stop ?? null"))
    assert reached == expected
    page.locator("#get-healthz > summary").focus()
    page.keyboard.press("Enter")
    form = page.get_by_role("form", name="Try GET /healthz")
    expect(form).to_be_visible()
    form.get_by_role("button", name="Send").press("Enter")
    expect(form.locator(".answered p").first).to_contain_text("200")
    expect(form.get_by_role("button", name="Send")).to_be_focused()
