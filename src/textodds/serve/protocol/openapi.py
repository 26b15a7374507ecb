"""OpenAPI 3.1, made of the endpoints and their types: what is described is what is checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import msgspec

from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve import uploads
from textodds.serve.endpoint import Endpoint
from textodds.serve.protocol.messages import ProblemDetails
from textodds.serve.protocol.tensor_messages import InferenceError
from textodds.serve.records.journal import Kind
from textodds.serve.rows import Model, columns_of, example, reads_rows
from textodds.serve.settings import Settings

REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or not valid.",
    "403": "The scope of the token does not allow it; or the request comes from another site.",
    "404": "Not found.",
    "409": "It contradicts what was learned before, or the model cannot do it.",
    "413": "A limit is exceeded.",
    "415": "The content type of the body is not supported.",
    "422": "A field is missing or invalid.",
    "500": "An internal error.",
    "503": "Overloaded, or timed out.",
}


def description(endpoints: Iterable[Endpoint], settings: Settings, model: Model) -> dict[str, object]:
    """The description of a service of a model."""
    described = [endpoint for endpoint in endpoints if not endpoint.path.startswith(("/page/", "/openapi"))]
    kind = Kind(reads_rows(model), isinstance(model, MultiLabelModel))
    if kind != Kind():
        described = [_of_kind(endpoint, kind, model) for endpoint in described]
    kinds: list[type] = [ProblemDetails, InferenceError]
    for endpoint in described:
        kinds += [kind for kind in (endpoint.takes, endpoint.gives, endpoint.query) if isinstance(kind, type)]
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    if reads_rows(model):
        _name_columns(schemas, model)
    paths: dict[str, dict[str, object]] = {}
    for endpoint in described:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, settings, schemas)
    components: dict[str, object] = {"schemas": schemas, "responses": _refusals()}
    if settings.needs_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    servers = [{"url": origin.address} for origin in settings.origins]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "textodds",
            "version": version("textodds"),
            "description": "Classifies texts, explains, and learns from corrections.",
        },
        **({"servers": servers} if servers else {}),
        "paths": paths,
        "components": components,
    }


def _refusals() -> dict[str, object]:
    """Refusals by status; those of the Open Inference Protocol have names that begin with `v2-`."""
    shapes = {"": ("application/problem+json", ProblemDetails), "v2-": ("application/json", InferenceError)}
    return {
        f"{protocol}{status}": {
            "description": text,
            "content": {media: {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}},
        }
        for protocol, (media, kind) in shapes.items()
        for status, text in REFUSALS.items()
    }


def _of_kind(endpoint: Endpoint, kind: Kind, model: Model) -> Endpoint:
    """What an endpoint takes and gives where the model reads rows, or gives several labels."""
    row = example(model) if kind.rows else {"text": "win a free phone now"}
    shapes = endpoint.shapes(kind)
    if endpoint.takes == "file":
        cells = {"label": model.class_names[0], **row}
        head, values = (",".join(f'"{text}"' for text in each) for each in (cells, cells.values()))
        endpoint = replace(endpoint, example=f"{head}\n{values}\n")
    if shapes is None:
        return endpoint
    takes, gives, shown, _ = shapes
    told = shown(row) or endpoint.example
    first = (told.get("documents") or [{}])[0] if isinstance(told, dict) else {}
    for name, value in (("label", model.class_names[0]), ("labels", list(model.class_names[:1]))):
        if name in first:
            first[name] = value
    return replace(endpoint, takes=takes or endpoint.takes, gives=gives or endpoint.gives, example=told)


def _name_columns(schemas: dict[str, Any], model: Model) -> None:
    """Say of every row that is asked for which columns it may have."""
    types: dict[str, dict[str, Any]] = {
        "number": {"type": "number"},
        "category": {"type": "string"},
        "text": {"type": "string"},
        "vector": {"type": "array", "items": {"type": "number"}},
    }
    columns = {each.name: {"anyOf": [types[each.kind], {"type": "null"}]} for each in columns_of(model)}

    def visit(schema: object) -> None:
        if isinstance(schema, dict):
            if "left out, or null" in str(schema.get("description", "")):
                schema |= {"properties": columns}
            for part in list(schema.values()):
                visit(part)
        elif isinstance(schema, list):
            for part in schema:
                visit(part)

    visit(schemas)


def _operation(endpoint: Endpoint, settings: Settings, schemas: dict[str, Any]) -> dict[str, object]:
    statuses = ["500", "503"]
    if endpoint.needs != "nothing":
        statuses += ["401", "403"]
    if endpoint.takes is not None:
        statuses += ["400", "413", "415", "422"]
    if endpoint.method == "POST" or endpoint.query is not None:
        statuses += ["409", "422"]
    if endpoint.may_be_unsupported:
        statuses += ["409"]
    if "{" in endpoint.path:
        statuses += ["404"]
    refusal = "#/components/responses/" + ("v2-" if endpoint.is_open_inference else "")
    operation: dict[str, object] = {
        "operationId": _name(endpoint),
        "summary": endpoint.summary,
        "x-needs": endpoint.needs,
        "responses": {"200": _answer(endpoint)}
        | {status: {"$ref": f"{refusal}{status}"} for status in sorted(set(statuses))},
    }
    known = {"name": {"enum": [settings.model.stem]}} if endpoint.is_open_inference else {}
    parameters: list[dict[str, object]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", **known.get(name, {})}}
        for name in re.findall(r"\{(\w+)\}", endpoint.path)
    ]
    if parameters := parameters + _query_parameters(endpoint, schemas):
        operation["parameters"] = parameters
    if endpoint.takes is not None:
        operation["requestBody"] = {"required": True, "content": _content(endpoint)}
    if settings.needs_token and endpoint.needs != "nothing":
        operation["security"] = [{"token": []}]
    return operation


def _name(endpoint: Endpoint) -> str:
    """A name for the operation.

    >>> _name(Endpoint("GET", "/v1/reports/{key}", None, ""))  # type: ignore[arg-type]
    'get_reports'
    """
    parts = re.sub(r"/\{\w+\}|^/v1|\.json$", "", endpoint.path).strip("/").replace("/", "_") or "page"
    return parts if endpoint.method == "POST" else f"get_{parts}"


def _answer(endpoint: Endpoint) -> dict[str, object]:
    if isinstance(endpoint.gives, str):
        return {"description": endpoint.summary, "content": {endpoint.gives: {"schema": {"type": "string"}}}}
    schema = {"$ref": f"#/components/schemas/{endpoint.gives.__name__}"}
    first_line = (endpoint.gives.__doc__ or "").partition("\n")[0]
    return {"description": first_line, "content": {"application/json": {"schema": schema}}}


def _content(endpoint: Endpoint) -> dict[str, object]:
    if endpoint.takes == "file":
        binary = {"schema": {"type": "string", "format": "binary"}}
        text = {"schema": {"type": "string", "examples": [endpoint.example]}, "example": endpoint.example}
        return {media: text if media == "text/csv" else binary for media in uploads.SUFFIXES}
    assert isinstance(endpoint.takes, type)
    schema = {"$ref": f"#/components/schemas/{endpoint.takes.__name__}"}
    shown = {} if endpoint.example is None else {"example": endpoint.example}
    return {"application/json": {"schema": schema, **shown}}


def _query_parameters(endpoint: Endpoint, schemas: dict[str, Any]) -> list[dict[str, object]]:
    if endpoint.query is None:
        return []
    kind = schemas[endpoint.query.__name__]
    parameters = []
    for name, schema in kind["properties"].items():
        plain = {key: value for key, value in schema.items() if key != "default" or value is not None}
        if "anyOf" in plain:  # a query has no null: what is not given is left out
            (plain,) = (part for part in plain["anyOf"] if part.get("type") != "null")
        parameter = {"name": name, "in": "query", "required": name in kind.get("required", ())}
        about = {key: schema[key] for key in ("description",) if key in schema}
        parameters.append({**parameter, "schema": plain, **about})
    return parameters
