"""Whether two files are versions of one note: what tells iCloud's `Name 2.md` from a second note.

Pure. Two notes that somebody began from one template are two notes.
"""

from __future__ import annotations

from collections import Counter

from second_brain.vault.frontmatter import Parts, read_properties, split
from second_brain.vault.note import ID_KEY, find_property

_MOST = 0.5
_NEARLY_ALL = 0.8


def same_note(one: bytes, other: bytes) -> bool:
    """Equal; or of one `second-brain-id` with most lines in common; or with the same properties
    (if there are any) and nearly all lines in common."""
    if one == other:
        return True
    left, right = split(one), split(other)
    shared = _shared_lines(left.body, right.body)
    if (id := _id(left)) is not None and id == _id(right):
        return shared > _MOST
    same = left.yaml.split() == right.yaml.split() != []
    return same and shared >= _NEARLY_ALL


def _id(parts: Parts) -> str | None:
    values, _ = read_properties(parts.yaml.decode("utf-8", "replace"))
    value = find_property(values, ID_KEY)
    return str(value) if isinstance(value, str | int | float) else None


def _shared_lines(one: bytes, other: bytes) -> float:
    """The share of the longer text's lines that the other has, too; blank ones do not count."""
    left, right = (
        Counter(filter(None, map(bytes.strip, text.splitlines()))) for text in (one, other)
    )
    longer = max(left.total(), right.total())
    return (left & right).total() / longer if longer else 1.0
