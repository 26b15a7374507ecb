import csv
import io
from pathlib import Path

import pytest

import textodds
from textodds.cli import main
from textodds.study.generate import sample


def drawn(capsys, *args):
    assert main(["sample", *args]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return list(csv.reader(io.StringIO(out)))


def test_texts_come_as_csv_that_can_be_learned(model, capsys):
    header, *rows = drawn(capsys, "mail.textodds", "-n", "200", "--seed", "1")
    assert header == ["label", "text"]
    texts, labels = sample(textodds.load("mail.textodds"), 200, seed=1)
    assert rows == [list(row) for row in zip(labels, texts, strict=True)]
    with Path("drawn.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    assert main(["train", "drawn.csv", "--quiet", "-o", "again.textodds"]) == 0
    assert textodds.load("again.textodds")("free prize").label == "spam"


def test_ten_are_drawn_unless_said_otherwise_and_the_same_every_time(model, capsys):
    first = drawn(capsys, "mail.textodds")
    assert len(first) == 11
    assert drawn(capsys, "mail.textodds") == first
    assert drawn(capsys, "mail.textodds", "--seed", "2") != first


def test_a_label_and_a_length_may_be_given(model, capsys):
    _, *rows = drawn(capsys, "mail.textodds", "-n", "30", "--label", "ham", "--length", "50")
    assert {label for label, _ in rows} == {"ham"}
    assert 40 < sum(len(text.split()) for _, text in rows) / 30 < 60


def test_rows_of_a_table_come_with_their_columns_and_the_name_of_the_label(capsys):
    Path("people.csv").write_text("height,hair,sex\n" + "1.9,short,m\n1.8,short,m\n1.6,long,f\n1.7,,f\n" * 5)
    assert main(["train", "people.csv", "--label", "sex", "--quiet"]) == 0
    header, *rows = drawn(capsys, "people.textodds", "-n", "100")
    assert header == ["sex", "height", "hair"]
    assert {row[0] for row in rows} == {"f", "m"}
    assert {row[2] for row in rows} == {"short", "long", ""}
    assert all(1 < float(row[1]) < 2.5 for row in rows)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--label", "spma"], "there is no class `spma`; did you mean `spam`?"),
        (["-n", "0"], "`--number` cannot be `0`"),
        (["--seed", "-1"], "`--seed` cannot be `-1`"),
    ],
)
def test_what_cannot_be_drawn_is_said(model, capsys, args, problem):
    assert main(["sample", "mail.textodds", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")


def test_a_discriminative_model_says_that_it_has_no_texts(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "softmax:min_df=1", "--quiet"]) == 0
    assert main(["sample", "mail.textodds"]) == 2
    assert capsys.readouterr().err.startswith("error: a discriminative model cannot generate texts")
