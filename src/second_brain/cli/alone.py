"""The vault opened by a command, under the daemon's lock and behind the daemon's own endpoints."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import httpx2

from second_brain.cli.daemons import AGENT, Refused
from second_brain.clock import clock_ms
from second_brain.config import Settings
from second_brain.daemon import Daemon
from second_brain.errors import IndexUnavailable
from second_brain.instance import DaemonLock, vault_folder
from second_brain.report import Silent, StartReport
from second_brain.server.auth import Authenticator, StaticToken
from second_brain.server.body import Limits
from second_brain.server.endpoint import Endpoint
from second_brain.server.imports import Imports
from second_brain.server.oauth.client_list import ClientList
from second_brain.server.owner import Owner
from second_brain.server.rest import Rest

_ATTEMPTS = 4  # each waits for the index as long as a request would


class Alone:
    """A context manager. `current`: the parts run, and the index is as the vault is now.

    Otherwise nothing runs: that is enough to look something up in the history.
    """

    url = None

    def __init__(
        self, settings: Settings, *, current: bool, report: StartReport | None = None
    ) -> None:
        self._settings = settings
        self._current = current
        self._report = report or Silent()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            folder = vault_folder(self._settings)
            opened.enter_context(DaemonLock(folder))
            self._runner = opened.enter_context(asyncio.Runner())
            self._daemon = Daemon(self._settings, folder, report=self._report, watch=False)
            if self._current:
                self._running = self._daemon.running()
                self._runner.run(self._running.__aenter__())
                opened.callback(lambda: self._runner.run(self._running.__aexit__(None, None, None)))
                self._runner.run(self._catch_up())
            else:
                opened.callback(self._daemon.close)
            self._open = opened.pop_all()
        self._token = secrets.token_hex()
        authenticator = Authenticator([StaticToken(self._token)])
        parts = (
            Rest(self._daemon.memories),
            Owner(self._daemon.memories),
            Imports(self._daemon.memories),
            ClientList(self._daemon.state.logins, clock_ms),
        )
        self._endpoints = {
            path: Endpoint(methods, authenticator, Limits())
            for part in parts
            for path, methods in part.routes().items()
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()

    def get(self, path: str, **query: object) -> Any:
        given = {name: str(value) for name, value in query.items() if value is not None}
        return self._ask("GET", path, params=given)

    def post(self, path: str, **body: object) -> Any:
        return self._ask("POST", path, json=body)

    def wait(self, seconds: float) -> None:
        """Let the parts work."""
        self._runner.run(asyncio.sleep(seconds))

    def _ask(self, method: str, path: str, **request: Any) -> Any:
        async def ask() -> httpx2.Response:
            transport = httpx2.ASGITransport(app=self._endpoints[path])
            headers = {"Authorization": f"Bearer {self._token}", "User-Agent": AGENT}
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers=headers
            ) as client:
                return await client.request(method, path, **request)

        answer = self._runner.run(ask())
        found = answer.json()
        if answer.status_code != httpx2.codes.OK:
            raise Refused(answer.status_code, str(found["error"]))
        return found

    async def _catch_up(self) -> None:
        """Read what changed in the vault. Raises VaultOffline, IndexUnavailable."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                await self._daemon.sync.scan()
                return
            except IndexUnavailable:
                if attempt == _ATTEMPTS:
                    raise
