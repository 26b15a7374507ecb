"""A prior in every form, of every generative estimator: as in training, alike, in order, by label."""

import numpy as np
import pytest

from pairs import in_turn, together
from textodds import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    SemiSupervisedNB,
)
from textodds.errors import InputError

KINDS = [
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    SemiSupervisedNB,
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def parameter(kind):
    return "priors" if "priors" in kind().get_params() else "class_prior"


def rows(K=3, N=90):
    random = np.random.default_rng(5)
    y = random.choice(K, N, p=[0.5, 0.3, 0.2])
    return (random.integers(0, 4, (N, 3)) + y[:, None]), y


def joint(model, X):
    """``log p(x, k)`` up to a constant by row, before any calibration."""
    scores = model.log_joint(X)
    return scores - scores[:, :1]


@every_kind
def test_uniform_is_the_array_of_equal_shares_and_data_the_default(kind):
    X, y = rows()
    name = parameter(kind)
    uniform, equal = (kind(**{name: given}).fit(X, y) for given in ("uniform", np.full(3, 1 / 3)))
    np.testing.assert_allclose(uniform.predict_proba(X), equal.predict_proba(X), rtol=1e-9)
    data, usual = (kind(**{name: given}).fit(X, y) for given in ("data", None))
    np.testing.assert_array_equal(data.predict_proba(X), usual.predict_proba(X))


@every_kind
def test_a_dict_by_label_is_the_array_in_their_order(kind):
    X, y = rows()
    name, labels = parameter(kind), np.array([10, 2, 30])
    shares = {10: 0.1, 30: 0.2, 2: 0.7}
    named, ordered = (kind(**{name: given}).fit(X, labels[y]) for given in (shares, [0.7, 0.1, 0.2]))
    np.testing.assert_array_equal(named.predict_proba(X), ordered.predict_proba(X))
    assert named.learner().prior == {"10": 0.1, "30": 0.2, "2": 0.7}


@together
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not SemiSupervisedNB])
def test_a_prior_shifts_the_log_joint_by_its_own_logarithm(kind):
    """By hand: ``log p(x, k)`` under another prior differs by ``log π'_k - log π_k``, whatever the row."""
    X, y = rows()
    other = np.array([0.2, 0.3, 0.5])
    before, after = (kind(**{parameter(kind): given}).fit(X, y) for given in ("uniform", other))
    expected = np.log(other) - np.log(other[0])
    np.testing.assert_allclose(
        joint(after, X) - joint(before, X), np.tile(expected, (len(X), 1)), rtol=1e-8, atol=1e-8
    )


@together
@in_turn(2)
@every_kind
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("unifrom", "unknown prior 'unifrom'; did you mean `uniform`"),
        ([0.5, 0.5], "2 priors for 3 classes"),
        ({0: 0.5, 1: 0.5}, "has nothing for 2"),
        ({0: 0.5, 1: 0.3, 2: 0.1, 3: 0.1}, "has 3, which is not a class"),
        ([1.5, -0.5, 0.0], "non-negative"),
    ],
    ids=str,
)
def test_what_is_no_prior_is_refused(kind, given, message):
    X, y = rows()
    if kind in (MixedNB, SemiSupervisedNB) and isinstance(given, dict):
        message = "the prior names"  # as the learner says it, which is asked first
    with pytest.raises(InputError, match=message):
        kind(**{parameter(kind): given}).fit(X, y)


@together
@every_kind
def test_an_array_has_no_learner_before_the_classes_are_known(kind):
    with pytest.raises(InputError, match="order of the classes") as caught:
        kind(**{parameter(kind): [0.5, 0.5]}).learner()
    assert f"{parameter(kind)}={{'ham': 0.9" in caught.value.hint
    assert kind(**{parameter(kind): "uniform"}).learner().prior == "uniform"
