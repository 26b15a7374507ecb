"""The service as an ASGI application."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.routing import Route, Router

from textodds.serve.endpoint import Handler, Receive, Scope, Send, refuse
from textodds.serve.problems import Problem
from textodds.serve.routes import ENDPOINTS
from textodds.serve.service import Service


class App:
    """Sends requests to their endpoints; those that are nobody's are refused here."""

    def __init__(self, service: Service) -> None:
        handlers = {(each.method, each.path): Handler(each, service) for each in ENDPOINTS}
        self._plain = {place: handler for place, handler in handlers.items() if "{" not in place[1]}
        routes = [Route(path, handler, methods=[method]) for (method, path), handler in handlers.items()]
        self._router = Router(routes, redirect_slashes=False, default=nowhere)  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        plain = self._plain.get((scope["method"], scope["path"]))
        if plain is not None:  # most requests need no patterns to find their way
            await plain(scope, receive, send)
            return
        scope["app"] = self
        try:
            await self._router(scope, receive, send)  # type: ignore[arg-type]
        except HTTPException as error:  # the path is known, the method is not
            headers = tuple((name.lower().encode(), v.encode()) for name, v in (error.headers or {}).items())
            status = HTTPStatus(error.status_code)
            problem = f"`{scope['path']}` does not take {scope['method']}"
            await refuse(scope, send, Problem(status, "method", problem[:300], headers=headers))


async def nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a path that leads nowhere."""
    problem = Problem(
        HTTPStatus.NOT_FOUND,
        "not-found",
        f"there is nothing at `{scope['path'][:200]}`",
        hint="see /openapi.json for what there is",
    )
    await refuse(scope, send, problem)
