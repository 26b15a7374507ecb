"""The page: whole files, read in the browser and answered row by row."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import as_shown, choose, mail

pytestmark = pytest.mark.long

ODD = [
    "win a free prize",
    'she said "see you at noon"',
    "two\nlines, one report",
    "three\r\nlines, one budget",
    "commas, and; semicolons\tand tabs",
    " spaces at both ends ",
    "🎉 e\u0301 ＦＲＥＥ cash",
    "=1+1",
    "zyx",
    "home",
]
"""Texts that are hard to keep in a file."""


def table(texts, **style):
    """Texts as CSV, with a number each."""
    file = io.StringIO()
    writer = csv.writer(file, **style)
    writer.writerow(["id", "text"])
    writer.writerows([i, text] for i, text in enumerate(texts))
    return file.getvalue()


def jsonl(texts):
    return "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))


PLAIN = [text for text in ODD if "\n" not in text]
FILES = {
    "csv": ("a.csv", table(ODD).encode(), ODD),
    "csv of line feeds": ("a.csv", table(ODD, lineterminator="\n").encode(), ODD),
    "csv all quoted": ("a.csv", table(ODD, quoting=csv.QUOTE_ALL).encode(), ODD),
    "csv with a mark of order": ("a.csv", b"\xef\xbb\xbf" + table(ODD).encode(), ODD),
    "csv without a last line end": ("a.csv", table(ODD).rstrip().encode(), ODD),
    "semicolons": ("a.csv", table(ODD, delimiter=";").encode(), ODD),
    "tsv": ("a.tsv", table(ODD, delimiter="\t").encode(), ODD),
    "jsonl": ("a.jsonl", jsonl(ODD).encode(), ODD),
    "lines": ("a.txt", "\n".join(PLAIN).encode(), PLAIN),
    "lines of windows": ("a.txt", "\r\n".join([*PLAIN, ""]).encode(), PLAIN),
    "gzipped csv": ("a.csv.gz", gzip.compress(table(ODD).encode()), ODD),
    "gzipped jsonl": ("a.jsonl.gz", gzip.compress(jsonl(ODD).encode()), ODD),
    "gzipped lines": ("a.txt.gz", gzip.compress("\n".join(PLAIN).encode()), PLAIN),
}


def classify(page, name, content):
    """Choose a file and have all of it answered."""
    choose(page, "files", name, content)
    page.get_by_role("button", name="Classify all rows").click()
    result = page.get_by_role("region", name=f"Answers to {name}")
    expect(result).to_be_visible()
    return result


def downloaded(page):
    """The rows of the file that is handed out, by name of column."""
    with page.expect_download() as given:
        page.get_by_role("button", name="Download as CSV").click()
    content = Path(given.value.path()).read_bytes().decode("utf-8")
    return given.value.suggested_filename, list(csv.DictReader(io.StringIO(content, newline="")))


def counts(result):
    """Rows by class as they are shown."""
    rows = result.get_by_role("list", name="Rows by class").get_by_role("listitem").all()
    return {
        row.get_attribute("data-label"): int(
            row.locator(".number").inner_text().split(" ")[0].replace(",", "")
        )
        for row in rows
    }


def facts(result):
    """Facts by name."""
    return {
        row.locator("dt").inner_text(): row.locator("dd").first.inner_text()
        for row in result.locator(".facts > div").all()
    }


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_file_gives_the_answers_of_the_model(visit, mail_service, mail_file, kind):
    name, content, texts = FILES[kind]
    model = textodds.load(mail_file)
    expected = model.predict(texts)
    page = visit(mail_service, "files")
    result = classify(page, name, content)
    assert facts(result)["rows"] == str(len(texts))
    assert counts(result) == {
        label: int(n) for label, n in zip(*np.unique(expected, return_counts=True), strict=True)
    }
    blind = sum(model(text).evidence == 0 for text in texts)
    assert blind
    assert facts(result)["without a known word"] == str(blind)
    certain = model.predict_proba(texts).max(axis=1)
    assert as_shown(certain.mean()).fullmatch(facts(result)["mean probability"])
    called, rows = downloaded(page)
    assert called == "a.answers.csv"
    assert [row["text"] for row in rows] == texts
    assert [row["label"] for row in rows] == expected.tolist()
    assert [float(row["probability"]) for row in rows] == pytest.approx(certain.tolist(), rel=1e-5)
    if "lines" not in name and not name.startswith("a.txt"):
        assert [row["id"] for row in rows] == [str(i) for i in range(len(texts))]
    shown = (
        page.get_by_role("region", name="First rows").get_by_role("table").first.get_by_role("row").all()[1:]
    )
    assert len(shown) == min(10, len(texts))
    for row, label, p in zip(shown, expected, certain, strict=False):
        assert row.get_by_role("cell").nth(1).inner_text() == label
        assert as_shown(p).fullmatch(row.get_by_role("cell").nth(2).inner_text())


def test_a_file_of_twenty_thousand_rows(visit, mail_service, mail_file):
    texts = [f'{text}, "number" {i}\n' for i, (_, text) in enumerate(mail(20_000, seed=3))]
    expected = textodds.load(mail_file).predict(texts)
    page = visit(mail_service, "files")
    result = classify(page, "many.csv", table(texts))
    assert facts(result)["rows"] == "20,000"
    assert counts(result) == {
        label: int(n) for label, n in zip(*np.unique(expected, return_counts=True), strict=True)
    }
    _, rows = downloaded(page)
    assert [row["label"] for row in rows] == expected.tolist()
    assert [row["text"] for row in rows] == texts


def test_a_file_with_labels_is_measured(visit, mail_service, mail_file, client_of):
    rows = mail(300, seed=5)
    content = "label,text\n" + "".join(f"{label},{text}\n" for label, text in rows)
    page = visit(mail_service, "files")
    classify(page, "labelled.csv", content)
    section = page.get_by_role("region", name="Evaluation")
    expect(section.get_by_text("accuracy")).to_be_visible(timeout=60_000)
    model = textodds.load(mail_file)
    labels, texts = zip(*rows, strict=True)
    found = model.evaluate(list(texts), list(labels))
    predicted = model.predict(list(texts))
    accuracy = float((predicted == np.array(labels)).mean())
    shown = facts(section)
    assert as_shown(accuracy).fullmatch(shown["accuracy"])
    assert as_shown(found.accuracy).fullmatch(shown["accuracy"])
    assert float(shown["macro-F1"]) == pytest.approx(found.macro_f1, abs=0.00051)
    proba = model.predict_proba(list(texts))
    column = {label: k for k, label in enumerate(model.classes_)}
    log_loss = -np.log([row[column[label]] for row, label in zip(proba, labels, strict=True)]).mean()
    assert float(shown["log-loss"]) == pytest.approx(log_loss, abs=0.00051)
    confusion = page.get_by_role("region", name="Truth and answer").get_by_role("table")
    names = confusion.get_by_role("columnheader").all_inner_texts()[1:]
    assert names == ["ham", "spam", "work"]
    for row in confusion.get_by_role("row").all()[1:]:
        truth = row.get_by_role("rowheader").inner_text()
        for answer, cell in zip(names, row.get_by_role("cell").all(), strict=True):
            n = sum(t == truth and p == answer for t, p in zip(labels, predicted, strict=True))
            assert cell.inner_text() == (f"{n:,}" if n else "·")
    expect(page.get_by_role("img", name=re.compile("calibration error"))).to_be_visible()
    with page.expect_popup() as opened:
        section.get_by_role("link", name="The whole report").click()
    report = opened.value
    expect(report.get_by_text("accuracy").first).to_be_visible()
    assert "/v1/reports/" in report.url
    _, given = downloaded(page)
    assert [row["label"] for row in given] == list(labels)  # what was in the file stays
    assert [row["predicted_label"] for row in given] == predicted.tolist()


def test_labels_that_the_model_does_not_have_are_told(visit, mail_service):
    page = visit(mail_service, "files")
    classify(page, "labelled.csv", "text,class\nwin cash,spam\nhome,ham\ngoal,sport\nnoon,ham\n")
    section = page.get_by_role("region", name="Evaluation")
    expect(section).to_contain_text(re.compile("sport \\(1\\)"), timeout=60_000)


def test_a_file_that_cannot_be_measured_here_is_answered_and_judged_all_the_same(visit, serve):
    page = visit(serve("--read-only", "--max-upload", "30"), "files")
    result = classify(page, "a.csv", "text;label\nwin cash;spam\nhome;ham\n")
    assert counts(result) == {"spam": 1, "ham": 1}
    section = page.get_by_role("region", name="Evaluation")
    expect(section).to_contain_text(re.compile("not measured: it is larger than the 30 bytes"))
    expect(page.get_by_role("region", name="Truth and answer").get_by_role("table")).to_be_visible()


def test_the_column_of_texts_is_chosen_where_no_name_tells(visit, mail_service):
    page = visit(mail_service, "files")
    choose(page, "files", "a.csv", "a,b\n1,win cash\n2,home at noon\n")
    column = page.get_by_label("Texts are in")
    expect(column).to_be_focused()
    expect(page.get_by_role("button", name="Classify all rows")).to_be_disabled()
    column.select_option("b")
    expect(page.get_by_text("It begins: win cash")).to_be_visible()
    page.get_by_role("button", name="Classify all rows").click()
    result = page.get_by_role("region", name="Answers to a.csv")
    expect(result).to_be_visible()
    assert counts(result) == {"spam": 1, "ham": 1}


def test_a_file_without_names_of_columns(visit, mail_service):
    page = visit(mail_service, "files")
    choose(page, "files", "a.csv", "1,win cash\n2,home at noon\n")
    page.get_by_label("The first line has the names of the columns").uncheck()
    page.get_by_label("Texts are in").select_option("2")
    page.get_by_role("button", name="Classify all rows").click()
    result = page.get_by_role("region", name="Answers to a.csv")
    expect(result).to_be_visible()
    assert facts(result)["rows"] == "2"


def test_rows_that_cannot_be_answered_are_counted_and_told(visit, serve):
    page = visit(serve("--max-text", "30"), "files")
    content = 'id,text\n1,win\n2,home,3\n4,"' + "x" * 31 + '"\n5\n6,noon\n'
    result = classify(page, "a.csv", content)
    expect(result).to_contain_text("3 rows could not be answered")
    expect(result).to_contain_text("Row 2 has 3 fields, not 2.")
    expect(result).to_contain_text("Row 3 is longer than the service takes.")
    expect(result).to_contain_text("Row 4 has 1 fields, not 2.")
    assert facts(result)["rows"] == "5"
    _, rows = downloaded(page)
    assert [row["label"] for row in rows] == ["spam", "", "", "", "ham"]
    content = '{"text": "win"}\n{"text": 1}\n[]\n{"text"\n{"text": "noon"}\n'
    result = classify(page, "b.jsonl", content)
    expect(result).to_contain_text("3 rows could not be answered")
    expect(result).to_contain_text("Row 2 has no text in “text”.")
    expect(result).to_contain_text("Row 3 is not an object.")
    expect(result).to_contain_text("Row 4 is not JSON.")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "The file has no rows"),
        ("head.csv", b"id,text\n", "There are no rows in it"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not text"),
        ("open.csv", b'id,text\n1,"never closed\n2,x\n', "a quote is opened and never closed"),
        ("a.parquet", b"PAR1", "Parquet is .* the command line"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_kindly(visit, mail_service, name, content, message):
    page = visit(mail_service, "files")
    choose(page, "files", name, content)
    go = page.get_by_role("button", name="Classify all rows")
    expect(go.or_(page.get_by_role("alert"))).to_be_visible()
    if go.is_visible():
        go.click()
    expect(page.get_by_role("alert")).to_contain_text(re.compile(message, re.IGNORECASE))
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_a_damaged_gzip_is_told_kindly(visit, mail_service):
    page = visit(mail_service, "files")
    whole = gzip.compress(table([text for _, text in mail(5000)]).encode())
    choose(page, "files", "cut.csv.gz", whole[: len(whole) // 2])
    go = page.get_by_role("button", name="Classify all rows")
    expect(go.or_(page.get_by_role("alert"))).to_be_visible()
    if go.is_visible():
        go.click()
    expect(page.get_by_role("alert")).to_be_visible()
    said = page.get_by_role("alert").inner_text()
    assert len(said) > 10
    assert "undefined" not in said


def hold(page):
    """Lets one batch through and holds the others back, until what is returned is called."""
    held, count = [], [0]

    def hand_on(route):
        count[0] += 1
        held.append(route) if count[0] > 1 and held is not None else route.continue_()

    def release():
        nonlocal held
        waiting, held = held, None
        for route in waiting:
            route.continue_()

    page.route("**/v1/classify/batch", hand_on)
    return release


def test_cancelling_leaves_what_was_answered(visit, mail_service):
    visit.allow("ERR_ABORTED", "ERR_FAILED")
    page = visit(mail_service, "files")
    release = hold(page)
    choose(page, "files", "many.csv", table([text for _, text in mail(8000)]))
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_text("1,000 rows,")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    result = page.get_by_role("region", name="Answers to many.csv (cancelled)")
    expect(result).to_be_visible()
    assert facts(result)["rows"] == "1,000"
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    release()
    _, rows = downloaded(page)
    assert len(rows) == 1000


def test_a_service_that_stops_in_the_middle_is_told_and_the_file_goes_on_after(visit, serve, model):
    visit.allow("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_FAILED")
    service = serve()
    page = visit(service, "files")
    release = hold(page)
    texts = [text for _, text in mail(8000)]
    choose(page, "files", "many.csv", table(texts))
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_text("1,000 rows,")).to_be_visible()
    service.kill()
    release()
    banner = page.get_by_text("The service does not answer")
    expect(banner).to_be_visible()
    serve("--port", str(service.port))
    result = page.get_by_role("region", name="Answers to many.csv")
    expect(result).to_be_visible(timeout=40_000)
    expect(banner).to_be_hidden()
    assert facts(result)["rows"] == "8,000"
    expected = textodds.load(model).predict(texts)
    assert counts(result) == {
        label: int(n) for label, n in zip(*np.unique(expected, return_counts=True), strict=True)
    }


def test_cancelling_works_while_the_service_is_gone(visit, serve):
    visit.allow("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_FAILED")
    service = serve()
    page = visit(service, "files")
    choose(page, "files", "a.csv", table(ODD))
    service.kill()
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_a_file_can_be_dropped(visit, mail_service):
    page = visit(mail_service, "files")
    data = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["text\\nwin cash\\n"], "dropped.csv"));
          return data;
        }"""
    )
    page.locator("label[for=files-file]").dispatch_event("drop", {"dataTransfer": data})
    page.get_by_role("button", name="Classify all rows").click()
    expect(page.get_by_role("region", name="Answers to dropped.csv")).to_be_visible()


def test_another_file_takes_the_place_of_the_first(visit, mail_service):
    page = visit(mail_service, "files")
    classify(page, "a.csv", table(ODD))
    choose(page, "files", "b.csv", "text\nhome\n")
    expect(page.get_by_role("region", name="Answers to")).to_have_count(0)
    page.get_by_role("button", name="Classify all rows").click()
    result = page.get_by_role("region", name="Answers to b.csv")
    expect(result).to_be_visible()
    assert counts(result) == {"ham": 1}


def test_batches_keep_to_the_limits_of_the_service(visit, serve, model):
    page = visit(serve("--max-batch", "7", "--max-body", "2500"), "files")
    texts = [text for _, text in mail(100)] + ["home " * 200] * 3
    asked = []
    page.on("request", lambda request: asked.append(request) if "batch" in request.url else None)
    result = classify(page, "a.csv", table(texts))
    assert facts(result)["rows"] == "103"
    assert sum(counts(result).values()) == 103
    sizes = [len(request.post_data_json["texts"]) for request in asked]
    assert max(sizes) <= 7
    assert sum(sizes) == 103
    assert max(len(request.post_data) for request in asked) <= 2500
