"""MultiLabelModel: a model of texts that may have several labels each, or none."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.frames import split_of
from textodds.data.labels import Label
from textodds.errors import InputError, Unsupported
from textodds.judge.thresholds import Goal, chosen
from textodds.learn.arrays import Mask
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.multilabel.odds import sigmoid
from textodds.learn.registry import Prior
from textodds.model.multilabel.label_prediction import LabelPrediction
from textodds.model.multilabel.label_updates import LabelUpdates
from textodds.model.one_state import of_one_state
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.judge.label_evaluation import LabelEvaluation
    from textodds.model.explain import Explanation

Floats = NDArray[np.float64]
L = TypeVar("L", bound=Label)

MOST_AT_ONCE = 2_000_000  # probabilities, texts times labels, that are at hand at once


class MultiLabelModel(LabelUpdates):
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

    @property
    def density(self) -> NoReturn:
        """Refused: a text with several labels has no one class to come from."""
        raise Unsupported(
            "a model of several labels has no probability of a text", hint="train with one label a text"
        )

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
        view = self.of_label(label)
        if not self.answer(text).evidence:  # which is answered by the share of texts with the label alone
            view = copy.copy(view)
            form = replace(view.linear, intercept=np.zeros(2))
            view._install(view.recipe, view.vocabulary, form, view.scale)
        return view.explain(text, name, f"not {name}", **how)

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
        self, frame: object, *, proba: bool = False, top: int | None = None, **reading: object
    ) -> Any:
        """A frame of the same kind (pandas, polars, Arrow): its columns, followed by the answers.

        These are ``labels``, a list; with ``top=3`` also ``label_1``, ``probability_1``, …; with ``proba``
        the probability ``p(LABEL)`` of every label, in the order of `classes`.
        """
        from textodds.model.multilabel.label_answers import LabelAnswerColumns
        from textodds.model.output.answers import answered_frame

        return answered_frame(self, frame, LabelAnswerColumns(self, proba=proba, top=top), **reading)  # type: ignore[arg-type]
