"""The kernels do the work where they should, in any number of threads, on any size and any character."""

import functools
import sys
import unicodedata

import numpy as np
import pytest
from patterns import KERNEL_PATTERNS, OTHER_PATTERNS
from same import assert_same, assert_same_life, assert_same_result
from sklearn.feature_extraction import text as theirs
from sklearn.utils import murmurhash3_32

from pairs import in_turn, pairwise, together
from textodds.interop import vectorisers as ours
from textodds.interop.vectorisers.raw_documents import BLOCK, disputed

TEXTS = ["Free phone, free calls", "see you at the café", "FREE at last 12"]
NAMES = ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"]
every = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def by_scikit_learn(monkeypatch):
    """A list that grows when a text is analysed by scikit-learn's code."""
    calls = []
    analyse = theirs._analyze
    monkeypatch.setattr(theirs, "_analyze", lambda doc, **given: calls.append(doc) or analyse(doc, **given))
    return calls


def used(name, **choices):
    """A vectoriser fitted and used."""
    vectoriser = getattr(ours, name)(**choices)
    vectoriser.fit_transform(TEXTS)
    vectoriser.fit(TEXTS).transform(TEXTS)
    if name != "HashingVectorizer":
        vectoriser.set_params(vocabulary=["free", "see", "a", "e"]).fit_transform(TEXTS)
        ours.CountVectorizer(**choices, vocabulary=["free"]).transform(TEXTS)


KERNELS = [
    *({"token_pattern": pattern, "lowercase": pattern != r"\b[A-Z_]+\b"} for pattern in KERNEL_PATTERNS),
    {"analyzer": "char"},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"ngram_range": (1, 16)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "lowercase": False},
    {"stop_words": "english"},
    {"stop_words": ["free"]},
    {"dtype": np.float32},
    {"binary": True},
]


@in_turn(1)
@every
@pytest.mark.parametrize("choices", KERNELS, ids=str)
def test_the_kernels_do_the_work(name, choices, by_scikit_learn):
    used(name, **choices)
    assert by_scikit_learn == []


@every
@pytest.mark.parametrize(
    "choices",
    [
        {"min_df": 2},
        {"max_df": 0.5},
        {"max_features": 3},
        {"input": "content", "encoding": "latin-1"},
    ],
    ids=str,
)
def test_the_kernels_do_the_work_where_words_are_left_out(name, choices, by_scikit_learn):
    if name != "HashingVectorizer" or "input" in choices:
        used(name, **choices)
    assert by_scikit_learn == []


@in_turn(1)
@every
@pytest.mark.parametrize(
    "pattern", [pattern for pattern in OTHER_PATTERNS if pattern not in (r"(\w)(\w)", r"[b-a]+")]
)
def test_other_patterns_are_left_to_scikit_learn(name, pattern, by_scikit_learn):
    texts = [*TEXTS, "words whitespace characters characters-in-words sklearn"]
    getattr(ours, name)(token_pattern=pattern).fit_transform(texts)
    assert len(by_scikit_learn) == len(texts)


@together
@in_turn(2)
@every
@pytest.mark.parametrize("pattern", KERNEL_PATTERNS + OTHER_PATTERNS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_pattern_gives_scikit_learns_rows(name, pattern, lowercase):
    texts = [
        "words whitespace characters characters-in-words sklearn",
        "Ab aB_ _ 1a a1 é aé éa a-b a'b'c, abc ABC ab12 x  yz\tÉtÉ ｗｉｄｅ 漢字abc x́y a\u200db 12,5 -_-",
        "",
        "one",
    ]
    assert_same_life(name, texts, texts[::-1], token_pattern=pattern, lowercase=lowercase)


def long_texts(number, words, seed=0):
    """Texts over a vocabulary in which words are as unequal as in speech; many are alike."""
    draw = np.random.default_rng(seed)
    names = np.array([f"w{i}" if i % 7 else f"Wörter{i}é" for i in range(3000)])
    ranks = np.minimum(draw.zipf(1.3, size=(number, words)) - 1, len(names) - 1)
    return [" ".join(names[row]) for row in ranks]


LONG = long_texts(400, 60)
MORE = [
    {},
    {"ngram_range": (1, 3), "min_df": 2},
    {"max_features": 200, "binary": True},
    {"analyzer": "char_wb", "ngram_range": (1, 4), "dtype": np.float32},
    {"analyzer": "char", "strip_accents": "unicode"},
    {"vocabulary": [f"w{i}" for i in range(500, 0, -1)]},
]


@pairwise
@every
@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("choices", MORE, ids=lambda choices: ",".join(choices))
def test_any_number_of_threads_gives_scikit_learns_rows(name, threads, choices, monkeypatch):
    assert sum(map(len, LONG)) > 2 * 64 * 1024
    if name == "HashingVectorizer":
        choices = {key: value for key, value in choices.items() if key not in ("min_df", "max_features")}
        choices.pop("vocabulary", None)
    expected = rows(getattr(theirs, name), str(sorted(choices.items())), choices)
    monkeypatch.setenv("TEXTODDS_THREADS", threads)
    vectoriser = getattr(ours, name)(**choices)
    got = [vectoriser.fit_transform(LONG), vectoriser.transform(LONG[::-1])]
    if name != "HashingVectorizer":
        got += [vectoriser.vocabulary_, vectoriser.get_feature_names_out()]
    assert_same(got, expected)


CACHE = {}


def rows(kind, key, choices):
    """What scikit-learn gives, once for all numbers of threads."""
    if (kind, key) not in CACHE:
        vectoriser = kind(**choices)
        found = [vectoriser.fit_transform(LONG), vectoriser.transform(LONG[::-1])]
        if kind is not theirs.HashingVectorizer:
            found += [vectoriser.vocabulary_, vectoriser.get_feature_names_out()]
        CACHE[kind, key] = found
    return CACHE[kind, key]


LARGE = {
    "a long word": ["a" * 100_000 + " " + "a" * 70_000 + " b" * 3, "a" * 100_000],
    "a frequent word": ["bb " * 70_000, "bb cc " * 300],
    "many words": [" ".join(f"{i:x}" for i in range(70_000)), "ff 10 12"],
    "many texts": ["aa", "bb", "aa bb", ""] * 20_000,
    "one long text among short ones": ["aa bb", "cc " * 60_000, *["dd aa"] * 500],
    "white space": [" " * 200_000 + "aa\t" * 3, "\n" * 70_000],
}


@pytest.mark.slow
@in_turn(2)
@every
@pytest.mark.parametrize("size", LARGE)
@pytest.mark.parametrize(
    "choices", [{}, {"ngram_range": (1, 2), "dtype": np.float32}], ids=["words", "pairs"]
)
def test_large_texts_give_scikit_learns_rows(name, size, choices):
    assert_same_result(name, lambda kind: kind(**choices).fit_transform(LARGE[size]))
    assert_same_result(name, lambda kind: kind(**choices).fit(LARGE[size][:1]).transform(LARGE[size]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64, bool, np.float32, complex, "f8"]
)
def test_counts_beyond_a_dtype_wrap_as_in_scikit_learn(dtype):
    texts = ["aa " * 130 + "bb " * 256, "aa " * 33_000, "bb"]
    assert_same_life("CountVectorizer", texts, dtype=dtype)
    assert_same_life("CountVectorizer", texts, dtype=dtype, max_features=1)
    assert_same_life("HashingVectorizer", texts, dtype=dtype, norm=None, n_features=8)


@in_turn(1)
@pytest.mark.parametrize("n_features", [1, 7, 1000, 2**20, 2**21 - 1, 2**24, 2**24 + 1])
@pytest.mark.parametrize("alternate_sign", [True, False])
def test_the_hash_without_a_positive_twin_is_scikit_learns(n_features, alternate_sign):
    """One hash in 2**32 is -2**31, which has no absolute value in 32 bits."""
    words = ["akqlrggi", "auozubow", "bvjdyqjc"]
    assert {murmurhash3_32(word) for word in words} == {-(2**31)}
    assert_same_life(
        "HashingVectorizer",
        [*words, " ".join(words) + " aa"],
        n_features=n_features,
        alternate_sign=alternate_sign,
    )


def test_counts_that_cancel_stay_as_scikit_learn_has_them():
    """With few columns words of either sign meet in one: zeros are stored, and norms can be 0."""
    texts = [f"w{i} w{i + 1} w{i + 2} w{i}" for i in range(200)]
    for norm in ("l1", "l2", None):
        found = assert_same_life("HashingVectorizer", texts, n_features=2, norm=norm)
        assert (found[0].value.data == 0).any()


TIES = [f"w{i % 211} w{i % 199} x{i % 307} shared" for i in range(400)]


@in_turn(2)
@pytest.mark.parametrize("max_features", [1, 2, 50, 100, 200, 400, 517, 518, 519])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.int8])
def test_of_equally_frequent_words_the_same_are_kept(max_features, dtype):
    assert_same_life("CountVectorizer", TIES, max_features=max_features, dtype=dtype)
    assert_same_life("CountVectorizer", TIES, max_features=max_features, dtype=dtype, binary=True, min_df=2)


# Every character


def is_one_of_many(code):
    """Whether a character is an ideograph, a Hangul syllable or far from all: of these some will do."""
    return 0x3400 <= code < 0xA000 or 0xAC00 <= code < 0xD7A4 or 0x20000 <= code < 0xE0000 or code >= 0xE0200


@functools.cache
def characters():
    """Those to ask of; surrogates and private use are letters to nobody."""
    return [
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if (code % 97 == 0 or not is_one_of_many(code))
        and unicodedata.category(chr(code)) not in ("Cs", "Co")
    ]


@functools.cache
def in_dispute():
    """The characters that are left to scikit-learn."""
    return "".join(map(disputed, range((sys.maxunicode + 1) // BLOCK)))


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("first", "choices"),
    [
        (0, {"token_pattern": r"\w+"}),
        (1, {"token_pattern": r"\S+", "lowercase": False}),
        (2, {"analyzer": "char_wb", "ngram_range": (3, 3)}),
        (3, {"analyzer": "char", "strip_accents": "unicode"}),
        (4, {"token_pattern": r"\w+", "strip_accents": "ascii"}),
    ],
    ids=str,
)
def test_every_character_that_is_not_in_dispute_gives_scikit_learns_rows(
    first, choices, step, by_scikit_learn
):
    """In little each of the choices is given one character in four, and every character comes."""
    strange = set(in_dispute())
    texts = [f"aa{c}bb {c}" for c in characters()[first % step :: step] if c not in strange]
    assert len(texts) > 50_000 // step
    expected = theirs.CountVectorizer(**choices)
    rows = expected.fit_transform(texts)
    by_scikit_learn.clear()
    got = ours.CountVectorizer(**choices)
    found = got.fit_transform(texts)
    assert by_scikit_learn == []
    differing = {texts[i] for i in np.flatnonzero(np.diff(found.indptr) != np.diff(rows.indptr))}
    assert differing == set()
    assert got.vocabulary_ == expected.vocabulary_
    assert_same(found, rows)


@pytest.mark.slow
@pytest.mark.parametrize("context", ["a{}Σ", "aΣ{}a", "{}Σ", "aΣ{}"])
def test_a_sigma_beside_any_character_gives_scikit_learns_words(context):
    strange = set(in_dispute())
    texts = [context.format(c) for c in characters() if c not in strange]
    vectoriser = ours.CountVectorizer(analyzer="char")
    vectoriser.fit(texts)
    final = vectoriser.transform(texts)[:, [vectoriser.vocabulary_["ς"]]].toarray().ravel()
    assert [t for t, count in zip(texts, final, strict=True) if t.lower().count("ς") != count] == []


@every
def test_characters_in_dispute_give_scikit_learns_rows(name):
    characters = in_dispute()
    texts = [f"aa{c}bb {c.upper()}" for c in characters[:: max(1, len(characters) // 300)]] or ["aa"]
    for choices in ({}, {"analyzer": "char_wb", "strip_accents": "unicode"}):
        assert_same_life(name, texts, [*TEXTS, *texts], **choices)
