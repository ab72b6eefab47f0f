"""What the machine gives: watches, the port, the model."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.config import Settings
from second_brain.errors import ModelUnavailable

LIMITS = Path("/proc/sys/fs/inotify")
_SPARE = 0.8
_FEW_INSTANCES = 16


def watches(root: Path, limits: Path = LIMITS) -> Iterator[Finding]:
    """Whether the system lets every folder of the vault be watched; only Linux sets a limit."""
    allowed = _number(limits / "max_user_watches")
    if allowed is None:
        return
    folders = sum(1 for _ in os.walk(root))
    if folders > allowed * _SPARE:
        yield Finding(
            "watching", "error" if folders > allowed else "warning",
            f"The vault has {folders:,} folders, and the system lets a user watch {allowed:,} for"
            " all programs together; what cannot be watched is compared every few seconds instead.",
            "Run: sudo sysctl fs.inotify.max_user_watches=524288, and put the setting into"
            " /etc/sysctl.d.",
        )  # fmt: skip
    instances = _number(limits / "max_user_instances")
    if instances is not None and instances < _FEW_INSTANCES:
        yield Finding(
            "watching", "warning",
            f"The system lets a user have {instances} watching programs at once.",
            "Run: sudo sysctl fs.inotify.max_user_instances=128",
        )  # fmt: skip


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def port(host: str, number: int) -> Iterator[Finding]:
    """Whether a daemon could listen there; to be asked while none of this vault's runs."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"Port {number} is taken on {host}: another daemon or program listens there."
        else:
            message = f"A daemon cannot listen on {host} port {number}: {error.strerror or error}."
        yield Finding("port", "error", message, "Stop the other, or choose another with --port.")


def model(settings: Settings) -> Iterator[Finding]:
    """Whether the model that is set is ready to be loaded."""
    from second_brain.index.embedding import is_prepared

    name = settings.embedding.model
    try:
        ready = is_prepared(name, settings.model_dir)
    except ModelUnavailable as error:
        yield Finding("model", "error", str(error), "Choose another: brain model list")
        return
    if not ready:
        yield Finding(
            "model", "warning",
            f"The model {name} is not prepared in {settings.model_dir};"
            " until it is, memories are found by their words only.",
            "Run: brain model prepare", mend="prepare-model",
        )  # fmt: skip
