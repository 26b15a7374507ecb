"""Which terms a text has: the settings of the tokeniser, stored with every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from textodds._kernels import Analyser
from textodds.errors import InputError, suggestion
from textodds.text.stop_words import ENGLISH
from textodds.text.units import UNITS, unit_of

NORMAL_FORMS = ("NFC", "NFKC")


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
        if self.strip_accents not in (True, False, "ascii"):
            raise InputError(
                f"strip_accents is {self.strip_accents!r}",
                hint='True, False, or "ascii" to drop all but ASCII',
            )
        if self.normal_form is not None and self.normal_form not in NORMAL_FORMS:
            raise InputError(
                f"unknown normal form `{self.normal_form}`", hint="NFC, NFKC, or None for neither"
            )
        if not _is_range(self.ngrams):
            raise InputError(
                f"n-grams must be a pair of whole numbers from 1 to 16 such as (1, 2), got {self.ngrams!r}",
                hint="shortest and longest run of words, or of characters, that counts as a term",
            )
        if self.characters is not None and not _is_range(self.characters):
            raise InputError(
                f"characters must be a pair of whole numbers from 1 to 16 such as (2, 5), "
                f"got {self.characters!r}",
                hint="shortest and longest run of characters within a word that counts beside the words",
            )
        if self.characters is not None and self.unit in UNITS and self.unit not in ("words", "sklearn"):
            raise InputError(
                f"characters are counted beside words, but the unit is `{self.unit}`",
                hint="use the unit `words`, or leave characters out",
            )
        if self.hash_bits is not None and not (isinstance(self.hash_bits, int) and 1 <= self.hash_bits <= 31):
            raise InputError(
                f"hash bits must be from 1 to 31, got {self.hash_bits!r}", hint="18 to 24 serve well"
            )
        if not (isinstance(self.hash_seed, int) and 0 <= self.hash_seed < 2**32):
            raise InputError(f"hash_seed must be from 0 to 2^32 - 1, got {self.hash_seed!r}")
        if self.stop_words == "english":
            self._set("stop_words", ENGLISH)
        elif isinstance(self.stop_words, str):
            raise InputError(
                f"unknown stop word list `{self.stop_words}`",
                hint="`english`, or the words themselves in a list",
            )
        if self.hash_seed and self.hash_bits is None:
            raise InputError("a hash_seed without hash_bits does nothing", hint="give hash_bits too")
        if self.stop_words and self.unit.startswith("characters"):
            raise InputError(
                "stop words are words; the unit here is characters", hint="leave one of them out"
            )
        if self.hash_bits is not None and self.vocabulary is not None:
            raise InputError(
                "a fixed vocabulary cannot be hashed", hint="give hash_bits or vocabulary, not both"
            )
        if self.count_unknown and self.vocabulary is None:
            raise InputError(
                "unknown='count' needs a vocabulary fixed in advance",
                hint="give `vocabulary=[...]`, or unknown='first'",
            )
        if self.vocabulary is not None and not self.vocabulary:
            raise InputError("the vocabulary given is empty", hint="leave it out to learn one from the data")
        # One spelling of equal settings, so that models can be compared and added.
        self._set("ngrams", (int(self.ngrams[0]), int(self.ngrams[1])))
        if self.characters is not None:
            self._set("characters", (int(self.characters[0]), int(self.characters[1])))
        self._set("stop_words", tuple(sorted(set(self.stop_words))))
        if self.vocabulary is not None:
            self._set("vocabulary", tuple(sorted(set(self.vocabulary))))
        self._set("fields", checked_fields(self.fields))
        _ = self.analyser  # whatever the kernel refuses is said now

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
        return 2 if self.characters is not None and self.hash_bits is None else 1

    def terms(self, text: str) -> list[str]:
        """The terms of one text, those of one token first; a hash bucket reads ``#number``."""
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
    if len(names) == 1 or len(set(names)) < len(names):
        raise InputError(
            f"fields must be two or more, each of its own name, not {', '.join(map(repr, names))}",
            hint="a text of one column has no fields",
        )
    return tuple(names)


def _is_range(ngrams: object) -> bool:
    is_pair = isinstance(ngrams, tuple | list) and len(ngrams) == 2
    return is_pair and all(isinstance(n, int) for n in ngrams) and 1 <= ngrams[0] <= ngrams[1] <= 16  # type: ignore[index,attr-defined]
