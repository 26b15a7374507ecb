"""Slow and plain twins of the kernels, which the tests hold them equal to."""

import math
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


FREQUENCIES = {"count": float, "log": lambda n: 1.0 + math.log(n), "binary": lambda n: 1.0}


def weighted_rows(
    term_lists, weights=None, *, min_df=1, frequency="log", idf=True, smooth=True, unit=True, blocks=1
):
    """Each document as {term: value}, and the weight of the documents that hold each term that is kept."""
    weights = [1.0] * len(term_lists) if weights is None else weights
    documents = Counter()
    for found, weight in zip(term_lists, weights, strict=True):
        documents.update(dict.fromkeys(found, weight))
    kept = {term: n for term, n in documents.items() if n >= min_df and n > 0}
    total = math.fsum(weights)
    scale = {
        term: 1.0 + math.log((smooth + total) / (smooth + n)) if idf else 1.0 for term, n in kept.items()
    }
    rows = []
    for found in term_lists:
        times = Counter(term for term in found if term in kept)
        row = {term: FREQUENCIES[frequency](n) * scale[term] for term, n in times.items()}
        for marked in (False, True) if unit else ():
            block = [term for term in row if (blocks == 2 and term.startswith("~")) == marked]
            length = math.sqrt(blocks * math.fsum(row[term] ** 2 for term in block))
            row.update({term: row[term] / length for term in block})
        rows.append(row)
    return rows, kept


def adagrad(rows, codes, costs, n_classes, *, rate=0.5):
    """Softmax regression by one AdaGrad step a row: weights by feature, biases, and the loss of each row.

    `rows` are {feature: value}. Features and classes that are new begin at zero.
    """
    weights, history = {}, Counter()
    bias, bias_history = [0.0] * n_classes, 0.0
    losses = []
    for row, own, cost in zip(rows, codes, costs, strict=True):
        scores = [
            b + sum(x * weights[v][k] for v, x in row.items() if v in weights) for k, b in enumerate(bias)
        ]
        known = max(codes[: len(losses) + 1]) + 1  # classes that have come so far
        total = math.fsum(math.exp(z) for z in scores[:known])
        losses.append(cost * (math.log(total) - scores[own]))
        error = [cost * (math.exp(z) / total - (k == own)) for k, z in enumerate(scores[:known])]
        error += [0.0] * (n_classes - known)
        square = math.fsum(e * e for e in error)
        if not square:
            continue
        bias_history += square
        bias = [b - rate * e / math.sqrt(bias_history) for b, e in zip(bias, error, strict=True)]
        for v, x in row.items():
            history[v] += x * x * square
            step = rate * x / math.sqrt(history[v])
            old = weights.get(v, [0.0] * n_classes)
            weights[v] = [w - step * e for w, e in zip(old, error, strict=True)]
    return weights, bias, losses


def xxh64(content):
    """XXH64 of some bytes with the seed 0, as its specification has it."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5, low = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1

    def rotated(x, by):
        return (x << by | x >> 64 - by) & low

    def mixed(lane, word):
        return rotated((lane + word * p2) & low, 31) * p1 & low

    def word(at, size):
        return int.from_bytes(content[at : at + size], "little")

    at, n, total = 0, len(content), p5
    if n >= 32:
        lanes = [(p1 + p2) & low, p2, 0, -p1 & low]
        for at in range(0, n - 31, 32):
            lanes = [mixed(lane, word(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
        at += 32
        total = sum(map(rotated, lanes, (1, 7, 12, 18))) & low
        for lane in lanes:
            total = ((total ^ mixed(0, lane)) * p1 + p4) & low
    total = (total + n) & low
    for size in (8, 4, 1):
        while n - at >= size:
            if size == 8:
                total = (rotated(total ^ mixed(0, word(at, 8)), 27) * p1 + p4) & low
            elif size == 4:
                total = (rotated(total ^ word(at, 4) * p1 & low, 23) * p2 + p3) & low
            else:
                total = rotated(total ^ word(at, 1) * p5 & low, 11) * p1 & low
            at += size
    for shift, by in ((33, p2), (29, p3), (32, 1)):
        total = (total ^ total >> shift) * by & low
    return total


def fasttext_hash(word):
    """fastText's hash of bytes, 32 bits: FNV-1a, but that bytes count as signed numbers."""
    found = 2166136261
    for byte in word:
        found = (found ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619 % 2**32
    return found


def fasttext_terms(text, buckets, *, ngrams=(1, 1), characters=None, left_out=()):
    """The features of fastText: words and the end of the text, buckets of letters, buckets of words."""
    words = []
    for token in re.split("[ \n\r\t\v\f\0]+", f"{text} </s>"):
        if token and not token.startswith("__label__") and token not in left_out:
            words.append(token)
        if token == "</s>":
            break
    found = words if ngrams[0] == 1 else []
    if not buckets:
        return found
    letters = []
    for word in words if characters is not None else ():
        padded = "<" + word + ">"
        runs = [(i, n) for i in range(len(padded)) for n in range(characters[0], characters[1] + 1)]
        for i, n in runs if word != "</s>" else ():
            is_edge = n == 1 and i in (0, len(padded) - 1)
            if i + n <= len(padded) and not is_edge:
                letters.append(fasttext_hash(padded[i : i + n].encode()) % buckets)
    hashes = [fasttext_hash(word.encode()) for word in words]
    signed = [number - 2**32 * (number >= 2**31) for number in hashes]
    runs = []
    for i, first in enumerate(signed):
        for n, after in enumerate(signed[i + 1 : i + ngrams[1]], start=2):
            first = (first * 116049371 + after) % 2**64
            runs += [first % buckets] * (n >= ngrams[0])
    return found + [f"# {number}" for number in letters + runs]
