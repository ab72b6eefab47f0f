"""What a service runs and may touch, and the text of the files that say so. Pure."""

from __future__ import annotations

import plistlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_NAME = "second-brain"
_LABEL = "org.second-brain"
WATCHDOG_SECONDS = 120
"""A daemon whose event loop says nothing for so long is ended and started again."""


@dataclass(frozen=True, slots=True)
class Service:
    """`profile` tells several services of one user apart; None is the only or main one.

    `command` is what is run, with absolute paths; `writable` are the folders that it may write to.
    """

    profile: str | None
    command: tuple[str, ...]
    writable: tuple[Path, ...]
    log: Path

    @property
    def unit(self) -> str:
        """The name of the systemd unit."""
        return f"{_NAME}@{self.profile}.service" if self.profile else f"{_NAME}.service"

    @property
    def label(self) -> str:
        """The name of the launchd agent."""
        return f"{_LABEL}.{self.profile}" if self.profile else _LABEL


def systemd_unit(service: Service) -> str:
    """The unit file: started with the session, restarted ever more slowly, allowed to write only
    where it must. Systemd before 254 restarts it every two seconds instead."""
    return _unit("", [_command_line(service.command)], _writable(service.writable))


def systemd_template(program: Sequence[str], profiles: Path) -> str:
    """The template for several vaults: an instance runs the configuration of its name in the folder
    `profiles`. What an instance may write to is in its drop-in."""
    config = _quoted(str(profiles)).rstrip('"') + "/%i.toml"
    config += '"' if config.startswith('"') else ""
    return _unit(": %i", [_command_line([*program, "--config"]), config], [])


def _unit(whose: str, command: Sequence[str], writable: Sequence[str]) -> str:
    lines = (
        "[Unit]",
        f"Description=Second Brain for Obsidian{whose}",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"ExecStart={' '.join(command)}",
        "Restart=on-failure",
        "RestartSec=2",
        "RestartSteps=8",
        "RestartMaxDelaySec=300",
        f"WatchdogSec={WATCHDOG_SECONDS}",
        "TimeoutStartSec=120",
        "TimeoutStopSec=60",
        "KillMode=mixed",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=read-only",
        "PrivateTmp=yes",
        *writable,
        "LockPersonality=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "RestrictNamespaces=yes",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        "SystemCallArchitectures=native",
        "ProtectKernelTunables=yes",
        "ProtectControlGroups=yes",
        "",
        "[Install]",
        "WantedBy=default.target",
    )
    return "\n".join(lines) + "\n"


def systemd_drop_in(service: Service) -> str:
    """What the template cannot know of one instance."""
    return "\n".join(["[Service]", *_writable(service.writable)]) + "\n"


def launchd_agent(service: Service) -> bytes:
    """The property list of an agent: started at login, and again when it ended by a fault."""
    return plistlib.dumps(
        {
            "Label": service.label,
            "ProgramArguments": list(service.command),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": 60,
            "StandardOutPath": str(service.log),
            "StandardErrorPath": str(service.log),
        }
    )


def _writable(folders: Sequence[Path]) -> list[str]:
    # With the hyphen a folder that is not there just now does not keep the service from starting:
    # the daemon itself says what is missing.
    return [f"ReadWritePaths={_quoted('-' + str(folder))}" for folder in folders]


def _command_line(command: Sequence[str]) -> str:
    return " ".join(_quoted(word).replace("$", "$$") for word in command)


def _quoted(word: str) -> str:
    """A word as systemd reads it back to the letter: no specifier, quote or control character."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    escaped = "".join(f"\\x{ord(c):02x}" if ord(c) < 0x20 else c for c in escaped)
    plain = escaped == word and not any(c in " \t'" for c in word)
    return word if plain and word else f'"{escaped}"'
