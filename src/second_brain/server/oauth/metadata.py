"""What clients read before they log in: the documents of RFC 9728 and RFC 8414, and the challenge.

Clients look for them at different places, so each document is served at every one of those that
are in use. The addresses in them are those by which the client came.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from second_brain.server.auth import bearer_token
from second_brain.server.oauth.addresses import Addresses

SCOPE = "memories"
"""The only scope: whoever is let in may do what the owner's tools may."""

RESOURCE_PATHS = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/mcp/",
    "/mcp/.well-known/oauth-protected-resource",
)
SERVER_PATHS = (
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/mcp/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/mcp/.well-known/openid-configuration",
)
AUTHORIZE, TOKEN, REGISTER, REVOKE = "/authorize", "/token", "/register", "/revoke"

_CLIENT_AUTHENTICATION = ["none", "client_secret_post", "client_secret_basic"]


class Metadata:
    """`documents`: whether a client may be named by the address of its metadata document."""

    def __init__(self, addresses: Addresses, *, documents: bool) -> None:
        self._addresses = addresses
        self._documents = documents

    def protected_resource(self, request: HTTPConnection) -> dict[str, object]:
        return {
            "resource": self._addresses.resource(request),
            "authorization_servers": [self._addresses.base(request)],
            "scopes_supported": [SCOPE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Second Brain",
        }

    def authorization_server(self, request: HTTPConnection) -> dict[str, object]:
        base = self._addresses.base(request)
        found: dict[str, object] = {
            "issuer": base,
            "authorization_endpoint": base + AUTHORIZE,
            "token_endpoint": base + TOKEN,
            "registration_endpoint": base + REGISTER,
            "revocation_endpoint": base + REVOKE,
            "scopes_supported": [SCOPE],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
            "revocation_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "ui_locales_supported": ["en", "fr"],
        }
        if self._documents:
            # A client that reads this registers in no other way, even where this one fails.
            found["client_id_metadata_document_supported"] = True
        return found

    def challenge(self, request: HTTPConnection) -> str:
        """Return the `WWW-Authenticate` of a refused request.

        The error is named only if a token was sent: some clients take any error for the end of it
        and do not begin to log in.
        """
        parts = [
            f'resource_metadata="{self._addresses.base(request)}{RESOURCE_PATHS[1]}"',
            f'scope="{SCOPE}"',
        ]
        if bearer_token(request.scope) is not None:
            parts.insert(0, 'error="invalid_token"')
        return f"Bearer {', '.join(parts)}"
