"""What every request meets on its way: who asks, how much, how long; and one shape of errors."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from textodds.errors import InputError, TextoddsError
from textodds.serve.guard import sent_at_once
from textodds.serve.origins import is_other_site
from textodds.serve.protocol import problems
from textodds.serve.protocol.problems import Problem, too_large
from textodds.serve.records.journal import KINDS, Kind
from textodds.serve.rows import names_of
from textodds.serve.settings import is_loopback

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from textodds.serve.service import Service

Headers = tuple[tuple[bytes, bytes], ...]

logger = logging.getLogger("textodds.serve")

JSON = b"application/json"
DECISIVE = {b"host", b"origin", b"authorization", b"content-type", b"content-length"}
SAFE: Headers = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Body(NamedTuple):
    """An answer that is no JSON."""

    content: bytes
    media: bytes
    headers: Headers = ()


class Call(NamedTuple):
    """A request, once it has been let in and read."""

    body: Any = None  # of the type that the endpoint takes, or bytes where it takes a file
    query: Any = None  # of the type of its query
    media: str = ""
    path: Mapping[str, str] = MappingProxyType({})
    by: str = ""  # the name of the token, or the address that asks


class Shapes(NamedTuple):
    """What an endpoint takes and gives of a model of another kind, and an example of it, by a row."""

    takes: type[msgspec.Struct] | None
    gives: type[msgspec.Struct] | None = None  # None: as of texts with one label
    example: Callable[[Mapping[str, object]], object] = lambda row: None
    hint: str = ""  # for who sends what another kind takes


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One thing that can be asked: checked, limited, answered, counted and described by this."""

    method: Literal["GET", "POST"]
    path: str
    answer: Callable[[Service, Call], Awaitable[object]]
    summary: str
    takes: type[msgspec.Struct] | Literal["file"] | None = None
    gives: type[msgspec.Struct] | str = ""  # a media type, if it is no JSON
    query: type[msgspec.Struct] | None = None
    needs: Literal["nothing", "read", "write", "admin"] = "read"
    example: object = None
    may_be_unsupported: bool = False  # though nothing is sent that could be at fault
    rows: Shapes | None = None  # where the model reads rows
    labels: Shapes | None = None  # where it gives several labels
    label_rows: Shapes | None = None  # where it does both

    def shapes(self, kind: Kind) -> Shapes | None:
        """What it takes and gives of models of a kind; None: what it does of texts with one label."""
        if kind.sets:
            return self.label_rows if kind.rows and self.label_rows is not None else self.labels
        return self.rows if kind.rows else None

    @property
    def is_open_inference(self) -> bool:
        """Whether it is one of the Open Inference Protocol, which has its own shape of errors."""
        return is_open_inference(self.path)


class Handler:
    """An endpoint of a running service, as an ASGI application."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self._endpoint, self._service = endpoint, service
        takes, settings = endpoint.takes, service.settings
        self._decoder = Decoder(endpoint, service) if isinstance(takes, type) else None
        self._encode = msgspec.json.Encoder().encode
        self._responses = service.metrics.of(endpoint.path)
        self._most = settings.upload if takes == "file" else settings.body
        self._patience = settings.upload_seconds if takes == "file" else settings.seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever comes."""
        service, start = self._service, perf_counter()
        task = asyncio.current_task()
        assert task is not None
        try:
            service.expect(task, start + self._patience)
            try:
                headers = dict(scope["headers"])
                if len(headers) < len(scope["headers"]):
                    _must_be_clear(scope["headers"])
                by = self._let_in(headers, scope)
                call = await self._read(scope, headers, receive)
                if self._endpoint.needs == "write":
                    call = call._replace(by=by)
                if self._endpoint.needs != "nothing":  # whether it is well can be asked at any time
                    service.admit(task)
                answer = await self._answer(call, receive)
            except asyncio.CancelledError:
                if not service.is_overdue(task):
                    raise
                task.uncancel()
                late = f"the request took longer than {self._patience:g} seconds"
                raise problems.unavailable("limit.time", late, "ask for less at once", closing=True) from None
            finally:
                service.dismiss(task)
                if self._endpoint.takes == "file":
                    service.uploads.release()
        except Exception as error:
            await self._refuse(scope, send, error, start)
            return
        self._responses.count(200, perf_counter() - start)
        body = answer if isinstance(answer, Body) else Body(self._encode(answer), JSON)
        await respond(scope, send, 200, *body)

    async def _refuse(self, scope: Scope, send: Send, error: Exception, start: float) -> None:
        if not isinstance(error, TextoddsError):
            logger.error("%s %s failed", self._endpoint.method, self._endpoint.path, exc_info=error)
            error = Problem(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "fault",
                "this is a bug in textodds",
                hint="please report it, with the service's log",
            )
        self._responses.count(problems.status_of(error).value, perf_counter() - start)
        await refuse(scope, send, error)

    def _let_in(self, headers: Mapping[bytes, bytes], scope: Scope) -> str:
        """Who asks, by the name of a token or an address; refuses who may not ask this."""
        settings, needs = self._service.settings, self._endpoint.needs
        if needs == "nothing":
            return ""
        host = headers.get(b"host", b"")
        origin = headers.get(b"origin")
        if origin is not None and is_other_site(origin, host, settings.origins):
            raise Problem(HTTPStatus.FORBIDDEN, "origin", "requests from pages of other sites are refused")
        if not settings.needs_token:
            # A name that was made to point here would let any page ask: only names of this machine count.
            if not _is_local(host):
                raise Problem(
                    HTTPStatus.FORBIDDEN,
                    "host",
                    "without tokens the service accepts only names of this machine",
                    hint="ask for it as 127.0.0.1 or localhost, or start it with tokens",
                )
            client = scope.get("client")
            return "" if client is None else str(client[0])
        given = headers.get(b"authorization", b"")
        scheme, _, sent = given.partition(b" ")
        token = self._service.tokens.of(sent)
        if scheme.lower() != b"bearer" or token is None:
            raise Problem(
                HTTPStatus.UNAUTHORIZED,
                "token",
                "the token is not valid" if given else "the request has no token",
                hint="send `Authorization: Bearer TOKEN`",
                headers=((b"www-authenticate", b"Bearer"),),
            )
        if not token.may(needs):
            may = "read only" if token.scope == "read" else "read, learn and forget only"
            raise Problem(
                HTTPStatus.FORBIDDEN,
                f"token.{needs}",
                f"this token may {may}",
                hint=f"use one with the scope `{needs}`",
            )
        return token.name

    async def _read(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive) -> Call:
        """The request, of the types that it must have."""
        endpoint = self._endpoint
        query = None if endpoint.query is None else _query(scope["query_string"], endpoint.query)
        path = scope.get("path_params") or {}
        if endpoint.takes is None:
            return Call(query=query, path=path)
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if endpoint.is_open_inference:
            if problems.BINARY in headers:
                raise problems.no_binary()
            media = media or JSON  # Triton's client does not say
        if self._decoder is not None and media != JSON:
            raise Problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                "the body must be JSON, and say so",
                hint="send the header `Content-Type: application/json`",
            )
        if self._decoder is None:
            self._service.uploads.take()  # before the body: only one large one is held at a time
        body = await self._body(headers, receive)
        if self._decoder is None:
            return Call(body, query, media.decode("ascii", "replace"), path)
        try:
            return Call(self._decoder.decode(body), query, path=path)
        except msgspec.ValidationError as error:
            raise _misfit(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(
                HTTPStatus.BAD_REQUEST, "input.json", f"the body is not JSON: {error}"[:300]
            ) from error

    async def _body(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | bytearray:
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            raise self._too_much()
        message = await receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body", False) or message["type"] == "http.disconnect":
            return await self._whole(bytearray(body), message, receive)
        if len(body) > self._most:
            raise self._too_much()
        return body

    async def _whole(self, body: bytearray, message: Message, receive: Receive) -> bytearray:
        """A body that comes in parts; together those that are awaited have a limit."""
        is_file = self._endpoint.takes == "file"  # of which there is only one
        with self._service.bodies.part() as part:
            while True:
                if message["type"] == "http.disconnect":
                    raise cut_off()
                if len(body) > self._most:
                    raise self._too_much()
                if not message.get("more_body", False):
                    return body
                if not is_file:
                    part.holds(len(body))
                message = await receive()
                body += message.get("body", b"")

    async def _answer(self, call: Call, receive: Receive) -> object:
        """The answer; one that takes a process of its own is given up once nobody waits for it."""
        if self._endpoint.takes != "file":
            return await self._endpoint.answer(self._service, call)
        answering = asyncio.ensure_future(self._endpoint.answer(self._service, call))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise cut_off()
            return answering.result()
        finally:
            leaving.cancel()
            answering.cancel()
            await asyncio.wait((answering,))  # its process has ended
            if not answering.cancelled():
                answering.exception()  # it was raised above, or nobody is left to be told

    def _too_much(self) -> Problem:
        what = "upload" if self._endpoint.takes == "file" else "body"
        return too_large(what, f"the request has more than {self._most:,} bytes", "send it in parts")


def cut_off() -> Problem:
    """What becomes of a request whose client has left; nobody is told."""
    return Problem(HTTPStatus.BAD_REQUEST, "input.cut", "the request was cut off")


async def _left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Decoder:
    """Reads bodies of the type that the model wants: texts, or rows; with one label, or several."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self._service = service
        plain: Any = msgspec.json.Decoder(endpoint.takes)
        self._by_kind: dict[Kind, tuple[Any, str]] = {}
        for kind in KINDS.values():
            shapes = endpoint.shapes(kind)
            takes = None if shapes is None else shapes.takes
            decoder = plain if takes is None or takes is endpoint.takes else msgspec.json.Decoder(takes)
            self._by_kind[kind] = decoder, "" if shapes is None else shapes.hint

    def decode(self, body: bytes | bytearray) -> Any:
        """The request; an error that says so, if it is one for a model of another kind."""
        kind = self._service.live.base.kind
        wanted, own_hint = self._by_kind[kind]
        try:
            return wanted.decode(body)
        except msgspec.ValidationError as error:
            nearest = sorted(
                self._by_kind, key=lambda other: (other[0] != kind[0]) + 1.5 * (other[1] != kind[1])
            )
            for other in nearest:
                decoder, _ = self._by_kind[other]
                if decoder is wanted:
                    continue
                with suppress(msgspec.ValidationError):
                    decoder.decode(body)
                    misfit = _misfit(error)
                    misfit.hint = self._hint(kind, other, own_hint)
                    raise misfit from error
            raise

    def _hint(self, kind: Kind, other: Kind, own: str) -> str:
        """What to send to a model of a kind, rather than what one of another takes."""
        if kind.sets != other.sets:
            return own if kind.sets and own else "the model gives one label: send `label` and not `labels`"
        if not kind.rows:
            return "the model reads one text: send `text` or `texts`"
        names = ", ".join(names_of(self._service.live.base.model))
        return f"the model reads rows: send `row` or `rows`, with {names}"


@lru_cache(maxsize=64)
def _is_local(host: bytes) -> bool:
    """Whether a host header names this machine, with or without a port."""
    name = host.decode("ascii", "replace").lower()
    return is_loopback(name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0])


def _must_be_clear(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse headers that decide something and come twice, as nobody knows which of the two counts."""
    for name, times in Counter(name for name, _ in headers).items():
        if times > 1 and name in DECISIVE:
            problem = f"the header `{name.decode()}` comes {times} times"
            raise Problem(HTTPStatus.BAD_REQUEST, "http", problem, hint="send it once")


def _query(given: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    try:
        pairs = parse_qsl(given.decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    except ValueError as error:
        raise InputError("the query has too many parameters") from error
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise InputError("a parameter of the query comes twice", hint="send it once")
    try:
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def _misfit(error: msgspec.ValidationError) -> InputError:
    """What does not fit, and where: `$.texts[3]` in msgspec's words is `texts[3]` in ours."""
    problem, _, place = str(error).partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    problem = f"`{where}`: {problem}" if where else problem
    misfit = InputError(problem, hint="see /openapi.json for the fields")
    misfit.code = "input.fields"
    return misfit


def is_open_inference(path: str) -> bool:
    """Whether a path is one of the Open Inference Protocol."""
    return path == "/v2" or path.startswith("/v2/")


async def refuse(scope: Scope, send: Send, error: TextoddsError) -> None:
    """Answer with what went wrong, in the shape of the protocol that was spoken."""
    headers = error.headers if isinstance(error, Problem) else ()
    if is_open_inference(scope["path"]):
        status, body = problems.inference_error(error)
        await respond(scope, send, status, body, JSON, headers)
        return
    status, body = problems.details(error)
    await respond(scope, send, status, body, problems.MEDIA, headers)


async def respond(
    scope: Scope, send: Send, status: int, body: bytes, media: bytes, headers: Headers = ()
) -> None:
    """Send an answer."""
    try:
        if status == HTTPStatus.OK and not headers and sent_at_once(send, media, SAFE, body):
            return
        length = str(len(body)).encode()
        named = [(b"content-type", media), (b"content-length", length), *SAFE, *headers]
        await send({"type": "http.response.start", "status": status, "headers": named})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
    except RuntimeError:  # of uvloop: who asked has gone away
        logger.debug("nobody took an answer", exc_info=True)
