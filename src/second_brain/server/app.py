"""The one ASGI application: REST and MCP behind the same guard, token and limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from second_brain.intelligence.maintenance import Maintenance
from second_brain.intelligence.service import Intelligence
from second_brain.memory.api import Memories
from second_brain.memory.feed import Feed
from second_brain.server import dashboard_files, mcp_http, openapi
from second_brain.server.access_log import AccessLog
from second_brain.server.assistance import Assistance
from second_brain.server.auth import AnyOf, Authenticator, StaticToken, TokenVerifier
from second_brain.server.body import Limits
from second_brain.server.cors import Cors
from second_brain.server.endpoint import Endpoint
from second_brain.server.events import Events
from second_brain.server.guard import CLIENT_ORIGINS, LOOPBACK_HOSTS, HostOriginGuard, Sites
from second_brain.server.imports import Imports
from second_brain.server.mcp import MemoryServer
from second_brain.server.mcp_changes import announcing
from second_brain.server.metrics import Metrics
from second_brain.server.oauth.cutoff import CutOff
from second_brain.server.oauth.server import OAuthParts, OAuthServer
from second_brain.server.owner import Owner
from second_brain.server.peers import Peers
from second_brain.server.responses import failure
from second_brain.server.rest import Rest
from second_brain.server.reviews import ReviewList
from second_brain.server.upkeep import Upkeep

_DEFAULT_LIMITS = Limits()

Lifespan = Callable[[], AbstractAsyncContextManager[None]]


def create_app(
    memories: Memories,
    *,
    token: str | Callable[[], str],
    verifiers: Sequence[TokenVerifier] = (),
    oauth: OAuthParts | None = None,
    allowed_hosts: Sequence[str] = LOOPBACK_HOSTS,
    allowed_origins: Sequence[str] = CLIENT_ORIGINS,
    limits: Limits = _DEFAULT_LIMITS,
    query_token: bool = False,
    trusted_proxies: Sequence[str] = (),
    feed: Feed | None = None,
    intelligence: Intelligence | None = None,
    maintenance: Maintenance | None = None,
    lifespan: Lifespan | None = None,
) -> Starlette:
    """Return the application.

    Args:
        memories: the use cases.
        token: the owner's bearer token, or what gives the one in force; must not be blank.
        verifiers: who else can say that a token is valid, asked after the static one.
        oauth: where logins are kept; None if there is the static token only.
        allowed_hosts: values of `Host` that are served, with a port or for any port.
        allowed_origins: web origins that may call /mcp, besides the server's own.
        limits: what one request may cost.
        query_token: also accept `?token=`, which leaks into logs and histories.
        trusted_proxies: addresses or networks whose `X-Forwarded-For` is believed.
        feed: the changes of notes, for GET /events; None if there are none to tell of.
        intelligence: what is made of memories; by default what needs no language model.
        maintenance: what is tidied up by night; None if it cannot be asked for.
        lifespan: entered before the first request and left after the last one.

    `app.state.stop_streaming()` ends the streams that clients keep open.
    """
    owner = StaticToken(token)
    sites = Sites(allowed_hosts, allowed_origins)
    peers = Peers(trusted_proxies)
    logins = (
        OAuthServer(oauth, owner=owner, sites=sites, peers=peers, limits=limits) if oauth else None
    )
    all_verifiers = [owner, *verifiers, *((logins.verifier,) if logins else ())]
    authenticator = Authenticator(
        all_verifiers,
        query_token=query_token,
        challenge=logins.challenge if logins else None,
        peers=peers,
    )
    intelligence = intelligence or Intelligence(memories)
    server = MemoryServer(memories, intelligence)
    mcp = mcp_http.McpEndpoint(server.server, authenticator, limits)
    feed = feed or Feed()
    metrics = Metrics(memories, feed)
    parts = (
        Rest(memories, intelligence),
        Owner(memories),
        Imports(memories),
        ReviewList(memories),
        Assistance(memories, intelligence),
        Events(feed),
        metrics,
        Upkeep(maintenance),
    )
    handlers = {path: methods for part in parts for path, methods in part.routes().items()}
    handlers.update(logins.owner_routes() if logins else {})
    strict_paths = [*mcp_http.PATHS, *(logins.strict_paths if logins else ())]

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        around = lifespan() if lifespan is not None else nullcontext()
        async with around, mcp.run(), announcing(feed, server.bus):
            yield

    app = Starlette(
        routes=[
            *(Route(path, mcp) for path in mcp_http.PATHS),
            *(
                Route(path, Endpoint(methods, authenticator, limits))
                for path, methods in handlers.items()
            ),
            Route(openapi.PATH, openapi.Document(handlers), methods=["GET"]),
            *dashboard_files.routes(),
            *(logins.routes() if logins else ()),
        ],
        middleware=[
            Middleware(AccessLog, observe=metrics.observe),
            Middleware(HostOriginGuard, sites=sites, strict_paths=strict_paths),
            Middleware(Cors, sites=sites),
            Middleware(CutOff, verifier=AnyOf(all_verifiers)),
        ],
        exception_handlers={HTTPException: _http_error, Exception: _crash},
        lifespan=running,
    )
    app.router.redirect_slashes = False
    metrics.know(frozenset(route.path for route in app.routes if isinstance(route, Route)))

    def stop_streaming() -> None:
        server.stop_streaming()
        feed.close()

    app.state.stop_streaming = stop_streaming
    return app


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return failure(status, "Not found" if status == 404 else "Request refused")


async def _crash(request: Request, error: Exception) -> Response:
    """Answer for an error that nobody expected; Starlette raises it again, so that it is logged."""
    return failure(500, "Internal error; the daemon's log has the details")
