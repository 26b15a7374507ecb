"""Raw texts in, several labels out: the face of a `MultiLabelModel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from textodds.data import Observer, Source, read
from textodds.errors import InputError
from textodds.interop.containers import Samples, rows_from_zero, text_column
from textodds.interop.estimators.text_estimator import TextEstimator, learns_on
from textodds.interop.label_sets import LISTS, SPARSE, LabelRows, label_rows
from textodds.interop.labels import Label, LabelArray, Labels, declared, joined, name_in, names
from textodds.judge.thresholds import NEVER, Goal
from textodds.learn.arrays import Floats, Mask
from textodds.learn.design import checked_weights
from textodds.learn.multilabel.counts import log_odds
from textodds.learn.multilabel.odds import sigmoid
from textodds.learn.registry import AUTO
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.stats.tally import checked_threads
from textodds.training.multilabel import train_labels_on
from textodds.training.plan import Plan, plan_of

if TYPE_CHECKING:
    from textodds.model.explain import Explanation

SURE = 1e6  # beyond the log-odds of any text: the threshold of a label that is always given, or never


@dataclass(kw_only=True, eq=False, repr=False)
class MultiLabelTextClassifier(TextEstimator):
    r"""A classifier of raw texts that may have several labels each, or none: the face of `MultiLabelModel`.

    Labels come as an indicator matrix (N, K), dense or sparse, or as a list, tuple or set of labels for each
    text; predictions come as the labels of `fit` did.

    Parameters
    ----------
    learner : str, learner or estimator, default "auto"
        ``"multinomial"`` or ``"softmax"`` (logistic regression of each label); by default the learner and the
        features are chosen on held-out texts. Settings of a learner that is named are reached from here:
        ``learner__alpha``, ``learner__C``.
    features : str or sequence of str, optional
        ``"words"``, ``"pairs"``, ``"characters"``, or several, of which the best is chosen.
    goal : str, default "f1"
        What the thresholds of labels are chosen for, on held-out texts: ``f1`` (micro- and macro-F1
        together), ``micro-f1``, ``macro-f1``, ``precision=0.9``, ``recall=0.9``, ``cost=1:5``, or ``half``.
    calibrate, threads
        As in `TextClassifier`; where nothing is calibrated, thresholds are chosen all the same.
    unit, ngrams, characters, lower, normal_form, strip_accents, stop_words, hash_bits, vocabulary
        How texts are cut into terms; see `textodds.TextSettings`.
    min_df, max_df, max_features, weighting, sklearn
        Which words are kept, what an occurrence is worth, and whether to cut texts as scikit-learn's
        ``CountVectorizer`` does; see `textodds.train`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels: of lists sorted; of a matrix the numbers of its columns, of a frame their names.
    model_ : textodds.MultiLabelModel
        The model: it saves itself, explains, evaluates, merges. Labels are text there.

    Differs
    -------
    From ``OneVsRestClassifier(LogisticRegression(C=C))`` of the same rows: with ``learner="softmax"``,
    ``learner__C=C`` and ``calibrate=False`` the probabilities are the same to the tolerance of the solvers,
    except of a text without a known word, which has the shares of the labels in training. A label is given
    from its threshold on, not from one half (``goal="half"``). A column of the matrix without a one is a
    label that no text is given, with the probability of none in N texts; theirs is 0. What is pickled is the
    model file.

    Examples
    --------
    >>> texts = ["cheap phone", "phone home", "home at six", "cheap flights home"]
    >>> model = MultiLabelTextClassifier(learner="multinomial")
    >>> _ = model.fit(texts, [["shop", "phone"], ["phone"], [], ["shop"]])
    >>> model.predict(["a cheap phone"]), model.classes_.tolist()
    ([('phone', 'shop')], ['phone', 'shop'])
    >>> model.fit(texts, np.array([[1, 1], [1, 0], [0, 0], [0, 1]])).predict(["a cheap phone"])
    array([[1, 1]])
    """

    learner: Any = AUTO
    features: str | Sequence[str] | None = None
    goal: str = "f1"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output, tags.target_tags.single_output = True, False
        return tags

    @classmethod
    def of(cls, model: MultiLabelModel) -> Self:
        """The estimator around a model that exists, such as one of `textodds.load`: fitted already.

        Its predictions are tuples of labels. The model is not copied: what the estimator learns, it does.
        """
        if not isinstance(model, MultiLabelModel):
            raise InputError(
                f"a {type(model).__name__} is not a model of several labels a text",
                hint="give what `textodds.train` made of lists of labels",
            )
        parameters = cls._parameters_of(model.recipe)
        made = cls(
            calibrate=model.recipe.calibrate, threads=model.threads, goal=str(model.goal), **parameters
        )
        made.model_, made.form_ = model, LISTS
        made.classes_ = model.labels.array(model.class_names)
        return made

    @rows_from_zero()
    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from texts X (N,) with their labels; what was learned before is forgotten."""
        rows, source = self._labelled(X, y, sample_weight)
        self.model_: MultiLabelModel = self._trained(source, self._plan(rows.labels))
        self.classes_, self.form_ = rows.labels, rows.form
        return self

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    @rows_from_zero()
    def partial_fit(
        self, X: Samples, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more texts: after the last batch, as if `fit` had seen them all.

        `fit` chooses the smoothing of naive Bayes by all texts; in batches it is 1, unless it is given. Of
        lists, labels that were never named are welcome in any batch; ``classes`` may name all of them.
        """
        first = not hasattr(self, "model_")
        rows, source = self._labelled(X, y, sample_weight)
        known = rows.labels if first else self.classes_
        if not first:
            self._must_be_like_before(rows)
        if rows.form == LISTS or classes is not None:
            named = rows.labels if classes is None else classes
            known = joined(known, named) if classes is None else declared(named, rows.labels, known)
        if first:
            plan = self._plan(rows.labels)
            learner: Any = plan.learner
            if learner.is_smoothing_open:
                plan = replace(plan, learner=replace(learner, alpha=1.0))
            self.model_ = self._trained(source, plan)
        else:
            self.model_.change(self.model_.basis_of(source), 1)
        self.classes_, self.form_ = known, rows.form
        return self

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    @rows_from_zero()
    def forget(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Forget texts that were learned, with the same labels and weights: as if `fit` had not seen them."""
        check_is_fitted(self)
        rows, source = self._labelled(X, y, sample_weight)
        self._must_be_like_before(rows)
        self.model_.change(self.model_.basis_of(source), -1)
        return self

    def predict(self, X: Samples) -> Any:
        """The labels of each text: a matrix (N, K) if `fit` had one, else tuples, most probable first."""
        parts = [(sigmoid(logits), given) for logits, given in self._answers(X)]
        if self.form_ == LISTS:
            labels = self.classes_.tolist()
            return [_most_probable_first(labels, *row) for part in parts for row in zip(*part, strict=True)]
        K = len(self.classes_)
        if self.form_ == SPARSE:
            none = sparse.csr_array((0, K), dtype=np.int64)
            found = [sparse.csr_array(given.astype(np.int64)) for _, given in parts]
            return sparse.csr_array(sparse.vstack([none, *found], format="csr"))
        return np.concatenate([np.zeros((0, K), np.int64), *(given.astype(np.int64) for _, given in parts)])

    def predict_proba(self, X: Samples) -> Floats:
        """``p(label | text)``, (N, K), each label by itself."""
        return sigmoid(self._scores(X))

    def predict_log_proba(self, X: Samples) -> Floats:
        """``log p(label | text)``, (N, K), each label by itself."""
        return np.asarray(-np.logaddexp(0.0, -self._scores(X)))

    def decision_function(self, X: Samples) -> Floats:
        """Log-odds of each label less those of its threshold, (N, K): from 0 on it is given."""
        scores = self._scores(X)
        thresholds = self._by_label(self._thresholds()[None], NEVER)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.log(thresholds) - np.log1p(-thresholds)
        return np.asarray(scores - np.clip(np.where(thresholds > 1, SURE, least), -SURE, SURE))

    def score(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """Subset accuracy: the share of texts with just the labels that they have."""
        true, given = label_rows(self, y), label_rows(self, self.predict(X))
        check_consistent_length(true.matrix, given.matrix)
        if true.form != LISTS and self.form_ != LISTS:
            return float(accuracy_score(true.matrix, given.matrix, sample_weight=sample_weight))
        exact = [set(one) == set(other) for one, other in zip(true.by_name(), given.by_name(), strict=True)]
        weights = None if sample_weight is None else checked_weights(sample_weight, len(exact))
        return float(np.average(exact, weights=weights))

    def explain(self, text: str, label: Label = None) -> Explanation:
        """The contribution of each word to the log-odds of a label; by default of the most probable."""
        check_is_fitted(self)
        return self.model_.explain(text, None if label is None else name_in("explain", label))

    def _trained(self, source: Source, plan: Plan) -> MultiLabelModel:
        return train_labels_on(source, plan, Goal.of(self.goal), Observer())

    def _plan(self, labels: LabelArray) -> Plan:
        learner = clone(self.learner) if isinstance(self.learner, BaseEstimator) else self.learner
        named = None if isinstance(learner, str) and learner == AUTO else learner
        how: Any = {"calibrate": self.calibrate, "threads": checked_threads(self.threads)}
        return plan_of(named, self.features, self._words(usual=False), **how)

    def _labelled(self, X: Samples, y: Labels, sample_weight: ArrayLike | None) -> tuple[LabelRows, Source]:
        """The labels of each text, and the texts with theirs as the core takes them."""
        rows, texts = label_rows(self, y), text_column(X)
        check_consistent_length(range(len(texts)), rows.matrix)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(texts))
        return rows, read(texts, rows.by_name(), weights, several_labels=True)

    def _must_be_like_before(self, rows: LabelRows) -> None:
        """Refuse labels in another form than before, or a matrix of other columns."""
        before, now = self.form_ == LISTS, rows.form == LISTS
        if before != now or not (now or np.array_equal(rows.labels, self.classes_)):
            was = "lists of labels" if before else f"an indicator matrix of {len(self.classes_)} columns"
            given = "lists of labels" if now else f"a matrix of {len(rows.labels)}"
            raise InputError(f"y was {was} before, and is {given} now", hint="give y in the same form")

    def _thresholds(self) -> Floats:
        found = self.model_.thresholds
        assert found is not None
        return found

    def _by_label(self, values: Floats | Mask, missing: float) -> Any:
        """Columns of the model's labels in the order of ``classes_``, (N, K)."""
        known = names(self.classes_)
        if known == self.model_.class_names:
            return values
        index = {name: k for k, name in enumerate(known)}
        found = np.full((len(values), len(known)), missing)
        found[:, [index[name] for name in self.model_.class_names]] = values
        return found

    def _answers(self, X: Samples) -> Iterator[tuple[Floats, Mask]]:
        """Log-odds and whether the label is given, (N, K) each, batch by batch."""
        check_is_fitted(self)
        absent = float(log_odds(np.zeros(1), self.model_.n_texts)[0])
        for batch in read(text_column(X), labelled=False):
            logits = self.model_.score_batch(batch)[0]
            given = self.model_.given(sigmoid(logits))
            yield self._by_label(logits, absent), self._by_label(given, 0.0).astype(bool)

    @rows_from_zero()
    def _scores(self, X: Samples) -> Floats:
        parts = [logits for logits, _ in self._answers(X)]
        return np.concatenate([np.zeros((0, len(self.classes_))), *parts])


def _most_probable_first(labels: list[Any], p: Floats, given: Mask) -> tuple[Any, ...]:
    there = np.flatnonzero(given)
    return tuple(labels[k] for k in there[np.argsort(-p[there], kind="stable")].tolist())
