import io
import json

import pytest

import textodds
from textodds.cli import main


def test_a_text_is_shown_as_its_table(capsys):
    assert main(["words", "Grain, oilseed; total grain: wheat and GRAIN"]) == 0
    assert capsys.readouterr().out.split("\n") == [
        "7 words, 5 of them different",
        "",
        "  word      count",
        "  grain         3",
        "  oilseed       1",
        "  total         1",
        "  wheat         1",
        "  and           1",
        "",
    ]


def test_it_is_cut_as_a_learner_says(capsys):
    assert (
        main(["words", "the free prize", "--learner", "multinomial:ngrams=1-2:stop_words=english", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["words"] == {"free": 1, "prize": 1, "free prize": 1}
    assert main(["words", "free prize", "--learner", "softmax", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == {"free": 1, "prize": 1, "free prize": 1}


def test_a_model_says_which_words_it_knows(capsys):
    textodds.train(["free phone", "see you"], ["spam", "ham"], learner="multinomial").save("m.textodds")
    assert main(["words", "a free zebra", "--model", "m.textodds", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "words": {"a": 1, "free": 1, "zebra": 1},
        "total": 3,
        "different": 3,
        "unknown": ["a", "zebra"],
    }
    assert main(["words", "a free zebra", "--model", "m.textodds"]) == 0
    assert capsys.readouterr().out.count("not known") == 2


def test_stdin_is_one_document(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo one"))
    assert main(["words", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == {"one": 2, "two": 1}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--model", "m.textodds", "--learner", "softmax"], "a model has settings of its own"),
        (["--learner", "softmax,multinomial"], "one way at a time"),
        (["--learner", "mixed"], "learns from tables"),
        (["--model", "t.textodds"], "is a model of tables"),
    ],
)
def test_what_cannot_be_is_refused(args, problem, capsys):
    rows = {"height": [1.0, 2.0, 3.0, 4.0], "sex": list("fmfm")}
    textodds.train(rows, label="sex").save("t.textodds")
    assert main(["words", "a", *args]) == 2
    assert problem in capsys.readouterr().err
