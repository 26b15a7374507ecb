"""Densities with all constants, and how surprising a text or a row is: against scipy and by enumeration."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from scipy import sparse, special, stats

import textodds
from pairs import in_turn, together
from textodds.cli import main
from textodds.data import Batch
from textodds.errors import NoData, Unsupported
from textodds.judge.novelty import NEAR, Typical, log_coefficient
from textodds.learn.naive_bayes import BernoulliLearner, MultinomialLearner
from textodds.learn.registry import learner_named
from textodds.learn.tables import CategoricalLearner, MixedLearner
from textodds.stats.sample import TYPICAL, Reservoir
from textodds.study.generate import perplexities
from textodds.training.tables import train_table

WORDS = ("ant", "bee", "cat")
TEXTS = ["ant ant bee", "bee cat", "cat cat cat ant", "ant", "bee bee"]
LABELS = ["x", "y", "y", "x", "x"]


def theta(label, alpha=1.0):
    """Shares of the words in a class, by hand."""
    counts = Counter(
        " ".join(text for text, mine in zip(TEXTS, LABELS, strict=True) if mine == label).split()
    )
    shares = np.array([counts[word] + alpha for word in WORDS])
    return shares / shares.sum()


def text_of(counts):
    """A text with so many of each word."""
    return " ".join(" ".join([word] * int(count)) for word, count in zip(WORDS, counts, strict=True) if count)


def counts_of_length(n):
    """All ways to have n words."""
    return [counts for counts in itertools.product(range(n + 1), repeat=3) if sum(counts) == n]


@together
@pytest.mark.parametrize("seed", range(5))
def test_the_coefficient_is_that_of_scipy(seed):
    random = np.random.default_rng(seed)
    rows = random.poisson(random.exponential(3, 7), (20, 7)).astype(float)
    uniform = [stats.multinomial.logpmf(row, row.sum(), np.full(7, 1 / 7)) for row in rows]
    expected = np.array(uniform) + rows.sum(axis=1) * np.log(7)
    np.testing.assert_allclose(log_coefficient(sparse.csr_array(rows)), expected, rtol=1e-12, atol=1e-12)


def test_the_coefficient_of_two_words_is_binomial_and_that_of_none_is_one():
    rows = np.array([[3.0, 4.0], [50.0, 50.0], [0.0, 9.0], [0.0, 0.0]])
    expected = [special.comb(7, 3), special.comb(100, 50), 1, 1]
    np.testing.assert_allclose(np.exp(log_coefficient(sparse.csr_array(rows))), expected, rtol=1e-12)
    assert log_coefficient(sparse.csr_array((0, 4))).shape == (0,)


@together
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_multinomial_model_is_scipys_multinomial_and_sums_to_one_over_texts_of_a_length(n, alpha):
    model = textodds.train(TEXTS, LABELS, learner=MultinomialLearner(alpha=alpha))
    counts = counts_of_length(n)
    texts = [text_of(each) for each in counts]
    found = model.log_likelihood(texts)
    for k, label in enumerate(model.classes_):
        expected = [stats.multinomial.logpmf(each, n, theta(label, alpha)) for each in counts]
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.exp(found).sum(axis=0), 1, rtol=1e-12)
    joint = found + np.log([0.6, 0.4])
    np.testing.assert_allclose(model.log_joint(texts), joint, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.log_density(texts), special.logsumexp(joint, axis=1), rtol=1e-11)
    assert np.exp(model.log_density(texts)).sum() == pytest.approx(1, rel=1e-12)


NO_DENSITY = {
    "binary": ({"learner": MultinomialLearner(binary=True)}, "a binary model"),
    "pairs": ({"ngrams": (1, 2), "learner": "multinomial"}, "terms that overlap"),
    "pairs alone": ({"ngrams": (2, 2), "learner": BernoulliLearner()}, "terms that overlap"),
    "letters": (
        {"unit": "characters-in-words", "ngrams": (1, 3), "learner": "multinomial"},
        "terms that overlap",
    ),
    "characters beside words": ({"characters": (2, 3), "learner": "multinomial"}, "terms that overlap"),
}
WANTED = ("log_likelihood", "log_joint", "log_density", "perplexity", "familiarity", "learn_typical")


@together
@pytest.mark.parametrize("options", NO_DENSITY)
def test_counts_of_terms_that_overlap_or_come_once_are_no_distribution_of_texts(options):
    options, problem = NO_DENSITY[options]
    model = textodds.train(TEXTS, LABELS, **options)
    for wanted in WANTED:
        with pytest.raises(Unsupported, match=problem):
            getattr(model, wanted)(["ant"])
    with pytest.raises(Unsupported, match=problem):
        textodds.train(TEXTS, LABELS, typical=True, **options)
    with pytest.raises(Unsupported, match=problem):
        perplexities(model, ["ant"])


def test_a_table_whose_texts_are_counted_in_pairs_is_no_distribution_of_rows():
    table = {"note": TEXTS * 4, "x": list(range(20))}
    model = train_table(table, LABELS * 4, columns={"note": "text"}, words={"ngrams": (1, 2)})
    assert model.predict(table).tolist()
    with pytest.raises(Unsupported, match="terms that overlap"):
        model.log_density(table)


GIBBERISH = "qwe rtz uio asd fgh"


@pytest.mark.parametrize("learner", [MultinomialLearner(), BernoulliLearner()], ids=str)
def test_gibberish_is_less_probable_than_any_text_of_its_length_that_was_learned(learner):
    texts, labels = documents(300, 8)
    model = textodds.train(texts[:200], labels[:200], learner=learner, typical=True)
    alike = [text for text in texts if len(text.split()) == 5]
    gibberish, *found = model.familiarity([GIBBERISH, *alike])
    assert gibberish.log_density < min(each.log_density for each in found)
    assert gibberish.surprise > max(each.surprise for each in found)
    assert gibberish.p_value <= 0.02
    np.testing.assert_allclose(model.log_density([GIBBERISH]), gibberish.log_density)
    assert model.log_density([GIBBERISH])[0] < model.log_density([""])[0]


def test_gibberish_is_more_perplexing_than_any_known_word():
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=1")
    assert model.perplexity(["zzz"])[0] > model.perplexity(WORDS).max()
    assert (perplexities(model, ["zzz"])[0] >= perplexities(model, WORDS).max(axis=0) - 1e-9).all()


def test_an_unknown_word_is_as_likely_as_one_that_the_class_has_never_shown():
    """By hand: of x are 6 words, of y 6; cat is never in x."""
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=1")
    unseen = {label: 1 / (len(own) + 3) for label, own in (("x", "aabbba"), ("y", "bcccca"))}
    for text, n, known in (("zzz", 1, [0, 0, 0]), ("ant zzz yyy", 3, [1, 0, 0])):
        unknown = n - sum(known)
        p = sum(
            prior
            * special.comb(n, unknown)
            * np.prod(theta(label) ** np.array(known))
            * unseen[label] ** unknown
            for label, prior in (("x", 0.6), ("y", 0.4))
        )
        assert np.exp(model.log_density([text])[0]) == pytest.approx(p, rel=1e-12)
    bernoulli = textodds.train(TEXTS, LABELS, learner=BernoulliLearner())
    empty = np.exp(bernoulli.log_joint([""])[0])
    p = empty @ np.array([1 / (3 + 2), 1 / (2 + 2)])
    assert np.exp(bernoulli.log_density(["zzz"])[0]) == pytest.approx(p, rel=1e-12)


def test_a_bernoulli_model_sums_to_one_over_all_sets_of_words():
    model = textodds.train(TEXTS, LABELS, learner=BernoulliLearner(alpha=0.5))
    sets = list(itertools.product([0, 1], repeat=3))
    found = model.log_likelihood([text_of(each) for each in sets])
    np.testing.assert_allclose(np.exp(found).sum(axis=0), 1, rtol=1e-12)
    assert np.exp(model.log_density([text_of(each) for each in sets])).sum() == pytest.approx(1, rel=1e-12)
    documents = {"x": ([2, 2, 0], 3), "y": ([1, 1, 2], 2)}  # that have each word, and all
    for k, label in enumerate(("x", "y")):
        shares = (np.array(documents[label][0]) + 0.5) / (documents[label][1] + 1.0)
        expected = [stats.bernoulli.logpmf(each, shares).sum() for each in sets]
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-12)


def test_a_bernoulli_model_of_many_words_sums_to_one():
    words = [f"word{i}" for i in range(10)]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, 4)) for _ in range(30)]
    model = textodds.train(texts, ["a", "b", "c"] * 10, learner=BernoulliLearner())
    assert len(model.vocabulary) == 10
    sets = [" ".join(each) for n in range(11) for each in itertools.combinations(words, n)]
    np.testing.assert_allclose(np.exp(model.log_likelihood(sets)).sum(axis=0), 1, rtol=1e-10)


def test_words_that_are_not_known_have_no_part_in_the_likelihood():
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=1")
    np.testing.assert_array_equal(
        model.log_likelihood(["ant bee", ""]), model.log_likelihood(["ant zzz bee yyy", "zzz"])
    )
    np.testing.assert_array_equal(model.log_likelihood([""]), [[0.0, 0.0]])
    assert model.log_likelihood([]).shape == (0, 2)


@pytest.mark.parametrize("learner", [MultinomialLearner(), BernoulliLearner()], ids=str)
def test_bayes_rule_holds_between_joint_density_and_posterior(learner):
    model = textodds.train(TEXTS, LABELS, learner=learner)
    texts = ["ant bee", "cat cat ant", "bee", ""]
    np.testing.assert_allclose(
        model.log_joint(texts) - model.log_density(texts)[:, None],
        model.predict_log_proba(texts),
        atol=1e-12,
    )


def test_perplexity_is_that_of_a_hand_calculation():
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=1")
    for text in ("ant", "ant bee", "cat ant cat bee", "cat " * 40):
        counts = np.array([text.split().count(word) for word in WORDS])
        p = 0.6 * np.prod(theta("x") ** counts) + 0.4 * np.prod(theta("y") ** counts)
        assert model.perplexity([text])[0] == pytest.approx(p ** (-1 / counts.sum()), rel=1e-12)
    unseen = 0.6 / (6 + 3) + 0.4 / (6 + 3)
    np.testing.assert_allclose(model.perplexity(["", "zzz"]), [1.0, 1 / unseen], rtol=1e-12)


@pytest.mark.parametrize("V", [2, 7, 50])
def test_the_perplexity_of_a_uniform_model_is_the_number_of_its_words(V):
    words = [f"word{i}" for i in range(V)]
    model = textodds.train([" ".join(words), " ".join(reversed(words))], ["a", "b"])
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, n)) for n in (1, 5, 200)]
    np.testing.assert_allclose(model.perplexity(texts), V, rtol=1e-12)


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        (MultinomialLearner(binary=True), "counts a word once a text"),
        (BernoulliLearner(), "only a multinomial model"),
    ],
    ids=str,
)
def test_a_model_of_sets_of_words_has_no_perplexity(learner, why):
    model = textodds.train(TEXTS, LABELS, learner=learner)
    with pytest.raises(Unsupported, match=why):
        model.perplexity(["ant"])


@together
@in_turn(1)
@pytest.mark.parametrize("learner", ["softmax", "nb-softmax", "complement", "lda", "qda"])
@pytest.mark.parametrize("wanted", ["log_likelihood", "log_joint", "log_density", "perplexity"])
def test_a_model_that_only_tells_classes_apart_has_no_density(learner, wanted):
    model = textodds.train(TEXTS * 4, LABELS * 4, learner=learner)
    with pytest.raises(Unsupported, match="no probability of a text"):
        getattr(model, wanted)(["ant"])


@together
@pytest.mark.parametrize("learner", ["softmax", "nb-softmax", "complement", "lda", "qda"])
def test_a_model_that_only_tells_classes_apart_knows_no_typical_texts(learner):
    with pytest.raises(Unsupported, match="typical"):
        textodds.train(TEXTS * 4, LABELS * 4, learner=learner, typical=True)
    model = textodds.train(TEXTS * 4, LABELS * 4, learner=learner)
    with pytest.raises(Unsupported, match="no probability of a text") as refused:
        model.familiarity(["ant"])
    assert "learn_typical" not in refused.value.hint


# Typical ones.


@together
@pytest.mark.parametrize("M", [1, 5, 499, 500])
def test_up_to_so_many_typical_ones_all_are_compared_with(M):
    random = np.random.default_rng(M)
    length, surprise = random.integers(1, 50, M).astype(float), random.normal(size=M).round(1)
    typical = Typical.of(length, surprise)
    new_length, new = random.integers(0, 60, 40).astype(float), random.normal(size=40).round(1)
    expected = [(1 + sum(each >= s for each in surprise)) / (M + 1) for s in new]
    np.testing.assert_allclose(typical.p_value(new_length, new), expected, rtol=1e-15)


def test_of_more_typical_ones_those_of_similar_length_are_compared_with():
    """Lengths are evenly spread, and the 1,500 fall into three groups by length."""
    random = np.random.default_rng(0)
    length, surprise = np.arange(1500.0), random.normal(size=1500) + np.arange(1500) / 300
    order = random.permutation(1500)
    typical = Typical.of(length[order], surprise[order])
    for new_length, group in ((-5.0, 0), (300.5, 0), (499.4, 0), (499.6, 1), (700.5, 1), (1600.0, 2)):
        alike = surprise[500 * group : 500 * (group + 1)]
        for new in (0.0, 2.0, 5.0):
            expected = (1 + (alike >= new).sum()) / 501
            assert typical.p_value(np.array([new_length]), np.array([new]))[0] == pytest.approx(expected)


def test_all_of_the_very_same_length_are_compared_with():
    random = np.random.default_rng(0)
    length, surprise = np.repeat([3.0, 8.0], [900, 700]), random.normal(size=1600)
    typical = Typical.of(length, surprise)
    for new_length, own in ((3.0, surprise[:900]), (8.0, surprise[900:])):
        expected = (1 + (own >= 0.5).sum()) / (len(own) + 1)
        assert typical.p_value(np.array([new_length]), np.array([0.5]))[0] == pytest.approx(expected)


def test_those_of_quite_another_length_are_not_compared_with_where_others_are_nearer():
    length = np.repeat([10.0, 1000.0], [500, 500])
    surprise = np.repeat([0.0, 9.0], [500, 500])
    typical = Typical.of(length, surprise)
    assert typical.p_value(np.array([900.0]), np.array([5.0]))[0] == pytest.approx(1.0)


def test_p_values_do_not_depend_on_what_else_is_asked():
    random = np.random.default_rng(0)
    typical = Typical.of(random.integers(1, 99, 1800).astype(float), random.normal(size=1800))
    length, new = random.integers(1, 120, 50).astype(float), random.normal(size=50)
    each = [typical.p_value(length[i : i + 1], new[i : i + 1])[0] for i in range(50)]
    np.testing.assert_array_equal(typical.p_value(length, new), each)
    assert typical.p_value(np.zeros(0), np.zeros(0)).shape == (0,)


def surprises(model, texts):
    """How surprising some texts are to a model."""
    return model.density.surprise(Batch(texts, None, None)).surprise


def kept_of(n, size, seed, steps):
    """Which of n are kept, and in which places."""
    reservoir = Reservoir(size)
    reservoir._random = np.random.default_rng(seed)
    passed = 0
    for step in itertools.cycle(steps):
        step = min(step, n - passed)
        for i, place in reservoir.places(step):
            assert 0 <= i < step
            reservoir.put(place, passed + i)
        passed += step
        if passed == n:
            return reservoir.kept
    raise AssertionError


def test_a_sample_of_what_passes_by_is_uniform():
    runs, n, size = 600, 60, 12
    kept = [kept_of(n, size, seed, [7, 1, 20]) for seed in range(runs)]
    assert all(len(set(each)) == size for each in kept)
    counts = np.bincount(np.concatenate(kept), minlength=n)
    # Each run keeps an item or not: the counts are binomial, and vary by 1 - size / n of Pearson's statistic.
    statistic = stats.chisquare(counts).statistic / (1 - size / n)
    assert 0.001 < stats.chi2.sf(statistic, n - 1) < 0.999  # and not too even either


def test_pairs_are_kept_together_as_often_as_they_should():
    runs, n, size = 3000, 8, 3
    pairs = Counter(
        pair
        for seed in range(runs)
        for pair in itertools.combinations(sorted(kept_of(n, size, seed, [3, 2])), 2)
    )
    expected = runs * size * (size - 1) / (n * (n - 1))
    found = [pairs[pair] for pair in itertools.combinations(range(n), 2)]
    assert stats.chisquare(found, np.full(28, expected)).pvalue > 0.001


def test_a_sample_is_the_same_every_time_and_however_the_data_are_cut():
    whole = kept_of(5000, 100, 0, [5000])
    assert whole == kept_of(5000, 100, 0, [5000])
    assert whole == kept_of(5000, 100, 0, [1])
    assert whole == kept_of(5000, 100, 0, [64, 999, 3])


def test_what_fits_is_kept_whole_and_in_order():
    assert kept_of(50, 100, 0, [7]) == list(range(50))
    assert kept_of(100, 100, 0, [33]) == list(range(100))


# Familiarity of texts.


def documents(n, seed, words="abcdefghij"):
    """Texts of two topics over one vocabulary, and their labels."""
    random = np.random.default_rng([seed, 7])
    shares = np.array([np.arange(1, 11), np.arange(10, 0, -1)]) / 55
    labels = random.integers(0, 2, n)
    vocabulary = [f"{letter}{letter}{i}" for letter in words for i in range(5)]
    texts = []
    for k in labels:
        p = np.repeat(shares[k], 5) / 5
        texts.append(" ".join(random.choice(vocabulary, random.integers(3, 40), p=p)))
    return texts, [f"topic {k}" for k in labels]


def tolerance(a, runs, typical, new):
    """Four standard errors of a share of p-values, those of one run having their typical ones in common."""
    return 4 * np.sqrt(a * (1 - a) * (1 / (runs * new) + 1 / (runs * typical)))


LEVELS = (0.05, 0.1, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [MultinomialLearner(), BernoulliLearner()], ids=["multinomial", "bernoulli"]
)
def test_p_values_of_texts_of_the_kind_are_small_no_more_often_than_they_say(learner):
    runs, M, new = 25, 200, 200
    p_values = []
    for seed in range(runs):
        texts, labels = documents(M + new, seed)
        model = textodds.train(texts[:M], labels[:M], learner=learner, typical=True)
        p_values += [each.p_value for each in model.familiarity(texts[M:])]
    for a in LEVELS:
        share = np.mean(np.array(p_values) <= a)
        assert share <= a + tolerance(a, runs, M, new)
        assert share >= a / 3  # nor so rarely that nothing is ever found


def messages(n, seed):
    """Texts of two topics with lengths and words as texts have them: a few long ones, many rare words."""
    random = np.random.default_rng([seed, 9])
    V = 4000
    shares = [1 / (np.arange(V) + 3.0), 1 / (np.roll(np.arange(V), 20) + 3.0)]
    labels = random.integers(0, 2, n)
    lengths = 1 + random.lognormal(2.3, 0.9, n).astype(int)
    texts = [
        " ".join(f"w{v}" for v in random.choice(V, m, p=shares[k] / shares[k].sum()))
        for k, m in zip(labels, lengths, strict=True)
    ]
    return texts, [f"topic {k}" for k in labels]


@pytest.mark.parametrize(
    "learner", [MultinomialLearner(), BernoulliLearner()], ids=["multinomial", "bernoulli"]
)
def test_p_values_of_texts_of_the_kind_are_uniform(learner):
    M, new = 2000, 2000
    texts, labels = messages(M + new, 1)
    model = textodds.train(texts[:M], labels[:M], learner=learner, typical=True)
    p_values = [each.p_value for each in model.familiarity(texts[M:])]
    # At 1 %, for two samples: p-values have the sampling error of the typical texts as well.
    assert stats.kstest(p_values, "uniform").statistic < 1.63 * np.sqrt(1 / M + 1 / new)


@pytest.mark.parametrize("options", [{}, {"min_df": 2}, {"min_df": 0.05}], ids=str)
def test_typical_texts_of_a_bernoulli_model_are_each_left_out_alone(options):
    texts, labels = messages(40, 2)
    options = {"learner": BernoulliLearner(alpha=0.4), **options}
    model = textodds.train(texts, labels, typical=True, **options)
    empty = model.log_density([""])[0]
    expected = []
    for i, text in enumerate(texts):
        rest = textodds.train(texts[:i] + texts[i + 1 :], labels[:i] + labels[i + 1 :], **options)
        expected.append((empty - rest.log_density([text])[0]) / len(text.split()))
    np.testing.assert_allclose(np.sort(model.typical.surprise), np.sort(expected), rtol=1e-9)


def test_typical_texts_of_a_bernoulli_model_count_as_often_as_they_came():
    texts, labels = messages(60, 3)
    model = textodds.train(texts + texts[:20], labels + labels[:20], learner=BernoulliLearner(), typical=True)
    assert len(model.typical.surprise) == 80


def test_p_values_of_many_texts_hold_at_every_length():
    """More texts than are compared with: the short and the long ones each have their own kind to go by."""
    texts, labels = documents(5000, 99)
    model = textodds.train(texts[:3000], labels[:3000], typical=True)
    assert len(model.typical.surprise) == TYPICAL
    found = model.familiarity(texts[3000:])
    lengths = np.array([len(text.split()) for text in texts[3000:]])
    p_values = np.array([each.p_value for each in found])
    for low, high in ((3, 8), (8, 20), (20, 41)):
        own = p_values[(lengths >= low) & (lengths < high)]
        for a in LEVELS:
            assert (own <= a).mean() <= a + tolerance(a, 1, NEAR, len(own))


def test_texts_of_another_kind_have_small_p_values():
    texts, labels = documents(300, 1)
    model = textodds.train(texts, labels, typical=True)
    other = [each.p_value for each in model.familiarity(documents(50, 2, words="qrstuvwxyz")[0])]
    assert max(other) <= 0.02


def test_the_surprise_of_a_text_is_that_of_a_hand_calculation():
    model = textodds.train(TEXTS * 3, LABELS * 3, typical=True)
    shares = {}
    for label in ("x", "y"):
        own = " ".join(text for text, mine in zip(TEXTS, LABELS, strict=True) if mine == label).split()
        shares[label] = np.array([3.0 * own.count(word) + 1 for word in WORDS])
    found = model.familiarity(["ant cat", "zzz", "ant zzz zzz yyy bee"])
    for each, counts, unknown in zip(found, ([1, 0, 1], [0, 0, 0], [1, 1, 0]), (0, 1, 3), strict=True):
        n = sum(counts) + unknown
        p = sum(
            prior
            * np.prod((shares[label] / shares[label].sum()) ** np.array(counts))
            * (1 / shares[label].sum()) ** unknown
            for label, prior in (("x", 0.6), ("y", 0.4))
        )
        assert each.surprise == pytest.approx(-np.log(p) / n, rel=1e-12)
        assert each.unknown == unknown
    asked = ["ant cat", "zzz", "ant zzz zzz yyy bee"]
    np.testing.assert_allclose([each.log_density for each in found], model.log_density(asked), rtol=1e-12)


def test_typical_texts_are_those_that_a_model_without_them_finds(monkeypatch):
    """Each text has a word of its own, so that it can be seen which were forgotten together."""
    texts, labels = documents(60, 3)
    texts = [f"{text} own{i}" for i, text in enumerate(texts)]
    forgotten = []

    def noted(self, batches, original=textodds.TextModel.count):
        tally = original(self, batches)
        own = [word for word in tally.vocabulary.words() if word.startswith("own")]
        forgotten.append(sorted(int(word[3:]) for word in own))
        return tally

    monkeypatch.setattr(textodds.TextModel, "count", noted)
    model = textodds.train(texts, labels, learner="multinomial", typical=True)
    assert sorted(i for part in forgotten for i in part) == list(range(60))
    assert max(map(len, forgotten)) <= 12
    expected = []
    for part in forgotten:
        rest = [i for i in range(60) if i not in part]
        kept = [texts[i] for i in rest], [labels[i] for i in rest]
        other = textodds.train(*kept, learner="multinomial")
        expected += surprises(other, [texts[i] for i in part]).tolist()
    np.testing.assert_allclose(np.sort(model.typical.surprise), np.sort(expected), rtol=1e-12)
    assert model.typical.length.tolist() == sorted(len(text.split()) for text in texts)


def in_turn(n, seed=0):
    """Texts of five classes in turn, each with words of its own."""
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice([f"word{i % 5}x{j}" for j in range(20)], 12)) for i in range(n)]
    return texts, [f"class {i % 5}" for i in range(n)]


def test_what_is_familiar_does_not_depend_on_the_order_of_the_texts():
    texts, labels = in_turn(300)
    order = np.random.default_rng(1).permutation(300)
    model = textodds.train(texts, labels, typical=True)
    other = textodds.train([texts[i] for i in order], [labels[i] for i in order], typical=True)
    half = ["zzz word0x1 word0x2 yyy xxx word0x3 www vvv"]
    assert other.familiarity(half)[0].p_value <= 0.05
    assert model.familiarity(half)[0].p_value <= 0.05
    p_values = [np.mean([each.p_value for each in m.familiarity(in_turn(100, 2)[0])]) for m in (model, other)]
    assert p_values[0] == pytest.approx(p_values[1], abs=0.1)


def test_typical_texts_kept_in_training_are_those_learned_later(tmp_path):
    texts, labels = documents(200, 4)
    model = textodds.train(texts, labels, typical=True)
    later = textodds.train(texts, labels, learner="multinomial")
    assert later.typical is None
    later.learn_typical(texts, labels)
    np.testing.assert_array_equal(later.typical.surprise, model.typical.surprise)
    np.testing.assert_array_equal(later.typical.length, model.typical.length)
    model.save(tmp_path / "model")
    loaded = textodds.load(tmp_path / "model")
    assert loaded.familiarity(texts[:20]) == model.familiarity(texts[:20])
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_typical_texts_that_were_not_learned_need_no_labels():
    texts, labels = documents(400, 5)
    model = textodds.train(texts[:200], labels[:200], learner="multinomial")
    model.learn_typical(texts[200:], seen=False)
    np.testing.assert_allclose(
        np.sort(model.typical.surprise), np.sort(surprises(model, texts[200:])), rtol=1e-12
    )


def test_no_typical_texts_are_said_to_be_none():
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=1")
    with pytest.raises(NoData, match="no typical"):
        model.learn_typical([], seen=False)
    with pytest.raises(NoData, match="too few"):
        textodds.train(["ant"], ["x"], typical=True)
    with pytest.raises(Unsupported, match="no typical texts"):
        model.familiarity(["ant"])


# Familiarity of rows.


def rows_of(n, seed, away=0.0):
    """Rows of numbers and categories of two classes, and their labels; ``away`` moves the numbers."""
    random = np.random.default_rng([seed, 8])
    k = random.integers(0, 2, n)
    x = random.normal(2 * k + away)
    return {
        "x": x.tolist(),
        "y": (x + random.normal(size=n) + away).tolist(),
        "c": [["red", "green", "blue"][i] for i in (k + (random.random(n) < 0.3)) % 3],
    }, [f"class {i}" for i in k]


def part(table, start, stop):
    """Some rows of a table."""
    return {name: values[start:stop] for name, values in table.items()}


TABLES = {"mixed": MixedLearner(), "gaussian": learner_named("gaussian"), "qda": learner_named("qda"),
          "categorical": CategoricalLearner()}  # fmt: skip
NEEDED = {"mixed": "xyc", "gaussian": "xy", "qda": "xy", "categorical": "c"}


@together
@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_p_values_of_rows_of_the_kind_are_small_no_more_often_than_they_say(name):
    runs, M, new = 10, 150, 150
    p_values = []
    for seed in range(runs):
        table, labels = rows_of(M + new, seed)
        table = {column: table[column] for column in NEEDED[name]}
        model = train_table(part(table, 0, M), labels[:M], learner=TABLES[name], typical=True)
        p_values += [each.p_value for each in model.familiarity(part(table, M, M + new))]
    for a in LEVELS:
        share = np.mean(np.array(p_values) <= a)
        assert share <= a + tolerance(a, runs, M, new)
        if name != "categorical":  # few different surprises, with many ties
            assert share >= a / 3


@pytest.mark.parametrize("name", ["mixed", "gaussian", "qda"])
def test_rows_of_another_kind_have_small_p_values(name):
    table, labels = rows_of(200, 1)
    model = train_table(
        {column: table[column] for column in NEEDED[name]}, labels, learner=TABLES[name], typical=True
    )
    far = {column: rows_of(30, 2, away=12.0)[0][column] for column in NEEDED[name]}
    assert max(each.p_value for each in model.familiarity(far)) <= 0.02


@pytest.mark.parametrize("name", ["mixed", "gaussian", "qda"])
def test_typical_rows_are_those_that_a_model_without_them_finds(name, monkeypatch):
    """No two rows have the same x, by which it can be seen which were forgotten together."""
    table, labels = rows_of(50, 3)
    table = {column: table[column] for column in NEEDED[name]}
    forgotten = []

    def noted(self, sample, original=textodds.TableModel.forgetting):
        for model, batch in original(self, sample):
            forgotten.append([table["x"].index(x) for x in batch.columns["x"]])
            yield model, batch

    monkeypatch.setattr(textodds.TableModel, "forgetting", noted)
    model = train_table(table, labels, learner=TABLES[name])
    forgotten.clear()
    model.learn_typical(table, labels)
    assert sorted(i for part in forgotten for i in part) == list(range(50))
    assert max(map(len, forgotten)) <= 10
    expected = []
    for part in forgotten:
        rest = [i for i in range(50) if i not in part]
        other = train_table(
            {column: [values[i] for i in rest] for column, values in table.items()},
            [labels[i] for i in rest],
            like=model,
        )
        own = {column: [values[i] for i in part] for column, values in table.items()}
        expected += (-other.log_density(own)).tolist()
    np.testing.assert_allclose(np.sort(model.typical.surprise), np.sort(expected), rtol=1e-8)


@pytest.mark.parametrize("name", TABLES)
def test_typical_rows_kept_in_training_are_those_learned_later(name, tmp_path):
    table, labels = rows_of(50, 3)
    table = {column: table[column] for column in NEEDED[name]}
    model = train_table(table, labels, learner=TABLES[name], typical=True)
    later = train_table(table, labels, learner=TABLES[name])
    with pytest.raises(Unsupported, match="no typical rows"):
        later.familiarity(table)
    later.learn_typical(table, labels)
    np.testing.assert_array_equal(later.typical.surprise, model.typical.surprise)
    later.save(tmp_path / "model")
    assert textodds.load(tmp_path / "model").familiarity(table) == model.familiarity(table)


def test_typical_rows_of_classes_that_come_in_turn_are_kept():
    random = np.random.default_rng(0)
    k = np.arange(500) % 5
    model = train_table({"x": random.normal(k).tolist()}, [f"class {i}" for i in k], typical=True)
    assert len(model.typical.surprise) == 500


def test_the_density_of_a_row_is_part_of_its_familiarity():
    table, labels = rows_of(80, 4)
    model = train_table(table, labels, typical=True)
    found = model.familiarity(part(table, 0, 9))
    np.testing.assert_allclose([each.log_density for each in found], model.log_density(part(table, 0, 9)))
    assert [each.surprise for each in found] == [-each.log_density for each in found]


# On the command line.


@pytest.fixture
def mail(tmp_path, monkeypatch):
    """Labelled texts in `mail.csv`, and new ones of the kind and of another in `new.csv`."""
    monkeypatch.chdir(tmp_path)
    texts, labels = documents(120, 6)
    lines = [f"{text},{label}" for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "mail.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(["text", documents(1, 7)[0][0], "zz9 yy8 xx7 ww6"]) + "\n")
    return texts, labels


def test_the_command_line_keeps_typical_texts_and_tells_what_is_not_like_them(mail, capsys):
    assert main(["train", "mail.csv", "--typical", "--quiet"]) == 0
    model = textodds.train(*mail, typical=True)
    assert main(["predict", "mail.textodds", "new.csv", "--familiarity", "--quiet"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    new = [documents(1, 7)[0][0], "zz9 yy8 xx7 ww6"]
    found = model.familiarity(new)
    assert [line[0] for line in lines] == model.predict(new).tolist()
    assert [line[2] for line in lines] == [f"{each.p_value:.4f}" for each in found]
    assert float(lines[0][2]) > 0.05 > float(lines[1][2])
    assert main(["predict", "mail.textodds", "new.csv", "--familiarity", "--json", "--quiet"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for each, expected, label in zip(told, found, model.predict(new), strict=True):
        assert each["label"] == label
        assert (each["p_value"], each["surprise"], each["log_density"]) == pytest.approx(
            (expected.p_value, expected.surprise, expected.log_density)
        )
        assert set(each) == {"label", "probability", "evidence", "log_density", "surprise", "p_value"}


def test_the_command_line_says_what_a_model_without_typical_texts_lacks(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    assert main(["predict", "mail.textodds", "--say", "aa0", "--familiarity"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        "error: the model has no typical texts to compare with\n\nhint: train with `--typical`"
    )
    assert main(["train", "mail.csv", "--typical", "--learner", "complement", "--quiet"]) == 2
    assert capsys.readouterr().err.startswith("error: `typical` needs a generative model")


# Values that no row of training had.


def people(n, seed):
    """Rows with an age that is cut into intervals, hours, and a trade; and their labels."""
    random = np.random.default_rng([seed, 10])
    k = random.integers(0, 2, n)
    return {
        "age": (17 + 60 * random.beta(1.2 + k, 3)).round().tolist(),
        "hours": random.normal(38 + 4 * k, 9).tolist(),
        "trade": [f"trade {v}" for v in random.poisson(2 + 2 * k)],
    }, [f"class {i}" for i in k]


def test_numbers_out_of_the_range_of_intervals_are_unfamiliar():
    table, labels = people(1500, 1)
    model = train_table(table, labels, columns={"age": "bins"}, typical=True)
    for age in (999.0, -40.0, 150.0):
        far = people(100, 2)[0] | {"age": [age] * 100}
        assert max(each.p_value for each in model.familiarity(far)) <= 0.02
        assert (model.log_density(far) < model.log_density(people(100, 2)[0])).all()
    p_values = [each.p_value for each in model.familiarity(people(1000, 3)[0])]
    assert stats.kstest(p_values, "uniform").statistic < 1.63 * np.sqrt(1 / 1500 + 1 / 1000)


def test_what_lies_beyond_the_range_says_nothing_of_the_class():
    table, labels = people(500, 1)
    model = train_table(table, labels, columns={"age": "bins", "hours": "ignore", "trade": "ignore"})
    near, far = (model.predict_proba({"age": [age]}) for age in (math.nan, 999.0))
    np.testing.assert_allclose(near, far, rtol=1e-12)


@pytest.mark.parametrize("learner", [CategoricalLearner(), learner_named("table")], ids=["each", "full"])
def test_a_category_never_seen_is_less_likely_than_any_that_was(learner):
    table, labels = people(500, 1)
    model = train_table({"trade": table["trade"]}, labels, learner=learner, typical=True)
    known = {"trade": sorted(set(table["trade"]))}
    new = {"trade": ["astronaut"]}
    assert model.log_density(new)[0] < model.log_density(known).min()
    assert model.familiarity(new)[0].p_value == min(each.p_value for each in model.familiarity(new))
    assert model.familiarity(new)[0].p_value <= 0.01


def test_gibberish_in_a_column_of_texts_is_unfamiliar():
    texts, labels = documents(300, 8)
    table = {"note": texts, "x": np.arange(300.0).tolist()}
    model = train_table(table, labels, columns={"note": "text"}, typical=True)
    same = part(table, 0, 50)
    assert (
        model.log_density(same | {"note": ["qwe rtz uio"] * 50})
        < model.log_density(same | {"note": [""] * 50})
    ).all()
