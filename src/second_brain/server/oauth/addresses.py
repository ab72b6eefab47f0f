"""Under which address a request reached us, and which resources are ours.

One daemon is known by several addresses (127.0.0.1, localhost, a tunnel's name). A client compares
the issuer and the resource with the address that it used, character by character, so both follow
from the request's `Host`, which the guard in front has found to be one of ours. They are plain
strings without a slash at the end.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection

from second_brain.server.guard import Sites

MCP_PATH = "/mcp"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_RESOURCE_PATHS = frozenset({"", "/", MCP_PATH, f"{MCP_PATH}/"})


class Addresses:
    """The addresses of one daemon. `public_url`: where a tunnel or proxy publishes it."""

    def __init__(self, sites: Sites, public_url: str | None) -> None:
        self._sites = sites
        self._public = _base(urlsplit(public_url)) if public_url else None

    def base(self, request: HTTPConnection) -> str:
        """Return the base URL that the caller used, such as `http://127.0.0.1:8787`."""
        host = request.headers.get("host", "").lower()
        if self.is_public(request) and self._public:
            return self._public
        return _base(urlsplit(f"http://{host}")) or f"http://{host}"

    def resource(self, request: HTTPConnection) -> str:
        """Return the URL of the MCP endpoint at the address that the caller used."""
        return self.base(request) + MCP_PATH

    def is_public(self, request: HTTPConnection) -> bool:
        """Whether the request came by the public address."""
        host = request.headers.get("host", "").lower()
        return self._public is not None and self._public in (
            _base(urlsplit(f"{scheme}://{host}")) for scheme in _DEFAULT_PORTS
        )

    def is_ours(self, resource: str, request: HTTPConnection) -> bool:
        """Whether `resource` names this server.

        By any name of ours, but not at any port: what listens at another port of this machine is
        another program, and a token that it asks for must not be one of ours.
        """
        try:
            parts = urlsplit(resource)
            base, port = _base(parts), parts.port
        except ValueError:
            return False
        if base is None or parts.path not in _RESOURCE_PATHS or parts.query or parts.fragment:
            return False
        if "?" in resource or "#" in resource or parts.username is not None:
            return False
        if base in (self._public, self.base(request)):
            return True
        ports = {_port(urlsplit(self.base(request))), (request.scope.get("server") or ("", 0))[1]}
        named = self._sites.knows_host(parts.netloc)
        return parts.scheme == "http" and named and (port or _DEFAULT_PORTS["http"]) in ports


def _base(parts: SplitResult) -> str | None:
    """Return scheme and host as a client's URL parser would write them; None if that is no URL."""
    try:
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    plain = port is None or port == _DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{host}" if plain else f"{parts.scheme}://{host}:{port}"


def _port(parts: SplitResult) -> int:
    return parts.port or _DEFAULT_PORTS[parts.scheme]
