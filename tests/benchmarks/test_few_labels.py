"""The draws of the benchmark of few labels, what it counts, and what it keeps."""

import importlib
import json
import math
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def few():
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("few_labels")
    sys.path.remove(str(FOLDER))
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None)
        if origin and Path(origin).is_relative_to(FOLDER):
            del sys.modules[name]  # their names are those of others, too


@pytest.fixture
def large(few):
    def half(n, classes):
        return SimpleNamespace(rows=([f"text {i}" for i in range(n)], [f"c{i % classes}" for i in range(n)]))

    return lambda classes: few.Large.of(
        SimpleNamespace(name="sms_spam", train=half(3000, classes), test=half(1500, classes))
    )


def test_a_draw_has_so_many_of_each_class_and_is_the_same_every_time(large):
    data = large(3)
    draw = data.draw(8, 0)
    assert Counter(draw.labels) == {"c0": 8, "c1": 8, "c2": 8}
    assert list(draw.texts) == list(data.draw(8, 0).texts)
    assert set(draw.texts) != set(data.draw(8, 1).texts)
    assert len(set(data.draw(1000, 0).texts)) == 1000
    assert len(data.test.labels) == 1000


def test_of_many_classes_twenty_are_kept_in_both_halves(large):
    data = large(79)
    assert len(set(data.train.labels)) == 20
    assert set(data.train.labels) == set(data.test.labels)


def test_a_label_that_was_never_learned_is_wrong_and_its_loss_is_bounded(few):
    proba = np.array([[0.75, 0.25], [0.5, 0.5], [0.9, 0.1]])
    found = few.measured(proba, ["a", "b"], np.array(["a", "b", "z"], dtype=object))
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["log_loss"] == pytest.approx(-(math.log(0.75) + math.log(0.5) + math.log(few.FLOOR)) / 3)


def test_rows_in_the_span_have_the_inner_products_of_the_features(few):
    train = few.Half.of(["red red wine", "dry white wine", "a dry day"], ["a", "a", "b"])
    test = few.Half.of(["white day", "wine"], ["b", "a"])
    rows, others = few.Terms().rows(train, test)
    norms = (rows**2).sum(axis=1)
    assert norms == pytest.approx([2.0, 2.0, 2.0])  # words and characters, each of length 1
    assert rows @ others.T == pytest.approx(_products(train, test))


def _products(train, test):
    from sklearn.feature_extraction.text import TfidfVectorizer

    total = np.zeros((len(train.texts), len(test.texts)))
    for settings in ({"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 5)}):
        vectoriser = TfidfVectorizer(sublinear_tf=True, **settings)
        total += (vectoriser.fit_transform(train.texts) @ vectoriser.transform(test.texts).T).toarray()
    return total


def test_a_result_is_measured_once_until_its_means_are_others(few, tmp_path):
    store = few.Store(tmp_path / "kept.json", lambda result: (result["draw"],))
    values = iter([1, 2, 3])

    def ask(draw, means):
        return store.once({"draw": draw}, {"means": means}, lambda: {"value": next(values)})["value"]

    assert [ask(1, "old"), ask(0, "old"), ask(1, "old"), ask(1, "new"), ask(0, "old")] == [1, 2, 1, 3, 2]
    assert [one["draw"] for one in json.loads(store.path.read_text(encoding="utf-8"))] == [0, 1]


def test_the_kept_results_are_of_whole_draws(few):
    kept = few.kept().results()
    by_draw = Counter((one["size"], one["draw"], one["peer"]) for one in kept)
    assert by_draw, "no results are kept"
    assert set(by_draw.values()) == {len(few.DATA)}
