"""Transcripts of deciding: losses, abstention, promises and sets on the command line."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import textodds
from textodds.cli import main
from textodds.judge.decisions import Losses, Rule
from textodds.judge.guarantees import Sets, at_most
from textodds.learn.held_out import HeldOut
from textodds.model.file import load

SAID = ["--say", "free prize", "--say", "free lunch at six", "--say", "see you at home"]
TEXTS = SAID[1::2]
PREDICT = import_module("textodds.cli.predict")


@pytest.fixture
def posteriors(model):
    return textodds.load("mail.textodds").predict_proba(TEXTS)


@pytest.fixture
def held_out(model, monkeypatch):
    """HeldOut documents, as a model of some hundred texts would have; given to every model that is opened."""
    random = np.random.default_rng(0)
    p = random.beta(4, 1, size=1000)
    truth = (random.random(1000) < p).astype(np.int64)
    found = HeldOut.of(np.log(np.column_stack([1 - p, p])), truth)

    def opened(path, **settings):
        model = load(path, **settings)
        model.held_out = found
        return model

    monkeypatch.setattr(PREDICT, "load", opened)
    return found


def said(capsys, *args):
    assert main(["predict", "mail.textodds", *SAID, *args]) == 0
    return capsys.readouterr()


def test_losses_decide_and_the_threshold_is_told(posteriors, capsys):
    out, err = said(capsys, "--loss", "ham->spam: 20")
    assert err == "answers ham from p(ham) = 0.04762, spam from p(spam) = 0.9524\n"
    expected = ["spam" if p >= 20 / 21 else "ham" for p in posteriors[:, 1]]
    assert [line.split("\t")[0] for line in out.splitlines()] == expected
    shares = [row[("ham", "spam").index(label)] for label, row in zip(expected, posteriors, strict=True)]
    assert [line.split("\t")[1] for line in out.splitlines()] == [f"{share:.4f}" for share in shares]
    plain, _ = said(capsys)
    assert plain != out  # the losses do change an answer here


def test_quiet_says_no_threshold(model, capsys):
    assert said(capsys, "--loss", "ham->spam: 20", "--quiet").err == ""


def test_losses_may_be_repeated_or_stand_in_a_file(model, capsys):
    Path("losses.csv").write_text(",ham,spam\nham,0,20\nspam,3,0\n")
    from_file = said(capsys, "--loss", "losses.csv")
    assert said(capsys, "--loss", "ham->spam: 20", "--loss", "spam->ham: 3") == from_file
    assert said(capsys, "--loss", "ham->spam: 20, spam->ham: 3") == from_file
    assert "spam from p(spam) = 0.8696" in from_file.err


def test_abstaining_prints_a_question_mark(posteriors, capsys):
    out, err = said(capsys, "--abstain", "0.1")
    expected = [
        f"{('ham', 'spam')[row.argmax()] if row.max() >= 0.9 else '?'}\t{row.max():.4f}" for row in posteriors
    ]
    assert out.splitlines() == expected
    assert any(line.startswith("?") for line in expected)
    assert not all(line.startswith("?") for line in expected)
    assert err == "answers ham from p(ham) = 0.9, spam from p(spam) = 0.9, and nothing in between\n"


def test_json_has_action_and_expected_loss_beside_the_belief(posteriors, capsys):
    out, _ = said(capsys, "--loss", "ham->spam: 20", "--abstain", "0.4", "--json", "--proba")
    rule = Rule(Losses.of_text("ham->spam: 20", ("ham", "spam")), 0.4)
    made = rule.decide(np.log(posteriors))
    for line, row, action, expected in zip(
        out.splitlines(), posteriors, made.action, made.expected_loss, strict=True
    ):
        told = json.loads(line)
        assert told["label"] == ("ham", "spam")[row.argmax()]
        assert told["probability"] == pytest.approx(row.max())
        assert told["action"] == (None if action < 0 else ("ham", "spam")[action])
        assert told["expected_loss"] == pytest.approx(expected)
        assert set(told["probabilities"]) == {"ham", "spam"}
    assert {json.loads(line)["action"] for line in out.splitlines()} >= {None}


def test_proba_comes_after_the_action(posteriors, capsys):
    out, _ = said(capsys, "--abstain", "0.1", "--proba")
    plain, _ = said(capsys, "--proba")
    assert [line.partition("\t")[2] for line in out.splitlines()] == plain.splitlines()


def test_a_promise_answers_above_its_threshold_and_tells_its_price(held_out, posteriors, capsys):
    promise = at_most(held_out, 0.15)
    assert 0.5 < promise.threshold < 1
    out, err = said(capsys, "--max-error", "0.15")
    expected = [
        f"{('ham', 'spam')[row.argmax()] if row.max() >= promise.threshold else '?'}\t{row.max():.4f}"
        for row in posteriors
    ]
    assert out.splitlines() == expected
    low, high = promise.coverage_interval
    assert err == (
        f"answers from a probability of {promise.threshold:.4f}: at most 0.15 of answers wrong, "
        "with 95% confidence\n"
        f"this answers {promise.coverage:.1%} of texts like those learned ({low:.1%} to {high:.1%})\n"
    )
    for line, plain in zip(
        said(capsys, "--max-error", "0.15", "--json").out.splitlines(), expected, strict=True
    ):
        assert json.loads(line)["action"] == (None if plain[0] == "?" else plain.split("\t")[0])


def test_a_promise_that_cannot_be_kept_is_an_error_that_says_what_can(held_out, capsys):
    assert main(["predict", "mail.textodds", *SAID, "--max-error", "0.0001"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: an error rate of at most 0.0001 among the answered cannot be guaranteed")
    assert "hint: ask for 0." in err


@pytest.mark.parametrize("by_class", [[], ["--by-class"]])
def test_sets_are_labels_with_bars_between_the_most_probable_first(held_out, posteriors, capsys, by_class):
    sets = Sets.of(held_out, 0.95, bool(by_class))
    out, err = said(capsys, "--set", "0.95", *by_class)
    within = sets.of_posteriors(np.log(posteriors))
    expected = []
    for row, held in zip(posteriors, within, strict=True):
        order = [k for k in np.argsort(-row) if held[k]]
        expected.append(f"{'|'.join(('ham', 'spam')[k] for k in order)}\t{row[order].sum():.4f}")
    assert out.splitlines() == expected
    assert err == ""
    assert {line.count("|") for line in expected} == {0, 1}
    told = [
        json.loads(line)["set"]
        for line in said(capsys, "--set", "0.95", "--json", *by_class).out.splitlines()
    ]
    assert ["|".join(held) for held in told] == [line.split("\t")[0] for line in expected]


def test_the_option_of_sets_has_one_name_in_help_and_answers_to_its_earlier_one(held_out, capsys):
    assert said(capsys, "--sets", "0.95") == said(capsys, "--set", "0.95")
    assert main(["predict", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--set COVERAGE" in shown
    assert "--sets" not in shown


def test_classes_of_too_few_texts_are_named(held_out, monkeypatch, capsys):
    few = HeldOut(*(part[held_out.truth == 1] for part in held_out.arrays().values()))

    def opened(path, **settings):
        model = load(path, **settings)
        model.held_out = few
        return model

    monkeypatch.setattr(PREDICT, "load", opened)
    out, err = said(capsys, "--set", "0.9", "--by-class")
    assert err == "in every set, because they have too few texts: 1 class, ham\n"
    assert all("ham" in line.split("\t")[0].split("|") for line in out.splitlines())


@pytest.mark.parametrize("args", [["--max-error", "0.1"], ["--set", "0.9"]])
def test_a_model_without_held_out_texts_promises_nothing(model, monkeypatch, capsys, args):
    def opened(path, **settings):
        model = load(path, **settings)
        model.held_out = None
        return model

    monkeypatch.setattr(PREDICT, "load", opened)
    assert main(["predict", "mail.textodds", *SAID, *args]) == 2
    assert capsys.readouterr() == (
        "",
        "error: no guarantee: the model has no held-out answers\n\n"
        "hint: train it again, with at least 100 texts\n",
    )


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--loss", "ham->spam: 2", "--set", "0.9"], "`--loss` and `--set` cannot be combined"),
        (["--abstain", "0", "--set", "0.9"], "`--abstain` and `--set` cannot be combined"),
        (["--max-error", "0.1", "--set", "0.9"], "`--max-error` and `--set` cannot be combined"),
        (["--loss", "ham->spam: 2", "--max-error", "0.1"], "`--loss` and `--max-error` cannot be combined"),
        (["--by-class"], "`--by-class` applies to `--set` only"),
        (["--set", "0.9", "--prior", "uniform"], "`--set` is guaranteed under the training prior"),
        (["--max-error", "0.1", "--prior", "uniform"], "`--max-error` is guaranteed under"),
        (["--set", "1"], "`--set` cannot be `1`"),
        (["--set", "0"], "`--set` cannot be `0`"),
        (["--set", "nan"], "`--set` cannot be `nan`"),
        (["--max-error", "0"], "`--max-error` cannot be `0`"),
        (["--abstain", "-1"], "`--abstain` cannot be `-1`"),
        (["--abstain", "inf"], "`--abstain` cannot be `inf`"),
        (["--loss", ""], "`--loss` names no class"),
        (["--loss", "ham->spam: 2", "--loss", " "], "`--loss` names no class"),
        (["--loss", "ham->eggs: 2"], "the losses name `eggs`, which is not a class"),
        (["--loss", "ham->spma: 2"], "the losses name `spma`, which is not a class; did you mean `spam`?"),
        (["--loss", "ham->spam: -2"], "the loss of ham->spam is -2"),
        (["--loss", "nowhere.csv"], "no file at `nowhere.csv`"),
        (["--loss", "a.csv", "--loss", "ham->spam: 2"], "`a.csv` gives all losses"),
        (["--loss", "ham->spam: 2", "--prior", "ham=1,spam=1"], "the prior sums to 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_said(held_out, capsys, args, problem):
    assert main(["predict", "mail.textodds", *SAID, *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {problem}")
    assert "\nhint: " in err


def test_scores_of_a_complement_model_are_no_ground_for_losses(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "complement", "--quiet"]) == 0
    assert main(["predict", "mail.textodds", *SAID, "--loss", "ham->spam: 2"]) == 2
    assert "a complement model has scores, not probabilities" in capsys.readouterr().err


def test_a_prior_moves_decisions_too(model, capsys):
    args = ["--loss", "ham->spam: 2", "--prior", "ham=0.999,spam=0.001"]
    assert {line.split("\t")[0] for line in said(capsys, *args).out.splitlines()} == {"ham"}


def test_evaluate_adds_the_mean_loss_and_the_share_answered(model, capsys):
    Path("test.csv").write_text(
        "text,label\nfree phone,spam\nsee you,ham\nfree lunch,ham\nzebra,ham\nx,eggs\n"
    )
    assert main(["evaluate", "mail.textodds", "test.csv", "--quiet"]) == 0
    plain = capsys.readouterr().out
    args = ["evaluate", "mail.textodds", "test.csv", "--loss", "ham->spam: 20", "--abstain", "0.3"]
    assert main(args) == 0
    out, err = capsys.readouterr()
    assert err == "answers ham from p(ham) = 0.7, spam from p(spam) = 0.985, and nothing in between\n"
    loaded = textodds.load("mail.textodds")
    rule = Rule(Losses.of_text("ham->spam: 20", ("ham", "spam")), 0.3)
    made = rule.decide(loaded.predict_log_proba(["free phone", "see you", "free lunch", "zebra"]))
    found = rule.expected_loss(made, np.array([1, 0, 0, 0]))  # there is no loss for eggs
    assert out.startswith(plain)
    mean, answered = (
        f"{value:.4f} {low:.4f} to {high:.4f}"
        for value, (low, high) in (
            (found.mean, found.interval),
            (found.answered, found.answered_interval),
        )
    )
    assert [" ".join(line.split()) for line in out[len(plain) :].splitlines()] == [
        "",
        f"mean loss {mean}",
        f"answered {answered}",
        "under these losses; the measures above are of the most probable class",
    ]
    assert main([*args, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cost"]["mean_loss"] == found.mean
    assert told["cost"]["answered_interval"] == list(found.answered_interval)


def test_tables_are_decided_about_too(capsys):
    rows = "".join(f"{10 * (i % 2) + i % 7},{'ab'[i % 2]}\n" for i in range(60))
    Path("t.csv").write_text("x,kind\n" + rows)
    assert main(["train", "t.csv", "--label", "kind", "--quiet"]) == 0
    capsys.readouterr()
    args = ["--say", '{"x": 1}', "--say", '{"x": 15}', "--say", '{"x": 8}']
    assert main(["predict", "t.textodds", *args, "--abstain", "0.000000001"]) == 0
    assert "?" in {line.split("\t")[0] for line in capsys.readouterr().out.splitlines()}


def test_a_plain_answer_loads_nothing_for_decisions(model):
    code = (
        "import sys; from textodds.cli import main; main(['predict', 'mail.textodds', '--say', 'free']);"
        "heavy = *('textodds.judge.' + name for name in ('decisions', 'guarantees', 'class_mix')), 'scipy';"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_labels_that_are_paths_are_answered_as_deep_as_is_sure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [("goal cup final", "sport/football"), ("bat wicket over", "sport/cricket"), ("tax vote", "news")]
    lines = [f"{text} n{number % 7},{label}" for number in range(60) for text, label in rows]
    Path("paths.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    model = textodds.train("paths.csv", learner="multinomial:alpha=1", calibrate=False)
    model.save("paths.textodds")
    text = "cup wicket"  # sport, but which?
    p = model(text).probabilities
    assert main(["predict", "paths.textodds", "--say", text, "--tree", "--threshold", "0.9"]) == 0
    both = p["sport/football"] + p["sport/cricket"]
    assert capsys.readouterr().out == f"sport\t{both:.4f}\n"
    assert main(["predict", "paths.textodds", "--say", "goal cup", "--tree"]) == 0
    assert capsys.readouterr().out.startswith("sport/football\t")
    assert main(["predict", "paths.textodds", "--say", text, "--tree", "--max-error", "0.1"]) == 2
    assert "`--max-error` and `--tree` cannot be combined" in capsys.readouterr().err
    assert main(["evaluate", "paths.textodds", "paths.csv"]) == 0
    assert "accuracy by level of the labels: 1: 1.0000, 2: 1.0000" in capsys.readouterr().out
