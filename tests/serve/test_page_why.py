"""The page: why, word by word, and what would change the answer."""

import re

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import answer, as_shown, mail, signed, train, write
from serve.conftest import MESSAGES

pytestmark = pytest.mark.long

ROUNDED = 0.005 + 1e-9  # numbers have two digits after the point


@pytest.fixture
def asked(mail_service, client_of):
    """Asks the service why."""
    client = client_of(mail_service)
    return lambda text, **more: client.post("/v1/explain", {"text": text, **more}).json()


def sums(page):
    """The names and numbers of the chart, and its total."""
    table = page.get_by_role("table", name=re.compile("What adds to the log-odds"))
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    rows = [
        (row.get_by_role("rowheader").inner_text(), row.get_by_role("cell").last.inner_text())
        for row in table.get_by_role("row").all()
    ]
    *parts, total = [(name, signed(number)) for name, number in rows]
    return parts, total


def why(page, text):
    """The part of the page that says why, once it is about a text."""
    write(page, text)
    expect(page.locator(".reading")).to_have_text(text, use_inner_text=False)
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    return page.locator("#why")


@pytest.mark.parametrize(
    "text",
    ["Win a prize at home, then zyx!", "🎉 FREE🎉 cash e\u0301 report\u00a0now", "  call\n\nme at   noon "],
    ids=["plain", "code points", "spaces"],
)
def test_each_word_is_tinted_by_what_it_says(visit, mail_service, asked, text):
    page = visit(mail_service)
    write(page, text)
    found = asked(text)
    words = page.locator(".reading .word")
    expect(words).to_have_count(len(found["places"]))
    assert page.locator(".reading").evaluate("node => node.textContent") == text
    for word, place in zip(words.all(), found["places"], strict=True):
        assert word.evaluate("node => node.textContent") == text[place["start"] : place["end"]]
        kind = "for" if place["log_odds"] > 0 else "against" if place["log_odds"] < 0 else "unknown"
        assert kind in word.get_attribute("class").split()
        assert place["known"] == (kind != "unknown")
        drawn = word.evaluate("node => getComputedStyle(node).borderBottomStyle")
        assert drawn == {"for": "solid", "against": "dashed", "unknown": "dotted"}[kind]


def test_arrow_keys_and_the_pointer_say_what_a_word_adds(visit, mail_service, asked):
    page = visit(mail_service)
    text = "win a prize at home zyx"
    why(page, text)
    places = asked(text)["places"]
    box = page.get_by_role("group", name="Words of the text")
    saying = page.locator(".saying")
    assert saying.get_attribute("aria-live") == "polite"
    box.focus()
    for place in places:
        page.keyboard.press("ArrowRight")
        expect(saying).to_contain_text(place["word"])
        if place["known"]:
            expect(saying).to_contain_text(f"{abs(place['log_odds']):.2f} for")
        else:
            expect(saying).to_contain_text("unknown to the model")
    page.keyboard.press("Home")
    expect(saying).to_contain_text(places[0]["word"])
    page.locator(".reading .word").nth(4).hover()
    expect(saying).to_contain_text(places[4]["word"])
    expect(saying).to_contain_text(f"{abs(places[4]['log_odds']):.2f} for")


def test_the_bars_add_up_to_the_total_and_that_to_the_probability(visit, mail_service, asked):
    page = visit(mail_service)
    text = "win a free prize at home now, call me tomorrow to see the report and the film, we review cash"
    box = why(page, text)
    page.get_by_label("Why not").select_option("all others together")
    expect(page.get_by_role("table", name="against all others together")).to_be_visible()
    found = asked(text, rival="others")
    parts, (name, total) = sums(page)
    assert name == "together"
    assert total == pytest.approx(found["log_odds"], abs=ROUNDED)
    assert sum(x for _, x in parts) == pytest.approx(total, abs=ROUNDED * (len(parts) + 1))
    shown = dict(parts)
    assert shown.pop("class prior") == pytest.approx(found["start"], abs=ROUNDED)
    assert found["remainder"]  # of two rivals together
    assert shown.pop("several rivals") == pytest.approx(found["remainder"], abs=ROUNDED)
    first, rest = found["words"][:12], found["words"][12:]
    assert shown.pop(f"{len(rest)} other words") == pytest.approx(
        sum(word["log_odds"] for word in rest), abs=ROUNDED
    )
    names = [word["word"] + (f" × {word['count']:.0f}" if word["count"] > 1 else "") for word in first]
    assert list(shown) == names
    assert list(shown.values()) == pytest.approx([word["log_odds"] for word in first], abs=ROUNDED)
    expect(box).to_contain_text(as_shown(found["probability"]))
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(found["probability"]))


def test_why_not_another_class(visit, mail_service, asked):
    page = visit(mail_service)
    text = "win the budget prize at home"
    box = why(page, text)
    label = asked(text)["label"]
    for rival in {"ham", "spam", "work"} - {label}:
        page.get_by_label("Why not").select_option(rival)
        expect(page.get_by_role("table", name=f"{label} against {rival}")).to_be_visible()
        found = asked(text, rival=rival)
        _, (_, total) = sums(page)
        assert total == pytest.approx(found["log_odds"], abs=ROUNDED)
        expect(box).to_contain_text(f"for {label} against {rival}.")
    page.get_by_label("Why not").select_option("all others together")
    expect(page.get_by_role("table", name="against all others together")).to_be_visible()


def test_a_rival_that_becomes_the_answer_is_let_go(visit, mail_service, asked):
    visit.allow("status of 422")
    page = visit(mail_service)
    why(page, "win cash")
    page.get_by_label("Why not").select_option("ham")
    expect(page.get_by_role("table", name="spam against ham")).to_be_visible()
    write(page, "home at noon")
    expect(page.get_by_role("table", name=f"ham against {asked('home at noon')['rival']}")).to_be_visible()


def test_without_the_words_that_flip_it_the_answer_is_the_other_one(visit, mail_service, asked, client_of):
    page = visit(mail_service)
    text = "Free prize at home, see you tomorrow: win!"
    box = why(page, text)
    found = client_of(mail_service).post("/v1/explain/flip", {"text": text}).json()["flip"]
    assert found is not None
    flipping = box.locator(".flipping")
    for word in found["words"]:
        expect(flipping).to_contain_text(word)
    expect(flipping).to_contain_text(f"it would be {found['label_after']}")
    expect(flipping).to_contain_text(as_shown(found["probability_after"]))
    outlined = page.locator(".reading .word.flip").all_inner_texts()
    assert {word.lower() for word in outlined} == set(found["words"])
    page.get_by_role("button", name="Try it without").click()
    expect(answer(page).locator(".verdict")).to_contain_text(found["label_after"])
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(found["probability_after"]))
    left = page.get_by_label("Your text").input_value()
    assert asked(left)["label"] == found["label_after"]
    assert not set(found["words"]) & set(re.findall(r"\w+", left.lower()))
    page.get_by_role("button", name="Put them back").click()
    expect(page.get_by_label("Your text")).to_have_value(text)


def test_the_sum_is_shown_while_the_fewest_words_are_sought(visit, mail_service):
    page, held = visit(mail_service), []
    page.route("**/v1/explain/flip", lambda route: held.append(route))
    box = why(page, "Free prize at home, win!")
    assert sums(page)[0]
    expect(box.locator(".flipping")).to_contain_text("Looking for the fewest words")
    write(
        page, "Free prize at noon, win!"
    )  # the search under way is left to end, and its answer is not shown
    expect(page.locator(".reading")).to_have_text("Free prize at noon, win!", use_inner_text=False)
    held.pop(0).continue_()
    while not held:
        page.wait_for_timeout(20)
    expect(box.locator(".flipping")).to_contain_text("Looking for the fewest words")
    held.pop(0).continue_()
    expect(box.locator(".flipping")).to_contain_text("it would be")
    assert held == []


def test_unknown_words_are_told(visit, mail_service, asked):
    page = visit(mail_service)
    box = why(page, "win zyx <b>qqq</b> cash")
    unknown = asked("win zyx <b>qqq</b> cash")["unknown_words"]
    assert set(unknown) == {"zyx", "b", "qqq"}
    for word in unknown:
        expect(box.get_by_text("Unknown to the model:")).to_contain_text(word)
    why(page, "win cash")
    expect(box).not_to_contain_text("Unknown to the model:")


def test_a_text_too_long_to_be_explained_is_answered_all_the_same(visit, mail_service):
    page = visit(mail_service)
    write(page, "win " * 5001)
    expect(answer(page).locator(".verdict")).to_contain_text("spam")
    expect(page.locator("#why")).to_contain_text("up to 20,000 characters are explained")


def test_of_two_classes_the_rival_is_the_other_one(visit, serve):
    service = serve()
    page = visit(service)
    why(page, "win a free prize at home")
    expect(page.get_by_role("table", name="spam against ham")).to_be_visible()
    expect(page.get_by_label("Why not")).to_have_count(0)


def test_words_that_are_not_there_count_where_the_model_counts_them(visit, serve, client_of, tmp_path):
    service = serve(path=train(tmp_path / "b.textodds", MESSAGES, learner="bernoulli"))
    page = visit(service)
    why(page, "win a free prize at home")
    found = client_of(service).post("/v1/explain", {"text": "win a free prize at home"}).json()
    parts, (_, total) = sums(page)
    assert dict(parts)["absent words"] == pytest.approx(found["absent"], abs=ROUNDED)
    assert sum(x for _, x in parts) == pytest.approx(total, abs=ROUNDED * (len(parts) + 1))
    assert total == pytest.approx(found["log_odds"], abs=ROUNDED)


def test_a_model_of_letters_is_explained_by_words_and_by_letters_where_that_is_opened(
    visit, serve, client_of, tmp_path
):
    recipe = {"learner": textodds.SoftmaxRegression(C=1e4), "unit": "characters-in-words", "ngrams": (1, 4)}
    path = train(tmp_path / "letters.textodds", mail(150), **recipe)
    service = serve(path=path)
    page = visit(service)
    text = "Win a prize at home, zyx!!!"
    box = why(page, text)
    asked = {"text": text, "parts": True}
    found = client_of(service).post("/v1/explain", asked).json()
    assert (found["has_words"], found["calibration"] is None) == (False, False)
    parts, (_, total) = sums(page)
    before = [("class prior", found["prior"]), ("intercept", found["intercept"])]
    before.append(("calibration", found["calibration"]))
    words = [(word["word"], word["log_odds"]) for word in found["words"]]
    assert (
        {"win", "prize", "home"} <= {word for word, _ in words} <= {*"win a prize at home zyx !!! ,".split()}
    )
    expected = [*before, *words]
    assert [name for name, _ in parts] == [name for name, _ in expected]
    assert [x for _, x in parts] == pytest.approx([x for _, x in expected], abs=ROUNDED)
    assert total == pytest.approx(found["log_odds"], abs=ROUNDED)
    tinted = page.locator(".reading .word").all_inner_texts()
    assert [word.lower() for word in tinted] == [place["word"] for place in found["places"]]
    box.get_by_text("By feature").click()
    features = page.get_by_role("table", name=re.compile("What each feature adds to"))
    expect(features).to_contain_text(f"{len(found['parts']) - 12} others")
    shown = features.get_by_role("row").nth(len(before)).get_by_role("rowheader")
    expect(shown).to_have_text(re.compile(re.escape(found["parts"][0]["word"].replace(" ", "␣"))))
    page.get_by_role("button", name="Try it without").click()
    flip = client_of(service).post("/v1/explain/flip", {"text": text}).json()["flip"]
    expect(answer(page).locator(".verdict")).to_contain_text(flip["label_after"])
