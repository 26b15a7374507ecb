"""The learners by name, and what each can do.

The command line, `train`, the choice, `compare`, Spark, the model file and the documentation take from this
one table what they list and what they refuse. A learner is a frozen dataclass derived from `Learner`, whose
fields are its settings; it is imported when it is wanted, so that a model opens quickly.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import InputError, suggestion
from textodds.text.plain import checked

if TYPE_CHECKING:
    from textodds.learn.conditionals import Conditional

Prior = str | dict[str, float]
"""``data``: as often as in training; ``uniform``; or a probability for each class."""

COUNTS, DOCUMENTS, TABLE = "counts", "documents", "table"
"""What a learner learns from: counts of words by class; all texts at once; the columns of a table."""


@dataclass(frozen=True)
class Entry:
    """A learner's place in the table, and what it can do."""

    name: str  # by which users call it, and the model file
    home: str  # module and class, ``package.module:Class``; of this room ``.module:Class``
    title: str  # what it is, in a few words
    learns_from: tuple[str, ...]  # `COUNTS`, `DOCUMENTS`, `TABLE`
    family: str = "generative"  # or ``discriminative``, or ``hybrid`` of both
    is_density: bool = False  # whether it models how texts or rows come about, so that typical ones are known
    features: tuple[str, ...] = ()  # `textodds.text.settings.FEATURES` with which it takes part in a choice
    usual: Mapping[str, object] = field(default_factory=dict)  # text settings unless others are given
    textbook: Mapping[str, object] = field(default_factory=dict)  # what it has where nothing may be chosen
    label_features: tuple[str, ...] = ()  # the same where a text may have several labels; none if it may not
    column_kind: str | None = None  # ``number`` or ``category``, if it takes columns of one kind only
    on_spark: bool = False  # whether Spark can train it
    is_merged: bool = False  # whether its models add, subtract and learn more, being made of counts alone
    is_named: bool = True  # whether users name it; `semisupervised` is `multinomial` with unlabelled texts

    @property
    def is_of_texts(self) -> bool:
        """Whether it learns from texts."""
        return self.learns_from != (TABLE,)

    @property
    def is_of_tables(self) -> bool:
        """Whether it learns from tables."""
        return TABLE in self.learns_from

    @property
    def needs_documents(self) -> bool:
        """Whether it needs every document at once, rather than counts."""
        return COUNTS not in self.learns_from

    @property
    def is_penalised(self) -> bool:
        """Whether it is softmax regression, whose weights are held by a penalty."""
        return self.family != "generative"

    def load(self) -> type[Learner]:
        """The class of the learner, imported now."""
        module, _, name = self.home.partition(":")
        kind: type[Learner] = getattr(import_module(module, __package__), name)
        return kind


_COUNTS: dict[str, Any] = {
    "learns_from": (COUNTS,),
    "textbook": {"alpha": 1.0},
    "on_spark": True,
    "is_merged": True,
}
_SOFTMAX: dict[str, Any] = {
    "learns_from": (DOCUMENTS,),
    "usual": {"ngrams": (1, 2)},
    "textbook": {"C": 1.0},
    "on_spark": True,
}
_TABLE: dict[str, Any] = {"learns_from": (TABLE,), "is_density": True}
_CATEGORIES: dict[str, Any] = {**_TABLE, "column_kind": "category"}
_BOTH: dict[str, Any] = {
    "learns_from": (DOCUMENTS, TABLE),
    "textbook": {"shrinkage": 0.0},
    "column_kind": "number",
}
_ENTRIES = (
    Entry(
        "multinomial",
        ".naive_bayes:MultinomialLearner",
        "multinomial naive Bayes",
        is_density=True,
        features=("words", "pairs", "letters"),
        label_features=("words",),
        **_COUNTS,
    ),
    Entry(
        "bernoulli",
        ".naive_bayes:BernoulliLearner",
        "Bernoulli naive Bayes",
        is_density=True,
        features=("words",),
        **_COUNTS,
    ),
    Entry(
        "complement",
        ".naive_bayes:ComplementLearner",
        "complement naive Bayes",
        features=("words", "pairs"),
        **_COUNTS,
    ),
    Entry(
        "semisupervised",
        ".em:SemiSupervisedLearner",
        "multinomial naive Bayes with unlabelled texts",
        (COUNTS,),
        is_density=True,
        is_named=False,
    ),
    Entry(
        "softmax",
        ".softmax.regression:SoftmaxLearner",
        "softmax regression",
        family="discriminative",
        features=("words", "pairs", "letters", "characters"),
        label_features=("words", "pairs", "characters"),
        **{**_SOFTMAX, "learns_from": (DOCUMENTS, TABLE)},
    ),
    Entry(
        "nb-softmax",
        ".softmax.regression:NBSoftmaxLearner",
        "softmax regression on features scaled by naive Bayes",
        family="hybrid",
        features=("words", "pairs", "triples", "letters", "characters"),
        **_SOFTMAX,
    ),
    Entry("mixed", ".tables:MixedLearner", "naive Bayes of numbers, categories and texts", **_TABLE),
    Entry(
        "gaussian",
        ".discriminant:GaussianLearner",
        "Gaussian naive Bayes",
        **{**_BOTH, "textbook": {"smoothing": 1e-9}},
    ),
    Entry("categorical", ".tables:CategoricalLearner", "categorical naive Bayes", **_CATEGORIES),
    Entry(
        "table",
        ".tables:JointTableLearner",
        "the full joint table of a few columns",
        textbook={"backoff": "uniform"},
        **_CATEGORIES,
    ),
    Entry("lda", ".discriminant:LinearDiscriminantLearner", "linear discriminant analysis", **_BOTH),
    Entry(
        "qda",
        ".discriminant:QuadraticDiscriminantLearner",
        "quadratic discriminant analysis",
        **_BOTH,
    ),
)

LEARNERS: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""All learners, in the order in which they are listed; to add one, add its entry."""

ALIASES = {
    "logistic": "softmax",
    "logisticregression": "softmax",
    "logit": "softmax",
    "logreg": "softmax",
    "lr": "softmax",
    "maxent": "softmax",
    "maximumentropy": "softmax",
    "softmaxregression": "softmax",
    "nb": "multinomial",
    "naivebayes": "multinomial",
    "bayes": "multinomial",
    "mnb": "multinomial",
    "multinomialnb": "multinomial",
    "bernoullinb": "bernoulli",
    "bnb": "bernoulli",
    "complementnb": "complement",
    "cnb": "complement",
    "gaussiannb": "gaussian",
    "gnb": "gaussian",
    "categoricalnb": "categorical",
    "mixednb": "mixed",
    "jointtable": "table",
    "lineardiscriminantanalysis": "lda",
    "quadraticdiscriminantanalysis": "qda",
    **{name.replace("-", ""): name for name in LEARNERS},
}
"""Names by which learners are known elsewhere, in lower case without hyphens; `canonical` resolves them."""

ELSEWHERE = ("svm", "svc", "linearsvc", "nbsvm")
"""Names of support vector machines, for which softmax regression stands in."""

AUTO = "auto"  # in the place of a learner or of features: the best is chosen


class Learner:
    """A frozen set of choices that makes a model; what it can do stands in its `entry`."""

    prior: Prior = "data"

    @property
    def entry(self) -> Entry:
        """What it can do."""
        return entry_of(self)

    @property
    def conditional(self) -> Conditional | None:
        """The class-conditional of words, if the learner is a prior times one."""
        return None

    @property
    def rereads(self) -> bool:
        """Whether documents must be read again once their words are counted."""
        return False

    @property
    def is_smoothing_open(self) -> bool:
        """Whether the smoothing is left to be chosen."""
        return False

    def settings(self) -> dict[str, object]:
        """The settings that are not as usual, by name."""
        usual, found = type(self)(), {}
        for name in settings_of(type(self)):
            value, default = getattr(self, name), getattr(usual, name)
            if type(value) is not type(default) or not np.all(value == default):
                found[name] = value
        return found


def names_of(*, texts: bool = False, tables: bool = False, choice: bool = False) -> tuple[str, ...]:
    """Names of the learners that users may name: of texts, of tables, of those that take part in a choice.

    >>> names_of(choice=True)
    ('multinomial', 'bernoulli', 'complement', 'softmax', 'nb-softmax')
    >>> names_of(tables=True)
    ('softmax', 'mixed', 'gaussian', 'categorical', 'table', 'lda', 'qda')
    """
    return tuple(
        name
        for name, entry in LEARNERS.items()
        if entry.is_named
        and (entry.is_of_texts or not texts)
        and (entry.is_of_tables or not tables)
        and (entry.features or not choice)
    )


def canonical(name: str) -> str:
    """The name by which a learner is stored, of one that users know it by; refuses what is none.

    >>> canonical("logistic-regression"), canonical("MultinomialNB"), canonical("softmax")
    ('softmax', 'multinomial', 'softmax')
    """
    if name in LEARNERS:
        return name
    plain = name.casefold().replace("-", "").replace("_", "").replace(" ", "")
    if plain in ALIASES:
        return ALIASES[plain]
    if plain in ELSEWHERE:
        raise InputError(
            f"`{name}` is a support vector machine, which has no probabilities of its own",
            hint="softmax regression is a linear model too, and about as accurate: `--learner softmax`",
        )
    raise InputError(
        f"unknown learner `{name}`{suggestion(name, LEARNERS)}", hint=f"one of {', '.join(LEARNERS)}"
    )


def learner_named(name: str, **choices: object) -> Learner:
    """The learner of that name, or of one that it is known by elsewhere, with these choices."""
    name = canonical(name)
    kind = LEARNERS[name].load()
    known = settings_of(kind)
    for choice in choices:
        if choice not in known:
            raise InputError(
                f"{name} has no {choice}{suggestion(choice, known)}", hint=f"it takes {', '.join(known)}"
            )
    return kind(**choices)


def settings_of(kind: type[Learner]) -> tuple[str, ...]:
    """The names of a learner's settings."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def entry_of(learner: object) -> Entry:
    """The entry of a learner; refuses what is none."""
    home = f"{type(learner).__module__}:{type(learner).__qualname__}"
    for entry in LEARNERS.values():
        if entry.home in (home, home.removeprefix(__package__)):
            return entry
    raise InputError(
        f"{_described(learner)} is not a textodds learner",
        hint=f"give one such as textodds.MultinomialNB(), or a name: one of {', '.join(LEARNERS)}",
    )


def name_of(learner: Learner) -> str:
    """The name of a learner."""
    return entry_of(learner).name


def resolved(learner: object) -> Learner:
    """A learner that may be given by its name, or as an estimator of scikit-learn's kind."""
    if isinstance(learner, str):
        return learner_named(learner)
    if callable(make := getattr(type(learner), "learner", None)):  # an estimator in front of one
        learner = make(learner)
    entry_of(learner)  # refuses what is none
    assert isinstance(learner, Learner)
    return learner


def as_dict(learner: Learner) -> dict[str, object]:
    """A learner as plain data, for the model file."""
    choices = asdict(learner)  # type: ignore[call-overload]
    if isinstance(choices.get("alpha"), np.ndarray):
        choices["alpha"] = choices["alpha"].tolist()
    if choices.get("C") == math.inf:
        choices["C"] = "inf"  # JSON has no infinity
    if not choices.get("naive_bayes", True):  # most have none, and files before said nothing
        del choices["naive_bayes"]
    return {"learner": name_of(learner), **choices}


def of_dict(choices: dict[str, Any]) -> Learner:
    """The learner that `as_dict` made plain data of."""
    choices = dict(choices)
    name = choices.pop("learner")
    unlimited = {"C": math.inf} if choices.get("C") == "inf" else {}
    descent = choices.pop("descent", None)
    if name not in LEARNERS:  # a file has the one name of a learner
        raise InputError(f"unknown learner `{name}`")
    known = checked(LEARNERS[name].load(), {key: choices[key] for key in choices if key not in unlimited})
    if isinstance(descent, dict):
        from textodds.learn.solvers.descent import Descent

        known["descent"] = Descent(**checked(Descent, descent))
    return learner_named(name, **known, **unlimited)


def _described(thing: object) -> str:
    """What something is: its value where that says it, else its kind."""
    kind = thing if isinstance(thing, type) else type(thing)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(thing, type):
        return f"the class {name}"
    return reprlib.repr(thing) if kind.__module__ == "builtins" else name
