"""What a single value must be beyond its type: pure checks that return a complaint or None.

A complaint completes the sentence "<setting> must be ...".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit


def not_blank(value: str) -> str | None:
    return None if value.strip() else "a name"


def one_address(value: str) -> str | None:
    return None if value.strip() else "a folder or an address"


def one_word(what: str) -> Callable[[str], str | None]:
    """A check for text without spaces; `what` says what the text stands for."""

    def check(value: str) -> str | None:
        return None if value and not any(c.isspace() for c in value) else f"{what} without spaces"

    return check


def each(check: Callable[[str], str | None]) -> Callable[[Sequence[str]], str | None]:
    """A check for a list each of whose items passes `check`."""

    def check_all(values: Sequence[str]) -> str | None:
        complaint = next(filter(None, map(check, values)), None)
        return f"a list in which each item is {complaint}" if complaint else None

    return check_all


def token(value: str) -> str | None:
    # A header carries it, so a space or an accent would make every request fail later.
    if value and all("!" <= c <= "~" for c in value):
        return None
    return "plain ASCII characters without spaces"


def base_url(value: str) -> str | None:
    complaint = "a URL without a path, such as https://brain.example.org"
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return complaint
    extra = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    usable = parts.scheme in ("http", "https") and host and not extra
    return None if usable else complaint


def web_address(value: str) -> str | None:
    complaint = "a URL, such as http://127.0.0.1:11434/v1"
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return complaint
    extra = parts.query or parts.fragment or parts.username or any(c.isspace() for c in value)
    return None if parts.scheme in ("http", "https") and host and not extra else complaint


def network(value: str) -> str | None:
    # Seldom set, and every command reads the settings.
    from ipaddress import ip_network  # noqa: PLC0415

    try:
        ip_network(value, strict=False)
    except ValueError:
        return "an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
    return None


def folder(value: str) -> str | None:
    """A folder inside the vault that Obsidian shows: relative, no `..`, nothing hidden."""
    path = PurePosixPath(value)
    inside = value.strip() and not path.is_absolute() and path.parts and "\\" not in value
    if inside and not any(part.startswith(".") for part in path.parts):
        return None
    return 'a folder inside the vault, such as "Second Brain"'


def sync_tags(values: Sequence[str]) -> str | None:
    if not values:
        return "at least one tag"
    for value in values:
        name = value.removeprefix("#")
        usable = name and not any(c.isspace() or c in "#,[]|^" for c in name)
        if not usable or name.isdigit() or "" in name.split("/"):
            return 'tags as Obsidian writes them, such as "brain"'
    return None
