"""Softmax regression: the discriminative model, alone and with naive Bayes behind it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from textodds.data import Observer
from textodds.errors import InputError, NotConverged, Separable, suggestion
from textodds.learn.arrays import Floats, Mask, Matrix
from textodds.learn.design import Design, LabelledRows, Plain
from textodds.learn.forms.linear import LinearModel, Weights, log
from textodds.learn.registry import Learner
from textodds.learn.softmax.class_weights import ClassWeight, class_factors
from textodds.learn.softmax.convergence import TOLERANCE, falls_short, shortfall
from textodds.learn.softmax.log_linear_pool import SMOOTHING, pooled_weights, presence_in
from textodds.learn.softmax.odds_ratios import OddsRatio, odds_ratios
from textodds.learn.softmax.penalty import HeldOutScores, Part, Path, choose, scales_or_centre
from textodds.learn.solvers.descent import Descent, descend
from textodds.learn.solvers.objective import Objective, Outcome, Parameters
from textodds.learn.solvers.separable import separating_direction
from textodds.learn.solvers.solve import solve

ENOUGH_TO_CALIBRATE = 2000  # held-out rows


@dataclass(frozen=True, eq=False)
class SoftmaxFit:
    """A fitted model, and how it was found."""

    model: LinearModel  # its parameters sum to zero over the classes
    outcome: Outcome  # value, proven relative gap, steps, loss curve
    objective: Objective  # the problem that was solved
    C: float  # the strength of the penalty, given or chosen
    path: Path | None  # held-out losses, where C was chosen
    factor: Floats | None = None  # (V,) by which naive Bayes scaled the features
    added: Parameters | None = None  # where naive Bayes is pooled

    @property
    def held(self) -> HeldOutScores | None:
        """What was said of held-out rows, where C was chosen on them."""
        return None if self.path is None else self.path.held

    def report(self) -> dict[str, object]:
        """What is worth keeping, as plain data."""
        about = self.outcome.report(self.C)
        if self.path is not None:
            about["path"] = [list(point) for point in self.path.points]
            about["held_out"] = self.path.held_out
        return about

    def coefficients(self, classes: Sequence[str]) -> tuple[Floats, Floats]:
        """Weights of unscaled features and biases: (K, V) and (K,), or of two classes (1, V) and (1,).

        Of ``classes``, which may be more than those that had rows, the others are impossible.
        """
        factor = np.float64(1.0) if self.factor is None else self.factor[:, None]
        if len(classes) == 2:
            found = self.outcome.parameters if self.added is None else self.outcome.parameters + self.added
            return (found.weights * factor).T, found.bias.copy()
        V, at = self.model.n_features, [classes.index(name) for name in self.model.classes]
        weights, bias = np.zeros((V, len(classes))), np.full(len(classes), -np.inf)
        weights[:, at] = self.model.weights.rows(np.arange(V)) * factor
        bias[at] = self.model.intercept + self.model.log_prior
        return weights.T, bias  # (V, K) in memory, which is the order in which rows are scored

    def odds_ratios(
        self, label: str, rival: str, features: ArrayLike | None = None, level: float = 0.95
    ) -> tuple[OddsRatio, ...]:
        """Odds ratios, with standard errors, of ``label`` against ``rival`` for some features, or all.

        Of the features as they were learned from: scaled, where naive Bayes scaled them.
        """
        chosen = np.arange(self.objective.shape[0]) if features is None else np.asarray(features)
        for name in (label, rival):
            if name not in self.model.classes:
                raise InputError(
                    f"there is no class `{name}`{suggestion(name, self.model.classes)}",
                    hint=f"the classes are {', '.join(self.model.classes[:20])}",
                )
        k, j = (self.model.classes.index(name) for name in (label, rival))
        names = [f"#{v}" for v in chosen.tolist()]
        return odds_ratios(self.objective, self.outcome.parameters, chosen, names, k, j, level)


@dataclass(frozen=True)
class PenalisedLearner(Learner):
    """What both learners do."""

    C: float | None = None
    alpha: float | None = None
    class_weight: ClassWeight = None
    tolerance: float = TOLERANCE
    max_epochs: int = 200
    penalise_bias: bool = False
    naive_bayes: float = 0.0

    descent: ClassVar[Descent | None] = None  # a published method in the place of the solver

    def __post_init__(self) -> None:
        as_c(self.C, self.alpha, 1.0)
        if not 0 < self.tolerance < 1:
            raise InputError(
                f"tolerance must be between 0 and 1, got {self.tolerance!r}", hint="1e-6 serves well"
            )
        if self.max_epochs < 1:
            raise InputError(f"max_epochs must be at least 1, got {self.max_epochs}")
        if not (self.class_weight is None or isinstance(self.class_weight, dict)) and (
            self.class_weight != "balanced"
        ):
            raise InputError(
                f"unknown class weight {self.class_weight!r}", hint="`balanced`, or a factor for each class"
            )
        if not 0 <= self.naive_bayes < math.inf:
            raise InputError(f"naive_bayes must be zero or more, got {self.naive_bayes!r}")
        if self.descent is not None and self.C is None and self.alpha is None:
            raise InputError("a published method does not choose its penalty", hint="give C or alpha")

    def settled(self, C: float) -> Self:
        """The learner with the penalty that was chosen, if it was left to choose."""
        return replace(self, C=C) if self.C is None and self.alpha is None else self

    def fit(
        self,
        rows: Matrix | ArrayLike,
        labels: Sequence[object],
        weights: ArrayLike | None = None,
        *,
        start: LinearModel | None = None,
        observer: Observer | None = None,
    ) -> SoftmaxFit:
        """The model of rows (N, V), dense or SciPy sparse; ``start`` is a model to begin from."""
        data = LabelledRows.of(rows, labels, weights)
        fit = self.fit_design(Plain(data.rows), data, start=start, observer=observer)
        if fit.factor is None:
            return fit
        matrix = fit.model.weights.rows(np.arange(fit.model.n_features))
        return replace(fit, model=replace(fit.model, weights=Weights.of_matrix(matrix * fit.factor[:, None])))

    def fit_design(
        self,
        design: Design,
        data: LabelledRows,
        *,
        start: LinearModel | None = None,
        observer: Observer | None = None,
    ) -> SoftmaxFit:
        """The model of a design, whose classes and weights ``data`` has; it scores rows that are scaled."""
        observer = observer or Observer()
        weighted = _with_class_weights(self, data)
        weighted.with_two_classes()  # still two, with class weights
        weights, K = weighted.weights, len(data.classes)
        C = as_c(self.C, self.alpha, float(weights.sum()))
        path = None
        if C is None:
            split = splitter(self, design, data)
            path = choose(split, weighted, penalise_bias=self.penalise_bias, watch=observer.penalty)
            C = path.C
        factor, centre = _from_naive_bayes(self, design, weighted)
        rows = design.rows(factor)
        strength = 0.0 if math.isinf(C) else 1.0 / C
        objective = Objective(rows, data.codes, weights, K, strength, centre, self.penalise_bias)
        # A descent is not refused: how its weights grow for ever is there to be watched.
        has_end = bool(objective.penalty) or self.descent is not None
        decided = has_end or _refuse_separable(objective, data.classes)
        added = _pooled(self, design, weighted, factor)
        begin = None if start is None else _begin(start, objective, data.classes)
        if begin is not None and added is not None:  # it was pooled too
            begin = begin + added * -1.0
        if self.descent is not None:
            outcome = descend(objective, begin or objective.zero(), self.descent)
        else:
            limits = self.tolerance, self.max_epochs
            outcome, _ = solve(objective, begin, *limits, watch=observer.step)
        if not decided:  # the optimiser may have found what was too large to search for
            _refuse_separable(objective, data.classes, outcome.parameters)
        if falls_short(self, outcome):
            warnings.warn(shortfall(self, outcome), NotConverged, stacklevel=3)
        found = outcome.parameters if added is None else outcome.parameters + added
        model = linear_of(found, data.classes, weighted.class_weights())
        return SoftmaxFit(model, outcome, objective, C, path, factor, added)


@dataclass(frozen=True)
class SoftmaxLearner(PenalisedLearner):
    r"""Softmax (multinomial logistic) regression.

    Model
    -----
    .. math::
        p(y = k \mid x) = \frac{e^{w_k^\top x + b_k}}{\sum_j e^{w_j^\top x + b_j}}    \tag{1}

    with W and b where the penalised negative log-likelihood is least:

    .. math::
        \tfrac12 \lVert W \rVert^2
        + C \sum_i s_i \left(\log\sum_k e^{w_k^\top x_i + b_k} - w_{y_i}^\top x_i - b_{y_i}\right)  \tag{2}

    The penalty is a Gaussian prior on W with mean zero and variance C: (2) is the posterior mode.
    Biases are not penalised, unless ``penalise_bias`` asks for it.

    Adding the same to every :math:`w_k` changes no probability, and the penalty picks the W that sums to
    zero over the classes. Two classes have one vector :math:`w = w_1 - w_0`, penalised as
    :math:`\frac12\lVert w\rVert^2`: logistic regression.

    The lectures write the penalty :math:`\frac{\lambda}{2}\sum_k\lVert w_k\rVert^2`, with a vector for each
    class, and :math:`\lambda\lVert\theta\rVert^2` with the bias in θ (``C = 1 / 2λ`` and ``penalise_bias``).
    The first is ``C = 1 / λ`` for three classes or more and ``C = 2 / λ`` for two: its optimum has
    :math:`w_1 = -w_0 = w/2`, whose penalty is :math:`\frac{\lambda}{4}\lVert w\rVert^2`. `as_c` has the
    table.

    Parameters
    ----------
    C : float, optional
        Strength of the data against the penalty, in (2); ``math.inf`` for no penalty. Chosen on held-out
        rows if neither C nor alpha is given.
    alpha : float, optional
        The penalty per row instead: ``C = 1 / (alpha n)``, n being the total weight of the rows.
    class_weight : "balanced" or dict, optional
        A factor for the rows of each class, which multiplies their weights; ``balanced`` gives every class
        the same total.
    tolerance : float, default 1e-6
        The relative gap to the optimum at which to stop. It is proven, and reported. Two solutions this near
        to one optimum give the same labels: of 25,000 reviews none differs, at 1e-4 some eight do. Where
        ``max_epochs`` or rounding ends it sooner, a gap below 1e-4 is warned of only if a tolerance is given.
    max_epochs : int, default 200
        Passes over the rows before giving up with a warning.
    penalise_bias : bool, default False
        Whether (2) has :math:`\frac12\lVert b\rVert^2` too, which is the prior of W on the biases: classes
        are then not predicted as often as they occur, but more evenly.
    naive_bayes : float, default 0
        How much the log-ratios of naive Bayes are added to W once it is found, of texts: a log-linear pool,
        which `textodds.train` tries (`textodds.learn.softmax.log_linear_pool`).
    descent : Descent, optional
        One of the published methods in the place of the solver: gradient descent, stochastic,
        mini-batch, with momentum. For teaching; C must then be given. Without a penalty it is not refused
        where classes can be separated: the loss falls to zero and the weights grow, as long as it runs.

    References
    ----------
    Lecture 03, Definition 3.1 is (1), Remark 3.2 and "Regularization" (2), Remark 3.1 the
    over-parameterisation. Böhning (1992), *Multinomial logistic regression algorithm*.

    Differs
    -------
    Same optimum as scikit-learn's ``LogisticRegression`` of the same C, for two classes and for more.
    There C is 1 by default, here it is chosen.

    Examples
    --------
    >>> fit = SoftmaxLearner(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> np.exp(fit.model.log_posterior(np.array([[1.5]]))).round(3)
    array([[0.5, 0.5]])
    >>> fit.outcome.gap < 1e-6
    True
    """

    descent: Descent | None = None  # type: ignore[misc]  # a setting of this one alone


@dataclass(frozen=True)
class NBSoftmaxLearner(PenalisedLearner):
    r"""Softmax regression on features scaled by naive Bayes.

    Model
    -----
    With :math:`r_{vk}` the log-ratios of naive Bayes (`textodds.learn.softmax.penalty.log_ratios`), either
    the features are scaled before (2) of `SoftmaxLearner` is solved (``form="scaled"``),

    .. math::
        x'_{iv} = \rho_v x_{iv}, \qquad \rho_v = \sqrt{\textstyle\sum_k \pi_k r_{vk}^2}      \tag{1}

    so that words that tell classes apart are cheap to use (texts of one length are brought to it after
    that); or the penalty pulls towards naive Bayes instead of zero (``form="centred"``):

    .. math::
        \tfrac12 \lVert W - R \rVert^2 + C \sum_i s_i\, \text{loss}_i                 \tag{2}

    Parameters
    ----------
    C, alpha, class_weight, tolerance, max_epochs, penalise_bias, naive_bayes
        As in `SoftmaxLearner`.
    smoothing : float, default 1.0
        Pseudo-counts of naive Bayes.
    form : "scaled" or "centred", default "scaled"
        See above.

    References
    ----------
    Wang and Manning (2012), *Baselines and bigrams: simple, good sentiment and topic classification*,
    is (1) for two classes, with logistic regression in the place of a support vector machine.

    Differs
    -------
    For more than two classes they train one model for each class against the rest, each with its own
    scales; here there is one model, and one scale for each word.

    Examples
    --------
    >>> rows = [[1.0, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> fit = NBSoftmaxLearner(C=1.0).fit(rows, ["no", "no", "yes", "yes"])
    >>> fit.factor.round(2)  # the third column says nothing
    array([1.1, 1.1, 0. ])
    """

    smoothing: float = 1.0
    form: str = "scaled"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.smoothing > 0:
            raise InputError(
                f"smoothing must be above 0, got {self.smoothing!r}", hint="the usual choice is 1.0"
            )
        forms = ("scaled", "centred")
        if self.form not in forms:
            raise InputError(
                f"unknown form `{self.form}`{suggestion(self.form, forms)}", hint=f"one of {', '.join(forms)}"
            )


def as_c(C: float | None, alpha: float | None, total: float) -> float | None:
    r"""The strength as C, where it is given as C or as alpha.

    The penalties of the literature, and C for each, n being the total weight of the rows:

    =====================================================  ==================  ===================
    minimised                                              C of two classes    C of three or more
    =====================================================  ==================  ===================
    ``½‖W‖² + C Σ loss`` (scikit-learn, LIBLINEAR)         ``C``               ``C``
    ``(α/2)‖W‖² + (1/n) Σ loss`` (Spark, SGD)              ``1 / (α * n)``     ``1 / (α * n)``
    ``(λ/2) Σ_k ‖w_k‖² + Σ loss`` (lecture 03)             ``2 / λ``           ``1 / λ``
    ``λ‖θ‖² + Σ loss`` (lecture on logistic regression)    ``1 / (2 * λ)``     ``1 / (2 * λ)``
    =====================================================  ==================  ===================

    ‖W‖² and ‖θ‖² are of one vector, :math:`w = w_1 - w_0`, for two classes. Lecture 03 has a vector for each
    class there too; at its optimum they are w/2 and -w/2, and their squares add up to half of ‖w‖². In the
    lecture on logistic regression θ has the bias as well, which is `SoftmaxLearner.penalise_bias`.

    Examples
    --------
    >>> as_c(None, 0.01, 50.0)
    2.0
    """
    for name, value in (("C", C), ("alpha", alpha)):
        if value is not None and not value >= 0:
            raise InputError(f"{name} must be zero or more, got {value!r}")
    if C is not None and alpha is not None:
        raise InputError("C and alpha set the same penalty", hint="give one of them; C = 1 / (alpha n)")
    if alpha is not None:
        C = 1.0 / (alpha * total) if alpha and total else math.inf
        if not C > 1e-200:
            raise InputError(
                f"alpha is too large for the data to have an effect, got {alpha!r}", hint="try 1e-4"
            )
    if C == 0:
        raise InputError("C must be above 0, got 0", hint="a small C is a strong penalty; math.inf is none")
    return C


def path_of(
    learner: PenalisedLearner,
    design: Design,
    data: LabelledRows,
    *,
    enough: int,
    times: int = 1,
    calibrated: bool = False,
    threads: int = 1,
) -> Path:
    """What a learner says of ``enough`` held-out rows, at its own C or at the best; see `choose`."""
    weighted = _with_class_weights(learner, data)
    C = as_c(learner.C, learner.alpha, float(weighted.weights.sum()))
    if C is not None and math.isinf(C):
        C = None  # without a penalty there may be no optimum; with the best one it is as good or better
    split = splitter(learner, design, data)
    return choose(
        split,
        weighted,
        C=C,
        calibrated=calibrated,
        enough=enough,
        times=times,
        threads=threads,
        penalise_bias=learner.penalise_bias,
    )


def held_scores(learner: PenalisedLearner, design: Design, data: LabelledRows) -> HeldOutScores | None:
    """What a learner says at its own penalty of rows that are held out; None where it has none."""
    C = as_c(learner.C, learner.alpha, 1.0)
    if learner.descent is not None or C is None or math.isinf(C):
        return None
    return path_of(learner, design, data, enough=ENOUGH_TO_CALIBRATE).held


def _begin(start: LinearModel, objective: Objective, classes: Sequence[str]) -> Parameters:
    """The parameters of a model to start from, if it is one of the same classes and features."""
    if start.classes != tuple(classes) or start.n_features != objective.shape[0]:
        raise InputError(
            f"the start has {len(start.classes)} classes and {start.n_features} features, "
            f"the rows {len(classes)} and {objective.shape[0]}, or other class names",
            hint="start from a model of the same classes and features",
        )
    return parameters_of(start)


def _from_naive_bayes(
    learner: PenalisedLearner, design: Design, data: LabelledRows
) -> tuple[Floats | None, Floats | None]:
    """Scales of the features (V,), and the mean of the prior (V, M); None for either that is not wanted."""
    if not isinstance(learner, NBSoftmaxLearner):
        return None, None
    presence = design.presence(data.codes, data.weights, len(data.classes))
    return scales_or_centre(learner.form, presence, learner.smoothing, data.class_weights())


def _pooled(
    learner: PenalisedLearner, design: Design, data: LabelledRows, factor: Floats | None
) -> Parameters | None:
    """What naive Bayes adds, if it is pooled."""
    if not learner.naive_bayes:
        return None
    presence = presence_in(design, data.codes, data.weights, len(data.classes))
    smoothing = learner.smoothing if isinstance(learner, NBSoftmaxLearner) else SMOOTHING
    weights = pooled_weights(presence, factor, learner.naive_bayes, smoothing)
    return Parameters(weights, np.zeros(weights.shape[1]))


def splitter(learner: PenalisedLearner, design: Design, data: LabelledRows) -> Callable[[Mask], Part]:
    """Parts for the path; neither naive Bayes nor the choice of words must have seen what is held out."""
    weighted = _with_class_weights(learner, data)

    def split(held: Mask) -> Part:
        kept, out = np.flatnonzero(~held), np.flatnonzero(held)
        left = replace(weighted, weights=np.where(held, 0.0, weighted.weights))
        factor, centre = _from_naive_bayes(learner, design, left)
        added = _pooled(learner, design, left, factor)
        if (known := design.known(np.where(held, 0.0, data.weights))) is not None:
            factor = known if factor is None else known * factor
        rows = design.rows(factor)
        return rows[kept], rows[out], centre, added

    return split


def _with_class_weights(learner: PenalisedLearner, data: LabelledRows) -> LabelledRows:
    factors = class_factors(learner.class_weight, data.classes, data.class_weights())
    return replace(data, weights=data.weights * factors[data.codes])


def _refuse_separable(
    objective: Objective, classes: Sequence[str], candidate: Parameters | None = None
) -> bool:
    """Refuse classes that a direction tells apart; whether it is certain that none does."""
    found = separating_direction(objective, candidate)
    if found.direction is None:
        return found.decided
    along = linear_of(found.direction, classes, np.ones(len(classes)))
    strength = np.abs(along.weights.rows(np.arange(along.n_features))).max(axis=1)
    strongest = [f"#{v}" for v in np.argsort(-strength, kind="stable")[:5] if strength[v] > 0]
    raise Separable(bool(found.complete), along, strongest)


def linear_of(parameters: Parameters, classes: Sequence[str], mass: Floats) -> LinearModel:
    """The parameters as a linear model, each class with its own column, summing to zero.

    ``mass`` are the weights of the classes (K,), the prior under which the model was fitted: it stands
    apart from the intercept, so that another prior can take its place.
    """
    weights, bias = parameters.weights, parameters.bias
    if len(classes) == 2:
        weights, bias = np.hstack([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    else:  # what an optimiser leaves of a common part says nothing
        weights, bias = weights - weights.mean(axis=1, keepdims=True), bias - bias.mean()
    prior = log(mass / mass.sum())
    return LinearModel(tuple(classes), prior, bias - prior, Weights.of_matrix(weights))


def parameters_of(model: LinearModel) -> Parameters:
    """A linear model, of whatever origin, as parameters of softmax regression."""
    weights = model.weights.rows(np.arange(model.n_features))
    bias = model.intercept + model.log_prior
    if len(model.classes) == 2:
        return Parameters(np.ascontiguousarray(weights[:, 1:] - weights[:, :1]), bias[1:] - bias[:1])
    return Parameters(weights - weights.mean(axis=1, keepdims=True), bias - bias.mean())
