"""Samples are of the distribution they are said to be of: what is learned from them is the model again.

Draws are seeded; tolerances are five standard deviations of what is estimated, unless said otherwise.
"""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

import textodds
from pairs import together
from textodds.data import Batch
from textodds.errors import InputError, Unsupported
from textodds.learn.conditionals.categorical import UNSEEN_ROW
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.learn.tables import CategoricalLearner, JointTableLearner, MixedLearner
from textodds.study.generate import _ends, _within, perplexities, sample
from textodds.training.tables import train_table

TEXTS = ["ant ant bee", "bee cat", "cat cat cat ant", "ant", "bee bee dog"]
LABELS = ["x", "y", "y", "x", "x"]
N = 20_000


def near(share, expected, n, deviations=5.0):
    """Whether shares of n draws are as near to what is expected as theory has it."""
    spread = np.sqrt(expected * (1 - expected) / n)
    return bool((np.abs(share - expected) <= deviations * spread + 1e-12).all())


def shares(model, k):
    return np.exp(model.linear.weights.rows(np.arange(len(model.vocabulary)))[:, k])


@pytest.fixture(scope="module")
def words():
    return textodds.train(TEXTS, LABELS, learner=MultinomialLearner(alpha=0.5))


def test_words_of_a_multinomial_model_come_as_often_as_it_says(words):
    texts, labels = sample(words, N, seed=1)
    for k, label in enumerate(words.classes_):
        drawn = Counter(w for t, mine in zip(texts, labels, strict=True) if mine == label for w in t.split())
        total = sum(drawn.values())
        found = np.array([drawn[word] for word in words.vocabulary.words()])
        assert near(found / total, shares(words, k), total)
        assert stats.chisquare(found, shares(words, k) * total).pvalue > 1e-3


def test_a_model_refitted_on_a_sample_is_the_model_again(words):
    texts, labels = sample(words, N, seed=2)
    again = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0.5))
    assert again.vocabulary.words() == words.vocabulary.words()
    for k, label in enumerate(words.classes_):
        total = again.tally.counts().occurrences[again.tally.class_of == k].sum()
        assert near(shares(again, k), shares(words, k), total), label
    assert near(np.exp(again.linear.log_prior), np.exp(words.linear.log_prior), N)


def test_lengths_are_poisson_with_the_mean_of_the_class_in_training(words):
    texts, labels = sample(words, N, seed=3)
    for label, mean in (("x", 7 / 3), ("y", 3.0)):
        lengths = np.array([len(t.split()) for t, mine in zip(texts, labels, strict=True) if mine == label])
        assert abs(lengths.mean() - mean) < 5 * np.sqrt(mean / len(lengths))
        assert lengths.var() == pytest.approx(mean, rel=0.1)


def test_a_length_may_be_given(words):
    texts, _ = sample(words, 2000, seed=0, length=40)
    assert abs(np.mean([len(t.split()) for t in texts]) - 40) < 5 * np.sqrt(40 / 2000)


def test_words_that_are_impossible_are_never_drawn():
    model = textodds.train(["ant", "bee"], ["x", "y"], learner=MultinomialLearner(alpha=0))
    texts, _ = sample(model, 500, label="x", length=3)
    assert {w for t in texts for w in t.split()} == {"ant"}


def test_words_of_a_bernoulli_model_are_there_as_often_as_it_says_and_once():
    model = textodds.train(TEXTS, LABELS, learner=BernoulliLearner(alpha=0.5))
    texts, labels = sample(model, N, seed=4)
    assert all(len(set(t.split())) == len(t.split()) for t in texts)
    for k, label in enumerate(model.classes_):
        mine = [t.split() for t, each in zip(texts, labels, strict=True) if each == label]
        found = np.array([sum(word in t for t in mine) for word in model.vocabulary.words()]) / len(mine)
        odds = shares(model, k)
        assert near(found, odds / (1 + odds), len(mine))


def test_the_order_of_the_words_of_a_bernoulli_model_is_random():
    model = textodds.train(["ant bee"] * 50, ["x"] * 50, learner=BernoulliLearner())
    texts = Counter(sample(model, 1000, seed=5)[0])
    both = texts["ant bee"] + texts["bee ant"]
    assert near(texts["ant bee"] / both, 0.5, both)


def test_labels_come_as_often_as_the_prior_says(words):
    tilted = words.with_prior({"x": 0.9, "y": 0.1})
    _, labels = sample(tilted, N, seed=6)
    assert near(labels.count("x") / N, 0.9, N)


def test_a_label_may_be_given_and_must_be_there(words):
    assert set(sample(words, 20, label="y")[1]) == {"y"}
    with pytest.raises(InputError, match="there is no class `z`"):
        sample(words, 1, label="z")


def test_the_seed_decides(words):
    assert sample(words, 50, seed=7) == sample(words, 50, seed=7)
    assert sample(words, 50, seed=7) != sample(words, 50, seed=8)


def test_nothing_may_be_drawn(words):
    assert sample(words, 0) == ([], [])
    with pytest.raises(InputError, match="whole number of zero or more, got -1"):
        sample(words, -1)


@together
@pytest.mark.parametrize(
    ("learner", "settings", "problem"),
    [
        ("softmax", {}, "a discriminative model"),
        ("lda", {}, "a discriminative model"),
        (ComplementLearner(), {}, "a discriminative model"),
        (MultinomialLearner(binary=True), {}, "a binary model"),
        (MultinomialLearner(), {"hash_bits": 8}, "hashed words have no names"),
        (MultinomialLearner(), {"ngrams": (1, 2)}, "terms that overlap"),
        (MultinomialLearner(), {"unit": "characters"}, "terms that overlap"),
    ],
)
def test_models_from_which_nothing_can_be_drawn_say_why(learner, settings, problem):
    model = textodds.train(TEXTS * 4, LABELS * 4, learner=learner, **settings)
    with pytest.raises(Unsupported, match=problem):
        sample(model, 1)


def test_a_model_without_counts_asks_for_a_length(words, tmp_path):
    words.save(tmp_path / "m", counts=False)
    bare = textodds.load(tmp_path / "m")
    with pytest.raises(Unsupported, match="how long its texts are"):
        sample(bare, 1)
    assert len(sample(bare, 5, length=3)[0]) == 5


@pytest.mark.parametrize("learner", ["gaussian", "lda", "qda"])
def test_gaussian_columns_have_the_moments_of_the_model(learner):
    random = np.random.default_rng(0)
    rows = random.standard_normal((400, 3)) @ random.standard_normal((3, 3))
    labels = ["a" if i % 4 else "b" for i in range(400)]
    rows[::4] = rows[::4] * 2 + 5
    model = textodds.train({"u": rows[:, 0], "v": rows[:, 1], "w": rows[:, 2]}, labels, learner=learner)
    columns, drawn = sample(model, N, seed=8)
    X, y = np.array([columns[c] for c in "uvw"]).T, np.array(drawn)
    gaussians = model.product.parts[0].gaussians
    for k, label in enumerate(model.classes_):
        mine = X[y == label]
        n = len(mine)
        if learner == "gaussian":
            mean, covariance = gaussians.mean[k], np.diag(gaussians.variance[k])
        else:
            mean = gaussians.centre + gaussians.scale * gaussians.mean[k]
            covariance = gaussians.covariance()[0 if learner == "lda" else k]
        sd = np.sqrt(np.diag(covariance))
        assert (np.abs(mine.mean(axis=0) - mean) < 5 * sd / np.sqrt(n)).all()
        # var(s_ij) is (σ_ii σ_jj + σ_ij²) / n, at most twice the product of the variances
        assert (np.abs(np.cov(mine.T) - covariance) < 5 * np.outer(sd, sd) * np.sqrt(2 / n)).all()


def rows_of_categories():
    random = np.random.default_rng(1)
    sky = random.choice(["sun", "rain", None], 300, p=[0.6, 0.3, 0.1])
    wind = np.where(sky == "sun", "weak", random.choice(["weak", "strong"], 300))
    labels = np.where((wind == "weak") ^ (random.random(300) < 0.2), "play", "stay")
    return {"sky": sky.tolist(), "wind": wind.tolist()}, labels.tolist()


@together
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_categories_come_as_often_as_the_model_says(missing, unseen):
    columns, labels = rows_of_categories()
    model = train_table(columns, labels, learner=CategoricalLearner(missing=missing, unseen=unseen))
    drawn, classes = sample(model, N, seed=9)
    estimate = model.product.parts[0].estimate
    names = [*estimate.categories[0], *([None] if missing == "category" else [])]
    assert estimate.columns[0] == "sky"
    for k, label in enumerate(model.classes_):
        mine = [c for c, each in zip(drawn["sky"], classes, strict=True) if each == label]
        table = np.exp(estimate.log_p[0][:, k])
        expected = np.array([*table[:2], *([table[-1]] if missing == "category" else [])])
        if unseen == "smooth":  # has no name
            assert expected.sum() == pytest.approx(1 - table[UNSEEN_ROW])
        expected /= expected.sum()
        assert set(mine) <= set(names)
        assert near(np.array([mine.count(name) for name in names]) / len(mine), expected, len(mine))


@together
@pytest.mark.parametrize("backoff", ["independent", "uniform"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_combinations_of_the_full_table_come_as_often_as_the_model_says(backoff, missing):
    columns, labels = rows_of_categories()
    model = train_table(
        columns, labels, learner=JointTableLearner(alpha=20.0, backoff=backoff, missing=missing)
    )
    drawn, classes = sample(model, N, seed=10)
    skies = ["sun", "rain", *([None] if missing == "category" else [])]
    cells = [(a, b) for a in skies for b in ("weak", "strong")]
    table = {"sky": [a for a, _ in cells], "wind": [b for _, b in cells]}
    for label in model.classes_:
        expected = np.exp(model.log_joint(table, [label] * len(cells)))
        expected /= np.exp(model.log_prior[model.classes_.index(label)])
        assert expected.sum() == pytest.approx(1)
        rows = zip(drawn["sky"], drawn["wind"], classes, strict=True)
        mine = [(sky, wind) for sky, wind, each in rows if each == label]
        assert near(np.array([mine.count(cell) for cell in cells]) / len(mine), expected, len(mine))


def block_numbers(block, names):
    """The numbers of intervals, by asking the block which a number in each of them is in."""
    edges = np.array(block.edges[0])
    inside = np.append(edges, edges[-1] + 1)
    coded = block.coded(Batch({"v": inside}, None, None))["v"]
    place = {coded.names[code]: number for number, code in enumerate(coded.codes.tolist())}
    return [place[name] for name in names]


def test_numbers_in_intervals_fall_into_them_again_as_often_as_the_model_says():
    random = np.random.default_rng(2)
    values = np.where(random.random(2000) < 0.3, 0.0, random.exponential(3.0, 2000))  # a value of its own
    labels = np.where(random.random(2000) < 0.5, "a", "b").tolist()
    model = train_table({"v": values}, labels, learner=MixedLearner(calibrate=False), columns={"v": "bins"})
    drawn, _ = sample(model, N, seed=11, label="a")
    block, estimate = model.recipe.blocks[0], model.product.parts[0].estimate
    found = np.searchsorted(np.array(block.edges[0]), drawn["v"], side="left")
    names = block_numbers(block, estimate.categories[0])
    expected = np.exp(estimate.log_p[0][: len(names), 0])
    assert near(np.bincount(found, minlength=max(names) + 1)[names] / N, expected, N)
    assert near(drawn["v"].count(0.0) / N, expected[names.index(list(block.edges[0]).index(0.0))], N)
    assert np.isfinite(drawn["v"]).all()


def test_numbers_are_uniform_within_an_interval_whose_lower_end_is_outside():
    drawn = np.array(
        _within(["mid"] * 5000, ("low", "mid", "high"), np.array([1.0, 3.0]), np.random.default_rng(0))
    )
    assert drawn.min() > 1.0
    assert drawn.max() <= 3.0
    assert stats.kstest(drawn, stats.uniform(1.0, 2.0).cdf).pvalue > 1e-3


@together
@pytest.mark.parametrize("edges", [[], [4.0], [1.0, 1.5, 9.0], [np.nextafter(2.0, 0), 2.0]])
def test_open_intervals_have_ends_and_meet_the_others(edges):
    low, high = _ends(np.array(edges))
    assert len(low) == len(high) == len(edges) + 1
    assert (low < high).all()
    assert high[:-1].tolist() == low[1:].tolist() == edges


def test_a_table_of_all_kinds_is_drawn_with_its_columns_and_can_be_learned_again():
    random = np.random.default_rng(3)
    labels = ["a", "b"] * 100
    rows = {
        "age": random.normal(40, 5, 200),
        "city": random.choice(["Ulm", "Bonn"], 200),
        "note": ["free phone now" if label == "a" else "see you at six" for label in labels],
    }
    model = train_table(rows, labels, learner=MixedLearner(), columns={"note": "text", "age": "gaussian"})
    drawn, classes = sample(model, 2000, seed=12)
    assert list(drawn) == [column.name for column in model.schema.used] == ["age", "city", "note"]
    again = train_table(drawn, classes, learner=MixedLearner(), columns={"note": "text", "age": "gaussian"})
    assert again({"note": "free phone"}).label == "a"
    means = [m.product.parts[0].gaussians.mean[0, 0] for m in (model, again)]
    assert abs(means[0] - means[1]) < 5 * 5 / np.sqrt(1000)


def test_a_length_is_not_for_tables():
    model = train_table({"city": ["Ulm", "Bonn"]}, ["a", "b"])
    with pytest.raises(InputError, match="a length is for texts"):
        sample(model, 1, length=3)


def test_perplexity_by_class_is_the_inverse_geometric_mean_of_word_probabilities(words):
    found = perplexities(words, ["ant bee bee", "zebra", ""])
    place = {word: v for v, word in enumerate(words.vocabulary.words())}
    for k in range(2):
        theta = shares(words, k)
        product = theta[place["ant"]] * theta[place["bee"]] ** 2
        assert found[0, k] == pytest.approx(product ** (-1 / 3), rel=1e-12)
    counts = words.tally.counts()
    totals = counts.by_class(counts.occurrences) + 0.5 * counts.n_features  # half a pseudo-count a word
    np.testing.assert_allclose(found[1], totals / 0.5, rtol=1e-12)
    assert found[2].tolist() == [1.0, 1.0]


def test_perplexity_of_texts_drawn_from_a_class_nears_its_entropy_and_is_higher_to_the_other(words):
    texts, _ = sample(words, 200, label="x", seed=13, length=200)
    theta = shares(words, 0)
    entropy = -(theta * np.log(theta)).sum()
    spread = np.sqrt((theta * np.log(theta) ** 2).sum() - entropy**2)
    found = np.log(perplexities(words, texts))
    lengths = np.array([len(t.split()) for t in texts])
    assert abs(found[:, 0] @ lengths / lengths.sum() - entropy) < 5 * spread / np.sqrt(lengths.sum())
    assert found[:, 1].mean() > found[:, 0].mean()


def test_a_bernoulli_model_has_no_perplexity():
    with pytest.raises(Unsupported, match="only a multinomial model has a perplexity"):
        perplexities(textodds.train(TEXTS, LABELS, learner=BernoulliLearner()), ["ant"])
