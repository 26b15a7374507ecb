"""Gaussian classes of sparse rows against covariances that are written out, which small data allow."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.naive_bayes import GaussianNB

from pairs import pairwise, together
from textodds import _kernels
from textodds.errors import InputError, TooFewRows, Unsupported
from textodds.learn.conditionals.sparse_gaussian import (
    Directions,
    SparseClasses,
    WordMoments,
    conjugate_gradients,
    shared,
)
from textodds.learn.design import LabelledRows
from textodds.learn.discriminant import (
    GaussianLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from textodds.learn.forms.quadratic import Diagonal, LowRank
from textodds.stats.compressed_rows import CompressedRows

CLASSES = ("a", "b", "c")


def data(sizes=(12, 9, 15), V=20, seed=0, density=0.3):
    """Sparse rows whose columns depend on the class, and their class numbers."""
    random = np.random.default_rng(seed)
    rows, codes = [], []
    for k, n in enumerate(sizes):
        there = random.random((n, V)) < density * (1 + (np.arange(V) % 3 == k))
        rows.append(np.where(there, random.uniform(0.2, 1.5, (n, V)), 0.0))
        codes += [k] * n
    order = random.permutation(len(codes))
    return np.concatenate(rows)[order], np.array(codes, dtype=np.int64)[order]


def weights_of(codes):
    return np.random.default_rng(5).uniform(0.3, 3, len(codes))


def classes(rows, codes, weights=None, names=CLASSES):
    w = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    return SparseClasses.of(sparse.csr_array(rows), codes, w, names)


def written_out(rows, codes, weights=None, K=3):
    """Weights, means, own covariances, the shared one, and τ, from their definitions."""
    w = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    V = rows.shape[1]
    mass, mean, own = np.zeros(K), np.zeros((K, V)), np.zeros((K, V, V))
    for k in range(K):
        u, x = w[codes == k], rows[codes == k]
        mass[k] = u.sum()
        if mass[k]:
            mean[k] = u @ x / mass[k]
            own[k] = (u[:, None] * (x - mean[k])).T @ (x - mean[k]) / mass[k]
    pooled = np.einsum("k,kuv->uv", mass, own) / mass.sum()
    return mass, mean, own, pooled, np.trace(pooled) / V


weighted = pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])


@weighted
def test_means_and_variance_are_those_of_the_dense_rows(weighted):
    rows, codes = data()
    w = weights_of(codes) if weighted else None
    mass, mean, _, _, level = written_out(rows, codes, w)
    found = classes(rows, codes, w)
    np.testing.assert_allclose(found.mass, mass, rtol=1e-12)
    np.testing.assert_allclose(found.mean.toarray(), mean, rtol=1e-12)
    assert found.variance == pytest.approx(level, rel=1e-12)


@weighted
@pytest.mark.parametrize("shrinkage", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("V", [5, 60])
def test_the_shared_discriminant_is_the_dense_solution(V, shrinkage, weighted):
    rows, codes = data(V=V)
    w = weights_of(codes) if weighted else None
    _, mean, _, pooled, level = written_out(rows, codes, w)
    sigma = (1 - shrinkage) * pooled + shrinkage * level * np.eye(V)
    expected = np.linalg.solve(sigma, mean.T)
    found = shared(classes(rows, codes, w), shrinkage, tolerance=1e-12)
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    intercept = -0.5 * np.einsum("kv,vk->k", mean, expected)
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-9)
    assert found.residual <= 1e-12
    left = np.linalg.norm(sigma @ found.weights - mean.T, axis=0) / np.linalg.norm(mean, axis=1)
    assert left.max() <= 1e-10


def test_the_shared_discriminant_has_the_differences_of_scipys_densities():
    rows, codes = data(V=8)
    _, mean, _, pooled, level = written_out(rows, codes)
    sigma = 0.7 * pooled + 0.3 * level * np.eye(8)
    found = shared(classes(rows, codes), 0.3, tolerance=1e-12)
    scores = rows @ found.weights + found.intercept
    density = np.column_stack([multivariate_normal(m, sigma).logpdf(rows) for m in mean])
    np.testing.assert_allclose(scores - scores[:, :1], density - density[:, :1], rtol=0, atol=1e-9)


def test_a_start_changes_the_steps_and_not_the_solution():
    rows, codes = data(V=60)
    whole = classes(rows, codes)
    plain = shared(whole, 0.3, tolerance=1e-10)
    near = shared(whole, 0.3, start=plain.weights + 1e-6, tolerance=1e-10)
    assert near.steps < plain.steps
    np.testing.assert_allclose(near.weights, plain.weights, rtol=0, atol=1e-8 * np.abs(plain.weights).max())
    before = plain.weights.copy()
    shared(whole, 0.5, start=plain.weights, tolerance=1e-10)
    np.testing.assert_array_equal(plain.weights, before)


def test_steps_and_residuals_are_told():
    rows, codes = data(V=60)
    told = []
    found = shared(classes(rows, codes), 0.1, tolerance=1e-6, watch=lambda *at: told.append(at))
    assert [step for step, _ in told] == list(range(1, found.steps + 1))
    assert found.residual <= 1e-6 < told[-1][1]


def test_conjugate_gradients_stop_where_they_are_told_to():
    A = np.diag(np.geomspace(1, 1e12, 50))
    _, steps, residual = conjugate_gradients(lambda u: A @ u, np.ones((50, 2)), None, 1e-10, most=7)
    assert steps == 7
    assert residual > 1e-10


def test_a_right_side_of_zero_has_the_solution_zero():
    right = np.column_stack([np.ones(4), np.zeros(4)])
    x, _, residual = conjugate_gradients(lambda u: 2 * u, right, None, 1e-12)
    np.testing.assert_allclose(x, right / 2, rtol=1e-12)
    assert residual == 0


def explicit(found):
    """The covariances that a LowRank stands for, (K, V, V)."""
    V, sigma = found.n_features, []
    for words, basis, variance, rest in zip(
        found.words, found.basis, found.variance, found.rest, strict=True
    ):
        B = np.zeros((V, len(variance)))
        B[words] = basis
        sigma.append(rest * np.eye(V) + (B * (variance - rest)) @ B.T)
    return np.array(sigma)


@pairwise
@weighted
@pytest.mark.parametrize("shrinkage", [0.1, 0.5, 0.97, 1.0])
@pytest.mark.parametrize(("sizes", "V"), [((12, 9, 15), 40), ((30, 25, 40), 6), ((150, 9, 15), 40)])
def test_densities_at_full_rank_are_scipys(sizes, V, shrinkage, weighted):
    """Directions have single precision, and distances three digits at the least."""
    rows, codes = data(sizes, V)
    w = weights_of(codes) if weighted else None
    _, mean, own, _, level = written_out(rows, codes, w)
    found = Directions.of(classes(rows, codes, w), 200).shrunk(shrinkage)
    new = data(sizes, V, seed=1)[0]
    got = found.log_density(sparse.csr_array(new))
    for k in range(3):
        sigma = (1 - shrinkage) * own[k] + shrinkage * level * np.eye(V)
        np.testing.assert_allclose(explicit(found)[k], sigma, rtol=0, atol=1e-6 * np.abs(sigma).max())
        exact = multivariate_normal(mean[k], sigma)
        at_mean = exact.logpdf(mean[k])
        np.testing.assert_allclose(got[:, k] - at_mean, exact.logpdf(new) - at_mean, rtol=1e-3)
        mine = found.log_density(sparse.csr_array(mean[[k]]))[0, k]
        assert mine == pytest.approx(at_mean, rel=1e-5, abs=1e-5)  # the log-determinant


@weighted
def test_directions_are_orthonormal_and_have_the_largest_variances(weighted):
    rows, codes = data((40, 30, 50), 60)
    w = weights_of(codes) if weighted else None
    _, _, own, _, _ = written_out(rows, codes, w)
    found = Directions.of(classes(rows, codes, w), 10)
    for k in range(3):
        basis = found.spans[k].basis.astype(np.float64)
        np.testing.assert_allclose(basis.T @ basis, np.eye(10), rtol=0, atol=1e-5)
        exact = np.linalg.eigvalsh(own[k])[::-1][:10]
        assert (found.variance[k] <= exact * (1 + 1e-9)).all()  # no subspace holds more
        assert found.variance[k].sum() > 0.95 * exact.sum()
        assert (np.diff(found.variance[k]) <= 0).all()
        assert found.total[k] == pytest.approx(np.trace(own[k]), rel=1e-12)
        B = np.zeros((60, 10))
        B[found.words[k]] = basis
        along = np.diag(B.T @ own[k] @ B)
        assert (found.variance[k] <= along * (1 + 1e-5)).all()  # as found before the last product
        np.testing.assert_allclose(along, found.variance[k], rtol=0.03)


def test_the_variance_beyond_the_directions_is_kept():
    rows, codes = data((40, 30, 50), 60)
    _, _, own, _, level = written_out(rows, codes)
    found = Directions.of(classes(rows, codes), 5).shrunk(0.3)
    for k, sigma in enumerate(explicit(found)):
        assert np.trace(sigma) == pytest.approx(0.7 * np.trace(own[k]) + 0.3 * 60 * level, rel=1e-5)


def test_densities_of_a_few_directions_are_scipys_for_the_covariance_they_stand_for():
    rows, codes = data((40, 30, 50), 60)
    _, mean, _, _, _ = written_out(rows, codes)
    found = Directions.of(classes(rows, codes), 5).shrunk(0.3)
    got = found.log_density(sparse.csr_array(rows))
    for k, sigma in enumerate(explicit(found)):
        np.testing.assert_allclose(got[:, k], multivariate_normal(mean[k], sigma).logpdf(rows), rtol=1e-4)


def test_values_below_zero_that_cancel_are_not_lost():
    rows = np.array([[1.0, 2.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 3.0]])
    codes = np.array([0, 0, 1, 1])
    _, mean, own, _, level = written_out(rows, codes, K=2)
    found = Directions.of(classes(rows, codes, names=("a", "b")), 10)
    np.testing.assert_allclose(found.total, np.trace(own, axis1=1, axis2=2), rtol=1e-12)
    exact = multivariate_normal(mean[0], 0.5 * own[0] + 0.5 * level * np.eye(3))
    got = found.shrunk(0.5).log_density(sparse.csr_array(rows))[:, 0]
    np.testing.assert_allclose(got, exact.logpdf(rows), rtol=1e-4)


def densities(rows, codes, weights, new, shrinkage=0.5, rank=128):
    found = Directions.of(classes(rows, codes, weights), rank)
    return found.shrunk(shrinkage).log_density(sparse.csr_array(new))


def discriminant(rows, codes, weights, new, shrinkage=0.5):
    found = shared(classes(rows, codes, weights), shrinkage, tolerance=1e-12)
    scores = new @ found.weights + found.intercept
    return scores - scores[:, :1]


both = pytest.mark.parametrize(("scored", "close"), [(discriminant, 1e-9), (densities, 1e-3)])
"""Directions have single precision."""


@both
def test_a_weight_of_two_equals_the_row_twice(scored, close):
    rows, codes = data()
    times = np.random.default_rng(0).integers(1, 4, len(codes))
    repeated = np.repeat(rows, times, axis=0), np.repeat(codes, times), None
    expected = scored(*repeated, rows)
    np.testing.assert_allclose(scored(rows, codes, times, rows), expected, rtol=0, atol=close)


@both
def test_a_weight_of_zero_equals_absence(scored, close):
    rows, codes = data()
    more = np.concatenate([rows, rows[::-1] * 5]), np.concatenate([codes, codes])
    weights = np.repeat([1.0, 0.0], len(codes))
    expected = scored(rows, codes, None, rows)
    np.testing.assert_allclose(scored(*more, weights, rows), expected, rtol=0, atol=close)


@both
def test_the_order_of_rows_does_not_matter(scored, close):
    rows, codes = data()
    order = np.random.default_rng(1).permutation(len(codes))
    expected = scored(rows, codes, None, rows)
    np.testing.assert_allclose(scored(rows[order], codes[order], None, rows), expected, rtol=0, atol=close)


@both
def test_the_order_of_columns_does_not_matter(scored, close):
    rows, codes = data()
    order = np.random.default_rng(1).permutation(rows.shape[1])
    expected = scored(rows, codes, None, rows)
    got = scored(rows[:, order], codes, None, rows[:, order])
    np.testing.assert_allclose(got, expected, rtol=0, atol=close)


@both
def test_empty_columns_change_nothing_but_the_mean_variance(scored, close):
    """τ is the mean over columns: half as many columns again, and two thirds of it are left."""
    rows, codes = data()
    wide = np.concatenate([rows, np.zeros((len(rows), 10))], axis=1)
    got = scored(wide, codes, None, wide)
    assert np.isfinite(got).all()
    _, mean, own, pooled, level = written_out(wide, codes)
    for k in range(3):
        C = pooled if scored is discriminant else own[k]
        expected = multivariate_normal(mean[k], 0.5 * C + 0.5 * level * np.eye(30)).logpdf(wide)
        if scored is discriminant:
            expected = expected - multivariate_normal(mean[0], 0.5 * C + 0.5 * level * np.eye(30)).logpdf(
                wide
            )
        np.testing.assert_allclose(got[:, k], expected, rtol=1e-4, atol=1e-4)


def test_empty_rows_are_rows():
    rows, codes = data()
    rows[[0, 5, 9]] = 0.0
    _, mean, own, _, level = written_out(rows, codes)
    got = densities(rows, codes, None, np.zeros((2, 20)))
    for k in range(3):
        expected = multivariate_normal(mean[k], 0.5 * own[k] + 0.5 * level * np.eye(20)).logpdf(np.zeros(20))
        np.testing.assert_allclose(got[:, k], expected, rtol=1e-4)


def test_a_class_of_one_row_is_a_sphere_around_it():
    rows, codes = data((12, 1, 15))
    _, mean, _, _, level = written_out(rows, codes)
    got = densities(rows, codes, None, rows)[:, 1]
    expected = multivariate_normal(mean[1], 0.5 * level * np.eye(20)).logpdf(rows)
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_a_class_of_equal_rows_is_a_sphere_around_them():
    rows, codes = data()
    rows[codes == 1] = rows[codes == 1][0]
    _, mean, _, _, level = written_out(rows, codes)
    got = densities(rows, codes, None, rows)[:, 1]
    expected = multivariate_normal(mean[1], 0.5 * level * np.eye(20)).logpdf(rows)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_class_without_weight_is_finite_and_changes_no_other():
    rows, codes = data()
    weights = np.where(codes == 1, 0.0, 1.0)
    got = densities(rows, codes, weights, rows)
    assert np.isfinite(got).all()
    kept = codes != 1
    alone = np.where(codes[kept] == 2, 1, 0)
    found = Directions.of(classes(rows[kept], alone, names=("a", "c")), 128).shrunk(0.5)
    np.testing.assert_allclose(got[:, [0, 2]], found.log_density(sparse.csr_array(rows)), rtol=1e-6)
    linear = shared(classes(rows, codes, weights), 0.5, tolerance=1e-12)
    assert np.isfinite(linear.weights).all()
    assert linear.weights[:, 1].tolist() == [0.0] * 20


def test_rows_that_are_all_equal_are_refused():
    rows, codes = np.tile([1.0, 0.0, 2.0], (6, 1)), np.array([0, 1] * 3)
    same = classes(rows, codes, names=("a", "b"))
    assert same.variance == pytest.approx(0, abs=1e-15)
    with pytest.raises(TooFewRows, match="no column varies within a class"):
        shared(same, 0.5)
    with pytest.raises(
        TooFewRows, match="class `a` has rows of weight 3, with a covariance of rank 0 over 3 columns"
    ):
        Directions.of(same, 10).shrunk(0.5)


def test_no_shrinkage_is_refused_with_class_and_rank():
    rows, codes = data((12, 9, 15), 40)
    whole = classes(rows, codes)
    with pytest.raises(
        TooFewRows, match="without shrinkage 36 rows have no covariance of 40 columns"
    ) as caught:
        shared(whole, 0.0)
    assert "leave shrinkage out" in caught.value.hint
    words = "class `[abc]` has rows of weight (12|9|15), with a covariance of rank (11|8|14) over 40 columns"
    with pytest.raises(TooFewRows, match=words) as caught:
        Directions.of(whole, 128).shrunk(0.0)
    assert "leave shrinkage out" in caught.value.hint


@together
@pytest.mark.parametrize("seed", range(6))
def test_no_shrinkage_of_a_covariance_of_full_rank_is_that_covariance_or_refused(seed):
    rows, codes = data((60, 50, 70), 4, seed=seed)
    _, mean, own, _, _ = written_out(rows, codes)
    try:
        got = densities(rows, codes, None, rows, shrinkage=0.0)
    except TooFewRows:
        return
    for k in range(3):
        np.testing.assert_allclose(got[:, k], multivariate_normal(mean[k], own[k]).logpdf(rows), rtol=1e-3)


def test_rows_of_another_width_are_refused():
    rows, codes = data()
    found = Directions.of(classes(rows, codes), 5).shrunk(0.5)
    with pytest.raises(InputError, match="rows have 3 columns, the model has 20"):
        found.log_density(sparse.csr_array(np.ones((2, 3))))
    assert found.log_density(sparse.csr_array((0, 20))).shape == (0, 3)


@pytest.mark.parametrize("seed", range(12))
def test_squares_along_directions_and_products_are_those_of_matrices(seed):
    random = np.random.default_rng(seed)
    n, V, R, K = (
        random.integers(1, 30),
        random.integers(1, 400),
        random.integers(0, 300),
        random.integers(1, 5),
    )
    words = np.flatnonzero(random.random(V) < 0.6).astype(np.int32)
    basis = random.normal(size=(len(words), R)).astype(np.float32)
    centre, worth = random.normal(size=(2, R))
    X = sparse.csr_array(random.normal(size=(n, V)) * (random.random((n, V)) < 0.2))
    means = sparse.csr_array(random.normal(size=(V, K)) * (random.random((V, K)) < 0.5))
    raw, turned = (CompressedRows((m.data, m.indices, m.indptr), m.shape).raw for m in (X, means))
    along = X.toarray()[:, words] @ basis.astype(np.float64)
    found = _kernels.squares_along(raw, (words, basis.reshape(-1), centre, worth), V)
    np.testing.assert_allclose(found, ((along - centre) ** 2 * worth).sum(axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        _kernels.row_products(raw, turned, K), X.toarray() @ means.toarray(), rtol=1e-12, atol=1e-12
    )
    for i in range(n):  # few words are looked for one by one
        row = X[[i]]
        alone = CompressedRows((row.data, row.indices, row.indptr), row.shape).raw
        assert _kernels.squares_along(alone, (words, basis.reshape(-1), centre, worth), V)[0] == found[i]


@pytest.mark.parametrize(
    "changes",
    [
        {"words": [1, 1]},
        {"words": [2, 1]},
        {"words": [-1, 1]},
        {"words": [1, 4]},
        {"basis": [0.1] * 3},
        {"centre": [0.0]},
        {"features": [0, 4]},
        {"features": [-1, 0]},
        {"starts": [0, 3]},
    ],
)
def test_directions_that_do_not_fit_are_refused(changes):
    given = {"words": [1, 3], "basis": [0.1] * 4, "centre": [0.0, 0.0], "features": [0, 3], "starts": [0, 2]}
    given |= changes
    rows = np.array(given["starts"], np.int64), np.array(given["features"], np.int32), np.ones(2)
    own = np.array(given["words"], np.int32), np.array(given["basis"], np.float32)
    with pytest.raises(InputError):
        _kernels.squares_along(rows, (*own, np.array(given["centre"]), np.ones(2)), 4)


def test_the_plain_form_is_read_back():
    rows, codes = data((12, 1, 15))
    found = Directions.of(classes(rows, codes), 5).shrunk(0.5)
    again = LowRank.of_arrays(found.arrays(), 3, 20)
    new = sparse.csr_array(rows)
    np.testing.assert_array_equal(again.log_density(new), found.log_density(new))
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(array, found.arrays()[name])
        assert array.dtype == found.arrays()[name].dtype


def wide():
    """Classes of many words: the rows of the second are smaller than its directions."""
    rows, codes = data((12, 9, 3), 400)
    return Directions.of(classes(rows, codes), 8).shrunk(0.5), sparse.csr_array(rows)


def test_directions_are_kept_as_rows_where_that_is_smaller_and_read_back_to_the_bit():
    found, rows = wide()
    arrays = found.arrays()
    assert [span is None for span in found.spans] == [True, False, True]
    assert arrays["rows_of"].tolist() == [0, 9, 0]
    assert len(arrays["basis"]) == found.basis[0].size + found.basis[2].size
    again = LowRank.of_arrays(arrays, 3, 400)
    for one, other in zip(again.basis, found.basis, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.log_density(rows), found.log_density(rows))
    assert again.arrays().keys() == arrays.keys()
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(array, arrays[name])


def test_directions_of_rows_that_do_not_fit_are_refused():
    found, _ = wide()
    arrays = found.arrays()
    names = [name for name in arrays if name.startswith("row")]
    assert len(names) == 5
    for name in names:
        array = arrays[name]
        damaged = [array[:-1], array[:0], np.append(array, array[:1]), array.astype("i2"), array[None]]
        large = np.iinfo(array.dtype).max if array.dtype.kind == "u" else np.nan
        for at in (0, -1):
            other = array.copy()
            other[at] = large
            damaged.append(other)
        for each in damaged:
            with pytest.raises(InputError):
                LowRank.of_arrays(arrays | {name: each}, 3, 400)
        with pytest.raises(InputError, match=r"missing|fit together"):
            LowRank.of_arrays({other: arrays[other] for other in arrays if other != name}, 3, 400)


def test_a_part_of_the_rows_has_the_classes_of_all():
    rows, codes = data()
    kept = codes != 1
    part = classes(rows, codes).part(kept)
    assert part.classes == CLASSES
    assert part.mass.tolist() == [12.0, 0.0, 15.0]
    np.testing.assert_array_equal(part.rows.toarray(), rows[kept])


# The learners of sparse rows


def labelled(seed=0, V=20, n=60):
    rows, codes = data((n, n, n), V, seed)
    return sparse.csr_array(rows), [CLASSES[k] for k in codes]


def fit(learner, rows, labels, weights=None):
    return learner.fit_design(None, LabelledRows.of(rows, labels, weights))


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_the_temperature_makes_held_out_rows_cost_less(kind):
    rows, labels = labelled()
    new, truth = labelled(1)
    found = fit(kind(0.5), rows, labels)
    codes = np.array([CLASSES.index(label) for label in truth])
    loss = -found.model.log_posterior(new)[np.arange(len(codes)), codes].mean()
    assert loss < np.log(3) - 0.1
    about = found.report()
    assert about["shrinkage"] == 0.5
    assert about["temperature"] > 0
    assert about["held_out"] == 180


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_the_shrinkage_of_least_held_out_loss_is_chosen(kind):
    about = fit(kind(), *labelled()).report()
    losses = dict(map(tuple, about["path"]))
    assert losses[about["shrinkage"]] == min(losses.values())
    assert len(losses) >= 2


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_each_shrinkage_that_is_tried_has_a_loss_of_its_own(kind):
    for seed in range(4):
        losses = [loss for _, loss in fit(kind(), *labelled(seed)).report()["path"]]
        assert len(set(np.round(losses, 12))) == len(losses)


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_rows_of_very_few_texts_are_learned_without_holding_any_out(kind):
    rows, labels = data((2, 2, 0))
    found = fit(kind(), sparse.csr_array(rows), [CLASSES[k] for k in labels])
    assert np.isfinite(found.model.log_posterior(sparse.csr_array(rows))).all()


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
@pytest.mark.parametrize("how", ["oas", "ledoit-wolf", "likelihood"])
def test_ways_to_shrink_that_need_all_of_a_covariance_are_refused(kind, how):
    with pytest.raises(Unsupported, match=f"not by {how}") as caught:
        fit(kind(how), *labelled())
    assert "leave it out" in caught.value.hint


def test_sparse_rows_are_not_pooled():
    with pytest.raises(Unsupported, match="sparse rows are not pooled"):
        fit(QuadraticDiscriminantLearner(pooling=0.5), *labelled())


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_no_input_is_changed(kind):
    rows, labels = labelled()
    weights = np.linspace(0.1, 2, len(labels))
    before = rows.copy(), list(labels), weights.copy()
    fit(kind(), rows, labels, weights).model.log_posterior(rows)
    np.testing.assert_array_equal(rows.toarray(), before[0].toarray())
    np.testing.assert_array_equal(rows.data, before[0].data)
    assert labels == before[1]
    np.testing.assert_array_equal(weights, before[2])


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
@pytest.mark.parametrize("prior", ["uniform", {"a": 0.9, "b": 0.05, "c": 0.05}], ids=str)
def test_a_prior_given_beforehand_equals_that_prior_given_later(kind, prior):
    rows, labels = data((150, 50, 25))
    rows, labels = sparse.csr_array(rows), [CLASSES[k] for k in labels]
    given = fit(kind(0.5, prior=prior), rows, labels).model
    shares = np.full(3, 1 / 3) if prior == "uniform" else np.array(list(prior.values()))
    later = fit(kind(0.5), rows, labels).model.with_prior(np.log(shares))
    np.testing.assert_allclose(given.log_prior, later.log_prior, rtol=1e-12)
    np.testing.assert_allclose(
        np.exp(given.log_posterior(rows)), np.exp(later.log_posterior(rows)), rtol=0, atol=0.01
    )


@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
def test_a_class_that_was_impossible_in_training_is_possible_under_another_prior(kind):
    rows, labels = labelled()
    model = fit(kind(0.5, prior={"a": 0.5, "b": 0.5, "c": 0.0}), rows, labels).model
    assert np.exp(model.log_posterior(rows))[:, 2].max() < 1e-9
    best = model.with_prior(np.log(np.full(3, 1 / 3))).log_posterior(rows).argmax(axis=1)
    assert (np.array(CLASSES)[best] == np.array(labels)).mean() > 0.6


# Naive Bayes: a diagonal covariance of each class


@pairwise
@weighted
@pytest.mark.parametrize("smoothing", [1.0, 1e-3, 1e-9])
@pytest.mark.parametrize("density", [0.1, 0.3])
def test_a_diagonal_covariance_is_that_of_scikit_learn(weighted, smoothing, density):
    rows, codes = data(density=density)
    w = weights_of(codes) if weighted else None
    largest = np.average((rows - np.average(rows, axis=0, weights=w)) ** 2, axis=0, weights=w).max()
    share = smoothing * largest / rows.var(axis=0).max()  # theirs is of rows without their weights
    theirs = GaussianNB(var_smoothing=share).fit(rows, codes, w)
    ours = WordMoments.of(classes(rows, codes, w)).smoothed(smoothing)
    mean, variance = ours.columns(np.arange(rows.shape[1]))
    np.testing.assert_allclose(mean.T, theirs.theta_, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(variance.T, theirs.var_, rtol=1e-9)
    assert ours.rest == pytest.approx(theirs.epsilon_, rel=1e-12)
    new, _ = data(seed=1, density=density)
    asked = np.concatenate([rows, new, np.zeros((1, rows.shape[1]))])
    expected = theirs.predict_joint_log_proba(asked) - np.log(theirs.class_prior_)
    got = ours.log_density(sparse.csr_array(asked))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-4)  # where a variance is 1e-9 of another
    np.testing.assert_allclose(Diagonal(mean.T, variance.T).log_density(asked), got, rtol=1e-9, atol=1e-4)


def test_a_row_of_words_that_a_class_has_is_not_lost_in_rounding():
    rows, codes = data(density=0.9)
    everywhere = rows > 0
    assert all(everywhere[codes == k].any(axis=0).all() for k in range(3))
    ours = WordMoments.of(classes(rows, codes)).smoothed(1e-12)
    theirs = GaussianNB(var_smoothing=1e-12).fit(rows, codes)
    expected = theirs.predict_joint_log_proba(rows) - np.log(theirs.class_prior_)
    np.testing.assert_allclose(ours.log_density(sparse.csr_array(rows)), expected, rtol=1e-10, atol=1e-10)


def test_a_weight_of_two_is_two_rows():
    rows, codes = data()
    twice = classes(np.concatenate([rows, rows[:5]]), np.concatenate([codes, codes[:5]]))
    heavy = classes(rows, codes, np.where(np.arange(len(codes)) < 5, 2.0, 1.0))
    got, expected = (
        WordMoments.of(each).smoothed(0.1).log_density(sparse.csr_array(rows)) for each in (heavy, twice)
    )
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_without_smoothing_a_class_whose_words_do_not_vary_is_named():
    rows, codes = data(density=0.9)
    rows[codes == 1, 4] = 0.0
    with pytest.raises(TooFewRows, match="does not vary in class `b` has no density") as caught:
        WordMoments.of(classes(rows, codes)).smoothed(0.0)
    assert "1e-9" in caught.value.hint


def test_texts_that_are_all_alike_are_refused():
    rows, codes = np.ones((6, 3)), np.array([0, 0, 1, 1, 2, 2])
    learner = GaussianLearner()
    with pytest.raises(TooFewRows, match="no word varies"):
        learner.fit_design(None, LabelledRows(sparse.csr_array(rows), CLASSES, codes, np.ones(6)))


def test_a_class_of_one_row_has_the_smoothing_as_its_variance():
    rows, codes = data(sizes=(12, 1, 15))
    ours = WordMoments.of(classes(rows, codes)).smoothed(0.5)
    _, variance = ours.columns(np.arange(rows.shape[1]))
    np.testing.assert_array_equal(variance[:, 1], ours.rest)
    assert np.isfinite(ours.log_density(sparse.csr_array(rows))).all()


def test_smoothing_is_chosen_on_held_out_rows_unless_it_is_given():
    rows, codes = data(sizes=(60, 60, 60))
    labelled = LabelledRows(sparse.csr_array(rows), CLASSES, codes, np.ones(len(codes)))
    chosen = GaussianLearner().fit_design(None, labelled)
    losses = dict(chosen.about["path"])
    assert losses[chosen.about["smoothing"]] == min(losses.values())
    assert chosen.held_out is not None
    given = GaussianLearner(1e-9).fit_design(None, labelled, calibrate=False)
    theirs = GaussianNB().fit(rows, codes)
    np.testing.assert_array_equal(given.model.scores(labelled.rows).argmax(axis=1), theirs.predict(rows))
    assert given.model.temperature == 1.0
