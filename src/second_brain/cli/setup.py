"""The steps of `brain init`: each is done once, says what it did, and then is left alone."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from second_brain.cli.options import Chosen
from second_brain.config import Settings, load_settings, profile_file, profile_names, validate
from second_brain.config.edit import set_values
from second_brain.config.settings import default_config_file
from second_brain.errors import SecondBrainError, SettingsError
from second_brain.instance import ensure_token, find_token, running_daemon, vault_folder
from second_brain.integrations.connect.clients import TRANSPORTS, Client, Launch, client
from second_brain.integrations.connect.places import own_places

CLIENTS = tuple(TRANSPORTS)
_FIRST_PORT = 8787
_PORTS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """`state` is done, unchanged, skipped or failed; `said` tells the user."""

    about: str
    state: str
    said: str


def configured(file: Path) -> Settings | None:
    """The settings of a configuration file that there is."""
    return load_settings(config_file=file, environ={}) if file.exists() else None


def port_for(vault: Path, file: Path, is_free: Callable[[int], bool] | None = None) -> int:
    """The port of this vault's daemon: the one it has, else the first that nobody else has.

    Raises SettingsError where another configuration has this vault already.
    """
    others: dict[int, Path] = {}
    for other in _configurations():
        if other == file or (known := _readable(other)) is None:
            continue
        if known.vault is not None and known.vault.resolve() == vault.resolve():
            raise SettingsError(f"{other} has the vault {vault} already; use that.")
        others[known.server.port] = other
    own = configured(file)
    is_chosen = own is not None and (own.vault is not None or own.server.port != _FIRST_PORT)
    if own is not None and is_chosen and own.server.port not in others:
        return own.server.port
    is_free = is_free or _is_free
    found = (p for p in range(_FIRST_PORT, _FIRST_PORT + _PORTS) if p not in others and is_free(p))
    port = next(found, None)
    if port is None:
        raise SettingsError("No port from 8787 on is free; choose one with --port.")
    return port


def _configurations() -> Iterator[Path]:
    if default_config_file().exists():
        yield default_config_file()
    yield from map(profile_file, profile_names())


def _readable(file: Path) -> Settings | None:
    """Another configuration; a broken one is no reason not to write this one."""
    try:
        return configured(file)
    except SettingsError:
        return None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def clients_here() -> list[Client]:
    """The tools that seem to be installed and are not connected yet."""
    from second_brain.cli.connect import entry_name
    from second_brain.integrations.connect.connecting import check_state

    places = own_places()
    launch = Launch(("brain",), ("brain",), ("brain",), "", None, entry_name())
    found = []
    for name, ways in TRANSPORTS.items():
        one = client(name, places, launch, ways[0])
        # Claude Code's file lies in the home itself, which says nothing.
        folder = places.claude_code_folder if name == "claude-code" else one.config.parent
        try:
            is_here = bool(one.program and shutil.which(one.program)) or folder.is_dir()
            if is_here and check_state(one) == "none":
                found.append(one)
        except SecondBrainError:
            continue  # its file is broken: `brain connect` says so to who asks for it
    return found


@dataclass
class SetUp:
    """Does the steps for one configuration file. `show` is called with each."""

    chosen: Chosen
    file: Path
    vault: Path
    show: Callable[[Step], None] | None
    steps: list[Step] = field(default_factory=list)
    failed: bool = False

    @property
    def settings(self) -> Settings:
        """What holds now: the file and this shell's variables."""
        return load_settings({"vault": str(self.vault)}, config_file=self.file)

    def write(self, values: dict[str, str | int]) -> None:
        """The configuration, then the token."""
        fresh = not self.file.exists()
        if values["server.port"] == (configured(self.file) or Settings()).server.port:
            del values["server.port"]
        changed = set_values(self.file, values)
        said = (
            f"{'wrote' if fresh else 'changed' if changed else 'nothing to change in'} {self.file}"
        )
        settings = self.settings
        validate(settings)
        self._did("Vault", "unchanged", str(settings.vault_root))
        if not (settings.vault_root / ".obsidian").is_dir():
            self._did(
                "Note", "skipped", "Obsidian has not opened this folder yet; that is no matter."
            )
        self._did("Configuration", "done" if changed else "unchanged", said)
        had = find_token(settings)
        token = ensure_token(settings)
        where = f"in {token.file}" if token.file else "the one that you set"
        self._did("Token", "unchanged" if had else "done", where if had else f"made, {where}")

    def has_model(self) -> bool:
        """Whether the embedding model is ready, as far as can be told without loading it."""
        from second_brain.index.embedding import available_models

        settings = self.settings
        known = available_models(settings.model_dir)
        return any(one.name == settings.embedding.model and one.prepared for one in known)

    def prepare(self, *, insisted: bool) -> None:
        """Make the embedding model ready."""
        from second_brain.cli.model import prepared

        had, settings = self.has_model(), self.settings
        try:
            said = prepared(settings.embedding.model, settings.model_dir)
        except SecondBrainError as error:
            self._failed("Model", str(error), insisted)
        else:
            self._did("Model", "unchanged" if had else "done", said)

    def can_serve(self) -> bool:
        """Whether the service is worth offering: there is a manager, and nobody serves yet."""
        from second_brain.integrations.service.manager import system_manager

        try:
            usable = system_manager().is_reachable()
        except SecondBrainError:
            return False
        return usable and running_daemon(vault_folder(self.settings)) is None

    def serve(self, *, insisted: bool) -> None:
        """Install and start the service. What fails is a fault only if it was `insisted` on."""
        from second_brain.cli.service import described, put_in_place
        from second_brain.integrations.service.manager import system_manager

        settings, profile = self.settings, self.chosen.profile_in_use
        try:
            manager = system_manager()
            made = described(settings, profile, self.file)
            as_before = all(
                file.is_file() and file.read_bytes() == data
                for file, data in manager.files(made).items()
            )
            if as_before and manager.status(made)[0]:
                self._did("Service", "unchanged", "runs already")
                return
            other = running_daemon(vault_folder(settings))
            if other is not None and not manager.status(made)[0]:
                why = f"process {other.pid} serves the vault already; stop it, and run this again."
                raise SecondBrainError(why)
            put_in_place(settings, made, manager)
        except SecondBrainError as error:
            self._failed("Service", str(error), insisted)
        else:
            self._did("Service", "done", f"installed and started, at {settings.server.url}")

    def connect(self, name: str, *, insisted: bool) -> None:
        """Register with a tool, as `brain connect` does."""
        from second_brain.cli.connect import Report, Work

        report = Report(name, dry_run=False)
        try:
            Work(self.settings, name, None, False, report).run(
                with_instructions=True, with_hooks=False
            )
        except SecondBrainError as error:
            self._failed(name, str(error), insisted)
            return
        changed = any(step["state"] == "changed" for step in report.steps)
        said = ["connected" if changed else "was connected already", *report.notes]
        if report.paste is not None:
            said.append(f"`brain connect {name}` shows what to paste into {report.paste['into']}.")
        self._did(name, "done" if changed else "unchanged", " ".join(said))

    def summary(self) -> dict[str, Any]:
        """Where everything is."""
        settings = self.settings
        token = find_token(settings)
        return {
            "profile": self.chosen.profile_in_use,
            "config": str(self.file),
            "vault": str(settings.vault_root),
            "url": settings.server.url,
            "token_file": str(token.file) if token and token.file else None,
            "next": self.next(),
        }

    def next(self) -> list[str]:
        """What the user does now."""
        settings, flags = self.settings, self._flags()
        found = []
        if not self.has_model():
            found.append(f"brain{flags} model prepare   for search by meaning; a minute, once")
        if running_daemon(vault_folder(settings), patience=0) is None:
            found.append(
                f"brain{flags} serve   until Ctrl-C; `brain{flags} service install` for good"
            )
        if settings.sync.mode == "tagged":
            found.append(f"Tag a note #{settings.sync.tags[0]}, and every agent can recall it.")
        if not any(step.about in CLIENTS and step.state != "failed" for step in self.steps):
            found.append(f"brain{flags} connect claude-code   or codex, gemini, cursor, …")
        found.append(f"brain{flags} status   how it is, at any time")
        return found

    def _flags(self) -> str:
        if self.chosen.profile is not None:
            return f" --profile {self.chosen.profile}"
        return ""

    def _did(self, about: str, state: str, said: str) -> None:
        step = Step(about, state, said)
        self.steps.append(step)
        if self.show is not None:
            self.show(step)

    def _failed(self, about: str, why: str, insisted: bool) -> None:
        self.failed = self.failed or insisted
        self._did(about, "failed" if insisted else "skipped", f"not done: {why}")
