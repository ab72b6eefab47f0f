"""One vault's daemon on this machine: its folder in the data directory, its lock and its token.

`<data_dir>/token` is shared by all vaults. `<data_dir>/vaults/<name>-<hash>/` belongs to one vault
and to at most one daemon at a time; the lock that says so dies with the process that holds it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from second_brain.config import Settings
from second_brain.errors import SettingsError


@dataclass(frozen=True, slots=True)
class VaultFolder:
    """Where everything about one vault is kept."""

    path: Path

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def daemon_file(self) -> Path:
        return self.path / "daemon.json"

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def catalog(self) -> Path:
        return self.path / "catalog.db"

    @property
    def state(self) -> Path:
        return self.path / "state.db"


@dataclass(frozen=True, slots=True)
class DaemonInfo:
    """What a running daemon publishes of itself. `started_at` is Unix milliseconds."""

    pid: int
    url: str
    vault: str
    version: str
    started_at: int


@dataclass(frozen=True, slots=True)
class Token:
    """The token in force; `file` is where it lies, None when the settings gave it."""

    value: str
    file: Path | None

    def __repr__(self) -> str:
        return f"Token(file={self.file})"


def vault_folder(settings: Settings) -> VaultFolder:
    """The folder of the vault, by its resolved path: a symlink to a vault is the same vault."""
    real = os.path.realpath(settings.vault_root)
    digest = hashlib.blake2b(os.fsencode(real), digest_size=4).hexdigest()
    return VaultFolder(settings.data_dir / "vaults" / f"{_slug(Path(real).name)}-{digest}")


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40] or "vault"


def make_private_folder(path: Path) -> None:
    """Create `path` and what is missing above it, for this user only; `SettingsError` if it fails.

    A folder that is already there keeps its mode.
    """
    missing = [p for p in (path, *path.parents) if not os.path.lexists(p)]
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")
    except OSError as error:
        raise SettingsError(f"The folder {path} cannot be created: {error.strerror}.") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise SettingsError(f"The folder {path} cannot be written to.")


def ensure_token(settings: Settings) -> Token:
    """The token of the settings, else of the token file, which is made when it is missing."""
    found = find_token(settings)
    if found is not None:
        return found
    make_private_folder(settings.data_dir)
    file = settings.data_dir / "token"
    fresh = file.with_name(f".token.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write_private(fresh, secrets.token_urlsafe(32) + "\n")
        try:
            # A link appears whole or not at all, so of two daemons that start at once one wins
            # and the other reads the winner's token, never half of it.
            os.link(fresh, file)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    except OSError as error:
        raise SettingsError(
            f"The token file {file} cannot be written: {error.strerror}."
        ) from error
    return _read_token(file)


def rotate_token(settings: Settings) -> Token:
    """Put another token in the place of the one in the token file; running daemons follow it."""
    if settings.server.auth_token is not None:
        raise SettingsError(
            "The token is set by the configuration (server.auth_token) or by "
            "SECOND_BRAIN_AUTH_TOKEN; change it there, and restart the daemon."
        )
    make_private_folder(settings.data_dir)
    file = settings.data_dir / "token"
    fresh = file.with_name(f".token.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write_private(fresh, secrets.token_urlsafe(32) + "\n")
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise SettingsError(
            f"The token file {file} cannot be written: {error.strerror}."
        ) from error
    return _read_token(file)


class TokenInForce:
    """The token while a daemon runs: follows its file, so that a new one counts at once.

    While the file is gone or damaged, the last one stays in force.
    """

    def __init__(self, token: Token) -> None:
        self._token = token
        self._stamp = self._stamp_now()

    def __call__(self) -> str:
        stamp = self._stamp_now()
        if stamp is not None and stamp != self._stamp and self._token.file is not None:
            with contextlib.suppress(SettingsError):
                self._token = _read_token(self._token.file)
            self._stamp = stamp
        return self._token.value

    def _stamp_now(self) -> tuple[int, int, int] | None:
        if self._token.file is None:
            return None
        try:
            found = self._token.file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def find_token(settings: Settings) -> Token | None:
    """The token as `ensure_token` gives it, or None where one would have to be made."""
    if settings.server.auth_token is not None:
        return Token(settings.server.auth_token, None)
    file = settings.data_dir / "token"
    return _read_token(file) if os.path.lexists(file) else None


def _read_token(file: Path) -> Token:
    try:
        value = file.read_text(encoding="ascii").strip()
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The token file {file} cannot be read: {error}.") from error
    if not value or any(c.isspace() for c in value):
        raise SettingsError(
            f"The token file {file} does not hold one token; delete it to have a new one made."
        )
    return Token(value, file)


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


class DaemonLock:
    """The right to be the daemon of a vault's folder; a context manager that takes and gives it."""

    def __init__(
        self,
        folder: VaultFolder,
        *,
        patience: float = 0.5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        # Somebody who asks whether a daemon runs holds the lock for an instant (see
        # `running_daemon`): that must not keep a daemon from starting.
        self._attempts = max(1, round(patience / 0.05))
        self._sleep = sleep
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        make_private_folder(self._folder.path)
        try:
            descriptor = os.open(self._folder.lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SettingsError(
                f"The lock {self._folder.lock} cannot be opened: {error.strerror}."
            ) from error
        try:
            self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        self._folder.daemon_file.unlink(missing_ok=True)  # left behind by one that was killed
        return self

    def _take(self, descriptor: int) -> None:
        for attempt in range(self._attempts):
            if attempt:
                self._sleep(0.05)
            if _try_lock(descriptor, fcntl.LOCK_EX, self._folder):
                return
        other = read_daemon_file(self._folder)
        who = f"process {other.pid}, {other.url}" if other else "it is just starting or stopping"
        raise SettingsError(
            f"Another daemon already serves this vault ({who}); stop it first, "
            f"or give this one its own --data-dir."
        )

    def publish(self, info: DaemonInfo) -> None:
        """Tell other commands where this daemon answers."""
        fresh = self._folder.path / f".daemon.json.{os.getpid()}"
        fresh.unlink(missing_ok=True)
        _write_private(fresh, json.dumps(asdict(info), ensure_ascii=False, indent=2) + "\n")
        fresh.replace(self._folder.daemon_file)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            self._folder.daemon_file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int, mode: int, folder: VaultFolder) -> bool:
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise SettingsError(
            f"{folder.path} cannot be locked ({error.strerror}); "
            f"choose a --data-dir on a local disk."
        ) from error
    return True


def read_daemon_file(folder: VaultFolder) -> DaemonInfo | None:
    """What the folder's last daemon published, whether or not it still runs."""
    try:
        found = json.loads(folder.daemon_file.read_text(encoding="utf-8"))
        return DaemonInfo(
            pid=int(found["pid"]),
            url=str(found["url"]),
            vault=str(found["vault"]),
            version=str(found["version"]),
            started_at=int(found["started_at"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running_daemon(
    folder: VaultFolder,
    *,
    patience: float = 3.0,
    sleep: Callable[[float], None] = time.sleep,
) -> DaemonInfo | None:
    """The daemon that serves this folder now, or None; one that is starting gets `patience`.

    The lock decides, not the file: a daemon that was killed leaves the file behind, and its
    process number may be another program's by now.
    """
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY)
    except OSError:
        return None
    try:
        free = _try_lock(descriptor, fcntl.LOCK_SH, folder)
    finally:
        os.close(descriptor)
    return None if free else _published(folder, patience, sleep)


def _published(
    folder: VaultFolder, patience: float, sleep: Callable[[float], None]
) -> DaemonInfo | None:
    """The file of a daemon that holds the lock, once it has written it."""
    for _ in range(round(patience / 0.1)):
        info = read_daemon_file(folder)
        if info is not None:
            return info
        sleep(0.1)
    return read_daemon_file(folder)


def running_daemons(data_dir: Path) -> list[DaemonInfo]:
    """The daemons of all vaults that this data directory knows."""
    folders = sorted(path.parent for path in data_dir.glob("vaults/*/lock"))
    found = (running_daemon(VaultFolder(path)) for path in folders)
    return [info for info in found if info is not None]
