"""An explanation adds up, names the words of the text, and says what it leaves out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from textodds.errors import InputError
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from unicode_texts import texts

TEXTS = ["win a free phone", "see you at six", "free prize inside", "lunch at noon", "meet at the café"]
LABELS = ["spam", "ham", "spam", "ham", "work"]
MODELS = [
    textodds.train(TEXTS, LABELS, learner=learner, **options)
    for learner in (
        MultinomialLearner(),
        MultinomialLearner(binary=True),
        BernoulliLearner(),
        ComplementLearner(norm=True),
    )
    for options in ({}, {"unknown": "smooth"}, {"hash_bits": 5}, {"ngrams": (1, 2), "unknown": "first"})
]
MODELS += [textodds.train([f"{i} own{i} " + TEXTS[0] for i in range(12)], [f"c{i:02}" for i in range(12)])]

words = st.lists(st.sampled_from([*" ".join(TEXTS).split(), "zzz", "own3"]), max_size=12).map(" ".join)


@given(model=st.sampled_from(MODELS), text=st.one_of(words, texts), data=st.data())
def test_contributions_sum_to_the_difference_of_the_scores(model, text, data):
    label, rival = data.draw(st.permutations(model.classes_))[:2]
    scores = dict(zip(model.classes_, model.score([text])[0][0], strict=True))
    got = model.explain(text, label, rival)
    assert got.log_odds == pytest.approx(scores[label] - scores[rival], abs=1e-9)
    assert (got.label, got.rival) == (label, rival)
    assert got.unknown == int(np.subtract(*model.score([text])[1][0][::-1]))
    sizes = [abs(word.log_odds) for word in got.words]
    assert sizes == sorted(sizes, reverse=True)


@given(model=st.sampled_from(MODELS), text=words)
def test_by_default_the_winner_is_explained_against_the_runner_up(model, text):
    scores = model.score([text])[0][0]
    order = np.argsort(-scores, kind="stable")
    got = model.explain(text)
    assert (got.label, got.rival) == (model.classes_[order[0]], model.classes_[order[1]])
    assert got.label == model(text).label
    assert got.log_odds >= -1e-12


def test_an_explanation_by_hand():
    model = textodds.train(["a a b", "b c"], ["x", "y"])
    got = model.explain("a a zzz", "x", "y")
    assert got.start == 0
    assert [(word.word, word.count) for word in got.words] == [("a", 2)]
    assert got.words[0].log_odds == pytest.approx(2 * np.log(0.5 / 0.2))
    assert got.unknown == 1
    assert str(got).splitlines() == [
        "x rather than y: log-odds +1.83",
        "     +0.00  class prior",
        "     +1.83  a × 2",
        "            (1 unknown)",
    ]


def test_a_word_counts_once_where_only_its_presence_counts():
    model = textodds.train(["a a b", "b c"], ["x", "y"], learner=BernoulliLearner())
    assert [(word.word, word.count) for word in model.explain("a a a").words] == [("a", 1)]


def test_swapping_label_and_rival_changes_the_sign():
    model = MODELS[0]
    assert model.explain("free", "ham", "spam").log_odds == -model.explain("free", "spam", "ham").log_odds


def test_a_class_that_is_not_there_is_named_with_a_near_one():
    with pytest.raises(InputError, match="there is no class `spm`; did you mean `spam`"):
        MODELS[0].explain("free", "spm")


def test_an_empty_text_is_explained_by_what_was_believed_before():
    got = MODELS[0].explain("")
    assert got.words == ()
    assert got.log_odds == got.start == pytest.approx(0)  # ham and spam: two documents each
