"""The linear part of a model as an ONNX file."""

from __future__ import annotations

import json
import os
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

import textodds
from textodds.data.written_file import replacing
from textodds.errors import Unsupported, require
from textodds.interop.full_matrix import linear_form, weights_and_bias
from textodds.model.multilabel.multilabel_model import MultiLabelModel

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

    from textodds.model.text_model import TextModel

    Answer = tuple[ValueInfoProto, list[NodeProto], dict[str, np.ndarray]]
    """An output beside the probabilities, the nodes that lead there, and their constants."""

OPSET, IR_VERSION = 17, 8
"""Those of ONNX 1.12 (2022): no operator here needs more, and older runtimes can open the file."""

LARGEST = 2**31 - 2**20  # bytes that a file may hold: what protocol buffers can, less some for the names


def to_onnx(model: TextModel | MultiLabelModel, path: str | os.PathLike[str] | None = None) -> ModelProto:
    """The model from rows of word counts to probabilities, as ONNX; written to ``path`` if given.

    Input
        ``rows``, double (N, V): ``model.rows(texts).toarray()``, the counts of the words of each text,
        weighted where the model has a weighting.
    Outputs
        ``label``, string (N,), and ``probabilities``, double (N, K), the classes in the order of
        ``model.class_names``. Of a model of several labels a text: ``labels``, int64 (N, K), 1 where the
        label is given, and ``probabilities``, each label by itself.
    Metadata
        ``textodds`` (the version), and as JSON ``classes``, ``words`` (in the order of the columns),
        ``recipe`` (how texts become words), and ``scale`` (the factor of each word) and
        ``thresholds`` (of several labels) where there are any.

    Cutting texts into words stays outside: ONNX has no operators for it that runtimes share. Nor do
    runtimes take sparse input, so that a batch of N texts takes 8 N V bytes, nearly all of them zeros:
    100 texts and 100,000 words are 80 MB. Score in small batches, or train with fewer words
    (``max_features``).

    Probabilities are computed in double, and agree with the model as closely as those of `to_sklearn` do.

    Examples
    --------
    >>> import onnxruntime, textodds
    >>> model = textodds.train(["free phone", "see you at six"], ["spam", "ham"])
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, probabilities = session.run(None, {"rows": model.rows(["a free offer"]).toarray()})
    >>> label.tolist(), bool(np.allclose(probabilities, model.predict_proba(["a free offer"])))
    (['spam'], True)
    """
    require("onnx", why="writing ONNX")
    import onnx

    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    weights, bias = weights_and_bias(model)
    V, K = weights.shape
    about = _about(model)
    needed = weights.nbytes + sum(len(entry.encode()) for entry in about.values())
    if needed > LARGEST:
        raise Unsupported(
            f"an ONNX file holds up to 2 GB; {V:,} words and {K:,} classes need {needed / 1e9:.1f}",
            hint="train with fewer words: max_features, or a larger min_df",
        )
    presence = linear_form(model).presence
    if isinstance(model, MultiLabelModel):
        answer, nodes, constants = _labels(onnx, model)
    else:
        answer, nodes, constants = _label(onnx, model)
    constants |= {"weights": weights, "bias": bias} | ({"zero": np.zeros(1)} if presence else {})
    graph = helper.make_graph(
        [*_scores(onnx, presence), *nodes],
        "textodds",
        [helper.make_tensor_value_info("rows", double, ["N", V])],
        [answer, helper.make_tensor_value_info("probabilities", double, ["N", K])],
        [onnx.numpy_helper.from_array(constant, name) for name, constant in constants.items()],
    )
    proto: ModelProto = helper.make_model(
        graph,
        producer_name="textodds",
        producer_version=textodds.__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(proto, about)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_bytes(proto.SerializeToString())
    return proto


def _scores(onnx: ModuleType, presence: bool) -> list[NodeProto]:
    """From rows to scores."""
    node = onnx.helper.make_node
    there = [
        node("Greater", ["rows", "zero"], ["is_there"]),
        node("Cast", ["is_there"], ["there"], to=onnx.TensorProto.DOUBLE),
    ]
    return [
        *(there if presence else []),
        node("MatMul", ["there" if presence else "rows", "weights"], ["evidence"]),
        node("Add", ["evidence", "bias"], ["scores"]),
    ]


def _label(onnx: ModuleType, model: TextModel) -> Answer:
    """One label a text: the most probable; a calibrated softmax model gives a row of zeros the prior."""
    node = onnx.helper.make_node
    nodes, scores = [], "scores"
    known: dict[str, np.ndarray] = {"classes": np.array(model.class_names, dtype=object)}
    if model.has_prior_without_words:
        nodes, scores = _or_prior(onnx, "log_joint"), "log_joint"
        known |= {"nothing": np.zeros(1), "prior": model.form.log_prior[None]}
    nodes += [
        node("Softmax", [scores], ["probabilities"], axis=1),
        node("ArgMax", [scores], ["best"], axis=1, keepdims=0),
        node("Gather", ["classes", "best"], ["label"], axis=0),
    ]
    output = onnx.helper.make_tensor_value_info("label", onnx.TensorProto.STRING, ["N"])
    return output, nodes, known


def _or_prior(onnx: ModuleType, name: str) -> list[NodeProto]:
    """From scores to what is called ``name``: the same, but the prior for a row of zeros."""
    node = onnx.helper.make_node
    return [
        node("Abs", ["rows"], ["sizes"]),
        node("ReduceMax", ["sizes"], ["size"], axes=[1], keepdims=1),
        node("Greater", ["size", "nothing"], ["has_words"]),
        node("Where", ["has_words", "scores", "prior"], [name]),
    ]


def _labels(onnx: ModuleType, model: MultiLabelModel) -> Answer:
    """Several labels a text: each from its threshold on; a row of zeros has the shares of training."""
    node = onnx.helper.make_node
    nodes = [
        *_or_prior(onnx, "log_odds"),
        node("Sigmoid", ["log_odds"], ["probabilities"]),
        node("GreaterOrEqual", ["probabilities", "thresholds"], ["is_given"]),
        node("Cast", ["is_given"], ["labels"], to=onnx.TensorProto.INT64),
    ]
    output = onnx.helper.make_tensor_value_info(
        "labels", onnx.TensorProto.INT64, ["N", len(model.class_names)]
    )
    known = {
        "nothing": np.zeros(1),
        "prior": model.prior_logits[None],
        "thresholds": np.array(model.thresholds),
    }
    return output, nodes, known


def _about(model: TextModel | MultiLabelModel) -> dict[str, str]:
    """What a reader of the file wants to know, as text."""
    parts: dict[str, object] = {
        "classes": model.class_names,
        "words": model.vocabulary.words(),
        "recipe": model.recipe.as_dict(),
    }
    if model.scale is not None:
        parts["scale"] = model.scale.tolist()
    if isinstance(model, MultiLabelModel):
        parts["thresholds"] = np.array(model.thresholds).tolist()
    as_text = {name: json.dumps(part, ensure_ascii=False) for name, part in parts.items()}
    return {"textodds": textodds.__version__, **as_text}
