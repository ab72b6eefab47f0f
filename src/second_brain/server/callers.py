"""Names the program behind a request, for the history of writes."""

from __future__ import annotations

import re

_PRODUCT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]*")


def client_name(user_agent: str) -> str:
    """Return the program's name out of a User-Agent: `claude-code/2.1 (cli)` is `claude-code`."""
    if "obsidian/" in user_agent.lower():
        return "obsidian"
    match = _PRODUCT.match(user_agent.partition("/")[0].strip())
    if match is None:
        return "unknown"
    return "browser" if match[0] == "Mozilla" else match[0].strip()[:80]
