"""Runs a service until it is told to stop: the application, sockets, signals, and an orderly end."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from http import HTTPStatus

import uvicorn
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from textodds.errors import InputError, Shrunk, TextoddsError
from textodds.serve.endpoint import Handler, refuse
from textodds.serve.guard import GuardProtocol, watch
from textodds.serve.protocol.problems import Problem
from textodds.serve.routes import ENDPOINTS
from textodds.serve.service import Service
from textodds.serve.settings import Settings

logger = logging.getLogger("textodds.serve")

SWITCH = 0.001  # seconds for which a thread that learns may keep Python's lock from one that answers


class App:
    """Sends requests to their endpoints; those that are nobody's are refused here."""

    def __init__(self, service: Service) -> None:
        handlers = {(each.method, each.path): Handler(each, service) for each in ENDPOINTS}
        self._plain = {place: handler for place, handler in handlers.items() if "{" not in place[1]}
        self._plain["GET", "/v2/"] = handlers["GET", "/v2"]  # as the protocol's own OpenAPI has it
        routes = [Route(path, handler, methods=[method]) for (method, path), handler in handlers.items()]
        self._router = Router(routes, redirect_slashes=False, default=_nowhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        plain = self._plain.get((scope["method"], scope["path"]))
        if plain is not None:  # most requests need no patterns to find their way
            await plain(scope, receive, send)
            return
        scope["app"] = self
        try:
            await self._router(scope, receive, send)
        except HTTPException as error:  # the path is known, the method is not
            headers = tuple((name.lower().encode(), v.encode()) for name, v in (error.headers or {}).items())
            status = HTTPStatus(error.status_code)
            problem = f"`{scope['path']}` does not take {scope['method']}"
            await refuse(scope, send, Problem(status, "method", problem[:300], headers=headers))


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    nothing = f"there is nothing at `{scope['path'][:200]}`"
    hint = "see /openapi.json for the paths"
    await refuse(scope, send, Problem(HTTPStatus.NOT_FOUND, "not-found", nothing, hint=hint))


def run(settings: Settings, ready: Callable[[Service, str], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``ready`` is called with the address once requests are answered."""
    sys.setswitchinterval(SWITCH)
    warnings.simplefilter("ignore", Shrunk)  # said when the model was trained
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a model to take the place of
    listening = listen(settings.host, settings.port)
    with listening:
        service = Service(settings)
        config = uvicorn.Config(
            App(service),
            http=GuardProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(settings.seconds) + 2,
            backlog=1024,
        )
        gc.freeze()  # what the service was made of stays: no use in looking through it again and again
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        server = uvicorn.Server(config)
        for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn raises them again once it has ended
            signal.signal(number, signal.SIG_IGN)
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(server, service, listening, ready))


async def _serve(
    server: uvicorn.Server, service: Service, listening: socket.socket, ready: Callable[[Service, str], None]
) -> None:
    settings, loop = service.settings, asyncio.get_running_loop()
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.create_task(_reload(service)))
    answering = settings.upload_seconds + settings.seconds
    watching = loop.create_task(watch(server.server_state.connections, settings.seconds, answering))
    telling = loop.create_task(_when_started(server, lambda: ready(service, address(listening))))
    await service.start()
    try:
        await server.serve(sockets=[listening])
    finally:
        watching.cancel()
        telling.cancel()
        await service.stop()


async def _when_started(server: uvicorn.Server, tell: Callable[[], None]) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    tell()


async def _reload(service: Service) -> None:
    """SIGHUP: read the tokens again, open the audit log again, and take the model file as it is now.

    A bad file of tokens, or a bad model, is refused, and the old ones stay.
    """
    service.tokens.look(again=True)
    if service.audit is not None:
        service.audit.reopen()
    try:
        changed = await service.writer.submit(service.live.reload)
    except TextoddsError as error:
        logger.error("the model was not reloaded: %s", error.problem)
    except Exception:
        logger.exception("the model was not reloaded")
    else:
        version = service.live.serving.version
        logger.warning("serving %s" if changed else "the model file has not changed: %s", version)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says why not."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"cannot listen on `{host}`: {error.strerror or error}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        hint = (
            "stop what listens there, or give another `--port`" if error.errno == errno.EADDRINUSE else None
        )
        problem = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise InputError(problem, hint=hint) from error
    return listening


def address(listening: socket.socket) -> str:
    """Where the page is."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
