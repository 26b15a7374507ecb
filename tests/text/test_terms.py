"""The kernel's terms are those of its Python twin, on any Unicode."""

import itertools
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.utils import murmurhash3_32

import twins
from pairs import together
from textodds import Tally, TextSettings
from unicode_texts import awkward, texts

UNITS_WITH_TWINS = ("sklearn", "whitespace", "characters", "characters-in-words")
PREPARATIONS = [
    {"lower": lower, "normal_form": form, "strip_accents": strip}
    for lower, form, strip in itertools.product((True, False), (None, "NFC", "NFKC"), (False, True))
]
ngrams = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))
short = st.text(awkward, min_size=1, max_size=20)


@pytest.mark.parametrize("unit", UNITS_WITH_TWINS)
@given(text=texts, preparation=st.sampled_from(PREPARATIONS), sizes=ngrams)
@example(text="ΟΔΟΣ ΣΑΣ.Σ", preparation=PREPARATIONS[0], sizes=(1, 1))
@example(text="İstanbul ıI ßẞ ﬁ", preparation=PREPARATIONS[0], sizes=(1, 2))
@example(text="a \t b\u2028\u2029 c \x1c\x1f", preparation=PREPARATIONS[0], sizes=(1, 3))
@example(text="x" * 63 + " é" + "y" * 65, preparation=PREPARATIONS[0], sizes=(1, 1))
def test_terms_equal_the_twin(unit, text, preparation, sizes):
    settings = TextSettings(unit=unit, ngrams=sizes, **preparation)
    assert Counter(settings.terms(text)) == Counter(twins.terms(text, unit, ngrams=sizes, **preparation))


@given(text=texts, sizes=ngrams)
def test_tokens_come_in_the_order_of_the_text(text, sizes):
    settings = TextSettings.sklearn(ngrams=sizes)
    assert settings.terms(text) == twins.terms(text, "sklearn", ngrams=sizes, normal_form=None)


@given(text=texts)
def test_the_sklearn_preset_is_count_vectorizers_analyzer(text):
    assert TextSettings.sklearn().terms(text) == CountVectorizer().build_analyzer()(text)


@given(text=texts)
def test_stripped_accents_are_count_vectorizers(text):
    analyzer = CountVectorizer(strip_accents="unicode").build_analyzer()
    assert TextSettings.sklearn(strip_accents=True).terms(text) == analyzer(text)


@given(text=texts, stop_words=st.lists(short, max_size=4), data=st.data())
def test_stop_words_go_before_ngrams_are_made(text, stop_words, data):
    own = twins.terms(text, "sklearn", normal_form=None)
    if own:
        stop_words = [*stop_words, *data.draw(st.lists(st.sampled_from(own), max_size=3))]
    got = TextSettings.sklearn(stop_words=stop_words, ngrams=(1, 3)).terms(text)
    assert got == twins.terms(text, "sklearn", ngrams=(1, 3), normal_form=None, stop_words=stop_words)


@given(text=texts, bits=st.integers(1, 31), seed=st.integers(0, 2**32 - 1))
def test_buckets_are_those_of_murmur3(text, bits, seed):
    settings = TextSettings(unit="whitespace", hash_bits=bits, hash_seed=seed)
    assert settings.terms(text) == twins.terms(text, "whitespace", hash_bits=bits, hash_seed=seed)


@pytest.mark.slow
@given(text=texts, bits=st.integers(1, 22))
def test_buckets_are_those_of_hashing_vectorizer(text, bits):
    row = HashingVectorizer(alternate_sign=False, norm=None, n_features=2**bits).transform([text])
    expected = {f"#{column}": count for column, count in zip(row.indices, row.data, strict=True)}
    assert Counter(TextSettings.sklearn(hash_bits=bits).terms(text)) == expected


@together
@pytest.mark.parametrize("bits", [1, 4, 19, 20, 22])
def test_the_hash_without_an_absolute_value_has_scikit_learns_bucket(bits):
    """`abs(-2**31)` does not fit 32 bits; this term, found by running the hash backwards, has that hash."""
    term = "akqlrggi"
    assert murmurhash3_32(term) == -(2**31)
    row = HashingVectorizer(alternate_sign=False, norm=None, n_features=2**bits).transform([term])
    assert TextSettings.sklearn(hash_bits=bits).terms(term) == [f"#{row.indices[0]}"]


@given(text=texts, vocabulary=st.lists(short, min_size=1, max_size=5), data=st.data())
def test_a_fixed_vocabulary_keeps_its_own_terms_only(text, vocabulary, data):
    own = twins.terms(text, "whitespace")
    if own:
        vocabulary = [*vocabulary, *data.draw(st.lists(st.sampled_from(own), max_size=3))]
    dropped = TextSettings(unit="whitespace", vocabulary=vocabulary).terms(text)
    counted = TextSettings(unit="whitespace", vocabulary=vocabulary, count_unknown=True).terms(text)
    assert dropped == [term for term in own if term in vocabulary]
    assert counted == [term if term in vocabulary else "<UNK>" for term in own]


@given(text=texts, preparation=st.sampled_from(PREPARATIONS))
def test_words_are_total_and_stand_in_the_prepared_text(text, preparation):
    prepared = twins.prepared(text, **preparation)
    place = 0
    for term in TextSettings(**preparation).terms(text):
        assert term
        place = prepared.index(term, place) + len(term)


@given(text=texts)
def test_no_word_is_punctuation_or_space_alone(text):
    """A vowel sign (M) or a letter in a circle (So) may stand alone: Unicode calls them alphabetic."""
    for term in TextSettings(lower=False, normal_form=None).terms(text):
        assert any(c.isalnum() or unicodedata.category(c) in ("Mn", "Mc", "So") for c in term)


@given(text=texts)
def test_words_hold_every_letter_of_the_text(text):
    def letters(parts):
        return Counter(c for part in parts for c in part if c.isalpha())

    assert letters(TextSettings(lower=False, normal_form=None).terms(text)) == letters([text])


@pytest.mark.parametrize("unit", ["words", "sklearn", "whitespace"])
@given(first=texts, second=texts)
def test_lines_are_cut_apart_from_each_other(unit, first, second):
    """A line end is a boundary under every rule, so ASCII lines may go a faster way than others."""
    settings = TextSettings(unit=unit)
    assert settings.terms(first + "\n" + second) == settings.terms(first) + settings.terms(second)


@given(before=st.integers(0, 70), word=st.text(st.sampled_from("ab1_.':,;\""), max_size=140))
def test_ascii_words_do_not_depend_on_where_they_stand(before, word):
    """Text is looked at in blocks of 64 bytes; a word across two of them is the same word."""
    settings = TextSettings()
    assert settings.terms(" " * before + word) == settings.terms(word) == settings.terms(word + "\né")[:-1]


@given(batch=st.lists(texts, max_size=6))
def test_a_batch_of_texts_has_the_terms_of_each(batch):
    settings = TextSettings(ngrams=(1, 2))
    assert settings.analyser.terms(batch) == [settings.terms(text) for text in batch]


@given(words=st.lists(st.text(awkward, min_size=1, max_size=40), min_size=1, max_size=30))
def test_a_vocabulary_finds_its_words_and_no_other(words):
    settings = TextSettings(unit="characters", ngrams=(1, 3), lower=False, normal_form=None)
    vocabulary = Tally.of(words, ["x"] * len(words), settings=settings).vocabulary
    listed = vocabulary.words()
    assert len(set(listed)) == len(listed) == len(vocabulary)
    np.testing.assert_array_equal(vocabulary.find(listed), np.arange(len(listed)))
    assert vocabulary.find(["no such word", ""]).tolist() == [-1, -1]
    some = np.arange(0, len(listed), 2)
    assert vocabulary.select(some).words() == listed[::2]
    grown, place = vocabulary.insert("<UNK>")
    assert grown.words() == [*listed[:place], "<UNK>", *listed[place:]]
    assert grown.insert("<UNK>")[0].words() == grown.words()
