"""Tensors in the place of texts and rows: the Open Inference Protocol, version 2 (REST).

A model of texts takes one tensor, `text`; a model that reads rows takes one for each column. Values are
checked against the datatype that the request gives, and then read as those of any other request are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NoReturn

import numpy as np

from textodds.errors import InputError, suggestion
from textodds.learn.forms.linear import log_softmax
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve import answers, label_answers, rows
from textodds.serve.protocol.problems import Problem, no_binary
from textodds.serve.protocol.tensor_messages import (
    InferAnswer,
    InferRequest,
    ModelMetadata,
    ModelParameters,
    OutputName,
    RequestInput,
    ResponseOutput,
    TensorCard,
)
from textodds.serve.rows import Model, OneLabelModel
from textodds.serve.updates.fold import ServedModel

TEXT = "text"  # the name of the tensor of texts
USUAL: tuple[OutputName, ...] = ("label", "probability")
USUAL_OF_LABELS: tuple[OutputName, ...] = ("labels", "probabilities")
CONTENT_TYPES = ("str", "np", "pd")  # how MLServer's clients say: as they stand
BINARY = ("binary_data", "binary_data_output", "binary_data_size")


def must_be_named(serving: ServedModel, name: str, path: Mapping[str, str]) -> None:
    """Refuse a path that names another model, or a version that does not answer now."""
    if path["name"] != name:
        problem = f"there is no model `{path['name'][:200]}`"
        raise Problem(HTTPStatus.NOT_FOUND, "not-found", problem, hint=f"the model is `{name}`")
    version = path.get("version")
    if version is not None and version not in _versions(serving):
        problem = f"version `{version[:200]}` of `{name}` does not answer"
        hint = f"the versions are {', '.join(_versions(serving))}; or leave the version out of the path"
        raise Problem(HTTPStatus.NOT_FOUND, "not-found", problem, hint=hint)


def _versions(serving: ServedModel) -> list[str]:
    """The file with whatever corrections there are, and with just these."""
    return [serving.version.partition(".")[0], serving.version]


def metadata(serving: ServedModel, name: str) -> ModelMetadata:
    """The tensors that a model takes and gives."""
    model = serving.model
    columns = rows.columns_of(model) or [rows.ColumnFacts(TEXT, "text", None)]
    wide = len(model.class_names)
    parameters = ModelParameters(list(model.class_names))
    first = [
        TensorCard(name="label", datatype="BYTES", shape=[-1]),
        TensorCard(name="probability", datatype="FP64", shape=[-1]),
    ]
    if isinstance(model, MultiLabelModel):
        first = [TensorCard(name="labels", datatype="BYTES", shape=[-1])]
        parameters.thresholds = list(label_answers.thresholds_of(model).values())
    return ModelMetadata(
        name=name,
        versions=_versions(serving),
        inputs=[
            TensorCard(
                name=each.name,
                datatype="FP64" if each.kind in ("number", "vector") else "BYTES",
                shape=[-1] if each.size is None else [-1, each.size],
            )
            for each in columns
        ],
        outputs=[
            *first,
            TensorCard(name="probabilities", datatype="FP64", shape=[-1, wide]),
            TensorCard(name="classes", datatype="BYTES", shape=[wide]),
        ],
        parameters=parameters,
    )


def number_of(request: InferRequest) -> int:
    """The texts or rows of a request, which every tensor must have as many of."""
    _must_be_understood(request)
    numbers = {tensor.shape[0] if tensor.shape else -1 for tensor in request.inputs}
    for at, tensor in enumerate(request.inputs):
        may_be_wide = len(tensor.shape) == 2 and tensor.datatype not in ("BYTES", "BOOL")
        if not tensor.shape or (tensor.shape[1:] not in ([], [1]) and not (may_be_wide and tensor.shape[1])):
            shown = "[N] or [N, 1], N being the number of texts or rows, of vectors of D numbers [N, D]"
            raise InputError(f"{_where(at, tensor)} must have the shape {shown}; got {tensor.shape}")
        if len(tensor.data) not in (tensor.shape[0], math.prod(tensor.shape)):
            held = f"{len(tensor.data):,} values and the shape {tensor.shape}"
            raise InputError(f"{_where(at, tensor)} has {held}", hint="send as many values as the shape says")
    if len(numbers) > 1:
        given = ", ".join(f"`{tensor.name}` {tensor.shape[0]}" for tensor in request.inputs[:10])
        raise InputError(f"`inputs` differ in length: {given}", hint="send as many values of each column")
    return numbers.pop()


def _must_be_understood(request: InferRequest) -> None:
    """Refuse parameters that would have to be ignored."""
    _must_be_known(request.parameters, "parameters")
    for at, tensor in enumerate(request.inputs):
        _must_be_known(tensor.parameters, f"inputs[{at}].parameters")
    for at, output in enumerate(request.outputs):
        _must_be_known(output.parameters, f"outputs[{at}].parameters")
    names = [output.name for output in request.outputs]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"`outputs` asks for `{twice}` twice", hint="ask for it once")


def _must_be_known(parameters: Mapping[str, object], where: str) -> None:
    for name, value in parameters.items():
        if name in BINARY:
            if value is not False:
                raise no_binary()
        elif name != "content_type":
            problem = (
                f"`{where}`: there is no parameter `{name}`{suggestion(name, ('content_type', *BINARY))}"
            )
            raise InputError(problem, hint="leave it out: it would have no effect")
        elif value not in CONTENT_TYPES:
            problem = f"`{where}`: content_type must be one of {', '.join(CONTENT_TYPES)}; got `{value}`"
            raise InputError(problem, hint="send texts and numbers as they are, without an encoding")


def texts_of(request: InferRequest) -> list[str]:
    """The texts of a request to a model that reads one text."""
    (first, *more) = request.inputs
    wrong = next((tensor.name for tensor in request.inputs if tensor.name != TEXT), None)
    if wrong is not None or more:
        problem = "`inputs` has more than one tensor" if wrong is None else f"there is no input `{wrong}`"
        raise InputError(problem, hint=f"the model reads one tensor, `{TEXT}`, of BYTES")
    if first.datatype != "BYTES":
        raise InputError(f"{_where(0, first)} must be of BYTES; got {first.datatype}")
    return _values(0, first, may_miss=False)


def rows_of(model: Model, request: InferRequest) -> list[dict[str, Any]]:
    """The rows of a request to a model that reads columns by name, without missing values."""
    names = [tensor.name for tensor in request.inputs]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"`inputs` has two tensors `{twice}`", hint="send one for each column")
    rows.checked(model, dict.fromkeys(names), "inputs")
    columns = [_values(at, tensor, may_miss=True) for at, tensor in enumerate(request.inputs)]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(at: int, tensor: RequestInput, *, may_miss: bool) -> list[Any]:
    """The values of a tensor in a flat list, each of its datatype."""
    values: list[Any] = tensor.data
    if len(tensor.shape) == 2 and tensor.shape[1] > 1:
        return _vectors(at, tensor)
    if len(tensor.shape) == 2 and any(isinstance(value, list) for value in values):
        wrong = next((row for row, v in enumerate(values) if not isinstance(v, list) or len(v) != 1), None)
        if wrong is not None:
            _misfit(at, tensor, wrong, "a list of one value", values[wrong])
        values = [value for (value,) in values]
    kind = tensor.datatype
    for row, value in enumerate(values):
        if value is None and may_miss:
            continue
        if kind == "BYTES":
            fits = isinstance(value, str)
        elif kind == "BOOL":
            fits = isinstance(value, bool)
        elif isinstance(value, bool):
            fits = False
        elif kind.startswith("FP"):
            fits = isinstance(value, int | float)
        else:
            fits = isinstance(value, int) and _holds(kind, value)
        if not fits:
            _misfit(at, tensor, row, f"of {kind}", value)
    return values


def _vectors(at: int, tensor: RequestInput) -> list[Any]:
    """The rows of a tensor of vectors, which are flat or lists; reading them checks the rest."""
    n, size = tensor.shape
    if len(tensor.data) == n * size and not any(isinstance(value, list) for value in tensor.data):
        return [tensor.data[row * size : (row + 1) * size] for row in range(n)]
    for row, value in enumerate(tensor.data):
        if not isinstance(value, list | None) or len(value or [0] * size) != size:
            _misfit(at, tensor, row, f"a list of {size:,} numbers", value)
    return tensor.data


def _holds(kind: str, value: int) -> bool:
    """Whether a whole number is one of so many bits.

    >>> _holds("INT8", -128), _holds("INT8", 128), _holds("UINT8", 255), _holds("UINT8", -1)
    (True, False, True, False)
    """
    is_signed, bits = kind.startswith("INT"), int(kind.removeprefix("U").removeprefix("INT"))
    low = -(1 << (bits - 1)) if is_signed else 0
    return low <= value < low + (1 << bits)


def _misfit(at: int, tensor: RequestInput, row: int, wanted: str, value: object) -> NoReturn:
    shown = json.dumps(value)[:60]
    raise InputError(f"{_where(at, tensor)}: value {row} must be {wanted}; got {shown}")


def _where(at: int, tensor: RequestInput) -> str:
    return f"`inputs[{at}]` (`{tensor.name[:200]}`)"


def infer(serving: ServedModel, name: str, request: InferRequest, given: Sequence[Any]) -> InferAnswer:
    """The tensors that a request asks for, of its texts or rows."""
    model, items = serving.model, list(given)
    if rows.reads_rows(model):
        items = [rows.item_of(model, row, f"row {at}") for at, row in enumerate(items)]
    wanted = [each.name for each in request.outputs]
    outputs = _of_labels if isinstance(model, MultiLabelModel) else _of_one_label
    return InferAnswer(
        model_name=name,
        model_version=serving.version,
        id=request.id,
        outputs=outputs(model, items, wanted),  # type: ignore[arg-type]
    )


def _of_one_label(
    model: OneLabelModel, items: list[Any], wanted: Sequence[OutputName]
) -> list[ResponseOutput]:
    """The tensors of a model that gives one label."""
    _must_be_given(wanted, ("labels",), "one label", "label")
    scores, _ = answers.scored(model, items, "row {}")
    log_posterior = log_softmax(scores)  # (N, K)
    best, classes = log_posterior.argmax(axis=1), model.class_names

    def output(wanted: OutputName) -> ResponseOutput:
        if wanted == "label":
            return _texts(wanted, [classes[k] for k in best.tolist()])
        if wanted == "classes":
            return _texts(wanted, classes)
        chosen = log_posterior if wanted == "probabilities" else log_posterior[np.arange(len(best)), best]
        return _numbers(wanted, np.exp(chosen))

    return [output(each) for each in wanted or USUAL]


def _of_labels(
    model: MultiLabelModel, items: list[Any], wanted: Sequence[OutputName]
) -> list[ResponseOutput]:
    """The tensors of a model that gives several labels: those of each text as a list in JSON."""
    _must_be_given(wanted, ("label", "probability"), "several labels", "labels")
    p, _ = label_answers.scored(model, items)  # (N, K)

    def output(wanted: OutputName) -> ResponseOutput:
        if wanted == "classes":
            return _texts(wanted, model.class_names)
        if wanted == "probabilities":
            return _numbers(wanted, p)
        lists = model.label_lists(p, model.given(p))
        return _texts(wanted, [json.dumps(list(map(str, each)), ensure_ascii=False) for each in lists])

    return [output(each) for each in wanted or USUAL_OF_LABELS]


def _must_be_given(wanted: Sequence[str], other: Sequence[str], gives: str, instead: str) -> None:
    """Refuse an output that a model does not have."""
    for at, name in enumerate(wanted):
        if name in other:
            problem = f"`outputs[{at}].name`: there is no output `{name}`, as the model gives {gives}"
            raise InputError(problem, hint=f"ask for `{instead}`")


def _texts(name: OutputName, values: Sequence[str]) -> ResponseOutput:
    return ResponseOutput(name=name, shape=[len(values)], datatype="BYTES", data=list(values))


def _numbers(name: OutputName, values: np.ndarray) -> ResponseOutput:
    return ResponseOutput(name=name, shape=list(values.shape), datatype="FP64", data=values.ravel().tolist())


def example(row: Mapping[str, object]) -> dict[str, object]:
    """A request with one row, or with one text as `text`."""
    return {
        "id": "42",
        "inputs": [
            {
                "name": name,
                "shape": [1, len(value)] if isinstance(value, list) else [1],
                "datatype": "BYTES" if isinstance(value, str) else "FP64",
                "data": [value],
            }
            for name, value in row.items()
        ],
        "outputs": [{"name": "label"}, {"name": "probabilities"}, {"name": "classes"}],
    }
