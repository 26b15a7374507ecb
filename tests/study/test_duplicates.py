"""Texts that come again, word for word or nearly, and under which labels."""

import textodds
from textodds.data import read
from textodds.study.duplicates import repeats, rows_in_common

LONG = (
    "the quick brown fox jumps over the lazy dog while the small cat watches from the warm roof of the old "
    "house by the quiet river and waits for the evening to come"
)


def found(texts, labels=None):
    return repeats(read(texts, labels or ["a"] * len(texts)))


def test_texts_are_the_same_without_regard_to_case_space_and_punctuation():
    (group,) = found(["Free phone!", "see you", "free  PHONE", "free phones"]).groups
    assert (group.rows, group.exact, group.text) == ((1, 3), True, "Free phone!")


def test_long_texts_that_differ_in_a_word_are_nearly_the_same():
    (group,) = found([LONG, "something else", LONG.replace("small", "tiny")]).groups
    assert (group.rows, group.exact) == ((1, 3), False)


def test_texts_that_share_some_words_only_are_not():
    other = " ".join(reversed(LONG.split()))
    assert found([LONG, other, LONG[: len(LONG) // 2]]).groups == ()


def test_the_same_text_under_two_labels_comes_first():
    texts = ["b"] * 5 + ["free", "free"]
    repeated = found(texts, ["x"] * 5 + ["spam", "ham"])
    assert [group.rows for group in repeated.groups] == [(6, 7), (1, 2, 3, 4, 5)]
    assert repeated.groups[0].labels == ("spam", "ham")
    assert (repeated.exact_rows, repeated.near_rows, repeated.contradictions) == (5, 0, 1)


def test_texts_without_a_word_are_not_repeats_of_each_other():
    assert found(["", "", "!!", "?"]).groups == ()


def test_an_audit_has_the_repeats():
    texts = ["free phone", "free prize", "see you", "see me", "free phone"]
    audit = textodds.audit(texts, ["spam", "spam", "ham", "ham", "ham"])
    (group,) = audit.repeats.groups
    assert (group.rows, group.labels) == ((1, 5), ("spam", "ham"))
    assert "duplicate texts: 1 exact, 0 near; with several labels: 1" in repr(audit)


def test_rows_of_test_data_that_were_learned_are_counted_with_their_repetitions():
    learned = read(["a", "b", "c"], ["x", "y", "x"])
    tested = read(["b", "b", "d", "a"], ["x", "x", "x", "x"])
    assert rows_in_common(learned, tested) == 3
    table = {"size": [1.0, 2.0], "kind": ["red", None]}
    other = {"size": [1.0, 2.0], "kind": ["red", "blue"]}
    assert rows_in_common(read(table, ["x", "y"], columns={}), read(other, ["x", "y"], columns={})) == 1
