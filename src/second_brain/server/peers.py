"""From which address a request came; behind a proxy of the owner's, what that proxy says of it.

`X-Forwarded-For` is a header like any other: whoever sends it may write what he likes. It counts
only as far as it was written by proxies that the configuration names.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.requests import HTTPConnection

_UNKNOWN = "unknown"
_HOME = 64


class Peers:
    """`trusted`: addresses or networks (`10.0.0.0/8`) of proxies. Raises ValueError for others."""

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        self._trusted = [ip_network(item, strict=False) for item in trusted]

    def address(self, connection: HTTPConnection) -> str:
        """Return who asks: an address, of IPv6 the network that one household has."""
        client = connection.client
        seen = _address(client.host) if client is not None else None
        if seen is None:
            return _UNKNOWN
        said = ",".join(connection.headers.getlist("x-forwarded-for")).split(",")
        while self._is_trusted(seen) and said:
            # Read from the right: each proxy adds whom it saw at the end.
            before = _address(said.pop().strip())
            if before is None:
                break
            seen = before
        if isinstance(seen, IPv6Address):
            return str(IPv6Network((seen, _HOME), strict=False))
        return str(seen)

    def _is_trusted(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._trusted)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
