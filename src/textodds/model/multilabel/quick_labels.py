r"""What a few documents change at once in a model of several labels.

Of counts the form is made anew, and is exact. Logistic regression moves, label by label, as far as one
document alone would move it: with :math:`q = C \lVert x \rVert^2` the score :math:`s_k` of a learned document
becomes the :math:`s'_k` where

.. math:: \tfrac{1}{2q} (s'_k - s_k)^2 + \log(1 + e^{s'_k}) - y_k s'_k                        \tag{1}

is least, :math:`y_k` being one where the document has label k, by :math:`\Delta w_k = C\, (y_k - p'_k)\, x`
with :math:`p'_k = \sigma(s'_k)`. Forgetting takes away what the document holds by (1), and so undoes
learning. New words wait for the full solution, as in `textodds.model.quick`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from textodds import _kernels
from textodds.data.label_sets import labels_in, labels_of_sets
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.multilabel.counts import log_odds
from textodds.learn.multilabel.odds import LabelOdds, sigmoid
from textodds.model.quick import USUAL, QuickForm, QuickLinear, Recounted

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.learn.arrays import Floats
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

HALVINGS = 80  # of the interval in which (1) is least


def quick_form_of_labels(model: MultiLabelModel) -> QuickForm:
    """The form of a model of several labels, ready to be changed."""
    from textodds.model.multilabel.label_fit import form_of

    if model.recipe.learner.entry.needs_documents:
        dense = model.form.weights.dense
        assert dense is not None
        return QuickLabels.of(model, model.form, dense)
    return Recounted(model.recipe, model.tally, model.vocabulary, model.form, form_of)


class QuickLabels(QuickLinear):
    """Logistic regression of several labels; a class is a label, and documents come under sets of them."""

    def _with_classes(self, labels: list[str]) -> QuickLabels:
        """The same with labels that no document has yet: as rare as one document, and without words."""
        form, new = self.begun, {*labels_of_sets(labels)}.difference(self.begun.classes)
        if not new:
            return self
        classes = tuple(sorted({*form.classes, *new}))
        own = [classes.index(name) for name in form.classes]
        K, V = len(classes), len(self.table)
        prior, intercept, weights = np.empty(K), np.zeros(K), np.zeros((V, K))
        prior[:] = log_odds(np.ones(1), self.documents + 1.0)
        prior[own], intercept[own], weights[:, own] = form.log_prior, form.intercept, self.weights
        form = LinearModel(classes, prior, intercept, Weights.of_matrix(weights), presence=form.presence)
        scorer, table = self.scorer.of_form(form), _kernels.Table(weights.reshape(-1), K)
        return replace(self, scorer=scorer, begun=form, table=table, is_changed=True)

    def _moved(self, batch: Batch, sign: float) -> _kernels.Table:
        """The weights after one step of (1) for each document of a batch."""
        form, table = self.begun, self.table
        starts, numbers, values, _ = self.scorer.kernel.rows(batch.texts)
        at, prior = {name: k for k, name in enumerate(form.classes)}, form.log_prior + form.intercept
        for i, name in enumerate(batch.label_list()):
            part = slice(*starts[i : i + 2].tolist())
            words, x = numbers[part].astype(np.int64), values[part]
            size = float(x @ x)
            if not size:
                continue
            truth, weights = np.zeros(len(at)), table.rows(words)
            truth[[at[label] for label in labels_in(name) if label in at]] = 1.0
            scores = prior + x @ weights
            C = min(USUAL / size if self.C is None else self.C, 1e3 * USUAL / size)
            p = sigmoid(_least(scores, truth, C * size) if sign > 0 else scores)
            table = table.changed(words, weights + sign * C * np.outer(x, truth - p))
        return table


def _least(scores: Floats, truth: Floats, q: float) -> Floats:
    """The scores at which (1) is least, (K,): its slope is below zero on one side, above on the other.

    Examples
    --------
    >>> s = _least(np.zeros(2), np.array([1.0, 0.0]), 2.0)
    >>> s.round(3), (2.0 * (np.array([1, 0]) - sigmoid(s))).round(3)
    (array([ 0.675, -0.675]), array([ 0.675, -0.675]))
    """
    low, high = scores - q * (1.0 - truth), scores + q * truth
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_above = (middle - scores) / q + sigmoid(middle) > truth
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.asarray(0.5 * (low + high))


def take_odds(model: MultiLabelModel, last: MultiLabelModel) -> None:
    """Give a model of other counts or weights the calibration and the thresholds of ``last``, by label."""
    same, before, now = model.class_names == last.class_names, last.class_names, model.class_names
    odds, thresholds = last.odds or LabelOdds.none(len(before)), last.thresholds
    assert thresholds is not None
    if not same:
        known = dict(zip(before, thresholds.tolist(), strict=True))
        usual = float(np.median(thresholds)) if len(thresholds) else 0.5
        odds = odds.of_labels(before, now)
        thresholds = np.array([known.get(name, usual) for name in now])
    model.odds, model.thresholds = odds, thresholds
    model.held_labels = last.held_labels if same and last.has_documents else None
