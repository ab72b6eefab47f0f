"""What a recall may return: the caller's filters, and the time that the question names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from second_brain.index.passages import SearchFilter
from second_brain.index.rows import NoteRow, tag_keys
from second_brain.memory import time_phrases
from second_brain.memory.model import RecallQuery


@dataclass(frozen=True, slots=True)
class Limits:
    """The filters of a recall, and the time phrase in its question where one was understood."""

    tag: str | None
    after: int | None
    before: int | None
    kind: str | None
    status: str | None
    phrase: time_phrases.TimePhrase | None

    @classmethod
    def of(cls, query: RecallQuery, phrase: time_phrases.TimePhrase) -> Limits:
        keys = tag_keys([query.tag.strip()]) if query.tag else []
        understood = phrase if phrase.phrase is not None else None
        tag = keys[-1] if keys else None
        return cls(tag, query.after, query.before, query.kind, query.status, understood)

    def without_phrase(self) -> Limits:
        return replace(self, phrase=None)

    def allow(self, row: NoteRow) -> bool:
        """Whether a neighbour in the graph may be shown: the filters hold for every result."""
        after, before = self._times()
        return (
            row.is_memory
            and self.shows(row.memory_status)
            and (after is None or row.created >= after)
            and (before is None or row.created <= before)
            and self.kind in (None, row.kind)
            and (self.tag is None or self.tag in tag_keys(row.tags))
        )

    def shows(self, status: str | None) -> bool:
        """Whether a memory of this status may be shown: a deprecated one only on request."""
        return status == self.status if self.status else status != "deprecated"

    def _times(self) -> tuple[int | None, int | None]:
        if self.phrase is None:
            return self.after, self.before
        return _later(self.after, self.phrase.after_ms), _earlier(
            self.before, self.phrase.before_ms
        )

    def filter(self) -> SearchFilter:
        after, before = self._times()
        return SearchFilter(
            tag=self.tag,
            after=after,
            before=before,
            kind=self.kind,
            status=self.status,
            exclude_deprecated=self.status is None,
        )


def _later(one: int | None, other: int | None) -> int | None:
    return max((t for t in (one, other) if t is not None), default=None)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((t for t in (one, other) if t is not None), default=None)
