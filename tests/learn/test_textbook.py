"""Numbers a reader can redo: textbook examples, Bayes' rule by enumeration, a table of a paper."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

import textodds
from pairs import together
from row_counts import counts_of_rows
from textodds.learn import naive_bayes
from textodds.learn.conditionals.complement import transformed
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner

CHINESE = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
IN_CHINA = ["yes", "yes", "yes", "no"]
TEST = "Chinese Chinese Chinese Tokyo Japan"


def joint(model, text):
    """p(text, class) by class, up to the multinomial coefficient."""
    return dict(zip(model.classes_, np.exp(model.score([text])[0][0]).tolist(), strict=True))


def test_multinomial_example_of_manning_raghavan_and_schuetze():
    """Table 13.1 and example 13.1 of Introduction to Information Retrieval (2008)."""
    model = textodds.train(CHINESE, IN_CHINA, textbook=True)
    got = joint(model, TEST)
    assert got["yes"] == pytest.approx(3 / 4 * (3 / 7) ** 3 * (1 / 14) ** 2, rel=1e-12)
    assert got["no"] == pytest.approx(1 / 4 * (2 / 9) ** 3 * (2 / 9) ** 2, rel=1e-12)
    assert [round(got[label], 4) for label in ("yes", "no")] == [0.0003, 0.0001]
    assert model(TEST).label == "yes"


def test_bernoulli_example_of_manning_raghavan_and_schuetze():
    """Example 13.2: the Bernoulli model, which sees one `Chinese` and misses three words, says no."""
    model = textodds.train(CHINESE, IN_CHINA, learner=BernoulliLearner())
    got = joint(model, TEST)
    assert got["yes"] == pytest.approx(3 / 4 * 4 / 5 * (1 / 5) ** 2 * (1 - 2 / 5) ** 3, rel=1e-12)
    assert got["no"] == pytest.approx(1 / 4 * (2 / 3) ** 3 * (1 - 1 / 3) ** 3, rel=1e-12)
    assert [round(got[label], 3) for label in ("yes", "no")] == [0.005, 0.022]
    assert model(TEST).label == "no"


def test_multinomial_posteriors_match_enumeration():
    """Bayes' rule by hand, over every document of up to four words from a three-word vocabulary."""
    model = textodds.train(["a a b", "b c", "c"], ["x", "y", "y"], learner=MultinomialLearner(alpha=0.5))
    theta = {
        "x": {"a": 2.5 / 4.5, "b": 1.5 / 4.5, "c": 0.5 / 4.5},
        "y": {"a": 0.5 / 4.5, "b": 1.5 / 4.5, "c": 2.5 / 4.5},
    }
    prior = {"x": 1 / 3, "y": 2 / 3}
    for n in range(5):
        for words in itertools.product("abc", repeat=n):
            likelihood = {k: prior[k] * math.prod(theta[k][word] for word in words) for k in prior}
            expected = [likelihood[k] / sum(likelihood.values()) for k in ("x", "y")]
            np.testing.assert_allclose(model.predict_proba([" ".join(words)])[0], expected, rtol=1e-12)


def test_multinomial_probabilities_of_all_documents_of_a_length_sum_to_one():
    model = textodds.train(["a a b", "b c"], ["x", "y"], learner=MultinomialLearner(prior="uniform"))
    total = sum(np.exp(model.score([" ".join(words)])[0][0]) for words in itertools.product("abc", repeat=4))
    np.testing.assert_allclose(total, [0.5, 0.5], rtol=1e-12)


@together
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("classes", [2, 12])
def test_bernoulli_probabilities_of_all_documents_sum_to_one(alpha, classes):
    random = np.random.default_rng(0)
    rows = np.eye(8, dtype=int)[np.arange(3 * classes) % 8] | (random.random((3 * classes, 8)) < 0.1)
    labels = [f"c{k:02}" for k in np.arange(3 * classes) % classes]
    model = naive_bayes.fit(BernoulliLearner(alpha=alpha), counts_of_rows(rows, labels))
    every_document = np.array(list(itertools.product([0, 1], repeat=8)))
    with_class = np.exp(model.scores(every_document)).sum(axis=0)
    np.testing.assert_allclose(with_class, np.exp(model.log_prior), rtol=1e-9)


def test_bernoulli_posteriors_match_enumeration():
    model = textodds.train(["a b", "a", "c"], ["x", "x", "y"], learner=BernoulliLearner())
    p = {"x": {"a": 3 / 4, "b": 2 / 4, "c": 1 / 4}, "y": {"a": 1 / 3, "b": 1 / 3, "c": 2 / 3}}
    prior = {"x": 2 / 3, "y": 1 / 3}
    for there in itertools.product([False, True], repeat=3):
        document = dict(zip("abc", there, strict=True))
        likelihood = {
            k: prior[k] * math.prod(p[k][w] if is_in else 1 - p[k][w] for w, is_in in document.items())
            for k in p
        }
        expected = [likelihood[k] / sum(likelihood.values()) for k in ("x", "y")]
        text = " ".join(word for word, is_in in document.items() if is_in)
        np.testing.assert_allclose(model.predict_proba([text])[0], expected, rtol=1e-12)


def test_complement_weights_by_hand():
    model = textodds.train(["a a b", "b c", "c"], ["x", "y", "z"], learner=ComplementLearner())
    # the words of all classes but x are b c c; of all but y a a b c; of all but z a a b b c
    expected = {"x": (1 / 6, 2 / 6, 3 / 6), "y": (3 / 7, 2 / 7, 2 / 7), "z": (3 / 8, 3 / 8, 2 / 8)}
    for v, word in enumerate("abc"):
        np.testing.assert_allclose(
            model.score([word])[0][0], [-math.log(expected[k][v]) for k in "xyz"], rtol=1e-12
        )


def twcnb(rows, labels, alpha):
    """Weights (K, V) after table 4 of Rennie et al. (2003), step by step; the smallest score wins."""
    d = rows.astype(float)  # (N, V)
    d = np.log(d + 1)
    d = d * np.log(len(rows) / (rows > 0).sum(axis=0))
    lengths = np.sqrt((d**2).sum(axis=1, keepdims=True))
    d = d / np.where(lengths > 0, lengths, 1)
    weights = []
    for label in sorted(set(labels)):
        others = d[np.array(labels) != label]
        theta = (others.sum(axis=0) + alpha) / (others.sum() + alpha * rows.shape[1])
        w = np.log(theta)
        weights.append(w / np.abs(w).sum())
    return np.array(weights)


@together
@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_transformed_weight_normalised_complement_is_table_4_of_rennie(classes, alpha):
    random = np.random.default_rng(classes)
    words = [f"w{i}" for i in range(40)]
    likes = random.dirichlet(np.full(40, 0.1), classes)
    labels = [f"c{k:02}" for k in np.arange(80) % classes]
    texts = [" ".join(random.choice(words, 15, p=likes[k % classes])) for k in range(80)]
    new = [" ".join(random.choice(words, 15)) for _ in range(30)]
    model = textodds.train(texts, labels, learner=ComplementLearner(alpha=alpha, norm=True, transform=True))
    weights = twcnb(model.rows(texts).toarray(), labels, alpha)
    costs = model.rows(new).toarray() @ weights.T  # the smallest wins
    np.testing.assert_allclose(model.score(new)[0], -costs, rtol=1e-10)
    assert model.predict(new).tolist() == [model.classes_[k] for k in costs.argmin(axis=1)]


def test_a_transformed_row_by_hand():
    rows = sparse.csr_array(np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]))
    got = transformed(rows, np.array([1.0, 2.0, 1.0]), 3.0).toarray()
    first = np.array([math.log(4) * math.log(3), math.log(2) * math.log(1.5), 0])
    np.testing.assert_allclose(got[0], first / math.hypot(*first), rtol=1e-12)
    np.testing.assert_array_equal(got[2], 0)
    np.testing.assert_array_equal(rows.toarray()[0], [3, 1, 0])
