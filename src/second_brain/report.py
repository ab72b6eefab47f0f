"""What the daemon tells whoever started it: the protocol, and the one that says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class StartReport(Protocol):
    """Called by the daemon, always from the thread of its event loop."""

    def started(
        self, *, vault: Path, notes: int, memories: int, url: str, token_file: Path | None
    ) -> None:
        """The daemon answers at `url`. `notes` are the vault's Markdown files.

        `memories` are those of them that the index knows so far; `token_file` is None when
        the token came from the settings.
        """
        ...

    def progress(self, done: int, total: int) -> None:
        """`done` of `total` changed notes are indexed; the last call has `done == total`."""
        ...

    def notice(self, message: str) -> None:
        """One sentence that the user should read, such as why recall works by keywords only."""
        ...

    def stopped(self) -> None:
        """Everything is written and closed."""
        ...


class Silent:
    """A report for tests and for the stdio server, whose output belongs to the client."""

    def started(
        self, *, vault: Path, notes: int, memories: int, url: str, token_file: Path | None
    ) -> None:
        return None

    def progress(self, done: int, total: int) -> None:
        return None

    def notice(self, message: str) -> None:
        return None

    def stopped(self) -> None:
        return None
