"""The paths that applications themselves call: /register, /token, /revoke, and the metadata.

Registration and exchange are the SDK's own handlers over our store. What they lack is done before
they see a request: a body within limits, a client named by its Basic header alone, one scope for
everybody, the resource looked at.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, unquote_plus, urlencode

from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
)
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from second_brain.errors import SecondBrainError
from second_brain.server.body import Limits, read_body
from second_brain.server.endpoint import method_not_allowed
from second_brain.server.oauth.addresses import Addresses
from second_brain.server.oauth.clients import Clients
from second_brain.server.oauth.grants import Grants, Issued
from second_brain.server.oauth.metadata import REGISTER, SCOPE
from second_brain.server.responses import error_response, json_response

BODY_BYTES = 64 * 1024

Answer = Callable[[Request], Awaitable[Response]]


class OpenPath:
    """ASGI application for one path that needs no token: by method."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = dict(answers)
        if "GET" in self._answers:
            self._answers["HEAD"] = self._answers["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answers.get(scope["method"])
        try:
            if answer is None:
                response = method_not_allowed(self._answers)
            else:
                response = await answer(Request(scope, receive))
        except SecondBrainError as error:
            response = error_response(error)
        except ClientDisconnect:
            return
        await response(scope, receive, send)


class Endpoints:
    """The handlers."""

    def __init__(
        self, clients: Clients, grants: Grants, addresses: Addresses, limits: Limits
    ) -> None:
        self._clients = clients
        self._grants = grants
        self._addresses = addresses
        self._limits = Limits(min(BODY_BYTES, limits.body_bytes), limits.body_seconds)
        provider = cast(
            "OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]",
            _Provider(clients, grants),
        )
        self._authenticator = _Authenticator(provider, clients)
        self._registration = RegistrationHandler(
            provider, ClientRegistrationOptions(enabled=True, default_scopes=[SCOPE])
        )
        self._exchange = TokenHandler(provider, self._authenticator)

    async def register(self, request: Request) -> Response:
        body = await read_body(request, self._limits)
        return _uncached(await self._registration.handle(_again(request, body)))

    async def token(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return _refused("invalid_request", "each parameter may be given once")
        resource = form.get("resource")
        if resource and not self._addresses.is_ours(resource, request):
            return _refused("invalid_target", f"{resource[:200]} is not served here")
        if form.get("grant_type", "") not in ("authorization_code", "refresh_token"):
            return _refused("unsupported_grant_type", "use authorization_code or refresh_token")
        form.pop("scope", None)
        response = await self._exchange.handle(_again(request, urlencode(form).encode()))
        return _uncached(_challenged(request, response))

    async def revoke(self, request: Request) -> Response:
        """RFC 7009: end the login of a token, and say no more than that it was done."""
        form = await self._form(request)
        if form is None or not form.get("token"):
            return _refused("invalid_request", "token is missing, or a parameter came twice")
        try:
            client = await self._authenticator.authenticate_request(
                _again(request, urlencode(form).encode())
            )
        except AuthenticationError as error:
            return _challenged(request, _refused("invalid_client", error.message, 401))
        await asyncio.to_thread(self._grants.revoke, form["token"], client.client_id)
        return _uncached(Response(status_code=200))

    async def _form(self, request: Request) -> dict[str, str] | None:
        """Return the parameters, the client's id among them; None if one came twice."""
        body = await read_body(request, self._limits)
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        # Several resources are allowed by RFC 8707, but ours is only one.
        form = dict(pairs)
        if len(form) != len(pairs):
            return None
        if not form.get("client_id"):
            named = _basic_id(request.headers.get("authorization", ""))
            if named is not None:
                form["client_id"] = named
        return form


class _Provider:
    """Our store as those two of the SDK's handlers ask for it that are used here."""

    def __init__(self, clients: Clients, grants: Grants) -> None:
        self._clients = clients
        self._grants = grants

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        found = await self._clients.known(client_id)
        return found.information if found else None

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        await self._clients.register(client_info)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        found = await asyncio.to_thread(self._grants.of_code, authorization_code, client.client_id)
        if found is None:
            return None
        return AuthorizationCode(
            code=authorization_code,
            scopes=[SCOPE],
            expires_at=math.inf,  # looked at already
            client_id=client.client_id,
            code_challenge=found.login.challenge,
            redirect_uri=AnyUrl(found.login.redirect_uri),
            redirect_uri_provided_explicitly=True,
            resource=found.login.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        return _bearer(
            await asyncio.to_thread(
                self._grants.exchange_code,
                authorization_code.code,
                client.client_id,
                renewable="refresh_token" in client.grant_types,
            )
        )

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        found = await asyncio.to_thread(self._grants.of_refresh, refresh_token, client.client_id)
        if found is None:
            return None
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=[SCOPE])

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        return _bearer(
            await asyncio.to_thread(
                self._grants.exchange_refresh, refresh_token.token, client.client_id
            )
        )


class _Authenticator(ClientAuthenticator):
    """The SDK's compares a secret that it reads from the store; ours has only its digest."""

    def __init__(self, provider: Any, clients: Clients) -> None:
        super().__init__(provider)
        self._clients = clients

    async def authenticate_request(self, request: Request) -> OAuthClientInformationFull:
        form = await request.form()
        client_id = form.get("client_id")
        client = await self._clients.known(client_id) if isinstance(client_id, str) else None
        if client is None:
            raise AuthenticationError("This client is not registered; register again")
        secret = form.get("client_secret")
        header = _basic(request.headers.get("authorization", ""))
        if header is not None:
            if header[0] != client.id:
                raise AuthenticationError("The header names another client")
            secret = header[1]
        if not client.authenticates(secret if isinstance(secret, str) else None):
            raise AuthenticationError("The client secret is missing or wrong")
        return client.information


def _bearer(issued: Issued | None) -> OAuthToken:
    if issued is None:
        raise TokenError("invalid_grant", "it was used already, or has ended")
    return OAuthToken(
        access_token=issued.access,
        expires_in=issued.seconds,
        refresh_token=issued.refresh,
        scope=SCOPE,
    )


def _basic(header: str) -> tuple[str, str] | None:
    """Return id and secret of a Basic header (RFC 6749, 2.3.1), or None."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        id_, colon, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (unquote_plus(id_), unquote_plus(secret)) if colon else None


def _basic_id(header: str) -> str | None:
    found = _basic(header)
    return found[0] if found else None


def _again(request: Request, body: bytes) -> Request:
    """Return a request for the SDK's handlers: the same, with a body that was read already."""
    scope = {**request.scope, "headers": list(request.scope["headers"])}
    headers = MutableHeaders(scope=scope)
    if scope["path"] != REGISTER:
        headers["content-type"] = "application/x-www-form-urlencoded"
    headers["content-length"] = str(len(body))

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(scope, receive)


def _refused(error: str, description: str, status: int = 400) -> Response:
    headers = {"Pragma": "no-cache"}
    return json_response({"error": error, "error_description": description}, status, headers)


def _challenged(request: Request, response: Response) -> Response:
    """Name the scheme to a client that failed by it (RFC 6749, 5.2)."""
    if response.status_code == 401 and "authorization" in request.headers:
        response.headers["WWW-Authenticate"] = 'Basic realm="Second Brain"'
    return response


def _uncached(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    response.headers["Pragma"] = "no-cache"
    return response
