"""Slow and plain twins of the kernels, which the tests hold them equal to."""

import re
import unicodedata
from collections import Counter
from fractions import Fraction

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import murmurhash3_32


def prepared(text, *, lower=True, normal_form="NFC", strip_accents=False):
    """The text that is cut into tokens: normal form, lower case, accents, in this order."""
    if normal_form is not None:
        text = unicodedata.normalize(normal_form, text)
    if lower:
        text = text.lower()
    if strip_accents:
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return text


TOKENS = {"sklearn": re.compile(r"(?u)\b\w\w+\b").findall, "whitespace": str.split}


def word_grams(tokens, ngrams):
    """Runs of tokens joined by one space."""
    shortest, longest = ngrams
    return [
        " ".join(tokens[i : i + n]) for n in range(shortest, longest + 1) for i in range(len(tokens) - n + 1)
    ]


def character_grams(text, ngrams, analyzer):
    """scikit-learn's `char` and `char_wb` n-grams."""
    return CountVectorizer(analyzer=analyzer, ngram_range=ngrams, lowercase=False).build_analyzer()(text)


def bucket(term, bits, seed=0):
    """The bucket of a term, as `HashingVectorizer(alternate_sign=False)` computes it."""
    return f"#{abs(murmurhash3_32(term.encode(), seed=seed)) % 2**bits}"


def terms(
    text, unit, *, ngrams=(1, 1), stop_words=(), hash_bits=None, hash_seed=0, vocabulary=None, **preparation
):
    """The terms of a text; `words` is beyond a twin of ten lines."""
    text = prepared(text, **preparation)
    if unit in TOKENS:
        kept = [token for token in TOKENS[unit](text) if token not in stop_words]
        found = word_grams(kept, ngrams)
    else:
        found = character_grams(text, ngrams, {"characters": "char", "characters-in-words": "char_wb"}[unit])
    if vocabulary is not None:
        found = [term for term in found if term in vocabulary]
    return found if hash_bits is None else [bucket(term, hash_bits, hash_seed) for term in found]


def exact(weight):
    """A weight as tallies hold it: a multiple of 2**-30, halves rounded up."""
    return Fraction(int(Fraction(weight) * 2**30 + Fraction(1, 2)), 2**30)


def tally(term_lists, labels, weights=None):
    """Documents by class; occurrences and documents by (word, class); nothing that is zero."""
    classes, occurrences, documents = Counter(), Counter(), Counter()
    for found, label, weight in zip(term_lists, labels, weights or [1] * len(labels), strict=True):
        classes[label] += exact(weight)
        for word, times in Counter(found).items():
            occurrences[word, label] += times * exact(weight)
            documents[word, label] += exact(weight)
    return tuple({k: v for k, v in counts.items() if v} for counts in (classes, occurrences, documents))


def as_dicts(tally):
    """A `Tally` as the twin has it."""
    unit = Fraction(1, 2**tally.fraction)
    words = tally.vocabulary.words()
    classes = {name: int(n) * unit for name, n in zip(tally.classes, tally.class_documents, strict=True)}
    occurrences, documents = {}, {}
    for v, word in enumerate(words):
        for cell in range(int(tally.starts[v]), int(tally.starts[v + 1])):
            place = word, tally.classes[tally.class_of[cell]]
            occurrences[place] = int(tally.occurrences[cell]) * unit
            documents[place] = int(tally.documents[cell]) * unit
    return classes, occurrences, documents
