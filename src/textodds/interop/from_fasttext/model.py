"""From the matrices of a fastText classifier to a weight for each feature and label."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from textodds import _kernels
from textodds.errors import InputError, ModelFileError, Unsupported
from textodds.interop.from_fasttext.file import FastTextFile, read_file
from textodds.learn.arrays import Floats, Integers
from textodds.learn.forms.linear import MOST_CELLS, LinearModel, Weights
from textodds.learn.forms.low_rank import FactoredModel, Leaves
from textodds.learn.recipe import Recipe
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.text import Selection, TextSettings, Vocabulary, Weighting
from textodds.text.plain import LARGEST

LABEL, END = "__label__", b"</s>"
SMALL = 1 << 24  # weights that are folded whatever it costs: 128 MB
BETWEEN = frozenset(b" \n\r\t\v\f\0")


def from_fasttext(
    path: str | os.PathLike[str], *, one_label: bool = False, calibrate: object = None
) -> TextModel | MultiLabelModel:
    r"""A model with the predictions of a fastText classifier, a ``.bin`` or ``.ftz`` file.

    It can be saved, explained, evaluated, served and used from the command line; fastText is not needed.

    Model
    -----
    fastText takes the mean of the vectors :math:`a_v` (D numbers) of a text's features, its words, ``</s>``
    at the end, and buckets of hashed n-grams, and multiplies it by the vector :math:`b_k` of a label:

    .. math::
        s_k = b_k^\top \frac{1}{n} \sum_v n_v a_v = \sum_v \frac{n_v}{n} w_{vk}, \qquad
        w_{vk} = a_v^\top b_k                                                                      \tag{1}

    with the counts :math:`n_v` of features that it knows and their sum n. So two matrices become one, with K
    numbers for each feature in the place of D, and :math:`n_v / n` is the model's weighting. Where labels are
    many, K above D, the two matrices stay.

    Parameters
    ----------
    path : path
        The file. ``-loss softmax`` becomes a `TextModel`, whose probabilities are the softmax of (1), and so
        does ``hs``, whose probabilities are products of sigmoids of (1) along the way to a label; ``ova`` and
        ``ns`` a `MultiLabelModel`, with the sigmoid of (1) for each label. Word n-grams, subwords,
        quantised matrices and pruned dictionaries are all taken. Labels go without ``__label__``.
    one_label : bool, default False
        Of ``ova`` and ``ns``: a `TextModel` that answers with the label of the highest score, as fastText
        does with ``k=1``. It normalises the scores without calling them probabilities
        (``model.form.is_posterior`` is False).
    calibrate : source, or (texts, labels), optional
        Labelled texts that fastText was not trained on. Of ``softmax`` and ``hs``, probabilities are
        calibrated by them where that lowers the log-loss, and guarantees (`--max-error`) rest on them.

    Raises
    ------
    Unsupported
        Of word vectors, and of too many weights: over 200 million.
    ModelFileError
        If the file is damaged, or not of fastText.

    Differs
    -------
    fastText adds in single precision, so that probabilities agree to about 1e-6 for short texts and 1e-5 for
    long ones (5e-4 was seen; from exact arithmetic ours differed by 2e-12 at most). It adds 1e-5 to each that
    it prints, and it looks the sigmoid up in a table, which is up to 0.008 below it. A text of several lines
    is one text here; fastText reads the first. A text without a known feature has equal scores; fastText says
    nothing.

    The model has neither documents nor counts of words: it can not learn, forget or be merged.
    """
    model = _converted(Path(path), one_label)
    if calibrate is not None:
        from textodds.interop.from_fasttext.promises import calibrate as calibrate_by

        calibrate_by(model, calibrate)
    return model


def _converted(path: Path, one_label: bool) -> TextModel | MultiLabelModel:
    """The model of a file, not calibrated."""
    file = read_file(path)
    if one_label and file.options.loss in ("softmax", "hs"):
        raise InputError(
            f"a model of -loss {file.options.loss} gives one label anyway", hint="leave one_label out"
        )
    classes = _classes(file)
    order = sorted(range(len(classes)), key=classes.__getitem__)
    names, counts = [classes[k] for k in order], [file.labels.counts[k] for k in order]
    vocabulary, rows = _vocabulary(file)
    recipe = Recipe(
        _settings(file),
        Selection(),
        "ignore",
        SoftmaxLearner(),
        Weighting("count", idf=False, unit=False, mean=True),
        calibrate=False,
    )
    info = _info(file, path) | {"class_documents": dict(zip(names, map(float, counts), strict=True))}
    before = np.zeros(len(names)) if one_label else _before(np.array(counts, dtype=np.float64), file)
    scale = np.ones(len(vocabulary))
    is_of_labels = file.options.loss in ("ova", "ns") and not one_label
    if not is_of_labels and not one_label and (_is_tree(file) or not _is_worth_folding(file, len(rows))):
        factored = _factored(file, path, rows, np.array(order))
        form = replace(factored, classes=tuple(names), log_prior=before, intercept=-before)
        return TextModel(recipe, vocabulary, form, None, info, scale=scale)
    output = _output(file, path, np.array(order))  # (K, D)
    weights = Weights.of_matrix(_opposed(_folded(file, path, rows, output), file))
    linear = LinearModel(tuple(names), before, -before, weights, is_posterior=not one_label)
    kind = MultiLabelModel if is_of_labels else TextModel
    return kind(recipe, vocabulary, linear, None, info, scale=scale)


def _opposed(weights: Floats, file: FastTextFile) -> Floats:
    """The weights of softmax of two labels, each less the mean of both: the kernel needs one of them."""
    if weights.shape[1] == 2 and file.options.loss == "softmax":
        half = (weights[:, 1] - weights[:, 0]) / 2
        return np.column_stack((-half, half))
    return weights


def _is_tree(file: FastTextFile) -> bool:
    """Whether labels are leaves of a tree; one label alone is certain."""
    return file.options.loss == "hs" and len(file.labels.names) > 1


def _is_worth_folding(file: FastTextFile, V: int) -> bool:
    """Whether weights for each pair of a feature and a label take less than those of the two matrices."""
    K, D = file.output.shape
    return K <= D or V * K <= SMALL


def _factored(file: FastTextFile, path: Path, rows: Integers, order: Integers) -> FactoredModel:
    """The form of classes in this order, of which the names and the prior are still to be said."""
    K, D = file.output.shape
    if _is_tree(file):
        # Those of the root and of every other inner node; the last row of the matrix belongs to none.
        output = _output(file, path, np.arange(K - 1))
        leaves = Leaves.of_counts(np.array(file.labels.counts)).taken(order)
    else:
        output, leaves = _output(file, path, order), None
    if _is_worth_folding(file, len(rows)):
        return FactoredModel((), np.zeros(0), _folded(file, path, rows, output), None, leaves)
    inner = _folded(file, path, rows, np.eye(D))
    return FactoredModel((), np.zeros(0), inner, np.ascontiguousarray(output.T), leaves)


def _before(counts: Floats, file: FastTextFile) -> Floats:
    """The log-prior of each label by its count in training, (K,); its log-odds where a line has several.

    The model's scores have it in them: it is what `with_prior` takes out.
    """
    smoothed = counts + 0.5
    if file.options.loss in ("softmax", "hs"):
        return np.asarray(np.log(smoothed / smoothed.sum()))
    others = max(_lines(file), counts.max()) + 1.0 - smoothed
    return np.asarray(np.log(smoothed / others))


def _lines(file: FastTextFile) -> float:
    """The lines of training, each of which ended with a word of its own; 0 where they are not known."""
    names = file.words.names
    return float(file.words.counts[names.index(END)]) if END in names else 0.0


def _classes(file: FastTextFile) -> list[str]:
    """The names of the labels, without what all labels begin with in fastText."""
    try:
        names = [name.decode() for name in file.labels.names]
    except UnicodeDecodeError as error:
        raise Unsupported(
            "a label of the model is not UTF-8", hint="train again on files in UTF-8"
        ) from error
    if all(name.startswith(LABEL) and name != LABEL for name in names):
        return [name.removeprefix(LABEL) for name in names]
    return names


def _settings(file: FastTextFile) -> TextSettings:
    """How texts are cut: tokens that are labels are no words, whatever they begin with."""
    options = file.options
    return TextSettings(
        unit=f"fasttext:{options.buckets}",
        ngrams=(1, max(options.word_ngrams, 1)),
        characters=(options.minn, options.maxn) if options.has_letters else None,
        lower=False,
        normal_form=None,
        stop_words=[name.decode() for name in file.labels.names if not name.startswith(LABEL.encode())],
    )


def _vocabulary(file: FastTextFile) -> tuple[Vocabulary, Integers]:
    """The features of the model in the order of their hash, and the row of each in the input matrix."""
    kept, places = [], []
    for place, name in enumerate(file.words.names):
        if name.startswith(LABEL.encode()):
            raise Unsupported(
                f"the model has a word that begins with `{LABEL}`, which is read as a label",
                hint=f"train again without `-label`, with labels that begin with `{LABEL}`",
            )
        if _can_be_met(name):
            kept.append(name)
            places.append(place)
    ends = np.fromiter(accumulate(map(len, kept), initial=0), np.int64, len(kept) + 1)
    index = _kernels.NameIndex(np.frombuffer(b"".join(kept), np.uint8), ends)
    (keys, arena), at = index.vocabulary()
    buckets = _kernels.fasttext_keys(file.buckets.astype(np.uint32), max(file.options.bucket, 1))
    keys = np.concatenate([keys, buckets])
    rows = np.concatenate([np.array(places, dtype=np.int64)[at], file.bucket_rows])
    order = np.argsort(_kernels.word_hashes(keys, arena), kind="stable")
    return Vocabulary(keys.reshape(-1, 2)[order].reshape(-1), arena), rows[order]


def _can_be_met(name: bytes) -> bool:
    """Whether a text can have this word: texts are UTF-8, and words have no white space."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return BETWEEN.isdisjoint(name)


def _output(file: FastTextFile, path: Path, rows: Integers) -> Floats:
    """Rows of the output matrix (J, D)."""
    return _numbers(file.output.times(rows, np.eye(file.options.dim)), path)


def _folded(file: FastTextFile, path: Path, rows: Integers, output: Floats) -> Floats:
    """The weights (V, J) of features, whose rows are given, times vectors (J, D)."""
    if len(rows) * len(output) > MOST_CELLS:
        raise Unsupported(
            f"the model has {len(rows):,} features with {len(output):,} weights each: too many",
            hint="make it smaller first: `fasttext quantize -output MODEL -cutoff 100000`",
        )
    return _numbers(file.input.times(rows, np.ascontiguousarray(output.T)), path)


def _numbers(weights: Floats, path: Path) -> Floats:
    """The weights, if all are numbers that a model may have."""
    if not (np.abs(weights) < LARGEST).all():  # nor NaN
        raise ModelFileError(f"`{path}` is not a valid fastText model: some of its weights are not numbers")
    return weights


def _info(file: FastTextFile, path: Path) -> dict[str, Any]:
    """What the model's file says of where it comes from."""
    options = file.options
    return {
        "source": f"converted from fastText: {path.name}",
        "documents": _lines(file) or float(sum(file.labels.counts)),
        "converted": {
            "fasttext": {
                "dim": options.dim,
                "wordNgrams": options.word_ngrams,
                "loss": options.loss,
                "bucket": options.bucket,
                "minn": options.minn if options.has_letters else 0,
                "maxn": options.maxn if options.has_letters else 0,
            }
        },
    }
