"""MultiLabelModel: a model of texts that may have several labels each, or none."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch, Source
from textodds.data.frames import split_of
from textodds.data.label_sets import is_set, labels_in, labels_of_sets, name_of
from textodds.data.labels import Label, LabelType
from textodds.errors import InputError, NotLearned, Unsupported
from textodds.judge.thresholds import Goal, chosen
from textodds.learn.arrays import Mask
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.multilabel.membership import Membership
from textodds.learn.multilabel.odds import LabelOdds, sigmoid
from textodds.learn.recipe import Recipe
from textodds.learn.registry import Prior
from textodds.model.basis import Basis, Following
from textodds.model.one_state import of_one_state
from textodds.model.scorer import RowChanges, TextScorer
from textodds.model.text_model import TextModel
from textodds.model.text_updates import TextUpdates
from textodds.stats.corpus import Corpus
from textodds.stats.tally import Tally, checked_threads
from textodds.text import Vocabulary

if TYPE_CHECKING:
    from textodds.judge.label_evaluation import LabelEvaluation
    from textodds.model.explain import Explanation

Floats = NDArray[np.float64]
L = TypeVar("L", bound=Label)

MOST_AT_ONCE = 2_000_000  # probabilities, texts times labels, that are at hand at once


@dataclass(frozen=True, slots=True)
class LabelPrediction(Generic[L]):
    """A model's answer for one text: the labels above their thresholds, most probable first.

    ``evidence`` is the number of terms the model knows; with 0 the answer is that of an empty text.
    """

    labels: tuple[L, ...]
    probabilities: dict[L, float]
    thresholds: dict[L, float]
    evidence: int

    def top(self, k: int = 3) -> list[tuple[L, float]]:
        """The ``k`` most probable labels, given or not."""
        return sorted(self.probabilities.items(), key=lambda item: -item[1])[:k]

    def of_type(self, labels: LabelType) -> LabelPrediction[Label]:
        """The same answer, with labels of the type they had in training."""
        value = labels.value
        return LabelPrediction(
            tuple(value(str(name)) for name in self.labels),
            {value(str(name)): p for name, p in self.probabilities.items()},
            {value(str(name)): p for name, p in self.thresholds.items()},
            self.evidence,
        )


@dataclass(frozen=True, eq=False)
class HeldLabels:
    """Of N held-out texts, the probability of each label and whether they have it, (N, K)."""

    p: NDArray[np.float32]
    truth: Mask

    @classmethod
    def of(cls, p: Floats, truth: Mask) -> HeldLabels:
        """Of probabilities, in the digits that are kept."""
        return cls(p.astype(np.float32), truth)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays, for a file."""
        return {"p": self.p.reshape(-1), "truth": np.packbits(self.truth.reshape(-1))}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], K: int) -> HeldLabels:
        """What `arrays` made; refuses what cannot be."""
        p, bits = arrays.get("p"), arrays.get("truth")
        if p is None or bits is None or p.dtype != np.float32 or bits.dtype != np.uint8 or p.ndim != 1:
            raise InputError("the tensors of held-out labels are missing, or have the wrong type")
        if p.size % K or bits.size != -(-p.size // 8) or not ((p >= 0) & (p <= 1)).all():
            raise InputError("the tensors of held-out labels have invalid values")
        return cls(p.reshape(-1, K), np.unpackbits(bits, count=p.size).astype(bool).reshape(-1, K))


class MultiLabelModel(TextUpdates):
    """A trained classifier of texts that may have several labels, or none; made by `train`, `load`, or ``+``.

    Each label is a question of its own, answered by the same words: naive Bayes or logistic regression of the
    label against the rest, calibrated on held-out texts. A text is given the labels whose probability reaches
    their threshold; thresholds are chosen on held-out texts for a `goal`.

    Learning more, forgetting, merging and subtracting are those of `TextModel`: the model is always the one
    that training on the remaining documents would give, calibration and thresholds included.

    Attributes
    ----------
    classes_ : tuple
        The labels, of the type they had in training, sorted as text. Column k of probabilities belongs to
        ``classes_[k]``.
    goal : Goal
        What thresholds are chosen for.
    odds : LabelOdds
        What makes probabilities of scores, label by label.
    thresholds : array (K,)
        The probability from which on each label is given.
    """

    kind, noun, rests_on = "texts", "text", "documents"
    _item_type, keeps_ids = (str, Mapping), True
    several_labels = True

    form: LinearModel
    goal: Goal = Goal()
    odds: Following[LabelOdds] = Following()
    thresholds: Following[Floats] = Following()
    held_labels: Following[HeldLabels] = Following()

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: LinearModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        *,
        scale: Floats | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        self.info, self._tally = info, tally
        self._install(recipe, vocabulary, form, scale)
        self.odds, self.thresholds = LabelOdds.none(len(form.classes)), np.full(len(form.classes), 0.5)
        self.held_labels = None

    def _install(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: Any,
        scale: Floats | None = None,
        changes: RowChanges | None = None,
    ) -> None:
        self.scorer = TextScorer(recipe, vocabulary, form, scale, changes)
        self.recipe, self.vocabulary, self.form, self.scale = recipe, vocabulary, form, scale
        noun = "word" if recipe.settings.has_words else "feature"
        self.class_names, self.extent = form.classes, (len(vocabulary), noun)

    @property
    def density(self) -> NoReturn:
        """Refused: a text with several labels has no one class to come from."""
        raise Unsupported(
            "a model of several labels has no probability of a text", hint="train with one label a text"
        )

    # What it rests on: documents and counts by set of labels.

    def labels_in(self, classes: Iterable[str]) -> tuple[str, ...]:
        """The labels of sets."""
        return labels_of_sets(classes)

    def resolving(self, source: Source) -> Source:
        """The source, whose labels have the names that the model knows them by."""
        known, labels = frozenset(self.class_names), self.labels

        def name(given: str) -> str:
            several = labels_in(given) if is_set(given) else (given,)
            return name_of(labels.resolved(each, known) for each in several)

        source.label_name = name
        return source

    @property
    @of_one_state
    def class_documents(self) -> dict[str, float]:
        """Texts, or their total weight, with each label in training."""
        basis = self.tally if self.has_counts else self.corpus
        if basis is None:
            known = self.info.get("class_documents", {})
            return {label: float(known.get(label, 0.0)) for label in self.class_names}
        totals = Membership.of(basis.classes, self.class_names).totals(basis.class_rows)
        return dict(zip(self.class_names, totals.tolist(), strict=True))

    @property
    def n_texts(self) -> float:
        """Total weight of the documents."""
        return float(self.info.get("documents") or 0.0)

    def _update(self, sign: int, ids: Any, data: object, labels: object, weights: object, **how: Any) -> int:
        if isinstance(data, self._item_type):
            own = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
            data, labels, ids = [self.row_of(data)], [own], [ids] if isinstance(ids, str) else ids
        return super()._update(sign, ids, data, labels, weights, **how)

    def relabel(
        self, text: str | Mapping[str, str], *, add: Iterable[Label] = (), remove: Iterable[Label] = ()
    ) -> tuple[Label, ...]:
        """Give a text that was learned more labels, or take some from it; the labels it then has.

        The model is that of training on the text with its new labels. Raises `NotLearned`, and changes
        nothing, if the text was not learned or does not have a label that is to be taken from it.
        """
        given = self.row_of(text)
        with self._writing:
            before = self._set_of(given)
            more, less = ([self.class_name(each) for each in some] for some in (add, remove))
            for label in less:
                if label not in before:
                    raise NotLearned(f"the text was not learned with the label `{label}`")
            now = sorted(({*before} | {*more}) - {*less})
            if now == sorted(before):
                return self.labels.values(now)
            old, new = (self.basis_of([Batch([given], [name_of(each)])]) for each in (before, now))
            self.stand_on(self.basis - old + new)
        return self.labels.values(now)

    def _set_of(self, text: str) -> tuple[str, ...]:
        """The labels that a text was learned with."""
        corpus = self.corpus
        if corpus is None:
            raise Unsupported(
                "a model without its documents does not know the labels of a text",
                hint="forget the text with its old labels, and learn it with the new ones",
            )
        at = np.flatnonzero(corpus.hashes == _kernels.text_hashes([text])[0])
        sets = {corpus.classes[k] for k in corpus.codes[at].tolist()}
        if len(sets) != 1:
            why = "was not learned" if not sets else f"was learned with {len(sets)} different sets of labels"
            raise NotLearned(f"the text {why}", hint="check the text, or forget and learn it with its labels")
        return labels_in(sets.pop())

    def _install_counts(self, tally: Tally) -> None:
        from textodds.model.label_fit import form_of

        before = self.class_names
        self._install(self.recipe, *form_of(tally, self.recipe))
        self._tally = tally
        if self.class_names != before:
            self._fit_thresholds_to(before)

    def _fit_thresholds_to(self, before: tuple[str, ...]) -> None:
        """Keep calibration and thresholds by label; labels that are new have what is usual."""
        known = dict(zip(before, (self.__dict__.get("_thresholds") if before else ()), strict=True))  # type: ignore[arg-type]
        odds: LabelOdds | None = self.__dict__.get("_odds")
        self.odds = (odds or LabelOdds.none(len(before))).of_labels(before, self.class_names)
        usual = float(np.median(list(known.values()))) if known else 0.5
        self.thresholds = np.array([known.get(name, usual) for name in self.class_names])
        self.held_labels = None

    def _install_basis(self, basis: Basis[Tally, Corpus]) -> dict[str, Any]:
        if basis.corpus is None or not self.recipe.learner.entry.needs_documents:
            assert basis.tally is not None
            self._install_counts(basis.tally)
            self.corpus, self._is_behind = basis.corpus, basis.corpus is not None
            if basis.corpus is None:
                self.held_labels = None
            return {}
        from textodds.model.label_fit import fit_labels

        found = fit_labels(
            basis.corpus, self.recipe, {}, goal=self.goal, start=copy.copy(self), threads=self.threads
        )
        self._install(self.recipe, found.vocabulary, found.form, found.scale)
        self.corpus, self._tally, self._is_behind = basis.corpus, None, False
        self.odds, self.thresholds, self.held_labels = found.odds, found.thresholds, found.held_labels
        return found.info

    def _stand_on(self, basis: Basis[Tally, Corpus]) -> None:
        super()._stand_on(basis)
        if not self.has_documents:
            self.info["earlier"] = True

    def _recipe_with(self, other: Self, basis: Basis[Tally, Corpus], sign: int) -> Recipe:
        mine, theirs = self.recipe, other.recipe
        if not (mine.chooses_smoothing and theirs.chooses_smoothing):
            return replace(mine, chooses_smoothing=False)
        if basis.corpus is not None and basis.tally is not None:
            from textodds.model.label_fit import best_alpha

            return mine.with_smoothing(best_alpha(basis.corpus, basis.tally, mine, self.threads), chosen=True)
        from textodds.model.fit import between

        return mine if sign < 0 else between((self.tally, mine), (other.tally, theirs))

    def _must_be_like(self, other: Self) -> None:
        super()._must_be_like(other)
        if self.goal != other.goal:
            raise InputError(
                f"the goals of the models differ: {self.goal} and {other.goal}",
                hint="give both the same goal: `model.with_goal('f1')`",
            )

    def follow(self) -> None:
        """Find again what follows from the documents, if they have changed."""
        if not self._is_behind:
            return
        from textodds.model.label_fit import calibrate, held_by_counts

        with self._writing:
            if not self._is_behind:  # another thread has found it
                return
            model = self.now()
            found = copy.copy(model)
            found._is_behind, found.info = False, dict(model.info)
            assert found.corpus is not None
            calibrate(
                found,
                held_by_counts(found.corpus, found.tally, found.recipe, found.class_names, found.threads),
            )
            parts = {f"_{name}": found.__dict__[f"_{name}"] for name in ("odds", "thresholds", "held_labels")}
            model.__dict__.update(parts, info=found.info, _is_behind=False)

    # Answers.

    @of_one_state
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Log-odds of each label (N, K), and known and all terms (N, 2), of a batch."""
        scores, evidence = self.scorer.score(batch.texts, self.threads)
        if calibrate:
            assert self.odds is not None
            scores = self.odds.logits(scores)
        scores[evidence[:, 0] == 0] = self.prior_logits
        return scores, evidence

    @property
    def prior_logits(self) -> Floats:
        """The log-odds of each label before a word is read: the share of the texts that have it, (K,)."""
        return self.form.log_prior

    @of_one_state
    def predict_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``p(label | text)``, (N, K), each label by itself; without ``calibrate`` as the learner has it."""
        return sigmoid(self._scores(data, calibrate=calibrate)[0])

    @of_one_state
    def predict_log_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``log p(label | text)``, (N, K), each label by itself."""
        return np.asarray(-np.logaddexp(0.0, -self._scores(data, calibrate=calibrate)[0]))

    def given(self, p: Floats) -> Mask:
        """Whether texts of these probabilities (N, K) are given each label, (N, K)."""
        assert self.thresholds is not None
        return np.asarray(p >= self.thresholds)

    @of_one_state
    def predict(self, data: object) -> list[tuple[Label, ...]]:  # type: ignore[override]
        """The labels of each text: those at least as probable as their threshold, most probable first."""
        found: list[tuple[Label, ...]] = []
        for batch in self.in_parts(self._batches(data)):
            p = sigmoid(self.score_batch(batch)[0])
            found += self.label_lists(p, self.given(p))
        return found

    def in_parts(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """Batches of no more texts than can be scored at once, of however many labels."""
        most = max(1, MOST_AT_ONCE // len(self.class_names))
        return (part for batch in batches for part in batch.parts(most))

    def label_lists(self, p: Floats, given: Mask) -> list[tuple[Label, ...]]:
        """The labels that are given, (N, K), of each row, most probable first."""
        names = self.classes_
        found = []
        for row, mask in zip(p, given, strict=True):
            there = np.flatnonzero(mask)
            found.append(tuple(names[k] for k in there[np.argsort(-row[there], kind="stable")].tolist()))
        return found

    @of_one_state
    def answer(self, item: str | Mapping[str, str]) -> LabelPrediction[str]:  # type: ignore[override]
        """The prediction for one text, with labels as text, whatever they were in training."""
        scores, evidence = self.score_batch(Batch([self.row_of(item)]))
        p = sigmoid(scores)
        given = np.flatnonzero(self.given(p)[0])
        order = given[np.argsort(-p[0][given], kind="stable")]
        assert self.thresholds is not None
        return LabelPrediction(
            tuple(self.class_names[k] for k in order.tolist()),
            dict(zip(self.class_names, p[0].tolist(), strict=True)),
            dict(zip(self.class_names, self.thresholds.tolist(), strict=True)),
            int(evidence[0, 0]),
        )

    @of_one_state
    def __call__(self, item: Any) -> LabelPrediction[Label]:  # type: ignore[override]
        """The prediction for one text."""
        return self.answer(item).of_type(self.labels)

    def evaluate(self, source: object, labels: object = None, **reading: Any) -> LabelEvaluation:  # type: ignore[override]
        """Measured quality on labelled data; takes what `train` takes as data, of splits the one `test`."""
        source, _ = split_of(source, "test")
        return self.evaluate_batches(self.read(source, labels, labelled=True, **reading))

    @of_one_state
    def evaluate_batches(self, batches: Iterable[Batch]) -> LabelEvaluation:  # type: ignore[override]
        """Measured quality on a stream of batches."""
        from textodds.judge.label_evaluation import evaluate_labels

        assert self.thresholds is not None
        return evaluate_labels(
            ((sigmoid(self.score_batch(part)[0]), part.label_list()) for part in self.in_parts(batches)),
            self.class_names,
            self.thresholds,
        )

    @of_one_state
    def of_label(self, label: Label) -> TextModel:
        """The model of one label: whether a text has it (``label``) or not (``not label``).

        It says of the label what this model says, to the last bits, and does whatever a `TextModel` does
        that needs no documents: explain, list words, be exported.
        """
        return self._views(self.class_number(label))

    @property
    def _views(self) -> Callable[[int], TextModel]:
        """The models of single labels, made when they are first asked for."""
        known = self.__dict__.get("_known_views")
        if known is None or known[0] is not self.form or known[1] is not self.odds:
            known = (self.form, self.odds, lru_cache(64)(self._view))
            self.__dict__["_known_views"] = known
        views: Callable[[int], TextModel] = known[2]
        return views

    def _view(self, k: int) -> TextModel:
        odds, name = self.odds, self.class_names[k]
        assert odds is not None
        slope, bias = float(odds.slopes[k]), float(odds.bias[k])
        form, prior = self.form, float(self.form.log_prior[k])
        own = form.weights.columns(np.arange(form.n_features), [k])[0][:, 0] * slope  # (V,)
        constant = slope * float(form.intercept[k] + form.log_prior[k]) + bias - prior
        both = (f"not {name}", name)
        order = [0, 1] if both[0] < both[1] else [1, 0]
        p = float(sigmoid(np.array(prior)))
        binary = LinearModel(
            tuple(both[at] for at in order),
            np.log(np.array([1.0 - p, p]))[order],
            np.array([0.0, constant])[order],
            Weights.of_matrix(np.stack([np.zeros_like(own), own], axis=1)[:, order]),
            presence=form.presence,
        )
        info = {"label": name, "class_documents": {name: self.class_documents[name]}}
        return TextModel(
            replace(self.recipe, calibrate=False),
            self.vocabulary,
            binary,
            None,
            info,
            scale=self.scale,
            threads=self.threads,
        )

    @of_one_state
    def explain(
        self, text: str | Mapping[str, str], label: Label | None = None, rival: object = None, **how: Any
    ) -> Explanation:
        """The contribution of each word to the log-odds of one label; by default of the most probable."""
        if rival is not None:
            raise InputError("a label of several has no rival: it is there or not", hint="leave `rival` out")
        if label is None:
            label = self(text).top(1)[0][0]
        name = self.class_names[self.class_number(label)]
        return self.of_label(label).explain(text, name, f"not {name}", **how)

    def top_words(self, label: Label, n: int = 10) -> list[tuple[str, float]]:
        """The words with the most evidence for a label."""
        return self.of_label(label).top_words(self.class_name(label), n)

    @of_one_state
    def with_goal(self, goal: Goal | str) -> Self:
        """The same model with thresholds for another goal, by what it said of held-out texts."""
        wanted = Goal.of(goal)
        model = copy.copy(self)
        held = self.held_labels
        if held is None and wanted.kind not in ("cost", "half"):
            raise Unsupported(
                "the model has no held-out answers to choose thresholds by",
                hint="train on at least 100 texts; or give one: `--threshold 0.3` (with_thresholds(0.3))",
            )
        K = len(self.class_names)
        p, truth = (np.zeros((0, K)), np.zeros((0, K), bool)) if held is None else (held.p, held.truth)
        model.goal, model.thresholds = wanted, chosen(wanted, p.astype(np.float64), truth)
        return model

    @of_one_state
    def with_thresholds(self, thresholds: float | Mapping[Label, float]) -> Self:
        """The same model with these thresholds: one for all labels, or by label."""
        model = copy.copy(self)
        assert self.thresholds is not None
        found = self.thresholds.copy()
        by_label = (
            dict.fromkeys(self.classes_, thresholds) if isinstance(thresholds, (int, float)) else thresholds
        )
        for label, value in by_label.items():
            if not 0 <= float(value) <= 1:
                raise InputError(f"the threshold of `{label}` is {value!r}, not a probability")
            found[self.class_number(label)] = float(value)
        model.thresholds = found
        return model

    def predict_tree(  # type: ignore[override]
        self, data: object, *, threshold: float | None = None, separator: str = "/"
    ) -> list[tuple[str, ...]]:
        """Of labels that are paths in a tree, the deepest nodes that are sure enough, sorted.

        A label whose probability reaches its threshold is given whole. Where no label below a node does, the
        node is given if one of them is there with at least that probability, the labels taken as independent.
        With ``threshold`` it is the same for all.
        """
        from textodds.judge.label_tree import LabelTree

        model = self if threshold is None else self.with_thresholds(threshold)
        p = model.predict_proba(data)
        assert model.thresholds is not None
        return LabelTree.of(self.class_names, separator).several(p, model.thresholds)

    def label_shares(self, data: object) -> dict[Label, float]:
        """The share of texts that have each label, estimated as the mean of their probabilities."""
        p = self.predict_proba(data)
        return dict(
            zip(self.classes_, p.mean(axis=0).tolist() if len(p) else [0.0] * len(self.classes_), strict=True)
        )

    def _install_prior(self, prior: Prior) -> None:
        raise Unsupported(
            "a model of several labels has no prior to change", hint="change its thresholds: `with_goal`"
        )

    def predict_frame(
        self, frame: Any, *, proba: bool = False, top: int | None = None, **reading: Any
    ) -> Any:
        """A frame of the same kind (pandas, polars, Arrow): its columns, followed by the answers.

        These are ``labels``, a list; with ``top=3`` also ``label_1``, ``probability_1``, …; with ``proba``
        the probability ``p(LABEL)`` of every label, in the order of `classes`.
        """
        from textodds.model.answers import answered_frame
        from textodds.model.label_answers import LabelAnswerColumns

        return answered_frame(self, frame, LabelAnswerColumns(self, proba=proba, top=top), **reading)  # type: ignore[arg-type]


def sets_of(rows: Sequence[Sequence[Label]]) -> list[str]:
    """The names of sets of labels."""
    return [name_of(map(str, row)) for row in rows]
