"""How busy other programs keep the machine: whether a core is free for a moment's work."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

_MINUTE = 60.0


def _load_average() -> float | None:
    """Threads that wanted a core, over the last minute; None where the system does not say so."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


class OtherLoad:
    """The machine's load average without this process's own part of it.

    The load average counts this process too: a question after the other would make it look busy.
    `average` gives threads over about a minute; `used` the processor seconds of this process;
    `clock` seconds.
    """

    def __init__(
        self,
        average: Callable[[], float | None] = _load_average,
        used: Callable[[], float] = time.process_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._average = average
        self._used = used
        self._clock = clock
        self._at = clock()
        self._used_then = used()
        self._own = 0.0

    def threads(self) -> float | None:
        """How many threads of other programs wanted a core at a time; None if unknown."""
        average = self._average()
        if average is None:
            return None
        now, used = self._clock(), self._used()
        if (passed := now - self._at) > 0:
            # As the system forgets: the last minute counts for two thirds.
            kept = math.exp(-passed / _MINUTE)
            self._own = self._own * kept + (used - self._used_then) / passed * (1 - kept)
            self._at, self._used_then = now, used
        return max(0.0, average - self._own)
