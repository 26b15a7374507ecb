"""The steps of a pipeline, and how a step is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from textodds.errors import Unsupported

HOLDERS = {
    "GridSearchCV": "give its best_estimator_",
    "RandomizedSearchCV": "give its best_estimator_",
    "HalvingGridSearchCV": "give its best_estimator_",
    "HalvingRandomSearchCV": "give its best_estimator_",
    "FixedThresholdClassifier": "give its estimator_; its threshold is for `textodds.judge.decisions`",
    "TunedThresholdClassifierCV": "give its estimator_; its threshold is for `textodds.judge.decisions`",
    "TextClassifier": "it holds a TextModel already: its model_",
}
"""What is not a pipeline, and holds one or a model."""


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
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

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
