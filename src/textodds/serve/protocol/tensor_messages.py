"""Requests and answers of the Open Inference Protocol, version 2 (REST), whose names and shapes these are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from textodds.serve.protocol.messages import Request, Version

Datatype = Literal[
    "BOOL", "BYTES", "FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64",
    "UINT8", "UINT16", "UINT32", "UINT64"
]  # fmt: skip
Parameters = Annotated[
    dict[str, str | int | float | bool],
    Meta(description="Only `content_type`: `str`, `np` or `pd`; and `binary_data…`: false."),
]
Shape = list[Annotated[int, Meta(ge=0, le=1 << 53)]]
OutputName = Literal["label", "probability", "labels", "probabilities", "classes"]


class RequestInput(Request, kw_only=True):
    """A tensor of N texts, or of the N values of a column; null is a missing value of a column."""

    name: Annotated[str, Meta(description="`text`; of a model that reads rows, a column.", examples=["text"])]
    shape: Annotated[Shape, Meta(description="`[N]` or `[N, 1]`.", examples=[[2]])]
    datatype: Datatype
    parameters: Parameters = field(default_factory=dict)
    data: Annotated[list[Any], Meta(description="The N values: flat, or a list of one value each.")]


class RequestOutput(Request, kw_only=True):
    """A tensor to answer with."""

    name: OutputName
    parameters: Parameters = field(default_factory=dict)


class InferRequest(Request, kw_only=True):
    """Texts or rows to classify, as tensors; `outputs` are by default `label` and `probability`.

    Of a model of several labels they are by default `labels` and `probabilities`.
    """

    id: Annotated[
        str | UnsetType, Meta(description="The caller's name for the request; the answer has it too.")
    ] = UNSET
    parameters: Parameters = field(default_factory=dict)
    inputs: Annotated[list[RequestInput], Meta(min_length=1)]
    outputs: list[RequestOutput] = field(default_factory=list)


class ResponseOutput(Struct, kw_only=True):
    """A tensor of the answer, its values in one flat list by rows."""

    name: OutputName
    shape: list[int]
    datatype: Literal["BYTES", "FP64"]
    data: list[str | float]


class InferAnswer(Struct, kw_only=True):
    """The tensors that were asked for, in that order."""

    model_name: str
    model_version: Version
    id: str | UnsetType = UNSET
    outputs: list[ResponseOutput]


class TensorCard(Struct, kw_only=True):
    """A tensor that the model takes or gives; -1 stands for any number of texts or rows."""

    name: str
    datatype: Literal["BYTES", "FP64"]
    shape: list[int]


class ModelParameters(Struct):
    """The classes, in the order of the columns of `probabilities`; of several labels their thresholds too."""

    classes: list[str]
    thresholds: list[float] | UnsetType = UNSET


class ModelMetadata(Struct, kw_only=True):
    """The model by its tensors; `versions` are those that a path may name."""

    name: str
    versions: list[str]
    platform: Literal["textodds"] = "textodds"
    inputs: list[TensorCard]
    outputs: list[TensorCard]
    parameters: ModelParameters


class ServerMetadata(Struct, kw_only=True):
    """The service, its version, and the extensions of the protocol that it speaks: none."""

    name: Literal["textodds"] = "textodds"
    version: str
    extensions: list[str]


class ServerLive(Struct):
    """That the service runs."""

    live: bool = True


class ServerReady(Struct):
    """That the service can answer and learn."""

    live: bool = True
    ready: bool = True


class ModelReady(Struct):
    """That the model answers."""

    name: str
    ready: bool = True


class InferenceError(Struct):
    """What went wrong, and what to do."""

    error: str
