"""A whole brain for tests: the daemon's own graph on a vault, its loop in a thread."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from second_brain.config import Settings
from second_brain.config.settings import SyncSettings
from second_brain.daemon import Daemon
from second_brain.index.embedding import Embedder
from second_brain.instance import make_private_folder, vault_folder
from second_brain.memory.model import Caller, RecallAnswer, RecallQuery, Remembered
from second_brain.memory.scribe import Settling
from second_brain.memory.service import MemoryService
from second_brain.report import Silent

T = TypeVar("T")

AGENT = Caller("a test", "pytest")
AT_ONCE = Settling(user=0.0, own=0.0, patience=5.0)
LONG_AGO = 1_700_000_000


class Brain:
    """`Daemon` on `vault`, everything of it real. `watch=False`: files are read when told."""

    def __init__(
        self,
        vault: Path,
        data: Path,
        load: Callable[[str], Embedder],
        *,
        settling: Settling = AT_ONCE,
        watch: bool = False,
        sync: SyncSettings | None = None,
    ) -> None:
        vault.mkdir(parents=True, exist_ok=True)
        self.vault = vault
        self._load = load
        settings = Settings(vault=vault, data_dir=data, model_dir=data / "models")
        self.settings = replace(settings, sync=sync or settings.sync)
        self._settling = settling
        self._watch = watch
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._running: Any = None
        self.daemon: Daemon = None  # type: ignore[assignment]

    def start(self, *, ready: bool = True) -> Self:
        """`ready`: with the model loaded and the vault read."""
        self._thread.start()

        async def start() -> None:
            folder = vault_folder(self.settings)
            make_private_folder(folder.path)
            self.daemon = Daemon(
                self.settings,
                folder,
                report=Silent(),
                settling=self._settling,
                watch=self._watch,
                load=self._load,
            )
            self._running = self.daemon.running()
            await self._running.__aenter__()

        self.run(start())
        if ready:
            self.wait_ready()
        return self

    def close(self) -> None:
        if self._running is not None:
            self.run(self._running.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, work: Coroutine[Any, Any, T], within: float = 60.0) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(within)

    def together(self, *works: Coroutine[Any, Any, T]) -> list[T]:
        async def run() -> list[T]:
            return list(await asyncio.gather(*works))

        return self.run(run())

    def wait_ready(self) -> None:
        def ready() -> bool:
            daemon = self.daemon
            return (
                daemon.index.encoder.state == "ready"
                and daemon.sync.last_scan is not None
                and daemon.catalog.counts().unembedded == 0
                and not daemon.index.building
                and not daemon.index.outdated
            )

        eventually(ready, within=60)

    # The vault

    def path(self, path: str) -> Path:
        return self.vault / path

    def bytes(self, path: str) -> bytes:
        return self.path(path).read_bytes()

    def write(self, path: str, text: str | bytes, *, age: float | None = None) -> str:
        """A file as a user leaves it behind: `age` seconds old, else long ago; not read yet."""
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        when = time.time() - age if age is not None else LONG_AGO
        os.utime(file, (when, when))
        return path

    def note(self, path: str, text: str | bytes, *, age: float | None = None) -> str:
        """A user's note, taken in; its id."""
        self.take_in(self.write(path, text, age=age))
        return self.id(path)

    def take_in(self, *paths: str) -> None:
        self.run(self.daemon.engine.take_in(paths, urgent=True))

    def scan(self) -> None:
        self.run(self.daemon.sync.scan())

    def id(self, path: str) -> str:
        row = self.daemon.catalog.by_path(path)
        assert row is not None, f"{path} is not in the catalogue"
        return row.id

    def files(self) -> dict[str, bytes]:
        """Every file of the vault, the trash too."""
        return {
            file.relative_to(self.vault).as_posix(): file.read_bytes()
            for file in sorted(self.vault.rglob("*"))
            if file.is_file()
        }

    # The use cases, shortened

    @property
    def memories(self) -> MemoryService:
        return self.daemon.memories

    def remember(self, content: str, **options: Any) -> Remembered:
        return self.run(self.memories.remember(content, caller=AGENT, **options))

    def remembered(self, content: str, **options: Any) -> tuple[str, str]:
        """Remember something that must be stored: its id and path."""
        answer = self.remember(content, **options)
        assert answer.outcome in ("stored", "similar"), answer
        assert answer.id is not None
        assert answer.path is not None
        return answer.id, answer.path

    def recall(self, query: str, **options: Any) -> RecallAnswer:
        return self.run(self.memories.recall(RecallQuery(query, **options)))

    def found(self, query: str, **options: Any) -> list[str]:
        """The paths of what a recall returns."""
        return [hit.memory.path for hit in self.recall(query, **options).hits]


def eventually(check: Callable[[], T], *, within: float = 30.0, every: float = 0.02) -> T:
    """The first truthy value of `check`."""
    deadline = time.monotonic() + within
    while True:
        value = check()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {within} s; last: {value!r}"
        time.sleep(every)
