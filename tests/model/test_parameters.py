"""Numbers of free parameters, against the formulas of books and against counting what can differ."""

import numpy as np
import pytest

import textodds
from pairs import together
from textodds import parameter_count

TEXTS = ["free phone free", "win a prize", "see you at six", "lunch at noon", "call me", "free lunch"] * 5
LABELS = ["spam", "spam", "ham", "ham", "work", "work"] * 5
K, V = 3, len({word for text in TEXTS for word in text.split()})


@together
@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        ("multinomial", K * (V - 1) + K - 1),
        ("bernoulli", K * V + K - 1),
        ("complement", K * (V - 1) + K - 1),
        ("softmax:ngrams=1:min_df=1", (K - 1) * (V + 1)),
        ("gaussian:min_df=1", 2 * K * V + K - 1),
        ("lda:min_df=1", K * V + V * (V + 1) // 2 + K - 1),
    ],
)
def test_of_texts(learner, expected):
    model = textodds.train(TEXTS, LABELS, learner=learner)
    assert parameter_count(model).n == expected


def rows(n=60, d=4):
    random = np.random.default_rng(0)
    table = {f"x{j}": random.normal(size=n) + np.arange(n) % 3 for j in range(d)}
    return table, [f"k{i % 3}" for i in range(n)]


@together
@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        ("gaussian", 2 * 3 * 4 + 2),
        ("lda", 3 * 4 + 4 * 5 // 2 + 2),
        ("qda", 3 * (4 + 4 * 5 // 2) + 2),
        ("softmax", 2 * (4 + 1)),
    ],
)
def test_of_numbers(learner, expected):
    assert parameter_count(textodds.train(*rows(), learner=learner)).n == expected


def test_the_lecture_s_hundred_features_take_about_five_thousand_numbers_a_class():
    table, labels = rows(240, 100)
    qda = parameter_count(textodds.train(table, labels, learner="qda:shrinkage=0.5")).n
    lda = parameter_count(textodds.train(table, labels, learner="lda:shrinkage=0.5")).n
    assert qda - 3 * 100 - 2 == 3 * 5050
    assert lda - 3 * 100 - 2 == 5050


def test_of_categories_and_of_their_full_table():
    random = np.random.default_rng(1)
    table = {f"c{j}": [f"v{v}" for v in random.integers(0, 2 + j, 200)] for j in range(3)}  # 2, 3, 4 values
    labels = [f"k{k}" for k in random.integers(0, 2, 200)]
    assert parameter_count(textodds.train(table, labels, learner="categorical")).n == 2 * (1 + 2 + 3) + 1
    assert parameter_count(textodds.train(table, labels, learner="table")).n == 2 * (2 * 3 * 4 - 1) + 1
    mixed = textodds.train(table | {"x": random.normal(size=200)}, labels, columns={"x": "gaussian"})
    assert parameter_count(mixed).n == 2 * (1 + 2 + 3) + 2 * 2 + 1


def test_a_softmax_has_as_many_as_change_its_probabilities():
    table, labels = rows(60, 2)
    model = textodds.train(table, labels, learner="softmax:C=1")
    own, batch = model.weights, np.array([table["x0"][:20], table["x1"][:20]]).T
    (numbers,) = own.features.parts
    z = np.hstack([(batch - numbers.mean) / numbers.scale, np.ones((20, 1))])

    def said(theta):
        scores = z @ theta.reshape(3, 3)
        return (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).ravel()

    at = np.vstack([own.weights, own.intercept]).ravel()
    jacobian = np.array([(said(at + 1e-6 * e) - said(at - 1e-6 * e)) / 2e-6 for e in np.eye(9)])
    assert np.linalg.matrix_rank(jacobian, tol=1e-6) == parameter_count(model).n
