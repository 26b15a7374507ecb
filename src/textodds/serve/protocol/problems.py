"""One error shape for every route: RFC 9457 problem details, with the codes of `textodds.errors`.

Paths of the Open Inference Protocol have the shape of that protocol instead.
"""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from textodds.errors import Conflict, InputError, ModelFileError, TextoddsError, Unsupported
from textodds.serve.protocol.messages import ProblemDetails
from textodds.serve.protocol.tensor_messages import InferenceError
from textodds.serve.visible import visible

MEDIA = b"application/problem+json"
LONGEST = 1000  # characters of what is told
BINARY = b"inference-header-content-length"  # a header of requests with tensors behind their JSON
SOON = 1  # seconds after which to try again


class Problem(TextoddsError):
    """Something that only a service can meet: a limit, a token, a path."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        problem: str,
        *,
        hint: str | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(problem, hint=hint)
        self.status, self.code, self.headers = status, code, headers


def too_large(what: str, problem: str, hint: str) -> Problem:
    """More than a limit allows."""
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"limit.{what}", problem, hint=hint)


def unavailable(
    code: str, problem: str, hint: str = "try again in a moment", *, closing: bool = False
) -> Problem:
    """What cannot be done now, but may be soon; after it a ``closing`` connection is not read from."""
    headers = ((b"retry-after", str(SOON).encode()), *(((b"connection", b"close"),) if closing else ()))
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, code, problem, hint=hint, headers=headers)


def no_binary() -> Problem:
    """What becomes of a request of the Open Inference Protocol with tensors in binary, or for such."""
    return Problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "media-type",
        "the binary tensor data extension is not supported",
        hint="send tensors as JSON, and ask for each output with `binary_data: false`",
    )


def status_of(error: TextoddsError) -> HTTPStatus:
    """The HTTP status that tells of an error."""
    if isinstance(error, Problem):
        return error.status
    if isinstance(error, (Conflict, Unsupported)):
        return HTTPStatus.CONFLICT
    if isinstance(error, (InputError, ModelFileError)):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.INTERNAL_SERVER_ERROR


def shorten(text: str) -> str:
    """A text that may have been sent at length, cut."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def details(error: TextoddsError) -> tuple[int, bytes]:
    """The status and the body that tell of an error."""
    status = status_of(error)
    body = ProblemDetails(
        type=f"urn:textodds:error:{error.code}",
        title=status.phrase,
        status=status.value,
        detail=shorten(visible(error.problem)),
        code=error.code,
        hint=None if error.hint is None else shorten(visible(error.hint)),
    )
    return status.value, msgspec.json.encode(body)


def inference_error(error: TextoddsError) -> tuple[int, bytes]:
    """The status and the body that tell of an error, as the Open Inference Protocol has it."""
    hint = "" if error.hint is None else f"; hint: {shorten(visible(error.hint))}"
    body = InferenceError(shorten(visible(error.problem)) + hint)
    return status_of(error).value, msgspec.json.encode(body)
