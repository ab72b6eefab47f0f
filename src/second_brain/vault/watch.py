"""Watches the vault with watchdog and hands out what has come to rest.

The observer's thread only queues; `poll` and `next_due` belong to one consumer, which `wake` wakes.
Events are hints that may be late, doubled or lost; where some are known to be lost, a rescan is
due.
"""

from __future__ import annotations

import errno
import logging
import os
import time
import warnings
from collections import deque
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from second_brain.errors import VaultOffline
from second_brain.vault.paths import is_hidden, is_markdown
from second_brain.vault.settle import Due, Settler

_log = logging.getLogger(__name__)
_OBSERVERS = logging.getLogger("watchdog.observers")
_EVENTS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_LIMITS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE}


class Watcher:
    """Watches `root`. `wake` is called from watchdog's threads when there is something to poll.

    `polling` compares listings every `interval` seconds instead of asking the system: for network
    disks, which report nothing. It is also what happens when the system allows no more watches.
    """

    def __init__(
        self,
        root: Path,
        wake: Callable[[], None],
        *,
        polling: bool = False,
        interval: float = 2.0,
        settler: Settler | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root = root.resolve()
        self.polling = polling
        self._wake = wake
        self._interval = interval
        self._settler = settler or Settler()
        self._clock = clock
        self._queue: deque[tuple[FileSystemEvent | None, float]] = deque()
        self._woken = False
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None
        self._overflow = _OverflowHandler(self._lost)

    @property
    def alive(self) -> bool:
        """Whether all threads of the observer run. False before `start` and after `stop`."""
        observer = self._observer
        return (
            observer is not None
            and observer.is_alive()
            and bool(observer.emitters)
            and all(emitter.is_alive() for emitter in observer.emitters)
        )

    def root_replaced(self) -> bool:
        """Whether another folder, or none, is where the watched one was: restart when one is back.

        The system goes on reporting the old folder under its old path, and nothing of the new one.
        """
        return self._identity != _identity(self.root)

    def start(self) -> None:
        """Begins to watch; what happens from now on is seen. VaultOffline if there is no folder."""
        if self._observer is not None:
            return
        _tame_watchdog(self._overflow)
        try:
            self._observer = self._started()
        except OSError as error:
            _OBSERVERS.removeHandler(self._overflow)
            raise VaultOffline(
                f"The vault {self.root} cannot be watched: {error.strerror or error}."
            ) from error

    def stop(self) -> None:
        """Ends the threads; what is pending stays pending."""
        observer, self._observer = self._observer, None
        _OBSERVERS.removeHandler(self._overflow)
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(timeout=10)

    def restart(self) -> None:
        """Watches anew, after the observer died or the root was replaced, and asks for a rescan."""
        self.stop()
        self.start()
        self._lost()

    def poll(self, now: float | None = None) -> Due:
        """Takes in what was reported and returns what has come to rest by `now`."""
        self._drain()
        return self._settler.due(self._clock() if now is None else now)

    def moves(self) -> dict[str, str]:
        """The moves that were reported but have not come to rest: new path to old path."""
        self._drain()
        return self._settler.moves()

    def next_due(self) -> float | None:
        """Seconds until `poll` has something if nothing new happens; None if nothing waits."""
        self._drain()
        due = self._settler.next_due()
        return None if due is None else max(0.0, due - self._clock())

    def _started(self) -> BaseObserver:
        try:
            return self._observe(polling=self.polling)
        except OSError as error:
            if self.polling or error.errno not in _LIMITS:
                raise
            _log.warning(
                "The system's limit of watched folders or open files is reached;"
                " the vault is compared every %s seconds instead.",
                self._interval,
            )
            self.polling = True
            return self._observe(polling=True)

    def _observe(self, *, polling: bool) -> BaseObserver:
        self._identity = _identity(self.root)
        if self._identity is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such folder")
        observer = PollingObserver(timeout=self._interval) if polling else Observer()
        observer.schedule(
            _Handler(self._take), str(self.root), recursive=True, event_filter=_EVENTS
        )
        observer.start()
        return observer

    # Called from watchdog's threads.

    def _take(self, event: FileSystemEvent) -> None:
        if self._matters(event):
            self._put(event)

    def _lost(self) -> None:
        self._put(None)

    def _put(self, event: FileSystemEvent | None) -> None:
        self._queue.append((event, self._clock()))
        if not self._woken:  # One call for a burst: the consumer takes in all of it.
            self._woken = True
            self._wake()

    def _matters(self, event: FileSystemEvent) -> bool:
        paths = [p for p in (event.src_path, event.dest_path) if p]
        relative = [r for r in map(self._relative, paths) if r is not None]
        if event.is_directory:
            return any(not is_hidden(path) for path in relative)
        return any(_is_note(path) for path in relative)

    # Called by the consumer.

    def _drain(self) -> None:
        self._woken = False
        while self._queue:
            event, when = self._queue.popleft()
            if event is None:
                self._settler.rescan(when)
            elif event.is_directory:
                self._folder(event, when)
            else:
                self._file(event, when)

    def _file(self, event: FileSystemEvent, when: float) -> None:
        path = self._note(event.src_path)
        if event.event_type == "moved":
            target = self._note(event.dest_path)
            if path and target:
                self._settler.moved(path, target, when)
            elif target:
                self._settler.changed(target, when)
            elif path:
                self._settler.deleted(path, when)
        elif path and event.event_type == "deleted":
            self._settler.deleted(path, when)
        elif path and event.event_type == "created":
            self._settler.created(path, when)
        elif path:
            self._settler.changed(path, when)

    def _folder(self, event: FileSystemEvent, when: float) -> None:
        """A folder's files are reported one by one, but not on every system, nor all of them."""
        gone = event.event_type in ("deleted", "moved")
        for raw, is_gone in ((event.src_path, gone), (event.dest_path, False)):
            path = self._relative(raw) if raw else None
            if path == "":
                self._settler.rescan(when)
            elif path and not is_hidden(path):
                self._settler.subtree(path, when, gone=is_gone and event.event_type == "deleted")

    def _note(self, raw: bytes | str) -> str | None:
        path = self._relative(raw) if raw else None
        return path if path and _is_note(path) else None

    def _relative(self, raw: bytes | str) -> str | None:
        """Vault-relative with `/`; None for what is outside or has no proper name."""
        text = os.fsdecode(raw)
        root = str(self.root)
        if text == root:
            return ""
        if not text.startswith(root + os.sep):
            return None
        path = text[len(root) + 1 :]
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return None  # A scan names such files.
        return path.replace(os.sep, "/")


class _Handler(FileSystemEventHandler):
    def __init__(self, take: Callable[[FileSystemEvent], None]) -> None:
        super().__init__()
        self._take = take

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._take(event)


class _OverflowHandler(logging.Handler):
    """watchdog tells only the log when the system has dropped events."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage() or "Cannot take a snapshot" in record.getMessage():
            self._lost()


def _tame_watchdog(overflow: logging.Handler) -> None:
    # Kilobytes of this are printed when folders come and go quickly; it is harmless.
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
    _OBSERVERS.addHandler(overflow)
    if not _OBSERVERS.isEnabledFor(logging.WARNING):
        _OBSERVERS.setLevel(logging.WARNING)


def _is_note(path: str) -> bool:
    return is_markdown(path) and not is_hidden(path)


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        found = root.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
