"""A new user asks which words decided: of the model that `train` chooses, whose features may be letters."""

import json
import math
import re
from pathlib import Path

import pytest

import textodds
from textodds.cli import main

SPAM = ["win a FREE phone!!!", "free prize: call now", "claim your £100 prize", "cash, win free cash now"]
HAM = ["see you at six", "are you at home?", "call me at noon", "lunch now? see you"]
TEXT = "Free prize: call me, see you at zebra!!!"
FEATURES = {
    "letters": ["--learner", "softmax", "--features", "letters"],
    "pairs": ["--learner", "softmax", "--features", "pairs"],
    "mixed": ["--learner", "softmax", "--features", "characters"],
    "words": ["--learner", "multinomial"],
}


def write_mail():
    """Messages of two classes, some of them under the wrong label so that calibration has work to do."""
    rows = [
        f'"{text} {i % 9}",{label if i % 8 else "ham"}\n'
        for i in range(20)
        for label, texts in (("spam", SPAM), ("ham", HAM))
        for text in texts
    ]
    Path("mail.csv").write_text("text,label\n" + "".join(rows), encoding="utf-8")


@pytest.fixture(params=FEATURES)
def trained(request, capsys):
    """The name of the features of a model of 160 messages; and runs a line, and returns what it prints."""
    write_mail()
    assert (
        main(["train", "mail.csv", "--learner", "multinomial", "--quiet", *FEATURES[request.param]]) == 0
    ), capsys.readouterr().err

    def run(*words):
        capsys.readouterr()
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return request.param, run


def sums(out):
    """The names and numbers of an explanation on the terminal, and its total."""
    lines = out.split("\n\n")[2].splitlines()
    rows = [re.fullmatch(r"  (.+?) +([+-]\d+\.\d\d)", line).groups() for line in lines]
    *parts, total = [(name, float(number)) for name, number in rows]
    return parts, total


def test_a_new_user_reads_words_whatever_the_features_are(trained):
    features, run = trained
    parts, (name, total) = sums(run("explain", "mail.textodds", "--say", TEXT))
    assert name == "log-odds"
    assert sum(x for _, x in parts) == pytest.approx(total, abs=0.005 * (len(parts) + 2))
    words = {name for name, _ in parts} - {"class prior", "intercept", "calibration"}
    assert {"free", "prize", "call", "see"} <= words
    assert words <= {"free", "prize", "call", "me", "see", "you", "at", "zebra", "!!!", ":", ","}
    by_feature, (_, again) = sums(run("explain", "mail.textodds", "--say", TEXT, "--parts"))
    assert again == total
    assert sum(x for _, x in by_feature) == pytest.approx(total, abs=0.005 * (len(by_feature) + 2))
    if features == "words":
        assert by_feature == parts
    else:
        names = " ".join(name for name, _ in by_feature)
        assert ("free prize" if features == "pairs" else " other features") in names


def test_json_has_words_and_on_request_the_features(trained):
    features, run = trained
    told = json.loads(run("explain", "mail.textodds", "--say", TEXT, "--json", "--parts"))
    assert told["has_words"] is (features == "words")
    for contributions in (told["words"], told["parts"]):
        total = math.fsum([told["start"], *(each["log_odds"] for each in contributions)])
        assert total == pytest.approx(told["log_odds"], rel=1e-12, abs=1e-12)
    assert "parts" not in json.loads(run("explain", "mail.textodds", "--say", TEXT, "--json"))
    start = told["prior"] + told["intercept"] + (told["calibration"] or 0.0)
    assert start == pytest.approx(told["start"], rel=1e-12)


def test_the_page_has_the_same_words_as_the_terminal(trained):
    _, run = trained
    parts, (_, total) = sums(run("explain", "mail.textodds", "--say", TEXT, "--html", "why.html"))
    page = Path("why.html").read_text(encoding="utf-8")
    rows = re.findall(r"<bdi>([^<]+)</bdi></th><td[^>]*>([+-][\d.]+)</td>", page)
    assert [(name, float(number)) for name, number in rows] == parts
    assert ">word</th>" in page
    assert f">{total:+.2f}</td><td></td></tr></tfoot>" in page


def test_the_log_odds_of_a_word_mean_the_same_wherever_they_are_shown(trained):
    """What a feature adds in a text is what `inspect` says of one use, or a part of that of a unit."""
    _, run = trained
    model = textodds.load("mail.textodds")
    told = json.loads(run("explain", "mail.textodds", "--say", TEXT, "--label", "spam", "--json", "--parts"))
    between = json.loads(
        run("inspect", "mail.textodds", "--between", "spam", "ham", "--top", "100000", "--json")
    )
    by_word = {word["word"]: word["log_odds"] for word in between["words"]}
    row = model.rows([TEXT])
    values = dict(zip(model.vocabulary.words(row.indices), row.data.tolist(), strict=True))
    assert told["rival"] == "ham"
    assert between["log_odds_per"] == ("use" if model.scale is None else "unit")
    for part in told["parts"]:
        expected = by_word[part["word"]] * values[part["word"]]
        assert part["log_odds"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if between["log_odds_per"] == "use":
            assert values[part["word"]] == part["count"]
    word = told["parts"][0]["word"]
    asked = json.loads(run("inspect", "mail.textodds", "--word", word, "--top", "100000", "--json"))
    (own,) = asked["asked"]
    assert own["by_class"]["spam"]["log_odds"] == pytest.approx(by_word[word], rel=1e-9)
    top = {each["word"]: each["log_odds"] for each in asked["top_words"]["spam"]}
    assert top[word] == pytest.approx(by_word[word], rel=1e-9)
    assert between["bias"] == pytest.approx(told["start"], rel=1e-9)


def test_what_are_not_words_are_not_called_so(trained):
    features, run = trained
    out = run("inspect", "mail.textodds")
    noun = "words" if features == "words" else "features"
    assert f"\n{noun} with the most evidence for each class, and " in out
    assert re.search(rf"^  {noun} +[\d,]+", out, re.M)
    between = run("inspect", "mail.textodds", "--between", "spam", "ham", "--top", "3")
    assert re.search(rf"^  {noun[:-1]} +log-odds", between, re.M)
    assert ("log-odds per unit" in between) is (features != "words")
    assert ("log-odds ratio" in between) is (features == "words")
    assert repr(textodds.load("mail.textodds")).endswith(f" {noun}>")
    assert "`qqqq` is not among the" in run("inspect", "mail.textodds", "--word", "qqqq")


def test_calibration_has_a_line_of_its_own_where_it_adds_before_reading(capsys):
    write_mail()
    assert main(["train", "mail.csv", "--quiet", "--learner", "softmax:C=1000"]) == 0
    model = textodds.load("mail.textodds")
    capsys.readouterr()
    assert main(["explain", "mail.textodds", "--say", TEXT]) == 0
    parts, _ = sums(capsys.readouterr().out)
    why = model.explain(TEXT)
    assert why.calibration is not None
    assert [name for name, _ in parts[:3]] == ["class prior", "intercept", "calibration"]
    assert [x for _, x in parts[:3]] == pytest.approx([why.prior, why.intercept, why.calibration], abs=0.006)
