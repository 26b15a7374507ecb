"""The page: where tokens are needed it asks for them."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from serve.browsing import answer, write
from serve.wire import running

pytestmark = pytest.mark.long

READ, WRITE = "reading-is-for-everybody-here", "writing-is-for-the-few-of-us"


@pytest.fixture(scope="module")
def running_service(trained, tmp_path_factory):
    path = shutil.copy(trained, tmp_path_factory.mktemp("tokens") / "mail.textodds")
    with running(path, env={"TEXTODDS_READ_TOKEN": READ, "TEXTODDS_WRITE_TOKEN": WRITE}) as found:
        yield found


@pytest.fixture
def service(running_service, visit):
    """A service that wants tokens, whose refusals are no trouble."""
    visit.allow("status of 401", "status of 403")
    return running_service


def give(page, token):
    """Give a token in the dialog."""
    dialog = page.get_by_role("dialog", name="A token is needed")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")


def test_the_page_asks_for_a_token_and_goes_on(visit, service):
    page = visit(service)
    dialog = page.get_by_role("dialog", name="A token is needed")
    expect(dialog).to_contain_text("the request has no token")
    expect(dialog.get_by_label("Token")).to_be_focused()
    expect(dialog.get_by_label("Token")).to_have_attribute("type", "password")
    give(page, READ)
    expect(dialog).to_be_hidden()
    write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")
    page.reload()  # it is kept as long as the tab
    write(page, "see you at home")
    expect(answer(page).locator(".verdict")).to_contain_text("ham")
    expect(dialog).to_be_hidden()
    assert READ not in page.url


def test_a_wrong_token_is_refused_kindly(visit, service):
    page = visit(service)
    dialog = page.get_by_role("dialog", name="A token is needed")
    give(page, "something-else-altogether")
    expect(dialog).to_contain_text("token is not valid")
    expect(dialog.get_by_label("Token")).to_have_value("")
    give(page, WRITE)
    expect(dialog).to_be_hidden()
    write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")


@pytest.mark.parametrize("token", ["pässwörd✓of-many-signs", "two words of many signs"])
def test_a_token_that_no_header_can_carry_is_refused_kindly(visit, service, token):
    page = visit(service)
    give(page, token)
    dialog = page.get_by_role("dialog", name="A token is needed")
    expect(dialog).to_be_visible()
    expect(dialog.locator("input:invalid")).to_have_attribute("title", re.compile("without spaces"))
    give(page, READ)
    write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")


def test_who_gives_no_token_is_told_and_may_give_it_later(visit, service):
    page = visit(service)
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("status").filter(has_text="the request has no token")).to_be_visible()
    page.get_by_role("button", name="Give a token").click()
    give(page, READ)
    write(page, "win a free phone")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")


def test_a_token_for_reading_cannot_correct_and_that_is_told(visit, service, client_of):
    page = visit(service)
    give(page, READ)
    write(page, "win a free phone")
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_role("group", name="The right label").get_by_role("button", name="ham").click()
    dialog = page.get_by_role("dialog", name="A token is needed")
    expect(dialog).to_contain_text("this token may read only")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#outcome").get_by_role("alert")).to_contain_text("this token may read only")
    client = client_of(service, WRITE)
    assert client.get("/v1/corrections").json()["total"] == 0
    write(page, "see you at home")  # reading goes on
    expect(answer(page).locator(".verdict")).to_contain_text("ham")


def test_with_a_token_for_writing_the_correction_goes_on(visit, service, client_of):
    page = visit(service)
    give(page, READ)
    write(page, "win a free phone")
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_role("group", name="The right label").get_by_role("button", name="ham").click()
    expect(page.get_by_role("dialog")).to_contain_text("this token may read only")
    give(page, WRITE)
    expect(page.locator("#outcome")).to_contain_text("Learned: ham")
    assert client_of(service, WRITE).get("/v1/corrections").json()["total"] == 1
