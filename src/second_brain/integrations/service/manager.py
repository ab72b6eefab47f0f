"""The session's service manager: puts a service's files in place, and starts and stops it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from second_brain.errors import SecondBrainError
from second_brain.integrations.service.definition import (
    Service,
    launchd_agent,
    systemd_drop_in,
    systemd_template,
    systemd_unit,
)

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


class Manager(Protocol):
    """Raises SecondBrainError where the system's own manager refuses, in its words."""

    def is_reachable(self) -> bool:
        """Whether this user has a session whose services it manages."""
        ...

    def files(self, service: Service) -> dict[Path, bytes]:
        """What `install` writes, by path."""
        ...

    def install(self, service: Service) -> None:
        """Write the files, and have the service started now and with every session."""
        ...

    def uninstall(self, service: Service) -> None:
        """Stop the service and delete its files; nothing else of the daemon's."""
        ...

    def start(self, service: Service) -> None: ...

    def stop(self, service: Service) -> None: ...

    def status(self, service: Service) -> tuple[bool, str]:
        """Whether it runs, and what the system says of it."""
        ...

    def logs(self, service: Service, *, follow: bool, lines: int) -> Sequence[str]:
        """The command that shows its log."""
        ...


def system_manager() -> Manager:
    """The manager of this system. Raises SecondBrainError where there is none that we know."""
    if sys.platform == "darwin":
        return Launchd(Path.home() / "Library/LaunchAgents")
    if shutil.which("systemctl"):
        config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return Systemd(config / "systemd/user")
    raise SecondBrainError(
        "This system has neither systemd nor launchd; have whatever starts your programs run "
        "`brain serve`."
    )


class Systemd:
    """`units` is the folder of the user's units."""

    def __init__(self, units: Path, run: Run | None = None) -> None:
        self._units = units
        self._run = run or _run

    def is_reachable(self) -> bool:
        return self._run(["systemctl", "--user", "show-environment"]).returncode == 0

    def files(self, service: Service) -> dict[Path, bytes]:
        if service.profile is None:
            return {self._units / service.unit: systemd_unit(service).encode()}
        *program, option, file = service.command
        if option != "--config":
            raise SecondBrainError("A service with a name runs a configuration file; name one.")
        template = systemd_template(program, Path(file).parent)
        return {
            self._units / "second-brain@.service": template.encode(),
            self._units / f"{service.unit}.d/vault.conf": systemd_drop_in(service).encode(),
        }

    def install(self, service: Service) -> None:
        _write(self.files(service))
        self._ask("daemon-reload")
        self._ask("enable", service.unit)
        self._ask("restart", service.unit)

    def uninstall(self, service: Service) -> None:
        self._ask("disable", "--now", service.unit)
        own = self.files(service)
        others = {p.name for p in self._units.glob("second-brain@?*.service.d")}
        if others - {f"{service.unit}.d"}:
            own.pop(self._units / "second-brain@.service", None)
        _delete(own)
        self._ask("daemon-reload")

    def start(self, service: Service) -> None:
        self._ask("start", service.unit)

    def stop(self, service: Service) -> None:
        self._ask("stop", service.unit)

    def status(self, service: Service) -> tuple[bool, str]:
        said = self._run(["systemctl", "--user", "status", "--no-pager", "--lines=0", service.unit])
        return said.returncode == 0, (said.stdout or said.stderr).strip()

    def logs(self, service: Service, *, follow: bool, lines: int) -> Sequence[str]:
        how = "--follow" if follow else "--no-pager"
        return ["journalctl", "--user", "--unit", service.unit, f"--lines={lines}", how]

    def _ask(self, *words: str) -> None:
        _asked(self._run, ["systemctl", "--user", *words])


class Launchd:
    """`agents` is the folder of the user's agents."""

    def __init__(self, agents: Path, run: Run | None = None, uid: int | None = None) -> None:
        self._agents = agents
        self._run = run or _run
        self._domain = f"gui/{os.getuid() if uid is None else uid}"

    def is_reachable(self) -> bool:
        return self._run(["launchctl", "print", self._domain]).returncode == 0

    def files(self, service: Service) -> dict[Path, bytes]:
        return {self._file(service): launchd_agent(service)}

    def install(self, service: Service) -> None:
        self._run(["launchctl", "bootout", f"{self._domain}/{service.label}"])
        service.log.parent.mkdir(parents=True, exist_ok=True)
        _write(self.files(service))
        _asked(self._run, ["launchctl", "bootstrap", self._domain, str(self._file(service))])

    def uninstall(self, service: Service) -> None:
        self._run(["launchctl", "bootout", f"{self._domain}/{service.label}"])
        _delete(self.files(service))

    def start(self, service: Service) -> None:
        self._run(["launchctl", "bootstrap", self._domain, str(self._file(service))])
        _asked(self._run, ["launchctl", "kickstart", f"{self._domain}/{service.label}"])

    def stop(self, service: Service) -> None:
        _asked(self._run, ["launchctl", "bootout", f"{self._domain}/{service.label}"])

    def status(self, service: Service) -> tuple[bool, str]:
        said = self._run(["launchctl", "print", f"{self._domain}/{service.label}"])
        return "state = running" in said.stdout, (said.stdout or said.stderr).strip()

    def logs(self, service: Service, *, follow: bool, lines: int) -> Sequence[str]:
        return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(service.log)]

    def _file(self, service: Service) -> Path:
        return self._agents / f"{service.label}.plist"


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SecondBrainError(f"{command[0]} cannot be run: {error.strerror}.") from error


def _asked(run: Run, command: Sequence[str]) -> None:
    said = run(command)
    if said.returncode != 0:
        why = (said.stderr or said.stdout).strip() or f"exit code {said.returncode}"
        raise SecondBrainError(f"`{' '.join(command)}` did not work: {why}")


def _write(files: dict[Path, bytes]) -> None:
    for file, data in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.with_name(f".{file.name}.new")
            fresh.write_bytes(data)
            fresh.replace(file)
        except OSError as error:
            raise SecondBrainError(f"{file} cannot be written: {error.strerror}.") from error


def _delete(files: dict[Path, bytes]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
        if file.parent.name.endswith(".service.d") and not any(file.parent.iterdir()):
            file.parent.rmdir()
