"""Logging to one stream; never a memory's text, never a token, never a query string."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO


class _StandardError:
    """Whatever `sys.stderr` is at the moment: a progress bar replaces it while it is drawn."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

# Others' chatter: at debug level theirs would bury ours, and the access log would hold queries.
_QUIET = ("asyncio", "httpcore2", "httpx2", "mcp", "urllib3", "watchdog", "uvicorn.access")


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send the log to `stream` (standard error by default) from `level` on: debug to error."""
    handler: logging.StreamHandler[Any] = logging.StreamHandler(stream or _StandardError())
    formatter = logging.Formatter(_FORMAT)
    formatter.default_msec_format = "%s.%03d"
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
