"""When a path has come to rest: many events of a file become one change, move or deletion.

Pure: no thread, no clock, no disk. Times are seconds of any one monotonic clock. What comes out is
a hint about what to look at; the disk decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SETTLE_SECONDS = 0.3
LONGEST_SECONDS = 5.0
DELETE_SECONDS = 1.5  # vim, git and many sync clients delete a path and create it again.


@dataclass(slots=True)
class Due:
    """What has come to rest. Vault-relative paths; to be worked off in this order of fields.

    `moved` holds (old, new): the new path may have changed too. `subtrees` are folders in which
    anything may have changed. `rescan`: events were lost, look at everything.
    """

    moved: list[tuple[str, str]] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    subtrees: set[str] = field(default_factory=set)
    rescan: bool = False

    def __bool__(self) -> bool:
        return bool(self.moved or self.changed or self.deleted or self.subtrees or self.rescan)

    def add(self, other: Due) -> None:
        """What has come to rest after this."""
        self.moved += other.moved
        self.changed |= other.changed
        self.deleted |= other.deleted
        self.subtrees |= other.subtrees
        self.rescan |= other.rescan


@dataclass(slots=True)
class _Pending:
    kind: Literal["changed", "deleted"]
    first: float
    last: float
    new: bool = False  # Created while pending: nobody knew this path before.
    source: str | None = None  # The path that it had before it was moved here.


class Settler:
    """Collects events of paths and hands each path out once it was left alone for a while.

    A change is due `settle` seconds after its last event, at the latest `longest` seconds after its
    first; a deletion after `delete` seconds, and if the path comes back before, it was a change.
    """

    def __init__(
        self,
        settle: float = SETTLE_SECONDS,
        longest: float = LONGEST_SECONDS,
        delete: float = DELETE_SECONDS,
    ) -> None:
        self._settle = settle
        self._longest = longest
        self._delete = delete
        self._paths: dict[str, _Pending] = {}
        self._subtrees: dict[str, _Pending] = {}
        self._rescan: _Pending | None = None

    def created(self, path: str, now: float) -> None:
        new = path not in self._paths
        self.changed(path, now)
        if new:
            self._paths[path].new = True

    def changed(self, path: str, now: float) -> None:
        pending = self._paths.get(path)
        if pending is None:
            self._paths[path] = _Pending("changed", now, now)
        else:
            if pending.kind == "deleted":
                pending.kind, pending.first = "changed", now
            pending.last = now

    def deleted(self, path: str, now: float) -> None:
        pending = self._paths.get(path)
        source = pending.source if pending else None
        self._paths[path] = _Pending("deleted", now, now, source=source)

    def moved(self, source: str, path: str, now: float) -> None:
        """`source` is now at `path`. Moves are chained; a move there and back is a change."""
        before = self._paths.pop(source, None)
        replaced = self._paths.pop(path, None)
        for name in (source if before else None, replaced.source if replaced else None):
            # Names that were passed through may have been known, too: they are looked at.
            if name is not None and name not in self._paths:
                self.deleted(name, now)
        if before is not None and before.new:
            self.changed(path, now)  # A temporary file that took the place of a note.
            return
        origin = (before.source if before else None) or source
        pending = _Pending("changed", before.first if before else now, now)
        if origin != path:
            pending.source = origin
        self._paths[path] = pending

    def subtree(self, folder: str, now: float, *, gone: bool = False) -> None:
        """Anything below `folder` may have changed; `gone` if the folder was deleted."""
        pending = self._subtrees.setdefault(folder, _Pending("changed", now, now))
        pending.kind, pending.last = ("deleted" if gone else "changed"), now

    def rescan(self, now: float) -> None:
        """Events were lost."""
        if self._rescan is None:
            self._rescan = _Pending("changed", now, now)
        self._rescan.last = now

    def moves(self) -> dict[str, str]:
        """The moves that are not due yet: new path to old path."""
        return {
            path: pending.source
            for path, pending in self._paths.items()
            if pending.kind == "changed"
            and pending.source is not None
            and not self._made_anew(pending.source)
        }

    def next_due(self) -> float | None:
        """The time at which `due` has something to say, None if nothing is pending."""
        waiting = [*self._paths.values(), *self._subtrees.values()]
        if self._rescan:
            waiting.append(self._rescan)
        return min(map(self._due_at, waiting), default=None)

    def due(self, now: float) -> Due:
        """Takes out what has come to rest by `now`."""
        result = Due()
        ripe = {path: each for path, each in self._paths.items() if self._due_at(each) <= now}
        for path, pending in ripe.items():
            if pending.kind == "deleted":
                result.deleted.add(path)
                if pending.source is not None and pending.source not in self._paths:
                    result.deleted.add(pending.source)
            elif pending.source is None or self._made_anew(pending.source):
                result.changed.add(path)
            else:
                result.moved.append((pending.source, path))
        for path in ripe:
            del self._paths[path]
        for folder in [f for f, each in self._subtrees.items() if self._due_at(each) <= now]:
            del self._subtrees[folder]
            result.subtrees.add(folder)
        if self._rescan and self._due_at(self._rescan) <= now:
            self._rescan = None
            result.rescan = True
        return result

    def _made_anew(self, source: str) -> bool:
        """Whether something new was written where `source` was: a backup, not a rename."""
        pending = self._paths.get(source)
        return pending is not None and pending.kind == "changed" and pending.source is None

    def _due_at(self, pending: _Pending) -> float:
        if pending.kind == "deleted":
            return pending.last + self._delete
        return min(pending.last + self._settle, pending.first + self._longest)
