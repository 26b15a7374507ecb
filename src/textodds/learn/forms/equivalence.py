"""What ties naive Bayes and softmax regression: one linear form, read both ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from textodds.errors import InputError, Unsupported, require
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LinearModel


def softmax_parameters(model: LinearModel, reference: str | None = None) -> tuple[Floats, Floats]:
    r"""Weights (V, K) and biases (K,) of a linear model, read as softmax regression.

    A naive Bayes model *is* a softmax model, with :math:`w_k = \log\theta_k` and
    :math:`b_k = \log\pi_k` (lecture 03, Theorem 4.1). Adding one vector to all :math:`w_k` changes no
    probability (Remark 3.1), so parameters are given in one of two forms: those that sum to zero over the
    classes, or those that are zero for a ``reference`` class.

    Examples
    --------
    >>> from textodds.learn.naive_bayes import MultinomialLearner, fit
    >>> from textodds.stats.tally import Tally
    >>> nb = fit(MultinomialLearner(), Tally.of(["see see", "free"], ["ham", "spam"]).counts())
    >>> weights, bias = softmax_parameters(nb, reference="ham")
    >>> np.exp(weights).round(3)  # odds ratios of spam against ham
    array([[1.   , 0.444],
           [1.   , 2.667]])
    """
    weights = model.weights.rows(np.arange(model.n_features))
    bias = model.log_prior + model.intercept
    if reference is None:
        return weights - weights.mean(axis=1, keepdims=True), bias - bias.mean()
    if reference not in model.classes:
        raise InputError(f"there is no class `{reference}`", hint=f"one of {', '.join(model.classes)}")
    k = model.classes.index(reference)
    return weights - weights[:, k : k + 1], bias - bias[k]


def naive_bayes_parameters(model: LinearModel) -> tuple[Floats, Floats]:
    r"""``log θ`` (V, K) and ``log π`` (K,) of a multinomial naive Bayes with the same probabilities.

    The way back from Theorem 4.1. A factor :math:`m_v > 0` per word, the same for all classes, changes no
    posterior; it is sought so that every column becomes a distribution,

    .. math::
        \theta_{vk} = m_v\, e^{w_{vk}}, \qquad \sum_v \theta_{vk} = 1 \text{ for all } k   \tag{1}

    Of all such :math:`m` the one nearest to constant is taken, in the sense of relative entropy:
    :math:`m_v \propto e^{-\sum_k \mu_k e^{w_{vk}}}`, and :math:`\mu` solves K equations; where these are too
    ill-conditioned, some other. For two classes there is one exactly if some word speaks for each class.

    Raises
    ------
    Unsupported
        If no factors make distributions of all columns: then no naive Bayes model has these weights.
    """
    weights, bias = softmax_parameters(model)
    e = np.exp(weights)  # (V, K)
    if not len(e):
        raise Unsupported("a model without words is not a naive Bayes model of words")
    start = -np.log(e.mean(axis=1) * len(e))  # log of the factors that would do for one class
    log_m = _factors(e, start)
    if log_m is None:
        raise Unsupported(
            "no naive Bayes model has these weights: no factor per word makes distributions of all classes",
            hint="every class needs words with evidence for it and against it",
        )
    return weights + log_m[:, None], bias - np.logaddexp.reduce(bias)


def _factors(e: Floats, start: Floats) -> Floats | None:
    """``log m`` with (1), if there is one.

    (1) holds where a convex function of μ, ``Σ_v m_v(μ) + Σ_k μ_k``, is least: Newton's method, damped as
    Levenberg and Marquardt do.
    """
    mu = np.zeros(e.shape[1])

    def at(mu: Floats) -> tuple[Floats, Floats, float]:
        log_m = start - e @ mu
        with np.errstate(over="ignore"):
            m = np.exp(log_m)
        return log_m, m, float(m.sum() + mu.sum())

    log_m, m, value = at(mu)
    damping = 1e-6
    for _ in range(1000):
        slope = 1.0 - e.T @ m
        if np.abs(slope).max() < 1e-13:
            break
        bend = e.T @ (e * m[:, None])
        scale = np.diag(np.diag(bend) + 1e-300)
        step = np.linalg.lstsq(bend + damping * scale, -slope, rcond=None)[0]
        tried = at(mu + step)
        if np.isfinite(tried[2]) and tried[2] <= value:
            mu, (log_m, m, value) = mu + step, tried
            damping = max(damping / 10.0, 1e-15)
        else:
            damping *= 10.0
            if damping > 1e15:
                break
    return log_m if np.abs(1.0 - e.T @ m).max() < 1e-9 else _some_factors(e)


def _some_factors(e: Floats) -> Floats | None:
    """``log m`` with (1) by linear programming, the least factor as large as can be; None if none is."""
    require("scipy", why="naive Bayes of these weights")
    from scipy.optimize import linprog

    V, K = e.shape
    # Unknown are m - t and t itself, all at least 0; t is to be large.
    constraints = np.hstack([e.T, e.sum(axis=0)[:, None]])  # (K, V + 1)
    found = linprog(np.append(np.zeros(V), -1.0), A_eq=constraints, b_eq=np.ones(K), bounds=(0, None))
    if not found.success or found.x[-1] <= 0.0:
        return None
    m = found.x[:-1] + found.x[-1]
    return np.log(m) if np.abs(1.0 - e.T @ m).max() < 1e-6 else None


@dataclass(frozen=True)
class Start:
    """What log-odds begin with, before a text is read.

    ``prior`` is that of the classes, ``intercept`` the model's own, ``calibration`` what calibration adds to
    both (None where it adds nothing), ``absent`` what the absence of all words is worth, where that counts.
    """

    prior: float
    intercept: float = 0.0
    calibration: float | None = None
    absent: float | None = None

    @property
    def lines(self) -> list[tuple[str, float]]:
        """Each by its name; the prior always, others where there are any.

        >>> Start(-1.5).lines, Start(0.0, 0.5).lines
        ([('class prior', -1.5)], [('class prior', 0.0), ('intercept', 0.5)])
        """
        lines = [("class prior", self.prior)]
        if self.intercept:
            lines.append(("intercept", self.intercept))
        if self.calibration is not None:
            lines.append(("calibration", self.calibration))
        return lines if self.absent is None else [*lines, ("absent words", self.absent)]

    def as_dict(self) -> dict[str, float | None]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Hyperplane:
    """Where a model is undecided between two classes: ``bias + Σ_v x_v weight_v = 0``.

    ``start`` is what the bias is the sum of. ``words`` are (word, weight), strongest first: positive ones
    speak for ``label``.
    """

    label: str
    rival: str
    bias: float
    words: tuple[tuple[str, float], ...]
    start: Start

    def __str__(self) -> str:
        lines = [f"{self.label} (+) or {self.rival} (-): the sum of what a text has of these decides"]
        lines += [f"  {odds:+10.4f}          {name}" for name, odds in self.start.lines]
        lines += [f"  {weight:+10.4f}  × {np.exp(weight):<8.3g}{word}" for word, weight in self.words]
        return "\n".join(lines)
