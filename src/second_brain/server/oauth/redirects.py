"""Where a login may send the browser back to: what can be registered, what matches, how it looks.

Redirect URIs are handled in the form in which pydantic writes them, which is the form that a
browser makes of them: what was compared is what the browser goes to.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, urlsplit

from pydantic import AnyUrl, ConfigDict, TypeAdapter, ValidationError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_URL = TypeAdapter(AnyUrl, config=ConfigDict(url_preserve_empty_path=True))
_MAX_LENGTH = 2000
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
# A browser runs these, reads files with them, or hands them to a program that is no OAuth client.
# fmt: off
_DANGEROUS = frozenset((
    "about", "blob", "chrome", "content", "data", "feed", "file", "filesystem", "ftp", "ftps",
    "gopher", "intent", "irc", "jar", "javascript", "jnlp", "ldap", "ldaps", "mailto", "nfs",
    "news", "resource", "search", "search-ms", "sftp", "sip", "sms", "smb", "ssh", "svn", "tel",
    "telnet", "urn", "vbscript", "view-source", "vnc", "ws", "wss", "x-man-page",
))
# fmt: on
_DANGEROUS_PREFIX = "ms-"  # Windows opens its own tools by these.


def normal(uri: str) -> str | None:
    """Return the URI as a browser would write it, or None if it is none."""
    try:
        return str(_URL.validate_python(uri))
    except ValidationError:
        return None


def complaint(uri: str) -> str | None:
    """Say why a redirect URI in normal form cannot be registered, or None."""
    try:
        parts = urlsplit(uri)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return "it is not a URL"
    if len(uri) > _MAX_LENGTH:
        return f"it is longer than {_MAX_LENGTH} characters"
    if not uri.isascii() or any(c in uri for c in "\\ \"'<>`{}|^") or not uri.isprintable():
        return "it has characters that do not belong in a URL"
    if "#" in uri:
        return "it has a fragment"
    if parts.username is not None or parts.password is not None:
        return "it has a user name"
    if parts.scheme == "https":
        return None if host else "it has no host"
    if parts.scheme == "http":
        return None if host in LOOPBACK else "http is for this computer only; use https"
    dangerous = parts.scheme in _DANGEROUS or parts.scheme.startswith(_DANGEROUS_PREFIX)
    if dangerous or not _PRIVATE_SCHEME.fullmatch(parts.scheme):
        return f"the scheme {parts.scheme} is not for logins"
    if not uri[len(parts.scheme) + 1 :].startswith("/"):
        return f"{parts.scheme}: must be followed by a slash"
    return None


def matches(registered: str, given: str) -> bool:
    """Whether `given` is the registered URI, both in normal form.

    Exactly, but for the port of a loopback address: an application takes whatever port is free
    when it logs in (RFC 8252, 7.3).
    """
    if registered == given:
        return True
    one, other = urlsplit(registered), urlsplit(given)
    if one.scheme == other.scheme and one.scheme in ("http", "https"):
        port_counts = one.scheme != "http" or one.hostname not in LOOPBACK
        return _key(one, port_counts) == _key(other, port_counts) and "#" not in given
    return False


def _key(parts: SplitResult, port_counts: bool) -> tuple[object, ...]:
    return (
        parts.hostname,
        parts.port if port_counts else None,
        parts.username,
        parts.password,
        parts.path or "/",
        parts.query,
    )


def with_answer(uri: str, **answer: str | None) -> str:
    """Return the redirect URI with the answer's parameters behind those that it has."""
    added = "&".join(f"{name}={quote(value, safe='')}" for name, value in answer.items() if value)
    if not added:
        return uri
    joint = "" if uri.endswith(("?", "&")) else "&" if "?" in uri else "?"
    return f"{uri}{joint}{added}"


def is_loopback(uri: str) -> bool:
    """Whether the browser is sent to a program on its own machine by HTTP."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def place(uri: str) -> str:
    """Name where a redirect leads, for a person: host and port, or the scheme of a program."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return parts.netloc if parts.scheme == "https" else f"http://{parts.netloc}"
    return f"{parts.scheme}:"
