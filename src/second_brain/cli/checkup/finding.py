"""One thing that a check found: how bad it is, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error keeps something from working; a warning may; a note is only good to know."""

Mend = Literal["rebuild-index", "prepare-model", "sweep", "chmod"]
"""What `--fix` may do: nothing that touches a note, and nothing that loses anything."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` names the subject; `path` is the file it is about; `mend` is how `--fix` mends it."""

    check: str
    severity: Severity
    message: str
    hint: str
    path: str | None = None
    mend: Mend | None = None

    @property
    def is_wrong(self) -> bool:
        return self.severity != "note"
