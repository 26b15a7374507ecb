"""A new user's first hour: answers beside the rows they came with."""

import contextlib
import csv
import gzip
import io
import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import textodds
from forked import run
from textodds.cli import main
from textodds.model.output import answer_rows as answered_rows

from .transcripts import COMMAND
from .transcripts import textodds as process

TICKETS = """\
id;body;kind
1;"win a ""free"" phone";spam
2;"free prize
inside";spam
3;see you, at six;ham
4;übermorgen, 迷惑 at noon?;ham
"""
ROWS = list(csv.reader(io.StringIO(TICKETS), delimiter=";"))


@pytest.fixture
def tickets(capsys):
    """A model of `tickets.csv`: separated by semicolons, columns that are called as nobody guesses."""
    Path("tickets.csv").write_text(TICKETS)
    assert (
        main(
            [
                "train",
                "tickets.csv",
                "--text",
                "body",
                "--label",
                "kind",
                "-o",
                "t.textodds",
                "--learner",
                "multinomial",
            ]
        )
        == 0
    )
    assert "text: body; label: kind; left: id\n" in capsys.readouterr().err
    return textodds.load("t.textodds")


def table(path, delimiter=","):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_a_csv_file_comes_back_with_its_columns_as_they_were_and_the_answers_behind(tickets, capsys):
    assert main(["predict", "t.textodds", "tickets.csv", "-o", "answers.csv"]) == 0
    assert capsys.readouterr() == ("", "wrote answers.csv: 4 rows\n")
    head, *rows = table("answers.csv", ";")  # which is the separator of the data
    assert head == [*ROWS[0], "label", "probability"]
    assert [row[:3] for row in rows] == ROWS[1:]
    p = tickets.predict_proba([row[1] for row in ROWS[1:]])
    assert [row[3] for row in rows] == tickets.predict([row[1] for row in ROWS[1:]]).tolist()
    assert [float(row[4]) for row in rows] == p.max(axis=1).tolist()  # to the last bit


def test_every_class_the_most_probable_ones_and_an_empty_label_below_a_threshold(tickets):
    command = ["predict", "t.textodds", "tickets.csv", "--proba", "--top", "3", "--threshold", "0.95"]
    assert main([*command, "-o", "answers.jsonl", "--quiet"]) == 0
    rows = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    top = ["label_1", "probability_1", "label_2", "probability_2"]
    assert list(rows[0]) == [*ROWS[0], "label", "probability", *top, "p(ham)", "p(spam)"]
    p = tickets.predict_proba([row[1] for row in ROWS[1:]])
    assert [[row["p(ham)"], row["p(spam)"]] for row in rows] == p.tolist()
    assert {row["label"] is None for row in rows} == {True, False}
    for row, (ham, spam) in zip(rows, p.tolist(), strict=True):
        assert (row["label"] is None) == (max(ham, spam) < 0.95)
        assert row["label_1"] == ("ham" if ham >= spam else "spam")
        assert (row["probability_1"], row["probability_2"]) == (max(ham, spam), min(ham, spam))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.gz"])
def test_the_ending_says_the_format(tickets, name):
    assert main(["predict", "t.textodds", "tickets.csv", "-o", name, "--quiet"]) == 0
    if name.endswith(".parquet"):
        rows = parquet.read_table(name).to_pylist()
    else:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(name, "rt", newline="", encoding="utf-8") as file:
            if "jsonl" in name:
                rows = [json.loads(line) for line in file]
            else:
                rows = list(csv.DictReader(file, delimiter="\t" if "tsv" in name else ";"))
    assert [[row[column] for column in ROWS[0]] for row in rows] == ROWS[1:]
    assert [row["label"] for row in rows] == ["spam", "spam", "ham", "ham"]


@pytest.mark.parametrize("to", ["a.csv", "a.jsonl", "a.parquet", "-"])
@pytest.mark.parametrize("given", ["csv", "jsonl", "parquet", "db"])
def test_of_the_columns_those_that_are_named_are_written_in_their_order(tickets, given, to, capsys):
    rows = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
    if given == "csv":
        data = ["tickets.csv"]
    elif given == "jsonl":
        Path("tickets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        data = ["tickets.jsonl"]
    elif given == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), "tickets.parquet")
        data = ["tickets.parquet"]
    else:
        with contextlib.closing(sqlite3.connect("tickets.db")) as db, db:
            db.execute("CREATE TABLE tickets (id TEXT, body TEXT, kind TEXT)")
            db.executemany("INSERT INTO tickets VALUES (:id, :body, :kind)", rows)
        data = ["tickets.db", "--query", "SELECT * FROM tickets ORDER BY id"]

    def written(*keep):
        options = [each for name in keep for each in ("--keep", name)]
        assert main(["predict", "t.textodds", *data, "-o", to, "--quiet", *options]) == 0
        if to.endswith("parquet"):
            return parquet.read_table(to).to_pylist()
        text = Path(to).read_text() if to != "-" else capsys.readouterr().out
        if text.startswith("{"):
            return [json.loads(line) for line in text.splitlines()]
        separator = ";" if given == "csv" else ","
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))

    whole = written()
    answers = ["label", "probability"]
    for kept in (["kind", "id"], ["body"], ["ID"], []):  # in another case, as all columns that are named
        found = written(*(kept or ["none"]))
        names = [name for name in ROWS[0] if name in map(str.lower, kept)] + answers
        assert [list(row) for row in found] == [names] * 4
        assert found == [{name: row[name] for name in names} for row in whole]
    capsys.readouterr()
    assert main(["predict", "t.textodds", *data, "-o", to, "--keep", "ids"]) == 2
    assert "has no column `ids`" in (said := capsys.readouterr().err)
    assert "did you mean `id`?" in said


def test_of_documents_in_a_folder_and_of_lines_the_named_columns_are_written_too(tickets, capsys):
    Path("mail/a").mkdir(parents=True)
    Path("mail/a/1.txt").write_text("free prize")
    Path("lines.txt").write_text("see you\nfree\n")

    def written(data, *keep):
        options = [each for name in keep for each in ("--keep", name)]
        assert main(["predict", "t.textodds", data, "-o", "-", "--quiet", *options]) == 0
        return list(csv.reader(io.StringIO(capsys.readouterr().out)))

    for data, columns in (("mail", ["file", "text"]), ("lines.txt", ["text"])):
        whole = written(data)
        assert whole[0] == [*columns, "label", "probability"]
        for column in columns:
            at = [whole[0].index(name) for name in (column, "label", "probability")]
            assert written(data, column) == [[row[i] for i in at] for row in whole]
        assert written(data, "none") == [row[-2:] for row in whole]
        assert main(["predict", "t.textodds", data, "-o", "-", "--keep", "id"]) == 2
        assert "has no column `id`" in capsys.readouterr().err
    Path("in.mbox").write_text("From x\nFrom: ann@example.org\nSubject: free\n\nprize\n")
    assert written("in.mbox", "from", "file", "subject") == [
        ["file", "subject", "from", "label", "probability"],
        ["in.mbox, message 1", "free", "ann@example.org", *written("in.mbox")[1][-2:]],
    ]


def test_a_key_that_is_kept_may_be_missing_in_a_row_and_bad_rows_keep_their_place(tickets, capsys):
    rows = [
        {"id": 1, "body": "free"},
        {"body": "six", "more": [1]},
        {"id": 3, "body": None},
        {"body": "noon"},
    ]
    Path("some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["predict", "t.textodds", "some.jsonl", "--bad-rows", "skip", "-o", "a.jsonl"]
    assert main([*command, "--keep", "id", "--keep", "more"]) == 0
    found = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [(row["id"], row["more"]) for row in found] == [(1, None), (None, [1]), (3, None), (None, None)]
    assert [row["label"] for row in found] == ["spam", "ham", None, "ham"]
    Path("none.csv").write_text("id;body\n")
    assert main(["predict", "t.textodds", "none.csv", "-o", "b.csv", "--keep", "id"]) == 0
    assert Path("b.csv").read_text() == "id;label;probability\n"
    assert main(["predict", "t.textodds", "some.jsonl", "--keep", "id"]) == 2
    assert "`--keep` is about columns of DATA beside the answers" in capsys.readouterr().err


def test_an_ending_that_says_nothing_is_told(tickets, capsys):
    assert main(["predict", "t.textodds", "tickets.csv", "-o", "answers.txt"]) == 2
    assert "name it *.csv, *.tsv, *.jsonl or *.parquet" in capsys.readouterr().err
    assert not Path("answers.txt").exists()


def test_a_column_called_label_is_kept_and_the_answer_has_another_name(model, capsys):
    assert main(["predict", "mail.textodds", "mail.csv", "-o", "one.csv"]) == 0
    assert (
        "the data already have a column label: the answer is in predicted_label\n" in capsys.readouterr().err
    )
    assert main(["predict", "mail.textodds", "one.csv", "-o", "two.csv", "--quiet"]) == 0
    names = ["text", "label", "predicted_label", "probability"]
    assert table("one.csv")[0] == names
    assert table("two.csv")[0] == [*names, "predicted_label_2", "predicted_probability"]
    assert [row[:4] for row in table("two.csv")] == table("one.csv")
    assert [row[:2] for row in table("one.csv")] == table("mail.csv")


def test_parquet_keeps_its_types(tickets):
    columns = {
        "body": pa.array(["free prize", "see you"]),
        "when": pa.array([0, None], pa.timestamp("us", "UTC")),
        "cost": pa.array([1, 2], pa.int16()),
        "tags": pa.array([["a", "b"], []], pa.list_(pa.string())),
        "kind of": pa.array(["x", "y"]).dictionary_encode(),
        "price": pa.array([None, 3.5], pa.float32()),
    }
    parquet.write_table(pa.table(columns), "new.parquet")
    assert main(["predict", "t.textodds", "new.parquet", "-o", "answers.parquet", "--quiet"]) == 0
    before, after = parquet.read_table("new.parquet"), parquet.read_table("answers.parquet")
    assert after.select(before.schema.names).equals(before)
    assert [str(field.type) for field in after.schema][-2:] == ["string", "double"]
    assert main(["predict", "t.textodds", "new.parquet", "-o", "answers.csv", "--quiet"]) == 0
    rows = table("answers.csv")
    assert rows[1][:6] == ["free prize", "1970-01-01 00:00:00+00:00", "1", "a|b", "x", ""]
    assert rows[2][:6] == ["see you", "", "2", "", "y", "3.5"]


def test_json_lines_stay_as_they_were_written(tickets, capsys):
    lines = ['{"body": "free", "n": 1.50, "big": 1e400}', '{ "n":[1,{"a":null}],"body":"\\u00fcber" }']
    Path("new.jsonl").write_text("\n".join(lines))
    assert main(["predict", "t.textodds", "new.jsonl", "-o", "a.jsonl", "--quiet"]) == 0
    written = Path("a.jsonl").read_text().splitlines()
    for before, after in zip(lines, written, strict=True):
        assert after.startswith(before[:-1].rstrip())
        assert list(json.loads(after))[-2:] == ["label", "probability"]
    Path("late.jsonl").write_text('{"body": "free"}\n{"body": "at", "more": 1}\n{"body": "at", "label": 1}\n')
    assert main(["predict", "t.textodds", "late.jsonl", "-o", "late.csv", "--quiet"]) == 0
    assert table("late.csv")[0] == ["body", "more", "label", "predicted_label", "probability"]


def test_several_columns_of_text_and_tables_are_answered_too(capsys):
    Path("m.csv").write_text("n,subject,body,kind\n1,free,phone,spam\n2,see,you,ham\n")
    named = ["--text", "subject", "--text", "body", "--label", "kind"]
    assert main(["train", "m.csv", *named, "-o", "m.textodds", "--quiet"]) == 0
    assert main(["predict", "m.textodds", "m.csv", "-o", "m_answers.csv", "--quiet"]) == 0
    assert [row[:4] for row in table("m_answers.csv")] == table("m.csv")
    assert [row[4] for row in table("m_answers.csv")] == ["label", "spam", "ham"]
    people = "id,height,hair,kind\n" + "".join(
        f"{n},{160 + n % 7 + 20 * (n % 2)},{'short' if n % 3 else 'long'},{'mf'[n % 2]}\n" for n in range(40)
    )
    Path("people.csv").write_text(people)
    assert main(["train", "people.csv", "--label", "kind", "--quiet"]) == 0
    assert main(["predict", "people.textodds", "people.csv", "-o", "a.csv", "--quiet"]) == 0
    assert [row[:4] for row in table("a.csv")] == table("people.csv")
    p = textodds.load("people.textodds").predict_proba(Path("people.csv"))
    assert [float(row[5]) for row in table("a.csv")[1:]] == p.max(axis=1).tolist()


def test_rows_that_cannot_be_answered_keep_their_place_and_are_counted(tickets, capsys):
    lines = ['{"body": "free", "id": 1}', '{"body": null, "id": 2}', "nonsense", '{"body": "zebra", "id": 4}']
    Path("new.jsonl").write_text("\n".join(lines))
    command = ["predict", "t.textodds", "new.jsonl", "-o", "a.csv"]
    assert main(command) == 2
    assert "new.jsonl, line 2: text is null" in capsys.readouterr().err
    assert not Path("a.csv").exists()
    assert main([*command, "--bad-rows", "skip", "--rejects", "bad.jsonl"]) == 0
    err = capsys.readouterr().err
    assert "skipped 1 row: text is null\n" in err
    assert "2 skipped rows in bad.jsonl\n" in err
    assert "1 row could not be read, and has no answer\n" in err
    assert "1 text has no word in the model's vocabulary (row 3): answered by the prior\n" in err
    rejected = [json.loads(line)["line"] for line in Path("bad.jsonl").read_text().splitlines()]
    assert rejected == [2, 3]
    assert [row[1:3] for row in table("a.csv")] == [["id", "label"], ["1", "spam"], ["2", ""], ["4", "ham"]]


def test_portions_change_nothing(tickets, monkeypatch):
    lines = [json.dumps({"body": None if n % 5 == 3 else f"free prize {n} at", "n": n}) for n in range(50)]
    Path("new.jsonl").write_text("\n".join(lines))
    command = ["predict", "t.textodds", "new.jsonl", "--bad-rows", "skip", "--quiet", "-o"]
    assert main([*command, "whole.csv"]) == 0
    monkeypatch.setattr(answered_rows, "CELLS", 14)  # seven rows of two classes
    assert main([*command, "parts.csv"]) == 0
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert [row[2] == "" for row in table("whole.csv")[1:]] == [n % 5 == 3 for n in range(50)]


def test_losses_promises_and_sets_decide_in_a_file_too(tickets):
    command = ["predict", "t.textodds", "tickets.csv", "--quiet", "-o", "a.csv"]
    assert main([*command, "--loss", "ham->spam: 20", "--abstain", "0.5"]) == 0
    head, *rows = table("a.csv", ";")
    assert head[3:] == ["label", "probability", "expected_loss"]
    assert [row[3] for row in rows] == ["", "", "ham", "ham"]
    assert main([*command, "--threshold", "0.9", "--max-error", "0.1"]) == 2


def test_no_data_of_its_own_is_written_over(tickets, capsys):
    assert main(["predict", "t.textodds", "tickets.csv", "-o", "tickets.csv"]) == 2
    assert "would replace `tickets.csv`" in capsys.readouterr().err
    assert Path("tickets.csv").read_text() == TICKETS


def test_a_file_with_a_header_alone_gives_one(tickets):
    Path("none.csv").write_text("id;body\n")
    assert main(["predict", "t.textodds", "none.csv", "-o", "a.csv", "--quiet"]) == 0
    assert Path("a.csv").read_text() == "id;body;label;probability\n"


PIPED = "stdin is read as {}: its first line {}; `--format lines` reads every line as a text\n"


@pytest.mark.parametrize(
    ("content", "rows", "said"),
    [
        (TICKETS, 4, PIPED.format("csv", "names the column `body`")),
        ("body\tn\nfree\t1\n", 1, PIPED.format("tsv", "names the column `body`")),
        ('{"n": 1, "body": "free"}\n', 1, PIPED.format("jsonl", "is a JSON object with the column `body`")),
        ("see you, body and soul\nfree\n", 2, ""),
        (
            "body\nfree\n",
            2,
            "the first line of stdin is a text, though a column is called so; or: `--format csv`\n",
        ),
    ],
)
def test_a_pipe_with_the_columns_of_the_model_is_a_table(tickets, content, rows, said):
    done = run("predict", "t.textodds", "-", input=content)
    assert len(done.stdout.splitlines()) == rows
    assert said in done.stderr
    assert ("is read as" in done.stderr) == ("is read as" in said)
    lines = run("predict", "t.textodds", "-", "--format", "lines", input=content)
    assert len(lines.stdout.splitlines()) == len(content.splitlines())


def test_a_pipe_goes_in_and_another_comes_out(tickets):
    done = process("predict", "t.textodds", "-", "-o", "-", input=gzip.compress(TICKETS.encode()), text=False)
    head, *rows = csv.reader(io.StringIO(done.stdout.decode()), delimiter=";")
    assert [row[:3] for row in rows] == ROWS[1:]
    assert head[3:] == ["label", "probability"]


def test_answers_still_come_as_lines_come(tickets):
    with subprocess.Popen(
        [*COMMAND, "predict", "t.textodds"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for text, label in (("free prize", "spam"), ("see you", "ham")):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(label)
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_process_that_is_killed_leaves_no_half_of_a_file(tickets):
    Path("answers.csv").write_text("the answers of yesterday\n")
    with subprocess.Popen(
        [*COMMAND, "predict", "t.textodds", "-", "--format", "csv", "-o", "answers.csv"],
        stdin=subprocess.PIPE,
    ) as process:
        process.stdin.write(TICKETS.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while not list(Path().glob(".textodds-*.part")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(Path().glob(".textodds-*.part"))
        process.send_signal(signal.SIGKILL)
    assert Path("answers.csv").read_text() == "the answers of yesterday\n"
    assert main(["predict", "t.textodds", "tickets.csv", "-o", "answers.csv", "--quiet"]) == 0
    assert len(table("answers.csv", ";")) == 5
    assert not list(Path().glob(".textodds-*.part"))


def test_another_column_is_never_guessed_in_the_place_of_that_of_training(tickets, capsys):
    Path("other.csv").write_text("text,kind\nfree,spam\n")
    for command in ("predict", "evaluate", "learn", "forget"):
        assert main([command, "t.textodds", "other.csv"]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: other.csv has no column `body`; its columns are `text`, `kind`\n")
        assert "hint: the model was trained with it; name the column to read: `--text text` (text=)" in err
    assert main(["explain", "t.textodds", "other.csv", "--row", "1"]) == 2
    assert main(["evaluate", "t.textodds", "other.csv", "--text", "text", "--quiet"]) == 0
    Path("unlabelled.csv").write_text("body,label\nfree,spam\n")
    assert main(["evaluate", "t.textodds", "unlabelled.csv"]) == 2
    assert "has no column `kind`" in capsys.readouterr().err
    assert main(["predict", "t.textodds", "unlabelled.csv", "--quiet"]) == 0


def test_how_files_were_read_is_remembered(capsys):
    Path("plain.csv").write_text('spam|win a "free phone\nham|see you\n')
    form = ["--no-header", "--no-quoting", "--text", "2", "--label", "1"]
    assert main(["train", "plain.csv", *form, "--quiet"]) == 0
    assert main(["evaluate", "plain.textodds", "plain.csv"]) == 0
    out, err = capsys.readouterr()
    assert "2 rows" in out
    assert err == "read as in training: `--no-quoting`\nread as in training: `--no-header`\n"
    assert main(["predict", "plain.textodds", "plain.csv", "-o", "a.csv", "--quiet"]) == 0
    lines = Path("a.csv").read_text().splitlines()
    assert [line.rsplit("|", 1)[0] for line in lines] == ['spam|win a "free phone|spam', "ham|see you|ham"]
    assert main(["learn", "plain.textodds", "plain.csv", "--quiet"]) == 0
    assert textodds.load("plain.textodds").class_documents == {"ham": 2, "spam": 2}
    assert main(["forget", "plain.textodds", "plain.csv", "--quiet"]) == 0
    Path("named.csv").write_text("1,2\nx,free\n")
    assert main(["predict", "plain.textodds", "named.csv", "--header", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_format_that_was_named_holds_for_files_that_are_called_alike(capsys):
    Path("odd.txt").write_text("text\tlabel\nfree, phone\tspam\nsee you\tham\n")
    assert main(["train", "odd.txt", "--format", "tsv", "-o", "odd.textodds", "--quiet"]) == 0
    Path("new.txt").write_text("text\tn\nfree, prize\t1\n")
    assert main(["predict", "odd.textodds", "new.txt"]) == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (1, "read as in training: `--format tsv`\n")
    Path("new.csv").write_text("text,n\nfree prize,1\n")
    assert main(["predict", "odd.textodds", "new.csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_query_is_proposed_and_not_run_by_itself(capsys):
    with sqlite3.connect("d.sqlite") as database:
        database.execute("create table mail (a text, b text)")
        database.executemany("insert into mail values (?, ?)", [("free", "spam"), ("see you", "ham")])
    query = "select a as text, b as label from mail"
    assert main(["train", "d.sqlite", "--query", query, "-o", "d.textodds", "--quiet"]) == 0
    assert main(["predict", "d.textodds", "d.sqlite"]) == 2
    assert f"--query '{query}'" in capsys.readouterr().err
    assert main(["predict", "d.textodds", "d.sqlite", "--query", query, "-o", "a.csv", "--quiet"]) == 0
    assert [row[:3] for row in table("a.csv")[1:]] == [["free", "spam", "spam"], ["see you", "ham", "ham"]]


def test_a_row_of_a_file_is_explained(tickets, capsys):
    assert main(["explain", "t.textodds", "tickets.csv", "--row", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["log_odds"] == tickets.explain(ROWS[3][1]).log_odds
    assert main(["explain", "t.textodds", "tickets.csv", "--row", "5"]) == 2
    assert "there is no row 5: the data have 4 rows" in capsys.readouterr().err


def test_the_temporary_file_has_the_mode_that_files_have(tickets):
    assert main(["predict", "t.textodds", "tickets.csv", "-o", "a.csv", "--quiet"]) == 0
    umask = os.umask(0)
    os.umask(umask)
    assert Path("a.csv").stat().st_mode & 0o777 == 0o666 & ~umask
    assert np.isfinite([float(row[4]) for row in table("a.csv", ";")[1:]]).all()
