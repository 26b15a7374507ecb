"""Transcripts of `mix`."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import forked
import textodds
from textodds.cli import main
from textodds.judge.class_mix import class_mix
from textodds.learn.held_out import HeldOut
from textodds.model.file import load

MIX = import_module("textodds.cli.mix")
WORD_OF_IT = "the model is not calibrated: the intervals may be too narrow\n"


@pytest.fixture
def today(model, monkeypatch):
    """Thirty messages without labels in `today.txt`, most of them spam; the model has no held-out texts."""
    texts = ["free prize inside", "claim a free phone", "free phone at six"] * 8 + ["see you at home"] * 6
    Path("today.txt").write_text("".join(text + "\n" for text in texts))
    give(monkeypatch, None)
    return texts


def give(monkeypatch, held_out):
    def opened(path, **settings):
        model = load(path, **settings)
        model.held_out = held_out
        return model

    monkeypatch.setattr(MIX, "load", opened)


def test_mix_prints_a_table_of_shares(today, capsys):
    assert main(["mix", "mail.textodds", "today.txt"]) == 0
    loaded = textodds.load("mail.textodds")
    found = class_mix(loaded.predict_log_proba(today), loaded.linear.log_prior)
    assert found.share[1] > 0.7
    low, high = (" to ".join(f"{end:.4f}" for end in found.interval[k]) for k in (0, 1))
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "  class   share now      95 % interval   in training",
        f"  ham        {found.share[0]:.4f}   {low}        0.5000",
        f"  spam       {found.share[1]:.4f}   {high}        0.5000",
        "",
        f"  the class proportions changed (likelihood ratio test, p = {found.p_value:.2g}), in 30 rows",
    ]
    assert err == WORD_OF_IT


def test_json_has_all_of_it(today, capsys):
    assert main(["mix", "mail.textodds", "today.txt", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert told["n"] == 30
    assert told["classes"]["ham"]["share"] + told["classes"]["spam"]["share"] == pytest.approx(1)
    assert set(told["classes"]["ham"]) == {"share", "interval", "standard_error", "in_training"}
    assert told["p_value"] < 0.05


def test_held_out_texts_are_used_where_the_model_has_them(today, monkeypatch, capsys):
    random = np.random.default_rng(0)
    p = random.uniform(0.5, 1, size=300)
    truth = (random.random(300) < p).astype(np.int64)
    held_out = HeldOut.of(np.log(np.column_stack([1 - p, p])), truth)
    give(monkeypatch, held_out)
    assert main(["mix", "mail.textodds", "today.txt", "--json"]) == 0
    out, err = capsys.readouterr()
    loaded = textodds.load("mail.textodds")
    found = class_mix(loaded.predict_log_proba(today), loaded.linear.log_prior, held_out)
    assert json.loads(out)["classes"]["spam"]["interval"] == pytest.approx(found.interval[1].tolist())
    assert err == ""


def test_the_share_in_training_is_that_of_the_data_whatever_the_prior(mail, monkeypatch, capsys):
    give(monkeypatch, None)
    with Path("mail.csv").open("a") as file:
        file.write("home at six,ham\nhome at noon,ham\n")
    assert main(["train", "mail.csv", "--quiet", "--learner", "multinomial:prior=uniform"]) == 0
    Path("new.txt").write_text("free prize\nsee you\n")
    assert main(["mix", "mail.textodds", "new.txt", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["classes"]
    assert told["ham"]["in_training"] == 5 / 8


def test_the_mix_of_stdin_is_found(today, capsys):
    assert main(["mix", "mail.textodds", "today.txt", "--json"]) == 0
    done = forked.run("mix", "mail.textodds", "-", "--json", input=Path("today.txt").read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout == capsys.readouterr().out


def test_what_has_no_mix_is_said(today, capsys):
    assert main(["mix", "mail.textodds"]) == 2
    assert capsys.readouterr().err.startswith("error: there is no data")
    Path("empty.csv").write_text("text\n")
    assert main(["mix", "mail.textodds", "empty.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: there are no documents to find the mix of")
    assert main(["train", "mail.csv", "--learner", "complement", "--quiet"]) == 0
    assert main(["mix", "mail.textodds", "today.txt"]) == 2
    assert "a complement model has scores" in capsys.readouterr().err


def test_rows_of_tables_have_a_mix_too(monkeypatch, capsys):
    give(monkeypatch, None)
    rows = [f"{10 * (i % 2) + i % 7},{'ab'[i % 2]}" for i in range(60)]
    Path("t.csv").write_text("x,kind\n" + "\n".join(rows) + "\n")
    Path("new.csv").write_text("x\n" + "1\n2\n3\n12\n" * 20)
    assert main(["train", "t.csv", "--label", "kind", "--quiet"]) == 0
    assert main(["mix", "t.textodds", "new.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"]["a"]["share"] == pytest.approx(0.75, abs=0.05)
