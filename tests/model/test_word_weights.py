"""What a model knows of one word."""

import pytest

import textodds

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
