"""The page under axe-core, the checker of accessibility: every view, light, dark and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from serve.browsing import choose, mail, write

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
        expect(page.get_by_role("table")).to_be_visible()
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
