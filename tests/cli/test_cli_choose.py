"""`textodds train` chooses by itself: what is printed, pinned, kept and refused."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import textodds
from forked import run
from pairs import together
from textodds.cli import main

from .transcripts import COMMAND

EXAMPLE = textodds.__path__[0] + "/cli/demo_data/messages.csv"
TEXTS = ["claim your free prize", "see you at lunch", ""]


def rows(n, seed=0):
    """CSV of n texts whose label one word in two gives away."""
    random = np.random.default_rng(seed)
    lines = ["text,label"]
    for i in range(n):
        own = f"own{i % 2}" if random.random() < 0.5 else ""
        words = " ".join(f"c{v}" for v in random.integers(0, 200, 8).tolist())
        lines.append(f"{own} {words},k{i % 2}")
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def data(tmp_path):
    """150 rows in `d.csv`."""
    (tmp_path / "d.csv").write_text(rows(150))


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """The model of the example messages that is chosen, and the JSON that is said of it."""
    folder = tmp_path_factory.mktemp("chosen")
    done = run("train", EXAMPLE, "-o", str(folder / "m"), "--budget", "10min", "--json")
    assert done.returncode == 0, done.stderr
    return folder / "m", json.loads(done.stdout)


def trained(*options, data="d.csv"):
    """The model that a command writes."""
    assert main(["train", data, "-o", "m", "--quiet", *options]) == 0
    return textodds.load("m")


def refused(capsys, *options, data="d.csv"):
    """What a command says that fails; it writes nothing."""
    assert main(["train", data, "-o", "m", *options]) == 2
    assert not Path("m").exists()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "\nhint: " in err
    return err


def learner_of(model):
    return model.recipe.as_dict()["learner"]["learner"]


def tried(model):
    return {line["name"] for line in model.info["chosen"]["tried"]}


def test_json_has_what_was_chosen_and_so_has_the_model(chosen):
    path, told = chosen
    assert told["chosen"] == textodds.load(path).info["chosen"]
    assert told["chosen"]["budget"] == 600
    assert len(told["chosen"]["tried"]) > 10
    assert told["chosen"]["no_time"] == []


def test_the_command_chooses_what_python_chooses(chosen):
    path, _ = chosen
    expected = textodds.train(EXAMPLE, learner="auto", budget=600)
    found = textodds.load(path)
    assert found.recipe == expected.recipe
    np.testing.assert_array_equal(found.predict_proba(TEXTS), expected.predict_proba(TEXTS))


def test_a_table_says_what_was_tried_what_won_by_how_much_and_how_sure(capsys):
    given = ["--learner", "multinomial,softmax", "--features", "words,pairs"]
    assert main(["train", "d.csv", "-o", "m", *given]) == 0
    lines = capsys.readouterr().err.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("held-out texts"))
    tried = textodds.load("m").info["chosen"]["tried"]
    assert lines[at] == f"{tried[0]['name']}: best of {len(tried)} on 150 held-out texts"
    head = ["tried", "log-loss", "accuracy", "behind by", "sure", "texts"]
    assert [word.strip() for word in lines[at + 1].split("  ") if word.strip()] == head
    for line, expected in zip(lines[at + 2 :], tried, strict=False):
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        figures = [expected["name"], f"{expected['log_loss']:.4f}", f"{expected['accuracy']:.2%}"]
        if expected is tried[0]:
            figures += ["chosen"]
        else:
            within = f"{expected['behind']:.4f} ± {1.96 * expected['error']:.4f}"
            figures += [within, f"{expected['sure']:.0%}"]
        assert cells == [*figures, "150"]
    assert {tuple(line["name"].split(", ")[:2]) for line in tried} == {
        (learner, features) for learner in ("multinomial", "softmax") for features in ("words", "pairs")
    }


def test_inspect_says_how_a_model_was_chosen(chosen, capsys):
    path, told = chosen
    assert main(["inspect", str(path)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  chosen "))
    best = told["chosen"]["tried"][0]["name"]
    held = told["chosen"]["held_out"]
    assert line.split(maxsplit=1)[1] == (
        f"{best}: best of {len(told['chosen']['tried'])} on {held:,} held-out texts"
    )
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chosen"] == told["chosen"]


def test_predict_answers_as_python_does(chosen, capsys):
    path, _ = chosen
    model = textodds.load(path)
    for text in TEXTS[:2]:
        assert main(["predict", str(path), "--say", text]) == 0
        label, p = capsys.readouterr().out.strip().split("\t")[:2]
        assert (label, p) == (model(text).label, f"{model.predict_proba([text]).max():.4f}")


@together
@pytest.mark.parametrize(
    ("options", "learners", "features"),
    [
        (["--learner", "multinomial,softmax", "--features", "words"], {"multinomial", "softmax"}, {"words"}),
        (["--learner", "bernoulli, complement,multinomial"], None, None),
        (["--features", "words,pairs"], None, {"words", "pairs"}),
        (["--learner", "nb-softmax", "--features", "auto"], {"nb-softmax"}, None),
        (["--learner", "auto", "--features", "letters"], None, {"letters"}),
    ],
)
def test_any_part_can_be_pinned(options, learners, features):
    model = trained(*options)
    names = {tuple(name.split(", ")[:2]) for name in tried(model)}
    assert learners is None or {learner for learner, _ in names} == learners
    assert features is None or {feature for _, feature in names} == features
    assert len(names) > 1


@together
@pytest.mark.parametrize(
    ("setting", "recipe"),
    [
        ("min_df=3", {"min_df": 3}),
        ("ngrams=1-2", {"ngrams": (1, 2)}),
        ("hash_bits=12", {"hash_bits": 12}),
        ("sklearn", {"sklearn": True}),
        ("stop_words=english", {"stop_words": "english"}),
        ("lower=no", {"lower": False}),
        ("frequency=binary", {"weighting": textodds.Weighting("binary")}),
    ],
)
def test_settings_of_texts_go_with_a_choice(setting, recipe):
    learners = ["softmax", "nb-softmax"] if "weighting" in recipe else ["bernoulli", "softmax"]
    model = trained("--learner", ",".join(f"{name}:{setting}" for name in learners))
    expected = textodds.train("d.csv", learner=learners, **recipe)
    assert "chosen" in model.info
    assert model.recipe == expected.recipe


def test_one_of_each_is_no_choice():
    model = trained("--learner", "softmax", "--features", "words")
    assert "chosen" not in model.info
    assert (learner_of(model), model.recipe.settings.ngrams) == ("softmax", (1, 1))


def test_naive_bayes_by_name_has_its_words_as_ever_and_chooses_features_when_asked():
    model = trained("--learner", "multinomial")
    assert "chosen" not in model.info
    assert model.recipe == textodds.train("d.csv", learner="multinomial").recipe
    assert tried(trained("--learner", "multinomial", "--features", "words,letters")) >= {
        "multinomial, words",
        "multinomial, letters",
    }


def test_the_command_and_python_mean_the_same_by_a_learner_whose_features_are_chosen():
    model = trained("--learner", "multinomial", "--features", "words,pairs")
    expected = textodds.train("d.csv", learner="multinomial", features=["words", "pairs"])
    assert model.recipe == expected.recipe


def test_a_budget_of_nothing_gives_a_model_at_once_and_names_what_had_no_time(capsys):
    assert main(["train", "d.csv", "-o", "m", "--budget", "0"]) == 0
    told = capsys.readouterr().err
    assert "multinomial, words: best of 1 on 150 held-out texts" in told
    late = next(line for line in told.splitlines() if "no time for" in line)
    assert "softmax, words; " in late
    assert "a larger `--budget` has more" in late


@together
@pytest.mark.parametrize(("budget", "seconds"), [("2min", 120), ("1.5h", 5400), ("90", 90), ("500ms", 0.5)])
def test_a_budget_is_a_time(budget, seconds):
    model = trained("--budget", budget, "--learner", "multinomial,bernoulli", "--features", "words")
    assert model.info["chosen"]["budget"] == seconds


@together
@pytest.mark.parametrize("budget", ["abc", "-5", "", "2 weeks", "nan", "inf"])
def test_a_budget_that_is_no_time_is_refused(budget, capsys):
    told = refused(capsys, "--budget", budget)
    assert f"`--budget` cannot be `{budget}`" in told
    assert "60s, 2min or 0" in told


def test_softmax_that_chooses_its_features_keeps_to_the_budget():
    assert tried(trained("--learner", "softmax", "--budget", "0")) == {"softmax, words"}


@pytest.mark.parametrize(
    "options",
    [
        ["--learner", "multinomial", "--budget", "5"],
        ["--learner", "softmax:ngrams=1-2", "--budget", "5"],
        ["--learner", "multinomial:alpha=0.1", "--budget", "5"],
    ],
    ids=lambda options: " ".join(options),
)
def test_a_budget_where_there_is_nothing_to_choose_is_refused(options, capsys):
    assert "`budget`" in refused(capsys, *options)


def test_an_option_that_only_some_learners_take_leaves_nothing_to_choose():
    """As before there was a choice."""
    model = trained("--learner", "multinomial:alpha=0.1")
    assert "chosen" not in model.info
    assert model.recipe == textodds.train("d.csv", learner=textodds.MultinomialNB(alpha=0.1)).recipe


@together
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--learner", "auto:alpha=0.1"], "auto has no alpha"),
        (["--learner", "multinomial:ngrams=1-2,softmax"], "must have the same text settings"),
        (["--features", "pairs", "--learner", "auto:class_weight=balanced"], "auto has no class_weight"),
        (["--learner", "auto", "--typical"], "`typical` is for one learner of words, not for a choice"),
        (
            ["--learner", "multinomial", "--features", "words,pairs", "--typical"],
            "`typical` is for single words, not for a choice of features",
        ),
        (
            ["--learner", "auto:unknown=smooth"],
            "`unknown` applies to a named learner, not to model selection",
        ),
        (["--learner", "auto", "--stream"], "`stream` applies to one learner, not to model selection"),
        (["--learner", "multinomial,softmx"], "unknown learner `softmx`; did you mean `softmax`?"),
        (["--learner", "auto,softmax"], "auto is any of the learners"),
        (["--learner", "softmax,softmax"], "`softmax` is named twice"),
        (["--learner", "softmax:C=1,softmax:C=2"], "softmax is named twice"),
        (["--features", "word"], "`--features` cannot be `word`; did you mean `words`?"),
        (["--features", "words,,pairs"], "`--features` cannot be ``"),
        (
            ["--features", "pairs", "--learner", "auto:ngrams=1-2"],
            "`features` and `ngrams` cannot be combined",
        ),
        (["--learner", "multinomial:idf=no,softmax:idf=no"], "naive Bayes learns from counts"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_does_not_go_together_is_refused_with_the_way_out(options, words, capsys):
    assert words in refused(capsys, *options)


@pytest.mark.parametrize("learners", ["lda,softmax", "softmax,mixed", "qda,lda"])
def test_learners_that_are_not_chosen_among_are_refused_beside_others(learners, capsys):
    told = refused(capsys, "--learner", learners)
    assert any(name in told for name in ("lda", "mixed", "qda"))


def test_features_that_are_chosen_do_not_undo_other_ways_of_learning(capsys):
    options = ["--learner", "multinomial", "--features", "words,pairs", "--unlabelled", "d.csv"]
    assert "`unlabelled`" in refused(capsys, *options)


def test_a_stream_has_the_features_that_are_named():
    model = trained("--learner", "softmax", "--features", "words", "--stream")
    assert model.recipe.settings.ngrams == (1, 1)
    assert model.recipe.settings.hash_bits is not None


def test_typical_texts_are_kept_where_learners_of_single_words_are_chosen():
    model = trained("--learner", "multinomial,bernoulli", "--features", "words", "--typical")
    assert model.familiarity(["c1 c2"])


def test_a_chosen_softmax_model_learns_forgets_and_is_merged(capsys):
    before = trained("--learner", "softmax,nb-softmax", "--features", "words")
    n = sum(before.class_documents.values())
    assert main(["learn", "m", "--say", "c1 zzqx", "--label-is", "k0"]) == 0
    assert sum(textodds.load("m").class_documents.values()) == n + 1
    assert main(["forget", "m", "--say", "c1 zzqx", "--label-is", "k0"]) == 0
    after = textodds.load("m")
    assert after.class_documents == before.class_documents
    assert after.recipe == before.recipe
    assert b"zzqx" not in Path("m").read_bytes()
    assert main(["merge", "m", "m", "-o", "both", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 2 * n


def test_a_chosen_model_of_counts_learns_and_forgets():
    trained("--learner", "multinomial,bernoulli", "--features", "words,pairs")
    before = textodds.load("m").score(["c1 c2 own0"])[0]
    assert main(["learn", "m", "--say", "own0 c1", "--label-is", "k0", "--quiet"]) == 0
    assert not np.array_equal(textodds.load("m").score(["c1 c2 own0"])[0], before)
    assert main(["forget", "m", "--say", "own0 c1", "--label-is", "k0", "--quiet"]) == 0
    np.testing.assert_allclose(textodds.load("m").score(["c1 c2 own0"])[0], before, rtol=1e-12)


def test_stdin_is_read_once_and_chosen_for():
    given = ["--format", "csv", "--json", "-o", "s", "--budget", "1h"]
    done = run("train", "-", *given, "--features", "words,pairs", input=Path("d.csv").read_text())
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rows"] == 150
    assert textodds.load("s").recipe == trained("--features", "words,pairs", "--budget", "1h").recipe


def test_of_a_stdin_that_memory_does_not_hold_counts_are_chosen_among_and_all_rows_learned():
    given = ["--format", "csv", "--json", "-o", "s", "--features", "words", "--memory", "300kB"]
    done = run("train", "-", *given, input=rows(12_000))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rows"] == 12_000
    assert sum(textodds.load("s").class_documents.values()) == 12_000
    names = {line["name"].split(",")[0] for line in told["chosen"]["tried"]}
    assert names <= {"multinomial", "bernoulli", "complement"}


def test_rows_that_are_refused_are_said_once(capsys):
    Path("bad.csv").write_text(rows(150) + "no label,\n")
    several = ["--learner", "multinomial,bernoulli"]
    assert main(["train", "bad.csv", "--bad-rows", "skip", "--rejects", "bad.jsonl", *several]) == 0
    told = capsys.readouterr().err
    assert "learned 150 rows of bad.csv" in told
    assert told.count("skipped 1 row") == 1
    assert len(Path("bad.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("options", [[], ["--learner", "auto"]], ids=["nothing said", "auto"])
def test_a_table_without_texts_gets_the_learner_of_tables(options, capsys):
    Path("t.csv").write_text("height,label\n" + "170,f\n181,m\n" * 60)
    model = trained(*options, data="t.csv")
    assert model.kind == "tables"


@pytest.mark.parametrize(
    "options", [["--features", "pairs"], ["--learner", "multinomial,softmax"]], ids=lambda given: given[0]
)
def test_a_table_without_texts_is_refused_where_something_of_texts_is_asked_for(options, capsys):
    Path("t.csv").write_text("height,label\n" + "170,f\n181,m\n" * 60)
    refused(capsys, *options, data="t.csv")


def test_a_few_rows_are_learned_by_naive_bayes_without_a_word_of_choice(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial"]) == 0
    assert "best of" not in capsys.readouterr().err
    model = textodds.load("mail.textodds")
    assert learner_of(model) == "multinomial"
    assert "chosen" not in model.info


def test_quiet_says_nothing_and_a_pipe_sees_no_progress():
    done = run("train", "d.csv", "--features", "words", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")
    done = run("train", "d.csv", "--features", "words")
    assert "trying" not in done.stderr


def test_ctrl_c_during_the_race_leaves_the_old_model_and_nothing_half_written():
    Path("big.csv").write_text(rows(6000))
    Path("m").write_bytes(b"an old model")
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [*COMMAND, "train", "big.csv", "-o", "m", "--budget", "1h"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        seen = b""
        while b"trying " not in seen:
            seen += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait(300) in (130, -signal.SIGINT)  # the same to a shell
        seen += os.read(ours, 65536)
    os.close(ours)
    assert b"stopped" in seen
    assert b"Traceback" not in seen
    assert Path("m").read_bytes() == b"an old model"
    assert {path.name for path in Path().iterdir()} == {"big.csv", "d.csv", "m"}
