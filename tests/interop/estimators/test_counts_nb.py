"""Naive Bayes of rows of counts: scikit-learn's numbers, and batches that add up to the whole."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from in_batches import learn_on
from scipy import sparse
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import textodds
from pairs import in_turn, together
from row_counts import counts_of_rows
from textodds.errors import BadWeight, InputError, NegativeCount, NoData, TextoddsWarning, Unsupported
from textodds.interop.estimators import BernoulliNB, ComplementNB, MultinomialNB
from textodds.interop.estimators.word_counts import NotBinary
from textodds.interop.labels import distinct
from textodds.learn import naive_bayes as ours

KINDS = [MultinomialNB, BernoulliNB, ComplementNB]
CONTAINERS = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "list": np.ndarray.tolist,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "int64 indices": lambda X: long_indices(sparse.csr_matrix(X)),
    "unsorted": lambda X: backwards(sparse.csr_matrix(X)),
    "float64": lambda X: sparse.csr_matrix(X, dtype=np.float64),
    "float32": lambda X: sparse.csr_matrix(X, dtype=np.float32),
    "int32": lambda X: sparse.csr_matrix(X, dtype=np.int32),
    "uint8": lambda X: sparse.csr_matrix(X, dtype=np.uint8),
    "dense float32": lambda X: X.astype(np.float32),
    "dense float64": lambda X: X.astype(np.float64),
}


def long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def backwards(X):
    """The same rows, each with its columns in descending order."""
    order = np.concatenate(
        [np.arange(b - 1, a - 1, -1) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    )
    order = order.astype(np.intp)
    return sparse.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def theirs(model):
    """scikit-learn's estimator with the same choices."""
    choices = model.get_params()
    for own in ("binary", "transform"):
        choices.pop(own, None)
    return getattr(naive_bayes, type(model).__name__)(**choices)


def close(got, expected, tolerance=1e-10):
    """Equal relative to the largest finite magnitude, and infinite where the other is."""
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * scale)


ATTRIBUTES = ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"]


def agree(ours, reference, X):
    """The same attributes, scores and probabilities, and the same answers but for ties."""
    for name in ATTRIBUTES + ["feature_all_"] * isinstance(ours, ComplementNB):
        close(getattr(ours, name), getattr(reference, name))
    np.testing.assert_array_equal(ours.classes_, reference.classes_)
    joint = reference.predict_joint_log_proba(X)
    close(ours.predict_joint_log_proba(X), joint)
    close(ours.predict_proba(X), reference.predict_proba(X))
    close(ours.predict_log_proba(X), reference.predict_log_proba(X))
    chosen = joint[np.arange(len(joint)), np.searchsorted(ours.classes_, ours.predict(X))]
    close(chosen, joint.max(axis=1), 1e-9)


@st.composite
def labelled_counts(draw, weighted=True):
    """Rows of counts, labels of one class or more, and weights or None."""
    N, V, K = draw(st.integers(1, 14)), draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 3, 5, 9]))
    X = draw(arrays(np.int64, (N, V), elements=st.integers(0, 5)))
    y = draw(arrays(np.int64, N, elements=st.integers(0, K - 1)))
    u = draw(st.none() | arrays(np.float64, N, elements=st.sampled_from([0.0, 0.25, 1 / 3, 1.0, 2.5, 90.0])))
    return X, y, u if weighted and (u is None or u.any()) else None


models = st.one_of(
    st.builds(MultinomialNB, alpha=st.sampled_from([0.01, 1, 7.5]), fit_prior=st.booleans()),
    st.builds(
        BernoulliNB,
        alpha=st.sampled_from([0.01, 1.0, 7.5]),
        fit_prior=st.booleans(),
        binarize=st.sampled_from([0.0, 1, 2.5]),
    ),
    st.builds(ComplementNB, alpha=st.sampled_from([0.01, 1.0, 7.5]), norm=st.booleans()),
)


@given(models, labelled_counts(), st.sampled_from(list(CONTAINERS)))
def test_the_numbers_are_those_of_scikit_learn(model, data, container):
    X, y, u = data
    if isinstance(model, ComplementNB) and model.norm and X.shape[1] == 1:
        return  # nothing to normalise by: scikit-learn gives NaN
    rows = CONTAINERS[container](X)
    agree(model.fit(rows, y, u), theirs(model).fit(X, y, u), rows)


def many(classes, seed=0, N=300, V=50):
    """Counts of some classes, and weights."""
    random = np.random.default_rng([classes, seed])
    means = random.gamma(0.4, 2.0, (classes, V))
    y = np.concatenate([np.arange(classes), random.integers(0, classes, N - classes)])
    return random.poisson(means[y]), y, random.gamma(2.0, 1.0, N)


@together
@in_turn(3)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("classes", [1, 2, 4, 7, 20])
@pytest.mark.parametrize(
    "model", [MultinomialNB(), BernoulliNB(binarize=1.0), ComplementNB(norm=True)], ids=str
)
def test_every_container_and_number_of_classes_gives_scikit_learns_numbers(model, classes, container):
    X, y, u = many(classes)
    rows = CONTAINERS[container](X)
    for weights in (None, u):
        agree(clone(model).fit(rows, y, weights), theirs(model).fit(X, y, weights), rows)


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "choices",
    [
        {"class_prior": [0.1, 0.2, 0.7]},
        {"fit_prior": False},
        {"alpha": np.linspace(0.1, 3, 50)},
    ],
    ids=str,
)
def test_choices_are_those_of_scikit_learn(kind, choices):
    X, y, u = many(3)
    model = kind(**choices)
    if kind is BernoulliNB and np.ndim(model.alpha):
        return  # not broadcast there, see below
    agree(model.fit(X, y, u), theirs(model).fit(X, y, u), X)


@together
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("alpha", [1e-14, 1e-9])
def test_a_small_alpha_keeps_all_digits(alpha, force):
    """As those of scikit-learn, or, where these lose digits, as those of the formulas in long doubles."""
    X, y, u = many(3)
    X[:, 7] = X[y != 2, 8] = X[y == 2, 9] = 0
    X[y == 0, 9] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = [kind(alpha=alpha, force_alpha=force).fit(X, y, u) for kind in KINDS]
        multinomial, bernoulli = (theirs(model).fit(X, y, u) for model in ours[:2])
    agree(ours[0], multinomial, X)
    close(ours[1].feature_log_prob_, bernoulli.feature_log_prob_)
    a = np.longdouble(alpha if force else max(alpha, 1e-10))
    held, n = (
        ours[1].feature_count_.astype(np.longdouble),
        ours[1].class_count_.astype(np.longdouble)[:, None],
    )
    there = (X > 0)[:, None]
    joint = np.log(np.where(there, held + a, n - held + a) / (n + 2 * a)).sum(axis=2)
    close(ours[1].predict_joint_log_proba(X), (joint + np.log(n / n.sum())[:, 0]).astype(np.float64))
    others = np.stack([np.delete(ours[2].feature_count_, k, axis=0).sum(axis=0) for k in range(3)]) + a
    w = -np.log(others / others.sum(axis=1, keepdims=True))
    close(ours[2].feature_log_prob_, w.astype(np.float64))


def test_bernoulli_takes_an_alpha_per_column():
    X, y, u = many(3)
    alpha = np.linspace(0.1, 3, 50)
    model = BernoulliNB(alpha=alpha).fit(sparse.csr_array(X), y, u)
    held = np.stack([((X > 0) * u[:, None])[y == k].sum(axis=0) for k in range(3)])
    p = (held + alpha) / (np.bincount(y, u)[:, None] + 2 * alpha)
    close(np.exp(model.feature_log_prob_), p)
    there = (X > 0)[:, None]
    joint = np.log(np.where(there, p, 1 - p)).sum(axis=2) + np.log(np.bincount(y, u) / u.sum())
    close(model.predict_joint_log_proba(X), joint)
    each = [BernoulliNB(alpha=a).fit(X[:, [v]], y, u).feature_log_prob_ for v, a in enumerate(alpha)]
    close(model.feature_log_prob_, np.hstack(each))


def test_binary_counts_a_word_once_a_row():
    X, y, u = many(3)
    model = MultinomialNB(binary=True).fit(X, y, u)
    agree(model, naive_bayes.MultinomialNB().fit(X > 0, y, u), X > 0)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X > 0))
    assert np.abs(model.feature_log_prob_ - MultinomialNB().fit(X, y, u).feature_log_prob_).max() > 0.1


@pytest.mark.parametrize(
    "model", [MultinomialNB(binary=True), BernoulliNB(binarize=2.0), MultinomialNB()], ids=str
)
def test_a_cell_that_is_stored_in_parts_is_one_cell(model):
    in_parts = sparse.csr_matrix(([2, 1, 1, 1, 3], [0, 1, 1, 1, 0], [0, 4, 5]), shape=(2, 3))
    before = in_parts.copy()
    whole = in_parts.toarray()  # [[2, 3, 0], [3, 0, 0]]
    got = clone(model).fit(in_parts, [0, 1])
    np.testing.assert_array_equal(got.feature_count_, clone(model).fit(whole, [0, 1]).feature_count_)
    np.testing.assert_allclose(got.predict_proba(in_parts), got.predict_proba(whole), rtol=1e-12)
    assert in_parts.nnz == before.nnz == 5


@together
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.int8])
@pytest.mark.parametrize("classes", [2, 6])
def test_sums_of_whole_numbers_do_not_overflow(dtype, classes):
    most = np.iinfo(dtype).max
    X = np.full((60, 2), most, dtype=dtype)
    for rows in (X, sparse.csr_matrix(X)):
        model = MultinomialNB().fit(rows, np.arange(60) % classes)
        np.testing.assert_allclose(model.feature_count_, float(most) * (60 // classes), rtol=1e-12)


@given(labelled_counts(weighted=False), st.sampled_from(KINDS), st.data())
def test_batches_equal_the_whole_to_the_last_bit(data, kind, more):
    X, y, _ = data
    weights = more.draw(st.none() | arrays(np.float64, len(y), elements=st.sampled_from([1.0, 2.0, 0.5])))
    cuts = sorted(more.draw(st.lists(st.integers(0, len(y)), max_size=4)))
    order = more.draw(st.permutations(range(len(y))))
    whole = kind().fit(X, y, weights)
    batches = kind()
    for a, b in zip([0, *cuts], [*cuts, len(y)], strict=True):
        if b > a:
            rows = list(order[a:b])
            made = more.draw(st.sampled_from([np.asarray, sparse.csr_matrix]))(X[rows])
            learn_on(batches, made, y[rows], sample_weight=None if weights is None else weights[rows])
            batches.predict(X)
    np.testing.assert_array_equal(batches.classes_, whole.classes_)
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(batches, name), getattr(whole, name))
    np.testing.assert_array_equal(batches.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_may_come_in_any_later_batch_undeclared(kind):
    X, y, _ = many(20)
    names = np.array([f"class {k}" for k in range(20)])
    order = np.argsort(-y, kind="stable")
    model = kind()
    for part in np.array_split(order, 7):
        learn_on(model, sparse.csr_matrix(X[part]), names[y[part]])
    assert model.classes_.tolist() == sorted(names)
    agree(model, theirs(model).fit(X, names[y]), X)


@together
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choices", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}], ids=str)
def test_a_declared_class_without_rows_has_scikit_learns_numbers(kind, choices):
    X, y, _ = many(2)
    model = kind(**choices).partial_fit(X, 2 * y, classes=[0, 1, 2])
    agree(model, theirs(model).partial_fit(X, 2 * y, classes=[0, 1, 2]), X)
    assert model.class_count_[1] == 0
    if not choices:
        assert model.class_log_prior_[1] == -np.inf
        assert kind is ComplementNB or not model.predict_proba(X)[:, 1].any()
    model.partial_fit(X[:50], np.ones(50, dtype=int))
    assert model.class_count_[1] == 50
    assert model.predict_proba(X)[:, 1].all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_whose_rows_weigh_nothing_has_scikit_learns_numbers(kind):
    X, y, u = many(4)
    u = np.where(y == 1, 0.0, u)
    agree(kind().fit(X, y, u), naive_bayes.__dict__[kind.__name__]().fit(X, y, u), X)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_all_weigh_nothing_are_refused(kind):
    with pytest.raises(NoData, match="no row has a weight above zero"):
        kind().fit([[1, 0], [0, 1]], [0, 1], [0.0, 0.0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_class_is_always_the_answer(kind):
    for alpha in (1.0, 0.0):
        model = kind(alpha=alpha).fit([[1, 0], [2, 0]], ["only", "only"])
        assert model.predict([[0, 3], [1, 1]]).tolist() == ["only", "only"]
        np.testing.assert_array_equal(model.predict_proba([[0, 3]]), [[1.0]])


def test_weights_of_a_single_column_are_normalised_by_nothing():
    model = ComplementNB(norm=True).fit([[1], [2], [0]], ["a", "b", "b"])
    assert model.feature_log_prob_.tolist() == [[0.0], [0.0]]
    np.testing.assert_array_equal(model.predict_proba([[3]]), [[0.5, 0.5]])


def test_without_smoothing_the_class_with_the_fewest_impossible_words_wins():
    X = [[3, 1, 0, 0], [0, 1, 2, 0], [0, 1, 1, 2]]
    for rows in (np.array(X), sparse.csr_matrix(X)):
        model = MultinomialNB(alpha=0).fit(rows, ["a", "b", "c"])
        assert np.isfinite(model.feature_log_prob_).all()
        asked = np.array([[0, 0, 0, 1], [2, 0, 1, 1], [1, 0, 2, 0], [5, 0, 0, 0]])
        # impossible words: a 1, b 1, c 0; a 2, b 3, c 2; a 2, b 1, c 1; a 0, b 5, c 5
        assert model.predict(asked)[[0, 2, 3]].tolist() == ["c", "b", "a"]
        assert model.predict(asked)[1] in ("a", "c")
        P = model.predict_proba(asked)
        assert np.isfinite(P).all()
        np.testing.assert_allclose(P.sum(axis=1), 1)
        np.testing.assert_array_equal(P[3], [1, 0, 0])


@given(labelled_counts(), st.sampled_from(KINDS))
def test_without_smoothing_nothing_is_infinite_nor_missing(data, kind):
    X, y, u = data
    model = kind(alpha=0.0).fit(X, y, u)
    assert np.isfinite(model.feature_log_prob_).all()
    P = model.predict_proba(X)
    assert ((P >= 0) & (P <= 1)).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_any_word_is_the_limit_of_little_smoothing(kind):
    X, y = [[2, 1, 0], [0, 1, 3], [0, 0, 0]], ["a", "b", "empty"]
    none, little = (
        kind(alpha=alpha, norm=True) if kind is ComplementNB else kind(alpha=alpha) for alpha in (0, 1e-200)
    )
    asked = [[1, 1, 0], [0, 0, 1], [1, 0, 2], [0, 0, 0]]
    np.testing.assert_array_equal(none.fit(X, y).predict(asked), little.fit(X, y).predict(asked))


@given(labelled_counts(), models, st.booleans())
def test_the_learner_makes_the_same_model_of_the_same_counts(data, model, unsmoothed):
    """The formulas of full tables and those of cells are the same."""
    X, y, u = data
    u = np.ones(len(y)) if u is None else u
    words = np.array([(X[y == k] * u[y == k, None]).any() for k in y])
    X, y, u = X[words], y[words], u[words]  # classes with words: of others see above
    if len(np.unique(y)) < 2:  # so that every class has others with words, too
        return
    if isinstance(model, BernoulliNB):
        model.set_params(binarize=0.0)
    if unsmoothed:
        model.set_params(alpha=0.0)
    model.fit(X, y, u)
    core = ours.fit(model.learner(), counts_of_rows(X, y.astype(str), u))
    kept = np.isfinite(model.class_log_prior_)
    close(model.predict_joint_log_proba(X)[:, kept], core.scores(X.astype(float)))


def test_the_learner_has_the_same_choices():
    assert MultinomialNB(alpha=0.1, binary=True).learner() == ours.MultinomialLearner(0.1, "data", True)
    assert MultinomialNB(fit_prior=False).learner().prior == "uniform"
    assert MultinomialNB(alpha=None).learner().alpha is None
    assert BernoulliNB(alpha=0.2).learner() == ours.BernoulliLearner(0.2)
    assert ComplementNB(alpha=0.2, norm=True).learner() == ours.ComplementLearner(0.2, True)
    by_name = BernoulliNB(class_prior={"ham": 0.9, "spam": 0.1}).learner().prior
    assert by_name == {"ham": 0.9, "spam": 0.1}
    given_array = MultinomialNB(class_prior=[0.25, 0.75])
    with pytest.raises(InputError, match="not known before the estimator is fitted"):
        given_array.learner()
    assert given_array.fit([[1], [2]], [7, 8]).learner().prior == {"7": 0.25, "8": 0.75}
    assert given_array.fit([[1], [2]], [True, False]).learner().prior == {"false": 0.25, "true": 0.75}
    with pytest.raises(InputError, match="class_prior: label is"):
        MultinomialNB(class_prior={(7,): 1.0}).learner()
    with pytest.warns(TextoddsWarning, match="alpha too small"):
        model = MultinomialNB(alpha=0, force_alpha=False).fit([[1], [2]], [7, 8])
    assert model.learner().alpha == 1e-10
    with pytest.raises(Unsupported, match="a word that occurs is there"):
        BernoulliNB(binarize=2.0).learner()


TEXTS = [
    "free phone now",
    "see you at six",
    "free prize free",
    "are you at home",
    "claim the prize",
    "at six then",
] * 20
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"] * 20


@together
@pytest.mark.parametrize(
    "estimator",
    [
        textodds.MultinomialNB(alpha=0.1),
        textodds.MultinomialNB(alpha=None, class_prior={"ham": 0.9, "spam": 0.1}),
        textodds.MultinomialNB(binary=True, fit_prior=False),
        textodds.BernoulliNB(alpha=0.3),
        textodds.ComplementNB(norm=True),
    ],
    ids=str,
)
def test_texts_can_be_trained_on_with_an_estimator_as_learner(estimator):
    model = textodds.train(TEXTS, LABELS, learner=estimator)
    assert model.recipe == textodds.train(TEXTS, LABELS, learner=estimator.learner()).recipe
    assert model("free phone").label == "spam"


def test_an_open_alpha_needs_texts():
    told = pytest.raises(InputError, match=r"one text at a time(.|\n)*textodds.train\(texts")
    with told:
        MultinomialNB(alpha=None).fit([[1], [2]], [0, 1])
    with told:
        BernoulliNB(alpha=None).partial_fit([[1], [2]], [0, 1], classes=[0, 1])


def test_class_prior_may_name_the_classes():
    X, y, _ = many(3)
    labels = np.array([10, 2, 30])[y]
    named = MultinomialNB(class_prior={30: 0.5, 10: 0.3, 2: 0.2}).fit(X, labels)
    ordered = MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(X, labels)
    np.testing.assert_array_equal(named.predict_joint_log_proba(X), ordered.predict_joint_log_proba(X))
    assert named.learner().prior == {"30": 0.5, "10": 0.3, "2": 0.2}
    with pytest.raises(InputError, match="has nothing for 2"):
        MultinomialNB(class_prior={30: 0.5, 10: 0.5}).fit(X, labels)
    with pytest.raises(InputError, match="has 99, which is not a class"):
        MultinomialNB(class_prior={30: 0.5, 10: 0.3, 2: 0.1, 99: 0.1}).fit(X, labels)


@together
@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"alpha": -1.0}, "alpha must be zero or more"),
        ({"alpha": np.nan}, "alpha must be zero or more"),
        ({"alpha": [1.0, -0.5]}, r"All values in alpha must be greater than 0. Entry 1 is -0.5"),
        ({"alpha": [1.0, 1.0, 1.0]}, "Got 3 elements instead of 2"),
        ({"class_prior": [0.5, 0.5, 0.0]}, "Number of priors must match number of classes"),
        ({"class_prior": [0.5, 0.6]}, "sum"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_choices_that_cannot_be_are_refused(kind, choices, problem):
    with pytest.raises(InputError, match=problem):
        kind(**choices).fit([[1, 0], [0, 1]], ["a", "b"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_alpha_is_kept_or_told_about(kind):
    X, y = [[1, 0], [1, 1]], [0, 1]
    for alpha in (0.0, [0.0, 1.0]):
        for learn, more in (("fit", {}), ("partial_fit", {"classes": y})):
            model = kind(alpha=alpha, force_alpha=False)
            with pytest.warns(UserWarning, match=r"alpha too small .* setting alpha = 1.0e-10") as caught:
                getattr(model, learn)(X, y, **more)
            assert len(caught) == 1
            model.predict(X)
        kind(alpha=alpha, force_alpha=True).fit(X, y).predict(X)
    kind(alpha=1e-10, force_alpha=False).fit(X, y)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
def test_a_negative_number_is_named_by_its_row_and_column(kind):
    X = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, -4.5]])
    for rows in (X, sparse.csr_matrix(X)):
        with pytest.raises(
            NegativeCount, match=rf"passed to {kind.__name__} \(input X\): row 1 has -4.5 in column 2"
        ):
            kind().fit(rows, [0, 1])


def test_bernoulli_takes_numbers_of_any_sign_and_refuses_a_threshold_below_zero():
    X = [[-1.0, 2.0], [1.0, -2.0]]
    assert BernoulliNB().fit(X, [0, 1]).feature_count_.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match="binarize must be zero or more, got -1"):
        BernoulliNB(binarize=-1).fit(X, [0, 1])


def test_rows_that_are_not_binary_after_all_are_told_about():
    X = [[0, 1], [1, 0], [1, 1]]
    agree(
        BernoulliNB(binarize=None).fit(X, [0, 1, 1]),
        naive_bayes.BernoulliNB().fit(X, [0, 1, 1]),
        np.array(X),
    )
    BernoulliNB(binarize=None).fit([[0.5, 0.0], [1.0, 0.2]], [0, 1])
    for wrong in ([[3, 1], [0, 1]], [[-2, 1], [0, 1]]):
        with pytest.warns(NotBinary, match="other than 0 and 1"):
            model = BernoulliNB(binarize=None).fit(wrong, [0, 1])
        assert np.isfinite(model.predict_proba(wrong)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_weights_below_zero_and_of_another_number_are_refused(kind):
    X, y = [[1, 0], [0, 1]], [0, 1]
    with pytest.raises(BadWeight, match="row 1 has the weight -1"):
        kind().fit(X, y, [1.0, -1.0])
    with pytest.raises(InputError, match="3 weights"):
        kind().fit(X, y, [1.0, 1.0, 1.0])


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_too_large_to_add_are_refused(kind):
    X = [[1e308, 1.0], [1e308, 1.0], [1.0, 1.0]]
    if kind is BernoulliNB:
        kind().fit(X, [0, 0, 1])
        return
    with pytest.raises(InputError, match="too large"):
        kind().fit(X, [0, 0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_batch_changes_nothing(kind):
    X, y, _ = many(3)
    model = learn_on(kind(), X, y)
    before = pickle.dumps(model)
    for batch, labels, problem in (
        (X[:, :5], y, "features"),
        (X, y.astype(str), "mixed types"),
        (np.where(X == 0, np.nan, X), y, "NaN"),
        (X, y[:-1], "inconsistent"),
    ):
        with pytest.raises(ValueError, match=problem):
            model.partial_fit(batch, labels)
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_not_changed_and_may_be_read_only(kind):
    X, y, u = many(3)
    rows = sparse.csr_matrix(X)
    for array in (rows.data, rows.indices, rows.indptr, X, y, u):
        array.setflags(write=False)
    for each in (X, rows):
        kind().fit(each, y, u).predict_proba(each)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_a_row_twice(kind):
    X, y, _ = many(6)
    u = np.arange(len(y)) % 3
    weighted = kind().fit(sparse.csr_matrix(X), y, u)
    repeated = kind().fit(sparse.csr_matrix(X.repeat(u, axis=0)), y.repeat(u))
    np.testing.assert_array_equal(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_frames_give_what_arrays_give_and_name_their_columns(kind):
    X, y, _ = many(3, V=4)
    names = ["free", "phone", "see", "you"]
    expected = kind().fit(X, y).predict_proba(X)
    sparse_frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=names)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
        (sparse_frame, y),
    ):
        model = kind().fit(frame, labels)
        assert model.feature_names_in_.tolist() == names
        assert model.n_features_in_ == 4
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[names[::-1]])


def plain(value):
    """Whether something is made of NumPy arrays and Python's own values only."""
    if hasattr(value, "__dataclass_fields__"):
        return all(plain(each) for each in vars(value).values())
    return isinstance(value, (np.ndarray, np.generic, int, float, str, bool, type(None)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_gives_the_same_bits_and_learns_on(kind):
    X, y, _ = many(20)
    half = learn_on(kind(), X[:150], y[:150])
    half.predict(X)
    file = io.BytesIO()
    joblib.dump(half, file)
    file.seek(0)
    others = [pickle.loads(pickle.dumps(half)), joblib.load(file)]
    half.partial_fit(X[150:], y[150:])
    for other in others:
        other.partial_fit(X[150:], y[150:])
        np.testing.assert_array_equal(other.predict_log_proba(X), half.predict_log_proba(X))
        assert all(plain(value) for value in vars(other).values())
    assert not hasattr(clone(half), "classes_")
    assert clone(half).get_params() == half.get_params()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_fitted_has_nothing_to_tell(kind):
    for name in ATTRIBUTES:
        assert not hasattr(kind(), name)
    with pytest.raises(NotFittedError):
        kind().predict([[1]])


@pytest.mark.parametrize("kind", KINDS)
def test_it_works_in_pipelines_and_searches(kind):
    pipeline = make_pipeline(CountVectorizer(), kind())
    name = f"{kind.__name__.lower()}__alpha"
    search = GridSearchCV(pipeline, {name: [0.1, 100.0]}, cv=3, scoring="neg_log_loss").fit(TEXTS, LABELS)
    assert search.best_params_ == {name: 0.1}
    assert search.predict(["a free prize", "home at six"]).tolist() == ["spam", "ham"]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_routed_as_metadata(kind):
    X, y, _ = many(3)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(kind().set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))
    assert pipeline[-1].class_count_[2] == 0


def test_probabilities_of_sequences_add_up_to_one():
    """The joint of the multinomial model is that of a sequence of words; every one of length 2 is counted."""
    model = MultinomialNB().fit([[3, 1, 0], [0, 2, 5]], ["a", "b"])
    pairs = [np.eye(3)[i] + np.eye(3)[j] for i in range(3) for j in range(3)]
    assert np.exp(model.log_density(pairs)).sum() == pytest.approx(1)
    rows = [[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    assert np.exp(
        BernoulliNB().fit([[3, 1, 0], [0, 2, 5]], ["a", "b"]).log_density(rows)
    ).sum() == pytest.approx(1)
    with pytest.raises(Unsupported, match="no density"):
        ComplementNB().fit([[3, 1, 0], [0, 2, 5]], ["a", "b"]).log_density(rows)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=12), st.sampled_from([object, str]))
def test_labels_of_text_are_told_apart_as_numpy_tells_them(labels, dtype):
    y = np.array(labels * 2, dtype=dtype)
    expected, codes = np.unique(y, return_inverse=True)
    got = distinct(y)
    np.testing.assert_array_equal(got[0], expected)
    np.testing.assert_array_equal(got[1], codes)
    assert got[0].dtype == expected.dtype


def test_text_that_hardly_repeats_is_told_about():
    y = np.array([f"name {i}" for i in range(30)])
    for labels in (y, y.astype(object)):
        with pytest.warns(UserWarning, match="number of unique classes is greater than 50%"):
            MultinomialNB().fit(np.eye(30), labels)


@together
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, np.asarray])
def test_transformed_complement_has_the_weights_of_the_learner_on_the_texts(norm, kind):
    texts = [*TEXTS[:6], "free at home", "the prize you see", "six phone"]
    labels = [*LABELS[:6], "odd", "odd", "odd"]
    learner = ours.ComplementLearner(alpha=0.5, norm=norm, transform=True)
    trained = textodds.train(texts, labels, learner=learner)
    X = trained.rows(texts)
    model = ComplementNB(alpha=0.5, norm=norm, transform=True)
    assert model.learner() == learner
    model.fit(kind(X.toarray()), labels)
    weights = trained.linear.weights.rows(np.arange(X.shape[1])).T
    np.testing.assert_allclose(model.feature_log_prob_, weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), trained.predict_proba(texts), rtol=1e-10)
    assert model.predict(X).tolist() == trained.predict(texts).tolist()


def test_transformed_rows_are_those_of_the_paper():
    """Rennie et al., table 4, steps 1 to 4, by hand: of two rows each word of one row has idf log 2."""
    model = ComplementNB(transform=True).fit([[3, 0], [0, 1]], ["ham", "spam"])
    np.testing.assert_allclose(model.feature_count_, np.eye(2), rtol=1e-15)  # unit length, whatever the count
    np.testing.assert_allclose(model.feature_log_prob_, -np.log([[1 / 3, 2 / 3], [2 / 3, 1 / 3]]), rtol=1e-12)


def test_a_cell_in_parts_and_rows_of_no_weight_are_transformed_as_if_whole_and_absent():
    X = np.array([[3.0, 1, 0], [0, 2, 0], [1, 1, 0], [0, 0, 5]])
    y, u = ["a", "b", "a", "b"], [1.0, 2.0, 1.0, 0.0]
    parts = sparse.csr_array(
        ([1, 2, 1, 2, 1, 1, 5], [0, 0, 1, 1, 0, 1, 2], [0, 3, 4, 6, 7]), shape=(4, 3), dtype=np.float64
    )
    whole = ComplementNB(transform=True).fit(X, y, u)
    np.testing.assert_allclose(
        ComplementNB(transform=True).fit(parts, y, u).feature_count_, whole.feature_count_
    )
    twice = ComplementNB(transform=True).fit(X[[0, 1, 1, 2]], ["a", "b", "b", "a"])
    np.testing.assert_allclose(whole.feature_count_, twice.feature_count_, rtol=1e-12)
    assert parts.nnz == 7


def test_transformed_rows_do_not_come_in_batches_and_make_no_transformer():
    model = ComplementNB(transform=True)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        _ = model.partial_fit
    assert isinstance(caught.value.__cause__, Unsupported)
    assert "transform=True" in caught.value.__cause__.problem
    assert not hasattr(model, "transform")  # or scikit-learn would take it for a transformer
    assert model.get_params()["transform"] is True
    assert "transform=True" in repr(model)
    model.set_params(transform=False, norm=True)
    assert model.learner() == ours.ComplementLearner(1.0, norm=True)
    assert clone(model.set_params(transform=True)).learner().transform
    pipeline = make_pipeline(TfidfTransformer(), ComplementNB(transform=True))
    assert not hasattr(pipeline, "transform")
