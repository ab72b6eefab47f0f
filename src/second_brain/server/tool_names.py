"""Which tools only read, known without loading the protocol's schemas."""

from __future__ import annotations

READ_ONLY = frozenset({"recall", "list_recent", "get", "connections", "history"})
