"""The time, as the daemon reads it; everything below is given these, and tests give others."""

from __future__ import annotations

import time
from datetime import datetime


def clock_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000


def local_now() -> datetime:
    """This moment in the machine's zone, with the zone's rules where they can be found."""
    return datetime.now().astimezone()
