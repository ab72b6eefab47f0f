"""Why a client's file is left as it is."""

from __future__ import annotations

from second_brain.errors import SecondBrainError


class CannotEdit(SecondBrainError):
    """A text that cannot be edited without risking what is in it; nothing was written."""
