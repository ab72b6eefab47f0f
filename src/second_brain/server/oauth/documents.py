"""Fetches a client's metadata document from the address that is the client's id.

Whoever starts a login chooses that address, so it must not lead into this machine or its network:
the name is resolved once, every address that it has must be a public one, and the connection goes
to the address that was looked at. No redirect is followed and no proxy is used; size and time are
bounded.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

_MAX_BYTES = 32 * 1024
_SECONDS = 8.0
_MAX_URL = 500
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class DocumentRefused(Exception):
    """There is no usable document at the address; the message says why, for a person."""


def is_document_id(client_id: str) -> bool:
    """Whether a client id is an address of a document, rather than one that we gave."""
    return client_id.startswith("https://")


def complaint(client_id: str) -> str | None:
    """Say why a client id cannot be the address of a document, or None."""
    try:
        parts = urlsplit(client_id)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "it is not a URL"
    if parts.scheme != "https" or not host or len(client_id) > _MAX_URL:
        return "it is not an https URL of usual length"
    if not client_id.isascii() or not client_id.isprintable() or " " in client_id:
        return "it has characters that do not belong in a URL"
    if parts.username is not None or "#" in client_id or port not in (None, 443):
        return "it has a user name, a fragment or a port"
    if parts.path in ("", "/") or any(part in (".", "..") for part in parts.path.split("/")):
        return "it names no document"
    return None


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, however it is wrapped."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None and not is_public(str(inner)):
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system knows for a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class Documents:
    """Fetches documents. The parameters are for tests: names, what may be reached, trust, port."""

    def __init__(
        self,
        *,
        resolve: Resolve = resolve,
        allowed: Callable[[str], bool] = is_public,
        trust: ssl.SSLContext | None = None,
        port: int = 443,
    ) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._trust = trust
        self._port = port

    async def fetch(self, client_id: str) -> dict[str, object]:
        """Return the document.

        Raises:
            DocumentRefused: it cannot be fetched, or is not the JSON object that it must be.
        """
        import httpx2  # noqa: PLC0415 - few daemons ever fetch one

        why = complaint(client_id)
        if why is not None:
            raise DocumentRefused(f"The client id cannot be used: {why}.")
        try:
            async with asyncio.timeout(_SECONDS):
                body = await self._body(client_id)
        except TimeoutError:
            raise DocumentRefused("The document did not arrive in time.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
            raise DocumentRefused(f"The document could not be fetched: {error}.") from error
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise DocumentRefused("The document is not JSON.") from None
        if not isinstance(found, dict) or found.get("client_id") != client_id:
            raise DocumentRefused("The document is for another client id.")
        return found

    async def _body(self, client_id: str) -> bytes:
        import httpx2  # noqa: PLC0415

        parts = urlsplit(client_id)
        host = parts.hostname or ""
        addresses = await self._resolve(host, self._port)
        if not addresses or not all(self._allowed(address) for address in addresses):
            raise DocumentRefused(f"{host} is not a host of the public internet.")
        chosen = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
        target = parts._replace(netloc=f"{chosen}:{self._port}").geturl()
        async with (
            httpx2.AsyncClient(
                trust_env=False, follow_redirects=False, verify=self._trust or True
            ) as client,
            client.stream(
                "GET",
                target,
                headers={
                    "Host": host,
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",
                    "User-Agent": "second-brain",
                },
                extensions={"sni_hostname": host},
            ) as answer,
        ):
            if answer.status_code != httpx2.codes.OK:
                raise DocumentRefused(f"{host} answered with {answer.status_code}.")
            body = bytearray()
            async for chunk in answer.aiter_raw():
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise DocumentRefused("The document is too large.")
            return bytes(body)
