"""Transcripts of texts that have several labels: learn, forget, merge, mix, audit, and bad data."""

import json
from pathlib import Path

import numpy as np
import pytest

import textodds
from textodds.cli import main
from ticket_texts import tickets, write_tickets

BAR = ["--label-separator", "|"]
FAST = ["--learner", "multinomial:alpha=1"]
TEXT = "the zebra is broken now"


def ran(capsys, *args, status=0):
    assert main(list(args)) == status, capsys.readouterr().err
    return capsys.readouterr()


@pytest.fixture
def changed(capsys):
    """A model of `tickets.csv` in `tickets.textodds`, and how it answers."""
    write_tickets("tickets.csv", tickets(300))
    ran(capsys, "train", "tickets.csv", *BAR, *FAST, "--quiet")
    return lambda: textodds.load("tickets.textodds").predict_proba(["zebra parcel", "refund now"])


def test_texts_are_learned_relabelled_and_forgotten_with_several_labels(changed, capsys):
    before = changed()
    both = ["--say", TEXT, "--label-is", "urgent", "--label-is", "billing"]
    err = ran(capsys, "learn", "tickets.textodds", *both).err
    assert err == "learned 1 row: tickets.textodds now has 301 documents with 4 labels, 33 words\n"
    learned = changed()
    assert not np.array_equal(learned, before)
    err = ran(
        capsys,
        "learn",
        "tickets.textodds",
        "--say",
        TEXT,
        "--add-label",
        "praise",
        "--remove-label",
        "billing",
    ).err
    assert err.splitlines()[:2] == ["relabelled 1 text", f"“{TEXT}” now has praise, urgent"]
    ran(capsys, "forget", "tickets.textodds", "--say", TEXT, "--label-is", "urgent", "--label-is", "praise")
    assert np.array_equal(changed(), before)


def test_a_text_with_other_labels_is_not_forgotten_and_they_are_named(changed, capsys):
    ran(capsys, "learn", "tickets.textodds", "--say", TEXT, "--label-is", "")
    ran(capsys, "learn", "tickets.textodds", "--say", "a zebra", "--label-is", "urgent")
    file = Path("tickets.textodds").read_bytes()
    err = ran(
        capsys,
        "forget",
        "tickets.textodds",
        "--say",
        TEXT,
        "--label-is",
        "billing",
        "--label-is",
        "urgent",
        status=2,
    ).err
    assert err.startswith(
        f"error: the text `{TEXT}` was not learned as `billing, urgent`, or is forgotten already"
    )
    err = ran(capsys, "forget", "tickets.textodds", "--say", "a zebra", "--label-is", "", status=2).err
    assert "was not learned as `no label`" in err
    assert Path("tickets.textodds").read_bytes() == file
    ran(capsys, "forget", "tickets.textodds", "--say", TEXT, "--label-is", "")


def test_data_are_learned_as_those_of_training_were_read(changed, capsys):
    before = changed()
    write_tickets("more.csv", tickets(50, seed=3))
    write_tickets("commas.csv", tickets(50, seed=3), separator=";")
    ran(capsys, "learn", "tickets.textodds", "more.csv", "--quiet")
    learned = changed()
    ran(capsys, "forget", "tickets.textodds", "commas.csv", "--label-separator", ";", "--quiet")
    assert np.array_equal(changed(), before)
    columns = ["billing", "delivery", "praise", "urgent"]
    rows = [[text, *(str(int(name in labels)) for name in columns)] for text, labels in tickets(50, seed=3)]
    Path("columns.csv").write_text("\n".join(",".join(row) for row in [["text", *columns], *rows]) + "\n")
    ran(
        capsys,
        "learn",
        "tickets.textodds",
        "columns.csv",
        *(x for n in columns for x in ("--label", n)),
        "--quiet",
    )
    assert np.array_equal(changed(), learned)


def test_documents_with_ids_keep_their_labels(changed, capsys):
    both = ["--say", TEXT, "--document-id", "t1", "--label-is", "urgent", "--label-is", "billing"]
    ran(capsys, "learn", "tickets.textodds", *both)
    err = ran(capsys, "learn", "tickets.textodds", *both).err
    assert err.startswith("left out 1 row whose id was learned before")
    err = ran(
        capsys,
        "learn",
        "tickets.textodds",
        "--say",
        TEXT,
        "--document-id",
        "t1",
        "--label-is",
        "praise",
        status=2,
    ).err
    assert "`t1` was learned as `billing, urgent`, and now comes as `praise`" in err


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--say", "x"], "`--say` needs `--label-is LABEL`"),
        (["--say", "x y", "--label-is", "refunds"], "the model has no class `refunds`"),
        (["--say", "x y", "--add-label", "urgent"], "the text was not learned"),
        (["--add-label", "urgent"], "labels are added to and removed from texts given with `--say`"),
        (["--say", "x", "--add-label", "urgent", "--label-is", "billing"], "`--label-is` cannot be combined"),
        (
            ["--say", "x", "--add-label", "urgent", "--label-separator", ";"],
            "`--label-separator` is about data",
        ),
        (["--say", "x", "--add-label", "urgnt"], "the model has no class `urgnt`; did you mean `urgent`?"),
        (
            ["tickets.csv", "--label-is", "urgent", *BAR],
            "`--label-separator` and `--label-is` cannot be combined",
        ),
    ],
)
def test_what_cannot_be_learned_is_refused_and_nothing_is_changed(changed, capsys, args, problem):
    file = Path("tickets.textodds").read_bytes()
    err = ran(capsys, "learn", "tickets.textodds", *args, status=2).err
    assert err.startswith(f"error: {problem}")
    assert Path("tickets.textodds").read_bytes() == file


def test_a_model_of_one_label_takes_one_label_a_text(model, capsys):
    err = ran(
        capsys, "learn", "mail.textodds", "--say", "free", "--label-is", "spam", "--label-is", "ham", status=2
    ).err
    assert err.startswith("error: `--label-is` is given 2 times, and the model gives one label a text")
    err = ran(capsys, "learn", "mail.textodds", "--say", "free", "--add-label", "spam", status=2).err
    assert err.startswith("error: `--add-label` and `--remove-label` are for several labels a text")
    Path("several.csv").write_text("text,label\nfree phone,spam|ham\n")
    err = ran(capsys, "learn", "mail.textodds", "several.csv", *BAR, status=2).err
    assert "the data have several labels a row, and the model gives one" in err


def test_models_of_parts_merge_to_the_model_of_all(changed, capsys):
    write_tickets("a.csv", list(tickets(300))[:150])
    write_tickets("b.csv", list(tickets(300))[150:])
    for name in "ab":
        ran(capsys, "train", f"{name}.csv", *BAR, *FAST, "--quiet")
    err = ran(capsys, "merge", "a.textodds", "b.textodds", "-o", "both.textodds").err
    assert err.startswith("wrote both.textodds: 300 documents with 4 labels, ")
    both = textodds.load("both.textodds").predict_proba(["zebra parcel", "refund now"])
    assert np.array_equal(both, changed())


def test_mix_estimates_the_share_of_texts_with_each_label(changed, capsys):
    rows = list(tickets(400, seed=5))
    write_tickets("new.csv", rows)
    told = json.loads(ran(capsys, "mix", "tickets.textodds", "new.csv", "--json").out)
    assert told["n"] == 400
    shares = textodds.load("tickets.textodds").label_shares([text for text, _ in rows])
    for name, each in told["labels"].items():
        assert each["share"] == pytest.approx(shares[name])
        low, high = each["interval"]
        assert low < each["share"] < high
        assert low - 0.02 < np.mean([name in labels for _, labels in rows]) < high + 0.02
    out = ran(capsys, "mix", "tickets.textodds", "new.csv").out.splitlines()
    assert out[0].split() == ["label", "share", "now", "95", "%", "interval", "in", "training"]
    Path("empty.csv").write_text("text\n")
    assert "there are no documents" in ran(capsys, "mix", "tickets.textodds", "empty.csv", status=2).err


def test_audit_lists_labels_that_look_missing_and_wrong(capsys):
    rows = list(tickets(400))
    missing = next(i for i, (_, labels) in enumerate(rows) if labels == ["delivery"])
    wrong = next(i for i, (_, labels) in enumerate(rows) if labels == ["billing"])
    rows[missing] = (rows[missing][0], [])
    rows[wrong] = (rows[wrong][0], ["billing", "praise"])
    write_tickets("tickets.csv", rows)
    out, err = ran(capsys, "audit", "tickets.csv", *BAR, *FAST, "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    by_row = {(each["row"], each["label"]): each for each in found}
    assert by_row[missing + 1, "delivery"]["verdict"] == "looks missing"
    assert by_row[missing + 1, "delivery"]["text"] == rows[missing][0]
    assert by_row[missing + 1, "delivery"]["probability"] > 0.5
    assert by_row[wrong + 1, "praise"]["verdict"] == "looks wrong"
    assert by_row[wrong + 1, "praise"]["labels"] == ["billing", "praise"]
    out, err = ran(capsys, "audit", "tickets.csv", *BAR, *FAST, "--top", "1")
    assert err.startswith("400 texts, each by a model of others: ")
    assert "1 label that looks missing, the most suspicious first" in out
    assert "1 label that looks wrong, the most suspicious first" in out


def test_rows_that_are_read_otherwise_than_written_are_reported(capsys):
    Path("messy.csv").write_text("text,labels\n" + "free card,a|a\nlate card,a||b\nfree late,\n" * 4)
    err = ran(capsys, "train", "messy.csv", *BAR).err
    assert err.startswith(
        "warning: 4 rows have a label twice: it counts once\n"
        "warning: 4 rows have an empty label beside others: it is left out\n"
    )
    assert textodds.load("messy.textodds").class_documents == {"a": 8.0, "b": 4.0}
    Path("single.csv").write_text("text,label\n" + "free card,a\nlate card,b\n" * 4)
    err = ran(capsys, "train", "single.csv", *BAR).err
    assert err.startswith("warning: no row has the separator '|' between labels: each has one at most\n")


def test_such_rows_are_reported_wherever_labels_are_read(changed, capsys):
    Path("more.csv").write_text("text,labels\nrefund card,billing|billing\nlate parcel,delivery\n")
    for command in ("learn", "evaluate", "forget"):
        err = ran(capsys, command, "tickets.textodds", "more.csv").err
        assert err.startswith("warning: 1 row has a label twice: it counts once\n"), command
    Path("more.csv").write_text("text,labels\nrefund card,billing\n")  # which need not have the separator
    assert ran(capsys, "evaluate", "tickets.textodds", "more.csv").err == ""


def test_a_label_with_the_separator_in_it_comes_in_a_list_and_is_escaped_in_a_field(capsys):
    rows = [{"text": f"card {i}", "labels": ["a|b", "c"]} for i in range(8)]
    Path("lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran(capsys, "train", "lists.jsonl", "--quiet")
    out = ran(capsys, "predict", "lists.textodds", "--say", "card 1", "--threshold", "0").out
    assert sorted(out.split("\t")[0].replace("\\|", "/").split("|")) == ["a/b", "c"]
    ran(capsys, "predict", "lists.textodds", "lists.jsonl", "--threshold", "0", "-o", "a.jsonl", "--quiet")
    first = json.loads(Path("a.jsonl").read_text().splitlines()[0])
    assert sorted(first["predicted_labels"]) == ["a|b", "c"]


@pytest.mark.parametrize(
    ("file", "content", "options", "problem"),
    [
        ("a.csv", "text,x,y\nfree,1,0\nlate,maybe,1\n", ["--label", "x", "--label", "y"],
         "a.csv, line 3: column `x` has `maybe`, where 1 says that the label is there"),
        ("a.csv", "text,labels\nfree,\nlate,\n", BAR, "no text has a label"),
        ("a.csv", "text,x,y\nfree,1,0\n", ["--label", "x", "--label", "y", *BAR],
         "`label_separator` stands within one column"),
        ("a.csv", "text,x\nfree,1\n", ["--label", "x", "--label", "z"], "a.csv has no z column"),
        ("a.csv", "text,labels\nfree,a|b\n", ["--label-separator", " "], "`label_separator` is ' '"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n{"text": "b", "label": ["x", "y"]}\n', [],
         "a.jsonl, line 2: label is ['x', 'y'] (list)"),
        ("a.jsonl", '{"text": "a", "labels": [1, "x"]}\n', [], "labels are of mixed types"),
        ("a.jsonl", '{"text": "a", "labels": ["x", " "]}\n', [], "a.jsonl, line 1: a label is blank"),
        ("a.jsonl", '{"text": "a", "labels": [{"x": 1}]}\n', [], "a.jsonl, line 1: label is {'x': 1} (dict)"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_read_are_refused_with_their_row(capsys, file, content, options, problem):
    Path(file).write_text(content)
    err = ran(capsys, "train", file, *options, status=2).err
    assert problem in err
    assert "error: " in err


def test_labels_that_the_model_lacks_are_missed_or_where_there_are_no_others_refused(changed, capsys):
    Path("test.csv").write_text("text,labels\nrefund charge card,billing|martian\nparcel late,delivery\n")
    out = ran(capsys, "evaluate", "tickets.textodds", "test.csv").out
    assert "labels that the model does not have (martian): 1, missed in micro- and sample-F1" in out
    Path("test.csv").write_text("text,labels\nrefund charge card,martian\n")
    err = ran(capsys, "evaluate", "tickets.textodds", "test.csv", status=2).err
    assert err.startswith(
        "error: none of the 1 rows has a label of the model: they have `martian`, it has `billing`"
    )
