"""One path of the REST side: authentication first, then the method, then the handler's answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from second_brain.errors import SecondBrainError
from second_brain.memory.model import Caller
from second_brain.server.auth import Authenticator, Principal
from second_brain.server.body import Limits, read_body
from second_brain.server.callers import client_name
from second_brain.server.responses import RequestRefused, error_response, failure, json_response
from second_brain.server.validation import Fields, parse_object


class Call:
    """One authenticated request, as a handler sees it."""

    def __init__(self, request: Request, principal: Principal, limits: Limits) -> None:
        self._request = request
        self._principal = principal
        self._limits = limits
        self.query = Fields(dict(request.query_params), lenient=True)
        self.place = Fields(dict(request.path_params), lenient=True)

    async def body(self) -> Fields:
        """Return the fields of the JSON body.

        Raises:
            RequestRefused: too large, too slow, or not a JSON object.
        """
        value = parse_object(await read_body(self._request, self._limits))
        if value is None:
            raise RequestRefused(400, "Invalid JSON")
        return Fields(value, lenient=False)

    def header(self, name: str) -> str | None:
        """Return a header of the request."""
        return self._request.headers.get(name)

    @property
    def by_owner(self) -> bool:
        """Whether the owner's own token was sent, and not one that an application was given."""
        return self._principal.client is None

    def caller(self, tool: str, client: str | None = None) -> Caller:
        """Return who asks: the application that owns the token, else `client`, else the program."""
        agent = self._request.headers.get("user-agent", "")
        return Caller(client=self._principal.client or client or client_name(agent), tool=tool)


Handler = Callable[[Call], Awaitable[object]]
"""Returns a value to be sent as JSON with status 200, or a `Response`."""


class Endpoint:
    """ASGI application for one path.

    An instance rather than a function, and without Starlette's own check of methods: the token is
    asked for first, whatever the method, so that a stranger learns nothing and an OAuth client
    that probes with GET or HEAD finds the challenge.
    """

    def __init__(
        self, handlers: Mapping[str, Handler], authenticator: Authenticator, limits: Limits
    ) -> None:
        self._handlers = dict(handlers)
        if "GET" in self._handlers:
            self._handlers["HEAD"] = self._handlers["GET"]
        self._authenticator = authenticator
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except SecondBrainError as error:
            response = error_response(error)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        principal = await self._authenticator.identify(request)
        if principal is None:
            return unauthorized(self._authenticator.challenge(request))
        handler = self._handlers.get(request.method)
        if handler is None:
            return method_not_allowed(self._handlers)
        value = await handler(Call(request, principal, self._limits))
        if isinstance(value, StreamingResponse) and request.method == "HEAD":
            # Nobody reads the stream, and it may have no end.
            return Response(headers=value.headers)
        return value if isinstance(value, Response) else json_response(value)


def unauthorized(challenge: str) -> Response:
    """Answer a request without a valid token."""
    return failure(401, "Unauthorized", {"WWW-Authenticate": challenge})


def method_not_allowed(allowed: Mapping[str, object]) -> Response:
    """Answer a method that this path does not have."""
    return failure(405, "Method not allowed", {"Allow": ", ".join([*sorted(allowed), "OPTIONS"])})
