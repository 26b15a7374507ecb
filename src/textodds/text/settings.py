"""How texts become numbers: which terms a text has, which of them are kept, what their occurrences are worth.

`TextSettings`, `Selection` and `Weighting` are stored with every model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds._kernels import Analyser
from textodds.errors import InputError, suggestion
from textodds.text.stop_words import ENGLISH
from textodds.text.units import FASTTEXT, UNITS, unit_of

FREQUENCIES = ("count", "log", "binary")

FEATURES: dict[str, dict[str, Any]] = {
    "words": {"ngrams": (1, 1)},
    "pairs": {"ngrams": (1, 2)},
    "triples": {"ngrams": (1, 3)},
    "letters": {"unit": "characters-in-words", "ngrams": (1, 5)},
    "characters": {"ngrams": (1, 2), "characters": (2, 5)},
}
"""Features by name: words; with pairs of words; with three in a row; runs of letters within words, and no
words; words, pairs, and runs of letters beside them."""


@dataclass(frozen=True)
class TextSettings:
    r"""How a text becomes terms.

    A text is brought into a normal form, lower-cased, stripped of accents if wanted, cut into
    units, freed of stop words, and joined to n-grams; in this order.

    Parameters
    ----------
    unit : str, default "words"
        ``words``: words after Unicode Standard Annex #29 that hold a letter or digit, so that
        `can't`, `1,000.50` and हिन्दी are one word each.
        ``whitespace``: what stands between white space, as ``str.split``.
        ``characters``: every character, runs of white space folded to one space.
        ``characters-in-words``: the characters of each word with a space on either side.
        ``sklearn``: the pattern ``(?u)\b\w\w+\b`` of scikit-learn, which drops one-letter words.
        A regular expression of a simple kind: runs of ``\w``, of ``\S``, or of ASCII letters and digits in
        brackets, such as ``\w+``, ``\w{3,}``, ``[a-z0-9]+`` or ``\b[a-z]+\b``.
        ``fasttext:B``: the features of a fastText classifier with B buckets, which `textodds.from_fasttext`
        sets and training does not take: words as they are between white space, ``</s>`` behind the last, and
        buckets of n-grams and of ``characters`` between ``<`` and ``>`` by fastText's own hash.
    ngrams : (int, int), default (1, 1)
        Shortest and longest run of units that counts as a term. Words are joined by one space.
    characters : (int, int) or None, default None
        Shortest and longest run of characters within words, as in ``characters-in-words``, that
        counts beside the words: a block of terms of its own, each marked by ``~``.
    lower : bool, default True
        Lower case, as ``str.lower``.
    normal_form : str or None, default "NFC"
        Unicode normal form: ``NFC``, ``NFKC`` or None.
    strip_accents : bool or "ascii", default False
        Decompose (NFKD) and drop combining marks: `é` becomes `e`; ``ascii`` drops all but ASCII.
    stop_words : sequence of str or "english", default ()
        Words to leave out, compared after lower-casing. ``english`` is a short list of our own.
    hash_bits : int or None, default None
        None keeps every word. A number b hashes terms into 2**b buckets by MurmurHash3 (x86, 32
        bits, absolute value), as scikit-learn's ``HashingVectorizer(alternate_sign=False)``: memory
        is then bounded, and words cannot be named any more.
    hash_seed : int, default 0
        Seed of that hash.
    vocabulary : sequence of str or None, default None
        A vocabulary fixed in advance. Terms outside it are dropped, or count as ``<UNK>`` where
        ``count_unknown``.
    count_unknown : bool, default False
        See ``vocabulary``.
    fields : sequence of str, default ()
        The names of the fields where texts have several, U+001F between them, such as subject and body. Each
        has words of its own, named by it (``subject:free``), and no n-gram goes from one to the next.

    Examples
    --------
    >>> TextSettings(ngrams=(1, 2)).terms("Don't panic!")
    ["don't", 'panic', "don't panic"]
    >>> TextSettings.sklearn().terms("Don't panic!")
    ['don', 'panic']
    >>> TextSettings(characters=(3, 3)).terms("It is")
    ['it', 'is', '~ it', '~it ', '~ is', '~is ']
    >>> TextSettings(fields=("subject", "body")).terms("Free!\x1fSee you")
    ['subject:free', 'body:see', 'body:you']
    """

    unit: str = "words"
    ngrams: tuple[int, int] = (1, 1)
    characters: tuple[int, int] | None = None
    lower: bool = True
    normal_form: str | None = "NFC"
    strip_accents: bool | str = False
    stop_words: Sequence[str] = ()
    hash_bits: int | None = None
    hash_seed: int = 0
    vocabulary: Sequence[str] | None = None
    count_unknown: bool = False
    fields: Sequence[str] = ()

    def __post_init__(self) -> None:
        self._set("unit", self._unit())
        self._check_text()
        self._check_ranges()
        self._check_words()
        self._check_hash()
        self._check_fasttext()
        # One spelling of equal settings, so that models can be compared and added.
        self._set("ngrams", (int(self.ngrams[0]), int(self.ngrams[1])))
        if self.characters is not None:
            self._set("characters", (int(self.characters[0]), int(self.characters[1])))
        self._set("stop_words", tuple(sorted(set(self.stop_words))))
        if self.vocabulary is not None:
            self._set("vocabulary", tuple(sorted(set(self.vocabulary))))
        self._set("fields", checked_fields(self.fields))
        _ = self.analyser  # whatever the kernel refuses is said now

    def _check_text(self) -> None:
        if self.strip_accents not in (True, False, "ascii"):
            raise InputError(
                f"strip_accents is {self.strip_accents!r}",
                hint='True, False, or "ascii" to drop all but ASCII',
            )
        if self.normal_form not in (None, "NFC", "NFKC"):
            raise InputError(
                f"unknown normal form `{self.normal_form}`", hint="NFC, NFKC, or None for neither"
            )

    def _check_ranges(self) -> None:
        if not _is_range(self.ngrams):
            raise InputError(
                f"n-grams must be a pair of whole numbers from 1 to 16 such as (1, 2), got {self.ngrams!r}",
                hint="shortest and longest run of words, or of characters, that counts as a term",
            )
        if self.characters is None:
            return
        if not _is_range(self.characters):
            raise InputError(
                f"characters must be a pair of whole numbers from 1 to 16 such as (2, 5), "
                f"got {self.characters!r}",
                hint="shortest and longest run of characters within a word that counts beside the words",
            )
        if self.unit in UNITS and self.unit not in ("words", "sklearn"):
            raise InputError(
                f"characters are counted beside words, but the unit is `{self.unit}`",
                hint="use the unit `words`, or leave characters out",
            )

    def _check_words(self) -> None:
        """Check stop words and vocabulary; a list of stop words by name becomes the words."""
        if self.stop_words == "english":
            self._set("stop_words", ENGLISH)
        elif isinstance(self.stop_words, str):
            raise InputError(
                f"unknown stop word list `{self.stop_words}`",
                hint="`english`, or the words themselves in a list",
            )
        if self.stop_words and self.unit.startswith("characters"):
            raise InputError(
                "stop words are words; the unit here is characters", hint="leave one of them out"
            )
        if self.count_unknown and self.vocabulary is None:
            raise InputError(
                "unknown='count' needs a vocabulary fixed in advance",
                hint="give `vocabulary=[...]`, or unknown='first'",
            )
        if self.vocabulary is not None and not self.vocabulary:
            raise InputError("the vocabulary given is empty", hint="leave it out to learn one from the data")

    def _check_hash(self) -> None:
        if not (isinstance(self.hash_seed, int) and 0 <= self.hash_seed < 2**32):
            raise InputError(f"hash_seed must be from 0 to 2^32 - 1, got {self.hash_seed!r}")
        if self.hash_bits is None:
            if self.hash_seed:
                raise InputError("a hash_seed without hash_bits does nothing", hint="give hash_bits too")
            return
        if not (isinstance(self.hash_bits, int) and 1 <= self.hash_bits <= 31):
            raise InputError(
                f"hash bits must be from 1 to 31, got {self.hash_bits!r}", hint="18 to 24 serve well"
            )
        if self.vocabulary is not None:
            raise InputError(
                "a fixed vocabulary cannot be hashed", hint="give hash_bits or vocabulary, not both"
            )

    def _check_fasttext(self) -> None:
        if self.buckets is None:
            return
        changed = (
            self.lower,
            self.normal_form,
            self.strip_accents,
            self.hash_bits,
            self.vocabulary,
            self.fields,
        )
        if any(changed):
            raise InputError(
                f"the unit `{self.unit}` reads texts as they are, and has a hash of its own",
                hint="lower=False, normal_form=None, and no accents, hash, vocabulary or fields",
            )

    @property
    def buckets(self) -> int | None:
        """The buckets of fastText's features; None if they are others."""
        is_fasttext = self.unit.startswith(f"{FASTTEXT}:")
        return int(self.unit.removeprefix(f"{FASTTEXT}:")) if is_fasttext else None

    @property
    def has_words(self) -> bool:
        """Whether every term is a word: no letters, no pairs or longer runs, no hash buckets."""
        is_whole = self.characters is None and not self.unit.startswith("characters")
        return is_whole and self.ngrams == (1, 1) and self.hash_bits is None

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _unit(self) -> str:
        """The unit, patterns in one spelling."""
        unit = unit_of(self.unit)
        if unit is None:
            raise InputError(
                f"unknown unit `{self.unit}`{suggestion(self.unit, UNITS)}",
                hint=f"one of {', '.join(UNITS)}, or a simple pattern such as \\w+ or [a-z]{{3,}}",
            )
        return unit

    @classmethod
    def sklearn(cls, **changes: Any) -> TextSettings:
        """The settings of scikit-learn's ``CountVectorizer``."""
        return cls(**{"unit": "sklearn", "normal_form": None, **changes})

    @cached_property
    def analyser(self) -> Analyser:
        """The kernel that does it."""
        return Analyser(
            unit=self.unit,
            lower=self.lower,
            form=self.normal_form,
            strip_accents=self.accents,
            ngrams=self.ngrams,
            characters=self.characters,
            stop_words=self.stop_words,
            hash_bits=self.hash_bits,
            hash_seed=self.hash_seed,
            vocabulary=self.vocabulary,
            count_unknown=self.count_unknown,
            fields=self.fields,
        )

    @property
    def accents(self) -> str | None:
        """How accents are stripped, as scikit-learn says it: ``unicode``, ``ascii`` or None."""
        if isinstance(self.strip_accents, str):
            return self.strip_accents
        return "unicode" if self.strip_accents else None

    @property
    def blocks(self) -> int:
        """2 where characters stand beside words and can be told from them, else 1."""
        is_hashed = self.hash_bits is not None or self.buckets is not None
        return 2 if self.characters is not None and not is_hashed else 1

    def terms(self, text: str) -> list[str]:
        """The terms of one text, those of one token first; a hash bucket reads ``#number``.

        Buckets of fastText stand beside words, and read ``# number``.
        """
        return self.analyser.terms([text])[0]

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain data, for the model file."""
        plain = asdict(self)
        if not self.fields:  # most texts have none, and files before had no such thing
            del plain["fields"]
        return plain


def checked_fields(names: Sequence[str]) -> tuple[str, ...]:
    """The names of fields: two or more, all different, or none."""
    if isinstance(names, str) or not all(
        isinstance(name, str) and name[:1] not in ("", "~") for name in names
    ):
        raise InputError(f"fields are the names of two columns or more, not {names!r}")
    if len(names) == 1:
        raise InputError(f"fields are two or more, not {names[0]!r} alone", hint="leave fields out")
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(f"`{name}` is named twice among the fields of a text", hint="name each once")
    return tuple(names)


def _is_range(given: object) -> bool:
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(isinstance(n, int) for n in given):
        return False
    return bool(1 <= given[0] <= given[1] <= 16)


@dataclass(frozen=True)
class Selection:
    """A choice among counted words, made when a model is made and never stored in a tally.

    Counts go on for all words, so that documents learned later can lift a word over the limit.

    Parameters
    ----------
    min_df : int or float, default 1
        Fewest documents a word must be in; a float is a share of all documents.
    max_df : int or float, default 1.0
        Most documents a word may be in; a float is a share of all documents.
    max_features : int or None, default None
        Keep this many words at most, those that occur most often; ties go to the word that comes
        first in the alphabet.
    """

    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            is_share = isinstance(value, float)
            if value < 0 or (is_share and value > 1):
                raise InputError(
                    f"{name} must be a whole number of documents or a share from 0.0 to 1.0, got {value!r}",
                    hint="1 means one document, 1.0 means all of them",
                )
        if self.max_features is not None and self.max_features < 1:
            raise InputError(f"max_features must be at least 1, got {self.max_features}")

    @property
    def keeps_all(self) -> bool:
        """Whether nothing can be left out."""
        is_open = self.max_df == 1.0 and isinstance(self.max_df, float)
        return self.max_features is None and is_open and self.min_df <= 1 and isinstance(self.min_df, int)

    def of_part(self, share: float) -> Selection:
        """The same for a share of the documents: numbers of documents shrink with it, down to 2.

        >>> Selection(min_df=50).of_part(0.1).min_df, Selection(min_df=2).of_part(0.1).min_df
        (5, 2)
        """

        def shrunk(limit: int | float) -> int | float:
            return limit if isinstance(limit, float) or limit <= 2 else max(2, round(limit * share))

        return Selection(shrunk(self.min_df), shrunk(self.max_df), self.max_features)

    def mask(
        self, df: NDArray[np.float64], occurrences: NDArray[np.float64], documents: float
    ) -> NDArray[np.bool_]:
        """Which words stay, by their document and total counts (V,) among so many documents.

        Words as frequent as the last of ``max_features`` all stay; `break_ties` cuts them.
        """
        low, high = (
            share * documents if isinstance(share, float) else share for share in (self.min_df, self.max_df)
        )
        if low > high:
            raise InputError(
                f"min_df {self.min_df} asks for more documents than max_df {self.max_df} allows",
                hint=f"there are {documents:g} documents",
            )
        keep = (df >= low) & (df <= high)
        if self.max_features is not None and keep.sum() > self.max_features:
            counts = occurrences[keep]
            last = np.partition(counts, -self.max_features)[-self.max_features]
            keep &= occurrences >= last
        return keep

    def break_ties(
        self,
        keep: NDArray[np.bool_],
        occurrences: NDArray[np.float64],
        names: Callable[[NDArray[np.intp]], Sequence[str]],
    ) -> None:
        """Leave out, in place, what is beyond ``max_features``; of words as frequent the alphabet decides."""
        surplus = 0 if self.max_features is None else int(keep.sum()) - self.max_features
        if surplus > 0:
            tied = np.flatnonzero(keep & (occurrences == occurrences[keep].min()))
            by_name = sorted(zip(names(tied), tied.tolist(), strict=True))
            keep[[number for _, number in by_name[len(tied) - surplus :]]] = False


@dataclass(frozen=True)
class Weighting:
    r"""From counts to the values of a row.

    Model
    -----
    Word v, which occurs :math:`n_{iv}` times in document i and is in :math:`d_v` of N documents, has

    .. math::
        x_{iv} = \frac{f(n_{iv})\, g_v}{\lVert f(n_i)\, g \rVert}, \qquad
        g_v = 1 + \ln\frac{1 + N}{1 + d_v}                                          \tag{1}

    Parameters
    ----------
    frequency : str, default "log"
        :math:`f`: ``count`` leaves n as it is, ``log`` is :math:`1 + \ln n`, ``binary`` is 1.
    idf : bool, default True
        Whether to multiply by :math:`g_v`; documents count by their weight in it.
    smooth : bool, default True
        The ones under the logarithm of (1); without them it is :math:`\ln(N / d_v)`.
    unit : bool, default True
        Whether to divide by the length of the row. Characters beside words are a block of their own:
        each block then gets half of the squared length.
    mean : bool, default False
        Whether to divide by the sum of the row, as fastText does: of a model that comes from there. Not with
        ``unit``, and not in training.

    Differs
    -------
    Equal to scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf=True``; its own default is
    ``frequency="count"``. With characters beside words, to a ``FeatureUnion`` of two of them, divided
    by √2.

    Examples
    --------
    >>> Weighting().idf_of(np.array([1.0, 3.0]), 3.0).round(3)
    array([1.693, 1.   ])
    """

    frequency: str = "log"
    idf: bool = True
    smooth: bool = True
    unit: bool = True
    mean: bool = False

    def __post_init__(self) -> None:
        if self.unit and self.mean:
            raise InputError("a row has length 1, or is a mean, not both", hint="unit=False, or mean=False")
        if self.frequency not in FREQUENCIES:
            raise InputError(
                f"unknown term frequency `{self.frequency}`{suggestion(self.frequency, FREQUENCIES)}",
                hint=f"one of {', '.join(FREQUENCIES)}",
            )

    def idf_of(self, documents: NDArray[np.float64], n: float) -> NDArray[np.float64]:
        """:math:`g`, (V,), of words in so many of n documents; ones without idf."""
        if not self.idf:
            return np.ones(len(documents))
        one = float(self.smooth)
        with np.errstate(divide="ignore"):
            shares = (one + n) / (one + documents)
        return 1.0 + _kernels.logarithms(shares)  # (1), with the same bits on every processor

    @property
    def norm(self) -> str:
        """What rows are divided by, as scikit-learn calls it: ``l2``, ``l1``, or nothing."""
        return "l2" if self.unit else "l1" if self.mean else ""

    def as_dict(self) -> dict[str, Any]:
        """The weighting as plain data, for the model file."""
        plain = asdict(self)
        if not self.mean:  # as in files before there was such a thing
            del plain["mean"]
        return plain
