import json
from pathlib import Path

import pytest

import textodds
from pairs import together
from textodds.cli import main
from textodds.learn import naive_bayes

HAM = "see you at home for lunch"
SPAM = "claim your free prize now"


@pytest.fixture(autouse=True)
def letters():
    """Forty messages in `letters.csv`, of which the 7th and the 20th have the wrong label."""
    rows = [(HAM, "ham") if i % 2 else (SPAM, "spam") for i in range(40)]
    rows = [(f"{text} w{i % 6}", label) for i, (text, label) in enumerate(rows)]
    rows[6] = rows[6][0], "ham"
    rows[19] = rows[19][0] + " and then some words that make it long", "spam"
    Path("letters.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))


def suspects(most, learner=None, **options):
    return textodds.audit("letters.csv", learner=learner, most=most, **options).suspects


def told_suspects(out):
    """The suspects of JSON lines, after which nothing comes but repeated texts."""
    lines = [json.loads(line) for line in out.splitlines()]
    found = [line for line in lines if "row" in line]
    assert lines[: len(found)] == found
    assert all(list(line) == ["rows", "labels", "exact", "text"] for line in lines[len(found) :])
    return found


def test_audit_shows_the_least_believed_first(capsys):
    assert main(["audit", "letters.csv", "--top", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "40 rows of letters.csv, each left out: 95.0% agree with the prediction from the others, 2 do not\n"
        "duplicate texts: 33 exact, 0 near; with several labels: 1\n"
    )
    first, second = suspects(2)
    assert {first.row, second.row} == {7, 20}
    long = "see you at home for lunch w1 and then some words that make …"
    shown = {
        7: f"  7     ham     spam       {{p:<8}}   {SPAM} w0",
        20: f"  20    spam    ham        {{p:<8}}   {long}",
    }
    again = "1, 7, 13, 19, 25, 31, …", "3, 9, 15, 21, 27, 33, …"
    assert out.splitlines() == [
        "  row   label   expected   p(label)   text",
        *(shown[each.row].format(p=f"{each.p_label:.2g}") for each in (first, second)),
        "",
        "  rows                      labels      alike           text",
        f"  {again[0]:<23}   spam, ham   word for word   {SPAM} w0",
        f"  {again[1]:<23}   spam        word for word   {SPAM} w2",
    ]


def test_json_has_one_object_a_line_and_the_whole_text(capsys):
    assert main(["audit", "letters.csv", "--top", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = told_suspects(out)
    expected = suspects(3)
    assert [list(each) for each in told] == [
        ["row", "label", "suggested", "p_label", "p_suggested", "text"]
    ] * 2
    assert [each["row"] for each in told] == [each.row for each in expected]
    assert [each["p_label"] for each in told] == [each.p_label for each in expected]
    by_row = {each["row"]: each for each in told}
    assert by_row[20]["text"].endswith("words that make it long")
    assert by_row[20]["label"] == "spam"
    assert by_row[20]["suggested"] == "ham"


def test_rows_whose_label_is_expected_are_not_shown(capsys):
    assert main(["audit", "letters.csv", "--quiet"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.split("\n\n")[0].splitlines()] in (
        ["row", "7", "20"],
        ["row", "20", "7"],
    )
    rows = Path("letters.csv").read_text().splitlines()
    Path("letters.csv").write_text("\n".join([*rows[:7], *rows[8:20], *rows[21:]]) + "\n")
    assert main(["audit", "letters.csv"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("38 rows of letters.csv, each left out: 100.0% agree")
    assert "expected" not in out


def test_twenty_rows_are_shown_unless_told_otherwise(capsys):
    rows = Path("letters.csv").read_text().splitlines()
    wrong = [row.replace(",ham", ",h").replace(",spam", ",ham").replace(",h", ",spam") for row in rows[1:]]
    Path("letters.csv").write_text("\n".join([rows[0], *(rows[1:] * 8), *wrong]) + "\n")
    assert main(["audit", "letters.csv", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.split("\n\n")[0].splitlines()) == 21


def test_learners_can_be_chosen(capsys):
    for name, learner in (
        ("bernoulli", naive_bayes.BernoulliLearner()),
        ("complement", naive_bayes.ComplementLearner()),
    ):
        assert main(["audit", "letters.csv", "--learner", name, "--top", "5", "--json"]) == 0
        told = told_suspects(capsys.readouterr().out)
        assert [each["p_label"] for each in told] == [each.p_label for each in suspects(5, learner)]
        assert {told[0]["row"], told[1]["row"]} == {7, 20}


def test_the_recipe_is_that_of_the_options(capsys):
    assert (
        main(
            ["audit", "letters.csv", "--learner", "multinomial:alpha=0.5:ngrams=1-2", "--top", "4", "--json"]
        )
        == 0
    )
    told = told_suspects(capsys.readouterr().out)
    expected = suspects(4, naive_bayes.MultinomialLearner(alpha=0.5), ngrams=(1, 2))
    assert [each["p_label"] for each in told] == [each.p_label for each in expected]


def test_the_smoothing_is_chosen_unless_given(capsys):
    rows = Path("letters.csv").read_text().splitlines()
    Path("letters.csv").write_text("\n".join([rows[0], *rows[1:] * 4]) + "\n")  # enough to choose by
    answers = []
    for options in ([], ["--learner", "multinomial:alpha=auto"], ["--learner", "multinomial:alpha=1"]):
        assert main(["audit", "letters.csv", "--json", *options]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] != answers[2]


@together
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--learner", "softmax"],
            "error: `audit` uses leave-one-out, which needs a learner of counts\n\n"
            "hint: use the learner multinomial, bernoulli or complement\n",
        ),
        (
            ["--learner", "lda"],
            "error: `audit` uses leave-one-out, which needs a learner of counts\n\n"
            "hint: use the learner multinomial, bernoulli or complement\n",
        ),
        (
            ["--learner", "multinomial,bernoulli"],
            "error: `audit` takes one learner of texts\n\nhint: name it: `--learner multinomial`\n",
        ),
        (["--top", "0"], "error: `--top` cannot be `0`\n\nhint: write a whole number above 0\n"),
        (
            ["--learner", "multinomial:alpha=automatic"],
            "error: `alpha` cannot be `automatic` in `multinomial:alpha=automatic`\n\nhint: write a number\n",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_a_way_out(capsys, options, said):
    assert main(["audit", "letters.csv", *options]) == 2
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    "options", [["--stream"], ["--columns", "text=text"], ["--like", "letters.textodds"]], ids=str
)
def test_options_of_other_models_are_refused_rather_than_ignored(capsys, options):
    assert main(["audit", "letters.csv", *options]) == 2
    assert capsys.readouterr().out == ""


def test_train_tells_what_texts_left_out_said(capsys):
    rows = Path("letters.csv").read_text().splitlines()
    Path("many.csv").write_text("\n".join([rows[0], *rows[1:] * 4]) + "\n")
    assert main(["train", "many.csv", "--learner", "multinomial:alpha=auto"]) == 0
    model = textodds.load("many.textodds")
    told = model.info["left_out"]
    line = (
        f"left out one by one, 160 texts: accuracy {told['accuracy']:.4f}, "
        f"the largest class alone 0.5000, log-loss {told['log_loss']:.4f} "
        f"({told['log_loss_before']:.4f} before calibration)"
    )
    assert line in capsys.readouterr().err.splitlines()
    chosen = textodds.train("many.csv", learner=textodds.MultinomialNB(alpha=None)).recipe.learner
    assert model.recipe.learner == chosen
    assert chosen.alpha != 1.0
    assert main(["inspect", "many.textodds"]) == 0
    assert line in capsys.readouterr().out


def test_train_can_leave_probabilities_as_they_are(capsys):
    rows = Path("letters.csv").read_text().splitlines()
    Path("many.csv").write_text("\n".join([rows[0], *rows[1:] * 4]) + "\n")
    assert main(["train", "many.csv", "--learner", "multinomial", "--no-calibrate"]) == 0
    assert "left out" not in capsys.readouterr().err
    model = textodds.load("many.textodds")
    assert model.calibration is None
    assert model.held_out is None
    assert main(["train", "many.csv", "--learner", "multinomial", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["left_out"]
    assert told["n"] == 160
    assert textodds.load("many.textodds").calibration is not None
