"""Finding the running daemon that a command means, and asking it over HTTP."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from second_brain.config import Settings
from second_brain.errors import SecondBrainError, SettingsError
from second_brain.instance import DaemonInfo, running_daemon, running_daemons, vault_folder

_TIMEOUT = 10.0


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
    """The JSON that the daemon answers to GET `path`; `SecondBrainError` where it does not.

    Straight to the socket: a proxy set for the web has no business with this machine's loopback.
    """
    address = urlsplit(daemon.url)
    connection = http.client.HTTPConnection(
        address.hostname or "", address.port or 80, timeout=_TIMEOUT
    )
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise SecondBrainError(f"The daemon at {daemon.url} does not answer: {error}.") from error
    finally:
        connection.close()
    if answer.status == http.client.UNAUTHORIZED:
        raise SecondBrainError(
            f"The daemon at {daemon.url} runs with another token; "
            f"set SECOND_BRAIN_AUTH_TOKEN to the one it was started with."
        )
    try:
        found = json.loads(body)
    except ValueError as error:
        raise SecondBrainError(
            f"The daemon at {daemon.url} answered {path} with something that is not JSON."
        ) from error
    if answer.status != http.client.OK:
        raise SecondBrainError(f"The daemon at {daemon.url} answered {path} with {answer.status}.")
    return found
