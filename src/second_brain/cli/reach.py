"""Asking the brain, whether or not its daemon runs: over HTTP, or the vault opened here.

Both answer through the same endpoints, so a command needs to know of neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import urlencode

from second_brain.cli.daemons import ask_json, daemon_meant, post_json
from second_brain.config import Settings, validate
from second_brain.errors import SettingsError
from second_brain.instance import DaemonInfo, find_token


class Brain(Protocol):
    """`get` and `post` return the answer's JSON; SecondBrainError says what the brain refused."""

    @property
    def url(self) -> str | None:
        """Where the daemon answers; None if this process is the one that opened the vault."""
        ...

    def get(self, path: str, **query: object) -> Any: ...

    def post(self, path: str, **body: object) -> Any: ...


class Running:
    """The daemon that runs."""

    def __init__(self, info: DaemonInfo, token: str) -> None:
        self._info = info
        self._token = token

    @property
    def url(self) -> str:
        return self._info.url

    def get(self, path: str, **query: object) -> Any:
        return ask_json(self._info, "GET", with_query(path, query), self._token)

    def post(self, path: str, **body: object) -> Any:
        return post_json(self._info, path, self._token, body)


@contextmanager
def reached(settings: Settings, *, current: bool = True) -> Iterator[Brain]:
    """The brain that the settings mean.

    Without a daemon the vault is opened under its lock; with `current`, what changed in it is read
    first. Nothing else can serve it meanwhile.
    """
    info = daemon_meant(settings)
    if info is not None:
        yield Running(info, token_of(info, settings))
        return
    validate(settings)
    from second_brain import logs
    from second_brain.cli.alone import Alone

    logs.configure("error")

    with Alone(settings, current=current) as alone:
        yield alone


def token_of(info: DaemonInfo, settings: Settings) -> str:
    """The token for a running daemon; `SettingsError` if there is none to be found."""
    token = find_token(settings)
    if token is None:
        raise SettingsError(
            f"A daemon runs at {info.url}, but there is no token in {settings.data_dir}; "
            f"set SECOND_BRAIN_AUTH_TOKEN to the one it was started with."
        )
    return token.value


def with_query(path: str, query: Mapping[str, object]) -> str:
    """`path` with the parameters that are not None."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def as_json(value: object) -> str:
    """JSON for programs, the same for every command."""
    return json.dumps(value, ensure_ascii=False, indent=2)
