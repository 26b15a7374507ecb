"""The answer of a model to one text or row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from textodds.data.labels import Label, LabelType

L = TypeVar("L", bound=Label)


@dataclass(frozen=True, slots=True)
class Prediction(Generic[L]):
    """A model's prediction for one text or row.

    ``evidence`` is the number of terms the model knows, or of columns with a value: 0 means that it answers
    without having read one (with the prior, unless unknown or absent words count in this model).
    """

    label: L
    probability: float
    evidence: int
    probabilities: dict[L, float]

    def of_type(self, labels: LabelType) -> Prediction[Label]:
        """The same answer, with labels of the type they had in training."""
        by_label = {labels.value(str(name)): share for name, share in self.probabilities.items()}
        return Prediction(labels.value(str(self.label)), self.probability, self.evidence, by_label)
