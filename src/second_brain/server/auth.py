"""Who may call: bearer tokens, compared in constant time over their digests.

The static token is one `TokenVerifier`; a store of issued access tokens is another. Nothing here
logs, echoes or keeps a token.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection
from starlette.types import Scope

from second_brain.server.guessing import Guesses
from second_brain.server.peers import Peers

_SCHEME = b"bearer "


@dataclass(frozen=True, slots=True)
class Principal:
    """The owner of a valid token; `client` names a registered application, None the owner."""

    client: str | None = None


class TokenVerifier(Protocol):
    """Tells whose token this is, or None. `connection` is there for audience checks."""

    async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None: ...


class StaticToken:
    """The owner's token: a text, or a function that gives the one in force now."""

    def __init__(self, token: str | Callable[[], str]) -> None:
        self._token = token
        if not self._now().strip():
            raise ValueError("the token must not be empty")

    async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None:
        mine = _digest(self._now().encode())
        return Principal() if hmac.compare_digest(_digest(token), mine) else None

    def _now(self) -> str:
        return self._token if isinstance(self._token, str) else self._token()


class AnyOf:
    """Several verifiers as one, asked in turn."""

    def __init__(self, verifiers: Sequence[TokenVerifier]) -> None:
        self._verifiers = tuple(verifiers)

    async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None:
        for verifier in self._verifiers:
            principal = await verifier.verify(token, connection)
            if principal is not None:
                return principal
        return None


class Authenticator:
    """Asks each verifier in turn about the token that a request carries."""

    def __init__(
        self,
        verifiers: Sequence[TokenVerifier],
        *,
        query_token: bool = False,
        challenge: Callable[[HTTPConnection], str] | None = None,
        peers: Peers | None = None,
        guesses: Guesses | None = None,
    ) -> None:
        self._verifier = AnyOf(verifiers)
        self._query_token = query_token
        self._challenge = challenge
        self._peers = peers or Peers()
        self._guesses = guesses or Guesses()

    async def identify(self, connection: HTTPConnection) -> Principal | None:
        """Return the principal of the request's token; None without a token or with a wrong one.

        Who has tried several wrong ones is told so later, or RequestRefused with 429.
        """
        token = bearer_token(connection.scope)
        if token is None and self._query_token:
            token = _token_of_query(connection.scope)
        if token is None:
            return None
        principal = await self._verifier.verify(token, connection)
        if principal is not None:
            return principal
        await self._guesses.wrong(self._peers.address(connection))
        return None

    def challenge(self, connection: HTTPConnection) -> str:
        """Return the value of `WWW-Authenticate` for a request that was refused."""
        return self._challenge(connection) if self._challenge else "Bearer"


def bearer_token(scope: Scope) -> bytes | None:
    """Return the token of the only Authorization header, as sent; None if there is none.

    Bytes, because a header may carry any of them and digests need no decoding. Two headers are
    none: which of them counts is what request smuggling plays with.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(values) != 1 or values[0][: len(_SCHEME)].lower() != _SCHEME:
        return None
    token: bytes = values[0][len(_SCHEME) :].strip()
    return token or None


def _token_of_query(scope: Scope) -> bytes | None:
    pairs = parse_qsl(scope.get("query_string", b""))
    return next((value for name, value in pairs if name == b"token"), None)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
