"""What a new user types in the first hour, with the answers: sessions, as they are on the terminal."""

import json
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forked
import textodds
from pairs import together
from textodds.cli import main

from .transcripts import COMMAND, MAIL
from .transcripts import textodds as process

MESSY = Path(__file__).parents[1] / "messy"


@pytest.fixture
def session(capsys, monkeypatch):
    """Runs a line, and returns the exit status, what is on stdout and what is on stderr."""

    def run(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def refused(session, *words):
    """The error of a line that cannot be done."""
    status, out, err = session(*words)
    assert (status, out) == (2, "")
    return err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["predict", "mail.csv", "mail.textodds"], "textodds predict mail.textodds mail.csv"),
        (["evaluate", "mail.csv", "mail.textodds"], "textodds evaluate mail.textodds mail.csv"),
        (["explain", "mail.csv", "mail.textodds"], "textodds explain mail.textodds mail.csv"),
        (["explain", "a free phone", "mail.textodds"], "textodds explain mail.textodds --say 'a free phone'"),
        (["predict", "a free phone", "mail.textodds"], "textodds predict mail.textodds --say 'a free phone'"),
        (["learn", "mail.csv", "mail.textodds"], "textodds learn mail.textodds mail.csv"),
        (["forget", "mail.csv", "mail.textodds"], "textodds forget mail.textodds mail.csv"),
        (["mix", "mail.csv", "mail.textodds"], "textodds mix mail.textodds mail.csv"),
        (["predict", "mail.csv", "new.textodds"], "textodds predict new.textodds mail.csv"),
        (["evaluate", "a.csv", "mail.model", "b.csv"], "textodds evaluate mail.model a.csv b.csv"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_swapped_arguments_are_recognised(session, model, line, meant):
    shutil.copy("mail.textodds", "mail.model")  # known by its content
    before = Path("mail.textodds").read_bytes(), Path("mail.csv").read_bytes()
    assert refused(session, *line) == (
        f"error: the first argument is the model, and `{line[1]}` is not one\n\n"
        f"hint: did you mean `{meant}`?\n"
    )
    assert (Path("mail.textodds").read_bytes(), Path("mail.csv").read_bytes()) == before


TAKES = {
    "predict": [],
    "explain": [],
    "learn": ["--label-is", "spam", "-o", "new.textodds"],
    "forget": ["--label-is", "spam", "-o", "new.textodds"],
}


@pytest.mark.parametrize("command", TAKES)
def test_texts_are_taken_alike_with_say_from_a_file_and_from_stdin(model, command):
    """One text, and two; learned ones, so that they can be forgotten."""
    line = [command, "mail.textodds", *TAKES[command]]
    for texts in (["win a free phone"], ["win a free phone", "free prize inside"]):
        Path("new.txt").write_text("".join(f"{text}\n" for text in texts))
        Path("new.csv").write_text("text,n\n" + "".join(f"{text},1\n" for text in texts))
        ways = [
            ([part for text in texts for part in ("--say", text)], ""),
            (["new.txt"], ""),
            (["new.csv"], ""),
            ([], Path("new.txt").read_text()),
            (["-"], Path("new.txt").read_text()),
            (["-"], Path("new.csv").read_text()),
        ]
        answers = []
        for way, stdin in ways:
            done = forked.run(*line, *way, "--json", input=stdin)
            assert done.returncode == 0, done.stderr
            answers.append(done.stdout)
        assert len(set(answers)) == 1
        rows = [json.loads(row) for row in answers[0].splitlines()]
        if command in ("learn", "forget"):
            (changed,) = rows
            assert changed["classes"]["spam"] == 3 + (len(texts) if command == "learn" else -len(texts))
        else:
            assert [row["label"] for row in rows] == ["spam"] * len(texts)


@pytest.mark.parametrize("command", TAKES)
def test_what_cannot_be_taken_is_refused_alike(session, model, command):
    line = [command, "mail.textodds", *TAKES[command]]
    label = " --label-is LABEL" if TAKES[command] else ""
    assert refused(session, *line, "win a free phone") == (
        "error: no file at `win a free phone`\n\n"
        f'hint: for a text rather than a file: --say "win a free phone"{label}\n'
    )
    assert refused(session, *line, "free") == (
        f'error: no file at `free`\n\nhint: for a text rather than a file: --say "free"{label}\n'
    )
    assert refused(session, *line, "mail.cvs").endswith("hint: did you mean `mail.csv`?\n")
    assert refused(session, *line, "mail.csv", "--say", "free") == (
        "error: `--say` cannot be combined with DATA\n\nhint: leave out one of the two\n"
    )
    assert refused(session, *line, "--say", "free", "--format", "csv") == (
        "error: `--format` is about data, but the text is given with `--say`\n\n"
        "hint: leave out one of the two\n"
    )


def test_rows_of_a_file_are_explained_ten_at_first(session, model):
    texts = [f"free prize {n}" for n in range(12)]
    Path("new.csv").write_text("text\n" + "".join(f"{text}\n" for text in texts))
    status, out, err = session("explain", "mail.textodds", "new.csv")
    assert (status, err) == (0, "\nthat was 10 rows; for more: `--limit N`, for one: `--row N`\n")
    shown = [line for line in out.splitlines() if line.startswith("row ")]
    assert shown == [f"row {n}" for n in range(1, 11)]
    status, out, err = session("explain", "mail.textodds", "new.csv", "--limit", "12")
    assert (out.count("\nfree prize "), err) == (12, "")
    status, out, err = session("explain", "mail.textodds", "new.csv", "--row", "12")
    assert (out.splitlines()[0], err) == ("free prize 11", "")
    assert out == session("explain", "mail.textodds", "--say", "free prize 11")[1]
    status, out, err = session("explain", "mail.textodds", "new.csv", "--json")
    assert (len(out.splitlines()), err) == (12, "")
    expected = textodds.load("mail.textodds").explain(texts[3])
    assert json.loads(out.splitlines()[3])["log_odds"] == expected.log_odds
    assert refused(session, "explain", "mail.textodds", "new.csv", "--html", "why.html") == (
        "error: `--html` takes one text, got several\n\nhint: choose one: `--row N`\n"
    )
    assert session("explain", "mail.textodds", "new.csv", "--row", "2", "--html", "why.html")[0] == 0
    assert "free prize" not in session("explain", "mail.textodds", "new.csv", "--row", "2", "--quiet")[2]
    for row_or_limit in ("--row", "--limit"):
        assert f"`{row_or_limit}` is about data" in refused(
            session, "explain", "mail.textodds", "--say", "free", row_or_limit, "1"
        )
    assert "`--row` and `--limit` cannot be combined" in refused(
        session, "explain", "mail.textodds", "new.csv", "--row", "1", "--limit", "2"
    )


def test_rows_of_a_table_are_explained(session):
    Path("rows.csv").write_text("size,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(20)))
    assert session("train", "rows.csv", "--quiet") == (0, "", "")
    status, out, err = session("explain", "rows.textodds", "rows.csv", "--limit", "2", "--json")
    assert (status, len(out.splitlines()), err) == (0, 2, "")
    assert (
        out.splitlines()[1]
        == session("explain", "rows.textodds", "--say", '{"size": 1}', "--json")[1].strip()
    )


def test_explanations_come_as_lines_come(model):
    """A pipe that is not at its end is answered."""
    command = [*COMMAND, "explain", "mail.textodds", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for text, label in (("free prize", "spam"), ("see you", "ham")):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["label"] == label
        process.stdin.close()
        assert process.wait(120) == 0


def test_a_label_for_all_is_not_beside_a_column_of_labels(session, model):
    line = ["learn", "mail.textodds", "mail.csv", "--label-is", "spam"]
    assert "`--label` and `--label-is` cannot be combined" in refused(session, *line, "--label", "label")
    assert "`--label-is` is empty" in refused(session, "learn", "mail.textodds", "mail.csv", "--label-is", "")
    assert "has no class `spamm`; did you mean `spam`?" in refused(
        session, "learn", "mail.textodds", "mail.csv", "--label-is", "spamm"
    )


def test_a_model_is_not_taken_for_data(session, model):
    assert refused(session, "train", "mail.textodds", "mail.csv", "-o", "new.textodds") == (
        "error: `mail.textodds` is a model, not data\n\n"
        "hint: put the data after the model: `textodds learn MODEL DATA`\n"
    )


@together
@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("--sep", "the separator (`,` `;` tab `|`) is detected; `--format tsv` takes tabs only"),
        ("--delimiter", "the separator (`,` `;` tab `|`) is detected; `--format tsv` takes tabs only"),
        ("--target", "it is called `--label`"),
        ("--y", "it is called `--label`"),
        ("--x", "it is called `--text`"),
        ("--out", "it is called `--output`"),
        ("--n_jobs", "it is called `--threads`"),
        ("--classifier", "it is called `--learner`"),
        ("--seed", "leave it out: nothing is random, and the same data give the same model"),
        ("--test-size", "leave it out: texts are held out to measure by, or name others with `--test DATA`"),
    ],
)
def test_options_that_people_know_from_elsewhere_are_answered(capsys, option, answer):
    assert main(["train", "mail.csv", "--learner", "multinomial", option, "x"]) == 2
    assert capsys.readouterr().err == f"error: there is no option `{option}`\n\nhint: {answer}\n"


@together
@pytest.mark.parametrize(
    ("option", "near"),
    [("--lable", "--label"), ("--txt", "--text"), ("--treads", "--threads"), ("--bad-row", "--bad-rows"),
     ("--hep", "--help"), ("--zip", None), ("--set", None), ("--par", None)],
)  # fmt: skip
def test_only_what_is_near_is_proposed(capsys, option, near):
    assert main(["train", "mail.csv", "--learner", "multinomial", option, "x"]) == 2
    meant = "" if near is None else f"; did you mean `{near}`?"
    assert capsys.readouterr().err.splitlines()[0] == f"error: there is no option `{option}`{meant}"


@together
@pytest.mark.parametrize(
    ("name", "stored"),
    [("logistic", "softmax"), ("logistic-regression", "softmax"), ("lr", "softmax"), ("maxent", "softmax"),
     ("nb", "multinomial"), ("naive-bayes", "multinomial"), ("bayes", "multinomial"),
     ("BernoulliNB", "bernoulli"), ("nb:alpha=0.5", "multinomial"), ("nb_softmax", "nb-softmax")],
)  # fmt: skip
def test_learners_go_by_the_names_people_know(mail, capsys, name, stored):
    Path("mail.csv").write_text(MAIL)
    assert main(["train", "mail.csv", "--learner", name, "--quiet"]) == 0, capsys.readouterr().err
    assert textodds.load("mail.textodds").recipe.as_dict()["learner"]["learner"] == stored


def test_two_names_of_one_learner_are_one_learner(session, mail):
    assert refused(session, "train", "mail.csv", "--learner", "nb,multinomial") == (
        "error: `multinomial` is named twice\n\nhint: leave out one of the two\n"
    )


def test_a_support_vector_machine_is_answered_with_a_learner_that_there_is(session, mail):
    assert refused(session, "train", "mail.csv", "--learner", "svm") == (
        "error: `svm` is a support vector machine, which has no probabilities of its own\n\n"
        "hint: softmax regression is a linear model too, and about as accurate: `--learner softmax`\n"
    )


@together
@pytest.mark.parametrize(
    ("address", "what", "hint"),
    [
        (
            "https://example.com/mail.csv",
            "a web address",
            "`curl -L -o mail.csv https://example.com/mail.csv`",
        ),
        ("s3://bucket/mail.parquet", "in cloud storage", "`aws s3 cp s3://bucket/mail.parquet .`"),
        ("gs://bucket/mail.csv", "in cloud storage", "`gcloud storage cp gs://bucket/mail.csv .`"),
        ("postgresql://me:secret@host/db", "a database server", "write the rows to a file"),
        ("mysql://host/db", "a database server", "--query 'SELECT text, label FROM mail'"),
        ("jdbc:postgresql://me:secret@host/db", "a database server", "write the rows to a file"),
        ("file:///tmp/mail.csv", "an address, not a path", "`/tmp/mail.csv`"),
        ("sqlite:///data/mail.db", "an address, not a path", "`data/mail.db`"),
    ],
)
def test_an_address_is_answered_by_what_to_do(capsys, address, what, hint):
    assert main(["train", address]) == 2
    err = capsys.readouterr().err
    assert f"is {what}" in err.splitlines()[0]
    assert hint in err
    assert "no file" not in err
    assert "secret" not in err


def test_an_address_is_answered_wherever_data_are_read(session, model):
    assert "a web address" in refused(session, "predict", "mail.textodds", "https://example.com/new.csv")
    assert "in cloud storage" in refused(
        session, "train", "mail.csv", "--learner", "multinomial", "--test", "s3://bucket/test.csv"
    )
    with pytest.raises(textodds.errors.BadFile, match="a database server"):
        textodds.train("postgresql://host/db")
    assert refused(session, "predict", "https://example.com/mail.textodds", "mail.csv") == (
        "error: `https://example.com/mail.textodds` is a web address, and only files on this machine are read"
        "\n\nhint: download it first: `curl -L -o mail.textodds https://example.com/mail.textodds`, "
        "then name `mail.textodds`\n"
    )


def test_files_of_other_names_are_not_proposed(session, model):
    Path("new.csv").write_text("text\nfree\n")
    assert "did you mean" not in refused(session, "predict", "tax.textodds", "new.csv")  # mail.textodds is
    assert "did you mean" not in refused(session, "predict", "mail.textodds", "old.csv")
    assert refused(session, "predict", "mial.textodds", "new.csv").endswith("mean `mail.textodds`?\n")


def test_a_query_beside_a_file_that_is_no_database(session, mail):
    assert refused(
        session, "train", "mail.csv", "--learner", "multinomial", "--query", "SELECT * FROM mail"
    ) == (
        "error: a query reads a database, and `mail.csv` is not one\n\n"
        "hint: name the file in the query, and leave it out before: `SELECT … FROM 'mail.csv'`\n"
    )
    line = ["train", "--query", "SELECT * FROM 'mail.csv'", "-o", "q.textodds", "--quiet"]
    assert session(*line) == (0, "", "")


def test_a_file_from_windows(session):
    shutil.copy(MESSY / "cp1252.csv", "mail.csv")
    assert refused(session, "train", "mail.csv", "--learner", "multinomial") == (
        "error: mail.csv, line 2: invalid UTF-8 at byte 3 of the text\n\n"
        "hint: it may be in cp1252, in which it reads `schöne`: `--encoding cp1252` (encoding='cp1252'), or "
        "go on without such rows with `--bad-rows skip` (bad_rows='skip')\n"
    )
    assert session("train", "mail.csv", "--learner", "multinomial", "--encoding", "cp1252", "--quiet") == (
        0,
        "",
        "",
    )
    assert session("predict", "mail.textodds", "--say", "Prämie gratis")[1].startswith("spam\t")
    status, out, err = session("evaluate", "mail.textodds", "mail.csv", "--json")
    assert (status, err) == (0, "read as in training: `--encoding cp1252`\n")
    assert session("evaluate", "mail.textodds", "mail.csv", "--encoding", "cp1252", "--json") == (0, out, "")
    assert "invalid UTF-8" in refused(session, "evaluate", "mail.textodds", "mail.csv", "--encoding", "utf-8")


def test_a_file_from_elsewhere_for_a_model_of_files_from_windows(session):
    """The encoding of training is used, which is said, and that the file looks like UTF-8."""
    shutil.copy(MESSY / "cp1252.csv", "mail.csv")
    assert session(
        "train", "mail.csv", "--learner", "multinomial", "--encoding", "windows-1252", "--quiet"
    ) == (0, "", "")
    Path("new.csv").write_text("text\nPrämie gratis\n", encoding="utf-8")
    status, misread, err = session("predict", "mail.textodds", "new.csv")
    assert (status, err.splitlines()[0]) == (
        0,
        "read as in training: `--encoding windows-1252`, though new.csv looks like UTF-8; if it is: "
        "`--encoding utf-8`",
    )
    status, out, err = session("predict", "mail.textodds", "new.csv", "--encoding", "utf-8")
    assert (status, err) == (0, "")
    assert out == session("predict", "mail.textodds", "--say", "Prämie gratis")[1] != misread
    Path("plain.csv").write_text("text\ngratis\n")
    assert (
        session("predict", "mail.textodds", "plain.csv")[2]
        == "read as in training: `--encoding windows-1252`\n"
    )


def test_the_encoding_of_training_is_for_files_of_text_only(session):
    shutil.copy(MESSY / "cp1252.csv", "mail.csv")
    assert session("train", "mail.csv", "--learner", "multinomial", "--encoding", "cp1252", "--quiet") == (
        0,
        "",
        "",
    )
    expected = session("predict", "mail.textodds", "--say", "Prämie gratis")
    pq.write_table(pa.table({"text": ["Prämie gratis"]}), "new.parquet")
    assert session("predict", "mail.textodds", "new.parquet") == expected
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("Prämie gratis", encoding="cp1252")
    status, out, err = session("predict", "mail.textodds", "texts")
    assert (status, out, err) == (0, expected[1], "read as in training: `--encoding cp1252`\n")
    done = process("predict", "mail.textodds", input="Prämie gratis\n".encode(), text=False)  # a terminal's
    assert done.stdout.decode() == expected[1]


def test_a_file_saved_as_unicode_text(session):
    shutil.copy(MESSY / "utf16.csv", "mail.csv")
    assert refused(session, "train", "mail.csv", "--learner", "multinomial") == (
        "error: `mail.csv` is in UTF-16, not in UTF-8\n\n"
        "hint: say so: `--encoding utf-16` (encoding='utf-16')\n"
    )
    assert session("train", "mail.csv", "--learner", "multinomial", "--encoding", "utf-16", "--quiet") == (
        0,
        "",
        "",
    )


def test_a_header_from_windows(session):
    Path("mail.csv").write_text("größe,text\nklein,hallo\ngroß,auf Wiedersehen\n", encoding="cp1252")
    assert refused(session, "train", "mail.csv", "--learner", "multinomial", "--label", "größe") == (
        "error: mail.csv, line 1: the names of the columns are not UTF-8\n\n"
        "hint: it may be in cp1252, in which it reads `größe`: `--encoding cp1252` (encoding='cp1252')\n"
    )
    assert (
        session(
            "train",
            "mail.csv",
            "--learner",
            "multinomial",
            "--label",
            "größe",
            "--encoding",
            "cp1252",
            "--quiet",
        )[0]
        == 0
    )


def test_a_file_without_a_header(session):
    shutil.copy(MESSY / "bare.csv", "mail.csv")
    named = ["--no-header", "--text", "2", "--label", "1"]
    shown = "`ham`, `see you at six then`, `1`"
    for line in ([], ["--text", "2", "--label", "1"]):
        err = refused(session, "train", "mail.csv", "--learner", "multinomial", *line)
        assert f"its first line looks like data: {shown}\n" in err
        assert f"if there is no header, name columns by number: `{' '.join(named)}`" in err
    assert refused(session, "train", "mail.csv", "--learner", "multinomial", "--no-header").endswith(
        "hint: columns without a header go by number, such as `--text 1 --label 2` (text='1', label='2')\n"
    )
    assert session("train", "mail.csv", "--learner", "multinomial", *named, "--quiet") == (0, "", "")
    status, out, err = session("evaluate", "mail.textodds", "mail.csv", "--json")
    assert (status, err) == (0, "read as in training: `--no-header`\n")
    assert session("evaluate", "mail.textodds", "mail.csv", "--no-header", "--json") == (0, out, "")


def test_a_header_is_not_taken_for_data(session):
    Path("mail.csv").write_text("id,words,kind\n1,free prize,spam\n")
    assert "--no-header" not in refused(
        session, "train", "mail.csv", "--learner", "multinomial", "--text", "word", "--label", "kind"
    )


def test_fields_within_fields(session):
    shutil.copy(MESSY / "nested.jsonl", "tickets.jsonl")
    assert refused(session, "train", "tickets.jsonl", "--text", "body", "--label", "meta.kind") == (
        "error: tickets.jsonl has no body column; its columns are `id`, `ticket`, `meta`, `meta.kind`; "
        "within them `ticket.subject`, `ticket.body`, `meta.kind`\n\n"
        "hint: name one with `--text COLUMN` (text='COLUMN'); did you mean `ticket.body`?\n"
    )
    named = ["--text", "ticket.body", "--label", "meta.kind"]
    assert session("train", "tickets.jsonl", *named, "--quiet") == (0, "", "")
    assert len(session("predict", "tickets.textodds", "tickets.jsonl")[1].splitlines()) == 3


def test_one_json_list_and_one_json_object(session):
    shutil.copy(MESSY / "list.json", "mail.json")
    assert session("train", "mail.json", "--quiet") == (0, "", "")
    assert Path("mail.textodds").exists()
    assert refused(session, "train", MESSY / "object.json").endswith(
        f"hint: take the list out of it: `jq -c '.rows[]' {MESSY / 'object.json'} > rows.jsonl`\n"
    )
    rows = [{"text": "free prize", "label": "spam"}, {"text": "see you", "label": "ham"}]
    Path("wrapped.json").write_text(json.dumps({"status": "ok", "data": rows}))
    assert refused(session, "train", "wrapped.json") == (
        "error: `wrapped.json` is one JSON object, not one object a line or a list\n\n"
        "hint: take the list out of it: `jq -c '.data[]' wrapped.json > rows.jsonl`\n"
    )
    Path("ticket.jsonl").write_text(json.dumps({"text": "free prize", "files": [{"name": "a.png"}]}) + "\n")
    assert session("predict", "mail.textodds", "ticket.jsonl")[1].startswith("spam")  # a row like others


def test_mail_as_it_comes(session):
    for name in ("ham.mbox", "spam.mbox"):
        shutil.copy(MESSY / name, name)
    assert session("train", "ham.mbox", "spam.mbox", "-o", "mail.textodds", "--quiet") == (0, "", "")
    out = session("predict", "mail.textodds", MESSY / "folder" / "spam" / "1.eml")[1]
    assert out.startswith("spam\t")
    assert session("train", MESSY / "folder", "-o", "folder.textodds", "--quiet") == (0, "", "")
    assert textodds.load("folder.textodds").class_documents == {"ham": 2, "spam": 2}
    two = ["--text", "subject", "--text", "body"]
    assert session("train", "ham.mbox", "spam.mbox", *two, "-o", "two.textodds", "--quiet") == (0, "", "")


def test_a_spreadsheet(session):
    pytest.importorskip("python_calamine")
    shutil.copy(MESSY / "mail.xlsx", "mail.xlsx")
    assert session("train", "mail.xlsx", "--text", "text", "--quiet") == (0, "", "")
    assert textodds.load("mail.textodds").class_documents == {"ham": 2, "spam": 1}
    assert "its sheets are `Mails`, `Notes`" in refused(session, "train", "mail.xlsx", "--sheet", "Mial")


def test_skipped_rows_stay_where_they_are(session, model):
    Path("new.csv").write_text(MAIL + MAIL.partition("\n")[2] * 9 + "no label,\n")
    before = {path.name for path in Path().iterdir()}
    skip = ["--bad-rows", "skip"]
    for line in (["evaluate", "mail.textodds"], ["learn", "mail.textodds"], ["audit"], ["compare"]):
        told = session(*line, "new.csv", *skip, *(["--models", "nb"] if line[0] == "compare" else []))
        assert told[0] in (0, 1), told
        assert {path.name for path in Path().iterdir()} == before, line
    assert session("predict", "mail.textodds", "new.csv", *skip, "--rejects", "bad.jsonl")[0] == 0
    assert not Path("bad.jsonl").exists()  # without a label nothing is bad
    assert session("evaluate", "mail.textodds", "new.csv", *skip, "--rejects", "bad.jsonl")[0] == 0
    assert '"no label,"' in Path("bad.jsonl").read_text()


def test_a_few_texts_are_learned_and_what_is_not_known_is_said(session, mail):
    Path("few.csv").write_text("text,label\nfree phone,spam\nfree prize,spam\nsee you,ham\n")
    err = session("train", "few.csv")[2]
    assert "multinomial: the default learner: model selection needs 4 texts, got 3 texts\n" in err
    assert "not measured: give held-out texts (`--test DATA`), or at least 100" in err
    err = session("train", "mail.csv")[2]
    assert "of 16 on 6 held-out texts" in err
    assert "held out, 6 texts: accuracy" in err
    assert "warning: 2 classes have fewer than 10 texts to learn from: `ham` (3), `spam` (3)\n" in err
    named = session("train", "mail.csv", "--learner", "bernoulli")[2]
    assert "usual learner" not in named  # it was asked for
    assert "not measured" in named
    tested = session("train", "mail.csv", "--test", "mail.csv")[2]
    assert "not measured" not in tested
    assert "warning: 2 classes have fewer than 10 rows to measure by: `ham` (3), `spam` (3)\n" in tested


def test_a_model_that_is_no_better_than_the_largest_class_is_warned_of(session):
    """Words that say nothing of the label, of which nine in ten are the same: 90 % right is worth nothing."""
    words = "the a to and of in is it".split()
    rows = [f"{words[i % 8]} {words[i * 3 % 8]},{'spam' if i % 10 == 9 else 'ham'}\n" for i in range(300)]
    Path("mail.csv").write_text("text,label\n" + "".join(rows))
    Path("test.csv").write_text("text,label\n" + "".join(rows[:90]))
    alone = "warning: the model does not beat the largest class: answering `ham` always has accuracy 0.9000"
    err = session("train", "mail.csv", "--learner", "multinomial")[2]
    assert ", 300 texts: accuracy 0.9000, the largest class alone 0.9000, macro-F1 0.4737, log-loss " in err
    assert err.count("warning: ") == 1
    assert f"{alone}\n" in err
    out = session("evaluate", "mail.textodds", "test.csv")[1]
    assert "  largest class alone   0.9000\n" in out
    assert f"  {alone}\n" in out
    assert "  warning: a class has fewer than 10 rows to measure by: `spam` (9)\n" in out
    assert ", the largest class alone 0.9000, macro-F1 0.4737, " in session("inspect", "mail.textodds")[1]
    out = session("compare", "mail.csv", "--models", "multinomial", "--no-curves")[1]
    assert "  the largest class alone    0.9000\n" in out
    assert f"  {alone}\n" in out
    assert json.loads(session("evaluate", "mail.textodds", "test.csv", "--json")[1])["largest_class"] == {
        "label": "ham",
        "accuracy": 0.9,
    }
