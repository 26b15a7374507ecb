"""TableModel: from rows of a table to a decision, and back to the statistics it rests on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Schema, Source, read
from textodds.data.batch import gathered
from textodds.errors import InputError, NoData, TooFewRows, Unsupported, suggestion
from textodds.judge.evaluation import Evaluation, evaluate, scored_batches
from textodds.judge.novelty import Familiarity, Typical
from textodds.learn.bayes import log_joint
from textodds.learn.calibration import Calibration
from textodds.learn.conditionals.product import Product
from textodds.learn.forms.linear import log_prior, log_softmax
from textodds.learn.held_out import FEWEST, HeldOut
from textodds.learn.registry import Prior
from textodds.model.base import class_number, forgettable_parts, of_labels
from textodds.model.blocks import Block, ColumnChoice, block_of_dict
from textodds.model.table_tally import TableTally
from textodds.model.text_model import Prediction
from textodds.stats.additive import Additive
from textodds.stats.reservoir import Reservoir, offer_rows

Floats = NDArray[np.float64]


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
    columns: tuple[tuple[str, Any, float], ...]  # name, value, contribution; the strongest first


class TableModel(Additive):
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

    is_table = True
    file_format: int | None = None  # of the file that it was read from

    def __init__(
        self,
        recipe: TableRecipe,
        tally: TableTally,
        info: dict[str, Any],
        typical: Typical | None = None,
        held_out: HeldOut | None = None,
    ) -> None:
        self.info, self.typical, self.held_out = info, typical, held_out
        self._install(recipe, tally)

    def _install(self, recipe: TableRecipe, tally: TableTally) -> None:
        fitted: Any = (block.fit(part) for block, part in zip(recipe.blocks, tally.parts, strict=True))  # type: ignore[arg-type]
        product = Product(tuple(fitted))
        prior = log_prior(recipe.prior, product.classes, tally.class_rows)
        self.recipe, self.tally, self.product, self.log_prior = recipe, tally, product, prior
        self.slopes, self.bias = np.ones(len(recipe.blocks)), np.zeros(len(product.classes))
        if recipe.calibration is not None:
            self.slopes = recipe.calibration.slopes
            bias = dict(zip(recipe.calibrated_classes, np.ravel(recipe.calibration.bias), strict=True))
            self.bias = np.array([bias.get(name, 0.0) for name in product.classes])  # 0: a class since then

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return self.product.classes

    @property
    def schema(self) -> Schema:
        """The columns that the model reads."""
        return self.recipe.schema

    @property
    def class_documents(self) -> dict[str, float]:
        """Rows, or their total weight, of each class in training."""
        return dict(zip(self.classes_, self.tally.class_rows.tolist(), strict=True))

    @property
    def extent(self) -> tuple[int, str]:
        """How many features the model has, and what they are."""
        return len(self.schema.used), "column"

    def must_be_counts(self) -> None:
        """A table model always rests on statistics that add and subtract."""

    def __repr__(self) -> str:
        return f"<TableModel: {len(self.classes_)} classes, {len(self.schema.used)} columns>"

    def read(
        self, source: Any, labels: Any = None, weights: Any = None, *, labelled: bool = False, **reading: Any
    ) -> Source:
        """A source of the columns of the model; takes what `textodds.read` takes."""
        return read(source, labels, weights, schema=self.schema, labelled=labelled, **reading)

    def __call__(self, row: Mapping[str, Any]) -> Prediction:
        """The prediction for one row, a dict of its columns; those left out are missing."""
        scores, evidence = self.score([self.row_of(row)])
        shares = np.exp(log_softmax(scores)[0])
        best = int(shares.argmax())
        probabilities = dict(zip(self.classes_, shares.tolist(), strict=True))
        return Prediction(self.classes_[best], float(shares[best]), int(evidence[0, 0]), probabilities)

    def row_of(self, row: Mapping[str, Any]) -> dict[str, Any]:
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

    def score_batch(self, batch: Batch) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        there = batch.values_there.astype(np.uint32)
        evidence = np.stack([there, np.full(len(batch), len(batch.columns), np.uint32)], axis=1)
        parts = self.product.by_block(batch)
        scores = sum(slope * part for slope, part in zip(self.slopes, parts, strict=True))
        return log_joint(np.asarray(scores), self.log_prior) + self.bias, evidence

    def score(self, rows: Any) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        parts = [self.score_batch(batch) for batch in self.read(rows)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """The most probable label of each row, (N,)."""
        names = np.array(self.classes_, dtype=object)
        return np.asarray(names[self.score(rows)[0].argmax(axis=1)])

    def predict_log_proba(self, rows: Any) -> Floats:
        """``log p(class | row)``, (N, K)."""
        return log_softmax(self.score(rows)[0])

    def predict_proba(self, rows: Any) -> Floats:
        """``p(class | row)``, (N, K), each row summing to one."""
        return np.exp(self.predict_log_proba(rows))

    def log_joint(self, rows: Any, labels: Sequence[str] | None = None) -> Floats:
        """``log p(row, class)`` with all constants: of every class (N, K), or of each row's label (N,)."""
        parts = [self.log_joint_of(batch) for batch in self.read(rows)]
        joint = np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))
        return joint if labels is None else of_labels(joint, labels, self.classes_)

    def log_joint_of(self, batch: Batch) -> Floats:
        """``log p(row, class)`` of a batch, by the model as it is, before any calibration: (N, K)."""
        return log_joint(self.product.log_likelihood(batch), self.log_prior)

    def log_density(self, rows: Any) -> Floats:
        """``log p(row)`` with all constants, whatever the class: (N,).

        Of numbers that are Gaussian it is a density, of all else a probability.
        """
        return np.asarray(np.logaddexp.reduce(self.log_joint(rows), axis=1))

    def familiarity(self, rows: Any) -> list[Familiarity]:
        """How like the rows of training each row is; needs ``typical`` ones to compare with."""
        return [found for batch in self.read(rows) for found in self.familiarity_of(batch)]

    def familiarity_of(self, batch: Batch) -> list[Familiarity]:
        """How like the rows of training those of a batch are."""
        if self.typical is None:
            raise Unsupported(
                "the model has no typical rows to compare with",
                hint="train with `--typical` (typical=True), or call learn_typical on rows of the kind",
            )
        density = np.logaddexp.reduce(self.log_joint_of(batch), axis=1)
        p_values = self.typical.p_value(batch.values_there, -density)
        pairs = zip(density.tolist(), p_values.tolist(), strict=True)
        return [Familiarity(value, -value, p) for value, p in pairs]

    def learn_typical(self, source: Any, labels: Any = None, *, seen: bool = True, **reading: Any) -> None:
        """Keep how surprising typical rows are, for `familiarity`.

        Up to 2,000 rows are drawn from ``source``. If the model has ``seen`` them in training, they are
        forgotten while it is asked about them.
        """
        sample = Reservoir()
        for batch in self.read(source, labels, labelled=seen, **reading):
            offer_rows(sample, batch)
        self.typical = self.typical_of(sample.kept, seen=seen)

    def typical_of(self, sample: list[tuple[Batch, int]], *, seen: bool) -> Typical:
        """How surprising a sample of rows is; if they were learned, with each forgotten."""
        if not sample:
            raise NoData("there are no typical rows to compare with")
        surprises, there = [], []
        for model, batch in self.forgetting(sample) if seen else [(self, gathered(sample))]:
            surprises.append(-np.logaddexp.reduce(model.log_joint_of(batch), axis=1))
            there.append(batch.values_there)
        if not surprises:
            raise NoData(
                "too few rows to tell typical ones from others",
                hint="train on more rows, so that a fifth of them can be forgotten for a while",
            )
        return Typical.of(np.concatenate(there), np.concatenate(surprises))

    def forgetting(self, sample: list[tuple[Batch, int]]) -> Iterator[tuple[TableModel, Batch]]:
        """Parts of a sample of rows that were learned, each with the model that has forgotten it."""
        for part in forgettable_parts(sample, self.tally.n_documents):
            batch = gathered(part)
            rest = self.tally - self.count([batch])
            if rest.classes != self.classes_:
                continue
            try:
                model = TableModel(self.recipe, rest, {})
            except TooFewRows:  # there were just enough with those that are forgotten
                continue
            yield model, batch

    def calibrated(self, sample: list[tuple[Batch, int]]) -> TableModel:
        """The model whose evidence is weighed so that probabilities of rows it has forgotten are right."""
        parts, codes, weights = [], [], []
        index = {name: k for k, name in enumerate(self.classes_)}
        for model, batch in self.forgetting(sample):
            parts.append(np.stack(model.product.by_block(batch)))
            codes += [index[label] for label in batch.label_list()]
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
        if not parts or len(self.classes_) < 2:
            return self
        found = Calibration.of_parts(
            np.concatenate(parts, axis=1),
            np.array(codes),
            np.concatenate(weights),
            offset=np.log(self.tally.class_rows / self.tally.class_rows.sum()),
        )
        recipe = replace(self.recipe, calibration=found, calibrated_classes=self.classes_)
        return TableModel(recipe, self.tally, self.info, self.typical)

    def learn_held_out(self, sample: list[tuple[Batch, int]]) -> None:
        """Keep what the model says of rows of a sample when it has forgotten them, if they are enough."""
        if len(sample) < FEWEST or len(self.classes_) < 2:
            return
        posteriors, codes = [], []
        index = {name: k for k, name in enumerate(self.classes_)}
        for model, batch in self.forgetting(sample):
            posteriors.append(log_softmax(model.score_batch(batch)[0]))
            codes += [index[label] for label in batch.label_list()]
        if posteriors:
            self.held_out = HeldOut.of(np.concatenate(posteriors), np.array(codes))

    def evaluate(self, source: Any, labels: Any = None, **reading: Any) -> Evaluation:
        """Measured quality on labelled rows; takes what `train` takes as data."""
        return self.evaluate_batches(self.read(source, labels, labelled=True, **reading))

    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""
        return evaluate(scored_batches(self, batches), self.classes_)

    def explain(
        self, row: Mapping[str, Any], label: str | None = None, rival: str | None = None
    ) -> TableExplanation:
        """What each column of a row adds to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        batch = next(iter(self.read([self.row_of(row)])))
        scores = self.score_batch(batch)[0][0]
        order = np.argsort(-scores, kind="stable").tolist()
        a = order[0] if label is None else self._class(label)
        b = next(k for k in order if k != a) if rival is None else self._class(rival)
        if a == b:
            raise InputError(f"`{label}` cannot be its own rival", hint="name another class, or none")
        parts = {
            name: float(slope * (each[0, a] - each[0, b]))
            for slope, part in zip(self.slopes, self.product.parts, strict=True)
            for name, each in part.by_column(batch).items()
        }
        ranked = sorted(parts.items(), key=lambda item: -abs(item[1]))
        return TableExplanation(
            self.classes_[a],
            self.classes_[b],
            float(scores[a] - scores[b]),
            float((self.log_prior + self.bias)[a] - (self.log_prior + self.bias)[b]),
            tuple((name, row.get(name), value) for name, value in ranked),
        )

    def _class(self, label: str) -> int:
        return class_number(label, self.classes_)

    def learn(self, rows: Any, labels: Any = None, weights: Any = None, **reading: Any) -> None:
        """Learn more rows: afterwards the model is as if trained on them too."""
        self.change(self._count_given(rows, labels, weights, **reading), 1)

    def forget(self, rows: Any, labels: Any = None, weights: Any = None, **reading: Any) -> None:
        """Forget rows: afterwards the model is as if it had never seen them.

        Raises `NegativeCount`, and changes nothing, if they were not learned before.
        """
        self.change(self._count_given(rows, labels, weights, **reading), -1)

    def _count_given(self, rows: Any, labels: Any, weights: Any, **reading: Any) -> TableTally:
        if isinstance(rows, Mapping) and isinstance(labels, str):
            rows, labels = [self.row_of(rows)], [labels]  # one row
        return self.count(self.read(rows, labels, weights, labelled=True, **reading))

    def count(self, batches: Iterable[Batch]) -> TableTally:
        """The statistics of a stream of batches, by the choices of the model."""
        return TableTally.count(batches, self.recipe.blocks)

    def change(self, tally: TableTally, sign: int) -> None:
        """Add statistics (``sign`` 1) or take them away (-1); on an error nothing is changed."""
        changed = self.tally + tally if sign > 0 else self.tally - tally
        if not changed.classes:
            raise InputError("that would forget every row", hint="delete the model instead")
        before = self.classes_
        self._install(self.recipe, changed)
        if self.classes_ != before:
            self.held_out = None
        self.info = {**self.info, "documents": changed.n_documents}
        self.info.pop("quality", None)  # it was that of another model

    def _combine(self, other: TableModel, sign: int) -> TableModel:
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        if any(mine[part] != theirs[part] for part in ("blocks", "prior", "calibration")):
            raise InputError(
                "the models were made differently: their columns, or what is chosen for them",
                hint="train the second with `--like FIRST` (like=first), so that it is made in the same way",
            )
        tally = self.tally + other.tally if sign > 0 else self.tally - other.tally
        if not tally.classes:
            raise InputError("nothing would be left of the model")
        return TableModel(self.recipe, tally, {"documents": tally.n_documents})

    def with_prior(self, prior: Prior) -> TableModel:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        return TableModel(replace(self.recipe, prior=prior), self.tally, self.info, self.typical)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file."""
        from textodds.model.table_file import save

        save(path, self)
