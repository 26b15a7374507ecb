import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import forked
from textodds.cli import main

from .transcripts import COMMAND, on_a_terminal

MESSAGES = Path(__file__).parents[2] / "examples" / "messages.csv"


@pytest.fixture
def messages():
    """A few hundred messages in `messages.csv`."""
    Path("messages.csv").write_bytes(MESSAGES.read_bytes())


def people(n):
    rows = [f"{170 + 8 * (i % 2) + i % 11},{60 + 9 * (i % 2) + i % 13},{'fm'[i % 2]}\n" for i in range(n)]
    return "height,weight,sex\n" + "".join(rows)


def test_models_stand_side_by_side(messages, capsys):
    assert main(["compare", "messages.csv", "--models", "multinomial,lda", "--no-curves"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, blank, titles, *lines = out.splitlines()
    assert head.startswith("messages.csv: ")
    assert head.endswith(" held out: 20 % of every class, drawn with seed 0")
    assert blank == ""
    assert (
        titles.split()
        == "model accuracy macro-F1 log-loss off by train predict 1,000 file parameters".split()
    )
    assert {line.split()[0] for line in lines[:2]} == {"multinomial", "lda"}
    assert sum("cannot be told apart" in line or " than " in line for line in lines) == 2


def test_json_has_all_of_it(messages, capsys):
    assert main(["compare", "messages.csv", "--models", "bernoulli,softmax", "--sizes", "50", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert {model["name"] for model in told["models"]} == {"bernoulli", "softmax"}
    assert [point["size"] for point in told["curves"][0]["points"]] == [50, told["setting"]["n_train"]]
    assert {each["measure"] for each in told["overtakings"]} == {"error", "log_loss"}
    assert told["is_whole"] is True


def test_the_page_is_written_and_said(messages, capsys):
    args = ["--models", "multinomial,complement", "--no-curves", "--html", "page.html"]
    assert main(["compare", "messages.csv", *args]) == 0
    assert capsys.readouterr().err == "wrote page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page


def test_a_file_of_its_own_may_be_measured_on(messages, capsys):
    Path("held.csv").write_text("label,text\n" + "spam,a free prize for you\nham,see you later\n" * 50)
    args = ["--test", "held.csv", "--models", "bernoulli", "--no-curves", "--json"]
    assert main(["compare", "messages.csv", *args]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["setting"]["held_out"] == "held.csv"
    assert told["setting"]["n_test"] == told["models"][0]["n"] == 100


def test_tables_are_compared_too(capsys):
    Path("people.csv").write_text(people(200))
    Path("more.csv").write_text(people(60))
    args = ["--label", "sex", "--models", "gaussian,lda", "--no-curves", "--test", "more.csv", "--json"]
    assert main(["compare", "people.csv", *args]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["setting"]["noun"] == "row"
    assert told["setting"]["n_test"] == 60
    assert len(told["models"]) == 2


def test_a_model_of_tables_reads_texts_as_a_column(messages, capsys):
    assert main(["compare", "messages.csv", "--models", "mixed", "--no-curves", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["setting"]["noun"] == "row"
    assert told["models"][0]["accuracy"] > 0.7


def test_a_table_on_stdin_must_be_said_to_be_one():
    done = forked.run("compare", "-", "--format", "csv", "--label", "sex", input=people(100))
    assert done.returncode == 2
    assert "or name a learner of tables: `--learner mixed`, `--models mixed`" in done.stderr
    args = ["--format", "csv", "--label", "sex", "--models", "lda,mixed", "--no-curves", "--json"]
    done = forked.run("compare", "-", *args, input=people(100))
    assert len(json.loads(done.stdout)["models"]) == 2


def test_columns_of_a_table_may_be_named(capsys):
    Path("people.csv").write_text(people(200))
    args = ["--label", "sex", "--columns", "weight=ignore", "--no-curves", "--json"]
    assert main(["compare", "people.csv", *args, "--models", "gaussian"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert (
        main(["compare", "people.csv", "--label", "sex", "--no-curves", "--json", "--models", "gaussian"])
        == 0
    )
    both = json.loads(capsys.readouterr().out)
    assert alone["models"][0]["log_loss"] > both["models"][0]["log_loss"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["nothing.csv"], "no file at `nothing.csv`"),
        ([], "there is no data"),
        (["messages.csv", "--models", "sofmax"], "unknown learner `sofmax`; did you mean `softmax`?"),
        (["messages.csv", "--test", "messages.csv", "--held-out", "0.5"], "`--test` is held out already"),
        (["messages.csv", "--no-curves", "--budget", "5s"], "`--no-curves` cannot be combined"),
        (["messages.csv", "--budget", "soon"], "`--budget` cannot be `soon`"),
        (["messages.csv", "--sizes", "10,x"], "`--sizes` cannot be `10,x`"),
        (
            ["messages.csv", "--html", "no/such/page.html"],
            "cannot write `no/such/page.html`: there is no folder `no/such`",
        ),
        (
            ["messages.csv", "--html", "messages.csv"],
            "the page would replace `messages.csv`, which DATA names",
        ),
        (["messages.csv", "--keep", "messages.csv"], "the file of measurements would replace `messages.csv`"),
        (["messages.csv", "--keep", "no/kept"], "cannot keep measurements in `no/kept`"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_work(messages, capsys, args, problem):
    before = Path("messages.csv").read_bytes()
    assert main(["compare", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")
    assert Path("messages.csv").read_bytes() == before


def test_too_little_data_is_said(mail, capsys):
    assert main(["compare", "mail.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: there are 4 texts to learn from, and at least 10 are")


def slow():
    """Texts on which models take a while."""
    words = [f"{a}{b}" for a in "bcdfghjklm" for b in "aeiou"]
    rows = [
        " ".join(words[(i * k + k * k + i % 3) % len(words)] for k in range(1, 60)) + f",{'xyz'[i % 3]}\n"
        for i in range(2000)
    ]
    Path("slow.csv").write_text("text,label\n" + "".join(rows))


def stopped(lines, *args):
    """A process that was interrupted once so many measurements were kept."""
    command = [*COMMAND, "compare", "slow.csv", "--keep", "kept.jsonl", "--threads", "1", *args]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        kept = Path("kept.jsonl")
        while not kept.exists() or kept.read_bytes().count(b"\n") < lines + 1:
            assert process.poll() is None, "it ended before it could be stopped"
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_ctrl_c_keeps_what_is_done_and_a_later_run_goes_on(capsys):
    slow()
    status, out, err = stopped(1, "--json", "--html", "page.html", "--no-curves")
    assert status == 130
    assert err.startswith("stopped: results so far\n")
    assert "run the same command again to continue from kept.jsonl\n" in err
    told = json.loads(out)
    assert told["is_whole"] is False
    assert "multinomial" in [model["name"] for model in told["models"]]
    assert len(told["models"]) < 7
    assert told["missing"][0].startswith("stopped before these models were trained: ")
    assert "This page is incomplete" in Path("page.html").read_text(encoding="utf-8")
    args = ["compare", "slow.csv", "--keep", "kept.jsonl", "--json", "--no-curves"]
    assert main([*args, "--models", "multinomial,complement"]) == 0
    again = {model["name"]: model for model in json.loads(capsys.readouterr().out)["models"]}
    before = next(model for model in told["models"] if model["name"] == "multinomial")
    assert again["multinomial"] == before  # its seconds too: it was not trained again
    assert set(again) == {"multinomial", "complement"}


def test_ctrl_c_during_learning_curves_leaves_all_models(capsys):
    slow()
    status, out, _ = stopped(3, "--json", "--models", "multinomial,bernoulli", "--repeats", "500")
    assert status == 130
    told = json.loads(out)
    assert told["is_whole"] is True
    assert len(told["models"]) == 2
    assert "points of learning curves were measured" in told["missing"][-1]


def test_a_terminal_shows_which_model_is_at_work(messages):
    seen = on_a_terminal([*COMMAND, "compare", "messages.csv", "--models", "softmax", "--no-curves"])
    assert "softmax on 336 texts" in seen
