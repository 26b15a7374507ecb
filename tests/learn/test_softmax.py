"""Softmax regression over rows: what it refuses, what it proves, its penalty, and what naive Bayes lends."""

import itertools
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import textodds
from pairs import in_turn, together
from row_counts import counts_of_rows
from textodds import _kernels
from textodds.errors import BadWeight, InputError, LengthMismatch, NoData, NotConverged, Separable
from textodds.learn import naive_bayes
from textodds.learn.design import LabelledRows, Plain
from textodds.learn.held_out import FOLDS
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.softmax import penalty, regression
from textodds.learn.softmax.penalty import Path, choose
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner
from textodds.learn.solvers.descent import Descent
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.learn.solvers.solve import Ascent

BOTH = pytest.mark.parametrize("kind", [SoftmaxLearner, NBSoftmaxLearner], ids=["softmax", "nb-softmax"])
ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])
LABELS = ["ham", "ham", "spam", "spam"]


def problem(seed, *, n=60, features=12, classes=3, density=0.5, weighted=False, noise=1.0):
    """Rows of a softmax model and noise, with duplicates and empty rows; labels of every class; weights."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, features)) * (random.random((n, features)) < density)
    rows[1::10] = rows[::10][: len(rows[1::10])]
    rows[2::15] = 0.0
    scores = rows @ random.normal(size=(features, classes)) + noise * random.gumbel(size=(n, classes))
    codes = scores.argmax(axis=1)
    codes[:classes] = np.arange(classes)
    weights = random.gamma(1.0, 1.0, n) * (random.random(n) < 0.9) + 0.01 if weighted else np.ones(n)
    return rows, [f"c{k}" for k in codes], weights


def parameters(fit):
    """Weights (V, K) and biases (K,), centred over the classes."""
    weights = fit.model.weights.dense
    bias = fit.model.log_prior + fit.model.intercept
    return weights - weights.mean(axis=1, keepdims=True), bias - bias.mean()


def close(left, right, tolerance=1e-5):
    """Two fits have the same parameters."""
    for mine, theirs in zip(parameters(left), parameters(right), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=tolerance * max(1.0, np.abs(theirs).max()))


# What it refuses.


@together
@BOTH
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_feature_that_is_no_number_is_named_by_row_and_column(kind, form, bad):
    rows = ROWS.copy()
    rows[2, 1] = bad
    with pytest.raises(InputError, match=f"row 2 has {bad} in column 1"):
        kind(C=1.0).fit(form(rows), LABELS)


REFUSED_DATA = {
    "one class": ((ROWS, ["ham"] * 4), InputError, "one class, `ham`"),
    "one class with weight": ((ROWS, LABELS, [1, 1, 0, 0]), InputError, "one class, `ham`"),
    "no weight": ((ROWS, LABELS, [0, 0, 0, 0]), InputError, "no row has a weight above zero"),
    "negative weight": ((ROWS, LABELS, [1, 1, -2, 1]), BadWeight, "row 2 has the weight -2"),
    "weight not a number": ((ROWS, LABELS, [1, np.nan, 1, 1]), BadWeight, "row 1 has the weight nan"),
    "infinite weight": ((ROWS, LABELS, [1, 1, 1, np.inf]), BadWeight, "row 3 has the weight inf"),
    "no rows": ((np.zeros((0, 2)), []), NoData, "no rows to learn from"),
    "no sparse rows": ((sparse.csr_array((0, 2)), []), NoData, "no rows to learn from"),
    "fewer labels": ((ROWS, LABELS[:3]), LengthMismatch, "4 documents but 3 labels"),
    "more weights": ((ROWS, LABELS, np.ones(5)), LengthMismatch, "4 documents but 5 weights"),
    "text and numbers": ((ROWS, ["ham", "ham", 3, "ham"]), InputError, "row 0 has text, row 2 has a number"),
    "truth and numbers": ((ROWS, [1, 0, True, 0]), InputError, "row 0 has a number, row 2 has a truth value"),
    "a label missing": (
        (ROWS, ["ham", None, "spam", "ham"]),
        InputError,
        "row 1 has (a missing value|no label)",
    ),
    "a label not a number": (
        (ROWS, [1.0, 2.0, 1.0, np.nan]),
        InputError,
        "row 3 has (a missing value|no label)",
    ),
    "all labels missing": ((ROWS, [None] * 4), InputError, "row 0 has no label"),
    "a label of another kind": (
        (ROWS, [("a",), "b", "c", "d"]),
        InputError,
        r"a label is \('a',\), of type tuple",
    ),
    "a vector": ((ROWS[:, 0], LABELS), InputError, "must be a matrix, got 1 dimensions"),
    "a cube": ((ROWS[:, :, None], LABELS), InputError, "must be a matrix, got 3 dimensions"),
}


@together
@in_turn(1)
@BOTH
@pytest.mark.parametrize("name", REFUSED_DATA)
def test_data_that_cannot_be_learned_from_are_refused_in_plain_words(kind, name):
    arguments, error, words = REFUSED_DATA[name]
    with pytest.raises(error, match=words):
        kind(C=1.0).fit(*arguments)


REFUSED_CHOICES = {
    "both": ({"C": 1.0, "alpha": 0.1}, "C and alpha set the same penalty"),
    "C zero": ({"C": 0.0}, "C must be above 0"),
    "C negative": ({"C": -1.0}, "C must be .* got -1"),
    "C not a number": ({"C": math.nan}, "C must be .* got nan"),
    "alpha negative": ({"alpha": -0.1}, "alpha must be zero or more, got -0.1"),
    "alpha not a number": ({"alpha": math.nan}, "alpha must be zero or more"),
    "alpha infinite": ({"alpha": math.inf}, "alpha is too large"),
    "tolerance zero": ({"tolerance": 0.0}, "tolerance must be between 0 and 1, got 0"),
    "tolerance one": ({"tolerance": 1.0}, "tolerance must be between 0 and 1"),
    "tolerance negative": ({"tolerance": -1e-4}, "tolerance must be between 0 and 1"),
    "tolerance not a number": ({"tolerance": math.nan}, "tolerance must be between 0 and 1"),
    "no epochs": ({"max_epochs": 0}, "max_epochs must be at least 1, got 0"),
    "class weight unheard of": ({"class_weight": "balance"}, "unknown class weight 'balance'"),
    "class weight a list": ({"class_weight": [1.0, 2.0]}, "class weight"),
}


@together
@in_turn(1)
@BOTH
@pytest.mark.parametrize("name", REFUSED_CHOICES)
def test_choices_that_cannot_be_are_refused_when_a_learner_is_made(kind, name):
    choices, words = REFUSED_CHOICES[name]
    with pytest.raises(InputError, match=words):
        kind(**choices)


@together
@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"smoothing": 0.0}, "smoothing must be above 0"),
        ({"smoothing": -1.0}, "smoothing must be above 0"),
        ({"smoothing": math.nan}, "smoothing must be above 0"),
        ({"form": "centered"}, "unknown form `centered`; did you mean `centred`"),
    ],
)
def test_choices_of_naive_bayes_that_cannot_be_are_refused(choices, words):
    with pytest.raises(InputError, match=words):
        NBSoftmaxLearner(**choices)


REFUSED_CLASS_WEIGHTS = {
    "unknown class": ({"spma": 2.0}, "there is no class `spma`; did you mean `spam`"),
    "negative": ({"spam": -1.0}, "class weight is below zero or not finite"),
    "infinite": ({"spam": math.inf}, "class weight is below zero or not finite"),
    "not a number": ({"spam": math.nan}, "class weight is below zero or not finite"),
    "only one class left": ({"spam": 0.0}, "one class, `ham`"),
    "no class left": ({"spam": 0.0, "ham": 0.0}, "no row has a weight above zero"),
}


@together
@BOTH
@pytest.mark.parametrize("name", REFUSED_CLASS_WEIGHTS)
def test_class_weights_that_cannot_be_are_refused(kind, name):
    class_weight, words = REFUSED_CLASS_WEIGHTS[name]
    with pytest.raises(InputError, match=words):
        kind(C=1.0, class_weight=class_weight).fit(ROWS, LABELS)


@together
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("rows", "labels"), [(ROWS[:, :1], LABELS), (ROWS, ["a", "b", "c", "a"])], ids=["features", "classes"]
)
def test_a_start_of_another_shape_is_refused(form, rows, labels):
    other = SoftmaxLearner(C=1.0).fit(rows, labels).model
    with pytest.raises(InputError):
        SoftmaxLearner(C=1.0).fit(form(ROWS), LABELS, start=other)


@together
@pytest.mark.parametrize("labels", [LABELS, ["a", "b", "c", "a"]], ids=["two", "three"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_features_too_large_to_square_are_refused_or_learned_from(form, labels):
    rows = ROWS.copy()
    rows[2, 1] = 1e200
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        try:
            fit = SoftmaxLearner(C=1.0, max_epochs=20).fit(form(rows), labels)
        except InputError:
            return
    assert np.isfinite(fit.model.weights.dense).all()


def test_labels_become_text():
    for labels, classes in [
        ([1, 2, 1, 2], ("1", "2")),
        (np.array([1, 2, 1, 2]), ("1", "2")),
        ([True, False, True, False], ("False", "True")),
        (np.array(LABELS), ("ham", "spam")),
    ]:
        assert SoftmaxLearner(C=1.0).fit(ROWS, labels).model.classes == classes


@together
@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array, sparse.dok_array, list]
)
def test_rows_may_come_in_any_form(form):
    expected = SoftmaxLearner(C=1.0, tolerance=1e-12).fit(ROWS, LABELS)
    close(SoftmaxLearner(C=1.0, tolerance=1e-12).fit(form(ROWS), LABELS), expected)


def test_entries_given_twice_add_up_and_the_callers_rows_stay_as_they_were():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0, 1.0, 3.0]), np.array([1, 0, 1, 0]), np.array([0, 0, 1, 3, 4])), shape=(4, 2)
    )
    twice.indices[1:3] = [1, 1]
    before = twice.data.copy(), twice.indices.copy(), twice.indptr.copy()
    fit = SoftmaxLearner(C=1.0, tolerance=1e-12).fit(twice, LABELS)
    for now, then in zip((twice.data, twice.indices, twice.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)
    dense = np.array([[0, 0], [0, 1], [0, 3], [3, 0]], dtype=float)
    close(fit, SoftmaxLearner(C=1.0, tolerance=1e-12).fit(dense, LABELS))


# What it proves.

problems = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "n": st.integers(8, 40),
        "features": st.integers(1, 12),
        "classes": st.integers(2, 6),
        "density": st.sampled_from([0.1, 0.4, 1.0]),
        "weighted": st.booleans(),
        "noise": st.sampled_from([0.0, 1.0]),
    }
)
strengths = st.floats(-2, 3).map(lambda power: 10.0**power)
forms = st.sampled_from([np.asarray, sparse.csr_array])


def fitted(learner, *data, **choices):
    """A fit whose failure to converge is looked at by the test, not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return learner.fit(*data, **choices)


@settings(max_examples=40)
@given(shape=problems, C=strengths, form=forms, tolerance=st.sampled_from([0.5, 0.1, 1e-2, 1e-4]))
def test_the_gap_is_never_below_the_true_one(shape, C, form, tolerance):
    rows, labels, weights = problem(**shape)
    rough = fitted(SoftmaxLearner(C=C, tolerance=tolerance, max_epochs=20), form(rows), labels, weights)
    best = fitted(SoftmaxLearner(C=C, tolerance=1e-10, max_epochs=500), rows, labels, weights)
    assert rough.outcome.value == pytest.approx(rough.objective.value(rough.outcome.parameters), rel=1e-9)
    true = (rough.outcome.value - best.outcome.value) / rough.outcome.value
    assert rough.outcome.gap >= true - 1e-10
    assert rough.outcome.converged == (rough.outcome.gap <= tolerance)
    assert (best.outcome.value - rough.outcome.value) / best.outcome.value <= best.outcome.gap + 1e-10


@together
@pytest.mark.parametrize("classes", [2, 3, 8, 20])
def test_a_row_that_dual_ascent_has_taken_has_the_probabilities_of_its_scores(classes):
    """That maximises the dual over the row: log q and the scores differ by one number, of two by none."""
    random, M = np.random.default_rng(classes), 1 if classes == 2 else classes
    x, q = random.normal(size=4), random.dirichlet(np.ones(classes))
    weights, bias = random.normal(size=4 * M), random.normal(size=M)
    logs = np.log(q[1:] / q[0]) if M == 1 else np.log(q)
    rows = np.array([0, 4]), np.arange(4, dtype=np.int32), x
    about = np.array([1]), np.array([0.7]), np.array([x @ x]), 0.5
    _kernels.dual_epoch(rows, *about, weights, bias, logs, np.zeros(1), np.zeros(1, np.uint32))
    off = logs - (x @ weights.reshape(4, M) + bias)
    np.testing.assert_allclose(off - (off.mean() if M > 1 else 0.0), 0.0, atol=1e-7)


@settings(max_examples=25)
@given(shape=problems, C=strengths)
def test_every_certificate_of_dual_ascent_bounds_the_optimum(shape, C):
    rows, labels, weights = problem(**shape)
    best = fitted(SoftmaxLearner(C=C, tolerance=1e-10, max_epochs=500), rows, labels, weights)
    data = LabelledRows.of(sparse.csr_array(rows), labels, weights)
    run = Ascent.begin(Objective(data.rows, data.codes, data.weights, len(data.classes), 1.0 / C))
    for _ in range(4):
        run.epoch()
        value, gap = run.certify()
        assert value == pytest.approx(run.objective.value(run.parameters), rel=1e-9)
        assert gap >= (value - best.outcome.value) / value - 1e-10
        assert value * (1.0 - gap) <= best.outcome.value * (1 + 1e-10)


@settings(max_examples=25)
@given(shape=problems, C=strengths)
def test_sparse_rows_have_the_optimum_of_dense_rows(shape, C):
    rows, labels, weights = problem(**shape)
    learner = SoftmaxLearner(C=C, tolerance=1e-9, max_epochs=500)
    dense = fitted(learner, rows, labels, weights)
    thin = fitted(learner, sparse.csr_array(rows), labels, weights)
    assert dense.outcome.converged
    assert thin.outcome.converged
    allowed = sum(math.sqrt(2 * C * fit.outcome.gap * fit.outcome.value) for fit in (dense, thin))
    difference = parameters(dense)[0] - parameters(thin)[0]
    assert np.linalg.norm(difference) <= allowed + 1e-9


@together
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 4])
def test_what_has_not_converged_warns_of_the_gap_and_is_finite(form, classes):
    rows, labels, weights = problem(1, n=200, features=40, classes=classes)
    learner = SoftmaxLearner(C=1000.0, tolerance=1e-9, max_epochs=1)
    with pytest.warns(NotConverged, match=r"a relative gap of .* is proven, 1e-09 was asked") as caught:
        fit = learner.fit(form(rows), labels, weights)
    assert f"{fit.outcome.gap:.2g}" in str(caught[0].message)
    assert fit.outcome.gap > 1e-9
    assert not fit.outcome.converged
    assert not fit.report()["converged"]
    assert np.isfinite(fit.model.weights.dense).all()
    assert np.isfinite(fit.model.log_posterior(rows)).all()


def test_a_warning_points_at_the_call_of_the_user():
    rows, labels, weights = problem(1, n=200, features=40, classes=4)
    with pytest.warns(NotConverged) as caught:
        SoftmaxLearner(C=1000.0, tolerance=1e-9, max_epochs=1).fit(rows, labels, weights)
    assert caught[0].filename == __file__


@together
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_any_start_leads_to_the_same_optimum(form, classes, C):
    rows, labels, weights = problem(2, classes=classes, weighted=True)
    counts = np.abs(rows).round(1)
    learner = SoftmaxLearner(C=C, tolerance=1e-12, max_epochs=500)
    cold = learner.fit(form(counts), labels, weights)
    counted = naive_bayes.fit(MultinomialLearner(), counts_of_rows(counts, labels, weights))
    elsewhere = SoftmaxLearner(C=100 * C).fit(counts, labels, weights).model
    for start in (counted, elsewhere, cold.model):
        close(learner.fit(form(counts), labels, weights, start=start), cold, 1e-5)
    again = learner.fit(form(counts), labels, weights, start=cold.model)
    assert again.outcome.steps < cold.outcome.steps


def test_the_same_data_give_the_same_bits():
    rows, labels, weights = problem(3, weighted=True)
    one, two = (SoftmaxLearner(C=1.0).fit(sparse.csr_array(rows), labels, weights) for _ in range(2))
    np.testing.assert_array_equal(one.model.weights.dense, two.model.weights.dense)


def test_progress_is_told():
    rows, labels, _ = problem(4, n=40)
    steps, path = [], []
    observer = textodds.Observer()
    observer.penalty = lambda C, loss: path.append((C, loss))
    observer.step = lambda at, gap: steps.append((at, gap))
    for form in (np.asarray, sparse.csr_array):
        steps.clear()
        path.clear()
        fit = SoftmaxLearner(tolerance=1e-8).fit(form(rows), labels, observer=observer)
        assert tuple(sorted(path)) == fit.path.points
        assert steps
        assert all(isinstance(at, int) and gap >= 0 for at, gap in steps)


def test_the_report_is_plain_data():
    rows, labels, _ = problem(5, n=40)
    fit = SoftmaxLearner().fit(rows, labels)
    report = fit.report()
    assert report["C"] == fit.C == fit.path.C
    assert report["path"] == [list(point) for point in fit.path.points]
    assert report["held_out"] == len(rows)
    assert (report["gap"], report["objective"]) == (fit.outcome.gap, fit.outcome.value)


# How strong a penalty.


@together
@pytest.mark.parametrize("weighting", ["plain", "weights", "balanced"])
@pytest.mark.parametrize("classes", [2, 4])
def test_alpha_is_the_penalty_per_row(weighting, classes):
    rows, labels, weights = problem(6, classes=classes, weighted=True)
    weights = None if weighting == "plain" else weights
    class_weight = "balanced" if weighting == "balanced" else None
    alpha = SoftmaxLearner(alpha=0.02, class_weight=class_weight, tolerance=1e-12).fit(rows, labels, weights)
    n = len(rows) if weights is None else weights.sum()  # balancing keeps the total
    np.testing.assert_allclose(alpha.C, 1 / (0.02 * n), rtol=1e-12)
    C = SoftmaxLearner(C=alpha.C, class_weight=class_weight, tolerance=1e-12).fit(rows, labels, weights)
    close(alpha, C)
    # alpha/2 ‖W‖² + 1/n Σ loss, by hand, is least there
    at, codes = parameters(alpha), np.array([int(label[1:]) for label in labels])
    share = np.ones(len(rows)) if weights is None else weights
    if class_weight:
        mass = np.bincount(codes, share)
        share = share * (mass.sum() / (classes * mass))[codes]

    def loss(W, b):
        z = rows @ W + b
        own = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), codes]
        size = (W**2).sum() if classes > 2 else ((W[:, 1] - W[:, 0]) ** 2).sum()
        return 0.01 * size + share @ own / n

    random = np.random.default_rng(0)
    for _ in range(20):
        turn, lift = random.normal(size=at[0].shape), random.normal(size=at[1].shape)
        turn -= turn.mean(axis=1, keepdims=True)
        assert loss(at[0] + 1e-3 * turn, at[1] + 1e-3 * lift) > loss(*at)


def test_the_penalties_of_the_literature_are_converted_as_documented():
    assert regression.as_c(2.0, None, 50.0) == 2.0
    assert regression.as_c(None, 0.01, 50.0) == 2.0
    assert regression.as_c(None, 0.0, 50.0) == math.inf
    assert regression.as_c(math.inf, None, 50.0) == math.inf
    assert regression.as_c(None, None, 50.0) is None


LECTURES = {
    "(λ/2) Σ_k ‖w_k‖²": lambda W: 0.5 * (W**2).sum(),  # a vector for each class, for two as for more
    "λ‖θ‖²": lambda W: ((W[:, 1] - W[:, 0]) ** 2).sum() if W.shape[1] == 2 else (W**2).sum(),
}


def least(penalty, rows, codes, classes):
    """Where the negative log-likelihood and a penalty of weights (V, K) and biases (K,) are least: both."""
    V = rows.shape[1]

    def value(flat):
        both = flat.reshape(V + 1, classes)
        scores = rows @ both[:V] + both[V]
        losses = logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes]
        return losses.sum() + penalty(both[:V], both[V])

    found = minimize(value, np.zeros((V + 1) * classes), method="BFGS", options={"gtol": 1e-7})
    both = found.x.reshape(V + 1, classes)
    return both - both.mean(axis=1, keepdims=True)


@together
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("written", LECTURES)
def test_the_penalties_of_the_lectures_are_converted_as_the_table_says(written, classes):
    rows, labels, _ = problem(3, features=4, classes=classes)
    codes = np.array([int(label[1:]) for label in labels])
    strength = 0.7
    (line,) = (line for line in regression.as_c.__doc__.splitlines() if f"``{written} + Σ loss``" in line)
    formulas = re.findall("``(.*?)``", line)[1:]  # of two classes, of three or more
    C = eval(formulas[classes > 2], {"λ": strength})
    both = least(lambda W, b: strength * LECTURES[written](W), rows, codes, classes)
    weights, bias = parameters(SoftmaxLearner(C=C, tolerance=1e-12).fit(rows, labels))
    np.testing.assert_allclose(weights, both[:-1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(bias, both[-1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("how", ["dense", "sparse", "descent"])
def test_the_prior_may_be_on_the_biases_too(how, classes):
    rows, labels, _ = problem(5, features=4, classes=classes)
    rows[:, 0] += 1.0
    labels = [label if i % 3 else "c0" for i, label in enumerate(labels)]  # classes of uneven size
    codes = np.array([int(label[1:]) for label in labels])

    def penalty(W, b):  # of θ = [θ, b], as in the lecture on logistic regression
        both = np.vstack([W, b])
        return ((both[:, 1] - both[:, 0]) ** 2).sum() if classes == 2 else (both**2).sum()

    both = least(penalty, rows, codes, classes)
    descent = Descent(rate=0.5, epochs=3000) if how == "descent" else None
    learner = SoftmaxLearner(C=0.5, penalise_bias=True, tolerance=1e-12, descent=descent)
    fit = learner.fit(sparse.csr_array(rows) if how == "sparse" else rows, labels)
    weights, bias = parameters(fit)
    np.testing.assert_allclose(weights, both[:-1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(bias, both[-1], rtol=0, atol=1e-4)
    assert fit.outcome.gap <= 1e-8
    plain = parameters(replace(learner, penalise_bias=False).fit(rows, labels))[1]
    assert np.linalg.norm(plain) > 1.05 * np.linalg.norm(bias)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_penalised_bias_is_the_weight_of_a_constant_feature(classes):
    rows, labels, weights = problem(7, features=4, classes=classes, weighted=True)
    fit = SoftmaxLearner(C=2.0, penalise_bias=True, tolerance=1e-10).fit(rows, labels, weights)
    value, slope = fit.objective.value_and_gradient(fit.outcome.parameters)
    wide = replace(fit.objective, rows=np.hstack([rows, np.ones((len(rows), 1))]), penalise_bias=False)
    found = fit.outcome.parameters
    moved = Parameters(np.vstack([found.weights, found.bias]), np.zeros_like(found.bias))
    there, steep = wide.value_and_gradient(moved)
    assert there == pytest.approx(value)
    np.testing.assert_allclose(np.vstack([slope.weights, slope.bias]), steep.weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(steep.weights, 0.0, atol=1e-3)


def test_a_penalised_bias_is_honoured_where_the_penalty_is_chosen_and_by_name():
    rows, labels, _ = problem(9, n=300, classes=2)
    labels = [label if i % 4 else "c0" for i, label in enumerate(labels)]
    for each in (rows, sparse.csr_array(rows)):
        fit = SoftmaxLearner(penalise_bias=True, tolerance=1e-9).fit(each, labels)
        close(fit, SoftmaxLearner(C=fit.C, penalise_bias=True, tolerance=1e-9).fit(rows, labels))
    texts = ["free phone", "see you", "call me", "phone me"] * 5
    model = textodds.train(texts, ["spam", "ham", "ham", "ham"] * 5, learner="softmax:C=1:penalise_bias")
    assert model.recipe.learner == SoftmaxLearner(C=1.0, penalise_bias=True)
    free = textodds.train(texts, ["spam", "ham", "ham", "ham"] * 5, learner="softmax:C=1")
    odds = [float(np.diff(each.linear.intercept + each.linear.log_prior)[0]) for each in (model, free)]
    assert abs(odds[0]) < abs(odds[1])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_descent_can_be_watched_diverging_on_data_that_can_be_separated(classes):
    """The lecture on logistic regression, 3.3.1: the norm goes to infinity."""
    rows = np.repeat(np.eye(classes), 4, axis=0)
    labels = [f"c{k}" for k in np.repeat(np.arange(classes), 4)]
    with pytest.raises(Separable):
        SoftmaxLearner(C=math.inf).fit(rows, labels)
    norms, losses = [], []
    for epochs in (10, 100, 1000, 10_000):
        learner = SoftmaxLearner(C=math.inf, descent=Descent(rate=1.0, epochs=epochs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            fit = learner.fit(rows, labels)
        curve = [value for _, value in fit.outcome.curve]
        assert all(later < before for before, later in itertools.pairwise(curve))
        norms.append(np.linalg.norm(parameters(fit)[0]))
        losses.append(curve[-1])
    assert losses[-1] < 0.01 * losses[0]
    assert all(later > before + 1.0 for before, later in itertools.pairwise(norms))  # as the logarithm of t


@together
@pytest.mark.parametrize("strength", [0.0, 0.3])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_descent_is_algorithm_3_1_at_the_rate_that_is_documented(classes, strength):
    """With a vector for each class, for two classes as for more, and the gradient of the sum over rows."""
    rows, labels, _ = problem(11, features=4, classes=classes)
    codes, eta, n = np.array([int(label[1:]) for label in labels]), 0.003, len(labels)
    W, b = np.zeros((4, classes)), np.zeros(classes)
    for _ in range(25):
        error = softmax(rows @ W + b, axis=1) - np.eye(classes)[codes]
        W, b = W - eta * (rows.T @ error + strength * W), b - eta * error.sum(axis=0)
    factor = 2 if classes == 2 else 1
    assert "twice" in Descent.__doc__
    learner = SoftmaxLearner(
        C=factor / strength if strength else math.inf, descent=Descent(rate=factor * n * eta, epochs=25)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        weights, bias = parameters(learner.fit(rows, labels))
    np.testing.assert_allclose(weights, W - W.mean(axis=1, keepdims=True), rtol=0, atol=1e-12)
    np.testing.assert_allclose(bias, b - b.mean(), rtol=0, atol=1e-12)


def exact_path(rows, labels, grid):
    """Held-out loss at each C of a grid, over the folds that `choose` makes, each solved well."""
    data = LabelledRows.of(rows, labels)
    folds = []

    def split(held):
        folds.append(held)
        return rows[~held], rows[held], None, None

    chosen = choose(split, data)

    def loss(C):
        total = 0.0
        for held in folds:
            mine = [label for label, out in zip(labels, held, strict=True) if not out]
            fit = SoftmaxLearner(C=C, max_epochs=500).fit(rows[~held], mine)
            log_p = fit.model.log_posterior(rows[held])
            total -= log_p[np.arange(held.sum()), data.codes[held]].sum()
        return total / len(labels)

    return chosen, folds, [loss(C) for C in grid], loss(chosen.C)


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "noise", "form"), [(2, 2.0, np.asarray), (4, 1.0, sparse.csr_array)])
def test_the_chosen_penalty_is_near_the_best_of_a_fine_grid(classes, noise, form):
    rows, labels, _ = problem(7, n=200, features=30, classes=classes, noise=noise)
    grid = np.geomspace(1e-3, 1e3, 13)
    chosen, folds, losses, at_chosen = exact_path(form(rows), labels, grid)
    assert 0 < np.argmin(losses) < len(grid) - 1
    assert at_chosen <= min(losses) * 1.01
    assert abs(np.log10(chosen.C / grid[np.argmin(losses)])) < 1
    assert len(folds) == FOLDS
    assert np.array_equal(np.sum(folds, axis=0), np.ones(len(rows)))  # every row is held out once
    assert chosen.held_out == len(rows)


def test_folds_are_even_by_class():
    labels = ["a"] * 50 + ["b"] * 10 + ["c"] * 5
    codes = np.array([ord(label) - 97 for label in labels])
    rows, folds = np.random.default_rng(0).normal(size=(65, 3)), []

    def split(held):
        folds.append(np.bincount(codes[held], minlength=3).tolist())
        return rows[~held], rows[held], None, None

    choose(split, LabelledRows(rows, ("a", "b", "c"), codes, np.ones(65)))
    assert folds == [[10, 2, 1]] * FOLDS


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_choice_does_not_depend_on_the_unit_of_length(factor):
    random = np.random.default_rng(0)
    base = random.normal(size=(80, 2))
    labels = np.where(base[:, 0] + random.normal(size=80) > 0, "a", "b").tolist()
    one, other = (SoftmaxLearner().fit(sparse.csr_array(base * by), labels).C for by in (1.0, factor))
    assert other * factor**2 == pytest.approx(one, rel=1e-3)


@pytest.mark.parametrize("form", ["scaled", "centred"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("thin", [False, True], ids=["dense", "sparse"])
def test_what_is_held_out_is_hidden_from_naive_bayes_too(form, classes, thin, monkeypatch):
    rows, labels, _ = problem(8, classes=classes)
    rows = np.abs(rows)
    held = np.arange(len(rows)) % 3 == 0
    held[:classes] = False

    def parts(labels):
        seen = []

        def watching(split, *_, **__):
            seen.append(split(held))
            return Path(1.0, (), 0)

        monkeypatch.setattr(regression, "choose", watching)
        NBSoftmaxLearner(form=form).fit(sparse.csr_array(rows) if thin else rows, labels)
        ((kept, out, centre, _),) = seen
        return [part.toarray() if thin else part for part in (kept, out)], centre

    scrambled = list(labels)
    for i in np.flatnonzero(held):
        scrambled[i] = f"c{(int(labels[i][1:]) + 1) % classes}"
    (first, centre), (second, other_centre) = parts(labels), parts(scrambled)
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if form == "centred":
        np.testing.assert_array_equal(centre, other_centre)
        np.testing.assert_array_equal(first[0], rows[~held])
    else:
        assert centre is None
        assert not np.allclose(first[0], rows[~held])  # scaled at all


@settings(max_examples=30)
@given(
    labels=st.lists(st.sampled_from("abc"), min_size=2, max_size=6).filter(
        lambda labels: len(set(labels)) > 1
    ),
    kind=st.sampled_from([SoftmaxLearner(), NBSoftmaxLearner(), NBSoftmaxLearner(form="centred")]),
    form=forms,
    seed=st.integers(0, 2**32 - 1),
    weighted=st.booleans(),
)
def test_a_penalty_is_chosen_for_a_handful_of_rows(labels, kind, form, seed, weighted):
    random = np.random.default_rng(seed)
    rows = random.integers(0, 3, (len(labels), 2)).astype(float)
    weights = np.ones(len(labels))
    if weighted:
        weights[2:] = random.integers(0, 2, len(labels) - 2)
        weights[[labels.index(name) for name in sorted(set(labels))[:2]]] = 1.0
    fit = fitted(kind, form(rows), labels, weights)
    assert 0 < fit.C < math.inf
    assert np.isfinite(fit.model.weights.dense).all()
    np.testing.assert_allclose(np.exp(fit.model.log_posterior(rows)).sum(axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [SoftmaxLearner(), NBSoftmaxLearner()], ids=["softmax", "nb-softmax"])
def test_classes_of_one_row_do_not_keep_a_penalty_from_being_chosen(kind):
    rows, labels, _ = problem(9, n=40)
    labels = [*labels[:-3], "rare", "single", "lone"]
    fit = kind.fit(sparse.csr_array(np.abs(rows)), labels)
    assert set(fit.model.classes) >= {"rare", "single", "lone"}
    assert len(fit.path.points) > 1
    assert all(np.isfinite(loss) for _, loss in fit.path.points)


def test_rows_of_weight_zero_do_not_change_the_chosen_penalty_much():
    rows, labels, _ = problem(10, n=120)
    more, theirs, _ = problem(11, n=120)
    weights = np.concatenate([np.ones(120), np.zeros(120)])
    alone = SoftmaxLearner().fit(rows, labels)
    beside = SoftmaxLearner().fit(np.vstack([rows, more]), labels + theirs, weights)
    assert abs(np.log10(alone.C / beside.C)) <= 0.5  # other folds, but of the same rows that count


# What naive Bayes lends.


def ratios_by_loops(rows, labels, weights, classes, smoothing):
    """Wang and Manning (2012), equation 2, of each class against all others."""
    n, features = rows.shape
    found = np.zeros((features, len(classes)))
    for k, name in enumerate(classes):
        p, q = [smoothing] * features, [smoothing] * features
        for i in range(n):
            for v in range(features):
                if rows[i, v] != 0:
                    (p if labels[i] == name else q)[v] += weights[i]
        for v in range(features):
            found[v, k] = math.log((p[v] / sum(p)) / (q[v] / sum(q)))
    return found


@settings(max_examples=30)
@given(shape=problems, smoothing=st.sampled_from([0.01, 0.5, 1.0, 3.0]), thin=st.booleans())
def test_log_ratios_are_those_of_wang_and_manning(shape, smoothing, thin):
    rows, labels, weights = problem(**shape)
    data = LabelledRows.of(rows, labels, weights)
    matrix = rows
    if thin:
        matrix = sparse.csr_array(rows)
        matrix.data[::5] = 0.0  # a zero that is stored is no presence
        rows = matrix.toarray()
    expected = ratios_by_loops(rows, labels, weights, data.classes, smoothing)
    got = penalty.log_ratios(Plain(matrix).presence(data.codes, weights, len(data.classes)), smoothing)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_scales_are_root_mean_squares_over_the_classes():
    ratios, mass = np.array([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0]]), np.array([2.0, 1.0, 1.0])
    expected = [math.sqrt(0.5 * 1 + 0.25 * 4 + 0.25 * 0.25), 0.0]
    np.testing.assert_allclose(penalty.scales(ratios, mass), expected, rtol=1e-15)
    two = np.array([[0.7, -0.7], [-1.5, 1.5]])
    np.testing.assert_allclose(penalty.scales(two, np.array([3.0, 1.0])), [0.7, 1.5], rtol=1e-15)


@together
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_scaled_by_the_size_of_their_log_ratio(form, weighted):
    """By hand: scale the columns, fit, and bring the scales back into the weights."""
    rows, labels, weights = problem(12, classes=2, weighted=True)
    rows = np.abs(rows).round()
    weights = weights if weighted else np.ones(len(rows))
    r = ratios_by_loops(rows, labels, weights, ["c0", "c1"], 0.5)
    np.testing.assert_allclose(r[:, 0], -r[:, 1], rtol=1e-10)
    fit = NBSoftmaxLearner(C=2.0, smoothing=0.5, tolerance=1e-12).fit(form(rows), labels, weights)
    plain = SoftmaxLearner(C=2.0, tolerance=1e-12).fit(form(rows * np.abs(r[:, 1])), labels, weights)
    np.testing.assert_allclose(fit.factor, np.abs(r[:, 1]), rtol=1e-10)
    expected, bias = parameters(plain)
    np.testing.assert_allclose(parameters(fit)[0], expected * np.abs(r[:, 1:]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(parameters(fit)[1], bias, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        fit.model.log_posterior(rows), plain.model.log_posterior(rows * np.abs(r[:, 1])), rtol=0, atol=1e-5
    )


@together
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 4])
def test_under_a_strong_penalty_the_centred_form_is_naive_bayes(form, classes):
    rows, labels, weights = problem(13, classes=classes, weighted=True)
    rows = np.abs(rows).round()
    names = [f"c{k}" for k in range(classes)]
    r = ratios_by_loops(rows, labels, weights, names, 1.0)
    expected = r / 2 if classes == 2 else r - r.mean(axis=1, keepdims=True)
    distances = []
    for C in (1.0, 1e-2, 1e-4, 1e-6):
        fit = NBSoftmaxLearner(C=C, form="centred", tolerance=1e-9).fit(form(rows), labels, weights)
        distances.append(np.abs(parameters(fit)[0] - expected).max())
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-4


def test_a_feature_that_says_nothing_is_not_used_by_the_scaled_form():
    rows = [[1.0, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    fit = NBSoftmaxLearner(C=100.0).fit(rows, ["no", "no", "yes", "yes"])
    np.testing.assert_allclose(fit.factor, [math.log(3), math.log(3), 0.0], rtol=0, atol=1e-12)
    assert not fit.model.weights.dense[2].any()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_prior_of_a_model_is_the_share_of_each_class(classes):
    rows, labels, weights = problem(14, classes=classes, weighted=True)
    model = SoftmaxLearner(C=1.0).fit(rows, labels, weights).model
    shares = np.bincount([int(label[1:]) for label in labels], weights)
    np.testing.assert_allclose(np.exp(model.log_prior), shares / shares.sum(), rtol=1e-12)


def test_learners_are_compared_and_changed_as_values():
    assert SoftmaxLearner(C=1.0) == SoftmaxLearner(C=1.0)
    assert replace(NBSoftmaxLearner(C=1.0), form="centred") == NBSoftmaxLearner(C=1.0, form="centred")
    with pytest.raises(InputError, match="tolerance"):
        replace(NBSoftmaxLearner(), tolerance=2.0)


def test_no_penalty_outlasts_saving_in_plain_json(tmp_path):
    texts = ["free phone", "free lunch", "see phone", "see lunch", "free phone", "see lunch"]
    labels = ["spam", "ham", "ham", "spam", "ham", "spam"]
    learner = SoftmaxLearner(C=np.inf)
    model = textodds.train(texts, labels, learner=learner, ngrams=(1, 1), min_df=1)
    model.save(tmp_path / "m")
    assert b"Infinity" not in (tmp_path / "m").read_bytes()
    assert textodds.load(tmp_path / "m").recipe.learner == learner
