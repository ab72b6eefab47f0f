"""The settings as values: one frozen dataclass a TOML table, each field with its help and limits.

This is the one place where a setting is declared; its environment variable, TOML key, command
line flag, check and line in the README all follow from the field (see `options`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import platformdirs

from second_brain.config import rules
from second_brain.config.about import about as _about
from second_brain.config.model_settings import LlmSettings, MaintenanceSettings
from second_brain.errors import SettingsError

APP = "second-brain"
_EVERYWHERE = frozenset({"0.0.0.0", "::"})
Mode = Literal["tagged", "all"]
LogLevel = Literal["debug", "info", "warning", "error"]


def default_data_dir() -> Path:
    """The platform's folder for an application's data."""
    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def default_model_dir() -> Path:
    """Prepared models are shared by every vault, whatever the data directory of one of them."""
    return default_data_dir() / "models"


def default_config_file() -> Path:
    """The configuration that is read when none is named."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def profiles_folder() -> Path:
    """Where the configurations of several vaults lie, one file a profile."""
    return default_config_file().parent / "profiles"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the daemon listens and whom it lets in."""

    host: str = field(
        default="127.0.0.1",
        metadata=_about(
            "Address to listen on.", env="HOST", flag="--host", check=rules.one_word("an address")
        ),
    )
    port: int = field(
        default=8787,
        metadata=_about("Port to listen on.", env="PORT", flag="--port", minimum=1, maximum=65535),
    )
    auth_token: str | None = field(
        default=None,
        repr=False,
        metadata=_about(
            "Token that clients send.",
            env="AUTH_TOKEN",
            flag="--auth-token",
            check=rules.token,
            secret=True,
            shown_default="made at the first start",
        ),
    )
    allowed_hosts: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Further host names by which clients may address the daemon.",
            env="ALLOWED_HOSTS",
            check=rules.each(rules.one_word("a host name")),
        ),
    )
    allowed_origins: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Further web origins that may call it, such as `https://example.org`.",
            env="ALLOWED_ORIGINS",
            check=rules.each(rules.one_word("a web origin")),
        ),
    )
    public_url: str | None = field(
        default=None,
        metadata=_about(
            "Address under which a tunnel or proxy publishes the daemon.",
            env="PUBLIC_URL",
            check=rules.base_url,
        ),
    )
    trusted_proxies: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Addresses or networks of proxies whose `X-Forwarded-For` is believed.",
            env="TRUSTED_PROXIES",
            check=rules.each(rules.network),
        ),
    )
    token_in_query: bool = field(
        default=False,
        metadata=_about(
            "Accept the token as `?token=` too; it then shows up in logs on its way.",
            env="TOKEN_IN_QUERY",
        ),
    )

    client_documents: bool = field(
        default=False,
        metadata=_about(
            "Let applications be named by the address of their metadata document, and fetch it.",
            env="CLIENT_DOCUMENTS",
        ),
    )

    @property
    def further_hosts(self) -> tuple[str, ...]:
        """Hosts that clients may name beside this machine's own: the allowed and the public one."""
        public = (urlsplit(self.public_url).netloc,) if self.public_url else ()
        listening = () if self.host in _EVERYWHERE else (self.host,)
        return (*self.allowed_hosts, *public, *listening)

    @property
    def further_origins(self) -> tuple[str, ...]:
        """Web origins that may call: the allowed ones and that of the public address."""
        if not self.public_url:
            return self.allowed_origins
        public = urlsplit(self.public_url)
        return (*self.allowed_origins, f"{public.scheme}://{public.netloc}")

    @property
    def url(self) -> str:
        """The base URL for clients on this machine, without a slash at the end."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """Which notes are memories, and where new ones go."""

    mode: Mode = field(
        default="tagged",
        metadata=_about(
            "`tagged`: notes with one of the tags are memories; `all`: every note is.",
            env="MODE",
            flag="--mode",
        ),
    )
    tags: tuple[str, ...] = field(
        default=("brain", "second-brain"),
        metadata=_about(
            "Tags that make a note a memory; the first is written into new notes.",
            env="TAGS",
            check=rules.sync_tags,
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(),
        metadata=_about("Paths that are never read, as globs such as `Private/**`.", env="EXCLUDE"),
    )
    respect_excluded: bool = field(
        default=False,
        metadata=_about(
            "Leave out Obsidian's “Excluded files”, too; Obsidian itself only hides them.",
            env="RESPECT_EXCLUDED",
        ),
    )
    folder: str = field(
        default="Second Brain",
        metadata=_about("Folder of the vault for new notes.", env="FOLDER", check=rules.folder),
    )
    rescan_seconds: int = field(
        default=300,
        metadata=_about(
            "Pause between full comparisons with the vault.",
            env="RESCAN_SECONDS",
            minimum=5,
            maximum=86_400,
        ),
    )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How notes are cut, and where the index lies."""

    uri: str | None = field(
        default=None,
        metadata=_about(
            "LanceDB address of the index (a folder, `s3://…`, `gs://…`, `az://…`, `db://…`).",
            env="INDEX_URI",
            check=rules.one_address,
            shown_default="a folder in the data directory",
        ),
    )
    chunk_size: int = field(
        default=800,
        metadata=_about(
            "Longest passage that is indexed as one, in characters.",
            env="CHUNK_SIZE",
            minimum=200,
            maximum=8000,
        ),
    )
    chunk_overlap: int = field(
        default=100,
        metadata=_about(
            "Characters that neighbouring passages share.",
            env="CHUNK_OVERLAP",
            minimum=0,
            maximum=4000,
        ),
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that turns text into vectors."""

    model: str = field(
        default="multilingual-e5-small",
        metadata=_about(
            "Name or folder of the embedding model.",
            env="MODEL",
            flag="--model",
            check=rules.not_blank,
        ),
    )
    threads: int = field(
        default=0,
        metadata=_about(
            "Threads that compute embeddings; 0 chooses by the machine.",
            env="EMBEDDING_THREADS",
            minimum=0,
            maximum=256,
        ),
    )


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Links that the daemon adds by itself."""

    max_related: int = field(
        default=3,
        metadata=_about(
            "Related memories linked when a memory is written; 0 for none.",
            env="MAX_RELATED",
            minimum=0,
            maximum=20,
        ),
    )


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What is kept of notes before a write."""

    keep_days: int = field(
        default=90,
        metadata=_about(
            "Days for which a note's text before a write can be restored.",
            env="HISTORY_DAYS",
            minimum=1,
            maximum=36_500,
        ),
    )
    max_mb: int = field(
        default=512,
        metadata=_about(
            "Most room that those texts may take, in MB; the oldest go first.",
            env="HISTORY_MAX_MB",
            minimum=1,
            maximum=1_000_000,
        ),
    )


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Bounds on what a client may send."""

    max_body: int = field(
        default=10 * 1024 * 1024,
        metadata=_about(
            "Largest request body, in bytes.", env="MAX_BODY", minimum=1024, maximum=1 << 30
        ),
    )


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is logged."""

    level: LogLevel = field(
        default="info",
        metadata=_about("Least important lines logged.", env="LOG_LEVEL", flag="--log-level"),
    )
    file: Path | None = field(
        default=None,
        metadata=_about(
            "File for the log as well; it is rotated: five of 5 MB at most.",
            env="LOG_FILE",
            flag="--log-file",
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Paths are absolute; `~` is expanded."""

    vault: Path | None = field(
        default=None,
        metadata=_about("The Obsidian vault.", flag="--vault", shown_default="none, must be set"),
    )
    data_dir: Path = field(
        default_factory=default_data_dir,
        metadata=_about(
            "Folder for the index, the token and the history; never inside the vault.",
            flag="--data-dir",
            shown_default="the platform's data folder",
        ),
    )
    model_dir: Path = field(
        default_factory=default_model_dir,
        metadata=_about(
            "Folder for prepared embedding models.",
            flag="--model-dir",
            shown_default="`models` in the platform's data folder",
        ),
    )
    server: ServerSettings = field(default_factory=ServerSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    log: LogSettings = field(default_factory=LogSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)

    @property
    def vault_root(self) -> Path:
        """The vault; `SettingsError` if none is set."""
        if self.vault is None:
            raise SettingsError(
                "No vault is set: pass --vault DIR, set SECOND_BRAIN_VAULT, "
                f"or let `brain init` write it into {default_config_file()}."
            )
        return self.vault
