"""Transcripts of texts that have several labels: train, predict, evaluate, explain and inspect."""

import csv
import io
import json
from pathlib import Path

import pytest

import textodds
from textodds.cli import main
from ticket_texts import tickets, write_tickets

BAR = ["--label-separator", "|"]
FAST = ["--learner", "multinomial:alpha=1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model of 400 tickets, made once."""
    folder = tmp_path_factory.mktemp("tickets")
    write_tickets(folder / "tickets.csv", tickets())
    textodds.train(folder / "tickets.csv", label_separator="|", learner="multinomial:alpha=1").save(
        folder / "tickets.textodds"
    )
    return folder


@pytest.fixture
def ticket_model(made):
    """`tickets.csv`, `test.csv` and the model of the first, in the current folder."""
    for name in ("tickets.csv", "tickets.textodds"):
        Path(name).write_bytes((made / name).read_bytes())
    write_tickets("test.csv", tickets(200, seed=1))
    return textodds.load("tickets.textodds")


def read_rows(path, delimiter=","):
    return list(csv.DictReader(io.StringIO(Path(path).read_text()), delimiter=delimiter))


def ran(capsys, *args, status=0):
    assert main(list(args)) == status, capsys.readouterr().err
    return capsys.readouterr()


def test_train_says_what_the_labels_are_what_was_tried_and_how_good_it_is(made, capsys):
    Path("tickets.csv").write_bytes((made / "tickets.csv").read_bytes())
    out, err = ran(capsys, "train", "tickets.csv", *BAR)
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("learned 400 rows of tickets.csv in ")
    assert lines[1:3] == ["text: text; label: labels", "several labels: 4 different, 1.1 a text"]
    assert [line.split() for line in lines[4:9]] == [
        ["label", "texts", "share"],
        ["billing", "150", "37.5%"],
        ["delivery", "138", "34.5%"],
        ["urgent", "94", "23.5%"],
        ["praise", "74", "18.5%"],
    ]
    tried = [line for line in lines if line.startswith(("  multinomial, ", "  softmax, "))]
    assert len(tried) == 4
    assert sum(line.endswith("chosen") for line in tried) == 1
    (held,) = [line for line in lines if line.startswith("held out, 400 texts: micro-F1 0.9")]
    assert "macro-F1 0.9" in held
    assert "log-loss a label 0.0" in held
    assert any(line.startswith("goal f1: thresholds from 0.") for line in lines)
    assert lines[-2:] == [
        'next:  textodds predict tickets.textodds --say "a text of your own"',
        "       textodds evaluate tickets.textodds TEST_DATA",
    ]


def test_train_with_test_data_measures_the_model_and_keeps_what_it_found(ticket_model, capsys):
    _, err = ran(
        capsys,
        "train",
        "tickets.csv",
        *BAR,
        *FAST,
        "--test",
        "test.csv",
        "--goal",
        "recall=0.9",
        "-o",
        "m.textodds",
    )
    assert "goal recall=0.9: " in err
    assert "  micro-F1 " in err
    assert "on 200 rows of test.csv; ranges are 95 % intervals" in err
    model = textodds.load("m.textodds")
    assert str(model.goal) == "recall=0.9"
    assert model.info["quality"]["source"] == "test.csv"
    assert model.info["quality"]["micro_f1"] == model.evaluate("test.csv").micro_f1
    assert "quality" in ran(capsys, "inspect", "m.textodds").out


def test_the_json_of_train_has_all_of_it(made, capsys):
    Path("tickets.csv").write_bytes((made / "tickets.csv").read_bytes())
    told = json.loads(ran(capsys, "train", "tickets.csv", *BAR, *FAST, "--json", "--quiet").out)
    assert told["documents"] == told["rows"] == 400
    assert told["several_labels"] is True
    assert told["classes"]["billing"] == 150
    assert told["goal"] == "f1"
    assert set(told["left_out"]) == {"n", "micro_f1", "macro_f1", "log_loss", "log_loss_before"}
    assert told["quality"] is None


def test_lists_indicators_and_fasttext_lines_make_the_same_model(made, capsys):
    rows = list(tickets())
    names = ["billing", "delivery", "praise", "urgent"]
    as_json = "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows)
    Path("lists.jsonl").write_text(as_json)
    columns = "".join(f"{text},{','.join(str(int(n in labels)) for n in names)}\n" for text, labels in rows)
    Path("columns.csv").write_text(f"text,{','.join(names)}\n" + columns)
    lines = "".join(" ".join([*(f"__label__{n}" for n in labels), text]) + "\n" for text, labels in rows)
    Path("lines.txt").write_text(lines)
    indicators = [part for name in names for part in ("--label", name)]
    expected = textodds.load(made / "tickets.textodds").predict_proba(["refund my parcel now"]).tolist()
    for data, options in (("lists.jsonl", []), ("columns.csv", indicators), ("lines.txt", [])):
        ran(capsys, "train", data, *options, *FAST, "--quiet", "-o", "same.textodds")
        found = textodds.load("same.textodds")
        assert found.classes_ == ("billing", "delivery", "praise", "urgent"), data
        assert found.predict_proba(["refund my parcel now"]).tolist() == expected, data
    ran(capsys, "train", "columns.csv", *indicators, *FAST, "--quiet", "-o", "columns.textodds")
    assert "micro-F1" in ran(capsys, "evaluate", "columns.textodds", "columns.csv").out  # columns of training


def test_predict_prints_labels_and_their_probabilities_most_probable_first(ticket_model, capsys):
    text = "refund charge my parcel is late"
    answer = ticket_model(text)
    assert len(answer.labels) > 1
    shares = "|".join(f"{answer.probabilities[label]:.4f}" for label in answer.labels)
    out, _ = ran(capsys, "predict", "tickets.textodds", "--say", text)
    assert out == f"{'|'.join(answer.labels)}\t{shares}\n"
    told = json.loads(ran(capsys, "predict", "tickets.textodds", "--say", text, "--json").out)
    assert told["labels"] == list(answer.labels)
    assert list(told["probabilities"].items()) == [(n, answer.probabilities[n]) for n in answer.labels]
    assert told["evidence"] == answer.evidence
    top = ran(capsys, "predict", "tickets.textodds", "--say", text, "--top", "1").out.split("\t")
    assert top[:2] == ["|".join(answer.labels), answer.labels[0]]
    every = json.loads(ran(capsys, "predict", "tickets.textodds", "--say", text, "--proba", "--json").out)
    assert list(every["probabilities"]) == [name for name, _ in answer.top(4)]


def test_one_threshold_or_another_goal_decides_instead(ticket_model, capsys):
    def given(*options):
        out = ran(capsys, "predict", "tickets.textodds", "test.csv", "--json", *options).out
        return [json.loads(line)["labels"] for line in out.splitlines()]

    texts = [row["text"] for row in read_rows("test.csv")]
    for options, model in (
        (("--threshold", "0.01"), ticket_model.with_thresholds(0.01)),
        (("--goal", "precision=0.8"), ticket_model.with_goal("precision=0.8")),
        (("--goal", "cost=1:99"), ticket_model.with_goal("cost=1:99")),
    ):
        assert given(*options) == [list(labels) for labels in model.predict(texts)]
    assert sum(map(len, given("--threshold", "0.01"))) > sum(map(len, given()))
    err = ran(
        capsys, "predict", "tickets.textodds", "test.csv", "--threshold", "0.1", "--goal", "f1", status=2
    ).err
    assert err.startswith("error: `--threshold` and `--goal` cannot be combined")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_file_of_answers_keeps_all_columns_and_has_the_labels(ticket_model, capsys, ending):
    ran(
        capsys,
        "predict",
        "tickets.textodds",
        "test.csv",
        "-o",
        f"a.{ending}",
        "--top",
        "2",
        "--proba",
        "--quiet",
    )
    rows = read_rows("test.csv")
    expected = ticket_model.predict([row["text"] for row in rows])
    if ending == "jsonl":
        found = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    elif ending == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        found = parquet.read_table("a.parquet").to_pylist()
    else:
        found = read_rows(f"a.{ending}", "," if ending == "csv" else "\t")
        for row in found:
            row["predicted_labels"] = [part for part in row["predicted_labels"].split("|") if part]
    names = ["text", "labels", "predicted_labels", "label_1", "probability_1", "label_2", "probability_2"]
    assert list(found[0]) == [*names, *(f"p({name})" for name in ticket_model.classes_)]
    assert [row["predicted_labels"] for row in found] == [list(labels) for labels in expected]
    assert [row["text"] for row in found] == [row["text"] for row in rows]


def test_the_separator_of_training_is_that_of_the_answers(capsys):
    write_tickets("tickets.csv", tickets(), separator=";")
    ran(capsys, "train", "tickets.csv", "--label-separator", ";", *FAST, "--quiet")
    out = ran(capsys, "predict", "tickets.textodds", "--say", "refund card parcel courier").out
    assert out.split("\t")[0].split(";") in (["billing", "delivery"], ["delivery", "billing"])


@pytest.mark.parametrize(
    ("options", "problem", "instead"),
    [
        (["--sets", "0.9"], "`--sets` is for one label a text", "`--goal precision=0.95`"),
        (["--max-error", "0.05"], "`--max-error` is for one label a text", "`--goal precision=0.95`"),
        (["--loss", "a->b: 2"], "`--loss` is for one label a text", "`--goal cost=1:5`"),
        (["--abstain", "0.5"], "`--abstain` is for one label a text", "--goal"),
        (["--prior", "uniform"], "`--prior` is for one label a text", "`--threshold 0.4`"),
        (["--familiarity"], "`--familiarity` is for one label a text", "leave it out"),
        (["--goal", "f2"], "`--goal` cannot be `f2`", "precision=0.9"),
        (["--goal", "precision=2"], "`--goal` cannot be `precision=2`", "precision=0.9"),
    ],
)
def test_what_is_for_one_label_is_refused_with_what_to_write(ticket_model, capsys, options, problem, instead):
    err = ran(capsys, "predict", "tickets.textodds", "test.csv", *options, status=2).err
    assert err.startswith(f"error: {problem}")
    assert instead in err.partition("hint: ")[2]


def test_a_goal_is_refused_by_a_model_of_one_label(model, capsys):
    for command in ("predict", "evaluate"):
        err = ran(capsys, command, "mail.textodds", "mail.csv", "--goal", "f1", status=2).err
        assert err.startswith("error: `--goal` is for several labels a text, and this model gives one")
    err = ran(capsys, "train", "mail.csv", "--learner", "multinomial", "--goal", "f1", status=2).err
    assert err.startswith("error: `goal` is for several labels a text, and these data have one")


def test_evaluate_prints_every_measure_and_a_table_by_label(ticket_model, capsys):
    found = ticket_model.evaluate("test.csv")
    out, err = ran(capsys, "evaluate", "tickets.textodds", "test.csv")
    assert err == ""
    lines = out.splitlines()
    for name, value, (low, high) in found.rows():
        (line,) = [line for line in lines if line.strip().startswith(f"{name}  ")]
        assert line.endswith(f"{value:.4f}   {low:.4f} to {high:.4f}")
    assert "  labels a text: 1.04, given " in out
    assert lines[-5].split() == ["label", "precision", "recall", "F1", "texts", "given"]
    assert [line.split()[0] for line in lines[-4:]] == sorted(
        found.by_label, key=lambda label: -found.by_label[label]["rows"]
    )
    assert json.loads(ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--json").out) == json.loads(
        json.dumps(found.as_dict())
    )


def test_fail_under_is_of_micro_f1(ticket_model, capsys):
    assert "micro-F1" in ran(capsys, "evaluate", "--help").out
    ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--fail-under", "0.5")
    err = ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--fail-under", "1", status=1).err
    assert err == f"micro-F1 {ticket_model.evaluate('test.csv').micro_f1:.4f} is below 1\n"


def test_evaluate_takes_another_goal_and_refuses_what_is_for_one_label(ticket_model, capsys):
    told = json.loads(
        ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--goal", "cost=1:99", "--json").out
    )
    assert told["micro_f1"] == ticket_model.with_goal("cost=1:99").evaluate("test.csv").micro_f1
    err = ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--loss", "a->b: 2", status=2).err
    assert err.startswith("error: `--loss` is for one label a text, and this model gives several")


def test_evaluate_writes_a_report_of_several_labels(ticket_model, capsys):
    said = ran(capsys, "evaluate", "tickets.textodds", "test.csv", "--report", "a.html")
    assert "wrote a.html" in said.err
    page = Path("a.html").read_text(encoding="utf-8")
    assert f"{ticket_model.evaluate('test.csv').micro_f1:.3f}" in page
    assert all(label in page for label in ticket_model.class_names)


def test_explain_shows_each_label_that_is_given_with_its_threshold(ticket_model, capsys):
    text = "refund my card parcel late"
    answer = ticket_model(text)
    assert set(answer.labels) == {"billing", "delivery"}
    out = ran(capsys, "explain", "tickets.textodds", "--say", text).out
    heads = [
        f"{label} {answer.probabilities[label]:.4f}: given, threshold {answer.thresholds[label]:.4f}"
        for label in answer.labels
    ]
    assert [line for line in out.splitlines() if ": given, threshold" in line] == heads
    assert out.count("\nwithout “") == 2
    told = json.loads(ran(capsys, "explain", "tickets.textodds", "--say", text, "--json").out)
    assert [each["label"] for each in told] == list(answer.labels)
    for each in told:
        assert each["given"] is True
        assert each["threshold"] == answer.thresholds[each["label"]]
        assert each["probability"] == answer.probabilities[each["label"]]
        shown = each["start"] + sum(word["log_odds"] for word in each["words"])
        assert shown == pytest.approx(each["log_odds"])
        without = ticket_model(each["flip"]["text"])
        assert each["label"] not in without.labels
        assert without.probabilities[each["label"]] == pytest.approx(each["flip"]["probability_after"])


def test_explain_takes_a_label_and_without_any_given_shows_the_most_probable(ticket_model, capsys):
    told = json.loads(
        ran(capsys, "explain", "tickets.textodds", "--say", "my card", "--label", "praise", "--json").out
    )
    assert [(each["label"], each["given"]) for each in told] == [("praise", False)]
    out = ran(capsys, "explain", "tickets.textodds", "--say", "my card", "--label", "praise").out
    assert ": not given, threshold " in out.splitlines()[0]
    text = "the a to and of"
    assert ticket_model(text).labels == ()
    (one,) = json.loads(ran(capsys, "explain", "tickets.textodds", "--say", text, "--json").out)
    assert one["label"] == ticket_model(text).top(1)[0][0]
    for options in (["--why-not", "praise"], ["--others"]):
        err = ran(capsys, "explain", "tickets.textodds", "--say", text, *options, status=2).err
        assert "a label has no rival" in err
    err = ran(capsys, "explain", "tickets.textodds", "--say", "card parcel", "--html", "a.html", status=2).err
    assert err.startswith("error: `--html` shows one label, and the text is given 2")
    ran(
        capsys,
        "explain",
        "tickets.textodds",
        "--say",
        "card parcel",
        "--html",
        "a.html",
        "--label",
        "billing",
    )
    assert "billing" in Path("a.html").read_text()


def test_a_text_of_unknown_words_is_answered_by_the_shares_of_labels(ticket_model, capsys):
    out = ran(capsys, "explain", "tickets.textodds", "--say", "zebra", "--label", "praise").out
    assert out.splitlines()[0].startswith("praise 0.18")
    assert "the model knows no word of the text" in out
    assert "1 text has no word in the model's vocabulary" in ran(
        capsys, "predict", "tickets.textodds", "--say", "zebra"
    ).err  # fmt: skip


def test_rows_of_data_are_explained_one_after_the_other(ticket_model, capsys):
    out = ran(capsys, "explain", "tickets.textodds", "test.csv", "--limit", "2").out
    assert [line for line in out.splitlines() if line.startswith("row ")] == ["row 1", "row 2"]
    out = ran(capsys, "explain", "tickets.textodds", "test.csv", "--json", "--limit", "3").out
    assert all(isinstance(json.loads(line), list) for line in out.splitlines())


def test_inspect_shows_labels_with_texts_shares_and_thresholds(ticket_model, capsys):
    out = ran(capsys, "inspect", "tickets.textodds", "--top", "3").out
    lines = out.splitlines()
    assert lines[0] == "tickets.textodds"
    assert lines[1].split(maxsplit=1) == ["labels", "4 different, 1.1 a text"]
    facts = {line.split()[0] for line in lines[1 : lines.index("")]}
    assert {"documents", "learner", "goal", "held", "file", "data"} <= facts
    told = json.loads(ran(capsys, "inspect", "tickets.textodds", "--json").out)
    assert told["labels"]["praise"]["texts"] == 74
    assert told["labels"]["praise"]["share"] == 0.185
    assert told["labels"]["praise"]["threshold"] == ticket_model.thresholds[2]
    assert told["left_out"]["micro_f1"] > 0.9
    assert {word["word"] for word in told["top_words"]["billing"][:5]} == {
        "invoice", "refund", "charge", "payment", "card"
    }  # fmt: skip


def test_inspect_shows_one_label_and_words(ticket_model, capsys):
    told = json.loads(
        ran(capsys, "inspect", "tickets.textodds", "--class", "urgent", "--word", "asap", "--json").out
    )
    assert list(told["top_words"]) == ["urgent"]
    (word,) = told["asked"]
    assert word["log_odds"]["urgent"] == pytest.approx(dict(ticket_model.top_words("urgent", 50))["asap"])
    out = ran(capsys, "inspect", "tickets.textodds", "--word", "asap", "--word", "zebra").out
    assert "`zebra` is not among the words of the model" in out
    err = ran(capsys, "inspect", "tickets.textodds", "--between", "urgent", "praise", status=2).err
    assert err.startswith("error: `--between` is for one label a text")


def test_words_says_which_words_such_a_model_knows(ticket_model, capsys):
    told = json.loads(ran(capsys, "words", "refund zebra", "--model", "tickets.textodds", "--json").out)
    assert told["unknown"] == ["zebra"]


def test_what_is_not_there_for_several_labels_is_refused_in_a_sentence(ticket_model, capsys):
    for command in (["diff", "tickets.textodds", "tickets.textodds"], ["sample", "tickets.textodds"]):
        err = ran(capsys, *command, status=2).err
        assert err.startswith("error: `tickets.textodds` is a model of several labels a text")
    err = ran(capsys, "compare", "tickets.csv", *BAR, status=2).err
    assert err.startswith("error: `compare` is for one label a row, and these data may have several")
    err = ran(capsys, "train", "tickets.csv", *BAR, "--spark", "local[1]", status=2).err
    assert err.startswith(
        "error: on Spark several labels come as arrays, not behind one another in one field"
    )


def test_texts_of_several_columns_have_several_labels_too(capsys):
    rows = [[text.split()[0], text, "|".join(labels)] for text, labels in tickets(300)]
    Path("mail.csv").write_text("\n".join(map(",".join, [["subject", "body", "tags"], *rows])) + "\n")
    columns = ["--text", "subject", "--text", "body"]
    ran(
        capsys,
        "train",
        "mail.csv",
        "--learner",
        "multinomial",
        *columns,
        "--label",
        "tags",
        *BAR,
        *FAST,
        "--quiet",
    )
    row = json.dumps({"subject": "hello", "body": "refund my card parcel late"})
    told = json.loads(ran(capsys, "explain", "mail.textodds", "--say", row, "--json").out)
    assert {each["label"] for each in told} == {"billing", "delivery"}
    ran(capsys, "predict", "mail.textodds", "mail.csv", "-o", "a.csv", "--quiet")
    assert list(read_rows("a.csv")[0]) == ["subject", "body", "tags", "labels"]


def test_one_label_that_is_there_or_not_is_a_model_too(capsys):
    rows = [("free prize" if i % 3 else f"see you {i}", ["spam"] if i % 3 else []) for i in range(150)]
    write_tickets("mail.csv", rows)
    err = ran(capsys, "train", "mail.csv", "--learner", "multinomial", *BAR, *FAST).err
    assert "several labels: 1 different, 0.7 a text" in err
    assert ran(capsys, "predict", "mail.textodds", "--say", "free prize").out.startswith("spam\t")
    assert ran(capsys, "predict", "mail.textodds", "--say", "see you").out == "\t\n"


def test_a_smaller_file_answers_the_same_and_cannot_learn(ticket_model, capsys):
    ran(capsys, "train", "tickets.csv", *BAR, *FAST, "--no-counts", "--quiet", "-o", "small.textodds")
    said = ["--say", "refund my card"]
    assert ran(capsys, "predict", "small.textodds", *said).out == ran(
        capsys, "predict", "tickets.textodds", *said
    ).out  # fmt: skip
    told = json.loads(ran(capsys, "inspect", "small.textodds", "--json").out)
    assert told["labels"]["praise"]["texts"] == 74
    assert told["counts"] is told["keeps_documents"] is False
    ran(capsys, "learn", "small.textodds", *said, "--label-is", "billing", status=2)


def test_a_goal_needs_held_out_texts(capsys):
    Path("few.csv").write_text("text,labels\n" + "free card,a|b\nlate card,a\n" * 4)
    ran(capsys, "train", "few.csv", *BAR, "--quiet")
    err = ran(capsys, "predict", "few.textodds", "--say", "card", "--goal", "recall=0.9", status=2).err
    assert "hint: train on at least 100 texts; or give one: `--threshold 0.3`" in err
    ran(capsys, "predict", "few.textodds", "--say", "card", "--goal", "cost=1:3")


@pytest.mark.realdata
def test_emotions_of_comments_are_learned_and_measured(data_folder, capsys):
    data = data_folder / "multi_goemotions"
    how = ["--learner", "multinomial", "--test", str(data / "test.csv.gz"), "-o", "emotions.textodds"]
    told = json.loads(ran(capsys, "train", str(data / "train.csv.gz"), *BAR, *how, "--json", "--quiet").out)
    assert len(told["classes"]) == 28
    assert told["labels_per_text"] == pytest.approx(1.17, abs=0.01)
    assert told["quality"]["micro_f1"] > 0.4
    assert told["left_out"]["micro_f1"] == pytest.approx(told["quality"]["micro_f1"], abs=0.03)
