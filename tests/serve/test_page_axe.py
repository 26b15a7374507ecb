"""The page under axe-core, the checker of accessibility: every view, light, dark and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from serve.browsing import choose, mail, train, write

pytestmark = pytest.mark.long

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
KINDS = {"light": {}, "dark, phone": {**PHONE, "color_scheme": "dark"}}
LABELLED = "label,text,source\n" + "".join(f"{label},{text},web\n" for label, text in mail(60, seed=4))


def violations(page):
    """What axe-core holds against the page as it stands, in short."""
    found = Axe().run(page).response
    assert len(found["passes"]) > 10  # it has looked
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]]


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(visit, serve, mail_service, kind):
    for service in (mail_service, serve("--read-only")):  # of three classes, and of two, which have colours
        page = visit(service, "", **KINDS[kind])
        expect(page.get_by_role("group", name="Examples").get_by_role("button").first).to_be_visible()
        write(page, "win a free phone, call me at home")
        expect(page.locator("#why:not(.stale) .reading")).to_contain_text("free phone")  # and not the example
        for panel in ("costs", "share"):
            page.locator(f"#{panel}-panel > summary").click()
        assert violations(page) == []
        page.get_by_role("link", name="Model").click()
        expect(page.get_by_role("region", name="Words that tell most").get_by_role("table")).to_be_visible()
        assert violations(page) == []
    page = visit(mail_service, "files", **KINDS[kind])
    choose(page, "files", "a.csv", LABELLED)
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_role("link", name="The whole report")).to_be_visible(timeout=60_000)
    page.get_by_role("region", name="Truth and answer").get_by_role("button").nth(1).click()
    expect(page.locator(".mistakes li").first).to_be_visible()
    page.get_by_label("Accuracy by").select_option("source")
    assert violations(page) == []
    page.goto(f"{mail_service.address}/docs")
    expect(page.locator("#endpoints details").first).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation_while_labelling(visit, serve, tmp_path, kind):
    """From the empty page to words in the colours of two classes and a check, with everything open."""
    rows = [(label, text) for label, text in mail(120, seed=4) if label != "work"]
    page = visit(serve("--new", "--classes", "ham,spam", path=tmp_path / "new.textodds"), "", **KINDS[kind])
    expect(page.get_by_text("This model has learned nothing yet")).to_be_visible()
    assert violations(page) == []
    choose(page, "label", "a.csv", "text\n" + "".join(f"{text}\n" for _, text in rows))
    keys, truth = {"ham": "1", "spam": "2"}, {text: label for label, text in rows}
    for _ in range(14):
        expect(page.locator("#asked")).to_be_visible()
        text = page.locator("#asked").text_content()
        page.keyboard.press(keys[truth[text]])
        expect(page.locator("#asked")).not_to_have_text(text, use_inner_text=False)
    expect(page.locator("#asked .word.one, #asked .word.two").first).to_be_visible()
    expect(page.locator(".telling")).to_contain_text("for ham")
    expect(page.get_by_role("img", name="Learning curve")).to_be_visible()
    page.get_by_text("History", exact=True).click()
    page.get_by_text("Search the texts").click()
    page.get_by_label("Search", exact=True).fill("win")
    expect(page.locator(".found li").first).to_be_visible()
    page.locator(".files summary").click()
    page.locator("#labelling").get_by_text("A new class…").click()
    assert violations(page) == []
    page.get_by_role("button", name="Check the precision of spam").click()
    expect(page.get_by_text("Are these texts spam")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation_while_labelling_for_many_classes(visit, serve, tmp_path, kind):
    """Words for and against, texts that are nearly the same, and labels that contradict each other."""
    names = [f"group.number-{n}" for n in range(12)]
    texts = [f"{name.replace('.', ' ')} word{n} of the text" for n, name in enumerate(names)] * 2
    path = train(tmp_path / "many.textodds", list(zip(names * 2, texts, strict=True)))
    service = serve(path=path)
    long = "please send the minutes of the meeting with word3 and the budget to the office today"
    for who, key in (("Ann", "1"), ("Bob", "2")):
        page = visit(service, "label", **KINDS[kind])
        page.get_by_label("Your name").fill(who)
        page.get_by_label("Your name").press("Enter")
        if who == "Ann":
            choose(page, "label", "a.csv", f"text\n{long}\n{long} ok\n{long}!\nword4 and no more\n")
            expect(page.locator("#asked")).to_be_visible()
            page.get_by_text("Search the texts").click()
            page.get_by_label("Search", exact=True).fill("budget ok")
            page.get_by_role("button", name="Label this text").first.click()
            expect(page.get_by_label("Label 2 texts that are nearly the same, too")).to_be_checked()
            expect(page.locator("#asked .word.for").first).to_be_visible()
            assert violations(page) == []
        else:
            page.get_by_label("Next text").select_option("second")
            expect(page.get_by_text("Somebody has labelled this text")).to_be_visible()
        page.locator("#labelling").focus()
        page.keyboard.press(key)
        expect(page.locator("#label-count")).to_contain_text("3 labels")
    page.get_by_text("Contradicting labels").click()
    expect(page.locator(".beside figcaption").first).to_be_visible()
    assert violations(page) == []
