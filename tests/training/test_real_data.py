"""Real data: scikit-learn's numbers, and the accuracies that were measured with it."""

import numpy as np
import pytest
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer

import textodds
from textodds import TextSettings
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner

pytestmark = pytest.mark.realdata

# MNB and BNB columns of the reference table that comes with the data.
ACCURACIES = {"sms_spam": (98.65, 98.03), "mr": (76.79, 77.01), "reuters_r8": (95.16, 79.90)}


@pytest.fixture(scope="module", params=ACCURACIES)
def data(request, real_data):
    """Name, train and test of a data set, and its rows by scikit-learn."""
    train, test = real_data(request.param)
    vectorizer = CountVectorizer().fit(train[0])
    return request.param, train, test, vectorizer.transform(train[0]), vectorizer.transform(test[0])


@pytest.mark.parametrize(
    ("learner", "reference"),
    [
        (MultinomialLearner(1.0), naive_bayes.MultinomialNB()),
        (BernoulliLearner(1.0), naive_bayes.BernoulliNB()),
        (ComplementLearner(1.0), naive_bayes.ComplementNB()),
        (ComplementLearner(norm=True), naive_bayes.ComplementNB(norm=True)),
    ],
    ids=["multinomial", "bernoulli", "complement", "complement-norm"],
)
def test_real_texts_give_scikit_learns_numbers(data, learner, reference):
    _, train, test, rows, new = data
    model = textodds.train(*train, learner=learner, calibrate=False, settings=TextSettings.sklearn())
    reference.fit(rows, train[1])
    expected = reference.predict_joint_log_proba(new)
    scores = model.score(test[0])[0]
    differences = scores - scores[:, :1], expected - expected[:, :1]
    # Relative to the sums that a difference is taken of.
    np.testing.assert_allclose(*differences, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(model.predict_proba(test[0]), reference.predict_proba(new), rtol=0, atol=1e-10)
    assert model.predict(test[0]).tolist() == reference.predict(new).tolist()


@pytest.mark.parametrize(
    ("learner", "column"), [(MultinomialLearner(1.0), 0), (BernoulliLearner(1.0), 1)], ids=["MNB", "BNB"]
)
def test_real_texts_give_the_accuracy_of_the_reference_table(data, learner, column):
    name, train, test, _, _ = data
    model = textodds.train(*train, learner=learner, calibrate=False, settings=TextSettings.sklearn())
    evaluation = model.evaluate(*test)
    assert evaluation.n == len(test[0])
    assert abs(100 * evaluation.accuracy - ACCURACIES[name][column]) < 0.01


def test_real_texts_give_the_same_tally_in_any_order_and_number_of_threads(data):
    _, (texts, labels), _, _, _ = data
    order = np.random.default_rng(0).permutation(len(texts))
    whole = textodds.Tally.of(texts, labels, threads=1)
    shuffled = textodds.Tally.of([texts[i] for i in order], [labels[i] for i in order], threads=2)
    assert whole == shuffled
    half = len(texts) // 2
    assert whole - textodds.Tally.of(texts[half:], labels[half:]) == textodds.Tally.of(
        texts[:half], labels[:half]
    )
