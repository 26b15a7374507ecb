"""From a fitted pipeline to a model with the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, overload

import numpy as np

from textodds.errors import InputError
from textodds.interop.class_priors import PriorParameter
from textodds.interop.from_sklearn.classifiers import Scores, scores_of
from textodds.interop.from_sklearn.several_labels import label_scores_of
from textodds.interop.from_sklearn.steps import RowTransform, Step, pass_through, rows_of, steps_of
from textodds.interop.from_sklearn.terms import terms_of
from textodds.interop.labels import Label
from textodds.judge.thresholds import Goal
from textodds.learn.arrays import Integers
from textodds.learn.forms.linear import LinearModel, Weights, log_prior
from textodds.learn.recipe import Recipe
from textodds.learn.registry import Learner
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.text import Weighting


@overload
def from_sklearn(pipeline: object, *, prior: Mapping[Label, float] | None = None) -> TextModel: ...
@overload
def from_sklearn(pipeline: object, *, labels: Sequence[Label]) -> MultiLabelModel: ...
def from_sklearn(
    pipeline: object, *, prior: Mapping[Label, float] | None = None, labels: Sequence[Label] | None = None
) -> TextModel | MultiLabelModel:
    r"""A model with the predictions of a fitted scikit-learn text pipeline.

    It can be saved, opened where scikit-learn is not, explained, evaluated and used from the command line.

    Model
    -----
    A row of counts n goes through the pipeline as :math:`x_v = c_v f(n_v) g_v / \lVert f(n) g \rVert`, and
    the classifier scores :math:`b_k + \sum_v x_v w_{vk}`. So f, g and the norm become the model's weighting,
    and :math:`c_v w_{vk}` its weights.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        A vectoriser, what may stand between, and a classifier, all fitted; scikit-learn's or ours.

        Vectorisers: ``CountVectorizer``, ``TfidfVectorizer``, ``HashingVectorizer(alternate_sign=False)`` of
        a power of two columns, without functions of your own, and with a ``token_pattern`` that
        `textodds.TextSettings` knows.

        Between: ``TfidfTransformer`` and ``Normalizer`` with the norm l2 or none, ``MaxAbsScaler``,
        ``StandardScaler(with_mean=False)``, ``RobustScaler(with_centering=False)``, and whatever selects
        columns (``SelectKBest``, ``SelectFromModel``, …).

        Classifiers: multinomial, Bernoulli and complement naive Bayes, ``LogisticRegression``,
        ``SGDClassifier(loss="log_loss")`` of two classes, ``LinearDiscriminantAnalysis``, our
        ``SoftmaxRegression`` and ``NBSoftmax``; and for their labels ``LinearSVC``, ``RidgeClassifier``,
        ``Perceptron``, ``PassiveAggressiveClassifier`` and ``SGDClassifier`` of other losses, whose scores
        the model normalises without calling them probabilities (``model.form.is_posterior`` is False).
    prior : dict of label to float, optional
        How often each class was in training, where the classifier does not say: all but naive Bayes and
        discriminant analysis. No answer depends on it, but ``with_prior`` and ``mix`` do, which otherwise
        take all classes to have been alike.
    labels : sequence, optional
        The labels of the columns of the indicator matrix that the pipeline was fitted on. It then ends in
        ``OneVsRestClassifier`` of ``LogisticRegression``, ``SGDClassifier(loss="log_loss")`` or
        ``MultinomialNB``, and becomes a `MultiLabelModel` that gives a label from one half on.

    Raises
    ------
    Unsupported
        If a step cannot be converted exactly; says which, why, and what to do instead.

    Differs
    -------
    Probabilities agree to 1e-10 for texts of some thousand words, and labels unless two classes tie: then
    the first by name is taken. What scikit-learn computes in float32 agrees to that. Labels are text here:
    1 is ``"1"`` and True is ``"true"``. A character that is younger than this Python may be part of a word
    here, and not in scikit-learn. Without smoothing (``alpha=0``) a text in which all classes are impossible
    has NaN there, and an answer here.

    scikit-learn keeps how often words occurred or how many texts held them, never both, so that the model
    can neither learn nor forget, and says so.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    >>> _ = pipeline.fit(["free phone", "see you at six", "free prize"], [1, 0, 1])
    >>> model = from_sklearn(pipeline)
    >>> model.predict_proba(["a free offer"]).round(4), pipeline.predict_proba(["a free offer"]).round(4)
    (array([[0.1429, 0.8571]]), array([[0.1429, 0.8571]]))
    >>> print(model.explain("a free offer"))
    1 rather than 0: log-odds +1.79
         +0.69  class prior
         +1.10  free
                (1 unknown)
    """
    first, *between, last = steps_of(pipeline)
    terms = terms_of(first)
    rows = rows_of(first, terms.n)
    for step in between:
        rows = pass_through(rows, step)
    scores, rows = scores_of(last, rows) if labels is None else label_scores_of(last, rows, labels)
    vocabulary, columns = terms.vocabulary(rows.kept)
    learner = _learner(scores, rows, columns)
    weighting = None
    if learner.entry.needs_documents:
        idf = bool((rows.scale[columns] != 1.0).any())
        weighting = Weighting(rows.frequency, idf, rows.smooth, rows.unit)
    recipe = Recipe(
        terms.settings, terms.selection, "ignore", learner, weighting, calibrate=last.kind == "LinearClasses"
    )
    presence = weighting is None and rows.frequency == "binary"
    form = _form(scores, rows, columns, prior, presence=presence)
    about = _info([first, *between, last], scores)
    scale = None if weighting is None else rows.scale[columns]
    if labels is None:
        return TextModel(recipe, vocabulary, form, None, about, scale=scale)
    model = MultiLabelModel(recipe, vocabulary, form, None, about, scale=scale)
    model.goal = Goal("half")
    return model


def _learner(scores: Scores, rows: RowTransform, columns: Integers) -> Learner:
    """The learner of the recipe: naive Bayes of counts is naive Bayes, of weighted rows a softmax model."""
    if scores.learner.entry.needs_documents:
        return scores.learner
    if not rows.is_plain:
        return SoftmaxLearner()
    learner: Any = scores.learner
    if np.ndim(learner.alpha):
        learner = replace(learner, alpha=learner.alpha[np.searchsorted(rows.live, columns)])
    return cast(Learner, learner)


def _form(
    scores: Scores,
    rows: RowTransform,
    columns: Integers,
    given: Mapping[Label, float] | None,
    *,
    presence: bool,
) -> LinearModel:
    """The linear form: words in the order of the vocabulary, classes in that of their names."""
    order = sorted(range(len(scores.classes)), key=scores.classes.__getitem__)
    classes = tuple(scores.classes[k] for k in order)
    place = np.searchsorted(rows.live, columns)
    is_left = np.isin(columns, rows.live, assume_unique=True)
    weights = np.zeros((len(columns), len(order)))
    weights[is_left] = scores.weights[place[is_left]][:, order]
    weights *= rows.factor[columns, None]
    intercept, share = scores.intercept[order], scores.log_prior
    if share is None:
        by_name = PriorParameter("prior", "uniform" if given is None else given).for_learner(None)
        share = log_prior(by_name, classes, np.ones(len(order)))
        intercept = intercept - share
    else:
        if given is not None:
            raise InputError(
                "the classifier says how often each class was, or has no probabilities that it would change",
                hint="leave prior out; the model's with_prior has another one",
            )
        share = share[order]
    return LinearModel(
        classes,
        share,
        intercept,
        Weights.of_matrix(weights),
        presence=presence,
        is_posterior=scores.is_posterior,
    )


def _info(steps: list[Step], scores: Scores) -> dict[str, Any]:
    """What the file says of where the model comes from."""
    import sklearn

    kinds = [type(step.estimator) for step in steps]
    info: dict[str, Any] = {
        "source": f"converted from scikit-learn {sklearn.__version__}: "
        + ", ".join(kind.__name__ for kind in kinds),
        "converted": {
            "scikit-learn": sklearn.__version__,
            "steps": {
                step.name: f"{kind.__module__}.{kind.__qualname__}"
                for step, kind in zip(steps, kinds, strict=True)
            },
        },
    }
    if scores.class_documents is not None:
        info["documents"] = float(scores.class_documents.sum())
        info["class_documents"] = dict(zip(scores.classes, scores.class_documents.tolist(), strict=True))
    return info
