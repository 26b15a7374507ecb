"""The model that texts and tables share: answers, measures, and a file; what differs are a few hooks."""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, cast

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import InputError, Unsupported
from textodds.judge.evaluation import Evaluation, evaluate, scored_batches
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import Prior
from textodds.model.novelty import DensityModel, S
from textodds.model.updates import T

if TYPE_CHECKING:
    from textodds.model.file import Model

Floats = NDArray[np.float64]
OTHERS = "others"  # the rival that is all other classes together


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of one text or row.

    ``evidence`` is the number of terms the model knows, or of columns with a value: 0 means that it answers
    without having read one (with the prior, unless unknown or absent words count in this model).
    """

    label: str
    probability: float
    evidence: int
    probabilities: dict[str, float]


class BaseModel(DensityModel[T, S], Generic[T, S]):
    """A trained classifier: what `textodds.TextModel` and `textodds.TableModel` have in common."""

    extent: tuple[int, str]  # how many features the model has, and what one is called

    def __repr__(self) -> str:
        number, feature = self.extent
        return f"<{type(self).__name__}: {len(self.classes_)} classes, {number:,} {feature}s>"

    @property
    def class_documents(self) -> dict[str, float]:
        """Texts or rows, or their total weight, of each class in training."""
        if not self.has_counts and isinstance(known := self.info.get("class_documents"), dict):
            return {label: float(known.get(label, 0.0)) for label in self.classes_}
        return dict(zip(self.classes_, self.tally.class_rows.tolist(), strict=True))

    @abstractmethod
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | x), and known and all terms or columns (N, 2)."""

    @abstractmethod
    def _install_prior(self, prior: Prior) -> None:
        """Become the model under another prior."""

    def _scores(self, data: object, *, calibrate: bool) -> tuple[Floats, NDArray[np.uint32]]:
        parts = [self.score_batch(batch, calibrate=calibrate) for batch in self._batches(data)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def predict(self, data: object) -> NDArray[np.object_]:
        """The most probable label of each text or row, (N,)."""
        names = np.array(self.classes_, dtype=object)  # NumPy's own text would lose a final NUL
        return np.asarray(names[self._scores(data, calibrate=True)[0].argmax(axis=1)])

    def predict_log_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``log p(class | x)``, (N, K); without ``calibrate`` as Bayes' rule has it."""
        return log_softmax(self._scores(data, calibrate=calibrate)[0])

    def predict_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``p(class | x)``, (N, K), rows summing to one; without ``calibrate`` as Bayes' rule has it."""
        return np.exp(self.predict_log_proba(data, calibrate=calibrate))

    def evaluate(self, source: object, labels: object = None, **reading: Any) -> Evaluation:
        """Measured quality on labelled data; takes what `train` takes as data."""
        return self.evaluate_batches(self.read(source, labels, labelled=True, **reading))

    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""
        return evaluate(scored_batches(self, batches), self.classes_)

    def _sides(self, scores: Floats, label: str | None, rival: str | None) -> tuple[int, int | None]:
        """The class to explain and its rival, of scores (K,): by default the answer and the runner-up.

        None stands for all other classes together.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        order = np.argsort(-scores, kind="stable").tolist()
        chosen: int = order[0] if label is None else self.class_number(label)
        if rival is None:
            return chosen, next(k for k in order if k != chosen)
        if rival == OTHERS and OTHERS not in self.classes_:
            return chosen, None
        if chosen == self.class_number(rival):
            asked = f"`{rival}` is the answer" if label is None else f"`{label}` cannot be its own rival"
            raise InputError(asked, hint="name another class, or none")
        return chosen, self.class_number(rival)

    def with_prior(self, prior: Prior) -> Self:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        model = copy.copy(self)
        model.held_out = None  # of other answers
        model._install_prior(prior)
        return model

    def save(self, path: str | os.PathLike[str], *, counts: bool = True) -> None:
        """Write the model to a file.

        Without ``counts`` the file is smaller and holds no word that the model does not use, but
        cannot learn, forget or be merged. A model of a table is its counts.
        """
        from textodds.model.file import save

        save(path, cast("Model", self), counts=counts)
