"""LinearTableModel: softmax regression of the columns of a table, which rests on its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textodds.data import Batch, Observer
from textodds.errors import InputError, Separable, Unsupported
from textodds.learn.arrays import Floats
from textodds.learn.calibration import Calibration, is_worth_it
from textodds.learn.conditionals.product import Product
from textodds.learn.design import LabelledRows, Plain
from textodds.learn.forms.linear import log_prior, log_softmax
from textodds.learn.held_out import FEWEST, HeldOut
from textodds.learn.softmax.regression import held_scores
from textodds.model.basis import Basis
from textodds.model.tables.blocks import Block
from textodds.model.tables.table_features import TableFeatures
from textodds.model.tables.table_model import SampleRow, TableDensity, TableLesson, TableModel, TableRecipe
from textodds.model.tables.table_tally import TableTally
from textodds.stats.rows import Rows


@dataclass(frozen=True, eq=False)
class TableWeights:
    r"""Scores of the columns of a table, by softmax regression.

    .. math:: \log p(k \mid x) = b_k + \sum_v w_{vk} z_v + \text{const}                (1)

    where z are the features of `TableFeatures`. ``intercept`` is b without the log of the shares of the
    classes in training, which stand apart as the prior.
    """

    classes: tuple[str, ...]  # (K,)
    features: TableFeatures
    weights: Floats  # (V, K)
    intercept: Floats  # (K,)

    def log_likelihood(self, batch: Batch) -> Floats:
        """The evidence of a row for each class, (N, K): (1) without the prior."""
        return np.asarray(self.features.rows(batch) @ self.weights + self.intercept)

    def log_unseen(self, batch: Batch) -> Floats:
        """Nothing: what was never seen has no weight."""
        return np.zeros((len(batch), len(self.classes)))

    def by_column(self, batch: Batch) -> dict[str, Floats]:
        """What each column adds to (1), (N, K) by name."""
        return dict(self.features.by_column(batch, self.weights))


@dataclass(frozen=True, eq=False)
class TableFit:
    """The weights of a table, the recipe with the penalty that was chosen, and how they were found."""

    recipe: TableRecipe
    weights: TableWeights
    report: dict[str, object]

    @classmethod
    def of(
        cls, recipe: TableRecipe, tally: TableTally, rows: Rows, observer: Observer | None = None
    ) -> TableFit:
        """What a recipe makes of rows, which are in the order of their hashes, and of their statistics."""
        assert recipe.linear is not None
        data, features = labelled_rows(recipe.blocks, tally, rows)
        try:
            fit = recipe.linear.fit_design(Plain(data.rows), data, observer=observer)
        except Separable as error:  # it knows numbers where readers want columns
            named = features.names()
            strongest = [" ".join(named[int(name[1:])]).strip() for name in error.strongest]
            raise Separable(error.complete, error.direction, strongest) from error
        own = fit.model
        share = log_prior("data", own.classes, tally.class_rows)
        intercept = own.intercept + own.log_prior - share
        features = TableFeatures.of(recipe.blocks, tally)  # of texts as they come, not as they are kept
        weights = TableWeights(own.classes, features, own.weights.rows(np.arange(own.n_features)), intercept)
        settled = replace(recipe, linear=recipe.linear.settled(fit.C))
        return cls(settled, weights, fit.report())


def labelled_rows(
    blocks: Sequence[Block], tally: TableTally, rows: Rows
) -> tuple[LabelledRows, TableFeatures]:
    """Rows that are kept as the features of some blocks, and which features those are."""
    features = TableFeatures.of([block.rereading() for block in blocks], tally)
    batch = rows.batch(np.arange(len(rows)))
    data = LabelledRows(features.rows(batch), rows.classes, rows.codes, rows.weights)
    return data.with_two_classes(), features


class LinearTableModel(TableModel):
    """A classifier of the rows of tables by softmax regression; see `TableModel`.

    Its weights follow from its rows: they are found again, to the same bits, whenever it learns or forgets.
    Without its rows it answers as before, and cannot change.
    """

    _weights: TableWeights

    @classmethod
    def trained(
        cls,
        recipe: TableRecipe,
        tally: TableTally,
        rows: Rows,
        info: dict[str, Any],
        observer: Observer | None,
    ) -> LinearTableModel:
        """The model that a recipe makes of rows."""
        fit = TableFit.of(recipe, tally, rows, observer)
        model = cls(fit.recipe, tally, {**info, "fit": fit.report}, weights=fit.weights)
        model.corpus = rows
        return model

    def __init__(
        self, recipe: TableRecipe, tally: TableTally, info: dict[str, Any], *, weights: TableWeights
    ) -> None:
        self._weights = weights
        super().__init__(recipe, tally, info)

    def _install_counts(self, tally: TableTally) -> None:
        self.product, self.class_names, self._tally = Product((self._weights,)), tally.classes, tally
        if self._weights.classes != tally.classes:
            raise InputError("its weights have other classes than its rows")
        self.log_prior = log_prior(self.recipe.prior, tally.classes, tally.class_rows)
        self.extent = len(self.recipe.schema.used), "column"

    def _install_basis(self, basis: Basis[TableTally, Rows]) -> dict[str, Any]:
        self.must_be_updatable()
        assert basis.tally is not None
        if basis.corpus is None:
            raise self._without_rows()
        fit = TableFit.of(self.recipe, basis.tally, basis.corpus)
        self.recipe, self._weights = fit.recipe, fit.weights
        return super()._install_basis(basis) | {"fit": fit.report}

    def must_be_updatable(self) -> None:
        """Refuse a model whose rows are not kept: its weights follow from all of them at once."""
        if not self.has_documents:
            raise self._without_rows()

    def _without_rows(self) -> Unsupported:
        return Unsupported(
            "a softmax model of a table without its rows cannot be updated",
            hint="train it again on the data wanted, and keep its rows",
        )

    @property
    def weights(self) -> TableWeights:
        """The weights of the features of its columns."""
        return self.now()._weights

    @property
    def before_reading(self) -> Floats:
        """What it adds to the log-odds of the classes before a column is read, beside the prior, (K,)."""
        return self._weights.intercept

    @property
    def density(self) -> TableDensity:
        """Refused: softmax regression does not say how rows come about."""
        raise Unsupported(
            "softmax regression models p(class | row), not how rows come about",
            hint="train mixed, gaussian, categorical, table, lda or qda for a density of rows",
        )

    def find(self, sample: Sequence[SampleRow] = (), *, typical: bool) -> None:
        """Find what follows from the rows beside the weights: the calibration, and held-out answers."""
        if typical:
            _ = self.density
        super().find(sample, typical=False)

    def lesson(self, sample: Sequence[SampleRow]) -> TableLesson:
        """What is learned by holding rows out, at the penalty of the model."""
        recipe, rows = self.recipe, self.corpus
        assert recipe.linear is not None
        if rows is None:
            return TableLesson(None, None, "its rows are not kept")
        data, _ = labelled_rows(recipe.blocks, self.tally, rows)
        held = held_scores(recipe.linear, Plain(data.rows), data)
        if held is None:
            return TableLesson(None, None, "without a penalty, or by a descent, no row is held out")
        if len(held.codes) < FEWEST:
            why = f"that takes {FEWEST} rows, and {len(held.codes)} were held out"
            return TableLesson(None, None, why)
        some = held.weights > 0
        scores, codes, weights = held.scores[some], held.codes[some], held.weights[some]
        prior = log_prior("data", self.class_names, self.tally.class_rows)
        found = Calibration.of_parts((scores - prior)[None], codes, weights, offset=prior)
        said = found.applied(scores - prior) + prior
        is_better = is_worth_it(scores, said, codes, weights)
        answers = said if is_better else scores  # right as it is, unless that is better
        own = log_softmax(answers - prior + self.log_prior)
        return TableLesson(found if is_better else None, HeldOut.of(own, codes))

    def _must_be_like(self, other: TableModel) -> None:
        super()._must_be_like(other)
        if self.recipe.linear != other.recipe.linear:
            raise InputError(
                "the models were made differently: their penalties, or other settings of softmax regression",
                hint="train the second with `--like FIRST` (like=first), so that it is made in the same way",
            )
