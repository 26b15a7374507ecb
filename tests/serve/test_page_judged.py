"""The page: a labelled file: its mistakes, slices, coverage and costs; encodings and separators."""

import csv
import io
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import as_shown, choose, mail, train
from serve.test_page_files import classify, counts, downloaded, facts

pytestmark = pytest.mark.long

ROWS = mail(300, seed=5)
LABELS = np.array([label for label, _ in ROWS])
TEXTS = [text for _, text in ROWS]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def table(rows=ROWS, **style):
    """Labelled rows as CSV, with a column to compare by."""
    file = io.StringIO()
    writer = csv.writer(file, **style)
    writer.writerow(["label", "text", "source"])
    writer.writerows([label, text, ("web", "app", "post")[i % 3]] for i, (label, text) in enumerate(rows))
    return file.getvalue()


@pytest.fixture(scope="module")
def predicted(mail_file):
    return textodds.load(mail_file).predict(TEXTS)


@pytest.mark.parametrize(
    ("encoding", "delimiter"), [("latin-1", ";"), ("utf-16", "\t"), ("utf-16-le", "|"), ("utf-8-sig", ";")]
)
def test_encoding_and_separator_are_found_and_the_file_is_measured(visit, mail_service, encoding, delimiter):
    rows = [("ham", "Grüße, “noon”; at home" if encoding != "latin-1" else "Grüße; at home"), *ROWS[:40]]
    page = visit(mail_service, "files")
    classify(page, "a.csv", table(rows, delimiter=delimiter).encode(encoding))
    expect(page.get_by_role("region", name="First rows")).to_contain_text("Grüße")
    expect(page.get_by_role("region", name="First rows")).not_to_contain_text("\ufffd")
    section = page.get_by_role("region", name="Evaluation")
    expect(section.get_by_text("accuracy")).to_be_visible(timeout=60_000)
    assert "41 rows" in section.inner_text()
    _, given = downloaded(page)
    assert [row["text"] for row in given] == [text for _, text in rows]


def test_another_encoding_can_be_chosen(visit, mail_service):
    page = visit(mail_service, "files")
    choose(page, "files", "a.csv", "text\nпривет noon\n".encode("cp1251"))
    page.get_by_label("Read as").select_option("windows-1251")
    expect(page.get_by_text("It begins: привет noon")).to_be_visible()


@pytest.mark.parametrize("options", [{}, {**PHONE, "color_scheme": "dark"}], ids=["desktop", "phone, dark"])
def test_a_confusion_is_read_and_corrected_and_accuracy_moves(visit, mail_service, predicted, options):
    page = visit(mail_service, "files", **options)
    classify(page, "a.csv", table())
    wrong = np.flatnonzero(predicted != LABELS)
    truth, answer = LABELS[wrong[0]], predicted[wrong[0]]
    cell = np.flatnonzero((truth == LABELS) & (predicted == answer))
    region = page.get_by_role("region", name="Truth and answer")
    region.get_by_role("button", name=f"{len(cell)}: read {truth} answered as {answer}").click()
    items = region.get_by_role("listitem")
    expect(items).to_have_count(len(cell))
    for item, at in zip(items.all(), cell, strict=True):
        expect(item).to_contain_text(TEXTS[at])
        expect(item).to_contain_text(f"Row {at + 1}")
    items.first.get_by_role("button", name=f"It is {answer}").click()
    accuracy = (predicted == LABELS).mean()
    moved = page.locator("#moved")
    expect(moved).to_contain_text(as_shown(accuracy))
    expect(moved).to_contain_text(as_shown(accuracy + 1 / len(LABELS)))
    _, given = downloaded(page)
    fixed = [row["corrected_label"] for row in given]
    assert [i for i in range(300) if fixed[i] != LABELS[i]] == [cell[0]]
    items.first.get_by_role("button", name="Undo").click()
    expect(moved).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_slices_and_coverage_are_those_of_the_rows(visit, mail_service, mail_file, predicted):
    page = visit(mail_service, "files")
    classify(page, "a.csv", table())
    page.get_by_label("Accuracy by").select_option("source")
    slices = page.get_by_role("region", name="By a column")
    expect(slices.get_by_role("rowheader", name="web")).to_be_visible()
    rows = slices.get_by_role("row").all()[1:]
    shown = {
        row.get_by_role("rowheader").inner_text(): row.get_by_role("cell").all_inner_texts() for row in rows
    }
    right = predicted == LABELS
    for start, name in enumerate(("web", "app", "post")):
        assert shown[name][0] == "100"
        assert as_shown(right[start::3].mean()).fullmatch(shown[name][1])
    certain = textodds.load(mail_file).predict_proba(TEXTS).max(axis=1)
    page.get_by_label("Answer so many").fill("60")
    surest = np.argsort(-certain.astype(np.float32), kind="stable")[:180]
    wrong = (~right[surest]).sum()
    expect(page.locator("#covered")).to_contain_text(re.compile(rf"\b{wrong} errors?; 120 rows left"))


def test_costs_apply_to_the_answers_the_download_and_the_mean_cost(visit, serve, tmp_path, client_of):
    rows = [(label, text) for label, text in mail(400) if label != "work"]
    service = serve("--read-only", path=train(tmp_path / "two.textodds", rows))
    asked = [(label, text) for label, text in mail(300, seed=9) if label != "work"]
    page = visit(service)
    page.locator("#costs-panel > summary").click()
    cost = page.get_by_role("slider", name="To answer spam when it is ham")
    for _ in range(4):
        cost.press("ArrowRight")
    silence = page.get_by_role("slider", name="Not to answer")
    for _ in range(9):
        silence.press("ArrowLeft")
    price = float(silence.get_attribute("aria-valuetext").split()[-1])
    page.get_by_role("link", name="Files").click()
    result = classify(page, "a.csv", table(asked))
    body = {
        "texts": [text for _, text in asked],
        "costs": [{"truth": "ham", "answer": "spam", "cost": 20}],
        "abstain": price,
    }
    found = client_of(service).post("/v1/classify/batch", body).json()["answers"]
    decided = [each["action"] for each in found]
    assert {"spam", "ham", None} == set(decided)
    assert counts(result) == {
        **{label: decided.count(label) for label in ("ham", "spam")},
        "no answer": decided.count(None),
    }
    _, given = downloaded(page)
    assert [row["decision"] or None for row in given] == decided
    assert [float(row["expected_cost"]) for row in given] == pytest.approx(
        [each["expected_loss"] for each in found], rel=1e-4, abs=1e-6
    )

    def loss(truth, answer):
        return price if answer is None else 0 if truth == answer else 20 if answer == "spam" else 1

    paid = np.mean([loss(label, answer) for (label, _), answer in zip(asked, decided, strict=True)])
    region = page.get_by_role("region", name="Coverage and costs")
    shown = re.search(r"these answers cost ([\d.]+) a row", region.inner_text()).group(1)
    assert float(shown) == pytest.approx(paid, rel=0.006)
    expect(region.get_by_role("img", name="Mean cost against the threshold of spam")).to_be_visible()
    assert facts(result)["rows"] == str(len(asked))


def test_on_a_phone_a_table_of_rows_shows_the_texts(visit, mail_service):
    page = visit(mail_service, "files", **PHONE)
    classify(page, "a.csv", table())
    text = page.get_by_role("region", name="First rows").get_by_text(TEXTS[0], exact=True)
    box = text.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_of_many_classes_one_has_a_cost_curve_against_the_rest(visit, mail_service, mail_file):
    page = visit(mail_service, "files")
    classify(page, "a.csv", table())
    page.get_by_label("Cost curve of one class").select_option("work")
    curve = page.get_by_role("img", name="Mean cost against the threshold of work")
    expect(curve).to_be_visible(timeout=60_000)
    model = textodds.load(mail_file)
    p, names = model.predict_proba(TEXTS), np.array(model.classes_)
    k = list(names).index("work")
    others = np.where(names == "work", -1.0, p)
    answers = [np.where(p[:, k] >= step / 200, "work", names[others.argmax(axis=1)]) for step in range(201)]
    least = min(float(np.mean(answer != LABELS)) for answer in answers)
    expect(page.get_by_role("region", name="Coverage and costs")).to_contain_text(f"{least:.3g} a row, at")
    expect(page.get_by_role("region", name="Coverage and costs")).to_contain_text("on 300 rows")
