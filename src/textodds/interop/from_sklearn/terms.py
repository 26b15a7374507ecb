"""Which terms a vectoriser finds in a text, as our settings and a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import SupportsInt

import numpy as np

from textodds import _kernels
from textodds.errors import InputError
from textodds.interop.from_sklearn.steps import Step
from textodds.interop.vectorisers.names import Names
from textodds.interop.vectorisers.settings import ACCENTS, UNITS
from textodds.learn.arrays import Integers
from textodds.text import Selection, TextSettings, Vocabulary
from textodds.text.units import unit_of

VECTORISERS = ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")

ASIDE = {"FeatureUnion": "two vectorisers side by side", "ColumnTransformer": "columns of a table"}
ASIDE |= dict.fromkeys(("DictVectorizer", "FeatureHasher"), "data other than texts")
"""What else pipelines begin with, and why it is no beginning here."""


@dataclass(frozen=True, eq=False)
class VectoriserTerms:
    """The columns of a vectoriser: V words by column, or the buckets of a hash."""

    settings: TextSettings
    selection: Selection
    words: list[str] | None  # (V,); None: buckets, which have no names
    n: int

    def vocabulary(self, columns: Integers) -> tuple[Vocabulary, Integers]:
        """The vocabulary of some increasing columns, and the column of each of its words.

        They stand in the order of their hash, so that all that is by column must be put in that order.
        """
        if self.words is None:
            assert self.settings.hash_bits is not None
            keys = _kernels.bucket_keys(columns.astype(np.uint32), self.settings.hash_bits)
            return Vocabulary(keys, np.zeros(0, np.uint8)), columns
        names = Names.of(self.words[column] for column in columns.tolist())
        (keys, arena), places = names.index.vocabulary()
        return Vocabulary(keys, arena), columns[places]


def terms_of(step: Step) -> VectoriserTerms:
    """The terms of a vectoriser, if our kernels find the same ones in any text."""
    vectoriser = step.estimator
    if step.kind not in VECTORISERS:
        does = ASIDE.get(step.kind)
        raise step.refusal(
            f"it makes columns of {does}" if does else "it is not a supported text vectoriser",
            f"a pipeline begins with one of {', '.join(VECTORISERS)}; or train on the texts: textodds.train",
        )
    settings = _settings(step)
    if step.kind == "HashingVectorizer":
        return VectoriserTerms(settings, Selection(), None, int(vectoriser.n_features))
    vocabulary = getattr(vectoriser, "vocabulary_", None)
    if not vocabulary:
        raise step.unfitted()
    words = [word for word, _ in sorted(vocabulary.items(), key=itemgetter(1))]
    _check_words(step, words)
    most = vectoriser.max_features
    selection = Selection(
        _plain(vectoriser.min_df), _plain(vectoriser.max_df), None if most is None else int(most)
    )
    return VectoriserTerms(settings, selection, words, len(words))


def _settings(step: Step) -> TextSettings:
    vectoriser = step.estimator
    for name in ("analyzer", "preprocessor", "tokenizer", "strip_accents"):
        if callable(getattr(vectoriser, name)):
            raise step.refusal(
                f"{name} is a function, and a model file holds no code",
                f"fit again without {name}, or apply it to the texts before they come",
            )
    if vectoriser.input != "content":
        raise step.refusal(
            f"it reads files (input={vectoriser.input!r}), and a model is given texts",
            "read the files first: set_params(input='content')",
        )
    dtype = np.dtype(vectoriser.dtype)
    if dtype.kind not in "iuf" or dtype.itemsize < 4:
        raise step.refusal(
            f"numbers of the type {dtype} may overflow", "count in int64 or float64, and fit again"
        )
    unit, stop_words = UNITS.get(vectoriser.analyzer), None
    if unit is None:
        unit = unit_of(vectoriser.token_pattern) if vectoriser.token_pattern else None
        stop_words = vectoriser.get_stop_words()
    if unit is None:
        raise step.refusal(
            f"token_pattern={vectoriser.token_pattern!r} is not a supported pattern",
            r"runs of \w, of \S or of ASCII letters and digits can be converted: \b\w+\b, [a-z]{3,}; fit "
            "again with one of those",
        )
    try:
        return TextSettings.sklearn(
            unit=unit,
            ngrams=tuple(map(int, vectoriser.ngram_range)),
            lower=bool(vectoriser.lowercase),
            strip_accents=ACCENTS.get(vectoriser.strip_accents, False),
            stop_words=tuple(stop_words or ()),
            hash_bits=_hash_bits(step),
        )
    except (InputError, TypeError) as error:  # runs of more than 16 words, stop words that are no text
        problem = getattr(error, "problem", str(error))
        raise step.refusal(problem, "fit again with settings that textodds has") from error


def _hash_bits(step: Step) -> int | None:
    """The bits of a hash; None for other vectorisers."""
    if step.kind != "HashingVectorizer":
        return None
    n = int(step.estimator.n_features)
    if step.estimator.alternate_sign:
        raise step.refusal(
            "alternate_sign=True subtracts half of the words, and counts here only add",
            "fit again with HashingVectorizer(alternate_sign=False)",
        )
    bits = n.bit_length() - 1
    if n != 1 << bits or not 1 <= bits <= 31:
        raise step.refusal(
            f"n_features={n:,} is not a power of two from 2 to 2**31",
            "fit again with n_features=2**20 or the like",
        )
    return bits


def _check_words(step: Step, words: list[str]) -> None:
    """Refuse terms that no text of ours can hold."""
    try:
        "".join(words).encode()
    except (TypeError, UnicodeEncodeError):
        raise step.refusal(
            "some of its terms are not valid Unicode", "fit again on texts without halves of surrogate pairs"
        ) from None


def _plain(df: SupportsInt | float) -> int | float:
    """A bound on documents as Python has it: a whole number of them, or a share."""
    return float(df) if isinstance(df, (float, np.floating)) else int(df)
