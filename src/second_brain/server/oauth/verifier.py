"""Recognises issued access tokens, for this server only, at the cost of a look into a table."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable

from starlette.requests import HTTPConnection

from second_brain.errors import WriteFailed
from second_brain.index.logins import Logins, Token
from second_brain.server.auth import Principal
from second_brain.server.oauth.addresses import Addresses
from second_brain.server.oauth.grants import ACCESS_PREFIX, Grants
from second_brain.server.oauth.names import shown_name

_REMEMBERED = 1000
_NOTE_EVERY_MS = 60_000


class IssuedTokens:
    """A `TokenVerifier`. Tokens that were good are remembered until some login ends."""

    def __init__(
        self,
        logins: Logins,
        grants: Grants,
        addresses: Addresses,
        clock_ms: Callable[[], int],
    ) -> None:
        self._grants = grants
        self._addresses = addresses
        self._clock = clock_ms
        self._logins = logins
        self._good: dict[bytes, Token] = {}
        self._good_at = logins.endings
        self._noted: dict[int, int] = {}

    async def verify(self, token: bytes, connection: HTTPConnection) -> Principal | None:
        if not token.startswith(ACCESS_PREFIX.encode()):
            return None
        found = await self._look_up(token)
        if found is None:
            return None
        if not self._addresses.is_ours(found.login.resource, connection):
            return None
        await self._note(found.login.n)
        return Principal(client=shown_name(found.login.client_name))

    async def _look_up(self, token: bytes) -> Token | None:
        digest, now, endings = hashlib.sha256(token).digest(), self._clock(), self._logins.endings
        if endings != self._good_at or len(self._good) >= _REMEMBERED:
            self._good, self._good_at = {}, endings
        good = self._good.get(digest)
        if good is not None and good.expires_at > now:
            return good
        found = await asyncio.to_thread(self._grants.of_access, token.decode("latin-1"))
        if found is not None and self._good_at == endings:
            self._good[digest] = found
        return found

    async def _note(self, login: int) -> None:
        now = self._clock()
        if now - self._noted.get(login, 0) < _NOTE_EVERY_MS:
            return
        if len(self._noted) >= _REMEMBERED:
            self._noted.clear()
        self._noted[login] = now
        # A full disk is no reason to refuse a request.
        with contextlib.suppress(WriteFailed):
            await asyncio.to_thread(self._logins.used, login, now)
