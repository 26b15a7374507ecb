"""Our softmax regression with the parameters of scikit-learn's ``LogisticRegression``.

What means nothing to ours, such as the solver, is taken and dropped; what has one that ours lacks is refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from textodds import SoftmaxRegression
from textodds.errors import InputError

FINEST = 1e-14
"""No gap is proven that is smaller than the rounding of the objective."""


class LogisticRegression(SoftmaxRegression):
    """`SoftmaxRegression` where the tests of scikit-learn say ``LogisticRegression``."""

    alpha = None

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def learner(self) -> Any:
        """The learner, if there is one that does what is asked."""
        if not self.fit_intercept:
            raise InputError("there is always a bias")
        if self.penalty in ("l1", "elasticnet") or self.l1_ratio:
            raise InputError("the penalty is of squares")
        # Theirs bounds the gradient, ours the gap in the objective, which goes with the square of that.
        learner = replace(super().learner(), tolerance=max(self.tol**2, FINEST))
        return learner if self.penalty is not None else replace(learner, C=math.inf)
