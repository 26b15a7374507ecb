"""Words that separate two classes: the formula, and intervals that hold what they promise."""

import math
from collections import Counter

import numpy as np
import pytest

import textodds
from explain_texts import LABELS, TEXTS
from pairs import together
from row_counts import counts_of_rows
from textodds.errors import InputError, Unsupported
from textodds.judge.word_odds import separation
from textodds.learn.naive_bayes import BernoulliLearner
from textodds.stats.tally import Counts


def direct(counts, a, b, prior):
    """Monroe, Colaresi and Quinn, word by word, of dicts of counts by class."""
    total = Counter()
    for of_class in counts.values():
        total.update(of_class)
    everything = sum(total.values())
    out = {}
    for word, n in total.items():
        alpha = prior * n / everything
        odds, variance = [], 0.0
        for k in (a, b):
            y, size = counts[k].get(word, 0), sum(counts[k].values())
            odds.append(math.log((y + alpha) / (size + prior - y - alpha)))
            variance += 1 / (y + alpha) + 1 / (size + prior - y - alpha)
        out[word] = (odds[0] - odds[1], (odds[0] - odds[1]) / math.sqrt(variance), math.sqrt(variance))
    return out


def test_the_words_equal_a_direct_implementation():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    counts = {label: Counter() for label in model.classes_}
    for text, label in zip(TEXTS, LABELS, strict=True):
        counts[label].update(model.recipe.settings.terms(text))
    for prior in (None, 7.0):
        size = min(sum(counts[k].values()) for k in ("spam", "ham")) / 10 if prior is None else prior
        expected = direct(counts, "spam", "ham", size)
        got = model.separating_words("spam", "ham", None, prior=prior)
        assert {word.word for word in got} == set(expected)
        for word in got:
            delta, z, error = expected[word.word]
            assert (word.log_odds_ratio, word.z) == (
                pytest.approx(delta, rel=1e-9),
                pytest.approx(z, rel=1e-9),
            )
            assert word.high - word.low == pytest.approx(2 * 1.959964 * error, rel=1e-6)
            assert (word.count, word.rival_count) == (counts["spam"][word.word], counts["ham"][word.word])


def test_the_surest_come_first_and_only_as_many_as_asked():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    sizes = [abs(word.z) for word in model.separating_words("spam", "ham", 5)]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    assert model.separating_words("spam", "ham", 1)[0].word == "free"


def test_swapping_the_classes_changes_the_signs():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    there = {word.word: word for word in model.separating_words("spam", "ham", None)}
    for word in model.separating_words("ham", "spam", None):
        assert word.log_odds_ratio == pytest.approx(-there[word.word].log_odds_ratio, abs=1e-12)
        assert (word.low, word.high) == pytest.approx(
            (-there[word.word].high, -there[word.word].low), abs=1e-12
        )


def test_where_presence_counts_documents_are_counted():
    texts, labels = ["a a a b", "a c", "b c"], ["x", "x", "y"]
    (word,) = (
        word
        for word in textodds.train(texts, labels, learner=BernoulliLearner()).separating_words("x", "y", None)
        if word.word == "a"
    )
    assert (word.count, word.rival_count) == (2, 0)
    assert textodds.train(texts, labels).separating_words("x", "y", 1)[0].count == 4


def test_a_rare_word_is_less_sure_than_a_frequent_one_of_the_same_odds():
    rows = [[40, 4, 400, 400], [20, 2, 400, 400]]
    z = separation(counts_of_rows(rows, ["a", "b"]), 0, 1).z
    assert z[0] > 2 * z[1] > 0


@pytest.mark.parametrize("documents", [False, True])
def test_intervals_cover_the_truth_as_often_as_they_say(documents):
    """Truths are drawn from the prior, counts from the truths; words with some counts to speak of."""
    rng = np.random.default_rng(7)
    V, prior, n = 40, 400.0, (1500, 2500)
    base = rng.dirichlet(np.full(V, 5.0))
    inside = total = 0
    for _ in range(150):
        if documents:
            theta = [rng.beta(prior * base, prior * (1 - base)) for _ in range(2)]
            y = [rng.binomial(size, p) for size, p in zip(n, theta, strict=True)]
        else:
            theta = [rng.dirichlet(prior * base) for _ in range(2)]
            y = [rng.multinomial(size, p) for size, p in zip(n, theta, strict=True)]
        # A third class, large, from the base itself: so that the prior is about the one truths come from.
        size = 10**6
        y.append(np.round(size * base).astype(np.int64))
        counts = cells(y, (*n, size))
        found = separation(counts, 0, 1, prior=prior, documents=documents)
        logit = [np.log(p) - np.log1p(-p) for p in theta]
        truth = logit[0] - logit[1]
        inside += int((np.abs(found.log_odds - truth) < 1.96 * found.error).sum())
        total += V
    assert inside / total == pytest.approx(0.95, abs=0.01)


def cells(y, documents):
    """Counts of three classes, each word in each of them."""
    table = np.array(y, dtype=np.float64).T  # (V, K)
    word, k = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=len(table)))]).astype(np.uint64)
    held = table[word, k]
    return Counts(("a", "b", "c"), np.array(documents, float), starts, k.astype(np.uint32), held, held)


@together
@pytest.mark.parametrize("prior", [0.0, -1.0, math.nan, math.inf])
def test_a_prior_of_no_words_is_refused(prior):
    with pytest.raises(InputError, match="the prior must be above 0"):
        textodds.train(TEXTS, LABELS, learner="multinomial").separating_words("spam", "ham", prior=prior)


def test_a_model_without_counts_has_no_intervals():
    with pytest.raises(Unsupported):
        textodds.train(TEXTS, LABELS, learner="softmax").separating_words("spam", "ham")


def test_a_class_cannot_be_separated_from_itself():
    with pytest.raises(InputError, match="its own rival"):
        textodds.train(TEXTS, LABELS, learner="multinomial").separating_words("spam", "spam")


def test_extreme_counts_give_finite_numbers():
    rows = [[5, 0], [5, 0]]
    found = separation(counts_of_rows(rows, ["a", "b"]), 0, 1)
    assert np.isfinite(found.log_odds).all()
    assert found.z[0] == pytest.approx(0)
