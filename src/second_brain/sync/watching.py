"""Keeps the watcher going: it is started again when it died, or when another folder is the root."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from second_brain.errors import VaultOffline
from second_brain.vault.watch import Watcher

log = logging.getLogger(__name__)


class Watching:
    """`tend` and `stop` block: call them in a worker thread."""

    def __init__(self, root: Path, on_event: Callable[[], None]) -> None:
        self.watcher = Watcher(root, on_event)
        self._turn = threading.Lock()
        self._watched = self._root_lost = self._stopped = False

    def tend(self) -> bool:
        """Start the watcher where it must be; whether the root is gone, told once."""
        with self._turn:
            if self._stopped or (self.watcher.alive and not self.watcher.root_replaced()):
                return False
            try:
                # Restarting asks for a scan; at first there will be one anyway.
                (self.watcher.restart if self._watched else self.watcher.start)()
            except VaultOffline as error:
                seen, self._root_lost = self._root_lost, True
                if not seen:
                    log.warning("%s", error)
                return not seen
            self._watched, self._root_lost = True, False
            return False

    def stop(self) -> None:
        """End for good."""
        with self._turn:
            self._stopped = True
            self.watcher.stop()
