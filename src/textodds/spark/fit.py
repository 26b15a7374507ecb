"""Softmax regression on Spark: rows stay on the executors, gradients are added up."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds.data import Observer
from textodds.data.named_arrays import Arrays
from textodds.errors import InputError, NotConverged
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LinearModel, Weights, log
from textodds.learn.recipe import Recipe, selected
from textodds.learn.softmax.class_weights import class_factors
from textodds.learn.softmax.convergence import GOOD, TOLERANCE
from textodds.learn.softmax.log_linear_pool import SMOOTHING, pooled_weights
from textodds.learn.softmax.penalty import scales_or_centre
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner, as_c, linear_of
from textodds.learn.solvers.lbfgs_sums import Sums, SumSolver, Totals
from textodds.learn.solvers.objective import Parameters
from textodds.model.text_model import TextModel
from textodds.spark.count import bits_on
from textodds.spark.dataframes import collected
from textodds.spark.models import sent
from textodds.spark.row_blocks import BLOCK_SPARK, How, make_blocks, slope, total
from textodds.spark.tasks import PART_SPARK, part_of, parts_of
from textodds.spark.wire import packed, telling, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from textodds.spark.wire import Batches, Task
    from textodds.stats.tally import Counts, Tally
    from textodds.text import Vocabulary

MARK = "~"
"""Stands before characters that are counted beside words (`MARK` in rust/core/src/key.rs)."""

FEW = 16
"""Tasks up to which the driver adds up what each sends; beyond, Spark does."""


def fit(rows: DataFrame, tally: Tally, recipe: Recipe, *, bad_rows: str, observer: Observer) -> TextModel:
    """The softmax model of a DataFrame whose words were counted; the penalty is given."""
    learner = recipe.learner
    assert isinstance(learner, (SoftmaxLearner, NBSoftmaxLearner))
    assert recipe.weighting is not None
    counts, vocabulary = selected(tally, recipe.selection)
    if not len(vocabulary):
        raise InputError("no word is left to learn from", hint="lower min_df, or raise max_df")
    factors = class_factors(learner.class_weight, counts.classes, counts.class_documents)
    mass = counts.class_documents * factors
    classes = tuple(name for name, weight in zip(counts.classes, mass, strict=True) if weight > 0)
    if len(classes) < 2:
        raise InputError(
            f"every row that counts is of one class, `{classes[0]}`" if classes else "no row has a weight",
            hint="a discriminative model needs rows of two classes or more to tell apart",
        )
    C = as_c(learner.C, learner.alpha, float(mass.sum()))
    assert C is not None  # given, or chosen
    scale = recipe.weighting.idf_of(counts.by_feature(counts.documents), tally.n_documents)
    factor, centre = _from_naive_bayes(learner, counts, factors, classes)
    if factor is not None:
        scale = scale * factor
    blank = LinearModel(("",), np.zeros(1), np.zeros(1), Weights.of_matrix(np.zeros((len(scale), 1))))
    spark = rows.sparkSession
    name = sent(spark, TextModel(recipe, vocabulary, blank, None, {}, scale=scale))
    known = dict(zip(counts.classes, factors.tolist(), strict=True))
    numbers = {label: (code, known[label]) for code, label in enumerate(classes)}
    how = How(recipe.weighting.frequency, _second(recipe, vocabulary), len(scale))
    blocks = rows.mapInArrow(telling(make_blocks, name, how, numbers, bad_rows), BLOCK_SPARK).persist()
    try:
        rest = _Elsewhere(blocks, how, len(classes), scale)
        problem = SumSolver(rest.at, rest.totals(), 1.0 / C, centre, observer.step)
        # A pass is dear here: where nobody asks for more, what is good enough is.
        tolerance = GOOD if learner.tolerance == TOLERANCE else learner.tolerance
        found = problem.solve(tolerance=tolerance, max_steps=learner.max_epochs)
    finally:
        blocks.unpersist()
    if not found.converged:
        warnings.warn(
            f"not converged after {found.steps} passes: a relative gap of {found.gap:.2g} is proven, "
            f"{tolerance:g} was asked; this is the best point found; raise max_epochs or "
            "tolerance, or lower C",
            NotConverged,
            stacklevel=5,
        )
    point = found.parameters
    if learner.naive_bayes:
        presence = _presence(counts, factors, classes)
        smoothing = learner.smoothing if isinstance(learner, NBSoftmaxLearner) else SMOOTHING
        added = pooled_weights(presence, factor, learner.naive_bayes, smoothing)
        point = Parameters(point.weights + added, point.bias)
    linear = _of_all(linear_of(point, classes, mass[mass > 0]), counts.classes, mass)
    info = {
        "documents": tally.n_documents,
        "class_documents": dict(zip(counts.classes, counts.class_documents.tolist(), strict=True)),
        "fit": found.report(C),
    }
    return TextModel(recipe, vocabulary, linear, None, info, scale=scale)


def _of_all(linear: LinearModel, classes: tuple[str, ...], mass: Floats) -> LinearModel:
    """The model with the classes that weigh nothing, whose probability is zero."""
    if len(linear.classes) == len(classes):
        return linear
    weights, intercept = np.zeros((linear.n_features, len(classes))), np.zeros(len(classes))
    weights[:, mass > 0] = linear.weights.rows(np.arange(linear.n_features))
    intercept[mass > 0] = linear.intercept
    return LinearModel(classes, log(mass / mass.sum()), intercept, Weights.of_matrix(weights))


def _second(recipe: Recipe, vocabulary: Vocabulary) -> NDArray[np.uint8]:
    """Which words are characters beside words, (V,); none where there are no such."""
    if recipe.settings.blocks == 1:
        return np.zeros(0, np.uint8)
    return np.array([word.startswith(MARK) for word in vocabulary.words()], dtype=np.uint8)


def _from_naive_bayes(
    learner: SoftmaxLearner | NBSoftmaxLearner, counts: Counts, factors: Floats, classes: tuple[str, ...]
) -> tuple[Floats | None, Floats | None]:
    """Scales of the words (V,), and the mean of the prior (V, M); None for either that is not wanted."""
    if isinstance(learner, SoftmaxLearner):
        return None, None
    assert isinstance(learner, NBSoftmaxLearner)
    mass = (counts.class_documents * factors)[[name in classes for name in counts.classes]]
    return scales_or_centre(learner.form, _presence(counts, factors, classes), learner.smoothing, mass)


def _presence(counts: Counts, factors: Floats, classes: tuple[str, ...]) -> Floats:
    """Weight of the documents of each of ``classes`` with each word, (V, K)."""
    presence = np.zeros((counts.n_features, len(counts.classes)))
    presence[counts.feature_of, counts.class_of] = counts.documents
    return np.ascontiguousarray((presence * factors)[:, [name in classes for name in counts.classes]])


@dataclass(eq=False)
class _Elsewhere:
    """Blocks on executors, and the sums over them."""

    blocks: DataFrame
    how: How
    classes: int
    scale: Floats  # (V,): what a word is worth
    tasks: int = 0  # that have rows; known after the first pass

    def totals(self) -> Totals:
        """The sums that need no point; the pass that makes the blocks."""
        found = self._summed(lambda cuts: telling(total, self.how, self.classes, cuts))
        return Totals(found["mass"], found["columns"] * self.scale[:, None], found["squares"] * self.scale**2)

    def at(self, point: Parameters) -> Sums:
        """The sums at a point."""
        weights, bias = point.weights * self.scale[:, None], np.ascontiguousarray(point.bias)
        found = self._summed(lambda cuts: telling(slope, self.how, weights, bias, cuts))
        loss, entropy = found["loss"].tolist()
        return Sums(loss, entropy, found["weights"] * self.scale[:, None], found["bias"])

    def _summed(self, task: Callable[[int], Task]) -> Arrays:
        many = self.tasks > FEW
        parts = self.blocks.mapInArrow(task(1 << bits_on(self.blocks) if many else 1), PART_SPARK)
        if many:
            parts = parts.repartition("part").mapInArrow(telling(_add_arrays), PART_SPARK)
        rows = collected(parts)
        if not self.tasks:
            self.tasks = len(rows)
        sums = added(rows)
        names = {name for arrays in sums.values() for name in arrays}
        return {
            name: np.concatenate([sums[part][name] for part in sorted(sums) if name in sums[part]])
            for name in names
        }


def added(rows: Iterable[tuple[int, bytes]]) -> dict[int, Arrays]:
    """The sums of arrays part by part, taken in the order of tasks, so that they are the same every time."""
    found: dict[int, list[tuple[int, Arrays]]] = defaultdict(list)
    for part, payload in rows:
        header, arrays = unpacked(payload)
        found[part].append((header["task"], arrays))
    sums: dict[int, Arrays] = {}
    for part, several in found.items():
        for _, arrays in sorted(several, key=lambda one: one[0]):
            if part not in sums:
                sums[part] = arrays
                continue
            for name, array in arrays.items():
                sums[part][name] += array
    return sums


def _add_arrays(batches: Batches) -> Batches:
    """Every part once, its arrays added up."""
    for part, arrays in added(parts_of(batches)).items():
        yield part_of(part, packed({"task": 0}, arrays))
