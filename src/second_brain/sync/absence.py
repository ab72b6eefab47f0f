"""When missing notes mean an absent vault instead of deleted notes. Pure.

A vault that vanished (unmounted, evicted, permission lost) or that lost most of its notes at once
is offline: nothing is dropped from the index until the notes are back or the user says so.
"""

from __future__ import annotations

MIN_MISSING = 10
MAX_SHARE = 0.3


def reason_to_hold(known: int, missing: int, *, root_present: bool, root_empty: bool) -> str | None:
    """Why `missing` of `known` notes must not be taken for deleted; None when they may be.

    Held are: a root that is not there; a root without a single entry where there were two notes
    or more (an unmounted disk leaves an empty folder); a loss of more than 10 notes that is more
    than 30 % of them in one go.
    """
    if missing <= 0:
        return None
    if not root_present:
        return "the vault folder is not there"
    if root_empty and known >= 2:
        return "the vault folder is empty"
    if missing > MIN_MISSING and missing > known * MAX_SHARE:
        return f"{missing} of {known} notes vanished at once"
    return None
