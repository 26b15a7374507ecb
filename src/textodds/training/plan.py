"""What is asked of a training: which learner, what is left to choose, texts or a table.

It is decided here, once, before any data is read, for `textodds.train`, for Spark and for `compare`. An
option that would not act is refused with what does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from textodds.data import READ_OPTIONS, Observer, ReadOptions, Source, read
from textodds.data.columns import TEXT_NAMES
from textodds.data.frames import split_of
from textodds.errors import InputError, MissingColumn, NoData, Unsupported
from textodds.learn.recipe import Recipe, spelled, why_no_density
from textodds.learn.registry import AUTO, LEARNERS, Learner, learner_named, names_of, resolved
from textodds.stats.corpus import MOST
from textodds.stats.tally import MEMORY, default_threads
from textodds.text.settings import FEATURES, Weighting
from textodds.training.choose.candidates import SHAPE, Named, Pins, pins_of, recipe_with
from textodds.training.choose.race import BUDGET, RaceOptions

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel

T = TypeVar("T")

# The learner where none is named or chosen: of texts, of tables, with vectors, of unlabelled texts too, of a
# stream.
USUAL = "multinomial"
USUAL_OF_TABLES = "mixed"
OF_VECTORS = "softmax"
OF_UNLABELLED = "semisupervised"
OF_STREAMS = "softmax"
WITH_NEIGHBOURS = "softmax"  # whose prior unlabelled texts can inform


@dataclass(frozen=True, eq=False)
class Plan:
    """What is asked of a training, checked; what is not told here is as in `textodds.train`."""

    learner: Learner | None  # None where it is chosen, or where it is the usual one
    pins: Pins | None  # what is not left to choose, where something is
    words: Mapping[str, object]  # how texts are cut and which words are kept, as `recipe_of` takes it
    columns: Mapping[str, str] | None = None  # what the columns of a table are
    like: TableModel | None = None  # or the model that says it
    typical: bool = False
    calibrate: bool = True
    documents: bool = True
    budget: float | None = None
    threads: int = field(default_factory=default_threads)
    memory: int | None = None
    textbook: bool = False  # nothing is chosen, and nothing is calibrated

    @property
    def is_of_tables(self) -> bool:
        """Whether it is for a table, whatever the data."""
        named = self.learner is not None and not self.learner.entry.is_of_texts
        return named or bool(self.columns) or self.like is not None

    @property
    def may_be_of_tables(self) -> bool:
        """Whether it will do for data without a column of texts."""
        if self.pins is not None and (self.pins.learners or self.pins.features):
            return False
        return self.learner is None or self.learner.entry.is_of_tables

    @property
    def bytes(self) -> int:
        """Bytes that words and counts may use."""
        return MEMORY if self.memory is None else self.memory

    def limits(self, observer: Observer) -> RaceOptions:
        """What a race may take."""
        budget = BUDGET if self.budget is None else self.budget
        return RaceOptions(budget=budget, threads=self.threads, calibrate=self.calibrate, observer=observer)

    def recipe(self) -> Recipe:
        """The recipe of texts, where nothing but features is left to choose."""
        learner = self.learner or learner_named(USUAL)
        recipe = recipe_with(textbook_learner(learner) if self.textbook else learner, self.words)
        must_know_typical(recipe, self.typical)
        if self.budget is not None and not recipe.is_open:
            raise InputError("`budget` is for choosing, and nothing is left to choose", hint="leave it out")
        return recipe

    def table_learner(self) -> Learner:
        """The learner of a table; refuses what is about texts."""
        learner = self.learner or learner_named(USUAL_OF_TABLES)
        if self.pins is not None and (self.pins.learners or self.pins.features):
            raise InputError(
                "features and several learners are for texts, and this is a table",
                hint="leave them out, or name the column of texts: `--text COLUMN` (text='COLUMN')",
            )
        if self.budget is not None:
            raise InputError(
                "`budget` is for choosing, and a table has nothing to choose", hint="leave it out"
            )
        if not learner.entry.is_of_tables:
            raise InputError(
                f"{learner.entry.name} learns from texts, not from the columns of a table",
                hint=f"use one of {', '.join(names_of(tables=True))}; or name the column: "
                "`--text COLUMN` (text='COLUMN')",
            )
        if self.like is not None and self.like.kind != "tables":
            raise InputError("the model to be like is one of texts, not of tables")
        return learner


class Running(TypedDict, total=False):
    """What `textodds.train` takes beside the data, the learner and its words."""

    typical: bool
    calibrate: bool
    documents: bool
    budget: float | None
    threads: int
    memory: int | None
    textbook: bool


def plan_of(
    learner: object,
    features: object,
    words: Mapping[str, object],
    *,
    unlabelled: bool = False,
    vectors: bool = False,
    stream: bool = False,
    columns: Mapping[str, str] | None = None,
    like: TableModel | None = None,
    **how: Unpack[Running],
) -> Plan:
    """The plan of what `textodds.train` was asked."""
    typical = how.get("typical", False)
    columns = columns or _columns_of(learner)
    if like is not None and (learner is not None or words or columns):
        raise InputError(
            "a model that is like another has its learner, its columns and its words",
            hint="leave out one of the two",
        )
    named, words = _named(learner, words)
    if how.get("textbook", False):
        how["calibrate"] = False
        _refuse("textbook", stream=stream, like=like, budget=how.get("budget"))
        named, words = _of_textbook(named, features, words, columns or {})
    if unlabelled or vectors or stream:
        which = "unlabelled" if unlabelled else "vectors" if vectors else "stream"
        _refuse(which, typical=typical, stream=stream and which != "stream", columns=columns, like=like)
        _refuse(which, vectors=vectors and unlabelled, textbook=vectors and how.get("textbook", False))
        _refuse(which, budget=how.get("budget"), memory=how.get("memory"), features=unlabelled and features)
        if unlabelled and (not named or named == (AUTO,)) and not how.get("textbook", False):
            return Plan(None, None, words, **how)  # chosen on held-out texts
        return Plan(*_of_one(which, named, features, words), **how)
    of_naive_bayes = typical or how.get("textbook", False) or words.get("unknown", "ignore") != "ignore"
    if learner is None and like is None and not of_naive_bayes:
        named = (AUTO,)
    settled: Learner | None = None
    pins: Pins | None = None
    is_choice = isinstance(learner, (list, tuple)) or len(named) > 1 or named[:1] == (AUTO,)
    if features is not None or is_choice:
        pins = pins_of(AUTO if named[:1] == (AUTO,) else named or USUAL, features, words)
        if pins.is_settled:
            shape = FEATURES[pins.features[0]] if pins.features else {}
            settled, words, pins = resolved(pins.learners[0]), {**shape, **words}, None
        else:
            pins = _with_a_choice(pins, typical=typical, textbook=how.get("textbook", False))
    elif named:
        settled = resolved(named[0])
    if settled is not None and settled.entry.name == OF_UNLABELLED:
        raise InputError(
            "semisupervised learns from unlabelled texts, and there are none",
            hint="give them: `--unlabelled DATA` (unlabelled=)",
        )
    return Plan(settled, pins, words, columns, like, **how)


def _with_a_choice(pins: Pins, *, typical: bool, textbook: bool) -> Pins:
    """What is left to choose, if a choice goes with what else is asked."""
    if textbook:
        raise InputError(
            "`textbook` chooses nothing, and these features would be chosen", hint="name one kind"
        )
    if typical and not pins.is_likelihood:
        raise InputError(
            "`typical` is for one learner of words, not for a choice",
            hint="name the learner, such as multinomial",
        )
    if typical and not pins.has_shape and pins.features != ("words",):
        raise InputError(
            "`typical` is for single words, not for a choice of features",
            hint="name them: `--features words` (features='words')",
        )
    return replace(pins, typical=typical)


def textbook_learner(learner: Learner) -> Learner:
    """The learner with what it would choose settled as textbooks have it; refuses what they do not have.

    >>> textbook_learner(learner_named("softmax")).C, textbook_learner(learner_named("multinomial")).alpha
    (1.0, 1.0)
    """
    if learner.prior != "data":
        raise InputError(
            f"`textbook` has the prior of maximum likelihood, not `{learner.prior}`",
            hint="leave out one of the two",
        )
    given = {*learner.settings()}
    if given & {"C", "alpha"}:  # either says what the penalty is
        given |= {"C", "alpha"}
    settled = {name: value for name, value in learner.entry.textbook.items() if name not in given}
    return replace(learner, **settled) if settled else learner  # type: ignore[type-var]


def textbook_words(
    learner: Learner, words: Mapping[str, object], *, shaped: bool = False
) -> Mapping[str, object]:
    """How texts are cut: of softmax regression, all words count as often as they occur.

    With ``shaped`` features they are cut as those say.
    """
    if not learner.entry.is_penalised:
        return words
    plain: dict[str, object] = {"weighting": Weighting("count", idf=False, unit=False), "min_df": 1}
    if not shaped and not any(name in words for name in SHAPE):
        plain["ngrams"] = (1, 1)
    return {**plain, **words}


def _of_textbook(
    named: tuple[Named, ...], features: object, words: Mapping[str, object], columns: Mapping[str, str]
) -> tuple[tuple[Named, ...], Mapping[str, object]]:
    """The learner that is named and its words, as textbooks have them."""
    if len(named) > 1 or named[:1] == (AUTO,):
        raise InputError(
            "`textbook` cannot be combined with several learners",
            hint=f"name one learner, or leave it out for {USUAL} (of tables {USUAL_OF_TABLES})",
        )
    for name, what in columns.items():
        if what == "bins":
            raise InputError(
                f"`textbook` has Gaussian numbers, and column `{name}` is to be cut into intervals",
                hint=f"write `{name}=number`, or `{name}=category` if it has few values",
            )
    if not named:
        return named, words
    learner = textbook_learner(resolved(named[0]))
    return (learner,), textbook_words(learner, words, shaped=features is not None)


def reading_and_words(options: Mapping[str, object]) -> tuple[ReadOptions, dict[str, object]]:
    """Options of how data is read, and those of how texts are cut."""
    reading = ReadOptions.of({name: value for name, value in options.items() if name in READ_OPTIONS})
    words = {name: value for name, value in options.items() if name not in READ_OPTIONS}
    return reading, words | reading.fields


def _columns_of(given: object) -> Mapping[str, str] | None:
    """What an estimator of tables says of its columns."""
    return None if isinstance(given, (str, type)) else getattr(given, "columns", None)


def _named(learner: object, words: Mapping[str, object]) -> tuple[tuple[Named, ...], Mapping[str, object]]:
    """The learners that are named, by name where nothing is said of their settings; and the text settings."""
    if learner is None:
        return (), words
    found: list[Named] = []
    texts: list[dict[str, object]] = []
    for each in learner if isinstance(learner, (list, tuple)) else (learner,):
        if not isinstance(each, str):
            found.append(resolved(each))
            continue
        for one in spelled(each):
            found.append(one.learner() if one.settings else one.name)
            texts.append(one.words)
    if any(each != texts[0] for each in texts[1:]):
        raise InputError(
            "learners to select from must have the same text settings",
            hint="write text settings with every learner, or compare them: `textodds compare --models …`",
        )
    own = texts[0] if texts else {}
    twice = [name for name in own if name in words]
    if twice:
        raise InputError(f"`{twice[0]}` is given twice", hint="leave out one of the two")
    return tuple(found), {**own, **words}


def _of_one(
    which: str, named: tuple[Named, ...], features: object, words: Mapping[str, object]
) -> tuple[Learner, None, Mapping[str, object]]:
    """The learner of a stream, of unlabelled texts or vectors too, nothing left to choose, and its words."""
    if which == "vectors" and named == (AUTO,):
        named = ()
    if len(named) > 1 or named[:1] == (AUTO,):
        usual = OF_UNLABELLED if which == "unlabelled" else OF_STREAMS
        raise InputError(f"`{which}` applies to one learner, not to model selection", hint=f"name {usual}")
    learner = {"stream": _of_stream, "vectors": _with_vectors, "unlabelled": _of_unlabelled}[which](named)
    if features is not None:
        pins = pins_of(learner, features, words)
        if not pins.is_settled:
            raise InputError(f"`{which}` is for features that are named", hint="name one kind of features")
        words = {**FEATURES[pins.features[0]], **words}
    return learner, None, words


def _of_unlabelled(named: tuple[Named, ...]) -> Learner:
    """The learner for labelled and unlabelled texts: EM, multinomial with the same settings, or softmax."""
    learner = resolved(named[0] if named else OF_UNLABELLED)
    if learner.entry.name == WITH_NEIGHBOURS and getattr(learner, "descent", None) is None:
        return learner
    if learner.entry.name == USUAL:
        return learner_named(OF_UNLABELLED, **learner.settings())
    if learner.entry.name != OF_UNLABELLED:
        raise InputError(
            f"{learner.entry.name} does not learn from unlabelled texts",
            hint="leave the learner out, or name semisupervised or softmax",
        )
    return learner


def _with_vectors(named: tuple[Named, ...]) -> Learner:
    """The learner whose prior vectors of words inform."""
    learner = resolved(named[0] if named else WITH_NEIGHBOURS)
    if learner.entry.name != WITH_NEIGHBOURS or getattr(learner, "descent", None) is not None:
        raise InputError(
            f"{learner.entry.name} does not learn from word vectors",
            hint="leave the learner out, or name softmax",
        )
    return learner


def _of_stream(named: tuple[Named, ...]) -> Learner:
    """The learner of a stream."""
    learner = resolved(named[0] if named else OF_STREAMS)
    if learner.entry.name != OF_STREAMS:
        raise InputError(
            "a stream is learned by softmax regression, one step a text", hint="use `--learner softmax`"
        )
    return learner


def _refuse(which: str, **given: object) -> None:
    """Fail for an option that has no part in learning from unlabelled texts, or from a stream."""
    for name, value in given.items():
        if value:
            raise InputError(f"`{name}` cannot be combined with `{which}`", hint="leave out one of the two")


def must_know_typical(recipe: Recipe, typical: bool) -> None:
    """Refuse to keep typical texts where the recipe is no density of texts."""
    if not typical:
        return
    if not recipe.learner.entry.is_density:
        densities = [name for name in names_of(texts=True) if LEARNERS[name].is_density]
        raise Unsupported(
            "`typical` needs a generative model",
            hint=f"use the learner {' or '.join(densities)}, or leave typical out",
        )
    if (error := why_no_density(recipe)) is not None:
        raise error


def nothing_in(data: Source) -> NoData:
    """The error for a source without a row."""
    return NoData(
        f"{data.description} has no row to learn from",
        hint="it is empty, has only a header, or every row was rejected",
    )


def why_not_kept(pruned: bool) -> str:
    """Why a model does not keep its documents though it was to."""
    return "rare words were dropped to save memory" if pruned else f"they take more than {MOST >> 20} MB"


def texts_or_table(
    source: object,
    labels: object,
    weights: object,
    reading: ReadOptions,
    plan: Plan,
    *,
    of_texts: Callable[[Source], T],
    of_rows: Callable[[], T],
) -> T:
    """What is made of a source that holds texts or, where no column is one of texts, the rows of a table."""
    if source is None and reading.query is None:
        raise InputError(
            "there are no data to learn from",
            hint="give a path, a frame, or texts with `labels`; only `like` a model of texts can go without",
        )
    if plan.is_of_tables or (reading.text is None and is_table(source, labels)):
        return of_rows()
    data = read(source, labels, weights, **vars(reading))
    try:
        return of_texts(data)
    except KeyboardInterrupt:  # the first rows are read before an observer knows of the source
        data.rejects.discard()
        raise
    except MissingColumn as error:
        if error.wanted != "text" or reading.text is not None or not plan.may_be_of_tables:
            raise
        if data.is_stdin:
            hint = f"{error.hint}; or name a learner of tables: `--learner mixed`, `--models mixed`"
            raise InputError(error.problem, hint=hint) from error
        if not data.replayable:
            raise
    return of_rows()


def is_table(source: object, labels: object) -> bool:
    """Whether what is in memory is columns, none of which is called as texts usually are."""
    source, _ = split_of(source)
    if isinstance(source, Mapping):
        names = [str(name) for name in source]
    elif getattr(source, "ndim", 0) == 2 and not hasattr(source, "columns"):
        return True
    elif labels is not None and hasattr(source, "columns") and getattr(source, "ndim", 2) == 2:
        names = [str(name) for name in getattr(source, "column_names", source.columns)]
    elif (
        labels is not None and isinstance(source, list) and source and isinstance(source[0], (Mapping, tuple))
    ):
        names = [str(name) for name in source[0]] if isinstance(source[0], Mapping) else []
    else:
        return False
    return not any(name.strip().casefold() in TEXT_NAMES for name in names)
