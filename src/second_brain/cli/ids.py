"""Ids as people type them: the beginning of one is enough if no other begins so."""

from __future__ import annotations

from second_brain.cli.reach import Brain


def full_id(brain: Brain, beginning: str) -> str:
    """The id of the only memory whose id begins so. Raises Refused for none or several."""
    return str(brain.get("/history/content", id=beginning)["id"])
