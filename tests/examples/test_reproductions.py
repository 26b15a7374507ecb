"""The reproductions run, say what they find in every form, and the page of their results is theirs."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import all as every
import complement
import event_models
import laboratory
import languages
import nbsvm
import spam_costs
import textodds
from data_sets import rows_of
from results import Results, Share, Spread, Table
from script import main
from textodds import Tally, TextSettings
from textodds.errors import BadFile, InputError
from textodds.learn import naive_bayes

pytestmark = pytest.mark.long

TEXTS = ["a b", "b c c", "a c", "c", "b", "a a c d", "d", "b c"]
LABELS = ["x", "y", "x", "y", "z", "x", "z", "y"]
SETTINGS = TextSettings(unit="whitespace")


@pytest.mark.realdata
@pytest.mark.parametrize("name", every.SCRIPTS)
def test_a_quick_run_makes_the_tables_and_pictures_of_the_page(name, data_sets, tmp_path, capsys):
    found, pictures = tmp_path / "found.json", tmp_path / "pictures"
    assert main(every.script(name), None, ["--quick", "--json", str(found), "--pictures", str(pictures)]) == 0
    printed, plain = capsys.readouterr().out, json.loads(found.read_text(encoding="utf-8"))
    page = every.PAGE.read_text(encoding="utf-8")
    on_page = {table[2]: table[3] for table in every.TABLE.finditer(page) if table[1] == name}
    assert list(plain) == list(on_page)
    for table, rows in plain.items():
        lines = [line for line in on_page[table].splitlines() if line]
        assert [cell.strip() for cell in lines[0].strip("|").split("|")] == list(rows[0])
        assert [line.split("|")[1].strip() for line in lines[2:]] == [
            next(iter(row.values())) for row in rows
        ]
        assert table in printed
    for drawn in pictures.glob("*"):
        assert f"pictures/{drawn.name}" in page
        assert (every.PAGE.parent / "pictures" / drawn.name).is_file()


def test_every_script_is_on_the_page_and_in_the_readmes():
    page = every.PAGE.read_text(encoding="utf-8")
    assert list(dict.fromkeys(name for name, _ in every.tables_of(page))) == list(every.SCRIPTS)
    folder = every.ROOT / "examples"
    listed = (folder / "reproductions" / "README.md").read_text(encoding="utf-8")
    for name in every.SCRIPTS:
        assert f"`{name}.py`" in listed
        assert (folder / "reproductions" / f"{name}.py").is_file()
    everything = (folder / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(\w+\.(?:py|csv))`", everything)) >= {
        path.name for path in folder.iterdir() if path.suffix in (".py", ".csv")
    }


def test_a_script_runs_as_a_file_and_says_where_data_are_missing(tmp_path):
    path = every.ROOT / "examples" / "reproductions" / "height_and_weight.py"
    ran = subprocess.run(
        [sys.executable, str(path)],
        env={"TEXTODDS_DATA": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: no data set at `")
    assert "hint: set TEXTODDS_DATA" in ran.stderr


def test_data_that_are_not_there_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TEXTODDS_DATA", str(tmp_path))
    with pytest.raises(BadFile, match=r"imdb.*train\.csv\.gz"):
        rows_of("imdb")


def test_only_the_tables_of_a_script_change_on_a_page():
    page = "a\n<!-- one: first -->\nold\n<!-- end -->\nb\n<!-- two: first -->\nkept\n<!-- end -->\n"
    table = Table({"model": "", "x": ".1f"}, (("m", 1.25), ("n", None)))
    assert every.written(page, "one", Results({"first": table})) == (
        "a\n<!-- one: first -->\n\n| model | x |\n|---|---:|\n| m | 1.2 |\n| n |  |\n\n<!-- end -->\n"
        "b\n<!-- two: first -->\nkept\n<!-- end -->\n"
    )
    with pytest.raises(InputError, match="which makes"):
        every.written(page, "one", Results({"other": table}))


def test_a_misspelt_script_is_named(capsys):
    assert every.main(["langauges"]) == 2
    assert "did you mean `languages`?" in capsys.readouterr().err


def test_numbers_are_plain_in_json(capsys):
    table = Table({"model": "", "right": ""}, (("m", Share.of(3, 4)), ("n", Spread.of([0.5, 1.0]))))
    assert main(lambda quick: Results({"found": table}), None, ["--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["found"]
    assert rows[0]["right"]["percent"] == 75.0
    assert rows[1]["right"] == {"percent": 75.0, "deviation": pytest.approx(100 * 0.5 / np.sqrt(2))}


def test_mutual_information_is_that_of_scikit_learn():
    tally = Tally.of(TEXTS, LABELS, settings=SETTINGS)
    words = tally.vocabulary.words()
    rows = CountVectorizer(vocabulary=words, token_pattern=r"\S+", binary=True).transform(TEXTS).toarray()
    expected = mutual_info_classif(rows, LABELS, discrete_features=True)
    np.testing.assert_allclose(event_models.mutual_information(tally.counts()), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("learner", "theirs"),
    [(naive_bayes.MultinomialLearner(), MultinomialNB()), (naive_bayes.BernoulliLearner(), BernoulliNB())],
)
def test_a_model_of_selected_words_is_that_of_scikit_learn(learner, theirs):
    tally = Tally.of(TEXTS, LABELS, settings=SETTINGS)
    kept = np.array([0, 2])
    model = event_models.model_of(tally, kept, learner, SETTINGS)
    counter = CountVectorizer(vocabulary=tally.vocabulary.words(kept), token_pattern=r"\S+")
    expected = theirs.fit(counter.transform(TEXTS), LABELS).predict_proba(counter.transform(TEXTS))
    np.testing.assert_allclose(model.predict_proba(TEXTS), expected, rtol=1e-12)


def test_a_skewed_set_keeps_all_of_the_first_class_and_few_of_the_last():
    labels = [name for name in "abc" for _ in range(1000)]
    kept = complement.skewed(([""] * 3000, labels))[1]
    assert kept.count("a") == 1000
    assert 150 < kept.count("b") < 300  # the square root of 0.05 is 0.22
    assert 25 < kept.count("c") < 80


def test_only_texts_without_a_known_word_of_their_language_are_unseen():
    train = (["un chat noir", "a black cat"], ["fr", "en"])
    test = (["chat", "chat", "a cat", "dog"], ["fr", "en", "en", "en"])
    assert languages.unseen(train, test) == (["chat", "dog"], ["en", "en"])


def test_what_a_filter_costs_is_that_of_hand_calculation():
    truth = np.array(["ham", "ham", "spam", "spam", "spam", "spam"])
    answers = np.array(["ham", "spam", "spam", "spam", "spam", "ham"])
    assert spam_costs.lost(answers, truth)[0] == "1 of 2"
    assert spam_costs.lost(answers, truth)[1].percent == 75.0
    assert spam_costs.cheaper(answers, truth, 9) == 4 / (9 + 1)
    assert spam_costs.cheaper(truth, truth, 9) is None


def test_spam_caught_grows_with_what_may_be_lost(monkeypatch):
    monkeypatch.setattr(spam_costs, "MOST", 2)
    truth = np.array(["ham", "ham", "ham", "spam", "spam", "spam", "spam"])
    belief = np.log([0.9, 0.5, 0.1, 0.95, 0.6, 0.4, 0.05])
    assert spam_costs.caught_by_lost(belief, truth) == [25.0, 50.0, 75.0]


def test_without_interpolation_nbsvm_is_a_machine_of_words_scaled_by_naive_bayes(monkeypatch):
    random = np.random.default_rng(0)
    words = {"pos": ["good", "fine", "film", "plot"], "neg": ["bad", "fine", "film", "plot"]}
    labels = ["pos", "neg"] * 100
    texts = [" ".join(random.choice(words[label], 3)) for label in labels]
    train, test = (texts[:120], labels[:120]), (texts[120:], labels[120:])
    counter = CountVectorizer(binary=True)
    rows, new_rows = counter.fit_transform(train[0]), counter.transform(test[0])
    negative, positive = MultinomialNB().fit(rows, train[1]).feature_log_prob_
    ratio = positive - negative
    machine = LinearSVC(C=1.0).fit(rows.multiply(ratio).tocsr(), train[1])
    expected = machine.score(new_rows.multiply(ratio).tocsr(), test[1])
    assert 0.5 < expected < 1
    monkeypatch.setattr(nbsvm, "BETA", 1.0)
    assert nbsvm.svm(train, test, 1, scaled=True).percent == pytest.approx(100 * expected)


@pytest.mark.realdata
def test_the_rows_of_the_laboratory_are_those_of_the_lecture(data_sets):
    texts, labels = laboratory.messages()
    assert (len(texts), labels.count("ham"), labels.count("spam")) == (5572, 4825, 747)
    table = laboratory.laboratory(texts, labels, quick=True)
    names = list(table.columns)
    for row in table.rows:
        for side in ("scikit-learn %", "textodds %"):
            share = row[names.index(side)]
            if share is not None and row[0] not in laboratory.SLOW:
                assert round(share.percent, 2) == row[names.index("lecture %")], row[0]


@pytest.mark.realdata
def test_the_weighted_complement_is_that_of_scikit_learn_on_transformed_rows(data_sets):
    """The last form of the paper, whose steps scikit-learn leaves to its user."""
    train, test = rows_of("reuters_r8", quick=True), rows_of("reuters_r8", "test", quick=True)
    counter = CountVectorizer()
    rows = counter.fit_transform(train[0]).astype(float)
    df = np.asarray((rows > 0).sum(axis=0)).ravel()
    rows.data = np.log1p(rows.data) * np.log(rows.shape[0] / df)[rows.indices]
    theirs = ComplementNB(norm=True).fit(normalize(rows), train[1]).predict(counter.transform(test[0]))
    learner = complement.LEARNERS["TWCNB"]
    ours = textodds.train(*train, learner=learner, sklearn=True, calibrate=False).predict(test[0])
    assert (theirs == ours).mean() == 1.0
