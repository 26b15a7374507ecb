"""A document as its table of word counts."""

from collections import Counter

import pytest
from sklearn.feature_extraction.text import CountVectorizer

import textodds
from textodds import TextSettings
from textodds.errors import InputError

REUTERS = "Argentine grain board figures show crop registrations of grains: grain, oilseed, TOTAL 3, total 2."


def test_words_are_counted_as_scikit_learn_counts_them():
    analyse = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    assert textodds.word_counts(REUTERS) == dict(Counter(analyse(REUTERS)))


def test_the_most_frequent_come_first_and_of_equals_the_first_in_the_text():
    assert list(textodds.word_counts("b a c a b d")) == ["b", "a", "c", "d"]


def test_a_text_is_cut_as_its_settings_say():
    assert textodds.word_counts("see you see", TextSettings(ngrams=(2, 2))) == {"see you": 1, "you see": 1}
    model = textodds.train(["free phone", "see you"], ["spam", "ham"], learner="multinomial", ngrams=(1, 2))
    assert textodds.word_counts("free phone", model.recipe.settings) == {
        "free": 1,
        "phone": 1,
        "free phone": 1,
    }


def test_nothing_has_no_words_and_several_texts_are_refused():
    assert textodds.word_counts("…") == {}
    with pytest.raises(InputError, match="got list"):
        textodds.word_counts(["a"])
