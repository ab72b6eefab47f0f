"""An application's own name, fit to be shown: one line, bounded, and never empty."""

from __future__ import annotations

import unicodedata

UNNAMED = "Unnamed application"
_LONGEST = 80
# Controls, formats (which can turn the direction of text), line breaks, private and unassigned.
_UNSHOWN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def shown_name(name: str | None) -> str:
    """Return the name without what could deceive a reader; it is the application's own claim."""
    plain = "".join(" " if unicodedata.category(c) in _UNSHOWN else c for c in name or "")
    plain = " ".join(plain.split())
    if len(plain) > _LONGEST:
        plain = plain[: _LONGEST - 1].rstrip() + "…"
    return plain or UNNAMED
