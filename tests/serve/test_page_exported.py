"""The page of an exported model, opened as a file: the service's page without a service."""

import re

import pytest
from playwright.sync_api import expect

import textodds
from label_texts import label_texts
from serve.browsing import VIOLATION, mail
from textodds.interop.portable.to_page import to_page

pytestmark = pytest.mark.long

TEXT = "Win a free prize at home! Don't call me tomorrow, zyxx £100"


@pytest.fixture(scope="module")
def open_page(browser, tmp_path_factory):
    """Opens the page of a model; troubles are what no page should do."""
    troubles = []
    contexts = []

    def opened(model, **options):
        path = tmp_path_factory.mktemp("page") / "mail.html"
        to_page(model, path)
        context = browser.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        context.add_init_script(VIOLATION)
        context.on("console", lambda said: said.type == "error" and troubles.append(said.text))
        context.on("weberror", lambda error: troubles.append(str(error.error)))
        context.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        context.on(
            "request", lambda asked: asked.url.startswith(("file:", "data:")) or troubles.append(asked.url)
        )
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="module")
def model():
    """A model of three classes of mail."""
    rows = mail(240)
    return textodds.train([text for _, text in rows], [label for label, _ in rows], learner="multinomial")


def runner_up(model):
    """The class that the page sets against the answer, of three."""
    return model.classes_[model.predict_proba([TEXT])[0].argsort()[-2]]


def number(text):
    """A number as the page writes it."""
    return float(re.search(r"[+−-]?[\d.]+", text)[0].replace("−", "-"))


def test_the_page_answers_as_the_model_does_and_its_sum_adds_up(open_page, model):
    page = open_page(model)
    page.fill("#text", TEXT)
    said, why = model(TEXT), model.explain(TEXT, rival=runner_up(model))
    expect(page.locator("#answer .verdict .label")).to_have_text(said.label)
    expect(page.locator("#answer .verdict .number")).to_have_text(f"{100 * said.probability:.1f}\u202f%")
    rows = page.locator("#why .sums tbody tr")
    expect(rows).to_have_count(1 + len(why.words))  # and the class prior
    shown = {
        row.locator("th").inner_text(): number(row.locator("td.number").inner_text()) for row in rows.all()
    }
    for word, _, odds in why.words:
        assert shown[word] == pytest.approx(odds, abs=0.006)
    total = number(page.locator("#why .sums tfoot td.number").inner_text())
    assert total == pytest.approx(why.log_odds, abs=0.006)
    assert sum(shown.values()) == pytest.approx(total, abs=0.08)
    marked = [mark.inner_text() for mark in page.locator("#why .reading .word").all()]
    assert marked == [TEXT[place.start : place.end] for place in why.stretches]


def test_the_page_says_why_not_another_class_and_weighs_costs(open_page, model):
    page = open_page(model)
    page.fill("#text", TEXT)
    page.select_option("#rival", "ham")
    why = model.explain(TEXT, "spam", "ham")
    expect(page.locator("#why .sums tfoot td.number")).to_have_text(f"+{why.log_odds:.2f}")
    page.locator("#costs-panel > summary").click()
    expect(page.locator("#decision")).to_contain_text("Decided: spam")
    page.select_option("#cost-answer", "spam")
    page.select_option("#cost-truth", "ham")
    page.get_by_role("button", name="Set its cost").click()
    page.locator("#cost-0").fill("13")
    expect(page.locator("#decision")).to_contain_text("Decided: ham")
    page.get_by_role("button", name="Try it without").click()
    expect(page.locator("#answer .verdict .label")).not_to_have_text("spam")


def test_pairs_and_letters_are_explained_word_by_word(open_page):
    rows = mail(240)
    model = textodds.train(
        [text for _, text in rows],
        [label for label, _ in rows],
        learner="softmax:C=1:ngrams=1-2:characters=2-3",
    )
    page = open_page(model)
    page.fill("#text", TEXT)
    why = model.explain(TEXT, rival=runner_up(model))
    expect(page.locator("#why .sums tfoot td.number")).to_have_text(f"+{why.log_odds:.2f}")
    strongest = page.locator("#why .sums tbody tr:not(.base)").first
    expect(strongest.locator("th")).to_have_text(re.compile(f"^{re.escape(why.words[0][0])}"))
    assert number(strongest.locator("td.number").inner_text()) == pytest.approx(why.words[0][2], abs=0.006)


def test_several_labels_are_chips(open_page):
    model = textodds.train(*label_texts(300), learner="multinomial")
    text = "terrible invoice, the worst charge again"
    page = open_page(model)
    page.fill("#text", text)
    given = page.locator(".chip.given .name")
    expect(given.first).to_be_visible()
    assert sorted(given.all_inner_texts()) == sorted(model.predict([text])[0])


def test_names_that_are_markup_are_shown_and_not_obeyed(open_page):
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>"]
    texts = ["<b>bold</b> one", "</style> two"] * 20
    model = textodds.train(texts, names * 20, learner="multinomial", unit="whitespace")
    page = open_page(model)
    for text, name in zip(texts[:2], names, strict=True):
        page.fill("#text", text)
        expect(page.locator("#answer .verdict .label")).to_have_text(name)


def test_a_phone_shows_all_of_it_without_scrolling_sideways(open_page, model):
    page = open_page(model, viewport={"width": 390, "height": 844})
    page.fill("#text", TEXT + " verylongword" * 3 + "x" * 200)
    expect(page.locator("#why .sums")).to_be_visible()
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
