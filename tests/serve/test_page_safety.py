"""The page: what others have written is shown, and never run."""

import pytest
from playwright.sync_api import expect

from serve.browsing import answer, choose, train, write
from serve.wire import running

pytestmark = pytest.mark.long

EVIL = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
    "{{constructor.constructor('alert(5)')()}}",
]
LABELS = ["<script>alert(6)</script>", '<img src=x onerror="alert(7)">', "__proto__", "constructor", "1"]
NAME = "<img src=x onerror=alert(8)>.csv"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service whose classes have bad names."""
    words = ["free cash prize", "home noon lunch", "report budget", "film sleep", "goal match"]
    rows = [(label, text) for label, text in zip(LABELS, words, strict=True) for _ in range(3)]
    rows += [(LABELS[0], text) for text in EVIL]
    with running(train(tmp_path_factory.mktemp("evil") / "<b>evil<b>.textodds", rows)) as found:
        yield found


def is_clean(page):
    """Nothing was made of what was sent."""
    made = page.locator(
        "main script, img[src=x], main b b, h1 b, [onerror], [onload], iframe, a[href^=javascript]"
    )
    expect(made).to_have_count(0)
    assert page.evaluate("() => document.querySelectorAll('script').length") == 1
    assert page.evaluate("() => ({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


@pytest.mark.parametrize("text", EVIL)
def test_a_text_is_shown_and_not_run(visit, service, client_of, text):
    page = visit(service)
    write(page, text)
    expect(page.locator(".reading")).to_have_text(text, use_inner_text=False)
    label = client_of(service).post("/v1/classify", {"text": text}).json()["label"]
    expect(answer(page).locator(".verdict")).to_contain_text(label)
    is_clean(page)


def test_a_text_in_the_address_is_shown_and_not_run(visit, service):
    page = visit(service, "try?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(page.get_by_label("Your text")).to_have_value("<img src=x onerror=alert(1)>")
    expect(page.locator(".reading")).to_be_visible()
    is_clean(page)


@pytest.mark.parametrize(
    "view", ["nowhere", "model?class=%3Cscript%3Ealert(1)%3C/script%3E&rival=__proto__", "try?text", "%"]
)
def test_an_odd_address_does_no_harm(visit, service, view):
    page = visit(service, view)
    expect(page.get_by_role("main").get_by_role("heading", level=2).first).to_be_attached()
    is_clean(page)


def test_names_of_classes_are_shown_and_not_run(visit, service, client_of):
    page = visit(service)
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>evil<b>.textodds")
    for label, text in zip(
        LABELS, ["free cash", "home noon", "report budget", "film sleep", "goal match"], strict=True
    ):
        write(page, text)
        expect(answer(page).locator(".verdict .label")).to_have_text(label)
    bars = answer(page).get_by_role("list", name="Probability of each class").get_by_role("listitem")
    expect(bars).to_have_count(5)
    for row in bars.all():
        assert "NaN" not in row.inner_text()
    page.get_by_label("Why not").select_option("__proto__")
    expect(page.get_by_role("table", name="1 against __proto__")).to_be_visible()
    page.locator("#costs-panel > summary").click()
    expect(page.locator("#decision")).to_contain_text("Decided: 1")
    is_clean(page)
    page.get_by_role("link", name="Model").click()
    page.get_by_label("For", exact=True).select_option(LABELS[0])
    expect(page.locator("#telling caption")).to_contain_text(LABELS[0])
    page.get_by_label("against", exact=True).select_option("constructor")
    expect(page.locator("#telling caption")).to_contain_text("constructor (left)")
    is_clean(page)


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", "toString", "__proto__", "hasOwnProperty"])
def test_a_new_class_may_have_any_name(visit, serve, client_of, label):
    service = serve()
    page = visit(service)
    write(page, "goal in the last minute")
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_text("A new class…").first.click()
    page.get_by_label("Its name").fill(label)
    page.get_by_role("button", name="Add it and learn").click()
    outcome = page.locator("#outcome")
    expect(outcome).to_contain_text(f"Learned: {label}.")
    expect(outcome.get_by_role("listitem").filter(has_text=label)).to_contain_text("new →")
    expect(page.get_by_role("banner")).to_contain_text("3 classes")
    expect(page.get_by_role("region", name="Recent corrections")).to_contain_text(label)
    names = [each["label"] for each in client_of(service).get("/v1/model").json()["classes"]]
    assert label in names
    assert "NaN" not in page.locator("main").inner_text()
    is_clean(page)


def test_a_file_its_name_and_its_cells_are_shown_and_not_run(visit, service):
    page = visit(service, "files")
    rows = "".join('"{}","{}"\n'.format(text.replace('"', '""'), EVIL[0]) for text in EVIL)
    choose(page, "files", NAME, '"text","<script>alert(9)</script>"\n' + rows)
    expect(page.get_by_text(NAME)).to_be_visible()
    is_clean(page)
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_role("region", name=f"Answers to {NAME}")).to_be_visible()
    table = page.get_by_role("region", name="First rows").get_by_role("table").first
    for text in EVIL:
        expect(table.get_by_role("cell", name=text, exact=True)).to_be_visible()
    is_clean(page)


def test_labels_of_a_file_are_shown_and_not_run(visit, service):
    page = visit(service, "files")
    choose(
        page, "files", "a.csv", f"text,label\ncash,{LABELS[0]}\nhome,<img src=x onerror=alert(1)>\nfilm,1\n"
    )
    page.get_by_role("button", name="Classify all rows").click()
    section = page.get_by_role("region", name="Evaluation")
    expect(section).to_contain_text("<img src=x onerror=alert(1)>", timeout=60_000)
    is_clean(page)
    with page.expect_popup() as opened:
        section.get_by_role("link", name="The whole report").click()
    expect(opened.value.get_by_text("accuracy").first).to_be_visible()
    is_clean_report = opened.value.locator("img[src=x], [onerror]")
    expect(is_clean_report).to_have_count(0)


def test_labelling_shows_and_does_not_run(visit, service, client_of):
    page = visit(service, "label")
    choose(page, "label", NAME.replace(".csv", ".txt"), "\n".join(EVIL))
    expect(page.locator("#asked")).to_be_visible()
    seen = set()
    for _ in EVIL:
        seen.add(page.locator("#asked").evaluate("node => node.textContent"))
        is_clean(page)
        n = len(seen)
        page.keyboard.press("Enter")
        expect(page.locator("#label-count")).to_contain_text(f"{n} label")
    assert seen == set(EVIL)


def test_control_and_direction_characters_do_not_disturb_the_page(visit, service):
    page = visit(service)
    text = "free \x07\x1b[31m cash \u202e prize \u0000 home"
    write(page, text)
    expect(answer(page).locator(".verdict")).to_be_visible()
    expect(page.locator(".reading")).to_contain_text("cash")
    assert not any(char in page.locator(".reading").inner_text() for char in "\x00\x07\x1b")


def test_the_policy_of_the_page_forbids_what_it_does_not_need(visit, service, client_of):
    client = client_of(service)
    policy = client.get("/").headers["content-security-policy"]
    rules = {name: rest for name, _, rest in (part.strip().partition(" ") for part in policy.split(";"))}
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    visit.allow("CSP script-src", "Content Security Policy")
    page = visit(service)
    expect(answer(page)).to_be_visible()
    page.evaluate(
        """() => { const node = document.createElement("script"); node.textContent = "window.ran = true";
                   document.body.append(node); }"""
    )
    assert page.evaluate("() => window.ran === undefined")


def test_nothing_is_kept_in_the_browser(visit, service):
    page = visit(service)
    write(page, "free cash")
    expect(answer(page).locator(".verdict")).to_be_visible()
    kept = page.evaluate("() => [localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
