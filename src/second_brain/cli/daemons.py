"""Finding the running daemon that a command means, and asking it over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from second_brain.cli.loopback import NoAnswer, request
from second_brain.config import Settings
from second_brain.errors import SecondBrainError, SettingsError
from second_brain.instance import DaemonInfo, running_daemon, running_daemons, vault_folder

AGENT = "brain"
"""How the history names who used the command line."""

_OK, _UNAUTHORIZED = 200, 401
_TIMEOUT = 10.0
_WRITE_TIMEOUT = 90.0


class Refused(SecondBrainError):
    """The brain answered that it will not; `status` as in HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def daemons_meant(settings: Settings) -> list[DaemonInfo]:
    """The running daemon of the vault that is set; with none set, every running daemon."""
    if settings.vault is None:
        return running_daemons(settings.data_dir)
    found = running_daemon(vault_folder(settings))
    return [found] if found else []


def daemon_meant(settings: Settings) -> DaemonInfo | None:
    """The one daemon that a command talks to, or None; several without a vault set are an error."""
    found = daemons_meant(settings)
    if len(found) > 1:
        vaults = ", ".join(info.vault for info in found)
        raise SettingsError(f"Several daemons run ({vaults}); say which with --vault.")
    return found[0] if found else None


def get_json(daemon: DaemonInfo, path: str, token: str) -> Any:
    """The JSON that the daemon answers to GET `path`; `SecondBrainError` where it does not."""
    return ask_json(daemon, "GET", path, token)


def post_json(daemon: DaemonInfo, path: str, token: str, body: Mapping[str, object]) -> Any:
    """The JSON that the daemon answers to POST `path`; `SecondBrainError` where it does not.

    A write may wait until its note has been left alone for a while.
    """
    return ask_json(daemon, "POST", path, token, body, timeout=_WRITE_TIMEOUT)


def ask_json(
    daemon: DaemonInfo,
    method: str,
    path: str,
    token: str,
    body: Mapping[str, object] | None = None,
    *,
    timeout: float = _TIMEOUT,
) -> Any:
    """The daemon's JSON; `Refused` with its own sentence where it says no. `timeout`: seconds."""
    headers = {"Authorization": f"Bearer {token}", "User-Agent": AGENT}
    sent = json.dumps(body).encode() if body is not None else None
    try:
        status, text = request(method, daemon.url + path, headers, sent, timeout=timeout)
    except NoAnswer as error:
        raise SecondBrainError(f"The daemon at {daemon.url} does not answer: {error}.") from error
    if status == _UNAUTHORIZED:
        raise SecondBrainError(
            f"The daemon at {daemon.url} runs with another token; "
            f"set SECOND_BRAIN_AUTH_TOKEN to the one it was started with."
        )
    try:
        found = json.loads(text)
    except ValueError as error:
        raise SecondBrainError(
            f"The daemon at {daemon.url} answered {path} with something that is not JSON."
        ) from error
    if status != _OK:
        said = found.get("error") if isinstance(found, dict) else None
        raise Refused(
            status,
            str(said or f"The daemon at {daemon.url} answered {path} with {status}."),
        )
    return found
