"""An explanation: lines of log-odds that add up, and what can be asked of it further."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from textodds.errors import Unsupported
from textodds.judge.notebook import shown
from textodds.model.base import OTHERS
from textodds.model.explain.flip import Flip, fewest_words
from textodds.model.explain.markup import fragment
from textodds.model.explain.read_text import ReadText, Stretch, stretches_of


class Contribution(NamedTuple):
    """A word of the text, how often it counts, and what it adds to the log-odds."""

    word: str
    count: int  # type: ignore[assignment]  # the name that fits, though tuples have a method of it
    log_odds: float


@dataclass(frozen=True)
class Explanation:
    r"""Log-odds of ``label`` against ``rival``: ``start``, the ``words``, and a ``remainder``, which add up.

    ``start`` is what the model believes before reading: ``prior``, the log-odds of the prior, and the
    model's own bias. In a Bernoulli model that bias is the absence of all words (``absent``, None
    elsewhere), and a word that is there adds what its presence is worth over its absence.

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

    Parts that take work (`stretches`, `flip`, `html`, `unknown_words`) are made when asked for.

    Examples
    --------
    >>> import textodds
    >>> model = textodds.train(["free phone", "free prize", "see you", "at six"], ["spam"] * 2 + ["ham"] * 2)
    >>> why = model.explain("Free at noon?")
    >>> print(why)
    spam rather than ham: log-odds +0.41
         +0.00  before reading
         +1.10  free
         -0.69  at
                (1 unknown)
    >>> why.flip().words, why.flip().label_after, why.unknown_words
    (('free',), 'ham', ('noon',))
    """

    label: str
    rival: str
    start: float
    words: tuple[Contribution, ...]  # strongest first
    unknown: int  # terms the model does not know
    prior: float = 0.0
    absent: float | None = None
    remainder: float = 0.0
    probability: float = math.nan  # of the label
    reading: ReadText | None = field(default=None, repr=False, compare=False)

    @cached_property
    def log_odds(self) -> float:
        """The sum, exactly rounded: ``start``, every contribution, and ``remainder``."""
        return math.fsum([self.start, self.remainder, *(word.log_odds for word in self.words)])

    @property
    def lines(self) -> list[tuple[str, float]]:
        """What the log-odds are the sum of, each by its name: before reading, then words, strongest first."""
        if self.absent is None:
            parts = [("before reading", self.start)]
        else:
            parts = [("before reading", self.start - self.absent), ("absent words", self.absent)]
        for word, count, odds in self.words:
            parts.append((f"{word} × {count}" if count > 1 else word, odds))
        if self.rival == OTHERS and self.remainder:
            parts.append(("several rivals", self.remainder))
        return parts

    def __str__(self) -> str:
        lines = [f"{self.label} rather than {self.rival}: log-odds {self.log_odds:+.2f}"]
        lines += [f"  {odds:+8.2f}  {name}" for name, odds in self.lines]
        if self.unknown:
            lines.append(f"            ({self.unknown} unknown)")
        return "\n".join(lines)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches of the text that said something, in order, with what they add.

        A term's contribution is shared equally by its occurrences, and by the words it is made of. What
        could not be found in the text is in none.
        """
        return tuple(stretches_of(self._read(), {word: odds for word, _, odds in self.words}))

    @cached_property
    def unknown_words(self) -> tuple[str, ...]:
        """Words of the text of which the model knows nothing, in the order they come."""
        return tuple(dict.fromkeys(stretch.word for stretch in self.stretches if not stretch.known))

    def flip(self) -> Flip | None:
        """The fewest words without which the answer would be another; None if there are none.

        With a rival that was named: without which it would score above the label (or below, if it does
        now). See `textodds.model.explain.flip`.
        """
        return fewest_words(self._read(), self.stretches)

    def html(self) -> str:
        """The text with its words highlighted, and the sum, as a fragment of HTML that needs nothing else."""
        return fragment(self)

    def _repr_html_(self) -> str:
        return self.html() if self.reading is not None else f"<pre>{shown(str(self))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return {
            "label": self.label,
            "rival": self.rival,
            "probability": self.probability,
            "log_odds": self.log_odds,
            "start": self.start,
            "prior": self.prior,
            "absent": self.absent,
            "remainder": self.remainder,
            "words": [word._asdict() for word in self.words],
            "unknown": self.unknown,
            "unknown_words": list(self.unknown_words),
            "stretches": [stretch.as_dict() for stretch in self.stretches],
        }

    def _read(self) -> ReadText:
        if self.reading is None:
            raise Unsupported(
                "this explanation was made without its text", hint="ask the model: `model.explain(text)`"
            )
        return self.reading
