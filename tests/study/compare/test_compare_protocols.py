"""Groups held out one by one, and models over the number of words, against scikit-learn."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from textodds.cli import main
from textodds.errors import InputError, LengthMismatch, NoData
from textodds.stats.tally import Tally
from textodds.study.compare import compare_groups, compare_vocabulary, mutual_information
from textodds.training.choose.pool import split


def pages(n=240, seed=0):
    """Pages of two classes and three universities, each of which has words of its own."""
    random = np.random.default_rng(seed)
    texts, labels, sites = [], [], []
    own = {"faculty": "professor research papers".split(), "student": "homework resume music".split()}
    for i in range(n):
        label, site = ("faculty", "student", "student")[i % 3], ("cmu", "cornell", "texas")[i % 7 % 3]
        theme = own[label if random.random() < 0.8 else "student"]
        words = [*random.choice(theme, 3), *random.choice(list("abcdefgh"), 6)]
        texts.append(" ".join([*words, site + label[0]]))  # a word that tells, at this university only
        labels.append(label)
        sites.append(site)
    return texts, labels, sites


def test_a_group_that_is_held_out_is_one_that_no_model_has_seen():
    texts, labels, sites = pages()
    found = compare_groups(texts, labels, group=sites, models="multinomial:alpha=1", textbook=True)
    assert list(found.by_group) == ["cmu", "cornell", "texas"]
    right = 0
    for site, comparison in found.by_group.items():
        inside = np.array([each == site for each in sites])
        rows = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit(
            [t for t, i in zip(texts, inside, strict=True) if not i]
        )
        X, y = rows.transform(texts), np.array(labels)
        oracle = MultinomialNB().fit(X[~inside], y[~inside]).score(X[inside], y[inside])
        assert comparison["multinomial:alpha=1"].evaluation.accuracy == pytest.approx(oracle)
        assert comparison.setting.n_test == inside.sum()
        right += oracle * inside.sum()
    assert found.accuracy("multinomial:alpha=1") == pytest.approx(right / len(texts))


def test_groups_that_cannot_be_are_refused():
    texts, labels, sites = pages()
    with pytest.raises(LengthMismatch):
        compare_groups(texts, labels, group=sites[:-1], models="multinomial")
    with pytest.raises(InputError, match="1 different value"):
        compare_groups(texts, labels, group=["one"] * len(texts), models="multinomial")
    with pytest.raises(NoData, match="to hold out"):
        compare_groups(texts, labels, group=["one"] * 3 + ["two"] * (len(texts) - 3), models="multinomial")


def test_mutual_information_is_that_of_scikit_learn():
    texts, labels, _ = pages()
    tally = Tally.of(texts, labels)
    found = mutual_information(tally.counts())
    for word, value in zip(tally.vocabulary.words(), found, strict=True):
        there = [word in text.split() for text in texts]
        assert value == pytest.approx(mutual_info_score(labels, there), abs=1e-12)


def test_the_event_models_are_those_of_scikit_learn_at_every_size():
    texts, labels, _ = pages()
    found = compare_vocabulary(texts, labels, sizes=[1, 3, 8], seed=2)
    codes = np.array([sorted(set(labels)).index(label) for label in labels])
    learned, held = split(codes, 0.2, 2)
    y = np.array(labels)
    tally = Tally.of([texts[i] for i in learned], y[learned].tolist())
    words = tally.vocabulary.words()
    told = dict(zip(words, mutual_information(tally.counts()), strict=True))
    order = sorted(words, key=lambda word: (-told[word], word))
    assert found.sizes == (1, 3, 8, len(words))
    for at, size in enumerate(found.sizes):
        rows = CountVectorizer(vocabulary=order[:size], token_pattern=r"(?u)\b\w+\b").transform(texts)
        for name, oracle in (("multinomial", MultinomialNB()), ("bernoulli", BernoulliNB())):
            expected = oracle.fit(rows[learned], y[learned]).score(rows[held], y[held])
            assert found.accuracy(f"{name}:alpha=1")[at] == pytest.approx(expected), (name, size)


def test_over_vocabulary_takes_groups_and_other_models():
    texts, labels, sites = pages()
    found = compare_vocabulary(texts, labels, sizes=[5], group=sites, models="softmax:C=1, complement")
    assert found.n == len(texts)
    assert list(found.right) == ["softmax:C=1", "complement"]
    assert 0 < found.best("complement")[1] <= 1


def write_pages(path):
    rows = zip(*pages(), strict=True)
    path.write_text("site,text,label\n" + "".join(f"{site},{text},{label}\n" for text, label, site in rows))


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "pages.csv")
    assert main(["compare", "pages.csv", "--group", "site", "--models", "multinomial", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    texts, labels, sites = pages()
    same = compare_groups(texts, labels, group=sites, models="multinomial")
    assert found["models"][0]["accuracy"] == same.accuracy("multinomial")
    assert main(["compare", "pages.csv", "--group", "site", "--models", "multinomial"]) == 0
    assert "3 groups by site, each held out once: 240 rows" in capsys.readouterr().out
    pytest.importorskip("matplotlib")
    assert main(["compare", "pages.csv", "--over", "vocabulary", "--sizes", "3", "--picture", "v.svg"]) == 0
    assert "is best with" in capsys.readouterr().out
    assert (tmp_path / "v.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--picture", "v.svg"], "`--picture` is for `--over vocabulary`"),
        (["--group", "site", "--held-out", "0.3"], "`--group` holds out groups"),
        (["--group", "site", "--html", "p.html"], "cannot be combined with `--test`"),
        (["--group", "sight"], "sight"),
        (["--over", "vocabulary", "--textbook"], "has no `--columns` and no `--textbook`"),
        (["--over", "vocabulary", "--sizes", "0"], "`--sizes`"),
    ],
)
def test_what_does_not_go_together_is_refused(args, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "pages.csv")
    assert main(["compare", "pages.csv", "--models", "multinomial", *args]) == 2
    assert problem in capsys.readouterr().err
