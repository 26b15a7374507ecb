"""Training on Spark: the same model as on one machine, whatever the partitions."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textodds.data import READ_OPTIONS, Batch, Observer
from textodds.errors import InputError, NoData, Unsupported
from textodds.judge.thresholds import Goal
from textodds.learn.held_out import FEWEST
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe
from textodds.learn.registry import LEARNERS, Learner, resolved
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import as_c
from textodds.model.fit import calibrate_held_out, fit_counts
from textodds.model.multilabel.label_fit import fit_labels
from textodds.spark.count import CountResult, count
from textodds.spark.dataframes import has_label_sets, label_type, rows_of, schema_of
from textodds.spark.progress import tasks_told
from textodds.spark.tasks import RowErrors
from textodds.stats.corpus import Corpus
from textodds.stats.sample import SAMPLE, TYPICAL, UNIT, as_rows
from textodds.training.again import ASKED, Question
from textodds.training.choose import Pool, candidates, chosen, open_candidates, usual
from textodds.training.choose.candidates import candidate_of
from textodds.training.choose.race import ENOUGH
from textodds.training.choose.trial import Trials
from textodds.training.plan import Plan, must_know_typical, plan_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.text_model import TextModel

LearnerSpec: TypeAlias = Learner | str | Sequence[Learner | str] | None

OPTIONS = ("budget", "calibrate", "memory", "textbook", "typical")
"""Options of `textodds.train` that mean the same here, beside those that are named."""

ONE_MACHINE = (
    *("labels", "weights", "columns", "like", "unlabelled", "vectors", "stream", "documents"),
    *("clean_labels", "threads"),
    *(name for name in READ_OPTIONS if name not in ("text", "label", "weight", "bad_rows")),
)
"""Options of `textodds.train` that have no part in reading and learning on Spark."""

POOL = 20_000
"""Texts on which the driver chooses features, learners and penalties."""


def train(
    df: DataFrame,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    *,
    learner: LearnerSpec = None,
    features: str | Sequence[str] | None = None,
    typical: bool = False,
    goal: str | None = None,
    bad_rows: str = "stop",
    observer: Observer | None = None,
    **options: object,
) -> TextModel | MultiLabelModel:
    """A model trained on the rows of a DataFrame of Spark.

    Models of counts are those that `textodds.train` makes of the same rows, bit for bit, for any
    partitioning. Softmax regression has the optimum that it has there, to the same proven gap.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of Spark itself or of Spark Connect.
    text, label, weight : str, optional
        Columns; the first two are found by their names if not given. Labels that are arrays are several a
        text: multinomial naive Bayes is then counted by set of labels, and calibrated, with its thresholds,
        on held-out texts of a sample of 20,000.
    learner, features, typical, **options
        As in `textodds.train`: ``budget``, ``calibrate``, ``textbook``, ``memory`` (of each task, and of
        the driver), and how texts are cut. ``lda``, ``qda``, learners of tables and of unlabelled texts, and
        complement with ``transform`` are not for Spark, nor are options of how files are read. What is to be
        chosen the driver chooses on a sample of 20,000 texts, within the budget. Documents are not kept:
        counts can be updated, softmax cannot.
    goal : str, default "f1"
        Of several labels a text, what thresholds are chosen for; as in `textodds.train`.
    bad_rows : "stop" or "skip"
        What to do with rows without a text or a label; those that are skipped are counted in
        ``model.info["rejected"]``.
    observer : Observer, optional
        Is told how far it has come; tasks of Spark too.
    """
    plan = plan_on_spark(learner, features, {**options, "typical": typical})
    several = has_label_sets(df, text, label)
    if goal is not None and not several:
        raise InputError(
            "`goal` is for several labels a text, and these data have one",
            hint="leave it out; or give labels as an array: df.withColumn('label', split('label', ','))",
        )
    rows = rows_of(df, text, label, weight, labelled=True, several=several)
    model: TextModel | MultiLabelModel
    with contextlib.nullcontext() if observer is None else tasks_told(df.sparkSession, observer):
        if several:
            model = _train_labels_on(rows, plan, Goal.of(goal or "f1"), bad_rows, observer or Observer())
        else:
            model = _train_on(rows, plan, bad_rows, observer or Observer())
    schema = schema_of(df, text, label)
    model.info["columns"], model.labels = schema.as_dict(), label_type(df, schema)
    if several:
        return model
    question = Question(learner, features, _words(options), plan.calibrate, plan.typical, plan.textbook)
    model.info[ASKED] = question.as_dict()
    return model


def _words(options: Mapping[str, Any]) -> dict[str, Any]:
    """Which of the options say how texts are cut, and which words are kept."""
    return {name: value for name, value in options.items() if name not in (*OPTIONS, *ONE_MACHINE)}


def plan_on_spark(
    learner: LearnerSpec, features: str | Sequence[str] | None, options: Mapping[str, Any]
) -> Plan:
    """The plan of options of `textodds.train`; refuses those that have no part in learning on Spark."""
    usual = {"quoting": True, "header": True, "stream": False, "documents": True, "clean_labels": False}
    for name in ONE_MACHINE:
        if options.get(name, usual.get(name)) != usual.get(name):
            arrays = "give labels as an array: df.withColumn('label', split('label', ','))"
            hint = arrays if name == "label_separator" else "leave out one of the two"
            raise InputError(f"`{name}` is not supported on Spark", hint=hint)
    how = {name: options[name] for name in OPTIONS if name in options}
    plan = plan_of(learner, features, _words(options), **how)
    if plan.is_of_tables:
        plan.recipe()  # refuses it
    return plan


@dataclass
class FrameSource:
    """What observers are told of a DataFrame that was read."""

    rejects: RowErrors
    description = "a DataFrame of Spark"
    is_stdin = False
    size = None
    bytes_read = 0


def _train_on(rows: DataFrame, plan: Plan, bad_rows: str, observer: Observer) -> TextModel:
    """A model of a DataFrame with columns ``text``, ``label`` and perhaps ``weight``."""
    recipe = None if plan.pins is not None else plan.recipe()
    if recipe is not None:
        _must_be_for_spark(recipe, typical=plan.typical)
    reading: dict[str, Any] = {"memory": plan.bytes, "bad_rows": bad_rows}
    choice = None
    if recipe is None or recipe.is_open:
        pool = _pool(_counted(count(rows, None, size=POOL, **reading)))
        field = open_candidates(recipe) if recipe is not None else candidates(plan.pins)  # type: ignore[arg-type]
        # The penalty is sought again, for scores that naive Bayes was not pooled with.
        field = [replace(one, may_pool=False) for one in field]
        choice = chosen(pool, field, **plan.limits(observer))
        if choice is not None:
            recipe = choice.recipe
        elif recipe is None:
            recipe = usual(plan.pins)  # type: ignore[arg-type]
        recipe = replace(recipe, is_open=False)
        _must_be_for_spark(recipe, typical=plan.typical)
    recipe = replace(recipe, calibrate=plan.calibrate)
    learner: Any = recipe.learner
    of_counts = not learner.entry.needs_documents
    seeks = not of_counts and (
        (learner.C is None and learner.alpha is None) or (plan.calibrate and not choice)
    )
    samples = plan.typical or plan.calibrate or learner.is_smoothing_open
    size = POOL if seeks else SAMPLE if of_counts and samples else 0
    counted = _counted(count(rows, recipe.settings, size=size, **reading))
    if counted.tally is None:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    if not of_counts:
        from textodds.spark.fit import fit

        held = None
        if seeks:
            recipe, held = _with_penalty(recipe, _pool(counted), plan.threads)
        elif choice is not None:
            # Its penalty is for scores that are calibrated by as many texts as are learned from.
            given = replace(recipe, learner=choice.winner.candidate.learner)
            recipe, held = _with_penalty(given, pool, plan.threads)
        model = fit(rows, counted.tally, recipe, bad_rows=bad_rows, observer=observer)
        fits = choice is None or choice.winner.classes == model.class_names
        if plan.calibrate and held is not None and fits:
            calibrate_held_out(model, held)
    else:
        sample = counted.aside.drawn.examples()
        info = {"documents": counted.tally.n_documents}
        model = fit_counts(counted.tally, recipe, sample, info, threads=plan.threads)
        if plan.typical:
            model.typical = model.typical_of(sample[:TYPICAL], seen=True)
    model.info = _told(counted, plan, bad_rows, observer) | model.info
    model.info |= {} if choice is None else {"chosen": choice.report()}
    return model


def _told(counted: CountResult, plan: Plan, bad_rows: str, observer: Observer) -> dict[str, Any]:
    """Tell an observer what was read, and say of a model where it comes from."""
    skipped = RowErrors(bad_rows)
    skipped.count, skipped.reasons = counted.aside.rejected, counted.aside.reasons
    source = FrameSource(skipped)
    observer.begin(source, "learning")
    observer.rows(source, counted.aside.rows)
    observer.end(source)
    first = {"source": source.description, "documents": None, "rejected": counted.aside.rejected}
    return first | ({"textbook": True} if plan.textbook else {})


def _train_labels_on(
    rows: DataFrame, plan: Plan, goal: Goal, bad_rows: str, observer: Observer
) -> MultiLabelModel:
    """A model of several labels a text: counts by set of labels add like any others."""
    recipe = None if plan.pins is not None else plan.recipe()
    if recipe is None or not isinstance(recipe.learner, MultinomialLearner) or plan.typical:
        raise Unsupported(
            "several labels a text are learned by multinomial naive Bayes on Spark, without `typical`",
            hint="name it, learner='multinomial'; or train on one machine, where a learner is chosen",
        )
    recipe = replace(recipe, calibrate=plan.calibrate)
    reading: dict[str, Any] = {"memory": plan.bytes, "bad_rows": bad_rows}
    counted = _counted(count(rows, recipe.settings, size=POOL, **reading))
    if counted.tally is None:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    sample = counted.aside.drawn.examples()
    some = [sample[at] for at in as_rows(sample).tolist()]
    # A mean of weights is rounded down: what is held out was learned, and no more.
    weights = np.floor(np.array([example.weight for example in some]) / UNIT) * UNIT
    batch = Batch([example.text for example in some], [example.label for example in some], weights)
    corpus = Corpus.of([batch], recipe.settings)
    if plan.textbook:
        goal = Goal("half")
    model = fit_labels(corpus, recipe, {}, goal=goal, tally=counted.tally, threads=plan.threads)
    model.corpus = None
    model.info = _told(counted, plan, bad_rows, observer) | model.info
    return model


def _must_be_for_spark(recipe: Recipe, *, typical: bool) -> None:
    """Refuse a recipe that takes one machine, before there is a pass over the data."""
    learner: Any = resolved(recipe.learner)
    if not learner.entry.on_spark or learner.rereads:
        there = ", ".join(name for name, entry in LEARNERS.items() if entry.on_spark)
        raise Unsupported(
            f"{learner.entry.name} with these settings is not supported on Spark",
            hint=f"on Spark: {there} (complement without transform)",
        )
    if learner.entry.is_penalised:
        C = as_c(learner.C, learner.alpha, 1.0)
        if learner.penalise_bias:
            raise Unsupported(
                "on Spark the bias has no penalty", hint="leave `penalise_bias` out, or train on one machine"
            )
        if learner.descent is not None or (C is not None and math.isinf(C)):
            raise Unsupported(
                "on Spark softmax regression has a penalty, and one solver",
                hint="give C or alpha, or neither for one that is chosen",
            )
    must_know_typical(recipe, typical)


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


def _with_penalty(recipe: Recipe, pool: Pool, threads: int) -> tuple[Recipe, HeldOutScores | None]:
    """The recipe with the penalty that is best on held-out texts of the pool, and what was said of them."""
    learner: Any = recipe.learner
    if len(pool) < FEWEST or len(pool.classes) < 2:  # too few to hold any out
        return replace(recipe, learner=replace(learner, C=1.0)), None
    trial = Trials(pool, threads, calibrate=False).of(candidate_of(recipe), len(pool), ENOUGH)
    return trial.recipe, trial.held
