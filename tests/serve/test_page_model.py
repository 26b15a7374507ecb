"""The page: what the model is, and what is known of how good it is."""

import re

import pytest
from playwright.sync_api import expect

from serve.browsing import as_shown, signed

pytestmark = pytest.mark.long


@pytest.fixture
def get(mail_service, client_of):
    client = client_of(mail_service)
    return lambda path: client.get(path).json()


def test_classes_are_shown_with_their_sizes(visit, mail_service, get):
    page = visit(mail_service, "model")
    card = get("/v1/model")
    rows = page.get_by_role("region", name="Its classes").get_by_role("listitem")
    expect(rows).to_have_count(3)
    for each in card["classes"]:
        row = rows.filter(has_text=each["label"])
        expect(row).to_contain_text(f"{each['documents']:,.0f}")
        expect(row).to_contain_text(as_shown(each["documents"] / card["documents"]))


def test_facts_are_shown(visit, mail_service, get):
    page = visit(mail_service, "model")
    card = get("/v1/model")
    section = page.get_by_role("region", name="What it is")
    for name, value in [*card["facts"], ("version", card["version"])]:
        row = section.locator("dl > div").filter(has=page.get_by_text(name, exact=True)).first
        if name != "documents":
            expect(row).to_contain_text(value)
    section.get_by_text("Its recipe").click()
    expect(section.locator("pre")).to_contain_text('"learner": "multinomial"')


def test_quality_has_its_interval_and_a_plot_that_is_a_table_too(visit, mail_service, get):
    page = visit(mail_service, "model")
    quality = get("/v1/model")["quality"]
    section = page.get_by_role("region", name="How good it is")
    for p in (quality["accuracy"], *quality["accuracy_interval"]):
        expect(section).to_contain_text(as_shown(p))
    plot = section.get_by_role("img", name=re.compile("calibration error"))
    expect(plot).to_be_visible()
    assert as_shown(quality["calibration_error"]).search(plot.get_attribute("aria-label"))
    expect(plot.locator("circle")).to_have_count(len(quality["reliability"]))
    assert len(quality["reliability"]) > 2
    section.get_by_text("As a table").click()
    rows = section.get_by_role("table").get_by_role("row").all()[1:]
    for row, found in zip(rows, quality["reliability"], strict=True):
        answers, said, right = (cell.inner_text() for cell in row.get_by_role("cell").all())
        assert answers == f"{found['rows']:,}"
        assert as_shown(found["probability"]).fullmatch(said) or found["probability"] in (0, 1)
        assert as_shown(found["accuracy"]).fullmatch(right) or found["accuracy"] in (0, 1)


def telling(page):
    """Words and numbers that are shown."""
    table = page.locator("#telling").get_by_role("table")
    expect(table).to_be_visible()
    return {
        row.get_by_role("rowheader").inner_text(): [
            signed(x)
            for x in re.findall("[+\u2212]?\\d+\\.\\d\\d", row.get_by_role("cell").last.text_content())
        ]
        for row in table.get_by_role("row").all()
    }


def expected(words):
    numbers = lambda each: [each[name] for name in ("log_odds", "low", "high") if name in each]  # noqa: E731
    return {each["word"]: pytest.approx(numbers(each), abs=0.0051) for each in words}


def test_words_of_a_pair_have_the_numbers_of_the_service(visit, mail_service, get):
    page = visit(mail_service, "model")
    page.get_by_label("For", exact=True).select_option("work")
    expect(page.locator("#telling caption")).to_have_text("Log-odds for work")
    found = get("/v1/words?label=work&limit=24")["words"]
    assert telling(page) == expected(found)
    page.get_by_label("against", exact=True).select_option("ham")
    expect(page.locator("#telling caption")).to_contain_text("work (right) or ham (left)")
    found = get("/v1/words?label=work&rival=ham&limit=24")["words"]
    assert "low" in found[0]
    shown = telling(page)
    assert shown == expected(found)
    values = [numbers[0] for numbers in shown.values()]
    assert values == sorted(values, reverse=True)


def test_a_link_names_a_pair_and_a_choice_makes_one(visit, mail_service):
    page = visit(mail_service, "model?class=ham&rival=spam")
    expect(page.locator("#telling caption")).to_contain_text("ham (right) or spam (left)")
    page.get_by_label("For", exact=True).select_option("spam")  # the two change places
    expect(page.locator("#telling caption")).to_contain_text("spam (right) or ham (left)")
    expect(page).to_have_url(re.compile("#model\\?class=spam&rival=ham$"))
    page.reload()
    expect(page.locator("#telling caption")).to_contain_text("spam (right) or ham (left)")


def test_the_same_class_twice_is_told(visit, mail_service):
    page = visit(mail_service, "model?class=ham")
    page.get_by_label("against", exact=True).select_option("ham")
    expect(page.locator("#telling")).to_have_text("Choose two different classes.")


def test_a_model_whose_quality_is_unknown_says_so(visit, serve):
    page = visit(serve(), "model")
    expect(page.get_by_role("region", name="How good it is")).to_contain_text("Unknown.")


def test_the_view_follows_what_is_learned(visit, serve, client_of):
    service = serve()
    page = visit(service, "model")
    rows = page.get_by_role("region", name="Its classes").get_by_role("listitem")
    expect(rows.filter(has_text="ham")).to_contain_text("4 ·")
    client_of(service).post("/v1/learn", {"documents": [{"id": "1", "text": "noon", "label": "ham"}]})
    page.get_by_label("For", exact=True).select_option("ham")  # whatever is asked next has a newer version
    expect(rows.filter(has_text="ham")).to_contain_text("5 ·")
