"""On real texts, 79 languages among them, our vectorisers give scikit-learn's rows."""

import csv

import pytest
from same import assert_same
from sklearn.feature_extraction import text as theirs

from textodds.interop import vectorisers as ours

pytestmark = pytest.mark.realdata

PIECES = {"20newsgroups": 500, "imdb": 1000, "langid_lingua": 1500}  # texts that are cut into characters

CASES = {
    "words": ("CountVectorizer", {}),
    "pairs": ("TfidfVectorizer", {"ngram_range": (1, 2), "sublinear_tf": True, "min_df": 2}),
    "pieces": ("CountVectorizer", {"analyzer": "char_wb", "ngram_range": (2, 4)}),
    "hashes": ("HashingVectorizer", {}),
    "bare": ("TfidfVectorizer", {"strip_accents": "unicode", "stop_words": "english", "max_features": 5000}),
}
NUMBERS = {"20newsgroups": 3000, "imdb": 5000, "langid_lingua": 6000}


LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("20newsgroups", "imdb")]


@pytest.fixture(scope="module", params=["langid_lingua", *LONG])
def texts(request, real_data):
    """Texts to learn from, of all classes, fewer to cut into characters, and others."""
    limit = csv.field_size_limit(1 << 24)  # there are long letters in the news
    (train, _), (test, _) = real_data(request.param)
    csv.field_size_limit(limit)
    many, few = NUMBERS[request.param], PIECES[request.param]
    return spread(train, many), spread(train, few), spread(test, 500)


def spread(texts, number):
    """So many of the texts, from the first to the last."""
    return texts[:: max(1, len(texts) // number)][:number]


@pytest.mark.parametrize("case", CASES)
def test_real_texts_give_scikit_learns_rows(texts, case):
    name, choices = CASES[case]
    train, few, test = texts
    train = few if case == "pieces" else train

    def found(module):
        vectoriser = getattr(module, name)(**choices)
        rows = [vectoriser.fit_transform(train), vectoriser.transform(test)]
        if name == "HashingVectorizer":
            return rows
        return [*rows, vectoriser.vocabulary_, vectoriser.get_feature_names_out()]

    assert_same(found(ours), found(theirs))
