"""The words of classes: the strongest, and what a model knows of one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.words import largest

TEXTS, LABELS = ["free prize", "free phone", "see you"], ["spam", "spam", "ham"]


def test_a_word_has_its_count_weight_and_log_odds_in_each_class():
    model = textodds.train(TEXTS, LABELS, learner=textodds.MultinomialNB())
    found = model.words.weights("FREE")  # the model spells it without capitals
    assert (found["word"], found["known"]) == ("free", True)
    assert {label: each["count"] for label, each in found["by_class"].items()} == {"ham": 0, "spam": 2}
    spam, ham = found["by_class"]["spam"], found["by_class"]["ham"]
    assert spam["log_odds"] == pytest.approx(spam["weight"] - ham["weight"])
    assert spam["log_odds"] == pytest.approx(dict(model.top_words("spam"))["free"])


def test_a_word_that_is_not_there_is_not_known():
    found = textodds.train(TEXTS, LABELS, learner=textodds.MultinomialNB()).words.weights("zebra")
    assert (found["word"], found["known"]) == ("zebra", False)
    assert found["by_class"]["spam"]["count"] == 0


@given(st.data())
def test_the_largest_are_those_of_a_stable_sort_whatever_the_blocks(data):
    """Also among equals, infinities and what is not a number."""
    V, R, n, block = (data.draw(st.integers(low, high)) for low, high in ((0, 30), (1, 3), (0, 31), (1, 31)))
    values = st.sampled_from([0.0, 1.0, 1.0, 2.5, -3.0, np.inf, -np.inf, np.nan])
    sizes = np.array(data.draw(st.lists(values, min_size=V * R, max_size=V * R))).reshape(V, R)
    found = largest(lambda numbers: sizes[numbers], V, n, block)
    assert len(found) == R
    for column, best in zip(sizes.T, found, strict=True):
        assert best.tolist() == np.argsort(-column, kind="stable")[:n].tolist()


@pytest.mark.parametrize("class_weight", [None, "balanced", {"spam": 5.0}], ids=str)
def test_odds_ratios_of_a_model_of_texts_are_those_of_its_weighted_rows(class_weight):
    texts = ["free phone", "free call", "see you", "call me", "phone me", "see me free", "you call"] * 3
    labels = ["spam", "spam", "ham", "ham", "ham", "ham", "ham"] * 3
    learner = SoftmaxLearner(C=2.0, class_weight=class_weight, tolerance=1e-9)
    model = textodds.train(texts, labels, learner=learner, ngrams=(1, 1))
    words = ["free", "phone", "me"]
    expected = learner.fit(model.rows(texts), labels).odds_ratios("spam", "ham", model.vocabulary.find(words))
    for mine, theirs in zip(model.odds_ratios("spam", "ham", words, texts, labels), expected, strict=True):
        assert mine.log_odds == pytest.approx(theirs.log_odds, abs=1e-4)
        assert mine.standard_error == pytest.approx(theirs.standard_error, rel=1e-4)
