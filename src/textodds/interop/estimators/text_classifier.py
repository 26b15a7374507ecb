"""Raw texts in, labels out: the face of a `TextModel`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textodds.data import Source, read
from textodds.errors import InputError
from textodds.interop.containers import Samples, label_column, labels_of_rows, rows_from_zero, text_column
from textodds.interop.estimators.text_estimator import TextEstimator, learns_on
from textodds.interop.labels import Label, LabelArray, Labels, declared, joined, name_in
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import log_softmax
from textodds.model.text_model import TextModel
from textodds.training.train import train_on

if TYPE_CHECKING:
    from textodds.model.explain import Explanation


@dataclass(kw_only=True, eq=False, repr=False)
class TextClassifier(TextEstimator):
    r"""A classifier of raw texts: `textodds.train` and the model it makes, with no matrix in between.

    Texts come as a list or array of str, a column of pandas, polars or Arrow, or a frame of one such column.

    Parameters
    ----------
    learner : str, learner or estimator, default "multinomial"
        The name of one of texts (`textodds.learn.registry.LEARNERS`), such a learner, or one of our
        estimators. The settings of each are reached from here (``learner__alpha``). ``"auto"`` chooses
        learner and features on held-out texts, as `textodds.train` does.
    calibrate : bool, default True
        Whether to make probabilities right on texts that were left out; see `textodds.train`.
    threads : int, default None
        Threads to count and to score on; every number gives the same.
    unit, ngrams, characters, lower, normal_form, strip_accents, stop_words, hash_bits, vocabulary
        How texts are cut into terms; see `textodds.TextSettings`. None is what `textodds.train` does, and
        ``normal_form=False`` stands for none.
    unknown, min_df, max_df, max_features, weighting, sklearn
        What a word outside the vocabulary says, which words are kept, what an occurrence is worth, and
        whether to cut texts as scikit-learn's ``CountVectorizer`` does; see `textodds.train`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : textodds.TextModel
        The model: it saves itself, explains, evaluates, merges. Labels are text there.

    Differs
    -------
    From ``make_pipeline(CountVectorizer(), MultinomialNB())``: with ``sklearn=True``, ``calibrate=False`` and
    ``learner=MultinomialNB()`` the probabilities are the same. Otherwise words are those of Unicode,
    one letter long too, and where there are 16 texts or more the smoothing of naive Bayes is chosen and
    probabilities are calibrated. Batches (`partial_fit`) add up to the
    whole, need no classes declared, and can be taken back (`forget`). What is pickled is the model file.

    Examples
    --------
    >>> model = TextClassifier().fit(["free phone", "see you at six", "free prize"], [1, 0, 1])
    >>> model.predict_proba(["free"]).round(3)
    array([[0.143, 0.857]])
    >>> model.partial_fit(["free at last"], [0]).forget(["free phone"], [1]).predict(["free"])
    array([0])
    """

    unknown: str = "ignore"

    @classmethod
    def of(cls, model: TextModel) -> Self:
        """The estimator around a model that exists, such as one of `textodds.load`: fitted already.

        Its parameters are the choices that the model was made by, and its labels those of training. The model
        is not copied: what the estimator learns or forgets, it does.
        """
        if not isinstance(model, TextModel):
            raise InputError(
                f"a {type(model).__name__} is not a model of texts", hint="give what `textodds.train` made"
            )
        made = cls(
            calibrate=model.calibration is not None,
            threads=model.threads,
            unknown=model.recipe.unknown,
            **cls._parameters_of(model.recipe),
        )
        made.model_, made.classes_ = model, model.labels.array(model.class_names)
        return made

    @rows_from_zero()
    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from texts X (N,) with labels y (N,); what was learned before is forgotten."""
        labels, source = self._labelled(X, y, sample_weight)
        self.model_: TextModel = train_on(source, self._plan(labels))
        self.classes_ = labels
        return self

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    @rows_from_zero()
    def partial_fit(
        self, X: Samples, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more texts: after the last batch, as if `fit` had seen them all.

        `fit` chooses the smoothing of naive Bayes by all texts; in batches it is 1, unless it is given.
        ``classes`` may name all classes, those that have no texts yet too; they are impossible until they
        have. Where it is left out, labels that were never named are welcome in any batch.
        """
        first = not hasattr(self, "model_")
        labels, source = self._labelled(X, y, sample_weight)
        known = labels if first else self.classes_
        known = joined(known, labels) if classes is None else declared(classes, labels, known)
        if first:
            plan = self._plan(labels)
            learner: Any = plan.learner
            if learner.is_smoothing_open:
                plan = replace(plan, learner=replace(learner, alpha=1.0))
            self.model_ = train_on(source, plan)
        else:
            self.model_.change(self.model_.basis_of(source), 1)
        self.classes_ = known
        return self

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    @rows_from_zero()
    def forget(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Forget texts that were learned, under the same labels and weights: as if `fit` had not seen them.

        `NotLearned`, and nothing is changed, if they were not learned. A class without texts stays in
        ``classes_`` and is impossible.
        """
        check_is_fitted(self)
        self.model_.change(self.model_.basis_of(self._labelled(X, y, sample_weight)[1]), -1)
        return self

    def decision_function(self, X: Samples) -> Floats:
        """``log p(k | text)``, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else log_softmax(scores)

    def explain(
        self, text: str, label: Label = None, rival: Label = None, *, calibrate: bool = True
    ) -> Explanation:
        """The contribution of each word to the log-odds of ``label`` against ``rival``.

        See `TextModel.explain`; labels are those of ``classes_``.
        """
        check_is_fitted(self)
        asked, other = (None if each is None else name_in("explain", each) for each in (label, rival))
        return self.model_.explain(text, asked, other, calibrate=calibrate)

    @rows_from_zero()
    def _scores(self, X: Samples) -> Floats:
        check_is_fitted(self)
        known = self.model_.class_names
        parts = [self.model_.score_batch(batch)[0] for batch in read(text_column(X), labelled=False)]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts or [np.zeros((0, len(known)))])
        return self._by_class(scores, known)

    def _labelled(self, X: Samples, y: Labels, sample_weight: ArrayLike | None) -> tuple[LabelArray, Source]:
        """The labels that occur, and the texts with theirs as the core takes them."""
        column, texts = label_column(self, y), text_column(X)
        labels, classes, weights = labels_of_rows(column, len(texts), sample_weight)
        return labels, read(texts, classes, weights)
