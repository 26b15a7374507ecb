"""TableModel: from rows of a table to a decision, and back to the statistics it rests on."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Schema, Source, read
from textodds.data.batch import gathered
from textodds.data.labels import Label
from textodds.errors import InputError, TooFewRows, suggestion
from textodds.judge.notebook import section, table
from textodds.learn.calibration import Calibration, few_enough
from textodds.learn.conditionals.product import Product
from textodds.learn.forms.equivalence import Start
from textodds.learn.forms.linear import log_joint, log_prior, log_softmax
from textodds.learn.held_out import FEWEST, HeldOut
from textodds.learn.recipe import why_no_density
from textodds.learn.registry import Prior, as_dict, of_dict
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.base import OTHERS
from textodds.model.basis import Basis
from textodds.model.leave_one_out import class_numbers
from textodds.model.novelty import DensityModel, Surprise, forgettable_parts
from textodds.model.one_state import of_one_state
from textodds.model.prediction import Prediction
from textodds.model.tables.blocks import Block, ColumnChoice, Words, block_of_dict
from textodds.model.tables.table_tally import TableTally
from textodds.stats.rows import Kind, RowKeeper, Rows, Vector
from textodds.stats.sample import Reservoir, offer_rows

Floats = NDArray[np.float64]
MIXED = "mixed"  # the learner that weighs the evidence of its blocks
LINEAR = "softmax"  # the learner whose weights follow from all rows at once; see `LinearTableModel`
SampleRow: TypeAlias = tuple[Batch, int]  # a batch, and the number of the row in it


@dataclass(frozen=True)
class TableRecipe:
    """Every choice that makes a model from a table."""

    schema: Schema
    learner: str
    blocks: tuple[Block, ...]
    choices: tuple[ColumnChoice, ...]
    prior: Prior = "data"
    calibrate: bool = True  # whether it is found what is said of rows left out
    weighs: bool = False  # whether the evidence of the blocks is then weighed by it
    linear: SoftmaxLearner | None = None  # of softmax regression, whose features are the columns

    @property
    def kinds(self) -> dict[str, Kind]:
        """How the columns that the model reads are kept, by name."""
        return {name: block.kept_as(name) for block in self.blocks for name in block.columns}

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "schema": self.schema.as_dict(),
            "learner": self.learner,
            "blocks": [block.as_dict() for block in self.blocks],
            "choices": [[choice.column, choice.conditional, choice.why] for choice in self.choices],
            "prior": self.prior,
            # What is usual is left out, as files had it before.
            **({} if self.calibrate else {"calibrate": False}),
            **({} if self.weighs == (self.learner == MIXED) else {"weighs": self.weighs}),
            **({} if self.linear is None else {"linear": as_dict(self.linear)}),
        }

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> TableRecipe:
        """The recipe that `as_dict` made plain data of."""
        schema = Schema.of_dict(plain["schema"])
        blocks = tuple(block_of_dict(block) for block in plain["blocks"])
        if not blocks:
            raise InputError("it has no block of columns")
        names = [name for block in blocks for name in block.columns]
        if len(set(names)) < len(names):
            raise InputError("a column is in its blocks twice")
        _must_fit(schema, blocks)
        choices = tuple(ColumnChoice(*(str(each) for each in choice)) for choice in plain["choices"])
        learner = str(plain["learner"])
        flags = plain.get("calibrate", True), plain.get("weighs", learner == MIXED)
        if not all(isinstance(flag, bool) for flag in flags):
            raise InputError("header fields `calibrate` and `weighs` must be true or false")
        linear = None if (given := plain.get("linear")) is None else of_dict(given)
        if (linear is None) == (learner == LINEAR) or not isinstance(linear, SoftmaxLearner | None):
            raise InputError("header field `linear` does not fit its learner")
        of_linear = {"vectors", "terms"} | ({"numbers", "categories"} if linear is not None else set())
        if any((block.kind in of_linear) != (linear is not None) for block in blocks):
            raise InputError("its blocks are not those of its learner")
        return cls(schema, learner, blocks, choices, plain["prior"], *flags, linear)


def _must_fit(schema: Schema, blocks: Sequence[Block]) -> None:
    """Refuse blocks whose columns are of another kind than those of the schema."""
    own = {column.name: (column.kind, column.size) for column in schema.used}
    for block in blocks:
        for name in block.columns:
            kept = block.kept_as(name)
            needed = (kept, None) if isinstance(kept, str) else ("text", None)
            if own.get(name) != (("vector", kept.size) if isinstance(kept, Vector) else needed):
                raise InputError(f"column `{name}` is not of the kind that its block takes")


@dataclass(frozen=True, eq=False)
class TableLesson:
    """What a model learns by asking about rows that it has forgotten."""

    calibration: Calibration | None = None
    held_out: HeldOut | None = None
    uncalibrated: str | None = None  # why it is not calibrated


@dataclass(frozen=True)
class TableExplanation:
    """What each column adds to the log-odds of a label against a rival; they add up, with the prior.

    ``intercept`` is the model's own, of softmax regression; ``calibration`` is what calibration adds before
    reading, None where it adds nothing; see ``start``.
    """

    label: str
    rival: str
    log_odds: float
    prior: float
    columns: tuple[tuple[str, object, float], ...]  # name, value, contribution; the strongest first
    calibration: float | None = None
    intercept: float = 0.0

    @property
    def start(self) -> float:
        """The log-odds before reading: class prior, intercept, and what calibration adds to them."""
        return self.prior + self.intercept + (self.calibration or 0.0)

    @property
    def start_lines(self) -> list[tuple[str, float]]:
        """What ``start`` is the sum of, each by its name."""
        return Start(self.prior, self.intercept, calibration=self.calibration).lines

    def __str__(self) -> str:
        lines = [f"{self.label} rather than {self.rival}: log-odds {self.log_odds:+.2f}"]
        lines += [f"  {odds:+8.2f}  {name}" for name, odds in self.start_lines]
        return "\n".join(
            [*lines, *(f"  {odds:+8.2f}  {name} = {value}" for name, value, odds in self.columns)]
        )

    def _repr_html_(self) -> str:
        rows = [[name, "", f"{odds:+.2f}"] for name, odds in self.start_lines]
        rows += [
            [name, "" if value is None else str(value), f"{odds:+.2f}"] for name, value, odds in self.columns
        ]
        title = f"{self.label} rather than {self.rival}: log-odds {self.log_odds:+.2f}"
        return section(title, table(("column", "value", "log-odds"), rows, left=2, most=30))


class TableModel(DensityModel[TableTally, Rows, SampleRow]):
    """A trained classifier of the rows of tables; made by `train`, `load`, or ``+``.

    What it has learned are counts and exact sums (`tally`), which add and subtract; what follows from them
    is found again from the rows that it stands on (`corpus`), unless they are not kept.

    Attributes
    ----------
    classes_ : tuple
        The labels, of the type they had in training, sorted as text. Column k of probabilities
        belongs to ``classes_[k]``.
    recipe : TableRecipe
        Every choice that was made.
    tally : TableTally
        The statistics the model rests on.
    corpus : Rows or None
        The rows it stands on, where they are kept.
    calibration : Calibration or None
        How the evidence of the blocks is weighed.
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
        self.product, self.class_names, self._tally = product, product.classes, tally
        self.extent = len(recipe.schema.used), "column"

    def basis_of(self, batches: Iterable[Batch]) -> Basis[TableTally, Rows]:
        """What the model would rest on had it learned just these batches."""
        if not self.has_documents:
            return Basis(self.count(batches), None)
        keeper = RowKeeper(self.recipe.kinds, most=None)
        return Basis(self.count(keeper.passed(batches)), keeper.rows())

    def _install_basis(self, basis: Basis[TableTally, Rows]) -> dict[str, Any]:
        assert basis.tally is not None
        self._install_counts(basis.tally)
        self.corpus, self._is_behind = basis.corpus, basis.corpus is not None
        return {}

    def follow(self) -> None:
        """Find again what follows from the rows, if they have changed."""
        if not self._is_behind:
            return
        with self._writing:
            if self._is_behind:  # no other thread has found it meanwhile
                self.find(typical=self.__dict__.get("_typical") is not None)

    def find(self, sample: Sequence[SampleRow] = (), *, typical: bool) -> None:
        """Find what follows from the rows that it stands on, or by a ``sample`` where they are not kept."""
        model, sample = _drawn(self, self.corpus, sample)
        lesson = model.lesson(sample) if self.recipe.calibrate else TableLesson()
        info = {name: part for name, part in self.info.items() if name != "uncalibrated"}
        info |= {} if lesson.uncalibrated is None else {"uncalibrated": lesson.uncalibrated}
        # In one step: whoever sees that it has followed sees all that was found.
        self.__dict__.update(
            _typical=model.typical_of(sample, seen=True) if typical else None,
            _calibration=lesson.calibration,
            _held_out=lesson.held_out,
            info=info,
            _is_behind=False,
        )

    def learn_typical(
        self, source: object, labels: object = None, *, seen: bool = True, **reading: object
    ) -> None:
        """Keep how surprising typical rows are, for `familiarity`; see `DensityModel`."""
        batches = self.read(source, labels, labelled=seen, **reading)
        keeper = RowKeeper(self.recipe.kinds)
        sample = self.density.sample(keeper.passed(batches) if seen else batches)
        model, drawn = _drawn(self, keeper.rows() if seen else None, sample)
        self.typical = model.typical_of(drawn, seen=seen)

    def rereading(self) -> TableModel:
        """The same model for rows that are kept, whose texts are prepared already."""
        model = copy.copy(self)
        model._is_behind = False
        blocks = tuple(block.rereading() for block in self.recipe.blocks)
        if blocks != self.recipe.blocks:
            model.recipe = replace(self.recipe, blocks=blocks)
            model._install_counts(self.tally)
        return model

    @property
    def slopes(self) -> Floats:
        """The weight of the evidence of each block."""
        return np.ones(len(self.product.parts)) if self.calibration is None else self.calibration.slopes

    @property
    def before_reading(self) -> Floats:
        """What it adds to the log-odds of the classes before a column is read, beside the prior, (K,)."""
        return np.zeros(len(self.classes_))

    @property
    def bias(self) -> Floats:
        """What calibration adds to the score of each class, (K,)."""
        bias = 0.0 if self.calibration is None else self.calibration.bias
        return np.broadcast_to(bias, len(self.classes_))

    def recipe_as_dict(self) -> dict[str, Any]:
        """The recipe as plain data, with the calibration that was found by it."""
        found = self.calibration
        if found is not None and np.ndim(found.bias) == 0:  # of very many classes none has a bias
            found = found.of_classes(self.class_names, self.class_names)
        return {
            **self.recipe.as_dict(),
            "calibration": None if found is None else found.as_dict(),
            "calibrated_classes": [] if found is None else list(self.class_names),
        }

    def _install_prior(self, prior: Prior) -> None:
        self.recipe = replace(self.recipe, prior=prior)
        self.log_prior = log_prior(prior, self.class_names, self.tally.class_rows)

    @property
    def schema(self) -> Schema:
        """The columns that the model reads."""
        return self.recipe.schema

    @property
    @of_one_state
    def density(self) -> TableDensity:
        """The model as a distribution of rows, if the words of its texts are one."""
        for block in self.recipe.blocks:
            if isinstance(block, Words) and (error := why_no_density(block.recipe)) is not None:
                raise error
        return TableDensity(self)

    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Source:
        """A source of the columns of the model; takes what `textodds.read` takes."""
        before = self.info.get("reading")
        return self.resolving(read(*data, schema=self.schema, labelled=labelled, before=before, **reading))

    def count(self, batches: Iterable[Batch]) -> TableTally:
        """The statistics of a stream of batches, by the choices of the model."""
        return TableTally.count(batches, self.recipe.blocks)

    def row_of(self, row: Mapping[str, object] | str) -> dict[str, object]:
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

    @of_one_state
    def answer(self, row: Mapping[str, object] | str) -> Prediction[str]:
        """The prediction for one row, with labels as text, whatever they were in training."""
        scores, evidence = self.score([self.row_of(row)])
        shares = np.exp(log_softmax(scores)[0])
        best = int(shares.argmax())
        probabilities = dict(zip(self.class_names, shares.tolist(), strict=True))
        return Prediction(self.class_names[best], float(shares[best]), int(evidence[0, 0]), probabilities)

    @of_one_state
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        there = batch.values_there.astype(np.uint32)
        evidence = np.stack([there, np.full(len(batch), len(batch.columns), np.uint32)], axis=1)
        if not calibrate:
            return TableDensity(self).log_joint(batch), evidence
        parts = self.product.by_block(batch)
        scores = sum(slope * part for slope, part in zip(self.slopes, parts, strict=True))
        return log_joint(np.asarray(scores), self.log_prior) + self.bias, evidence

    def score(self, rows: object) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | row), and columns that are there and all (N, 2)."""
        return self._scores(rows, calibrate=True)

    @of_one_state
    def explain(
        self,
        row: Mapping[str, object] | str,
        label: Label | None = None,
        rival: Label | None = None,
        *,
        calibrate: bool = True,
    ) -> TableExplanation:
        """The contribution of each column to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up. Without ``calibrate`` log-odds are as Bayes'
        rule has them, rather than those of the model's answer. A text in the place of a row is refused.
        """
        given = self.row_of(row)
        batch = next(iter(self.read([given])))
        scores = self.score_batch(batch, calibrate=calibrate)[0][0]
        a, other = self._sides(scores, label, rival)
        b = self.class_number(OTHERS) if other is None else other
        slopes = self.slopes if calibrate else np.ones(len(self.slopes))
        bias = np.broadcast_to(self.bias if calibrate else 0.0, len(scores))
        intercept = slopes[0] * self.before_reading
        parts = {
            name: float(slope * (each[0, a] - each[0, b]))
            for slope, part in zip(slopes, self.product.parts, strict=True)
            for name, each in part.by_column(batch).items()
        }
        ranked = sorted(parts.items(), key=lambda item: -abs(item[1]))
        return TableExplanation(
            self.class_names[a],
            self.class_names[b],
            float(scores[a] - scores[b]),
            float(self.log_prior[a] - self.log_prior[b]),
            tuple((name, _shown(given.get(name)), value) for name, value in ranked),
            float(bias[a] - bias[b]) if np.any(bias) else None,
            float(intercept[a] - intercept[b]),
        )

    def forgetting(self, sample: Sequence[SampleRow]) -> Iterator[tuple[TableModel, Batch]]:
        """Parts of a sample of rows that were learned, each with the model that has forgotten it."""
        for part in forgettable_parts(sample, self.tally.n_documents):
            batch = gathered(part)
            rest = self.tally - self.count([batch])
            if rest.classes == self.class_names:
                with suppress(TooFewRows):  # there were just enough with those that are forgotten
                    yield self._of_counts(rest), batch

    def lesson(self, sample: Sequence[SampleRow]) -> TableLesson:
        """What is learned by asking about rows of a sample when they are forgotten."""
        folds, codes, weights = [], [], []
        is_enough = len(sample) >= FEWEST and len(self.classes_) > 1
        sample = few_enough(sample, len(self.recipe.blocks) * len(self.classes_))
        for model, batch in self.forgetting(sample) if is_enough else ():
            folds.append((np.stack(model.product.by_block(batch)), model.log_prior))
            codes.append(class_numbers(batch.label_list(), self.class_names))
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
        rows = sum(map(len, codes)) if is_enough else len(sample)
        why = found = None
        if self.recipe.learner != MIXED:
            why = "only the learner mixed is calibrated"
        elif self.recipe.weighs and len(self.classes_) < 2:
            why = "there is only one class"
        elif self.recipe.weighs and rows < FEWEST:
            why = f"that takes {FEWEST} rows, and {rows} can be left out"
        elif self.recipe.weighs:
            parts, offset = np.concatenate([part for part, _ in folds], axis=1), self.tally.class_rows
            offset = np.log(offset / offset.sum())
            found = Calibration.of_parts(parts, np.concatenate(codes), np.concatenate(weights), offset=offset)
        if not folds:
            return TableLesson(found, None, why)
        weighed = found or Calibration.none(len(self.recipe.blocks))
        said = [log_softmax(log_joint(weighed.applied(*part), prior)) for part, prior in folds]
        return TableLesson(found, HeldOut.of(np.concatenate(said), np.concatenate(codes)), why)

    def _must_be_like(self, other: TableModel) -> None:
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        if any(mine[part] != theirs[part] for part in ("blocks", "prior")):
            raise InputError(
                "the models have different settings: their columns, or what is chosen for them",
                hint="train the second with `--like FIRST` (like=first), so that it is made in the same way",
            )


def _shown(value: object) -> object:
    """A value of a row; of a vector its beginning, and how many numbers it has."""
    if not isinstance(value, (list, tuple, np.ndarray)) or not len(value):
        return value
    return f"[{float(value[0]):.4g}, …], {len(value):,} numbers"


def _drawn(
    model: TableModel, rows: Rows | None, sample: Sequence[SampleRow]
) -> tuple[TableModel, Sequence[SampleRow]]:
    """A sample of rows and the model that reads it; where rows are not kept, one that was drawn otherwise."""
    if rows is None:
        return model, sample
    batch = rows.sample()
    return model.rereading(), [(batch, row) for row in range(len(batch))]


@dataclass(frozen=True, eq=False)
class TableDensity:
    """A model of a table as a distribution of its rows."""

    model: TableModel

    def log_joint(self, batch: Batch) -> Floats:
        """``log p(row, class)`` with all constants, before any calibration: (N, K)."""
        return log_joint(self.model.product.log_likelihood(batch), self.model.log_prior)

    def log_density(self, batch: Batch) -> Floats:
        """``log p(row)`` with all constants: (N,).

        Categories, intervals and words that were never seen say nothing of the class, and are left out of
        `log_joint`. Here each is as likely as one that its class has never shown.
        """
        unseen = sum(part.log_unseen(batch) for part in self.model.product.parts)
        return np.asarray(np.logaddexp.reduce(self.log_joint(batch) + unseen, axis=1))

    def surprise(self, batch: Batch) -> Surprise:
        """How surprising each row of a batch is, beside others with as many values."""
        density = self.log_density(batch)
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

    def left_out(self, sample: Sequence[SampleRow]) -> Iterator[Surprise]:
        """How surprising a sample that was learned is to models that have forgotten it."""
        for model, batch in self.model.forgetting(sample):
            yield TableDensity(model).surprise(batch)
