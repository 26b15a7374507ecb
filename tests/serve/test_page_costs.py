"""The page: how common classes are and what mistakes cost, set by keyboard."""

import math
import re

import pytest
from playwright.sync_api import expect

from serve.browsing import as_shown, mail, train, write

pytestmark = pytest.mark.long


@pytest.fixture
def two(serve, client_of):
    """A service of two classes, and what it answers."""
    service = serve()
    client = client_of(service)
    return service, lambda **asked: client.post("/v1/classify", asked).json()


def opened(page):
    """The panel, opened by keyboard."""
    summary = page.locator("#costs-panel > summary")
    summary.focus()
    page.keyboard.press("Enter")
    return page.locator("#decision")


def press(page, name, key, times=1):
    """Move a slider by keyboard; what it says then."""
    slider = page.get_by_role("slider", name=name)
    slider.focus()
    for _ in range(times):
        page.keyboard.press(key)
    said = slider.get_attribute("aria-valuetext")
    expect(slider.locator("xpath=../output")).to_have_text(said)
    return said


def cost(said):
    """The number of "costs 20"."""
    return float(re.fullmatch(r"costs ([\d.]+)", said).group(1))


def shows(decision, found):
    """Wait until a decision is shown that the service has made."""
    if found["action"] is None:
        expect(decision).to_contain_text("No answer")
    else:
        expect(decision).to_contain_text(f"Decided: {found['action']}")
        number = re.search(r"expected cost of ([\d.,]+)\.", decision.inner_text()).group(1)
        assert float(number.replace(",", "")) == pytest.approx(found["expected_loss"], rel=0.006)
    for p in found["probabilities"].values():
        expect(decision).to_contain_text(as_shown(p))
    if "rule" in found:
        expect(decision).to_contain_text(found["rule"])


def test_the_decision_is_that_of_the_service_with_the_same_costs(visit, two):
    service, asked = two
    page = visit(service)
    write(page, "call now")
    decision = opened(page)
    expect(decision).to_contain_text("Decided: spam")
    said = press(page, "To answer spam when it is ham", "ArrowRight", 4)
    assert cost(said) == 20
    costs = [{"truth": "ham", "answer": "spam", "cost": 20}]
    found = asked(text="call now", costs=costs)
    assert found["action"] == "ham"  # though spam is more probable
    expect(decision).to_contain_text("Decided: ham")
    shows(decision, found)
    said = press(page, "To answer ham when it is spam", "End")
    costs.append({"truth": "spam", "answer": "ham", "cost": cost(said)})
    expect(decision).to_contain_text("Decided: spam")
    shows(decision, asked(text="call now", costs=costs))


def test_the_prior_moves_beliefs_and_the_decision(visit, two):
    service, asked = two
    page = visit(service)
    write(page, "call now")
    decision = opened(page)
    said = press(page, "How common spam is", "ArrowLeft", 15)
    x = float(page.get_by_role("slider", name="How common spam is").input_value())
    spam = 1 / (1 + math.exp(-x))
    assert as_shown(spam).search(said)
    assert spam < 0.2
    found = asked(
        text="call now",
        prior={"spam": spam, "ham": 1 - spam},
        costs=[{"truth": "ham", "answer": "spam", "cost": 1}],
    )
    assert found["action"] == "ham"
    expect(decision).to_contain_text("Decided: ham")
    expect(decision).to_contain_text(as_shown(found["probabilities"]["spam"]))
    shows(decision, found)


def test_it_says_clearly_when_it_does_not_answer(visit, two):
    service, asked = two
    page = visit(service)
    write(page, "call now")
    decision = opened(page)
    slider = page.get_by_role("slider", name="Not to answer")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("always answers"))
    said = press(page, "Not to answer", "ArrowLeft", 11)
    price = cost(said)
    assert price == 0.1
    found = asked(text="call now", abstain=price, costs=[{"truth": "ham", "answer": "spam", "cost": 1}])
    assert found["action"] is None
    shows(decision, found)
    expect(decision).to_contain_text("any would cost more than 0.1")
    write(page, "free free free prize")
    expect(decision).to_contain_text("Decided: spam")
    shows(
        decision,
        asked(
            text="free free free prize", abstain=price, costs=[{"truth": "ham", "answer": "spam", "cost": 1}]
        ),
    )


def test_reset_gives_back_what_was_learned(visit, two):
    service, asked = two
    page = visit(service)
    write(page, "call now")
    decision = opened(page)
    names = [
        "How common spam is",
        "To answer spam when it is ham",
        "To answer ham when it is spam",
        "Not to answer",
    ]
    before = [page.get_by_role("slider", name=name).get_attribute("aria-valuetext") for name in names]
    for name in names:
        press(page, name, "Home")
    button = page.get_by_role("button", name="Reset")
    button.focus()
    page.keyboard.press("Enter")
    for name, said in zip(names, before, strict=True):
        expect(page.get_by_role("slider", name=name)).to_have_attribute("aria-valuetext", said)
    plain = asked(text="call now", costs=[{"truth": "ham", "answer": "spam", "cost": 1}])
    expect(decision).to_contain_text(f"Decided: {plain['label']}")
    shows(decision, plain)
    expect(button).to_be_focused()  # who works by keyboard is not thrown back to the top


def test_without_a_text_nothing_is_decided(visit, two):
    service, _ = two
    page = visit(service)
    decision = opened(page)
    expect(decision).to_contain_text("Write a text")
    write(page, "win")
    expect(decision).to_contain_text("Decided: spam")
    write(page, "")
    expect(decision).to_contain_text("Write a text")


def test_of_many_classes_priors_and_costs_are_set_one_by_one(visit, mail_service, client_of):
    client = client_of(mail_service)
    page = visit(mail_service)
    text = "win the report"
    write(page, text)
    decision = opened(page)
    expect(decision).to_contain_text("Decided: ")
    said = press(page, "How common work is", "ArrowRight", 3)
    factor = float(re.match(r"(\d+) times as common", said).group(1))
    card = client.get("/v1/model").json()
    prior = {
        each["label"]: each["prior"] * (factor if each["label"] == "work" else 1) for each in card["classes"]
    }
    page.get_by_label("To answer", exact=True).select_option("work")
    page.get_by_label("when it is", exact=True).select_option("spam")
    page.get_by_role("button", name="Set its cost").click()
    expect(page.get_by_role("slider", name="To answer work when it is spam")).to_be_focused()
    price = cost(press(page, "To answer work when it is spam", "End"))
    found = client.post(
        "/v1/classify",
        {"text": text, "prior": prior, "costs": [{"truth": "spam", "answer": "work", "cost": price}]},
    ).json()
    assert found["action"] != found["label"]
    expect(decision).to_contain_text(f"Decided: {found['action']}")
    shows(decision, found)
    page.get_by_role("button", name="Remove").click()
    found = client.post(
        "/v1/classify",
        {"text": text, "prior": prior, "costs": [{"truth": "ham", "answer": "spam", "cost": 1}]},
    ).json()
    expect(decision).to_contain_text(f"Decided: {found['label']}")
    expect(page.get_by_role("slider", name="To answer work when it is spam")).to_have_count(0)


def test_a_model_without_probabilities_says_why_there_are_no_costs(visit, serve, tmp_path):
    page = visit(serve(path=train(tmp_path / "c.textodds", mail(60), learner="complement")))
    expect(page.locator("#costs")).to_contain_text("it has no probabilities to apply them to")
    expect(page.get_by_role("slider")).to_have_count(0)
    write(page, "win free cash")
    expect(page.locator(".verdict")).to_contain_text("spam")
