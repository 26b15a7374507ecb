"""The page at first sight: classes, examples, colours, layout, sharing, a slow network."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import answer, as_shown, mail, train, write

pytestmark = pytest.mark.long

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LONG = [
    "comp.sys.ibm.pc.hardware_and_software",
    "talk/politics-mideast.discussion",
    "rec_sport_baseball.league",
]

UNCUT = (
    "(bar) => [...bar.querySelectorAll('.name, .number')].every((n) => n.scrollWidth <= n.clientWidth + 1)"
)
LINES = """(name) => [...name.childNodes].filter((part) => part.nodeType === 3).map((part) => {
  const range = document.createRange();
  range.selectNodeContents(part);
  return range.getClientRects().length;
})"""  # on how many lines each part of a name is


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A model of classes with long names."""
    names = dict(zip(("spam", "ham", "work"), LONG, strict=True))
    rows = [(names[label], text) for label, text in mail(240)]
    return train(tmp_path_factory.mktemp("many") / "many.textodds", rows)


def test_classes_are_named_and_one_of_the_examples_is_answered(visit, mail_service, mail_file, client_of):
    examples = client_of(mail_service).get("/v1/examples").json()["examples"]
    page = visit(mail_service, "")
    for name in ("ham", "spam", "work"):
        expect(page.locator("#first")).to_contain_text(name)
    buttons = page.get_by_role("group", name="Examples").get_by_role("button")
    expect(buttons).to_have_count(len(examples))
    assert 3 <= len(examples) <= 5
    model = textodds.load(mail_file)
    expect(page.get_by_label("Your text")).to_have_value(examples[0]["text"])
    expect(answer(page).locator(".verdict")).to_contain_text(model(examples[0]["text"]).label)
    expect(page.get_by_role("table")).to_be_visible()  # and explained
    page.keyboard.type("noon")  # takes the place of the example
    expect(page.get_by_label("Your text")).to_have_value("noon")
    buttons.nth(2).click()
    expect(page.get_by_label("Your text")).to_have_value(examples[2]["text"])
    expect(answer(page).locator(".verdict")).to_contain_text(model(examples[2]["text"]).label)


def test_the_page_has_the_title_and_the_link_that_were_given(visit, serve, mail_file):
    service = serve(
        "--read-only", "--page-title", "Our mail", "--data-link", "https://example.org/d", path=mail_file
    )
    page = visit(service)
    expect(page).to_have_title("Our mail · textodds")
    expect(page.get_by_role("heading", level=1)).to_have_text("Our mail")
    link = page.get_by_role("link", name="The texts it learned from")
    assert link.get_attribute("href") == "https://example.org/d"


def test_on_a_slow_network_there_is_a_skeleton_and_the_title_at_once(visit, serve, mail_file):
    service = serve("--read-only", "--page-title", "Our mail", path=mail_file)
    page = visit(service)
    held = []
    page.route("**/page/*.js", lambda route: held.append(route))
    page.reload(wait_until="commit")
    expect(page.locator("#skeleton")).to_be_visible()
    expect(page.locator("#skeleton .card")).to_have_count(2)
    expect(page.get_by_role("heading", level=1)).to_have_text("Our mail")
    assert held
    page.unroute("**/page/*.js")  # the network is back: what was held goes on
    expect(page.locator("#skeleton")).to_have_count(0)
    expect(page.get_by_label("Your text")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_of_two_classes_a_word_has_one_colour_in_every_text(visit, serve, scheme):
    page = visit(serve("--read-only"), color_scheme=scheme)
    seen = {}
    for text, label in (("win a free phone home", "spam"), ("home at noon free", "ham")):
        write(page, text)
        expect(page.locator("#h-why")).to_contain_text(label)
        for word in ("free", "home"):
            mark = page.locator(".reading .word", has_text=word)
            style = mark.evaluate(
                "node => [getComputedStyle(node).borderBottomColor, getComputedStyle(node).borderBottomStyle]"
            )
            seen.setdefault(word, set()).add(tuple(style))
        expect(page.locator(".saying")).to_contain_text("for ham")
        expect(page.locator(".saying")).to_contain_text("for spam")
    assert len(seen["free"]) == len(seen["home"]) == 1
    assert seen["free"] != seen["home"]


def test_the_verdict_follows_costs_prior_and_abstention(visit, serve, client_of):
    service = serve("--read-only")
    page = visit(service)
    write(page, "call now")
    verdict = answer(page).locator(".verdict")
    expect(verdict).to_contain_text("spam")
    page.locator("#costs-panel > summary").click()
    slider = page.get_by_role("slider", name="Not to answer")
    for _ in range(12):
        slider.press("ArrowLeft")
    expect(verdict).to_have_text("No answer")
    expect(answer(page)).to_contain_text("Most probable is spam, but by your costs no answer is cheaper.")
    page.get_by_role("button", name="Reset").click()
    expect(verdict).to_contain_text("spam")
    cost = page.get_by_role("slider", name="To answer spam when it is ham")
    for _ in range(4):
        cost.press("ArrowRight")
    costs = [{"truth": "ham", "answer": "spam", "cost": 20}]
    found = client_of(service).post("/v1/classify", {"text": "call now", "costs": costs}).json()
    assert found["action"] == "ham"
    expect(verdict).to_contain_text("ham")
    expect(verdict).to_contain_text(as_shown(found["probabilities"]["ham"]))
    page.locator("#costs-panel > summary").click()  # folded away it still counts
    write(page, "call now please")
    expect(verdict).to_contain_text("ham")


def test_of_many_classes_the_rival_is_the_runner_up_and_costs_begin_with_the_likeliest(
    visit, mail_service, client_of
):
    page = visit(mail_service)
    text = "win the budget prize at home"
    write(page, text)
    found = client_of(mail_service).post("/v1/classify", {"text": text}).json()["probabilities"]
    first, second, _ = sorted(found, key=lambda label: -found[label])
    expect(page.get_by_label("Why not")).to_have_value(second)
    page.locator("#costs-panel > summary").click()
    expect(page.get_by_label("To answer", exact=True)).to_have_value(first)
    expect(page.get_by_label("when it is", exact=True)).to_have_value(second)


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_long_labels_break_at_their_joints_and_numbers_are_never_cut_off(visit, serve, many, options):
    page = visit(serve("--read-only", path=many), **options)
    write(page, "win free cash, see the report")
    bars = answer(page).locator(".bars li")
    expect(bars).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for bar in bars.all():
        assert bar.evaluate(UNCUT)
        assert bar.locator("wbr").count() >= 2
        assert set(bar.locator(".name").evaluate(LINES)) == {1}  # no part is broken within


def test_the_text_card_is_as_high_as_its_content(visit, mail_service):
    page = visit(mail_service)
    write(page, "win")
    before = page.locator(".writing").bounding_box()["height"]
    page.get_by_role("button", name="That is wrong").click()
    page.locator("#right-label").get_by_text("A new class").click()
    assert page.locator(".writing").bounding_box()["height"] == before


def test_a_link_curl_and_python_ask_the_same(visit, serve, client_of, tmp_path):
    service = serve("--read-only")
    context = {"permissions": ["clipboard-read", "clipboard-write"]}
    page = visit(service, **context)
    text = "it's “free” & 100% + ünïcode\nsecond line \\n"
    write(page, text)
    page.locator("#share-panel > summary").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    path, fragment = link.split("#")
    assert path == f"{service.address}/"
    assert "text=" in fragment
    other = visit(service, fragment)
    expect(other.get_by_label("Your text")).to_have_value(text)
    asked = client_of(service).post("/v1/classify", {"text": text}).json()
    expect(answer(other).locator(".verdict")).to_contain_text(asked["label"])
    page.get_by_role("button", name="Copy as Python").click()
    code = page.locator("pre[aria-label=Python]").inner_text()
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert asked["label"] in said
    if curl := shutil.which("curl"):
        line = page.locator("pre[aria-label=curl]").inner_text()
        assert line.startswith("curl ")
        said = subprocess.run(
            ["sh", "-c", line.replace("curl", f"{curl} -s", 1)], capture_output=True, check=True
        ).stdout
        assert json.loads(said) == asked


def test_a_correction_that_changes_little_says_what_would_and_can_count_so_often(
    visit, serve, tmp_path, client_of
):
    service = serve(path=train(tmp_path / "mail.textodds", mail(600)))
    client = client_of(service)
    page = visit(service)
    text = "win free prize cash claim urgent"
    write(page, text)
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_role("group", name="The right label").get_by_role("button", name="ham").click()
    outcome = page.locator("#outcome")
    expect(outcome).to_contain_text(re.compile(r"About \d+ more such texts? would change its mind"))
    more = int(re.search(r"About (\d+)", outcome.inner_text()).group(1))
    outcome.get_by_role("button", name=f"Count it {more + 1} times").click()
    expect(outcome).to_contain_text(f"counted {more + 1} times")
    expect(answer(page).locator(".verdict")).to_contain_text("ham")
    assert client.get("/v1/model").json()["corrections"] == more + 1
    expect(page.locator("#correction-list li")).to_have_count(1)
    expect(page.locator("#correction-list")).to_contain_text(f"× {more + 1}")
    page.reload()
    page.locator("#correction-list").get_by_role("button", name=re.compile("Undo")).click()
    expect(page.locator("#correction-list")).to_contain_text("forgotten")
    assert client.get("/v1/model").json()["corrections"] == 0
