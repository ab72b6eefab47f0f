"""The composition root: builds one vault's daemon out of its parts, runs and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from second_brain import __version__
from second_brain.allocator import give_memory_back
from second_brain.clock import clock_ms, local_now
from second_brain.config import Settings
from second_brain.errors import IndexUnavailable, SettingsError, VaultOffline
from second_brain.imports import collector_paused, defer_package, models_built_later
from second_brain.index.catalog import Catalog
from second_brain.index.embedding import Embedder, available_models, load_model
from second_brain.index.encoder import Encoder
from second_brain.index.index import Generation, Index
from second_brain.index.state import State
from second_brain.instance import (
    DaemonInfo,
    DaemonLock,
    TokenInForce,
    VaultFolder,
    ensure_token,
    vault_folder,
)
from second_brain.memory.capture import CaptureRules
from second_brain.memory.describe import describe
from second_brain.memory.feed import Feed
from second_brain.memory.scribe import Settling
from second_brain.memory.service import MemoryService
from second_brain.mind import Mind
from second_brain.notify import SystemdNotice
from second_brain.report import StartReport
from second_brain.server.stdio_lines import Output
from second_brain.sync.engine import Engine
from second_brain.sync.prepare import Chunking
from second_brain.sync.sync import Sync
from second_brain.vault.atomic import new_mark
from second_brain.vault.files import VaultFiles
from second_brain.vault.rules import SyncRule, load_obsidian_settings
from second_brain.vault.scan import scan

log = logging.getLogger(__name__)

_HEAD_START_SECONDS = 0.3
_RETRY_SECONDS = 60.0
_FIRST_UPKEEP_SECONDS = 120.0
_UPKEEP_SECONDS = 6 * 3600.0
_DAY_MS = 86_400_000
_MISSING_DAYS = 30
_VECTOR_DAYS = 30
_TEMPORARY_MARK = "mark of temporary files"


class Daemon:
    """One vault's parts. `running` starts them and ends them; tests build the same graph.

    `load` gives the model of a name, blocking; by default one of those that are prepared.
    """

    def __init__(
        self,
        settings: Settings,
        folder: VaultFolder,
        *,
        report: StartReport,
        settling: Settling | None = None,
        watch: bool = True,
        load: Callable[[str], Embedder] | None = None,
    ) -> None:
        self.settings = settings
        self._load = load or self._prepared_model
        self._stays = watch
        self.root: Path = settings.vault_root.resolve()
        self.files = VaultFiles(self.root)
        self.catalog = Catalog.open(folder.catalog, expected=folder.state.exists())
        self.state = State.open(folder.state)
        self.files.mark = self._mark()
        self.report = report
        self.feed = Feed(str(clock_ms()))
        rule = self._rule_now()
        chunking = Chunking(settings.index.chunk_size, settings.index.chunk_overlap)
        self.index = Index(
            settings.index.uri or str(folder.index),
            self.catalog,
            self._encoder(settings.embedding.model),
            layout=chunking.layout,
        )
        self.engine = Engine(
            self.files,
            self.catalog,
            self.state,
            self.index,
            rule=rule,
            describe=describe,
            chunking=chunking,
            clock_ms=clock_ms,
            on_change=self.feed.publish,
        )
        self.sync = Sync(
            self.engine,
            self.root,
            rescan_seconds=settings.sync.rescan_seconds,
            rule_now=self._rule_later,
            watch=watch,
            on_progress=report.progress,
        )
        self.memories = MemoryService(
            self.sync,
            self.index,
            self.state,
            vault_name=self.root.name,
            chunking=chunking,
            rules=CaptureRules(
                sync_tag=settings.sync.tags[0],
                folder=settings.sync.folder,
                max_related=settings.links.max_related,
            ),
            now=local_now,
            clock_ms=clock_ms,
            new_id=lambda: str(uuid.uuid4()),
            settling=settling,
        )
        self.mind = Mind(
            settings,
            self.memories,
            self.index,
            self.catalog,
            self.state,
            tidy=lambda: self.tidy(clock_ms()),
            ready=lambda: self.sync.online and self.sync.last_scan is not None,
        )
        self._tasks: list[asyncio.Task[object]] = []

    @property
    def rule(self) -> SyncRule:
        """What is a memory, as it was when everything was compared last."""
        return self.engine.rule

    def _rule_now(self) -> SyncRule:
        """What is a memory by our settings and by those that Obsidian has now; blocking.

        Raises SettingsError if no new note could be one.
        """
        sync, obsidian = self.settings.sync, load_obsidian_settings(self.root)
        rule = SyncRule(
            tags=sync.tags,
            mode=sync.mode,
            exclude=sync.exclude,
            templates=obsidian.templates,
            ignored=obsidian.ignored if sync.respect_excluded else (),
        )
        if why := rule.path_reason(f"{sync.folder}/Any new memory.md"):
            raise SettingsError(
                f"New notes would go to {sync.folder}, where none is a memory: {why} "
                "Set another sync.folder."
            )
        return rule

    def _mark(self) -> str:
        """By which this installation knows its temporary files in the vault again."""
        mark = self.state.get_meta(_TEMPORARY_MARK)
        if mark is None:
            mark = new_mark()
            self.state.set_meta(_TEMPORARY_MARK, mark)
        return mark

    def _rule_later(self) -> SyncRule:
        """As `_rule_now`; what would keep out all new notes does not count while they come."""
        try:
            return self._rule_now()
        except SettingsError as error:
            log.warning("Obsidian's settings have changed, but are not followed. %s", error)
            return self.rule

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve what can be served at once; index, model and first scan come up beside it."""
        try:
            # Who wrote with our mark was killed: this vault is no other daemon's while we run.
            await asyncio.to_thread(lambda: self.files.sweep(mine=True))
            await self.memories.recover()
            self._tasks = [asyncio.create_task(self._come_up(), name="start")]
            yield
        finally:
            await self._end()

    async def _come_up(self) -> None:
        """Load the model, and beside it open the index, watch and scan."""
        # Importing LanceDB keeps the interpreter busy; who waited for the port is answered first.
        await asyncio.sleep(_HEAD_START_SECONDS)
        loading = asyncio.create_task(self.index.encoder.start(), name="model")
        self._tasks.append(loading)
        while True:
            try:
                if not await self.index.start(self._expected()):
                    await asyncio.to_thread(self.catalog.forget_index)
                break
            except IndexUnavailable as error:
                log.error("%s Trying again in %d s.", error, _RETRY_SECONDS)
                await asyncio.sleep(_RETRY_SECONDS)
        self.sync.start()
        self._tasks.append(asyncio.create_task(self._upkeep(), name="upkeep"))
        self._tasks.append(asyncio.create_task(self.memories.tending.run(), name="tending"))
        self._tasks += self.mind.tasks() if self._stays else []
        await loading
        await asyncio.to_thread(give_memory_back)
        if notice := self.index.encoder.notice:
            self.report.notice(notice)
        self.sync.wake()
        await self._change_generation()

    def _expected(self) -> Generation | None:
        """What the configured model will turn out to be, if it is prepared."""
        for info in available_models(self.settings.model_dir):
            if info.name == self.settings.embedding.model and info.fingerprint:
                return Generation(info.name, info.fingerprint, info.dimension, self.index.layout)
        return None

    async def _change_generation(self) -> None:
        """Build the index anew beside the old one where model or layout have changed."""
        while self.index.outdated:
            try:
                log.info("The index is built anew for another model or layout.")
                await self.index.begin_next(self._encoder)
                if await self.sync.filling.build_next(self.report.progress):
                    continue
            except IndexUnavailable as error:
                log.error("%s Trying again in %d s.", error, _RETRY_SECONDS)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _upkeep(self) -> None:
        """Forget what has been missing for long, unused vectors, old history, leftover files.

        First after a while: what a daemon left that was killed just now must not be mistaken for
        the work of one that lives.
        """
        await asyncio.sleep(_FIRST_UPKEEP_SECONDS)
        while True:
            await asyncio.to_thread(self.tidy, clock_ms())
            await asyncio.sleep(_UPKEEP_SECONDS)

    def tidy(self, now: int) -> None:
        """One round of upkeep, blocking. `now` is Unix milliseconds."""
        history = self.settings.history
        with contextlib.suppress(VaultOffline):
            self.files.sweep()
        self.catalog.purge_missing(now - _MISSING_DAYS * _DAY_MS)
        self.catalog.vectors.prune(now - _VECTOR_DAYS * _DAY_MS)
        self.state.logins.prune(now)
        self.state.prune_history(
            older_than=now - history.keep_days * _DAY_MS, max_bytes=history.max_mb * 1_000_000
        )
        give_memory_back()

    async def _end(self) -> None:
        await self.sync.stop()
        for task in self._tasks:
            task.cancel()
        for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("A background task had failed.", exc_info=outcome)
        await self.memories.finished()
        await self.mind.close()
        await self.index.close()
        self.sync.filling.ended()
        self.close()

    def close(self) -> None:
        """Let go of what the constructor opened; `running` does so by itself."""
        self.catalog.close()
        self.state.close()

    def _encoder(self, model: str) -> Encoder:
        return Encoder(lambda: self._load(model), self.catalog.vectors, clock_ms)

    def _prepared_model(self, name: str) -> Embedder:
        settings = self.settings
        return load_model(name, settings.model_dir, settings.embedding.threads or None)


Speak = Callable[[str, Callable[[], str]], Coroutine[None, None, None]]
"""Talks to one more client, by the daemon's own URL and token in force, until all is said."""


def run_daemon(settings: Settings, report: StartReport, *, speak: Speak | None = None) -> int:
    """Serve the vault over HTTP until a signal; the exit code. Raises SettingsError.

    With `speak`, also end when that ends, and take any port if the one of the settings is taken.
    """
    with collector_paused(), models_built_later():
        for package in ("mcp", "mcp.server"):  # A client, and frames that this server does without.
            defer_package(package)
        from second_brain.server.app import create_app  # noqa: PLC0415 - most of the start
        from second_brain.server.body import Limits  # noqa: PLC0415
        from second_brain.server.guard import CLIENT_ORIGINS, LOOPBACK_HOSTS  # noqa: PLC0415
        from second_brain.server.oauth.documents import Documents  # noqa: PLC0415
        from second_brain.server.oauth.server import OAuthParts  # noqa: PLC0415
        from second_brain.server.serve import HttpServer, bind  # noqa: PLC0415

    folder = vault_folder(settings)
    with DaemonLock(folder) as lock:
        listener = bind(settings.server.host, settings.server.port, or_any=speak is not None)
        port = int(listener.getsockname()[1])
        settings = replace(settings, server=replace(settings.server, port=port))
        token = ensure_token(settings)
        token_in_force = TokenInForce(token)
        daemon = Daemon(settings, folder, report=report)

        up = asyncio.Event()

        systemd = SystemdNotice()

        def started() -> None:
            up.set()
            systemd.ready()
            lock.publish(
                DaemonInfo(
                    os.getpid(), settings.server.url, str(daemon.root), __version__, clock_ms()
                )
            )
            memories = daemon.catalog.counts().memories
            asyncio.get_running_loop().run_in_executor(None, announce, memories)

        def announce(memories: int) -> None:
            # Counting the notes takes a while in a large vault; requests are served meanwhile.
            report.started(
                vault=daemon.root,
                notes=len(scan(daemon.root, daemon.rule.path_reason).found),
                memories=memories,
                url=settings.server.url,
                token_file=token.file,
            )

        app = create_app(
            daemon.memories,
            token=token_in_force,
            oauth=OAuthParts(
                daemon.state.logins,
                public_url=settings.server.public_url,
                fetch=Documents() if settings.server.client_documents else None,
                clock_ms=clock_ms,
            ),
            allowed_hosts=[*LOOPBACK_HOSTS, *settings.server.further_hosts],
            allowed_origins=[*CLIENT_ORIGINS, *settings.server.further_origins],
            limits=replace(Limits(), body_bytes=settings.limits.max_body),
            query_token=settings.server.token_in_query,
            trusted_proxies=settings.server.trusted_proxies,
            feed=daemon.feed,
            intelligence=daemon.mind.intelligence,
            maintenance=daemon.mind.maintenance,
            lifespan=daemon.running,
        )

        def stopping() -> None:
            systemd.stopping()
            daemon.memories.stop_waiting()

        server = HttpServer(app, on_started=started, on_stopping=stopping)

        async def serve() -> None:
            alive = asyncio.create_task(systemd.stay_alive(), name="systemd-watchdog")
            serving = asyncio.create_task(server.serve(sockets=[listener]), name="serving")
            if speak is not None:
                started = asyncio.create_task(up.wait())
                await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
                speaking = asyncio.create_task(speak(settings.server.url, token_in_force))
                await asyncio.wait({serving, speaking}, return_when=asyncio.FIRST_COMPLETED)
                server.stop()
                for task in (started, speaking):
                    task.cancel()
                await serving
                with contextlib.suppress(asyncio.CancelledError):
                    await speaking
            await serving
            alive.cancel()

        asyncio.run(serve())
        report.stopped()
    return 0


def run_stdio_alone(settings: Settings, output: Output) -> int:
    """Serve the vault to a client over standard input and `output`; the exit code.

    And over HTTP meanwhile, to other clients that find no daemon of their own.
    """
    from second_brain.report import Silent  # noqa: PLC0415
    from second_brain.server.bridge import run_stdio  # noqa: PLC0415

    async def speak(url: str, token: Callable[[], str]) -> None:
        await run_stdio(url, token(), locate=lambda: (url, token()), output=output)

    return run_daemon(settings, Silent(), speak=speak)
