"""Whether the AI tools that are connected would still find this brain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.errors import SecondBrainError
from second_brain.integrations.connect.clients import (
    TRANSPORTS,
    Client,
    Launch,
    client,
    program_of,
)
from second_brain.integrations.connect.connecting import entry
from second_brain.integrations.connect.places import Places

_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


def connected(places: Places, url: str) -> Iterator[Finding]:
    """`url` is where the daemon answers, or would."""
    launch = Launch(("brain",), ("brain",), ("brain",), f"{url}/mcp", None)
    for name, ways in TRANSPORTS.items():
        one = client(name, places, launch, ways[0])
        try:
            yield from _one(one, url)
        except SecondBrainError as error:
            yield Finding(
                "tools", "note", f"Whether {one.title} is connected cannot be seen: {error}",
                "Correct the file, if you use it.", str(one.config),
            )  # fmt: skip


def _one(one: Client, url: str) -> Iterator[Finding]:
    found = entry(one)
    if found is None:
        return
    program = program_of(found)
    if program is not None and Path(program).is_absolute() and not Path(program).exists():
        yield Finding(
            "tools", "warning", f"{one.title} starts {program}, which is not there.",
            f"Run: brain connect {one.name}", str(one.config),
        )  # fmt: skip
    called = str(found.get("url") or found.get("httpUrl") or "")
    if called.startswith(_LOOPBACK) and _port(called) != _port(url):
        yield Finding(
            "tools", "warning", f"{one.title} calls {called}, but the daemon's address is {url}.",
            f"Run: brain connect {one.name}, unless that is another vault's daemon.",
            str(one.config),
        )  # fmt: skip


def _port(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].rpartition(":")[2]
