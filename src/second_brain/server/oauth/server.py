"""The parts of OAuth put together: the routes, who recognises tokens, and what a 401 says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from second_brain.index.logins import Logins
from second_brain.server.auth import StaticToken
from second_brain.server.body import Limits
from second_brain.server.endpoint import Handler
from second_brain.server.guard import Sites
from second_brain.server.oauth import metadata
from second_brain.server.oauth.addresses import Addresses
from second_brain.server.oauth.authorize import Authorization
from second_brain.server.oauth.client_list import ClientList
from second_brain.server.oauth.clients import Clients
from second_brain.server.oauth.documents import Documents
from second_brain.server.oauth.endpoints import BODY_BYTES, Endpoints, OpenPath
from second_brain.server.oauth.grants import Grants, Lifetimes
from second_brain.server.oauth.metadata import Metadata
from second_brain.server.oauth.throttle import Throttle
from second_brain.server.oauth.verifier import IssuedTokens
from second_brain.server.peers import Peers
from second_brain.server.responses import json_response


@dataclass(frozen=True, slots=True)
class OAuthParts:
    """What OAuth needs of the outside. `fetch`: None if clients must register themselves."""

    logins: Logins
    public_url: str | None = None
    fetch: Documents | None = None
    clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    lifetimes: Lifetimes | None = None
    throttle: Throttle | None = None


class OAuthServer:
    """`strict_paths`: where requests that come from foreign web pages must be refused."""

    strict_paths = (metadata.AUTHORIZE, metadata.TOKEN, metadata.REGISTER, metadata.REVOKE)

    def __init__(
        self,
        parts: OAuthParts,
        *,
        owner: StaticToken,
        sites: Sites,
        peers: Peers,
        limits: Limits,
    ) -> None:
        addresses = Addresses(sites, parts.public_url)
        grants = Grants(parts.logins, parts.clock_ms, parts.lifetimes)
        clients = Clients(parts.logins, parts.clock_ms, parts.fetch)

        async def is_owner(token: str, request: Request) -> bool:
            sent = token.encode("utf-8", "surrogatepass")
            return await owner.verify(sent, request) is not None

        self._metadata = Metadata(addresses, documents=parts.fetch is not None)
        self._endpoints = Endpoints(clients, grants, addresses, limits)
        self._authorization = Authorization(
            clients,
            grants,
            addresses,
            is_owner=is_owner,
            throttle=parts.throttle or Throttle(time.monotonic),
            peers=peers,
            limits=Limits(min(BODY_BYTES, limits.body_bytes), limits.body_seconds),
        )
        self.verifier = IssuedTokens(parts.logins, grants, addresses, parts.clock_ms)
        self.challenge = self._metadata.challenge
        self._client_list = ClientList(parts.logins, parts.clock_ms)

    def routes(self) -> list[Route]:
        """Return the paths that need no token."""
        authorization, endpoints = self._authorization, self._endpoints
        return [
            *(Route(p, OpenPath({"GET": self._resource})) for p in metadata.RESOURCE_PATHS),
            *(Route(p, OpenPath({"GET": self._server})) for p in metadata.SERVER_PATHS),
            Route(
                metadata.AUTHORIZE,
                OpenPath({"GET": authorization.ask, "POST": authorization.answer}),
            ),
            Route(metadata.TOKEN, OpenPath({"POST": endpoints.token})),
            Route(metadata.REGISTER, OpenPath({"POST": endpoints.register})),
            Route(metadata.REVOKE, OpenPath({"POST": endpoints.revoke})),
        ]

    def owner_routes(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return the paths for the owner's token."""
        return self._client_list.routes()

    async def _resource(self, request: Request) -> Response:
        return json_response(self._metadata.protected_resource(request))

    async def _server(self, request: Request) -> Response:
        return json_response(self._metadata.authorization_server(request))
