"""Words that know their neighbours: vectors, prior, fold, and the choice where texts have no labels."""

import numpy as np
import pytest

import textodds
from pairs import together
from textodds.data import Batch
from textodds.errors import InputError, Unsupported
from textodds.learn.design import Plain
from textodds.learn.forms.linear import log_softmax
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.learn.word_vectors import Neighbours, made
from textodds.stats.compressed_rows import of_dense
from textodds.training.neighbours import NeighbourFit, recipe_of_neighbours


def texts_of(n, seed, size=8, topics=3, own=60):
    """Texts of topics, each with many words of its own, of which a text has a few."""
    random = np.random.default_rng(seed)
    codes = random.integers(topics, size=n)
    texts = [
        " ".join(
            [*(f"t{k}w{i}" for i in random.integers(own, size=size)), *random.choice(["of", "the", "a"], 3)]
        )
        for k in codes
    ]
    return texts, [f"topic {k}" for k in codes]


FEW = ([], [])
for k in range(3):
    texts, labels = texts_of(400, 1)
    some = [i for i, label in enumerate(labels) if label == f"topic {k}"][:6]
    FEW[0].extend(texts[i] for i in some)
    FEW[1].extend(labels[i] for i in some)
MORE = texts_of(800, 2)[0]
TEST = texts_of(500, 3)


def test_vectors_are_those_of_the_singular_value_decomposition():
    random = np.random.default_rng(0)
    matrix = random.normal(size=(60, 5)) @ random.normal(size=(5, 40))
    _, values, right = np.linalg.svd(matrix)
    expected = right[:4].T * np.sqrt(values[:4])
    got = made(of_dense(matrix), 4)
    np.testing.assert_allclose(got @ got.T, expected @ expected.T, atol=1e-9 * values[0])


@together
@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (1, 1), (2, 5)])
def test_few_texts_or_words_have_short_vectors(shape):
    assert made(of_dense(np.ones(shape)), 100).shape[0] == shape[1]


@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0])
def test_the_fold_scores_as_the_model_that_is_not_folded(strength):
    random = np.random.default_rng(1)
    rows = of_dense(random.random((50, 30)) * (random.random((50, 30)) < 0.3))
    labels = ["a", "b", "c", "a", "b"] * 10
    are_words = random.random(30) < 0.7
    neighbours = Neighbours.of(rows, are_words, 6)
    wide = neighbours.rows(rows, strength)
    fit = SoftmaxLearner(C=3.0, tolerance=1e-10).fit(wide.toarray(), labels)
    folded = neighbours.folded(fit.model, strength)
    assert folded.n_features == 30
    own, other = folded.scores(rows), fit.model.scores(wide)
    np.testing.assert_allclose(log_softmax(own), log_softmax(other), atol=1e-12)


def test_the_prior_is_a_gaussian_with_the_covariance_that_it_says():
    """The optimum of the wide rows is that of a quadratic penalty with the inverse covariance."""
    random = np.random.default_rng(2)
    dense = random.random((40, 6))
    labels = np.array(["no", "yes"])[(dense[:, 0] + 0.3 * random.random(40) > 0.6).astype(int)]
    neighbours = Neighbours.of(of_dense(dense), np.ones(6, bool), 3)
    C, s = 2.0, 1.5
    wide = neighbours.rows(of_dense(dense), s)
    fit = SoftmaxLearner(C=C, tolerance=1e-12).fit(wide.toarray(), labels.tolist())
    folded = neighbours.folded(fit.model, s)
    w = np.diff(folded.weights.rows(np.arange(6)), axis=1)[:, 0]
    bias = np.diff(folded.intercept + folded.log_prior)[0]
    E = s / neighbours.spread * neighbours.vectors
    p = 1 / (1 + np.exp(-(dense @ w + bias)))
    gradient = np.linalg.inv(np.eye(6) + E @ E.T) @ w + C * dense.T @ (p - (labels == "yes"))
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


def test_words_that_no_labelled_text_has_get_weights():
    model = textodds.train(*FEW, unlabelled=MORE, learner="softmax")
    alone = textodds.train(*FEW, learner="softmax", features="words")  # letters tell these topics apart
    seen = {word for text in FEW[0] for word in text.split()}
    new = next(word for text in MORE for word in text.split() if word.startswith("t1") and word not in seen)
    assert model(new).label == "topic 1"
    assert model(new).evidence > 0
    assert alone(new).evidence == 0 or alone(new).probability < model(new).probability
    why = model.explain(f"{new} of the")
    assert why.log_odds == pytest.approx(why.start + sum(word.log_odds for word in why.words) + why.remainder)


def test_unlabelled_texts_help_and_what_was_tried_is_said():
    asked = texts_of(500, 3, size=1)
    alone = textodds.train(*FEW, features="words").evaluate(*asked)  # letters tell these topics apart
    model = textodds.train(*FEW, unlabelled=MORE)
    found = model.evaluate(*asked)
    assert found.accuracy > alone.accuracy + 0.02
    assert found.log_loss < alone.log_loss
    tried = model.info["unlabelled"]["tried"]
    assert len(tried) == 3
    assert model.info["unlabelled"]["by"] == min(tried, key=lambda each: each[1])[0]
    assert model.info["unlabelled"]["documents"] == len(MORE)


def test_where_neighbours_mislead_the_prior_has_no_strength():
    """Topics are what words have in common, and the label is another thing."""
    random = np.random.default_rng(5)
    texts, labels = [], []
    for i in range(400):
        topic, label = random.integers(8), i % 2
        words = [
            *(f"t{topic}w{j}" for j in random.integers(20, size=15)),
            f"own{label}x{random.integers(12)}",
        ]
        texts.append(" ".join(words))
        labels.append(f"class {label}")
    recipe = recipe_of_neighbours(SoftmaxLearner(), {"ngrams": (1, 1)})
    fit = NeighbourFit.of([Batch(texts, labels, None)], [Batch(texts, None, None)], recipe, 1)
    assert fit.strength == 0
    assert dict(fit.tried)[0.0] < dict(fit.tried)[1.0]


def test_the_same_model_for_any_number_of_threads_and_in_its_file(tmp_path):
    one, two = (textodds.train(*FEW, unlabelled=MORE, learner="softmax", threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(TEST[0]), two.predict_proba(TEST[0]))
    one.save(tmp_path / "model.textodds")
    opened = textodds.load(tmp_path / "model.textodds", check=True)
    np.testing.assert_array_equal(one.predict_proba(TEST[0]), opened.predict_proba(TEST[0]))
    for each in (one, opened):
        each.learn("t1w1 t1w2", "topic 1")
    np.testing.assert_array_equal(one.predict_proba(TEST[0]), opened.predict_proba(TEST[0]))
    one.save(tmp_path / "small.textodds", documents=False)
    with pytest.raises(Unsupported, match="cannot be updated without its documents"):
        textodds.load(tmp_path / "small.textodds").learn("t1w1", "topic 1")


def test_a_hundred_labels_calibrate_it():
    texts, labels = texts_of(150, 7, size=2)
    model = textodds.train(texts, labels, unlabelled=MORE)
    assert model.held_out is not None
    assert len(model.held_out) == 150


def test_one_class_is_left_to_em():
    model = textodds.train(["free phone", "free prize"], ["spam", "spam"], unlabelled=["a phone"])
    assert model.recipe.learner.entry.name == "semisupervised"
    with pytest.raises(InputError, match="one class"):
        textodds.train(["free phone"], ["spam"], unlabelled=["a phone"], learner="softmax")


def test_rows_without_strength_are_as_they_were():
    rows = of_dense(np.eye(3))
    neighbours = Neighbours.of(rows, np.ones(3, bool), 2)
    assert Plain(neighbours.rows(rows, 0.0)).matrix is rows
