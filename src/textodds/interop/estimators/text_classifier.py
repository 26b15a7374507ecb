"""Raw texts in, labels out: the face of a `TextModel`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textodds.data import Source, read
from textodds.errors import InputError, Unsupported
from textodds.interop.containers import Samples, label_column, labels_of_rows, rows_from_zero, text_column
from textodds.interop.estimators.generative import Classifier
from textodds.interop.labels import Label, LabelArray, Labels, declared, joined, name_in
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import AUTO, LEARNERS, learner_named, resolved, settings_of
from textodds.model.file import dumps, loads
from textodds.model.text_model import TextModel
from textodds.stats.tally import checked_threads
from textodds.text import TextSettings, Weighting
from textodds.training.plan import Plan, plan_of
from textodds.training.train import train_on

if TYPE_CHECKING:
    from textodds.model.explain import Explanation

SETTINGS = frozenset(field.name for field in fields(TextSettings)) - {"count_unknown", "hash_seed", "fields"}
"""Parameters that are fields of `TextSettings`; None leaves them as is usual for the learner."""

RECIPE = ("unknown", "min_df", "max_df", "max_features", "weighting", "sklearn")
"""Those that `textodds.learn.recipe.recipe_of` takes."""


def _learns_on(estimator: TextClassifier) -> bool:
    """Whether what is learned is counts, so that more can be learned and some forgotten."""
    if estimator.learner == AUTO:
        raise Unsupported(
            "a learner is chosen by all texts at once: it neither learns in batches nor forgets",
            hint="name one, such as learner='multinomial'",
        )
    try:
        learner = resolved(estimator.learner)
    except InputError:
        return True  # whoever calls is told what is wrong with it
    if learner.entry.needs_documents or learner.rereads:
        counting = ", ".join(name for name, entry in LEARNERS.items() if entry.is_merged)
        raise Unsupported(
            "this learner needs all texts at once: it neither learns in batches nor forgets",
            hint=f"use one that learns counts: {counting}",
        )
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class TextClassifier(Classifier):
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
    one letter long too, and where there are 100 texts or more the smoothing of naive Bayes is chosen and
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

    learner: Any = "multinomial"
    calibrate: bool = True
    threads: int | None = None
    unit: str | None = None
    ngrams: tuple[int, int] | None = None
    characters: tuple[int, int] | None = None
    lower: bool | None = None
    normal_form: str | bool | None = None
    strip_accents: bool | None = None
    stop_words: Sequence[str] | str | None = None
    hash_bits: int | None = None
    vocabulary: Sequence[str] | None = None
    unknown: str = "ignore"
    min_df: int | float | None = None
    max_df: int | float = 1.0
    max_features: int | None = None
    weighting: Weighting | None = None
    sklearn: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; if ``deep``, those of the learner too, which may be given by its name."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and not isinstance(self.learner, BaseEstimator) and self.learner != AUTO:
            with suppress(InputError):  # which fit tells of
                learner = resolved(self.learner)
                own = settings_of(type(learner))
                params |= {f"learner__{name}": getattr(learner, name) for name in own}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, and of its learner (``learner__alpha``)."""
        learner = params.get("learner", self.learner)
        own = {name: value for name, value in params.items() if name.startswith("learner__")}
        if own and not isinstance(learner, BaseEstimator):
            if learner == AUTO:
                raise InputError(
                    "a learner that is chosen has no settings", hint="name one, such as learner='multinomial'"
                )
            found = resolved(learner)
            given = {name: getattr(found, name) for name in settings_of(type(found))}
            given |= {name.removeprefix("learner__"): value for name, value in own.items()}
            params = {name: value for name, value in params.items() if name not in own}
            params["learner"] = learner_named(found.entry.name, **given)
        return cast("Self", super().set_params(**params))

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
        recipe = model.recipe
        settings: dict[str, Any] = {name: getattr(recipe.settings, name) for name in SETTINGS}
        settings["normal_form"] = recipe.settings.normal_form or False
        made = cls(
            learner=recipe.asked_learner,
            calibrate=model.calibration is not None,
            threads=model.threads,
            unknown=recipe.unknown,
            weighting=recipe.weighting,
            **asdict(recipe.selection),
            **settings,
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

    @available_if(_learns_on)  # type: ignore[untyped-decorator]
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

    @available_if(_learns_on)  # type: ignore[untyped-decorator]
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

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        if "model_" in state:  # the file, which is checked when it is read and outlives versions
            state["model_"] = dumps(self.model_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(file := state.get("model_"), bytes):
            state = {**state, "model_": loads(file, state["threads"])}
        super().__setstate__(state)

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

    def _plan(self, labels: LabelArray) -> Plan:
        """The choices, as the core takes them."""
        learner = self.learner
        if isinstance(learner, BaseEstimator):
            learner = clone(learner)
            learner.classes_ = labels  # in whose order its priors are
        given = {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}
        if self.normal_form is False:
            given["normal_form"] = None
        threads = checked_threads(self.threads)
        usual = {field.name: field.default for field in fields(TextClassifier)}
        if isinstance(learner, str) and learner == AUTO:
            given |= {name: value for name in RECIPE if (value := getattr(self, name)) != usual[name]}
            return plan_of(None, None, given, calibrate=self.calibrate, threads=threads)
        given |= {name: getattr(self, name) for name in RECIPE}
        return Plan(resolved(learner), None, given, calibrate=self.calibrate, threads=threads)
