"""Learners, how texts are cut, and texts, of models that are exported."""

from functools import cache

import numpy as np

from textodds import NBSoftmax, SoftmaxRegression, Weighting
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner

GENERATIVE = {
    "multinomial": MultinomialLearner(),
    "multinomial-binary": MultinomialLearner(alpha=0.1, binary=True, prior="uniform"),
    "bernoulli": BernoulliLearner(),
    "complement": ComplementLearner(),
    "complement-norm": ComplementLearner(alpha=0.1, norm=True),
    "complement-transform": ComplementLearner(transform=True),
}
DISCRIMINATIVE = {
    "softmax": SoftmaxRegression(C=1.0),
    "nb-softmax": NBSoftmax(C=1.0),
    "nb-softmax-centred": NBSoftmax(C=1.0, form="centred"),
}
LEARNERS = GENERATIVE | DISCRIMINATIVE
CLASSES = (2, 5, 12)  # the weights of 12 are stored as exceptions

VOCABULARY = [
    *(f"shared{i}" for i in range(5)),
    *(f"own{k}x{i}" for k in range(12) for i in range(3)),
    "never",
]
OF_SCIKIT_LEARN = {
    "sklearn": {"sklearn": True},
    "sklearn-case-accents": {"sklearn": True, "lower": False, "strip_accents": True},
    "sklearn-stop-words": {"sklearn": True, "ngrams": (1, 3), "stop_words": "english"},
    "sklearn-odd-stop-words": {"sklearn": True, "stop_words": ["don't", "Shared0", "shared1", "i"]},
    "sklearn-selection": {"sklearn": True, "min_df": 2, "max_df": 0.9, "max_features": 30},
    "sklearn-vocabulary": {
        "sklearn": True,
        "vocabulary": VOCABULARY,
        "min_df": 1,
    },
    "sklearn-hashing": {"sklearn": True, "hash_bits": 9},
    "sklearn-hashing-20": {"sklearn": True, "hash_bits": 20, "ngrams": (1, 2)},
    "sklearn-union": {"sklearn": True, "characters": (2, 4), "stop_words": ["shared0"]},
    "whitespace-plain": {"unit": "whitespace", "normal_form": None, "stop_words": ["i", "~tilde"]},
    "characters-plain": {"unit": "characters", "normal_form": None, "ngrams": (1, 3)},
    "characters-in-words-plain": {"unit": "characters-in-words", "normal_form": None, "ngrams": (2, 6)},
    "characters-hashing": {
        "unit": "characters-in-words",
        "normal_form": None,
        "ngrams": (3, 3),
        "hash_bits": 8,
    },
}
OF_OURS = {
    "words": {},
    "words-nfkc-accents": {"normal_form": "NFKC", "strip_accents": True, "lower": False},
    "words-stop-words": {"ngrams": (1, 2), "stop_words": ["shared0", "don't"]},
    "words-union": {"characters": (2, 3)},
    "words-hashing": {"hash_bits": 9, "hash_seed": 3},
    "sklearn-hashing-seed": {"sklearn": True, "hash_bits": 9, "hash_seed": 3},
    "sklearn-hashing-31": {"sklearn": True, "hash_bits": 31},
    "union-hashing": {"sklearn": True, "hash_bits": 9, "characters": (2, 3)},
    "sklearn-nfc": {"unit": "sklearn"},
    "whitespace": {"unit": "whitespace", "lower": False},
    "characters": {"unit": "characters", "ngrams": (2, 3)},
    "unknown-smooth": {"unknown": "smooth"},
    "unknown-first": {"sklearn": True, "unknown": "first", "max_features": 20},
    "unknown-hashing": {"unknown": "smooth", "hash_bits": 9},
    "unknown-union": {"unknown": "first", "characters": (2, 2), "max_features": 80},
    "unknown-count": {"unknown": "count", "vocabulary": VOCABULARY},
}
SETTINGS = OF_SCIKIT_LEARN | OF_OURS
WEIGHTINGS = [
    Weighting(frequency, idf, smooth, unit)
    for frequency in ("log", "count", "binary")
    for idf, smooth in ((True, True), (True, False), (False, True))
    for unit in (True, False)
]


@cache
def documents(classes, seed=0):
    """Texts of words shared by all, words of each class's own, and odd ones, some repeated; and labels."""
    random = np.random.default_rng([classes, seed])
    odd = [
        "Don't",
        "i",
        "É",
        "E\u0301t\u0301e",
        "ﬁn",
        "~tilde",
        "1,000.50",
        "字",
        "ΟΔΟΣ",
        "a_b",
        "<UNK>",
        "#7",
    ]
    shared = [f"shared{i}" for i in range(9)]
    texts, labels = [], []
    for row in range(7 * classes):
        k = row % classes if row < 6 * classes else 0
        own = [f"own{k}x{i}" for i in range(8)]
        words = [
            *random.choice(shared, 4),
            *random.choice(own, random.integers(1, 9)),
            *random.choice(odd, 3),
        ]
        texts.append(random.choice([" ", "  ", ", ", "\n"]).join(words))
        labels.append(f"class {k:02}")
    return texts, labels


def new_texts(classes):
    """Texts that are not among the documents, and some that are odd."""
    odd = ["", " ", "unheard of", "SHARED0 " * 60, "own0x0 own1x0 zzz own0x0", "Ünïcödé 字", "I don't"]
    return documents(classes, 1)[0] + odd
