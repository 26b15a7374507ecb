"""The page: models of every kind, from one class to many."""

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import answer, as_shown, choose, mail, train, write

pytestmark = pytest.mark.long

MANY = [(f"class {k:02}", f"word{k} word{k} term{k % 7} note{k % 3}") for k in range(79) for _ in range(2)]


@pytest.fixture
def many(tmp_path):
    """A model of 79 classes."""
    return train(tmp_path / "many.textodds", MANY)


def shows_model(page):
    """The view of the model, without an error."""
    page.get_by_role("link", name="Model").click()
    expect(page.get_by_role("region", name="Its classes").get_by_role("listitem").first).to_be_visible()
    expect(page.locator("#telling")).not_to_have_text("…")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert "NaN" not in page.locator("main").inner_text()
    assert "undefined" not in page.locator("main").inner_text()


def test_of_many_classes_the_first_are_shown_and_the_rest_is_folded(visit, serve, many):
    page = visit(serve(path=many))
    said = textodds.load(many)("word33 term5")
    write(page, "word33 term5")
    expect(answer(page).locator(".verdict")).to_contain_text("class 33")
    bars = answer(page).get_by_role("list", name="Probability of each class").get_by_role("listitem")
    expect(bars).to_have_count(8)
    ranked = sorted(said.probabilities.values(), reverse=True)
    rest = answer(page).locator("details.rest > summary")
    expect(rest).to_contain_text("71 more")
    expect(rest).to_contain_text(as_shown(sum(ranked[8:])))
    rest.click()
    expect(answer(page).locator("details.rest").get_by_role("listitem")).to_have_count(71)
    expect(page.get_by_label("Why not").locator("option")).to_have_count(79)
    shows_model(page)


def test_of_many_classes_one_is_found_by_typing(visit, serve, many, client_of):
    service = serve(path=many)
    page = visit(service)
    write(page, "word33 term5")
    page.get_by_role("button", name="That is wrong").click()
    group = page.get_by_role("group", name="The right label")
    expect(group.get_by_label("Find a class")).to_be_focused()
    page.keyboard.type("LASS 61")
    expect(group.get_by_role("button", name="class")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_contain_text("Learned: class 61.")
    (found,) = client_of(service).get("/v1/corrections").json()["corrections"]
    assert (found["text"], found["label"]) == ("word33 term5", "class 61")


def test_of_many_classes_costs_can_be_set(visit, serve, many):
    page = visit(serve(path=many))
    write(page, "word33 term5")
    expect(answer(page).locator(".verdict")).to_contain_text("class 33")
    page.locator("#costs-panel > summary").click()
    expect(page.locator("#decision")).to_contain_text("Decided: class 33")
    expect(page.get_by_role("slider", name="How common class 33 is")).to_be_visible()
    page.get_by_label("Set how common another class is").select_option("class 12")
    expect(page.get_by_role("slider", name="How common class 12 is")).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator("#decision")).to_contain_text("Decided: ")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_of_many_classes_labels_are_given_by_number_and_by_name(visit, serve, many, client_of):
    service = serve(path=many)
    page = visit(service, "label")
    choose(page, "label", "a.txt", "".join(f"word{k} note{k % 3}\n" for k in range(8)))
    expect(page.locator("#asked")).to_be_visible()
    first = (
        page.get_by_role("group", name="Give a label")
        .locator("button[data-label]")
        .first.get_attribute("data-label")
    )
    page.keyboard.press("1")
    expect(page.locator("#label-count")).to_contain_text("1 label ·")
    page.keyboard.press("/")
    expect(page.locator("#labelling").get_by_label("Find a class")).to_be_focused()
    page.keyboard.type("class 77")
    page.keyboard.press("Enter")
    expect(page.locator("#label-count")).to_contain_text("2 labels ·")
    found = client_of(service).get("/v1/corrections").json()["corrections"]
    assert [each["label"] for each in found] == ["class 77", first]


def test_a_model_of_one_class_works(visit, serve, tmp_path):
    page = visit(serve(path=train(tmp_path / "one.textodds", [("only", "a b"), ("only", "c d")])))
    write(page, "a zyx")
    expect(answer(page).locator(".verdict")).to_contain_text("only")
    expect(page.locator("#costs")).to_contain_text("one class only")
    expect(page.locator("#why")).to_be_hidden()
    page.get_by_role("button", name="That is wrong").click()
    page.get_by_role("group", name="The right label").get_by_text("A new class…").click()
    page.get_by_label("Its name").fill("second")
    page.get_by_role("button", name="Add it and learn").click()
    expect(page.locator("#outcome")).to_contain_text("Learned: second")
    expect(page.get_by_role("banner")).to_contain_text("2 classes")


def test_the_view_of_a_model_of_one_class(visit, serve, tmp_path):
    page = visit(serve(path=train(tmp_path / "one.textodds", [("only", "a b"), ("only", "c d")])))
    shows_model(page)


@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement", "softmax", "lda"])
def test_every_learner_has_its_page(visit, serve, client_of, tmp_path, learner):
    path = train(tmp_path / "m.textodds", mail(60), learner=learner)
    service = serve(path=path)
    page = visit(service)
    text = "win cash, see the report at home"
    write(page, text)
    said = client_of(service).post("/v1/classify", {"text": text}).json()
    expect(answer(page).locator(".verdict")).to_contain_text(said["label"])
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(said["probability"]))
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    shows_model(page)
    page.get_by_role("link", name="Files").click()
    choose(page, "files", "a.csv", f'text\n"{text}"\nhome\n')
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_role("region", name="Answers to a.csv")).to_be_visible()


def test_a_class_may_be_called_others(visit, serve, client_of, tmp_path):
    rows = [(label if label != "work" else "others", text) for label, text in mail(60)]
    service = serve(path=train(tmp_path / "o.textodds", rows))
    page = visit(service)
    write(page, "win cash prize")
    expect(answer(page).locator(".verdict")).to_contain_text("spam")
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
