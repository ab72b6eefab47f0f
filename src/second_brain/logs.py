"""Logging to one stream and, on request, to a file that is rotated.

Never a memory's text, never a token, never a query string.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from second_brain.errors import SettingsError


class _StandardError:
    """Whatever `sys.stderr` is at the moment: a progress bar replaces it while it is drawn."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

# Others' chatter: at debug level theirs would bury ours, and the access log would hold queries.
_QUIET = ("asyncio", "httpcore2", "httpx2", "mcp", "urllib3", "watchdog", "uvicorn.access")


_FILE_BYTES = 5_000_000
_OLD_FILES = 4


def configure(level: str, stream: TextIO | None = None, *, file: Path | None = None) -> None:
    """Send the log to `stream` (standard error by default) from `level` on: debug to error.

    With `file`, there as well. Raises SettingsError if it cannot be written.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(stream or _StandardError())]
    if file is not None:
        handlers.append(_rotated(file))
    formatter = logging.Formatter(_FORMAT)
    formatter.default_msec_format = "%s.%03d"
    for handler in handlers:
        handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=handlers, force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _rotated(file: Path) -> logging.Handler:
    # Who logs to no file does not pay for the import.
    from logging.handlers import RotatingFileHandler  # noqa: PLC0415

    class Private(RotatingFileHandler):
        """Paths of notes are in it, so it is for its owner's eyes."""

        def _open(self) -> Any:
            os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT, 0o600))
            return super()._open()

    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Private(file, maxBytes=_FILE_BYTES, backupCount=_OLD_FILES, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"The log {file} cannot be written: {error.strerror}.") from error
