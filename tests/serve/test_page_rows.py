"""The page of a model that reads rows: a box for each column, an answer, its reasons, a correction."""

import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import answer, as_shown, choose, signed
from serve.test_rows import mails, people, table

pytestmark = pytest.mark.long

ROW = {"age": 41, "size": 171.5, "job": "clerk", "note": "free cash"}


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "people.textodds"
    table().save(path)
    return path


def fill(page, row):
    """Put a row in the boxes."""
    group = page.get_by_role("group", name="Your row")
    for name, value in row.items():
        field = group.get_by_label(name, exact=True)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))


def test_a_row_is_answered_explained_corrected_and_taken_back(visit, serve, made, client_of):
    service = serve(path=made)
    page = visit(service)
    expect(page.locator("#about")).to_contain_text("2 classes · 4 columns · mixed")
    options = page.get_by_label("job", exact=True).locator("option")
    expect(options).to_have_text(["–", "clerk", "cook", "nurse", "smith"])
    fill(page, ROW)
    model = textodds.load(made)
    said = model(ROW)
    expect(answer(page).locator(".verdict")).to_contain_text(said.label)
    expect(answer(page).locator(".verdict")).to_contain_text(as_shown(said.probability))
    rows = page.locator("#why table").first.locator("tr")
    expect(rows).to_have_count(7)  # class prior, calibration, four columns, together
    parts = [signed(text) for text in rows.locator("td.number").all_inner_texts()]
    assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.04)
    page.get_by_role("button", name="That is wrong").click()
    other = next(label for label in model.classes_ if label != said.label)
    page.get_by_role("group", name="The right label").get_by_role("button", name=other).click()
    expect(page.locator("#outcome")).to_contain_text(f"Learned: {other}.")
    (found,) = client_of(service).get("/v1/corrections").json()["corrections"]
    assert (found["row"], found["label"]) == (ROW, other)
    expect(page.locator("#correction-list")).to_contain_text(
        "age 41 · job clerk · note free cash · size 171.5"
    )
    page.locator("#outcome").get_by_role("button", name="Undo").click()
    expect(page.locator("#outcome")).to_contain_text(f"Forgotten: {other}.")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_label("age", exact=True)).to_have_value("")
    expect(page.locator("#answer-body")).to_contain_text("Fill in the values")
    expect(page.locator("#why")).to_be_hidden()


def test_costs_are_weighed_and_a_bad_value_is_told(visit, serve, made):
    page = visit(serve(path=made))
    visit.allow("status of 422")
    fill(page, ROW)
    page.get_by_text("Your costs").click()
    expect(page.locator("#decision")).to_contain_text("Decided:")
    page.get_by_label("age", exact=True).fill("old")
    expect(answer(page).get_by_role("alert")).to_contain_text("`age` is `old`, not a number")
    page.get_by_label("age", exact=True).fill("41")
    expect(answer(page).get_by_role("alert")).to_have_count(0)


def test_the_model_and_files_of_a_table_are_shown(visit, serve, made):
    page = visit(serve(path=made), "model")
    visit.allow("status of 422")
    expect(page.get_by_role("region", name="Its columns")).to_contain_text("clerk, cook, nurse, smith")
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.locator("#view-label")).to_contain_text("This model reads rows of a table.")
    page.get_by_role("link", name="Files").click()
    rows, labels = people(5)
    lines = [f"{row['age'] or ''},{row['size']},{row['job']},{row['note'] or ''}" for row in rows]
    lines = [f"{line},{label}" for line, label in zip(lines, labels, strict=True)]
    content = "\n".join(["AGE,size,job,note,label", *lines, "old,170,cook,,no"])
    choose(page, "files", "people.csv", content)
    page.get_by_role("button", name="Classify all rows").click()
    result = page.locator("#files-result")
    expect(result).to_contain_text("Row 6 is refused: `age` is `old`, not a number")
    expect(result.get_by_role("table").first.locator("tbody tr")).to_have_count(5)


def test_two_columns_of_texts_have_boxes_and_their_words(visit, serve, tmp_path):
    path = tmp_path / "mail.textodds"
    mails().save(path)
    page = visit(serve(path=path))
    fill(page, {"subject": "clerk", "body": "free cash"})
    expect(answer(page).locator(".verdict")).to_be_visible()
    expect(page.locator("#why table").first).to_contain_text("subject")
    page.get_by_text("Word by word").click()
    expect(page.locator("#why table").last).to_contain_text("body:free")
    page.get_by_role("link", name="Model").click()
    expect(page.locator("#telling table")).to_be_visible()
