"""An explanation: lines of log-odds that add up, and what can be asked of it further."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from textodds.errors import Unsupported
from textodds.judge.notebook import shown
from textodds.learn.forms.equivalence import Start
from textodds.model.base import OTHERS
from textodds.model.explain.by_word import Stretch, stretches_of
from textodds.model.explain.contribution import Contribution, Contributions
from textodds.model.explain.flip import DecisiveWords, fewest_words
from textodds.model.explain.markup import fragment
from textodds.model.explain.read_text import ReadText


class Line(NamedTuple):
    """A line of the sum: its name, what it adds, and whether it is that of one word or feature."""

    name: str
    log_odds: float
    is_one: bool


@dataclass(frozen=True)
class Explanation:
    r"""Log-odds of ``label`` against ``rival``: ``start``, the ``words``, and a ``remainder``, which add up.

    ``parts`` are the contributions of the model's features. Where features are words, ``words`` are the
    same. Where they are pairs of words, letters, or hash buckets, ``words`` has the contributions by the
    words of the text they lie in, which add up to the same: a pair is shared equally by its two words, and
    letters belong to the word they lie in, or are shared by the words they reach into, letter by letter;
    see `textodds.model.explain.by_word`.

    ``start`` is what the model believes before reading: ``prior``, the log-odds of the class prior, the
    model's own ``intercept`` (of softmax regression, say), and what ``calibration`` adds to both (None where
    it adds nothing before reading). In a Bernoulli model the absence of all words stands in the place of the
    intercept (``absent``, None elsewhere), and a word that is there adds what its presence is worth over its
    absence.

    ``remainder`` is zero against one rival. Against all others together (``rival="others"``) the log-odds
    are no sum over words; with scores :math:`s_k` and the shares :math:`q_k` of the other classes among
    themselves they are

    .. math::
        \log\frac{p_a}{1 - p_a} = s_a - \log\sum_{k \ne a} e^{s_k}
            = \Bigl(s_a - \sum_{k \ne a} q_k s_k\Bigr) - H(q), \qquad H(q) = -\sum_{k \ne a} q_k \log q_k

    since :math:`\log q_k = s_k - \log\sum e^{s_j}` for each k, and so on average. The bracket is linear in
    the words: each is compared with the other classes, weighed by how probable they are, which is also
    the derivative of the left side. The rest, :math:`-H(q)` between :math:`-\log(K - 1)` and 0, belongs
    to no word: it is what many rivals have over one.

    Attributes that take work (`words`, `stretches`, `flip`, `html`, `unknown_words`) are made when asked for.

    Examples
    --------
    >>> import textodds
    >>> texts, labels = ["free phone", "free prize", "see you", "at six"], ["spam"] * 2 + ["ham"] * 2
    >>> model = textodds.train(texts, labels, learner="multinomial")
    >>> why = model.explain("Free at noon?")
    >>> print(why)
    spam rather than ham: log-odds +0.41
         +0.00  class prior
         +1.10  free
         -0.69  at
                (1 unknown)
    >>> why.flip().words, why.flip().label_after, why.unknown_words
    (('free',), 'ham', ('noon',))
    """

    label: str
    rival: str
    start: float
    parts: Sequence[Contribution]  # by feature, strongest first
    unknown: int  # features of the text that the model does not know
    prior: float = 0.0
    absent: float | None = None
    remainder: float = 0.0
    probability: float = math.nan  # of the label
    reading: ReadText | None = field(default=None, repr=False, compare=False)
    intercept: float = 0.0
    calibration: float | None = None

    @cached_property
    def log_odds(self) -> float:
        """The sum, exactly rounded: ``start``, every contribution, and ``remainder``."""
        parts = self.parts
        each = (
            parts.log_odds.tolist() if isinstance(parts, Contributions) else [one.log_odds for one in parts]
        )
        return math.fsum([self.start, self.remainder, *each])

    @property
    def has_words(self) -> bool:
        """Whether features are words, so that ``words`` and ``parts`` are the same."""
        return self.reading is None or self.reading.model.recipe.settings.has_words

    @cached_property
    def words(self) -> Sequence[Contribution]:
        """What each word of the text adds, strongest first.

        Where features are not words: every word that the model knows some feature of, and how often it is in
        the text. A feature whose place in the text could not be found stands under its own name.
        """
        if self.has_words:
            return self.parts
        is_presence = getattr(self._read().model.form, "presence", False)
        stretches, elsewhere = self._shares
        odds: dict[str, list[float]] = {}
        for stretch in stretches:
            if stretch.known or stretch.log_odds:
                odds.setdefault(stretch.word, []).append(stretch.log_odds)
        found = [
            Contribution(
                word, 1 if is_presence else len(each), each[0] if len(each) == 1 else math.fsum(each)
            )
            for word, each in odds.items()
        ]
        if elsewhere:
            found += [
                part._replace(log_odds=elsewhere[part.word]) for part in self.parts if part.word in elsewhere
            ]
        return tuple(sorted(found, key=lambda each: -abs(each.log_odds)))

    def noun(self, *, parts: bool = False) -> str:
        """What contributions are called: ``word``, or ``feature`` where some of them are not words."""
        if self.has_words:
            return "word"
        return "feature" if parts or self._shares[1] else "word"

    def sum_lines(self, most: int | None = None, *, parts: bool = False) -> list[Line]:
        """The lines of the sum: what ``start`` is made of, words (or ``parts``) by strength, and the rest.

        Contributions past the first ``most`` are one line.
        """
        each = self.parts if parts else self.words
        rest = [] if most is None else each[most:]
        lines = [Line(name, odds, False) for name, odds in self.start_lines]
        for word, count, odds in each[: len(each) - len(rest)]:
            name = visible(word)
            lines.append(Line(f"{name} × {count}" if count > 1 else name, odds, True))
        if rest:
            noun = self.noun(parts=parts) + "s" * (len(rest) != 1)
            lines.append(Line(f"{len(rest):,} other {noun}", math.fsum(odds for _, _, odds in rest), False))
        if self.rival == OTHERS and self.remainder:
            lines.append(Line("several rivals", self.remainder, False))
        return lines

    @property
    def lines(self) -> list[tuple[str, float]]:
        """What the log-odds are the sum of, each by its name: the start, then words, strongest first."""
        return [(name, odds) for name, odds, _ in self.sum_lines()]

    @property
    def start_lines(self) -> list[tuple[str, float]]:
        """What ``start`` is the sum of, each by its name."""
        return Start(self.prior, self.intercept, self.calibration, self.absent).lines

    def __str__(self) -> str:
        lines = [f"{self.label} rather than {self.rival}: log-odds {self.log_odds:+.2f}"]
        lines += [f"  {odds:+8.2f}  {name}" for name, odds in self.lines]
        if told := self.unknown_told:
            lines.append(f"            ({told})")
        return "\n".join(lines)

    @property
    def unknown_told(self) -> str:
        """How many words are unknown, as it is said; empty if none is."""
        n = self.unknown if self.has_words else len(self.unknown_words)
        return f"{n:,} unknown" if n else ""

    @cached_property
    def _shares(self) -> tuple[list[Stretch], dict[str, float]]:
        return stretches_of(self._read(), self.parts)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches of the text that said something, in order, with what they add.

        A feature's contribution is shared equally by its occurrences, and by the words it is made of; see
        `textodds.model.explain.by_word`. What could not be found in the text is in none.
        """
        return tuple(self._shares[0])

    @cached_property
    def unknown_words(self) -> tuple[str, ...]:
        """Words of the text of which the model knows nothing, in the order they come."""
        known = {stretch.word for stretch in self.stretches if stretch.known}  # beside other words, perhaps
        return tuple(dict.fromkeys(each.word for each in self.stretches if each.word not in known))

    def flip(self) -> DecisiveWords | None:
        """The fewest words without which the answer would be another; None if there are none.

        With a rival that was named: without which it would score above the label (or below, if it does
        now). See `textodds.model.explain.flip`.
        """
        return fewest_words(self._read(), self.stretches)

    def html(self, *, parts: bool = False) -> str:
        """The text with its words highlighted, and the sum, as a fragment of HTML that needs nothing else.

        With ``parts`` the sum is by feature.
        """
        return fragment(self, parts=parts)

    def _repr_html_(self) -> str:
        return self.html() if self.reading is not None else f"<pre>{shown(str(self))}</pre>"

    def as_dict(self, *, parts: bool = False) -> dict[str, Any]:
        """The explanation as plain data, with ``parts`` also by feature."""
        plain: dict[str, Any] = {
            "label": self.label,
            "rival": self.rival,
            "probability": self.probability,
            "log_odds": self.log_odds,
            "start": self.start,
            "prior": self.prior,
            "intercept": self.intercept,
            "calibration": self.calibration,
            "absent": self.absent,
            "remainder": self.remainder,
            "words": _plain(self.words),
            "has_words": self.has_words,
            "unknown": self.unknown,
            "unknown_words": list(self.unknown_words),
            "stretches": [stretch.as_dict() for stretch in self.stretches],
        }
        return plain | {"parts": _plain(self.parts)} if parts else plain

    def _read(self) -> ReadText:
        if self.reading is None:
            raise Unsupported(
                "this explanation was made without its text", hint="ask the model: `model.explain(text)`"
            )
        return self.reading


def _plain(contributions: Sequence[Contribution]) -> list[dict[str, Any]]:
    return [each._asdict() for each in contributions]


def visible(feature: str) -> str:
    """The name of a feature, a space at either end of which is seen.

    >>> visible(" fre"), visible("~ee "), visible("see you")
    ('␣fre', '~ee␣', 'see you')
    """
    return re.sub(r"^~? | $", lambda found: found[0].replace(" ", "␣"), feature)
