"""Codes and tokens: how they are made, exchanged, recognised and ended.

A token is a random word of which only the digest is kept. A code is exchanged once; a refresh
token is exchanged for its successor, and for a minute again, because clients that run twice do
that. Whatever comes back later than that is in two hands, so the whole login ends. Blocking, for
worker threads; errors are those of the store.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from second_brain.index.logins import Login, Logins, Token, TokenKind

_log = logging.getLogger(__name__)

_MINUTE_MS = 60_000
_DAY_MS = 24 * 60 * _MINUTE_MS
_PREFIXES: dict[TokenKind, str] = {"code": "sbc_", "access": "sba_", "refresh": "sbr_"}
ACCESS_PREFIX = _PREFIXES["access"]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """For how long each is good, in milliseconds; `grace`: for a second exchange of a refresh.

    An access token is looked up at every use and ends with its login, so it may live for a day:
    not every client renews one in time.
    """

    code: int = 5 * _MINUTE_MS
    access: int = _DAY_MS
    refresh: int = 90 * _DAY_MS
    grace: int = _MINUTE_MS


@dataclass(frozen=True, slots=True)
class Issued:
    """What a client gets; `seconds` until the access token ends."""

    access: str
    refresh: str | None
    seconds: int


class Grants:
    """`clock_ms` gives Unix milliseconds."""

    def __init__(
        self, logins: Logins, clock_ms: Callable[[], int], lifetimes: Lifetimes | None = None
    ) -> None:
        self._logins = logins
        self._clock = clock_ms
        self._for = lifetimes or Lifetimes()

    def consent(
        self, client_id: str, *, resource: str, redirect_uri: str, challenge: str
    ) -> str | None:
        """The owner let the application in: return its code, or None if it is gone meanwhile."""
        now = self._clock()
        with self._logins.transaction():
            self._logins.prune(now)
            client = self._logins.client(client_id)
            if client is None:
                return None
            login = self._logins.begin(
                client_id, resource=resource, redirect_uri=redirect_uri, challenge=challenge, at=now
            )
            _log.info("The owner let %a in, back to %a.", client.name, redirect_uri)
            return self._new("code", login, now + self._for.code)

    def of_code(self, code: str, client_id: str) -> Token | None:
        """Return what an unused code stands for; one that was used already ends its login."""
        found = self._find(code, "code", client_id)
        if found is not None and found.used_at is not None:
            self._end(found.login, "an authorization code came twice")
            return None
        return found

    def of_refresh(self, refresh: str, client_id: str) -> Token | None:
        """Return what a refresh token stands for; one exchanged long ago ends its login."""
        found = self._find(refresh, "refresh", client_id)
        if found is None or found.used_at is None:
            return found
        if self._clock() - found.used_at > self._for.grace:
            self._end(found.login, "a refresh token that was replaced came again")
            return None
        return found

    def exchange_code(self, code: str, client_id: str, *, renewable: bool) -> Issued | None:
        """Return the first tokens; None if the code was exchanged meanwhile or is not one."""
        with self._logins.transaction():
            found = self.of_code(code, client_id)
            if found is None:
                return None
            self._logins.mark_used(_digest(code), self._clock())
            return self._issue(found.login, renewable=renewable)

    def exchange_refresh(self, refresh: str, client_id: str) -> Issued | None:
        """Return the next tokens; None if the login has ended meanwhile."""
        with self._logins.transaction():
            found = self.of_refresh(refresh, client_id)
            if found is None:
                return None
            now = self._clock()
            self._logins.mark_used(_digest(refresh), now)
            self._logins.used(found.login.n, now)
            return self._issue(found.login, renewable=True)

    def of_access(self, access: str) -> Token | None:
        """Return what an access token stands for while it is good."""
        found = self._logins.token(_digest(access))
        if found is None or found.kind != "access" or found.expires_at <= self._clock():
            return None
        return found

    def revoke(self, token: str, client_id: str) -> Login | None:
        """End the login that the token belongs to, if it is this client's; return it."""
        found = self._logins.token(_digest(token))
        if found is None or found.login.client_id != client_id:
            return None
        self._logins.end(found.login.n)
        return found.login

    def _find(self, token: str, kind: TokenKind, client_id: str) -> Token | None:
        found = self._logins.token(_digest(token))
        if found is None or found.kind != kind or found.login.client_id != client_id:
            return None
        return found if found.expires_at > self._clock() or found.used_at is not None else None

    def _issue(self, login: Login, *, renewable: bool) -> Issued:
        now = self._clock()
        return Issued(
            self._new("access", login.n, now + self._for.access),
            self._new("refresh", login.n, now + self._for.refresh) if renewable else None,
            self._for.access // 1000,
        )

    def _new(self, kind: TokenKind, login: int, expires_at: int) -> str:
        token = _PREFIXES[kind] + secrets.token_urlsafe(32)
        self._logins.add_token(_digest(token), login, kind, expires_at)
        return token

    def _end(self, login: Login, why: str) -> None:
        self._logins.end(login.n)
        _log.warning("The login of %a was ended: %s.", login.client_name, why)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
