"""Refuses requests that a foreign web page could have caused: DNS rebinding and cross-site calls.

A page that rebinds its own name to 127.0.0.1 still sends its name in `Host`: every request's host
must be one of ours. A page on another site sends its `Origin`: the strict paths accept only known
ones. The REST paths accept any, because a caller that holds the bearer token is not a page that
borrowed somebody's cookie, and the bookmarklet runs on any page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from second_brain.server.responses import failure

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
CLIENT_ORIGINS = ("app://obsidian.md", "capacitor://localhost")

_MOST_ADDRESS = 64 * 1024
_MOST_HEADERS = 32 * 1024
_MOST_HEADER_LINES = 200

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@\[\]?#]+)(?::[0-9]{1,5})?")


class Sites:
    """The hosts that this server answers to and the web origins that may call it.

    A host with a port (`brain.example:8443`) is accepted with that port only, one without a port
    with any: a rebinding page can choose the port but not the name.
    """

    def __init__(self, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def knows_host(self, host: str) -> bool:
        host = host.lower()
        match = _HOST.fullmatch(host)
        return match is not None and (host in self._hosts or match[1] in self._hosts)

    def knows_origin(self, origin: str, host: str) -> bool:
        """Whether a page of `origin` may call: it is listed, or the page is our own."""
        origin = origin.lower()
        own = {f"http://{host.lower()}", f"https://{host.lower()}"}
        return origin in self._origins or (origin in own and self.knows_host(host))


class HostOriginGuard:
    """ASGI middleware: 421 for a foreign Host, 403 for a foreign Origin on a strict path.

    Before that, 414 and 431 for an address and headers that no client of ours needs.
    """

    def __init__(self, app: ASGIApp, *, sites: Sites, strict_paths: Sequence[str]) -> None:
        self._app = app
        self._sites = sites
        self._strict = frozenset(strict_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if refusal := _too_large(scope):
            await refusal(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not self._sites.knows_host(host):
            await failure(421, "This host name is not served here")(scope, receive, send)
            return
        origins = headers.getlist("origin")
        if (
            scope["path"] in self._strict
            and scope["method"] != "OPTIONS"
            and not all(self._sites.knows_origin(origin, host) for origin in origins)
        ):
            await failure(403, "This origin may not call here")(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _too_large(scope: Scope) -> Response | None:
    """Refuse what the server's own limit lets pass when it arrives in one piece."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _MOST_ADDRESS:
        return failure(414, f"The address is over the limit of {_MOST_ADDRESS} bytes")
    lines = scope["headers"]
    size = sum(len(name) + len(value) for name, value in lines)
    if size > _MOST_HEADERS or len(lines) > _MOST_HEADER_LINES:
        return failure(431, f"The headers are over the limit of {_MOST_HEADERS} bytes")
    return None
