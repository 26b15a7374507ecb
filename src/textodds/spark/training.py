"""Training on Spark: the same model as on one machine, whatever the partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import NoData, Unsupported
from textodds.learn.held_out import FEWEST
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe, recipe_of
from textodds.learn.registry import AUTO, LEARNERS, resolved
from textodds.learn.softmax.penalty import as_c
from textodds.model.leave_one_out import calibrate_held_out
from textodds.spark.count import CountResult, count
from textodds.spark.dataframes import rows_of
from textodds.stats.hash_sample import SAMPLE, TYPICAL
from textodds.stats.tally import MEMORY
from textodds.stats.threads import checked_threads
from textodds.text.features import FEATURES
from textodds.training.choose import (
    BUDGET,
    Candidate,
    Pins,
    Pool,
    candidates,
    chosen,
    open_candidates,
    pins_of,
    usual,
)
from textodds.training.choose.race import ENOUGH
from textodds.training.choose.trial import Trials
from textodds.training.from_counts import model_of_counts, must_be_choosable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from textodds.learn.registry import Learner
    from textodds.learn.softmax.penalty import HeldOutScores
    from textodds.learn.softmax.regression import Watchers
    from textodds.model.text_model import TextModel
    from textodds.spark.tasks import Aside
    from textodds.training.choose import Choice
    from textodds.training.choose.race import Watch

POOL = 20_000
"""Texts on which the driver chooses features, learners and penalties."""


def train(
    df: DataFrame,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    *,
    learner: Learner | str | Sequence[Learner | str] | None = None,
    features: str | Sequence[str] | None = None,
    budget: float | None = None,
    typical: bool = False,
    calibrate: bool = True,
    memory: int = MEMORY,
    bad_rows: str = "stop",
    fitting: Watchers | None = None,
    racing: Watch | None = None,
    **recipe: Any,
) -> TextModel:
    """A model trained on the rows of a DataFrame of Spark.

    Models of counts are those that `textodds.train` makes of the same rows, bit for bit, for any
    partitioning. Softmax regression has the optimum that it has there, to the same proven gap.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of Spark itself or of Spark Connect.
    text, label, weight : str, optional
        Columns; the first two are found by their names if not given.
    learner, features, budget, typical, calibrate, **recipe
        As in `textodds.train`. ``lda``, ``qda``, learners of tables and of unlabelled texts, and complement
        with ``transform`` are not for Spark. What is to be chosen the driver chooses on a sample of 20,000
        texts, within the budget.
    memory : int, default 2 GiB
        Bytes that words and counts may use on each task, and on the driver, before the rarest words are
        dropped.
    bad_rows : "stop" or "skip"
        What to do with rows without a text or a label; those that are skipped are counted in
        ``model.info["rejected"]``.
    fitting, racing
        Told how far an optimiser or a choice has come.
    """
    pins = None
    if features is not None or isinstance(learner, (list, tuple)) or learner == AUTO:
        pins = pins_of("multinomial" if learner is None else learner, features, recipe)
        learner = None
        if pins.is_settled:
            shape = FEATURES[pins.features[0]] if pins.features else {}
            learner, recipe, pins = pins.learners[0], {**shape, **recipe}, None
    chosen_one: Any = learner or MultinomialLearner()
    found = None if pins is not None else recipe_of(chosen_one, **recipe)
    trained = train_on(
        rows_of(df, text, label, weight, labelled=True),
        found,
        pins,
        budget=BUDGET if budget is None else budget,
        typical=typical,
        calibrate=calibrate,
        memory=memory,
        bad_rows=bad_rows,
        fitting=fitting,
        racing=racing,
    )
    return trained.model


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A model, and what is known of the rows that it was learned from."""

    model: TextModel
    aside: Aside


def train_on(
    rows: DataFrame,
    recipe: Recipe | None,
    pins: Pins | None,
    *,
    budget: float,
    typical: bool,
    calibrate: bool,
    memory: int,
    bad_rows: str,
    fitting: Watchers | None = None,
    racing: Watch | None = None,
) -> TrainingResult:
    """A model of a DataFrame with columns ``text``, ``label`` and perhaps ``weight``.

    The recipe is given, or what is not left to choose.
    """
    if recipe is not None:
        _must_be_for_spark(recipe, typical=typical)
    reading: dict[str, Any] = {"memory": memory, "bad_rows": bad_rows}
    how: dict[str, Any] = {"budget": budget, "threads": checked_threads(None), "calibrate": calibrate}
    choice = None
    if recipe is None or recipe.is_open:
        pool = _pool(_counted(count(rows, None, size=POOL, **reading)))
        field = candidates(pins) if recipe is None and pins is not None else open_candidates(recipe)  # type: ignore[arg-type]
        choice = chosen(pool, field, watch=racing, **how)
        if choice is not None:
            recipe = choice.recipe
        elif recipe is None:
            assert pins is not None
            recipe = usual(pins)
        recipe = replace(recipe, is_open=False)
        _must_be_for_spark(recipe, typical=typical)
    of_counts = not recipe.learner.entry.needs_documents
    if of_counts:
        must_be_choosable(recipe)
    seeks = _seeks_penalty(recipe)
    size = (
        POOL
        if seeks
        else SAMPLE
        if of_counts and (typical or calibrate or recipe.learner.is_smoothing_open)
        else 0
    )
    counted = _counted(count(rows, recipe.settings, size=size, **reading))
    if counted.tally is None:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    if not of_counts:
        from textodds.spark.fit import fit

        held = None if choice is None else choice.winner.held
        if seeks:
            recipe, held = _with_penalty(recipe, _pool(counted), how["threads"])
        model = fit(rows, counted.tally, recipe, bad_rows=bad_rows, watch=fitting)
        if calibrate and held is not None and (choice is None or choice.winner.classes == model.classes_):
            calibrate_held_out(model, held)
    else:
        sample = counted.aside.drawn.examples()
        info = {"documents": counted.tally.n_documents}
        model = model_of_counts(
            counted.tally, recipe, sample, info, calibrate=calibrate, threads=how["threads"]
        )
        if typical:
            from textodds.model.novelty import typical_texts

            model.typical = typical_texts(model, sample[:TYPICAL], seen=True)
    return TrainingResult(_told(model, counted, choice), counted.aside)


def _told(model: TextModel, counted: CountResult, choice: Choice | None) -> TextModel:
    """The model with what is known of the data."""
    rest = {name: value for name, value in model.info.items() if name != "documents"}
    documents = model.info["documents"]
    model.info = {
        "source": "a DataFrame of Spark",
        "documents": documents,
        "rejected": counted.aside.rejected,
        **rest,
    }
    if choice is not None:
        model.info["chosen"] = choice.report()
    return model


def _must_be_for_spark(recipe: Recipe, *, typical: bool) -> None:
    """Refuse a recipe that takes one machine, before there is a pass over the data."""
    learner: Any = resolved(recipe.learner)
    if not learner.entry.on_spark or learner.rereads:
        there = ", ".join(name for name, entry in LEARNERS.items() if entry.on_spark)
        raise Unsupported(
            f"{learner.entry.name} as it is here learns on one machine only",
            hint=f"on Spark: {there} (complement without transform)",
        )
    if learner.entry.is_penalised:
        C = as_c(learner.C, learner.alpha, 1.0)
        if learner.descent is not None or (C is not None and math.isinf(C)):
            raise Unsupported(
                "on Spark softmax regression has a penalty, and one solver",
                hint="give C or alpha, or neither for one that is chosen",
            )
    if typical and not learner.entry.is_density:
        raise Unsupported(
            "only a model of how texts come about knows typical ones",
            hint="use the learner multinomial or bernoulli, or leave typical out",
        )


def _counted(counted: CountResult) -> CountResult:
    """What a pass has found, if it is something."""
    if not counted.aside.rows:
        skipped = f": all {counted.aside.rejected:,} were rejected" if counted.aside.rejected else ""
        raise NoData(f"the DataFrame has no row to learn from{skipped}")
    return counted


def _pool(counted: CountResult) -> Pool:
    """The sample as texts to choose by: a text that stands for several rows counts as often."""
    sample = counted.aside.drawn.examples()
    weights = np.array([example.weight * example.rows for example in sample], dtype=np.float64)
    total = len(sample) if counted.aside.drawn.is_whole else counted.aside.rows
    return Pool([e.text for e in sample], [e.label for e in sample], weights, max(total, len(sample)))


def _seeks_penalty(recipe: Recipe) -> bool:
    learner: Any = recipe.learner
    return learner.entry.needs_documents and learner.C is None and learner.alpha is None


def _with_penalty(recipe: Recipe, pool: Pool, threads: int) -> tuple[Recipe, HeldOutScores | None]:
    """The recipe with the penalty that is best on held-out texts of the pool, and what was said of them."""
    learner: Any = recipe.learner
    if len(pool) < FEWEST or len(pool.classes) < 2:  # too few to hold any out
        return replace(recipe, learner=replace(learner, C=1.0)), None
    trial = Trials(pool, threads).of(Candidate("as given", recipe), len(pool), ENOUGH)
    return trial.recipe, trial.held
