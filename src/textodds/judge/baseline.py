"""What an accuracy is held against: what the largest class alone would get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from textodds.learn.held_out import HeldOut

FEW = 10
"""Rows of a class below which what is learned or measured of it may be chance."""

ALONE = "the largest class alone"

SKEW = 3.0
"""Times the rows of the smallest class that the largest has where classes are skewed."""

NAMED = 5  # classes that a warning names


@dataclass(frozen=True)
class Baseline:
    """How many rows each class has, and what that means for an accuracy on these rows.

    Examples
    --------
    >>> found = Baseline({"ham": 87, "spam": 13})
    >>> found.label, found.accuracy, found.is_skewed
    ('ham', 0.87, True)
    >>> found.warnings(0.86)
    ['the model does not beat the largest class: answering `ham` always has accuracy 0.8700']
    """

    rows: Mapping[str, float]  # or their weight

    @classmethod
    def of(cls, rows: Iterable[tuple[str, float]]) -> Baseline:
        """The baseline of rows by class; classes without a row are left out."""
        return cls({label: n for label, n in rows if n > 0})

    @classmethod
    def of_held_out(cls, held_out: HeldOut, classes: Iterable[str]) -> Baseline:
        """The baseline of held-out rows, whose classes are numbers."""
        names = tuple(classes)
        rows = np.bincount(held_out.truth.astype(np.intp), minlength=len(names)).tolist()
        return cls.of(zip(names, rows, strict=True))

    @property
    def label(self) -> str:
        """The largest class; of equal ones the first by name."""
        return min(self.rows, key=lambda label: (-self.rows[label], label))

    @property
    def accuracy(self) -> float:
        """The accuracy of the largest class as the answer to every row."""
        return self.rows[self.label] / sum(self.rows.values())

    @property
    def is_skewed(self) -> bool:
        """Whether the largest class has at least `SKEW` times the rows of the smallest."""
        return max(self.rows.values()) >= SKEW * min(self.rows.values())

    def as_dict(self) -> dict[str, object]:
        """The largest class and its accuracy, for JSON."""
        return {"label": self.label, "accuracy": self.accuracy}

    def warnings(self, accuracy: float) -> list[str]:
        """Why an accuracy on these rows deserves doubt, in sentences."""
        return self.not_beaten(accuracy) + self.few("row", "to measure by")

    def not_beaten(self, accuracy: float) -> list[str]:
        """A sentence, if an accuracy on these rows is not above that of the largest class alone."""
        if len(self.rows) == 1:
            return [f"all rows are of the class `{self.label}`: accuracy says nothing of other classes"]
        if accuracy > self.accuracy:
            return []
        return [
            f"the model does not beat the largest class: answering `{self.label}` always "
            f"has accuracy {self.accuracy:.4f}"
        ]

    def few(self, noun: str, purpose: str) -> list[str]:
        """A sentence on classes of fewer than `FEW` rows, which are called by ``noun``, if there are any."""
        small = sorted((n, label) for label, n in self.rows.items() if n < FEW)
        if not small:
            return []
        named = ", ".join(f"`{label}` ({n:,.10g})" for n, label in small[:NAMED])
        more = f" and {len(small) - NAMED:,} more" if len(small) > NAMED else ""
        if len(small) == 1:
            return [f"a class has fewer than {FEW} {noun}s {purpose}: {named}"]
        return [f"{len(small):,} classes have fewer than {FEW} {noun}s {purpose}: {named}{more}"]


def accuracy_sentence(plain: Mapping[str, Any], interval: str = "") -> str:
    """Accuracy, the largest class alone, and macro-F1 where classes are skewed, as far as a file has them.

    >>> accuracy_sentence({"accuracy": 0.9, "largest_class": {"label": "ham", "accuracy": 0.87}})
    'accuracy 0.9000, the largest class alone 0.8700'
    """
    parts = [f"accuracy {plain['accuracy']:.4f} {interval}".rstrip()]
    if "largest_class" in plain:
        parts.append(f"the largest class alone {plain['largest_class']['accuracy']:.4f}")
    if plain.get("skewed") is True:
        parts.append(f"macro-F1 {plain['macro_f1']:.4f}")
    return ", ".join(parts)
