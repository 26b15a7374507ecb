"""Every learner of the registry with its settings in pairs, on texts and on tables, behind one face.

`CASES` is what `tests/conformance` runs its laws over. A case trains models of its kind, has rows to learn
from (more than a hundred: calibration begins there) and rows to ask about, and knows how closely two models
that learned the same must agree: to the last bit of counts, to rounding, or to what is proven of an optimum.
"""

from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

import textodds
from pairs import cover
from textodds.learn.discriminant import (
    GaussianLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.learn.registry import learner_named
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner
from textodds.learn.tables import CategoricalLearner, JointTableLearner, MixedLearner
from textodds.text import Weighting

TIGHT = 1e-10
"""The gap to which softmax regression is solved, so that two ways to one optimum can be compared."""


def close(got, expected, rtol=1e-11):
    """Equal up to rounding, relative to the largest."""
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * max(1.0, np.abs(expected).max()))


@cache
def documents(classes, seed=0):
    """Texts of words shared by all and of each class's own, some without any, and their labels; uneven."""
    random = np.random.default_rng([classes, seed])
    shared = [f"shared{i}" for i in range(9)]
    texts, labels = [], []
    for row in range(106 + 2 * classes):
        k = row % classes if row % 5 else 0  # the first class has more than its share
        own = [f"own{k}x{i}" for i in range(8)]
        mixed = [f"own{(k + 1) % classes}x{i}" for i in range(3)]
        words = [*random.choice(shared, 4), *random.choice(own + mixed, random.integers(0, 7))]
        texts.append(" ".join(words))
        labels.append(f"class {k:02}")
    return (*texts, "", "unique words only"), (*labels, "class 00", "class 01")


def new_texts(classes):
    """Texts that are not among the documents, and some that are odd."""
    odd = ["", "unheard of", "shared0 " * 300, "own0x0 own1x0 zzz own0x0", "Ünïcödé 字"]
    return [*documents(classes, 1)[0][:30], *odd]


@dataclass(frozen=True)
class Case:
    """A learner with its settings, and data for it."""

    name: str
    learner: Any
    classes: int
    settings: dict = field(default_factory=dict, hash=False)
    is_table = False
    learns_more = True  # and forgets, and is added and subtracted
    is_settled = True  # whether nothing is chosen on held-out rows that other rows would change
    has_prior = True
    has_counts = False

    def __str__(self):
        return self.name

    @property
    def rows_and_labels(self):
        """What the model of the case is trained on."""
        rows, labels = documents(self.classes)
        return list(rows), list(labels)

    @property
    def new(self):
        """Rows to ask about, some of them odd."""
        return new_texts(self.classes)

    @property
    def more(self):
        """Rows with labels that were not learned."""
        rows, labels = documents(self.classes, 1)
        return list(rows), list(labels)

    @property
    def roughly(self):
        """The case, solved only roughly: sooner, and to the same bits."""
        return self

    def train(self, rows, labels, weights=None, **more):
        """A model of the case."""
        return textodds.train(
            list(rows), list(labels), weights, learner=self.learner, **{**self.settings, **more}
        )

    def given(self, row):
        """A row as one gives it alone."""
        return row

    def train_like(self, model, rows, labels, weights=None):
        """A model of other rows, that can be compared with ``model``, or added to it."""
        recipe = model.recipe
        chosen = {"settings": recipe.settings, "unknown": recipe.unknown, **asdict(recipe.selection)}
        if recipe.weighting is not None:
            chosen["weighting"] = recipe.weighting
        return textodds.train(rows, labels, weights, learner=recipe.learner, **chosen)

    @cached_property
    def model(self):
        """The model of the case, not to be changed."""
        return self.train(*self.rows_and_labels)

    def assert_same(self, left, right, columns=slice(None)):
        """Two models have learned the same: of counts, to the last bit."""
        for got, expected in zip(left.score(self.new), right.score(self.new), strict=True):
            np.testing.assert_array_equal(got, expected)


class CountCase(Case):
    """Naive Bayes of texts."""

    has_counts = True

    @property
    def has_prior(self):
        return not isinstance(self.learner, ComplementLearner)

    @property
    def is_transformed(self):
        return isinstance(self.learner, ComplementLearner) and self.learner.transform

    def assert_same(self, left, right, columns=slice(None)):
        # Sums of numbers that are not whole, or that are added in another order, are rounded.
        if self.is_transformed or columns != slice(None):
            close(left.score(self.new)[0], right.score(self.new)[0][:, columns])
        else:
            super().assert_same(left, right)


class SoftmaxCase(Case):
    """Softmax regression of texts."""

    @property
    def is_settled(self):
        return bool(self.settings)  # where nothing is said of features they are chosen on held-out texts

    @property
    def roughly(self):
        return replace(self, learner=replace(self.learner, tolerance=0.01))

    def distance(self, model):
        """How far the weights may be from the optimum, by the gap that is proven.

        F is at least as curved as its penalty: λ/2 ‖W - W*‖² ≤ F - F* ≤ gap F.
        """
        fit = model.info["fit"]
        assert fit["converged"]
        assert 0 <= fit["gap"] <= TIGHT
        return np.sqrt(2 * fit["C"] * fit["gap"] * fit["objective"])

    def assert_same(self, left, right, columns=slice(None)):
        assert left.vocabulary.words() == right.vocabulary.words()
        np.testing.assert_allclose(left.scale, right.scale, rtol=1e-12)
        lengths = np.sqrt(left.rows(self.new).power(2).sum(axis=1))
        # The bias follows the weights.
        allowed = (1 + lengths) * 3 * (self.distance(left) + self.distance(right)) + 1e-9
        assert np.median(allowed) < 0.02  # or nothing would be shown
        mine, theirs = (
            scores - scores.mean(axis=1, keepdims=True)
            for scores in (left.score(self.new)[0], right.score(self.new)[0])
        )
        assert (np.abs(mine - theirs[:, columns]) <= allowed[:, None]).all()


class DiscriminantCase(Case):
    """Discriminant analysis of texts: the same but for the temperature, which rests on which are held out."""

    @property
    def is_settled(self):
        # Of quadratic ones, which directions are kept of equally long ones rests on the order of the rows.
        return isinstance(self.learner, LinearDiscriminantLearner)

    def assert_same(self, left, right, columns=slice(None)):
        if not isinstance(self.learner, LinearDiscriminantLearner):
            return super().assert_same(left, right, columns)
        mine, theirs = (
            model.form.weights.dense * model.info["fit"]["temperature"] for model in (left, right)
        )
        np.testing.assert_allclose(mine, theirs[:, columns], rtol=0, atol=1e-5 * np.abs(mine).max())
        return None


class UnlabelledCase(Case):
    """Naive Bayes that learns from texts without labels too."""

    is_settled = False
    learns_more = False

    def train_like(self, model, rows, labels, weights=None):
        return self.train(rows, labels, weights)

    def train(self, rows, labels, weights=None, **more):
        return super().train(rows, labels, weights, unlabelled=list(documents(self.classes, 2)[0]), **more)


# Tables

TREES = ("ash", "birch", "cedar")
NUMBERS, CATEGORIES, TEXT = ("height", "rain"), ("colour", "soil", "side"), "note"
WORDS = [["leaf", "bark", "tall"], ["leaf", "white", "bark"], ["needle", "smell", "leaf"]]
KINDS = {"note": "text", "height": "gaussian", "rain": "bins"}


@cache
def rows_of_trees(n=120, seed=0, *, missing=True):
    """Rows of numbers, categories and a text, some of them missing, with labels."""
    random = np.random.default_rng([n, seed])
    rows, labels = [], []
    for i in range(n):
        k = i % 3
        rows.append(
            {
                "height": float(random.normal(10 + 3 * k, 2)),
                "rain": 0.0 if random.random() < 0.5 else float(random.exponential(1 + k)),
                "colour": str(random.choice(["red", "green", "blue", "grey"][k : k + 2])),
                "soil": str(random.choice(["sand", "clay", "loam"], p=np.roll([0.6, 0.3, 0.1], k))),
                "side": str(random.choice(["north", "south"])),
                "note": " ".join(random.choice(WORDS[k], random.integers(1, 7))),
            }
        )
        labels.append(TREES[k])
        if missing:
            for name in (*NUMBERS, *CATEGORIES):
                if random.random() < 0.08:
                    rows[-1][name] = None
    return rows, labels


def same_statistics(a, b):
    """Counts and sums of tables are equal to the last bit."""
    assert a.classes == b.classes
    assert all(mine == theirs for mine, theirs in zip(a.parts, b.parts, strict=True))


@dataclass(frozen=True)
class TableCase(Case):
    """A model of some columns of the trees."""

    classes: int = 3
    columns: tuple = ()
    is_table = True
    learns_more = True

    @property
    def has_no_gaps(self):
        """Whether every number must be there."""
        return self.name in ("lda-of-numbers", "qda-of-numbers")

    @property
    def is_settled(self):
        # How evidence is weighed rests on which rows are held out together.
        return self.name != "mixed-calibrated"

    def data(self, n=120, seed=0):
        """Rows of the columns of the case, and their labels."""
        rows, labels = rows_of_trees(n, seed, missing=not self.has_no_gaps)
        return [{column: row[column] for column in self.columns} for row in rows], list(labels)

    @property
    def rows_and_labels(self):
        return self.data()

    @property
    def more(self):
        return self.data(90, seed=7)

    @property
    def new(self):
        rows, _ = self.data(30, seed=1)
        odd = {"height": -50.0, "rain": 1e6, "colour": "purple", "soil": "sand", "side": "up", "note": "odd"}
        more = [{column: odd[column] for column in rows[0]}]
        if not self.has_no_gaps:
            more.append(dict.fromkeys(rows[0]))
        return rows + more

    def given(self, row):
        return {name: value for name, value in row.items() if value is not None}

    def train(self, rows, labels, weights=None, **more):
        if "like" not in more:
            more["columns"] = self.settings
        return textodds.train(rows, labels, weights, learner=None if "like" in more else self.learner, **more)

    def train_like(self, model, rows, labels, weights=None):
        return self.train(rows, labels, weights, like=model)

    def assert_same(self, left, right, columns=slice(None)):
        got, expected = left.predict_log_proba(self.new), right.predict_log_proba(self.new)[:, columns]
        if columns != slice(None):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
            return
        same_statistics(left.tally, right.tally)
        if left.recipe.linear is not None:  # rows that weigh two are others than two rows: as near as asked
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
            return
        np.testing.assert_array_equal(got, expected)


# Cases

OF_ALL = {
    "words": {"ngrams": (1, 1)},
    "hashing": {"hash_bits": 9},
    "pairs-of-words": {"ngrams": (1, 2), "stop_words": ["shared0"]},
    "selection": {"ngrams": (1, 2), "min_df": 3, "max_df": 0.8, "max_features": 60},
}
OF_COUNTS = {
    **OF_ALL,
    "characters": {"unit": "characters-in-words", "ngrams": (3, 3)},
    "unknown-smooth": {"unknown": "smooth"},
    "unknown-first": {"unknown": "first", "max_features": 50},
    "unknown-count": {
        "unknown": "count",
        "vocabulary": [f"shared{i}" for i in range(9)] + ["own0x0", "own1x3"],
    },
}
OF_WEIGHTS = {
    **OF_ALL,
    "words-and-characters": {"ngrams": (1, 1), "characters": (2, 3)},
    "counts": {"ngrams": (1, 1), "weighting": Weighting("count", idf=False, unit=False)},
    "open": {},
}


def _counts():
    kinds = ("multinomial", "bernoulli", "complement", "complement-transform")
    allowed = lambda kind, settings, *_: not ("transform" in kind and "unknown" in settings)  # noqa: E731 - refused
    for kind, settings, classes, alpha, prior, option in cover(
        kinds, list(OF_COUNTS), (2, 12), (1.0, 0.1, 0.01), ("data", "uniform"), (False, True), allowed=allowed
    ):
        if kind == "multinomial":
            learner = MultinomialLearner(alpha, prior, binary=option)
        elif kind == "bernoulli":
            learner = BernoulliLearner(alpha, prior)
        else:
            learner = ComplementLearner(alpha, norm=option, transform="transform" in kind)
        described = "-".join(
            [kind, *(["option"] if option else []), f"{alpha:g}", prior, settings, str(classes)]
        )
        yield CountCase(described, learner, classes, OF_COUNTS[settings])


def _softmax():
    kinds = {"softmax": {}, "nb-softmax": {}, "nb-centred": {"form": "centred"}}
    strengths = {"C=1": {"C": 1.0}, "C=50": {"C": 50.0}, "alpha=0.01": {"alpha": 0.01}}
    for kind, settings, strength, balance, classes in cover(
        list(kinds), list(OF_WEIGHTS), list(strengths), (None, "balanced"), (2, 7)
    ):
        made = SoftmaxLearner if kind == "softmax" else NBSoftmaxLearner
        learner = made(class_weight=balance, tolerance=TIGHT, **kinds[kind], **strengths[strength])
        described = "-".join([kind, strength, balance or "plain", settings, str(classes)])
        yield SoftmaxCase(described, learner, classes, OF_WEIGHTS[settings])
    for kind, settings, classes in (("softmax", "words-and-characters", 2), ("nb-softmax", "selection", 7)):
        made = SoftmaxLearner if kind == "softmax" else NBSoftmaxLearner
        learner = made(C=1.0, naive_bayes=0.4, tolerance=TIGHT)
        yield SoftmaxCase(f"{kind}-pooled-{settings}-{classes}", learner, classes, OF_WEIGHTS[settings])


def _discriminants():
    given = {
        "lda": LinearDiscriminantLearner(0.3, prior="uniform", tolerance=1e-8),
        "qda": QuadraticDiscriminantLearner(0.5, prior="uniform", rank=4),
        "gaussian": GaussianLearner(0.01, prior="uniform"),
    }
    names = ("words", "words-and-characters", "hashing", "selection", "counts")
    settings = {name: OF_WEIGHTS[name] for name in names} | {"sklearn": {"sklearn": True, "min_df": 1}}
    for kind, setting, choice, classes in cover(tuple(given), list(settings), ("open", "given"), (2, 7)):
        learner = kind if choice == "open" else given[kind]
        yield DiscriminantCase(f"{kind}-{choice}-{setting}-{classes}", learner, classes, settings[setting])


def _tables():
    every = (*NUMBERS, *CATEGORIES, TEXT)
    smooth = {"missing": "category", "unseen": "smooth"}
    uniform = MixedLearner(prior="uniform", missing="ignore", unseen="smooth", calibrate=False)
    for name, learner, kinds, columns in (
        ("mixed", MixedLearner(calibrate=False), KINDS, every),
        ("mixed-calibrated", MixedLearner(alpha=0.5), KINDS, every),
        ("mixed-uniform", uniform, KINDS, every),
        ("categorical", CategoricalLearner(), {}, CATEGORIES),
        ("categorical-smooth", CategoricalLearner(alpha=0.1, **smooth), {}, CATEGORIES),
        ("table", JointTableLearner(), {}, CATEGORIES),
        ("table-uniform", JointTableLearner(backoff="uniform", **smooth), {}, CATEGORIES),
        ("gaussian", learner_named("gaussian"), {}, NUMBERS),
        ("lda-of-numbers", learner_named("lda", shrinkage=0.1), {}, NUMBERS),
        ("qda-of-numbers", learner_named("qda", shrinkage=0.1, prior="uniform"), {}, NUMBERS),
        ("softmax-of-columns", SoftmaxLearner(C=1.0, tolerance=TIGHT), {}, (*NUMBERS, *CATEGORIES)),
    ):
        yield TableCase(name, learner, settings=kinds, columns=columns)


OF_TEXTS = [*_counts(), *_softmax(), *_discriminants(), UnlabelledCase("semisupervised", "multinomial", 2)]
OF_TABLES = [*_tables()]
CASES = [*OF_TEXTS, *OF_TABLES]


def _each_setting_once():
    """Those cases, from the first, that have a learner or a setting which no case before them has."""
    seen = set()
    for case in CASES:
        settings = {(type(case), part) for part in ([case.name] if case.is_table else case.name.split("-"))}
        if not settings <= seen:
            yield case
        seen |= settings


SOME_CASES = [*_each_setting_once()]
"""For what is decided in one place, whatever was learned: every learner and every setting comes."""
