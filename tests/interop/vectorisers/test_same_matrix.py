"""Our vectorisers give what scikit-learn's give: any texts, any choices, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patterns import KERNEL_PATTERNS, OTHER_PATTERNS
from same import assert_same_life

from unicode_texts import AWKWARD, DIFFERENT_BESIDE_SIGMA

WORDS = "a b I words ab ba aab The the THE and and_ to x1 12 _ été Été ÉTÉ".split()
WORDS += "ὈΔΥΣΣΕΎΣ ΑΣ Σ İi ßß ﬁn e\u0301t 漢字 😀 हिन्दी".split()
GAPS = [" ", " ", " ", "  ", "\t", "\n\n", ", ", ".", "-", "'", "\0", "\x1c ", "\u2003\u2003", "\ufeff"]

characters = st.one_of(
    st.sampled_from(sorted({*AWKWARD, *DIFFERENT_BESIDE_SIGMA})),
    st.sampled_from("aAbBzéΣσİ01_ .\t\n"),
    st.characters(),  # unassigned ones too
)
halves = st.characters(categories=["Cs"])
sentences = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=14).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
spaces = st.text(st.sampled_from(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000\0"), max_size=8)
plain = st.one_of(sentences, sentences, st.text(characters, max_size=30), st.text(max_size=30), spaces)
broken = st.text(st.one_of(characters, halves), max_size=12)
# One list in a few holds half a character; in such a list few texts do.
lists = st.one_of(
    *[st.lists(sentences, min_size=2, max_size=8)] * 4,
    *[st.lists(plain, max_size=8)] * 2,
    st.lists(st.one_of(plain, broken), max_size=8),
)
terms = st.one_of(
    st.sampled_from(WORDS), st.sampled_from([w.lower() for w in WORDS] + ["the and", "a", " a", "ab "]), plain
)


@st.composite
def vocabularies(draw):
    """A vocabulary in each of the forms in which it can be given."""
    words = draw(st.lists(terms, max_size=8, unique=draw(st.booleans())))
    if draw(st.booleans()):
        return words
    numbers = draw(st.permutations(range(len(set(words)))))
    given = dict(zip(sorted(set(words)), numbers, strict=True))
    if given and not draw(st.integers(0, 7)):
        given[next(iter(given))] = draw(st.integers(0, 9))  # a gap, or one number twice
    return given


fewest = st.sampled_from([1, 1, 2, 3, 0.0, 0.1, 0.25, 0.3, 0.5, 1.0] * 2 + [0, 1.5, -0.1])
most = st.sampled_from([2, 3, 5, 100, 0.4, 0.5, 0.7, 0.9, 1.0, 1.0] * 2 + [1, 0, 0.0, 1.5])
usual_ngrams = st.sampled_from([(1, 1), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3)])
ngrams = st.one_of(*[usual_ngrams] * 9, st.sampled_from([(1, 17), (2, 1), (0, 1)]))

cutting = {
    "analyzer": st.sampled_from(["word", "word", "char", "char_wb"]),
    "ngram_range": ngrams,
    "lowercase": st.booleans(),
    "strip_accents": st.sampled_from([None, "ascii", "unicode"]),
    "stop_words": st.one_of(
        st.none(),
        st.sampled_from(["english", [], ["the", "a", "ab"], ["The", "été"], ["don't", "x-ray"]]),
        st.lists(terms, max_size=3),
    ),
    "token_pattern": st.one_of(
        st.sampled_from(KERNEL_PATTERNS), st.sampled_from(KERNEL_PATTERNS + OTHER_PATTERNS)
    ),
    "binary": st.booleans(),
}
counting = {
    "min_df": fewest,
    "max_df": most,
    "max_features": st.one_of(st.none(), st.integers(1, 12)),
    "vocabulary": st.one_of(st.none(), st.none(), vocabularies()),
}
COUNT = cutting | counting | {"dtype": st.sampled_from([np.int64, float, np.float32, np.int8, bool])}
TFIDF = (
    cutting
    | counting
    | {
        "dtype": st.sampled_from([np.float64, np.float32, np.int64]),
        "norm": st.sampled_from(["l1", "l2", None]),
        "use_idf": st.booleans(),
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
    }
)
HASHING = cutting | {
    "n_features": st.one_of(
        st.integers(1, 40),
        st.integers(1, 2**21),
        st.sampled_from([2**20, 2**20 + 7, 2**24, 2**24 + 1, 2**31 - 1]),
    ),
    "alternate_sign": st.booleans(),
    "norm": st.sampled_from(["l1", "l2", None]),
    "dtype": st.sampled_from([np.float64, np.float64, np.float32, np.int64, np.int8]),
}


def choices(strategies):
    """Some parameters at other values than theirs by default."""
    return st.fixed_dictionaries({}, optional=strategies)


@pytest.mark.slow
@given(choices(COUNT), lists, lists)
@settings(max_examples=60)
def test_counts_are_scikit_learns(chosen, texts, others):
    assert_same_life("CountVectorizer", texts, others, **chosen)


@pytest.mark.slow
@given(choices(TFIDF), lists, lists)
@settings(max_examples=40)
def test_tfidf_is_scikit_learns(chosen, texts, others):
    assert_same_life("TfidfVectorizer", texts, others, **chosen)


@pytest.mark.slow
@given(choices(HASHING), lists, lists)
@settings(max_examples=40)
def test_hashed_counts_are_scikit_learns(chosen, texts, others):
    assert_same_life("HashingVectorizer", texts, others, **chosen)


@pytest.mark.slow
@given(choices(COUNT | {"ngram_range": usual_ngrams, "analyzer": st.just("word")}), lists, lists)
@settings(max_examples=40)
def test_counts_are_scikit_learns_where_so_much_is_read_that_ngrams_are_found_by_an_index(
    chosen, texts, others
):
    assert_same_life("CountVectorizer", texts, 60 * others, **{"ngram_range": (1, 2)} | chosen)
