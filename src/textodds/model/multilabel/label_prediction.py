"""The answer of a model of several labels to one text, and what it said of held-out texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data.labels import Label, LabelType
from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError
from textodds.learn.arrays import Mask

Floats = NDArray[np.float64]
L = TypeVar("L", bound=Label)


@dataclass(frozen=True, slots=True)
class LabelPrediction(Generic[L]):
    """A model's answer for one text: the labels above their thresholds, most probable first.

    ``evidence`` is the number of terms the model knows; with 0 the answer is that of an empty text.
    """

    labels: tuple[L, ...]
    probabilities: dict[L, float]
    thresholds: dict[L, float]
    evidence: int

    def top(self, k: int = 3) -> list[tuple[L, float]]:
        """The ``k`` most probable labels, given or not."""
        return sorted(self.probabilities.items(), key=lambda item: -item[1])[:k]

    def of_type(self, labels: LabelType) -> LabelPrediction[Label]:
        """The same answer, with labels of the type they had in training."""
        value = labels.value
        return LabelPrediction(
            tuple(value(str(name)) for name in self.labels),
            {value(str(name)): p for name, p in self.probabilities.items()},
            {value(str(name)): p for name, p in self.thresholds.items()},
            self.evidence,
        )


@dataclass(frozen=True, eq=False)
class HeldLabels:
    """Of N held-out texts, the probability of each label and whether they have it, (N, K)."""

    p: NDArray[np.float32]
    truth: Mask

    @classmethod
    def of(cls, p: Floats, truth: Mask) -> HeldLabels:
        """Of probabilities, in the digits that are kept."""
        return cls(p.astype(np.float32), truth)

    def arrays(self) -> Arrays:
        """As arrays, for a file."""
        return {"p": self.p.reshape(-1), "truth": np.packbits(self.truth.reshape(-1))}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, K: int) -> HeldLabels:
        """What `arrays` made; refuses what cannot be."""
        p, bits = arrays.get("p"), arrays.get("truth")
        if p is None or bits is None or p.dtype != np.float32 or bits.dtype != np.uint8 or p.ndim != 1:
            raise InputError("the tensors of held-out labels are missing, or have the wrong type")
        if p.size % K or bits.size != -(-p.size // 8) or not ((p >= 0) & (p <= 1)).all():
            raise InputError("the tensors of held-out labels have invalid values")
        return cls(p.reshape(-1, K), np.unpackbits(bits, count=p.size).astype(bool).reshape(-1, K))
