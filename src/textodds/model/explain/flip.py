r"""The fewest words without which a model would answer differently.

Removing a word deletes every occurrence of it from the text, and the rest is read again. Let class a win,
and let S be the words removed. Another class wins exactly if some rival k then scores above a, so the
fewest words are the fewest over all rivals, each by itself.

**Words that add up** (single words, counts or presence or idf, rows not brought to length 1). A word v
takes its contribution :math:`d_v = x_v (w_{va} - w_{vk})` with it and leaves the others as they were: the
rival wins if

.. math:: \sum_{v \in S} d_v > s_a - s_k                                              \tag{1}

Of all S of n words, the n largest :math:`d_v` have the largest sum: exchanging a word in S for a larger
one outside never lowers it. So (1) can be met with n words exactly if the n largest meet it, and the
first n for which they do is the least. If all positive :math:`d_v` together do not, nothing does.

**Rows of length 1** rescale what is left, see `textodds.model.explain.unit`: proofs there are by bounds,
which meet but for near misses.

**Anything else** (n-grams, which removal tears apart and joins anew; characters; words that share a
bucket; quadratic models) is tried out: all sets of one word, of two, and so on while there are not too
many, and beyond that the words that say most, one after another. ``exact`` is then False unless all
smaller sets have been tried.

Whatever was found, the text is really scored without the words before it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from textodds.learn.forms.linear import LinearModel, log_softmax
from textodds.model.explain import unit
from textodds.model.explain.by_word import Stretch
from textodds.model.explain.read_text import ReadText

Floats = NDArray[np.float64]

MOST_TEXTS, MOST_CHARACTERS = 20_000, 4_000_000
"""So many texts, of so many characters in all, are tried for an exact answer where words do not add up."""

PIECE = 1024  # texts scored at once


@dataclass(frozen=True)
class DecisiveWords:
    """Words without which the answer is ``label_after``, and the ``text`` without them.

    ``exact`` says that no fewer words would do; else these are the fewest that were found.
    """

    words: tuple[str, ...]
    label_after: str
    probability_after: float
    exact: bool
    text: str


class Contest:
    """Class ``holder`` against ``rivals``: whether scores (N, K) leave it in front of all of them."""

    def __init__(self, reading: ReadText) -> None:
        scores = reading.score([reading.text])[0]
        best = int(scores.argmax())
        holder, rival = reading.label, reading.rival
        if rival is None and holder != best:  # asked of a label that lost: what would let it beat the winner
            rival = best
        if rival is not None and _is_ahead(scores, rival, holder):
            holder, rival = rival, holder
        everyone = range(len(reading.model.class_names))
        self.scores, self.holder = scores, holder
        self.rivals = np.array([k for k in everyone if k != holder] if rival is None else [rival])

    def margin(self, scores: Floats) -> Floats:
        """By how much the holder is ahead of the nearest rival, (N,)."""
        return np.asarray(scores[:, self.holder] - scores[:, self.rivals].max(axis=1))

    def is_lost(self, scores: Floats) -> NDArray[np.bool_]:
        """Whether some rival is ahead, (N,): at equal scores the class that comes first is."""
        margin = self.margin(scores)
        first = self.rivals[scores[:, self.rivals].argmax(axis=1)]
        return np.asarray((margin < 0) | ((margin == 0) & (first < self.holder)))


def _is_ahead(scores: Floats, k: int, other: int) -> bool:
    return bool(scores[k] > scores[other] or (scores[k] == scores[other] and k < other))


def fewest_words(reading: ReadText, stretches: Sequence[Stretch]) -> DecisiveWords | None:
    """The fewest words without which another class wins; None if none were found."""
    words = list(dict.fromkeys(word.name for word in reading.words))
    contest = Contest(reading)
    chosen: tuple[list[int], bool] | None
    if (parts := _parts(reading, words)) is not None:
        values, weights = parts
        if reading.is_unit:
            chosen = unit.fewest(
                values, weights, reading.start, reading.without_words, contest.holder, contest.rivals
            )
        else:
            chosen = _fewest(values[:, None] * weights, contest)
        if chosen is None:
            return None
        found = _flip(reading, contest, [words[i] for i in chosen[0]], chosen[1])
        if found is not None:
            return found  # else a tie that rounding decides: try it out
    says: Counter[str] = Counter()
    for stretch in stretches:
        says[stretch.word] += stretch.log_odds  # type: ignore[assignment]
    sign = 1.0 if contest.holder == reading.label else -1.0
    return _by_trying(reading, contest, sorted(words, key=lambda word: -sign * says[word]))


def _parts(reading: ReadText, words: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Values (n,) and weights (n, K) of words that count one by one; None if they do not."""
    settings, linear = reading.model.recipe.settings, reading.model.form
    alone = settings.ngrams == (1, 1) and settings.characters is None and not settings.unit.startswith("char")
    if not isinstance(linear, LinearModel) or not alone:
        return None
    starts, features, _, _ = reading.kernel.rows(list(words), False)
    own = np.diff(starts)
    if (own > 1).any():
        return None
    known = np.flatnonzero(own)  # words with a feature, (f,)
    times = Counter(word.name for word in reading.words)
    counts = np.array([times[words[i]] for i in known.tolist()], dtype=np.float64)
    _, present, row, _ = reading.kernel.rows([reading.text])
    value_of = dict(zip(present.tolist(), row.tolist(), strict=True))
    if set(value_of) != set(features.tolist()):
        return None
    if len(set(features.tolist())) < len(features):  # several words of one feature: only counts add up then
        if linear.presence or not np.array_equal(row, reading.kernel.rows([reading.text], False)[2]):
            return None
        held = counts
    else:
        held = np.array([value_of[v] for v in features.tolist()])
        if linear.presence:
            held = np.ones_like(held)
    values, weights = np.zeros(len(words)), np.zeros((len(words), len(linear.classes)))
    values[known], weights[known] = held, reading.calibration.of_weights(linear.weights.rows(features))
    return values, weights


def _fewest(contributions: Floats, contest: Contest) -> tuple[list[int], bool] | None:
    """The least set that meets (1) for some rival; of equally small ones that which does it most clearly."""
    scores, a, rivals = contest.scores, contest.holder, contest.rivals
    taken = contributions[:, [a]] - contributions[:, rivals]  # (n, rivals)
    order = np.argsort(-taken, axis=0, kind="stable")
    excess = np.cumsum(np.take_along_axis(taken, order, axis=0), axis=0) - (scores[a] - scores[rivals])
    meets = np.where(rivals < a, excess >= 0, excess > 0)
    if not meets.any():
        return None
    n = int(np.flatnonzero(meets.any(axis=1))[0])
    k = int(np.where(meets[n], excess[n], -np.inf).argmax())
    return order[: n + 1, k].tolist(), True


def _flip(reading: ReadText, contest: Contest, words: Sequence[str], exact: bool) -> DecisiveWords | None:
    """What the model says of the text without the words; None if its answer stays."""
    text = reading.without(set(words))
    scores = reading.score([text])
    if not contest.is_lost(scores)[0]:
        return None
    best = int(scores[0].argmax())
    share = float(np.exp(log_softmax(scores[0])[best]))
    return DecisiveWords(tuple(words), reading.model.class_names[best], share, exact, text)


def _by_trying(reading: ReadText, contest: Contest, words: list[str]) -> DecisiveWords | None:
    """The smallest set found by trying; ``words`` stand in the order in which they speak for the holder."""
    most = min(MOST_TEXTS, MOST_CHARACTERS // max(len(reading.text), 1))
    found = _one_by_one(reading, contest, words, most)
    exact = True
    for n in range(1, len(words) + 1 if found is None else len(found)):
        most -= comb(len(words), n)
        if most < 0:
            exact = False
            break
        best = _best_of(reading, contest, combinations(words, n))
        if best is not None:
            found = best
            break
    return None if found is None else _flip(reading, contest, found, exact)


def _one_by_one(reading: ReadText, contest: Contest, words: list[str], most: int) -> list[str] | None:
    """Words taken away greedily, the one whose loss hurts the holder most; in a long text, many at once."""
    removed: list[str] = []
    rest = list(words)
    while rest:
        if most < len(rest):
            return _all_up_to(reading, contest, removed, rest)
        texts = [reading.without({*removed, word}) for word in rest]
        most -= len(texts)
        scores = reading.score(texts)
        at = int(np.where(contest.is_lost(scores), -np.inf, contest.margin(scores)).argmin())
        removed.append(rest.pop(at))
        if contest.is_lost(scores)[at]:
            return removed
    return None


def _all_up_to(reading: ReadText, contest: Contest, removed: list[str], rest: list[str]) -> list[str] | None:
    """The words removed and the first of the rest: so few of them as doubling and bisection find."""

    def is_lost(n: int) -> bool:
        return bool(contest.is_lost(reading.score([reading.without({*removed, *rest[:n]})]))[0])

    kept, n = 0, 1
    while n < len(rest) and not is_lost(n):
        kept, n = n, 2 * n
    n = min(n, len(rest))
    if not is_lost(n):
        return None
    while n - kept > 1:
        middle = (kept + n) // 2
        if is_lost(middle):
            n = middle
        else:
            kept = middle
    return [*removed, *rest[:n]]


def _best_of(reading: ReadText, contest: Contest, sets: Iterator[tuple[str, ...]]) -> list[str] | None:
    """Of sets of words one without which the holder loses, by the most; None if there is none."""
    found, least = None, np.inf
    while piece := list(islice(sets, PIECE)):
        scores = reading.score([reading.without(set(some)) for some in piece])
        margin = np.where(contest.is_lost(scores), contest.margin(scores), np.inf)
        at = int(margin.argmin())
        if margin[at] < least:
            found, least = list(piece[at]), margin[at]
    return found
