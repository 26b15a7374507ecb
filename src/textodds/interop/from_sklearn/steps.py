"""The steps of a pipeline, and what becomes of a row of counts on the way through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from textodds.data.named_arrays import AnyArray
from textodds.errors import Unsupported
from textodds.learn.arrays import Floats, Integers, Mask

HOLDERS = {
    "GridSearchCV": "give its best_estimator_",
    "RandomizedSearchCV": "give its best_estimator_",
    "HalvingGridSearchCV": "give its best_estimator_",
    "HalvingRandomSearchCV": "give its best_estimator_",
    "FixedThresholdClassifier": "give its estimator_; its threshold is for `textodds.judge.decisions`",
    "TunedThresholdClassifierCV": "give its estimator_; its threshold is for `textodds.judge.decisions`",
    "TextClassifier": "it holds a TextModel already: its model_",
    "MultiLabelTextClassifier": "it holds a MultiLabelModel already: its model_",
}
"""What is not a pipeline, and holds one or a model."""

ELSEWHERE = {
    "FunctionTransformer": "a function may do anything, and a model file holds no code",
    **dict.fromkeys(
        ("TruncatedSVD", "NMF", "LatentDirichletAllocation"),
        "it mixes words, each of which must have a weight of its own",
    ),
}
"""Steps that cannot be converted, and why."""


@dataclass(frozen=True)
class Step:
    """A step of a pipeline, by its name there."""

    name: str
    estimator: Any

    @property
    def kind(self) -> str:
        """The name of its class, if that is one of scikit-learn or of ours; a subclass may do anything."""
        kind = type(self.estimator)
        return kind.__name__ if kind.__module__.startswith(("sklearn.", "textodds.")) else ""

    def refusal(self, problem: str, hint: str) -> Unsupported:
        """The error that says where and why a pipeline cannot be converted."""
        return Unsupported(
            f"step `{self.name}` ({type(self.estimator).__name__}) cannot be converted: {problem}", hint=hint
        )

    def check_fitted(self) -> None:
        """Refuse an estimator that has learned nothing."""
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            raise self.unfitted() from None

    def unfitted(self) -> Unsupported:
        """The error for an estimator that has learned nothing."""
        return self.refusal("it is not fitted", "call `fit` first: what was learned is what is converted")


def steps_of(pipeline: object) -> list[Step]:
    """The steps of a pipeline from first to last, those of pipelines within it too."""
    outer = Step("", pipeline)
    if outer.kind != "Pipeline":
        raise Unsupported(
            f"a fitted Pipeline of scikit-learn can be converted; this is of type {type(pipeline).__name__}",
            hint=HOLDERS.get(
                outer.kind, "put the fitted parts together: make_pipeline(vectoriser, classifier)"
            ),
        )
    steps = list(_flat(pipeline, ""))
    if len(steps) < 2:
        raise Unsupported(
            f"the pipeline has {len(steps)} of the two steps it needs: a vectoriser and a classifier",
            hint="put the fitted parts together: make_pipeline(vectoriser, classifier)",
        )
    return steps


def _flat(pipeline: Pipeline, within: str) -> Iterator[Step]:
    for name, estimator in pipeline.steps:
        step = Step(f"{within}{name}", estimator)
        if step.kind == "Pipeline":
            yield from _flat(estimator, f"{step.name}__")
        elif estimator is not None and not (isinstance(estimator, str) and estimator == "passthrough"):
            yield step


@dataclass(frozen=True, eq=False)
class RowTransform:
    r"""How the row that a classifier is given comes of the counts n of a text's V terms.

    .. math::
        x_v = c_v \frac{f(n_v)\, g_v}{\lVert f(n)\, g \rVert}                                    \tag{1}

    with or without the norm. Steps keep the form: a factor by column goes into c; a row that is brought to
    length 1 forgets by what it was divided before, so that c goes into g; a column that is left out has
    :math:`c_v = 0`. In the end c goes into the weights of the classifier, and f, g and the norm are a
    `textodds.Weighting`.
    """

    frequency: str  # f: count, log or binary
    unit: bool  # whether there is a norm
    scale: Floats  # (V,) g; ones unless there is a norm
    factor: Floats  # (V,) c
    live: Integers  # the columns that are left, increasing
    smooth: bool = True  # how idf was smoothed, where g is one

    @classmethod
    def of_counts(cls, n: int, *, binary: bool) -> RowTransform:
        """The row of a vectoriser."""
        return cls("binary" if binary else "count", False, np.ones(n), np.ones(n), np.arange(n))

    @property
    def is_plain(self) -> bool:
        """Whether the row has the counts themselves, or ones for what is there."""
        return self.frequency != "log" and self.is_unscaled

    @property
    def is_unscaled(self) -> bool:
        """Whether each value of the row is f of its own count."""
        return not self.unit and bool((self.factor[self.live] == 1.0).all())

    @property
    def kept(self) -> Integers:
        """The columns that have a say: those left, and those that were so when the norm was taken."""
        if not self.unit:
            return self.live
        counts = self.scale != 0
        counts[self.live] = True
        return np.flatnonzero(counts)

    def scale_by(self, by: Floats) -> RowTransform:
        """The row with each column that is left times its factor."""
        factor = self.factor.copy()
        factor[self.live] *= by
        return replace(self, factor=factor)

    def normalise(self) -> RowTransform:
        """The row brought to length 1."""
        return replace(self, unit=True, scale=self.scale * self.factor, factor=np.ones(len(self.factor)))

    def select(self, mask: Mask) -> RowTransform:
        """The row with only the columns in a mask of those that are left."""
        factor = self.factor.copy()
        factor[self.live[~mask]] = 0.0
        return replace(self, factor=factor, live=self.live[mask])

    def logarithmic(self, step: Step) -> RowTransform:
        """The row with ``1 + ln x`` in the place of x."""
        if not self.is_unscaled or self.frequency == "log":
            raise step.refusal(
                "it takes logarithms of values that are not counts", "let it follow the counts themselves"
            )
        return replace(self, frequency="log" if self.frequency == "count" else "binary")  # ln 1 = 0

    def present(self, above: float, step: Step) -> RowTransform:
        """The row with 1 for what is above a threshold, and 0 for the rest."""
        if above != 0 and not (self.is_plain and 0 < above < 1):
            raise step.refusal(
                f"binarize={above!r} asks how often a word occurs", "fit again with binarize=0.0"
            )
        there = np.where(self.scale * self.factor > 0, 1.0, 0.0)
        return replace(self, frequency="binary", unit=False, scale=np.ones(len(there)), factor=there)


def rows_of(vectoriser: Step, n: int) -> RowTransform:
    """The row that a vectoriser makes of a text with n columns."""
    made = vectoriser.estimator
    rows = RowTransform.of_counts(n, binary=bool(made.binary))
    if vectoriser.kind == "HashingVectorizer":
        return _normalise(rows, vectoriser, made.norm)
    if vectoriser.kind == "TfidfVectorizer":
        if not hasattr(made, "_tfidf"):
            raise vectoriser.unfitted()
        return _weigh(rows, vectoriser, made._tfidf)
    return rows


def pass_through(rows: RowTransform, step: Step) -> RowTransform:
    """The row behind a step."""
    through = STEPS.get(step.kind)
    if through is None and step.kind and hasattr(step.estimator, "get_support"):
        through = _select
    if step.kind in ELSEWHERE:
        raise step.refusal(ELSEWHERE[step.kind], "convert a pipeline without it, fitted again")
    if through is None:
        raise step.refusal(
            "it is not a supported step",
            f"supported are {', '.join(STEPS)} and the selectors of scikit-learn; fit again without it",
        )
    step.check_fitted()
    return through(rows, step)


def _weigh(rows: RowTransform, step: Step, transformer: BaseEstimator) -> RowTransform:
    if transformer.sublinear_tf:
        rows = rows.logarithmic(step)
    if hasattr(transformer, "idf_"):
        idf = _by_column(rows, step, transformer.idf_)
        rows = replace(rows.scale_by(idf), smooth=bool(transformer.smooth_idf))
    return _normalise(rows, step, transformer.norm)


def _normalise(rows: RowTransform, step: Step, norm: str | None) -> RowTransform:
    if norm is None:
        return rows
    if norm != "l2":
        raise step.refusal(
            f"norm={norm!r} divides a text by something else than its length",
            "fit again with norm='l2' or None",
        )
    return rows.normalise()


def _divide(rows: RowTransform, step: Step) -> RowTransform:
    scaler = step.estimator
    for name in ("with_mean", "with_centering"):
        if getattr(scaler, name, False):
            raise step.refusal(f"{name}=True leaves no zero in a row", f"fit again with {name}=False")
    if getattr(scaler, "clip", False):
        raise step.refusal("clip=True cuts values off", "fit again with clip=False")
    if scaler.scale_ is None:
        return rows
    return rows.scale_by(1.0 / _by_column(rows, step, scaler.scale_))


def _select(rows: RowTransform, step: Step) -> RowTransform:
    return rows.select(_by_column(rows, step, step.estimator.get_support()))


def _by_column(rows: RowTransform, step: Step, values: ArrayLike) -> AnyArray:
    """Values by column, if they are as many as the columns that are left."""
    found = np.asarray(values)
    if found.shape != rows.live.shape:
        raise misfit(step, len(found), len(rows.live))
    if found.dtype == bool:
        return found
    if not np.isfinite(found).all():
        raise step.refusal(
            "some of its factors are not numbers, of columns that were never seen",
            "fit again with smooth_idf=True",
        )
    return found.astype(np.float64)


def misfit(step: Step, has: int, given: int) -> Unsupported:
    """The error for parts that were not fitted together."""
    return step.refusal(
        f"it was fitted on {has:,} columns and is given {given:,}",
        "put parts together that were fitted together",
    )


STEPS: dict[str, Callable[[RowTransform, Step], RowTransform]] = {
    "TfidfTransformer": lambda rows, step: _weigh(rows, step, step.estimator),
    "Normalizer": lambda rows, step: _normalise(rows, step, step.estimator.norm),
    "MaxAbsScaler": _divide,
    "StandardScaler": _divide,
    "RobustScaler": _divide,
}
"""What may stand between a vectoriser and a classifier."""
