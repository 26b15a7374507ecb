"""TableModel: from rows of a table to a decision, and back to the statistics it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Schema, Source, read
from textodds.data.batch import gathered
from textodds.errors import InputError, TooFewRows, suggestion
from textodds.learn.calibration import Calibration
from textodds.learn.conditionals.product import Product
from textodds.learn.forms.linear import log_joint, log_prior, log_softmax
from textodds.learn.held_out import FEWEST, HeldOut
from textodds.learn.registry import Prior
from textodds.model.base import OTHERS, Prediction
from textodds.model.blocks import Block, ColumnChoice, TableTally, block_of_dict
from textodds.model.leave_one_out import class_numbers
from textodds.model.novelty import DensityModel, Surprise, forgettable_parts
from textodds.stats.sample import Reservoir, offer_rows

Floats = NDArray[np.float64]
SampleRow: TypeAlias = tuple[Batch, int]  # a batch, and the number of the row in it


@dataclass(frozen=True)
class TableRecipe:
    """Every choice that makes a model from a table."""

    schema: Schema
    learner: str
    blocks: tuple[Block, ...]
    choices: tuple[ColumnChoice, ...]
    prior: Prior = "data"
    calibration: Calibration | None = None  # of the evidence of the blocks
    calibrated_classes: tuple[str, ...] = ()  # (K,) those of its bias

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "schema": self.schema.as_dict(),
            "learner": self.learner,
            "blocks": [block.as_dict() for block in self.blocks],
            "choices": [[choice.column, choice.conditional, choice.why] for choice in self.choices],
            "prior": self.prior,
            "calibration": None if self.calibration is None else self.calibration.as_dict(),
            "calibrated_classes": list(self.calibrated_classes),
        }

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> TableRecipe:
        """The recipe that `as_dict` made plain data of."""
        schema = Schema.of_dict(plain["schema"])
        blocks = tuple(block_of_dict(block) for block in plain["blocks"])
        if not blocks:
            raise InputError("it has no block of columns")
        kinds = {column.name: column.kind for column in schema.used}
        needed = {"numbers": "number", "bins": "number", "categories": "category", "cells": "category"}
        names = [name for block in blocks for name in block.columns]
        if len(set(names)) < len(names):
            raise InputError("a column is in its blocks twice")
        for block in blocks:
            for name in block.columns:
                if kinds.get(name) != needed.get(block.kind, "text"):
                    raise InputError(f"column `{name}` is not of the kind that its block takes")
        choices = tuple(ColumnChoice(*(str(each) for each in choice)) for choice in plain["choices"])
        calibration = None if plain["calibration"] is None else Calibration.of_dict(plain["calibration"])
        if calibration is not None and len(calibration.slopes) != len(blocks):
            raise InputError("its calibration is not that of its blocks")
        classes = tuple(str(name) for name in plain["calibrated_classes"])
        if calibration is not None and len(classes) != np.size(calibration.bias):
            raise InputError("its calibration is not that of its classes")
        return cls(schema, str(plain["learner"]), blocks, choices, plain["prior"], calibration, classes)


@dataclass(frozen=True)
class TableExplanation:
    """What each column adds to the log-odds of a label against a rival; they add up, with the prior."""

    label: str
    rival: str
    log_odds: float
    prior: float
    columns: tuple[tuple[str, object, float], ...]  # name, value, contribution; the strongest first


class TableModel(DensityModel[TableTally, SampleRow]):
    """A trained classifier of the rows of tables; made by `train`, `load`, or ``+``.

    What it has learned are counts and moments (`tally`), which add and subtract.

    Attributes
    ----------
    classes_ : tuple of str
        The labels, sorted. Column k of probabilities belongs to ``classes_[k]``.
    recipe : TableRecipe
        Every choice that was made.
    tally : TableTally
        The statistics the model rests on.
    typical : Typical or None
        How surprising typical rows are, to compare with.
    held_out : HeldOut or None
        What the model said of rows that it had forgotten.
    info : dict
        What is known of the data.
    """

    kind, noun, rests_on = "tables", "row", "rows"
    _item_type, keeps_ids = Mapping, False
    recipe: TableRecipe

    def __init__(self, recipe: TableRecipe, tally: TableTally, info: dict[str, Any]) -> None:
        self.recipe, self.info = recipe, info
        self._install_counts(tally)

    def _install_counts(self, tally: TableTally) -> None:
        recipe = self.recipe
        fitted: Any = (block.fit(part) for block, part in zip(recipe.blocks, tally.parts, strict=True))  # type: ignore[arg-type]
        product = Product(tuple(fitted))
        self.log_prior = log_prior(recipe.prior, product.classes, tally.class_rows)
        self.product, self.classes_, self._tally = product, product.classes, tally
        self.extent = len(recipe.schema.used), "column"
        self.slopes, self.bias = np.ones(len(recipe.blocks)), np.zeros(len(product.classes))
        if recipe.calibration is not None:
            self.slopes = recipe.calibration.slopes
            bias = dict(zip(recipe.calibrated_classes, np.ravel(recipe.calibration.bias), strict=True))
            self.bias = np.array([bias.get(name, 0.0) for name in product.classes])  # 0: a class since then

    def _install_prior(self, prior: Prior) -> None:
        self.recipe = replace(self.recipe, prior=prior)
        self.log_prior = log_prior(prior, self.classes_, self.tally.class_rows)

    @property
    def schema(self) -> Schema:
        """The columns that the model reads."""
        return self.recipe.schema

    @property
    def density(self) -> TableDensity:
        """The model as a distribution of rows."""
        return TableDensity(self)

    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Source:
        """A source of the columns of the model; takes what `textodds.read` takes."""
        return read(*data, schema=self.schema, labelled=labelled, **reading)

    def _batches(self, rows: object) -> Source:
        return self.read(rows)

    def count(self, batches: Iterable[Batch]) -> TableTally:
        """The statistics of a stream of batches, by the choices of the model."""
        return TableTally.count(batches, self.recipe.blocks)

    def row_of(self, row: Mapping[str, object]) -> dict[str, object]:
        """A row with all columns of the model, None for those that are not given."""
        if not isinstance(row, Mapping):
            raise InputError(
                f"a row must be a dict of its columns, got {type(row).__name__}",
                hint="for several rows use predict(rows)",
            )
        names = [column.name for column in self.schema.used]
        if self.schema.label in row and self.schema.label is not None:
            raise InputError(f"`{self.schema.label}` is the label", hint="leave it out of the row")
        for name in row:
            if name not in names and name not in {column.name for column in self.schema.columns}:
                raise InputError(f"there is no column `{name}`{suggestion(str(name), names)}")
        return {name: row.get(name) for name in names}

    def __call__(self, row: Mapping[str, object]) -> Prediction:
        """The prediction for one row, a dict of its columns; those left out are missing."""
        scores, evidence = self.score([self.row_of(row)])
        shares = np.exp(log_softmax(scores)[0])
        best = int(shares.argmax())
        probabilities = dict(zip(self.classes_, shares.tolist(), strict=True))
        return Prediction(self.classes_[best], float(shares[best]), int(evidence[0, 0]), probabilities)

    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        there = batch.values_there.astype(np.uint32)
        evidence = np.stack([there, np.full(len(batch), len(batch.columns), np.uint32)], axis=1)
        if not calibrate:
            return self.density.log_joint(batch), evidence
        parts = self.product.by_block(batch)
        scores = sum(slope * part for slope, part in zip(self.slopes, parts, strict=True))
        return log_joint(np.asarray(scores), self.log_prior) + self.bias, evidence

    def score(self, rows: object) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        return self._scores(rows, calibrate=True)

    def explain(
        self,
        row: Mapping[str, object],
        label: str | None = None,
        rival: str | None = None,
        *,
        calibrate: bool = True,
    ) -> TableExplanation:
        """What each column of a row adds to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up. Without ``calibrate`` log-odds are as Bayes'
        rule has them, rather than those of the model's answer.
        """
        batch = next(iter(self.read([self.row_of(row)])))
        scores = self.score_batch(batch, calibrate=calibrate)[0][0]
        a, other = self._sides(scores, label, rival)
        b = self.class_number(OTHERS) if other is None else other
        slopes, start = np.ones(len(self.slopes)), self.log_prior
        if calibrate:
            slopes, start = self.slopes, self.log_prior + self.bias
        parts = {
            name: float(slope * (each[0, a] - each[0, b]))
            for slope, part in zip(slopes, self.product.parts, strict=True)
            for name, each in part.by_column(batch).items()
        }
        ranked = sorted(parts.items(), key=lambda item: -abs(item[1]))
        return TableExplanation(
            self.classes_[a],
            self.classes_[b],
            float(scores[a] - scores[b]),
            float(start[a] - start[b]),
            tuple((name, row.get(name), value) for name, value in ranked),
        )

    def forgetting(self, sample: Sequence[SampleRow]) -> Iterator[tuple[TableModel, Batch]]:
        """Parts of a sample of rows that were learned, each with the model that has forgotten it."""
        for part in forgettable_parts(sample, self.tally.n_documents):
            batch = gathered(part)
            rest = self.tally - self.count([batch])
            if rest.classes == self.classes_:
                with suppress(TooFewRows):  # there were just enough with those that are forgotten
                    yield self._of_counts(rest), batch

    def calibrated(self, sample: Sequence[SampleRow]) -> TableModel:
        """The model whose evidence is weighed so that probabilities of rows it has forgotten are right."""
        parts, codes, weights = [], [], []
        for model, batch in self.forgetting(sample):
            parts.append(np.stack(model.product.by_block(batch)))
            codes.append(class_numbers(batch.label_list(), self.classes_))
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
        if not parts or len(self.classes_) < 2:
            return self
        found = Calibration.of_parts(
            np.concatenate(parts, axis=1),
            np.concatenate(codes),
            np.concatenate(weights),
            offset=np.log(self.tally.class_rows / self.tally.class_rows.sum()),
        )
        recipe = replace(self.recipe, calibration=found, calibrated_classes=self.classes_)
        model = TableModel(recipe, self.tally, self.info)
        model.typical = self.typical
        return model

    def learn_held_out(self, sample: Sequence[SampleRow]) -> None:
        """Keep what the model says of rows of a sample when it has forgotten them, if they are enough."""
        if len(sample) < FEWEST or len(self.classes_) < 2:
            return
        posteriors, codes = [], []
        for model, batch in self.forgetting(sample):
            posteriors.append(log_softmax(model.score_batch(batch)[0]))
            codes.append(class_numbers(batch.label_list(), self.classes_))
        if posteriors:
            self.held_out = HeldOut.of(np.concatenate(posteriors), np.concatenate(codes))

    def _must_be_like(self, other: TableModel) -> None:
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        if any(mine[part] != theirs[part] for part in ("blocks", "prior", "calibration")):
            raise InputError(
                "the models were made differently: their columns, or what is chosen for them",
                hint="train the second with `--like FIRST` (like=first), so that it is made in the same way",
            )


@dataclass(frozen=True, eq=False)
class TableDensity:
    """A model of a table as a distribution of its rows."""

    model: TableModel

    def log_joint(self, batch: Batch) -> Floats:
        """``log p(row, class)`` with all constants, before any calibration: (N, K)."""
        return log_joint(self.model.product.log_likelihood(batch), self.model.log_prior)

    def surprise(self, batch: Batch) -> Surprise:
        """How surprising each row of a batch is, beside others with as many values."""
        density = np.logaddexp.reduce(self.log_joint(batch), axis=1)
        return Surprise(batch.values_there, -density, density, np.zeros(len(batch), np.int64))

    def sample(self, batches: Iterable[Batch]) -> list[SampleRow]:
        """A fair sample of the rows that pass by."""
        sample = Reservoir()
        for batch in batches:
            offer_rows(sample, batch)
        return sample.kept

    def batch_of(self, sample: Sequence[SampleRow]) -> Batch:
        """A sample as one batch."""
        return gathered(list(sample))

    def forgetting(self, sample: Sequence[SampleRow]) -> Iterator[tuple[TableDensity, Batch]]:
        """Parts of a sample that was learned, each with the distribution that has forgotten it."""
        for model, batch in self.model.forgetting(sample):
            yield TableDensity(model), batch
