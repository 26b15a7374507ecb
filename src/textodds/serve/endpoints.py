"""All endpoints, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, get_type_hints

from textodds.serve.endpoint import Call, Endpoint
from textodds.serve.protocol.shapes import OF_KINDS
from textodds.serve.service import Service

Responder = Callable[[Service, Call], Awaitable[object]]
ENDPOINTS: list[Endpoint] = []


def endpoint(
    method: Literal["GET", "POST"], path: str, *, gives: str | None = None, **options: Any
) -> Callable[[Responder], Responder]:
    """Make an endpoint of the function below; ``gives`` is the media type of an answer that is not JSON."""

    def register(answer: Responder) -> Responder:
        summary = (answer.__doc__ or "").rstrip(".")
        kind = gives or get_type_hints(answer)["return"]
        of_kinds: Any = OF_KINDS.get(path, {})
        ENDPOINTS.append(Endpoint(method, path, answer, summary, gives=kind, **of_kinds, **options))
        return answer

    return register
