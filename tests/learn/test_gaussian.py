"""Gaussian classes of dense rows: densities, covariances and shrinkage, against SciPy and scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn import covariance as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SkLDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as SkQDA
from sklearn.naive_bayes import GaussianNB as SkGaussianNB

from pairs import in_turn, pairwise, together
from textodds.errors import InputError, Shrunk, TooFewRows
from textodds.learn.conditionals.gaussian import Gaussian, oas, overall_variance
from textodds.learn.covariance import INTENSITIES, chosen, leave_one_out, ledoit_wolf
from textodds.learn.design import LabelledRows
from textodds.learn.discriminant import (
    GaussianLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from textodds.learn.forms.linear import log_prior
from textodds.learn.forms.quadratic import Diagonal, Full, QuadraticModel
from textodds.stats.moments import Moments

CLASSES = ("a", "b", "c")
NAN = float("nan")
TARGETS = ("diagonal", "sphere", "unit")


def data(sizes=(30, 50, 40), V=4, seed=0):
    """Rows of correlated columns of different units, class by class, with labels."""
    random = np.random.default_rng(seed)
    rows, labels = [], []
    for k, n in enumerate(sizes):
        mix = np.linalg.qr(random.normal(size=(V, V)))[0] * np.geomspace(0.3, 1.5, V)[:, None]
        rows.append((random.normal(size=(n, V)) + random.normal(size=V)) @ mix * np.geomspace(0.3, 4, V) + 5)
        labels += [CLASSES[k]] * n
    order = random.permutation(len(labels))
    return np.concatenate(rows)[order], [labels[i] for i in order]


def weights_of(labels, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 3, len(labels))


def coded(labels):
    classes = tuple(sorted(set(labels)))
    return np.array([classes.index(label) for label in labels], dtype=np.int64), classes


def scatters(rows, labels, weights=None):
    """Weight, mean and scatter of each class, from the definition."""
    labels = np.array(labels)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights)
    found = []
    for name in sorted(set(labels)):
        own, u = rows[labels == name], weights[labels == name]
        mean = (u[:, None] * own).sum(axis=0) / u.sum()
        found.append(
            (u.sum(), mean, sum(w * np.outer(x - mean, x - mean) for w, x in zip(u, own, strict=True)))
        )
    n, mean, scatter = zip(*found, strict=True)
    return np.array(n), np.array(mean), np.array(scatter)


def target_of(C, target):
    V = len(C)
    return {"diagonal": np.diag(np.diag(C)), "sphere": np.trace(C) / V * np.eye(V), "unit": np.eye(V)}[target]


def fitted(rows, labels, weights=None, covariance="full", **choices):
    full = covariance != "diagonal"
    return Gaussian(covariance, **choices).fit(Moments.of(rows, labels, weights, full=full))


# Densities


@pytest.mark.parametrize("weighted", [False, True])
def test_diagonal_densities_are_products_of_scipys_normal(weighted):
    rows, labels = data()
    w = weights_of(labels) if weighted else None
    n, mean, scatter = scatters(rows, labels, w)
    found = fitted(rows, labels, w, "diagonal", smoothing=0.0)
    new = data(seed=1)[0]
    for k in range(3):
        sd = np.sqrt(np.diag(scatter[k]) / n[k])
        expected = norm.logpdf(new, mean[k], sd)
        np.testing.assert_allclose(found.log_density(new)[:, k], expected.sum(axis=1), rtol=1e-10)
        np.testing.assert_allclose(found.by_column(new)[:, :, k], expected, rtol=1e-10, atol=1e-12)


def test_a_missing_number_is_left_out_of_the_density():
    rows, labels = data()
    found = fitted(rows, labels, covariance="diagonal")
    new = data(seed=1)[0][:6]
    new[0, 1] = new[1, 0] = new[1, 3] = NAN
    new[2] = NAN
    expected = np.zeros((6, 3))
    for k in range(3):
        each = norm.logpdf(new, found.mean[k], np.sqrt(found.variance[k]))
        expected[:, k] = np.where(np.isnan(new), 0.0, each).sum(axis=1)
    np.testing.assert_allclose(found.log_density(new), expected, rtol=1e-10)
    assert found.log_density(new)[2].tolist() == [0.0, 0.0, 0.0]


@pairwise
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_full_densities_are_scipys(covariance, gamma, target, weighted):
    rows, labels = data()
    w = weights_of(labels) if weighted else None
    n, mean, scatter = scatters(rows, labels, w)
    found = fitted(rows, labels, w, covariance, shrinkage=gamma, target=target, smoothing=0.0)
    new = data(seed=1)[0]
    got = found.log_density(new)
    for k in range(3):
        C = scatter.sum(axis=0) / n.sum() if covariance == "shared" else scatter[k] / n[k]
        sigma = (1 - gamma) * C + gamma * target_of(C, target)
        np.testing.assert_allclose(found.covariance()[k if covariance == "full" else 0], sigma, rtol=1e-10)
        np.testing.assert_allclose(got[:, k], multivariate_normal(mean[k], sigma).logpdf(new), rtol=1e-10)
        at_mean = multivariate_normal(mean[k], sigma).logpdf(mean[k])
        assert found.constants()[k] == pytest.approx(at_mean, rel=1e-10)


@together
@pytest.mark.parametrize("pooling", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_pooling_is_that_of_friedman(pooling, gamma):
    rows, labels = data((9, 50, 20))
    w = weights_of(labels)
    n, _, scatter = scatters(rows, labels, w)
    found = fitted(rows, labels, w, pooling=pooling, shrinkage=gamma, target="sphere", smoothing=0.0)
    for k in range(3):
        mixed = (1 - pooling) * scatter[k] + pooling * scatter.sum(axis=0)
        C = mixed / ((1 - pooling) * n[k] + pooling * n.sum())
        sigma = (1 - gamma) * C + gamma * np.trace(C) / 4 * np.eye(4)
        np.testing.assert_allclose(found.covariance()[k], sigma, rtol=1e-10)


def test_pooled_all_the_way_is_shared():
    rows, labels = data()
    pooled, shared = fitted(rows, labels, pooling=1.0), fitted(rows, labels, covariance="shared")
    np.testing.assert_allclose(pooled.log_density(rows), shared.log_density(rows), rtol=1e-10)


def test_a_diagonal_covariance_shrinks_towards_the_mean_of_its_variances():
    rows, labels = data()
    n, _, scatter = scatters(rows, labels)
    found = fitted(rows, labels, covariance="diagonal", shrinkage=0.3, target="sphere", smoothing=0.0)
    own = np.einsum("kvv->kv", scatter) / n[:, None]
    np.testing.assert_allclose(found.variance, 0.7 * own + 0.3 * own.mean(axis=1, keepdims=True), rtol=1e-10)


def test_smoothing_is_a_share_of_the_variance_over_all_rows():
    rows, labels = data()
    overall = rows.var(axis=0)
    np.testing.assert_allclose(overall_variance(Moments.of(rows, labels)), overall, rtol=1e-12)
    for of_largest, added in ((False, 0.5 * overall), (True, 0.5 * overall.max())):
        rough = fitted(rows, labels, covariance="diagonal", smoothing=0.5, of_largest=of_largest)
        plain = fitted(rows, labels, covariance="diagonal", smoothing=0.0)
        np.testing.assert_allclose(rough.variance, plain.variance + added, rtol=1e-12)
        rough, plain = (
            fitted(rows, labels, smoothing=x, of_largest=of_largest).covariance() for x in (0.5, 0.0)
        )
        np.testing.assert_allclose(rough, plain + np.diag(np.broadcast_to(added, 4)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "shared", "full"])
def test_densities_of_one_column_integrate_to_one(covariance):
    rows, labels = data(V=1)
    found = fitted(rows, labels, covariance=covariance)
    grid = np.linspace(rows.min() - 60, rows.max() + 60, 200_001)
    mass = np.trapezoid(np.exp(found.log_density(grid[:, None])), grid, axis=0)
    np.testing.assert_allclose(mass, 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("covariance", ["diagonal", "shared", "full"])
def test_densities_of_two_columns_integrate_to_one(covariance):
    rows, labels = data(V=2)
    found = fitted(rows, labels, covariance=covariance)
    axes = [np.linspace(x.min() - 4 * x.std(), x.max() + 4 * x.std(), 500) for x in rows.T]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(found.log_density(grid)).reshape(500, 500, 3)
    mass = np.trapezoid(np.trapezoid(density, axes[1], axis=1), axes[0], axis=0)
    np.testing.assert_allclose(mass, 1, rtol=0, atol=1e-4)


def test_many_rows_are_scored_as_few_are():
    rows, labels = data()
    many = np.tile(rows, (1000, 1))
    for covariance in ("diagonal", "shared", "full"):
        found = fitted(rows, labels, covariance=covariance)
        expected = np.tile(found.log_density(rows), (1000, 1))
        np.testing.assert_allclose(found.log_density(many), expected, rtol=1e-13)


def test_the_linear_form_has_the_differences_of_the_densities():
    rows, labels = data()
    found = fitted(rows, labels, weights_of(labels), "shared", shrinkage=0.1)
    intercept, weights = found.linear()
    new = data(seed=1)[0]
    scores, density = new @ weights + intercept, found.log_density(new)
    np.testing.assert_allclose(scores - scores[:, :1], density - density[:, :1], rtol=0, atol=1e-9)


# Against scikit-learn


def learned(learner, rows, labels, weights=None):
    """The model of numbers, as tables have it: the Gaussian of the learner is chosen, then fitted."""
    data = LabelledRows.of(rows, labels, weights, missing=isinstance(learner, GaussianLearner))
    if isinstance(learner, GaussianLearner):
        gaussian = learner.gaussian
    else:
        covariance = "shared" if isinstance(learner, LinearDiscriminantLearner) else "full"
        gaussian = chosen(covariance, learner.shrinkage, data, pooling=getattr(learner, "pooling", 0.0))
    moments = Moments.of_codes(data.rows, data.codes, data.classes, data.weights, full=gaussian.is_full)
    prior = log_prior(learner.prior, data.classes, data.class_weights())
    return QuadraticModel(data.classes, prior, gaussian.fit(moments))


def posteriors(learner, rows, labels, new, weights=None):
    return np.exp(learned(learner, rows, labels, weights).log_posterior(new))


@pytest.mark.parametrize("smoothing", [1e-9, 1e-2])
def test_gaussian_naive_bayes_smoothed_as_scikit_learn_does_is_scikit_learns(smoothing):
    rows, labels = data()
    new = data(seed=1)[0]
    reference = SkGaussianNB(var_smoothing=smoothing).fit(rows, labels)
    found = fitted(rows, labels, covariance="diagonal", smoothing=smoothing, of_largest=True)
    got = np.exp(QuadraticModel(CLASSES, np.log(reference.class_prior_), found).log_posterior(new))
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_naive_bayes_is_scikit_learns(weighted):
    rows, labels = data()
    w = weights_of(labels) if weighted else None
    new = data(seed=1)[0]
    reference = SkGaussianNB(var_smoothing=0).fit(rows, labels, w)
    got = posteriors(GaussianLearner(smoothing=0.0), rows, labels, new, w)
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)


@together
@pytest.mark.parametrize("prior", ["data", "uniform", {"a": 0.7, "b": 0.2, "c": 0.1}], ids=str)
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_discriminant_analysis_is_scikit_learns(solver, prior):
    rows, labels = data()
    new = data(seed=1)[0]
    shares = {"data": np.array([30, 50, 40]) / 120, "uniform": np.full(3, 1 / 3)}
    shares = np.array([0.7, 0.2, 0.1]) if isinstance(prior, dict) else shares[prior]
    expected = with_priors(SkLDA(solver=solver).fit(rows, labels), shares)(new)
    found = fitted(rows, labels, covariance="shared", smoothing=0.0)
    got = np.exp(QuadraticModel(CLASSES, np.log(shares), found).log_posterior(new))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8)
    got = posteriors(LinearDiscriminantLearner(0.0, prior), rows, labels, new)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7)  # it has a smoothing of 1e-9


def with_priors(reference, priors):
    """The posteriors of a model of scikit-learn under other priors, by Bayes' rule.

    Given to it, they would weigh the covariances of the classes as well.
    """

    def proba(rows):
        odds = reference.predict_proba(rows) / reference.priors_ * priors
        return odds / odds.sum(axis=1, keepdims=True)

    return proba


@together
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("gamma", [0.1, 0.7, 1.0])
def test_shrunk_towards_a_sphere_linear_discriminant_analysis_is_scikit_learns(solver, gamma):
    """Its covariances are shrunk one by one and then averaged, which for a sphere is the same."""
    rows, labels = data()
    new = data(seed=1)[0]
    found = fitted(rows, labels, covariance="shared", shrinkage=gamma, target="sphere", smoothing=0.0)
    prior = np.log([30 / 120, 50 / 120, 40 / 120])
    got = np.exp(QuadraticModel(CLASSES, prior, found).log_posterior(new))
    reference = SkLDA(solver=solver, shrinkage=gamma).fit(rows, labels)
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_quadratic_discriminant_analysis_is_scikit_learns(solver):
    rows, labels = data()
    new = data(seed=1)[0]
    reference = SkQDA(solver=solver).fit(rows, labels)
    found = fitted(rows, labels, smoothing=0.0)
    prior = np.log(np.array([30, 50, 40]) / 120)
    got = np.exp(QuadraticModel(CLASSES, prior, found).log_posterior(new))
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)
    got = posteriors(QuadraticDiscriminantLearner(0.0), rows, labels, new)
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-7)  # smoothed by 1e-9


@pytest.mark.parametrize("gamma", [0.1, 0.7])
def test_shrunk_towards_the_unit_matrix_quadratic_discriminant_analysis_is_scikit_learns(gamma):
    rows, labels = data()
    new = data(seed=1)[0]
    reference = SkQDA(reg_param=gamma).fit(rows, labels)
    found = fitted(rows, labels, shrinkage=gamma, target="unit", smoothing=0.0)
    prior = np.log(np.array([30, 50, 40]) / 120)
    got = np.exp(QuadraticModel(CLASSES, prior, found).log_posterior(new))
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)


@pytest.mark.parametrize("gamma", [0.2, 0.8])
def test_shrunk_towards_a_sphere_quadratic_discriminant_analysis_is_scikit_learns(gamma):
    rows, labels = data()
    new = data(seed=1)[0]
    reference = SkQDA(solver="eigen", shrinkage=gamma).fit(rows, labels)
    found = fitted(rows, labels, shrinkage=gamma, target="sphere", smoothing=0.0)
    prior = np.log(np.array([30, 50, 40]) / 120)
    got = np.exp(QuadraticModel(CLASSES, prior, found).log_posterior(new))
    np.testing.assert_allclose(got, reference.predict_proba(new), rtol=0, atol=1e-8)


# Intensities


@together
@pytest.mark.parametrize(("n", "V"), [(5, 3), (20, 4), (8, 30), (200, 2)])
def test_oas_is_scikit_learns(n, V):
    rows = data((n, 1, 1), V)[0][:n]
    rows = rows - rows.mean(axis=0)
    C = rows.T @ rows / n
    assert oas(C, n) == pytest.approx(sk.oas(rows, assume_centered=True)[1], rel=1e-10)


@together
@pytest.mark.parametrize(("n", "V"), [(5, 3), (20, 4), (8, 30), (200, 2)])
def test_ledoit_wolf_is_scikit_learns(n, V):
    rows = data((n, 1, 1), V)[0][:n]
    rows = rows - rows.mean(axis=0)
    expected = sk.ledoit_wolf_shrinkage(rows, assume_centered=True)
    assert ledoit_wolf(rows, np.ones(n)) == pytest.approx(expected, rel=1e-10)


def test_weighted_ledoit_wolf_is_that_of_repeated_rows():
    random = np.random.default_rng(0)
    rows, times = random.normal(size=(12, 3)), random.integers(1, 5, 12)
    repeated = np.repeat(rows, times, axis=0)
    mean = repeated.mean(axis=0)
    expected = sk.ledoit_wolf_shrinkage(repeated - mean, assume_centered=True)
    assert ledoit_wolf(rows - mean, times.astype(float)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("target", ["sphere", "diagonal"])
def test_oas_in_a_fit_is_that_of_each_class(target):
    """Of columns divided by their deviation for a diagonal target."""
    rows, labels = data()
    got = fitted(rows, labels, shrinkage="oas", target=target, smoothing=0.0).covariance()
    for k, name in enumerate(CLASSES):
        own = rows[np.array(labels) == name]
        unit = own.std(axis=0) if target == "diagonal" else np.ones(4)
        expected = sk.oas(own / unit)[0] * np.outer(unit, unit)
        np.testing.assert_allclose(got[k], expected, rtol=1e-9)


def test_oas_of_a_shared_covariance_is_that_of_all_centred_rows():
    rows, labels = data()
    centred = rows - scatters(rows, labels)[1][coded(labels)[0]]
    expected = sk.oas(centred, assume_centered=True)[0]
    got = fitted(
        rows, labels, covariance="shared", shrinkage="oas", target="sphere", smoothing=0.0
    ).covariance()
    np.testing.assert_allclose(got[0], expected, rtol=1e-9)


def test_oas_in_a_fit_takes_weights_for_repeated_rows():
    rows, labels = data((8, 9, 7))
    times = np.random.default_rng(0).integers(1, 4, len(rows))
    weighted = fitted(rows, labels, times.astype(float), shrinkage="oas")
    repeated = fitted(np.repeat(rows, times, axis=0), np.repeat(labels, times).tolist(), shrinkage="oas")
    np.testing.assert_allclose(weighted.covariance(), repeated.covariance(), rtol=1e-9)


def left_out(rows, weights, codes, gamma, own):
    """Log-likelihood of each row under the Gaussian refitted without it; the target's level is kept.

    For a shared covariance ``own`` is False: the mean is that of the row's class, the scatter that of all.
    """
    N, V = rows.shape
    means = {
        k: np.average(rows[codes == k], axis=0, weights=weights[codes == k]) for k in set(codes.tolist())
    }
    scatter = sum(
        w * np.outer(x - means[k], x - means[k]) for x, w, k in zip(rows, weights, codes, strict=True)
    )
    level = np.trace(scatter) / weights.sum() / V
    total = 0.0
    for i in range(N):
        rest = np.arange(N) != i
        if not (rest & (codes == codes[i])).any():
            continue
        n, S, mean = 0.0, np.zeros((V, V)), None
        for k in set(codes[rest].tolist()):
            part = rest & (codes == k)
            m = np.average(rows[part], axis=0, weights=weights[part])
            if k == codes[i]:
                mean = m
            n += weights[part].sum()
            S = S + sum(w * np.outer(x - m, x - m) for x, w in zip(rows[part], weights[part], strict=True))
        sigma = (1 - gamma) * S / n + gamma * level * np.eye(V)
        total += weights[i] * multivariate_normal(mean, sigma).logpdf(rows[i])
    return total


@together
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own", [True, False], ids=["own", "shared"])
def test_leave_one_out_likelihood_is_that_of_refitting(own, weighted):
    rows, labels = data((9, 12, 10) if not own else (14, 0, 0), V=3)
    codes, _ = coded(labels)
    w = weights_of(labels) if weighted else np.ones(len(rows))
    n, mean, scatter = scatters(rows, labels, w)
    intensities = np.array([0.0, 0.01, 0.3, 1.0])
    got = leave_one_out(rows - mean[codes], w, scatter.sum(axis=0), float(n.sum()), n[codes], intensities)
    expected = [left_out(rows, w, codes, gamma, own) for gamma in intensities]
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_the_only_row_of_a_class_is_not_left_out():
    rows, labels = data((9, 1, 10), V=3)
    codes, _ = coded(labels)
    w = np.ones(len(rows))
    n, mean, scatter = scatters(rows, labels, w)
    got = leave_one_out(rows - mean[codes], w, scatter.sum(axis=0), 20.0, n[codes], np.array([0.3]))
    np.testing.assert_allclose(got, [left_out(rows, w, codes, 0.3, own=False)], rtol=1e-10)


def test_too_few_rows_to_leave_one_out_are_infinitely_unlikely_without_shrinkage():
    rows, labels = data((5, 0, 0), V=5)
    _, mean, scatter = scatters(rows, labels)
    got = leave_one_out(rows - mean[0], np.ones(5), scatter[0], 5.0, np.full(5, 5.0), np.array([0.0, 0.5]))
    assert got[0] == -np.inf
    assert np.isfinite(got[1])


def choose(covariance, shrinkage, rows, labels, weights=None, pooling=0.0):
    codes, classes = coded(labels)
    w = np.ones(len(rows)) if weights is None else weights
    return chosen(covariance, shrinkage, LabelledRows(rows, classes, codes, w), pooling=pooling)


@pytest.mark.slow
def test_the_likelihood_chooses_the_best_intensity_of_each_class():
    rows, labels = data((20, 60, 7), V=3)
    found = choose("full", None, rows, labels)
    for name in CLASSES:
        own = rows[np.array(labels) == name]
        own = own / own.std(axis=0)
        each = [
            left_out(own, np.ones(len(own)), np.zeros(len(own), int), gamma, True) for gamma in INTENSITIES
        ]
        assert found.shrinkage[name] == INTENSITIES[int(np.argmax(each))]
    assert len(set(found.shrinkage.values())) > 1  # or little would be shown
    assert found == choose("full", "likelihood", rows, labels)


def test_the_likelihood_chooses_one_intensity_for_a_shared_covariance():
    rows, labels = data((5, 6, 5), V=3)
    codes, _ = coded(labels)
    found = choose("shared", "likelihood", rows, labels)
    n, _, scatter = scatters(rows, labels)
    z = rows / np.sqrt(np.diag(scatter.sum(axis=0)) / n.sum())
    each = [left_out(z, np.ones(16), codes, gamma, False) for gamma in INTENSITIES]
    assert found.shrinkage == INTENSITIES[int(np.argmax(each))]


def test_ledoit_wolf_chooses_for_each_class():
    rows, labels = data()
    found = choose("full", "ledoit-wolf", rows, labels)
    for name in CLASSES:
        own = rows[np.array(labels) == name]
        own = own / own.std(axis=0)
        assert found.shrinkage[name] == pytest.approx(sk.ledoit_wolf(own)[1], rel=1e-9)


def test_what_is_given_is_taken():
    rows, labels = data()
    for given in (0.25, 1, "oas"):
        assert choose("full", given, rows, labels, pooling=0.5) == Gaussian("full", given, pooling=0.5)


@together
@pytest.mark.parametrize("how", [None, "ledoit-wolf"])
@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_a_row_without_weight_does_not_choose(covariance, how):
    rows, labels = data((20, 20, 20))
    found = choose(covariance, how, rows, labels)
    more = np.concatenate([rows, rows + 50])
    weights = np.concatenate([np.ones(60), np.zeros(60)])
    beside = choose(covariance, how, more, labels * 2, weights)
    assert beside.shrinkage == pytest.approx(found.shrinkage, rel=1e-9)


@together
@pytest.mark.parametrize("how", [None, "ledoit-wolf"])
@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_a_column_that_never_varies_does_not_choose(covariance, how):
    rows, labels = data((20, 30, 25), V=3)
    plain = choose(covariance, how, rows, labels)
    beside = choose(covariance, how, np.column_stack([rows, np.ones((75, 3))]), labels)
    assert beside.shrinkage == pytest.approx(plain.shrinkage, rel=1e-9)


def test_a_column_that_never_varies_does_not_change_oas():
    rows, labels = data((20, 30, 25), V=3)
    plain = fitted(rows, labels, shrinkage="oas", smoothing=0.0).covariance()
    beside = fitted(np.column_stack([rows, np.ones((75, 3))]), labels, shrinkage="oas", smoothing=1e-15)
    np.testing.assert_allclose(beside.covariance()[:, :3, :3], plain, rtol=1e-9)


def test_a_class_of_which_no_row_can_be_left_out_is_shrunk_all_the_way():
    rows, labels = data((20, 1, 20))
    assert choose("full", None, rows, labels).shrinkage["b"] == 1.0


def test_of_many_rows_some_are_looked_at_and_no_class_is_lost(monkeypatch):
    monkeypatch.setattr("textodds.learn.covariance.MOST", 50)
    rows, labels = data((600, 1, 800))
    kept = np.sort(np.random.default_rng(0).permutation(1401)[:50])
    assert "b" not in {labels[i] for i in kept}
    found = choose("full", None, rows, labels)
    assert found == choose("full", None, rows, labels)
    part = choose("full", None, rows[kept], [labels[i] for i in kept])
    assert found.shrinkage == {**part.shrinkage, "b": 1.0}


# What is refused, and what is not


@together
@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"covariance": "ful"}, "did you mean `full`"),
        ({"covariance": "full", "target": "cube"}, "unknown target 'cube'"),
        ({"covariance": "full", "shrinkage": 1.5}, "shrinkage must be from 0 to 1, got 1.5"),
        ({"covariance": "full", "shrinkage": NAN}, "shrinkage must be from 0 to 1, got nan"),
        ({"covariance": "full", "shrinkage": {"a": -0.1}}, "shrinkage must be from 0 to 1, got -0.1"),
        ({"covariance": "full", "shrinkage": "some"}, "unknown shrinkage 'some'"),
        ({"covariance": "full", "shrinkage": True}, "shrinkage must be from 0 to 1, got True"),
        ({"covariance": "full", "pooling": 2}, "pooling must be from 0 to 1, got 2"),
        ({"covariance": "shared", "pooling": 0.5}, "pooling applies to class covariances"),
        ({"smoothing": -1.0}, "smoothing must be zero or more"),
        ({"smoothing": NAN}, "smoothing must be zero or more"),
        ({"smoothing": np.inf}, "smoothing must be zero or more"),
        ({"shrinkage": 0.5}, "shrinkage does not apply to a diagonal covariance"),
    ],
    ids=str,
)
def test_choices_that_cannot_be_are_refused_when_they_are_made(choices, words):
    with pytest.raises(InputError, match=words):
        Gaussian(**choices)


def test_oas_of_a_diagonal_covariance_is_refused_or_fitted():
    rows, labels = data()
    try:
        gaussian = Gaussian("diagonal", "oas", target="sphere")
    except InputError:
        return
    assert np.isfinite(gaussian.fit(Moments.of(rows, labels)).variance).all()


def test_a_class_without_a_shrinkage_of_its_own_is_named():
    rows, labels = data()
    with pytest.raises(InputError, match="no shrinkage for class `c`"):
        fitted(rows, labels, shrinkage={"a": 0.1, "b": 0.2})


def test_moments_without_products_of_columns_are_refused():
    with pytest.raises(InputError, match="needs moments with a full scatter"):
        Gaussian("full").fit(Moments.of(*data()))


def test_a_class_of_too_few_rows_is_named_with_its_rank():
    rows, labels = data((30, 4, 30))
    with pytest.raises(
        TooFewRows, match="class `b` has 4 rows, with a covariance of rank 3 over 4 columns"
    ) as e:
        fitted(rows, labels)
    assert "shrinkage='oas'" in e.value.hint


def test_a_class_of_one_row_is_named_with_its_rank():
    rows, labels = data((30, 30, 1))
    with pytest.raises(TooFewRows, match="class `c` has 1 rows, with a covariance of rank 0 over 4 columns"):
        fitted(rows, labels)


def test_as_many_rows_as_make_a_covariance_are_enough():
    rows, labels = data((30, 5, 30))
    assert np.isfinite(fitted(rows, labels).log_density(rows)).all()


def test_a_shared_covariance_of_too_few_rows_is_refused_with_its_rank():
    rows, labels = data((3, 2, 2), V=6)
    with pytest.raises(TooFewRows, match="7 rows in 3 classes have a covariance of rank 4 over 6 columns"):
        fitted(rows, labels, covariance="shared")


def test_a_single_class_of_too_few_rows_is_refused():
    rows, labels = data((3, 0, 0), V=10)
    with pytest.raises(TooFewRows, match="class `a` has 3 rows, with a covariance of rank 2 over 10 columns"):
        fitted(rows, labels)


@together
@pytest.mark.parametrize("smoothing", [1e-9, 0.0])
@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_without_smoothing_columns_that_repeat_one_another_are_refused(covariance, smoothing):
    """With it they are harmless; without there is no density, whatever rounding makes of the pivots."""
    for seed in range(10):
        rows, labels = data(seed=seed)
        rows = np.column_stack([rows, rows[:, 0] * 3, rows @ [1.0, 2.0, -1.0, 0.5]])
        if smoothing:
            assert np.isfinite(fitted(rows, labels, covariance=covariance).log_density(rows)).all()
        else:
            with pytest.raises(TooFewRows, match="rank 4 over 6 columns"):
                fitted(rows, labels, covariance=covariance, smoothing=0.0)


@together
@pytest.mark.parametrize("learner", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, None])
def test_columns_that_repeat_one_another_change_no_posterior_by_much(learner, shrinkage):
    """Without shrinkage not at all: the same evidence is not counted twice, as naive Bayes would."""
    rows, labels = data()
    twice = np.column_stack([rows, rows[:, 1]])
    plain = posteriors(learner(shrinkage), rows, labels, rows)
    double = posteriors(learner(shrinkage), twice, labels, twice)
    assert np.isfinite(double).all()
    if shrinkage == 0:
        np.testing.assert_allclose(double, plain, rtol=0, atol=1e-5)


LEARNERS = [
    GaussianLearner(),
    *(LinearDiscriminantLearner(s) for s in (0.0, 0.5, 1.0, None, "oas", "ledoit-wolf", "likelihood")),
    *(QuadraticDiscriminantLearner(s) for s in (0.0, 0.5, 1.0, None, "oas", "ledoit-wolf", "likelihood")),
    QuadraticDiscriminantLearner(0.1, pooling=0.3),
    QuadraticDiscriminantLearner(pooling=0.3),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def awkward():
    """Rows that are hard on covariances, by what is hard about them."""
    rows, labels = data()
    codes, _ = coded(labels)
    constant_in_one = rows.copy()
    constant_in_one[codes == 1, 2] = 7.0
    apart = rows.copy()
    apart[:, 0] = codes * 10.0  # tells the classes apart, and does not vary within
    few, theirs = data((3, 2, 4), V=8)
    return {
        "a constant column": (np.column_stack([rows, np.full(len(rows), 3.0)]), labels),
        "nothing but constant columns": (np.ones((6, 2)), ["a", "b"] * 3),
        "a column that is constant in one class": (constant_in_one, labels),
        "a column that is constant in each class": (apart, labels),
        "columns that repeat one another": (np.column_stack([rows, rows[:, 0], -2 * rows[:, 1]]), labels),
        "a class of one row": data((20, 1, 30)),
        "classes of one row": (data((1, 1, 1))[0], ["a", "b", "c"]),
        "a class of equal rows": (np.concatenate([rows, np.ones((5, 4))]), [*labels, *"ddddd"]),
        "more columns than rows": data((5, 6, 4), V=40),
        "fewer rows in a class than columns": (few, theirs),
        "large numbers": (rows * 1e30, labels),
        "small numbers": (rows * 1e-30, labels),
        "a large mean": (rows + 1e8, labels),
        "one column": data(V=1),
    }


@together
@in_turn(5)
@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
@every_learner
@pytest.mark.parametrize("case", awkward())
def test_awkward_rows_give_finite_posteriors_or_an_error_with_class_and_rank(learner, case):
    rows, labels = awkward()[case]
    try:
        model = learned(learner, rows, labels)
    except TooFewRows as error:
        assert "rank" in error.problem  # noqa: PT017
        assert "`" in error.problem or "classes" in error.problem  # noqa: PT017
        assert error.hint  # noqa: PT017
        return
    log_posterior = model.log_posterior(np.concatenate([rows, rows[::-1] * 2 + 1]))
    assert np.isfinite(log_posterior).all()
    np.testing.assert_allclose(np.exp(log_posterior).sum(axis=1), 1, rtol=0, atol=1e-12)


@together
@pytest.mark.parametrize("shrinkage", [0.5, 1.0, None, "oas", "ledoit-wolf"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_class_that_does_not_vary_borrows_the_covariance_of_all_with_a_warning_that_names_it(shrinkage, n):
    rows, labels = data()
    rows, labels = np.concatenate([rows, np.ones((n, 4))]), [*labels, *"d" * n]
    with pytest.warns(Shrunk, match=f"class `d`, of {n} rows, does not vary"):
        model = learned(QuadraticDiscriminantLearner(shrinkage), rows, labels)
    _, _, scatter = scatters(rows, labels)
    C = scatter.sum(axis=0) / len(rows)
    np.testing.assert_allclose(np.diag(model.gaussians.covariance()[3]), np.diag(C), rtol=1e-6)
    assert np.isfinite(model.log_posterior(rows)).all()


@in_turn(2)
@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
@pytest.mark.parametrize(
    "learner",
    [
        LinearDiscriminantLearner(),
        QuadraticDiscriminantLearner(),
        LinearDiscriminantLearner("oas"),
        GaussianLearner(),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "case", sorted(set(awkward()) - {"nothing but constant columns", "classes of one row"})
)
def test_where_the_shrinkage_is_chosen_there_is_always_a_model(learner, case):
    rows, labels = awkward()[case]
    assert np.isfinite(learned(learner, rows, labels).log_posterior(rows)).all()


@together
@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("covariance", ["diagonal", "shared", "full"])
def test_new_rows_that_are_no_numbers_give_no_nan(covariance, value):
    """A missing number is left out of a diagonal density; all else is refused by row and column."""
    rows, labels = data()
    model = QuadraticModel(CLASSES, np.log([0.2, 0.3, 0.5]), fitted(rows, labels, covariance=covariance))
    new = rows[:3].copy()
    new[1, 2] = value
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = model.log_posterior(new)
    except InputError as error:
        assert "row 1" in error.problem  # noqa: PT017
        assert "column 2" in error.problem  # noqa: PT017
    else:
        assert not np.isnan(posterior).any()


@pytest.mark.parametrize("covariance", ["diagonal", "shared", "full"])
def test_rows_of_another_width_are_refused(covariance):
    found = fitted(*data(), covariance=covariance)
    for wrong, words in ((np.ones((2, 5)), "5 columns, the model has 4"), (np.ones(4), "1 dimension")):
        with pytest.raises(InputError, match=words):
            found.log_density(wrong)
    assert found.log_density(np.zeros((0, 4))).shape == (0, 3)
    assert found.n_features == 4


def test_gaussian_naive_bayes_learns_from_rows_with_missing_numbers():
    rows, labels = data()
    rows[3, 1] = rows[10, 0] = NAN
    model = learned(GaussianLearner(smoothing=0.0), rows, labels)
    for k, name in enumerate(CLASSES):
        own = rows[np.array(labels) == name]
        np.testing.assert_allclose(model.gaussians.mean[k], np.nanmean(own, axis=0), rtol=1e-12)
        np.testing.assert_allclose(model.gaussians.variance[k], np.nanvar(own, axis=0), rtol=1e-10)


def test_a_class_that_has_no_number_in_a_column_varies_there_as_all_do():
    rows = np.array([[1.0, NAN], [2.0, NAN], [3.0, 4.0], [5.0, 6.0], [0.0, 3.0]])
    found = Gaussian(smoothing=0.0).fit(Moments.of(rows, ["a", "a", "b", "b", "b"]))
    assert found.mean[0, 1] == pytest.approx(13 / 3)
    assert found.variance[0, 1] == pytest.approx(np.var([4.0, 6.0, 3.0]))


def test_a_column_that_does_not_vary_is_named_where_nothing_is_smoothed():
    with pytest.raises(TooFewRows, match="column 1 does not vary in class `b`"):
        fitted(
            np.array([[1.0, 2], [2, 3], [3, 4], [4, 4]]), list("aabb"), covariance="diagonal", smoothing=0.0
        )


@together
@pytest.mark.parametrize("shrinkage", ["oas", "ledoit-wolf", "likelihood", None, 0.0, 1, 0.5])
def test_learners_take_each_way_to_shrink(shrinkage):
    rows, labels = data()
    for kind in (LinearDiscriminantLearner, QuadraticDiscriminantLearner):
        assert np.isfinite(posteriors(kind(shrinkage), rows, labels, rows)).all()


@together
@pytest.mark.parametrize("kind", [LinearDiscriminantLearner, QuadraticDiscriminantLearner])
@pytest.mark.parametrize("shrinkage", [-0.1, 1.1, NAN, "much", True])
def test_learners_refuse_a_shrinkage_that_is_none_when_they_are_made(kind, shrinkage):
    with pytest.raises(InputError, match="unknown shrinkage"):
        kind(shrinkage)


@together
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LinearDiscriminantLearner(tolerance=0), "tolerance must be between 0 and 1"),
        (lambda: LinearDiscriminantLearner(tolerance=NAN), "tolerance must be between 0 and 1"),
        (lambda: QuadraticDiscriminantLearner(rank=0), "rank must be from 1 to 4096"),
        (lambda: QuadraticDiscriminantLearner(pooling=1.5), "pooling must be from 0 to 1"),
        (lambda: LinearDiscriminantLearner(prior="often"), "unknown prior"),
        (lambda: GaussianLearner(prior={"a": 0.5}), "the prior sums to 0.5"),
        (lambda: GaussianLearner(smoothing=-1), "smoothing must be zero or more"),
    ],
)
def test_learners_refuse_what_cannot_be_when_they_are_made(make, words):
    with pytest.raises(InputError, match=words):
        make()


# What does not matter


@every_learner
def test_the_order_of_rows_does_not_matter(learner):
    rows, labels = data()
    order = np.random.default_rng(1).permutation(len(rows))
    got = posteriors(learner, rows[order], [labels[i] for i in order], rows)
    np.testing.assert_allclose(got, posteriors(learner, rows, labels, rows), rtol=0, atol=1e-8)


@every_learner
def test_the_order_of_columns_does_not_matter(learner):
    rows, labels = data()
    order = [2, 0, 3, 1]
    got = posteriors(learner, rows[:, order], labels, rows[:, order])
    np.testing.assert_allclose(got, posteriors(learner, rows, labels, rows), rtol=0, atol=1e-8)


@every_learner
def test_renaming_classes_permutes_the_answer(learner):
    rows, labels = data()
    names = {"a": "3", "b": "2", "c": "1"}
    got = posteriors(learner, rows, [names[label] for label in labels], rows)
    np.testing.assert_allclose(got[:, ::-1], posteriors(learner, rows, labels, rows), rtol=0, atol=1e-8)


@every_learner
def test_a_weight_of_zero_equals_absence(learner):
    rows, labels = data()
    more, theirs = np.concatenate([rows, rows * 3]), [*labels, *labels[::-1]]
    got = posteriors(learner, more, theirs, rows, np.repeat([1.0, 0.0], len(rows)))
    np.testing.assert_allclose(got, posteriors(learner, rows, labels, rows), rtol=0, atol=1e-8)


@together
@pytest.mark.parametrize("learner", [each for each in LEARNERS if "likelihood" not in str(each)], ids=str)
def test_a_weight_of_two_equals_the_row_twice(learner):
    """Where the shrinkage is chosen by likelihood it need not: the twin of a row left out would be in."""
    if getattr(learner, "shrinkage", 0.0) is None:
        learner = type(learner)(0.2)
    rows, labels = data((12, 15, 14))
    times = np.random.default_rng(0).integers(1, 4, len(rows))
    got = posteriors(learner, rows, labels, rows, times.astype(float))
    twice = posteriors(learner, np.repeat(rows, times, axis=0), np.repeat(labels, times).tolist(), rows)
    np.testing.assert_allclose(got, twice, rtol=0, atol=1e-8)


@together
@pytest.mark.parametrize(
    "learner",
    [kind(s) for kind in (LinearDiscriminantLearner, QuadraticDiscriminantLearner) for s in (0.3, None)],
    ids=str,
)
@pytest.mark.parametrize("factor", [[1, 1, 1, 1], [1, 1e4, 1, 1], [1e-6, 2.0, 1e6, -1]], ids=str)
def test_neither_units_nor_origins_of_columns_change_a_posterior(learner, factor):
    rows, labels = data()
    moved = rows * factor + np.array([3.0, -200.0, 0.0, 17.0]) * np.abs(factor)
    got = posteriors(learner, moved, labels, moved)
    np.testing.assert_allclose(got, posteriors(learner, rows, labels, rows), rtol=0, atol=1e-8)


@together
@pytest.mark.parametrize("covariance", ["shared", "full"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "oas"])
def test_without_smoothing_neither_units_nor_origins_of_columns_change_a_density_ratio(covariance, shrinkage):
    rows, labels = data()
    moved = rows * [1e-6, 2.0, 1e6, -1] + [0.0, 200.0, -3e6, 17.0]
    before, after = (
        fitted(x, labels, covariance=covariance, shrinkage=shrinkage, smoothing=0.0).log_density(x)
        for x in (rows, moved)
    )
    np.testing.assert_allclose(after - after[:, :1], before - before[:, :1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(after - before, -np.log(2.0), rtol=0, atol=1e-8)


def test_no_input_is_changed():
    rows, labels = data()
    weights = weights_of(labels)
    before = rows.copy(), list(labels), weights.copy()
    for learner in LEARNERS:
        learned(learner, rows, labels, weights).log_posterior(rows)
    for now, then in zip((rows, labels, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_another_prior_shifts_log_odds_by_the_log_of_the_ratio():
    rows, labels = data()
    for learner in LEARNERS:
        model = learned(learner, rows, labels)
        prior = np.log([0.1, 0.2, 0.7])
        other = model.with_prior(prior).scores(rows)
        np.testing.assert_allclose(other - model.scores(rows), [prior - model.log_prior] * 120, atol=1e-9)


def test_a_hand_calculation_of_one_column():
    """Means 2 and 10, variances 1 and 4; p(x | a) = φ(x - 2), p(x | b) = φ((x - 10) / 2) / 2."""
    rows, labels = np.array([[1.0], [3.0], [8.0], [12.0]]), list("aabb")
    found = fitted(rows, labels, smoothing=0.0)
    np.testing.assert_allclose(found.covariance().ravel(), [1.0, 4.0])
    phi = np.exp(-0.5 * np.array([3.0**2, (5 / 2) ** 2])) / np.sqrt(2 * np.pi) / [1, 2]
    np.testing.assert_allclose(np.exp(found.log_density([[5.0]]))[0], phi, rtol=1e-12)
    assert isinstance(found, Full)
    assert isinstance(fitted(rows, labels, covariance="diagonal"), Diagonal)
