"""Naive Bayes read as softmax regression and back, and where a model is undecided."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import textodds
from pairs import together
from row_counts import counts_of_rows
from textodds.errors import InputError, Unsupported
from textodds.learn.forms.equivalence import naive_bayes_parameters, softmax_parameters
from textodds.learn.forms.linear import LinearModel, Weights, log_softmax
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner, fit
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner

LEARNERS = {
    "multinomial": MultinomialLearner(alpha=0.3),
    "binary": MultinomialLearner(binary=True, prior="uniform"),
    "bernoulli": BernoulliLearner(),
    "complement": ComplementLearner(),
}


def counts(seed, classes, n=40, features=15):
    """Random rows of counts, and labels that cover all classes."""
    random = np.random.default_rng(seed)
    own = random.gamma(0.3, 3.0, (classes, features))
    codes = np.concatenate([np.arange(classes), random.integers(0, classes, n - classes)])
    return random.poisson(own[codes]).astype(float), [f"c{k:02}" for k in codes]


def naive_bayes(learner, classes, seed=0):
    """A fitted model and rows to ask it about, some of them empty."""
    rows, labels = counts(seed, classes)
    model = fit(LEARNERS[learner], counts_of_rows(rows, labels))
    new, _ = counts(seed + 1, classes)
    return model, np.vstack([new, np.zeros((1, new.shape[1]))])


def linear(weights, bias=None):
    """A linear model with these weights (V, K)."""
    K = weights.shape[1]
    bias = np.zeros(K) if bias is None else bias
    return LinearModel(
        tuple(f"c{k}" for k in range(K)), np.full(K, -np.log(K)), bias, Weights.of_matrix(weights)
    )


@together
@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("learner", LEARNERS)
def test_softmax_parameters_give_the_probabilities_of_naive_bayes(learner, classes):
    model, rows = naive_bayes(learner, classes)
    seen = (rows > 0).astype(float) if model.presence else rows
    expected = model.log_posterior(rows)
    for reference in (None, *model.classes):
        weights, bias = softmax_parameters(model, reference)
        np.testing.assert_allclose(log_softmax(seen @ weights + bias), expected, rtol=1e-10, atol=1e-10)
        if reference is None:
            np.testing.assert_allclose(weights.sum(axis=1), 0, rtol=0, atol=1e-11)
            assert abs(bias.sum()) < 1e-10
        else:
            k = model.classes.index(reference)
            assert not weights[:, k].any()
            assert bias[k] == 0


def with_parameters(model, weights, bias):
    """The linear model with these parameters, and the prior of ``model``."""
    return replace(model, intercept=bias - model.log_prior, weights=Weights.of_matrix(weights))


@together
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_with_the_parameters_of_another_is_that_other(learner, classes):
    model, rows = naive_bayes(learner, classes)
    for reference in (None, "c01"):
        twin = with_parameters(model, *softmax_parameters(model, reference))
        np.testing.assert_allclose(
            twin.log_posterior(rows), model.log_posterior(rows), rtol=1e-10, atol=1e-10
        )
        np.testing.assert_array_equal(twin.log_prior, model.log_prior)
        assert (twin.presence, twin.is_posterior) == (model.presence, model.is_posterior)


def test_two_classes_against_a_reference_are_log_odds():
    """By hand: θ of ham is (3/4, 1/4), of spam (1/3, 2/3)."""
    model = fit(MultinomialLearner(), counts_of_rows([[2, 0], [0, 1]], ["ham", "spam"]))
    weights, bias = softmax_parameters(model, "ham")
    np.testing.assert_allclose(np.exp(weights[:, 1]), [(1 / 3) / (3 / 4), (2 / 3) / (1 / 4)], rtol=1e-12)
    np.testing.assert_allclose(bias, [0, 0], atol=1e-15)


def test_an_unknown_reference_is_refused():
    model, _ = naive_bayes("multinomial", 3)
    with pytest.raises(InputError, match="there is no class `c99`"):
        softmax_parameters(model, "c99")


def is_naive_bayes(model, log_theta, log_pi, rows):
    """The columns are distributions, and the posteriors those of the model."""
    np.testing.assert_allclose(np.exp(log_theta).sum(axis=0), 1, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.exp(log_pi).sum(), 1, rtol=0, atol=1e-12)
    seen = (rows > 0).astype(float) if model.presence else rows
    np.testing.assert_allclose(
        log_softmax(seen @ log_theta + log_pi), model.log_posterior(rows), rtol=1e-9, atol=1e-8
    )


@pytest.mark.slow
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    classes=st.integers(2, 6),
    features=st.integers(1, 30),
    strength=st.sampled_from([0.01, 0.5, 2.0, 5.0]),
)
@example(seed=125, classes=6, features=25, strength=0.01)
@example(seed=251, classes=6, features=15, strength=5.0)
def test_any_weights_become_naive_bayes_exactly_where_that_can_be(seed, classes, features, strength):
    """It can be where factors m > 0 solve Σ_v m_v e^{w_vk} = 1: the largest smallest m tells."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(features, classes)) * strength
    model = linear(weights, random.normal(size=classes))
    e = np.exp(weights - weights.mean(axis=1, keepdims=True))
    found = linprog(  # m = s + t, t as large as it can be
        np.append(np.zeros(features), -1.0),
        A_eq=np.hstack([e.T, e.sum(axis=0)[:, None]]),
        b_eq=np.ones(classes),
        bounds=[(0, None)] * features + [(None, None)],
        method="highs",
    )
    possible = found.status == 0 and found.x[-1] > 1e-4
    impossible = found.status == 2 or (found.status == 0 and found.x[-1] < -1e-6)
    rows = random.poisson(0.7, (20, features)).astype(float)
    if impossible:
        with pytest.raises(Unsupported, match="no naive Bayes model has these weights"):
            naive_bayes_parameters(model)
    elif possible:
        is_naive_bayes(model, *naive_bayes_parameters(model), rows)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    classes=st.integers(2, 6),
    features=st.integers(2, 200),
    spread=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_weights_that_are_distributions_in_disguise_are_unmasked(seed, classes, features, spread):
    """Distributions, every word's row shifted by what it likes: some m makes distributions of them again."""
    random = np.random.default_rng(seed)
    theta = random.dirichlet(np.full(features, spread), classes).T + 1e-4
    theta /= theta.sum(axis=0)
    weights = np.log(theta) + random.normal(size=(features, 1))
    model = linear(weights, random.normal(size=classes))
    rows = random.poisson(0.7, (20, features)).astype(float)
    is_naive_bayes(model, *naive_bayes_parameters(model), rows)


@together
@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("learner", ["multinomial", "binary"])
def test_naive_bayes_through_softmax_and_back_has_the_same_posteriors(learner, classes):
    model, rows = naive_bayes(learner, classes)
    there = with_parameters(model, *softmax_parameters(model))
    is_naive_bayes(model, *naive_bayes_parameters(there), rows)


def test_a_softmax_model_of_texts_is_a_naive_bayes_model():
    texts = ["free phone", "free prize now", "see you at six", "see you now", "phone me", "prize"]
    labels = ["spam", "spam", "ham", "ham", "ham", "spam"]
    model = textodds.train(texts, labels, learner=SoftmaxLearner(C=10.0), min_df=1)
    is_naive_bayes(model.linear, *naive_bayes_parameters(model.linear), model.rows(texts).toarray())


@pytest.mark.parametrize(
    "weights",
    [
        [[-1.0, 1.0], [-2.0, 2.0]],
        [[0.5, -0.25, -0.25], [2.0, -1.0, -1.0], [1.0, 0.0, -1.0]],
        [[0.0, 1e-3]],
    ],
    ids=["both for one", "three classes", "one word"],
)
def test_words_that_all_speak_for_one_class_are_no_naive_bayes_model(weights):
    with pytest.raises(Unsupported, match="no naive Bayes model has these weights"):
        naive_bayes_parameters(linear(np.array(weights)))


def test_words_that_say_nothing_are_a_naive_bayes_model_of_one_distribution():
    log_theta, log_pi = naive_bayes_parameters(linear(np.zeros((4, 3)), np.array([1.0, 2.0, 3.0])))
    np.testing.assert_allclose(np.exp(log_theta), 0.25, rtol=1e-9)
    np.testing.assert_allclose(log_pi, log_softmax(np.array([1.0, 2.0, 3.0])), rtol=1e-12)


def test_no_words_are_no_naive_bayes_model():
    with pytest.raises(Unsupported, match="without words"):
        naive_bayes_parameters(linear(np.zeros((0, 2))))


# Where a model is undecided.

TEXTS = [
    "free phone free",
    "see you at six",
    "train at platform nine",
    "free prize now",
    "you and me",
    "platform six at nine",
]
LABELS = ["spam", "ham", "travel", "spam", "ham", "travel"]
MODELS = {
    **LEARNERS,
    "softmax": SoftmaxLearner(C=5.0),
    "nb-softmax": NBSoftmaxLearner(C=5.0),
}


def trained(learner, classes):
    kept = [i for i, label in enumerate(LABELS) if classes == 3 or label != "travel"]
    options = {"min_df": 1, "ngrams": (1, 2), "calibrate": False}
    return textodds.train(
        [TEXTS[i] for i in kept], [LABELS[i] for i in kept], learner=MODELS[learner], **options
    )


@together
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", MODELS)
def test_a_hyperplane_is_the_difference_of_two_scores(learner, classes):
    model = trained(learner, classes)
    texts = [*TEXTS, "", "free free free six", "unheard of"]
    rows, scores = model.rows(texts), model.score(texts)[0]
    if model.linear.presence:
        rows = (rows > 0).astype(float)
    for label in model.classes_:
        for rival in model.classes_:
            if label == rival:
                continue
            plane = model.hyperplane(label, rival, n=None)
            assert (plane.label, plane.rival) == (label, rival)
            weight = dict(plane.words)
            assert sorted(weight) == sorted(model.vocabulary.words())
            along = np.array([weight[word] for word in model.vocabulary.words()])
            a, b = model.classes_.index(label), model.classes_.index(rival)
            np.testing.assert_allclose(
                plane.bias + rows @ along, scores[:, a] - scores[:, b], rtol=1e-10, atol=1e-10
            )


@together
@pytest.mark.parametrize("learner", MODELS)
def test_the_words_of_a_hyperplane_stand_strongest_first(learner):
    model = trained(learner, 3)
    every = model.hyperplane("spam", "ham", n=None).words
    sizes = [abs(weight) for _, weight in every]
    assert sizes == sorted(sizes, reverse=True)
    for n in (0, 1, 5, len(every), 10 * len(every)):
        assert model.hyperplane("spam", "ham", n=n).words == every[:n]


def test_positive_words_speak_for_the_label_and_the_other_way_round_for_the_rival():
    model = trained("softmax", 3)
    here, there = model.hyperplane("spam", "ham", n=None), model.hyperplane("ham", "spam", n=None)
    assert dict(here.words)["free"] > 0 > dict(here.words)["you"]
    assert here.bias == -there.bias
    assert dict(here.words) == {word: -weight for word, weight in there.words}


def test_the_strongest_of_many_words_are_found_whatever_part_of_the_vocabulary_they_are_in():
    """Weights are looked at in parts of 65,536 words."""
    words = [f"w{i}" for i in range(70_000)]
    random = np.random.default_rng(0)
    chosen = random.choice(70_000, 40, replace=False)
    loud = " ".join(
        f"w{i} " * int(times) for i, times in zip(chosen, random.integers(5, 99, 40), strict=True)
    )
    model = textodds.train([f"{loud} {' '.join(words)}", " ".join(words)], ["a", "b"])
    assert len(model.vocabulary) > 65_536
    plane = model.hyperplane("a", "b", n=30)
    weights = model.linear.weights.rows(np.arange(len(model.vocabulary)))
    odds = weights[:, 0] - weights[:, 1]
    strongest = sorted(range(len(odds)), key=lambda v: (-abs(odds[v]), v))[:30]
    names = model.vocabulary.words()
    assert plane.words == tuple((names[v], odds[v]) for v in strongest)


def test_a_hyperplane_needs_two_classes_that_are_there():
    model = trained("multinomial", 3)
    with pytest.raises(InputError, match="`spam` cannot be its own rival"):
        model.hyperplane("spam", "spam")
    with pytest.raises(InputError, match="there is no class `hamm`; did you mean `ham`"):
        model.hyperplane("spam", "hamm")


def test_a_hyperplane_can_be_read():
    plane = trained("softmax", 2).hyperplane("spam", "ham", n=2)
    shown = str(plane).splitlines()
    assert shown[0].startswith("spam (+) or ham (-)")
    begun = plane.start.lines
    assert [name for name, _ in begun] == ["class prior", "intercept"]
    for (name, odds), line in zip(begun, shown[1:], strict=False):
        assert line.split(maxsplit=1) == [f"{odds:+.4f}", name]
    assert sum(odds for _, odds in begun) == pytest.approx(plane.bias)
    assert [line.rsplit(None, 1)[-1] for line in shown[3:]] == [word.split()[-1] for word, _ in plane.words]
