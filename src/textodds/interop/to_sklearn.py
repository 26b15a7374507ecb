"""A model as a scikit-learn pipeline: raw texts in, the same probabilities out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from textodds.errors import Unsupported
from textodds.interop.full_matrix import linear_form, weights_and_bias
from textodds.interop.linear_classes import LinearClasses
from textodds.interop.linear_labels import LinearLabels
from textodds.learn.arrays import Floats, Integers
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.text import UNKNOWN, TextSettings

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel

MARK = "~"  # begins the name of a character n-gram that is counted beside words

ANALYZERS = {
    "sklearn": {"analyzer": "word", "token_pattern": r"(?u)\b\w\w+\b"},
    "whitespace": {"analyzer": "word", "token_pattern": r"(?u)\S+"},
    "characters": {"analyzer": "char"},
    "characters-in-words": {"analyzer": "char_wb"},
}
"""Units that scikit-learn cuts as we do, and what it calls them; other units are patterns."""


def to_sklearn(model: TextModel | MultiLabelModel) -> Pipeline:
    r"""A fitted pipeline from raw texts to the probabilities and labels of the model.

    Model
    -----
    Every model scores :math:`b_k + \sum_v x_v w_{vk}`, and its probabilities are the softmax of that. So
    the pipeline is a vectoriser that gives x, a ``TfidfTransformer`` whose ``idf_`` are the scales of the
    words where the model has a weighting, and a ``LogisticRegression`` with
    ``coef_`` :math:`= w^\top` and ``intercept_`` :math:`= b`; for two classes their differences. Of a
    calibrated softmax model it is a `LinearClasses`, which gives a row of zeros the class prior. Of several
    labels a text each has a sigmoid and a threshold: the last step is a `LinearLabels`, whose ``predict``
    gives an indicator matrix.

    Parameters
    ----------
    model : TextModel or MultiLabelModel
        Any model of two classes or more, or of several labels a text. What is learned afterwards does
        not reach the pipeline.

    Differs
    -------
    Probabilities agree to 1e-10, and labels unless two classes tie to the last digits. Rounding grows with
    the length of a text, since our kernel adds its words one by one where the pipeline multiplies counts:
    10,000 words leave 1e-8. Without smoothing fewer digits are left too
    (`textodds.learn.forms.linear.LOG_ZERO`): 1e-9 for each impossible word.

    The pipeline is made of scikit-learn alone, and opens without textodds, where scikit-learn can cut
    texts as the model does: with the settings of `TextSettings.sklearn`, and with the units
    ``whitespace``, ``characters`` and ``characters-in-words`` if ``normal_form=None``. Otherwise (other
    settings; a hash with a seed or of 31 bits, or of words and characters together; a policy for
    unknown words) the vectoriser calls our tokeniser by `Analyzer`. `LinearLabels` and `LinearClasses` are
    ours too: a softmax model is exported without them if it is trained with ``calibrate=False``.

    Examples
    --------
    >>> import textodds
    >>> model = textodds.train(["free phone", "see you at six"], ["spam", "ham"], sklearn=True)
    >>> pipeline = to_sklearn(model)
    >>> pipeline.predict(["a free offer"]).tolist()
    ['spam']
    >>> bool(np.allclose(pipeline.predict_proba(["free"]), model.predict_proba(["free"]), rtol=0, atol=1e-10))
    True
    """
    if len(model.classes_) < 2 and not isinstance(model, MultiLabelModel):
        raise Unsupported(
            f"a model of one class, `{model.class_names[0]}`, is not a classifier for scikit-learn",
            hint="train on texts of two classes or more",
        )
    weights, bias = weights_and_bias(model)
    blocks, length = _blocks(model), _length(model)
    if len(blocks) == 1 and length is None:
        steps = _steps(model, blocks[0])
    else:
        steps = [("terms", _union(model, blocks, length))]
    order = np.concatenate([block.numbers for block in blocks])
    return Pipeline([*steps, ("classifier", _last_step(model, weights[order], bias))])


@dataclass(frozen=True, eq=False)
class _Block:
    """Terms that are counted, and brought to one length, together."""

    name: str
    settings: TextSettings
    words: list[str]
    numbers: Integers  # their places in the model
    known: frozenset[str] | None = None  # where other terms count as unknown


def _blocks(model: TextModel | MultiLabelModel) -> list[_Block]:
    """All terms, or words and characters apart; blocks without terms are left out."""
    recipe, words = model.recipe, model.vocabulary.words()
    settings = replace(recipe.settings, vocabulary=None, count_unknown=False)  # `words` says it as well
    if recipe.unknown != "ignore" and UNKNOWN in words:
        return [_Block("terms", settings, words, np.arange(len(words)), frozenset(words))]
    if settings.characters is None or settings.blocks == 1:
        return [_Block("terms", settings, words, np.arange(len(words)))]
    is_marked = np.array([word.startswith(MARK) for word in words])
    of_words, of_characters = np.flatnonzero(~is_marked), np.flatnonzero(is_marked)
    beside = replace(
        settings, unit="characters-in-words", ngrams=settings.characters, characters=None, stop_words=()
    )
    blocks = [
        _Block("words", replace(settings, characters=None), [words[v] for v in of_words], of_words),
        _Block("characters", beside, [words[v].removeprefix(MARK) for v in of_characters], of_characters),
    ]
    return [block for block in blocks if block.words]


def _length(model: TextModel | MultiLabelModel) -> float | None:
    """The length of each block in a row of length 1, where words and characters share it."""
    weighting = model.recipe.weighting if model.scale is not None else None
    shared = weighting is not None and weighting.unit and model.recipe.settings.blocks == 2
    return math.sqrt(0.5) if shared else None


def _union(model: TextModel | MultiLabelModel, blocks: list[_Block], length: float | None) -> FeatureUnion:
    """Words and characters side by side."""
    parts = {block.name: _steps(model, block) for block in blocks}
    return FeatureUnion(
        [(name, Pipeline(steps)) for name, steps in parts.items()],
        transformer_weights=None if length is None else dict.fromkeys(parts, length),
    )


def _steps(model: TextModel | MultiLabelModel, block: _Block) -> list[tuple[str, BaseEstimator]]:
    """From texts to the columns of a block, weighted if the model says so."""
    weighting = model.recipe.weighting if model.scale is not None else None
    binary = linear_form(model).presence or (weighting is not None and weighting.frequency == "binary")
    steps = _counting(block, binary)
    if weighting is not None and model.scale is not None:
        transformer = TfidfTransformer(norm=weighting.norm or None, sublinear_tf=weighting.frequency == "log")
        transformer.idf_ = model.scale[block.numbers]
        transformer.n_features_in_ = len(block.numbers)
        steps.append(("weighting", transformer))
    return steps


def _counting(block: _Block, binary: bool) -> list[tuple[str, BaseEstimator]]:
    """From texts to counts, or 1 for each term that is there if ``binary``."""
    settings = block.settings
    options = None if block.known is not None else _options(settings)
    if options is not None and settings.hash_bits is not None:
        hashing = HashingVectorizer(
            n_features=2**settings.hash_bits, alternate_sign=False, norm=None, binary=binary, **options
        )
        buckets = np.array([int(word.removeprefix("#")) for word in block.words])
        columns = FunctionTransformer(itemgetter((slice(None), buckets)), accept_sparse=True)
        return [("terms", hashing), ("columns", columns)]
    if options is None:
        options = {"analyzer": Analyzer(settings, block.known), "lowercase": False}
    vocabulary = {word: column for column, word in enumerate(block.words)}
    counting = CountVectorizer(vocabulary=vocabulary, binary=binary, dtype=np.float64, **options)
    counting.vocabulary_, counting.fixed_vocabulary_ = vocabulary, True
    return [("terms", counting)]


def _options(settings: TextSettings) -> dict[str, object] | None:
    """What makes scikit-learn's vectorisers cut texts as the settings do; None if nothing does."""
    if settings.unit == "words" or settings.normal_form is not None or settings.characters is not None:
        return None
    if settings.buckets is not None:
        return None
    if settings.hash_bits is not None and (settings.hash_seed or settings.hash_bits > 30):
        return None
    return {
        **(ANALYZERS.get(settings.unit) or {"analyzer": "word", "token_pattern": f"(?u){settings.unit}"}),
        "ngram_range": settings.ngrams,
        "lowercase": settings.lower,
        "strip_accents": settings.accents,
        "stop_words": _stop_words(settings),
    }


def _stop_words(settings: TextSettings) -> list[str] | None:
    """The stop words that can be tokens; of the others scikit-learn would warn."""
    tokens = replace(settings, ngrams=(1, 1), stop_words=(), hash_bits=None)
    return [word for word in settings.stop_words if tokens.terms(word) == [word]] or None


def _last_step(model: TextModel | MultiLabelModel, weights: Floats, bias: Floats) -> BaseEstimator:
    """The fitted classifier of weights (V, K) and a bias (K,); the labels have the type of training."""
    if isinstance(model, MultiLabelModel):
        several = LinearLabels()
        several.classes_ = model.labels.array(model.class_names)
        several.coef_, several.intercept_ = weights.T, bias
        several.thresholds_, several.prior_ = np.array(model.thresholds), np.array(model.prior_logits)
        several.n_features_in_ = len(weights)
        return several
    if len(model.class_names) == 2:
        weights, bias = weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1]
    classifier = LogisticRegression()
    if model.has_prior_without_words:
        classifier, prior = LinearClasses(), model.form.log_prior
        classifier.prior_ = prior[1:] - prior[:1] if len(prior) == 2 else prior
    classifier.classes_ = model.labels.array(model.class_names)
    classifier.coef_ = weights.T  # (K, V), in the order in which SciPy multiplies without a copy
    classifier.intercept_ = bias
    classifier.n_features_in_ = len(weights)
    return classifier


@dataclass(frozen=True)
class Analyzer:
    """The terms of a text: an ``analyzer`` for scikit-learn's vectorisers that can be pickled.

    Where ``known`` are given, every other term is ``<UNK>``.

    Examples
    --------
    >>> Analyzer(TextSettings(ngrams=(1, 2)))("Don't panic!")
    ["don't", 'panic', "don't panic"]
    >>> Analyzer(TextSettings(), frozenset(["panic"]))("Don't panic!")
    ['<UNK>', 'panic']
    """

    settings: TextSettings
    known: frozenset[str] | None = field(default=None, repr=False)

    def __call__(self, text: str) -> list[str]:
        """The terms of one text."""
        terms = self.settings.terms(text)
        if self.known is None:
            return terms
        return [term if term in self.known else UNKNOWN for term in terms]

    def __reduce__(self) -> tuple[Callable[..., Analyzer], tuple[object, ...]]:
        return _terms, (self.settings.as_dict(), self.known)  # the kernel behind the settings has no copy


def _terms(settings: dict[str, Any], known: frozenset[str] | None) -> Analyzer:
    return Analyzer(TextSettings(**settings), known)
