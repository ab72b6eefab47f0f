"""The daemon as a service: the files that say so, and the very command line that they hold."""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from second_brain.cli.main import main
from second_brain.errors import SecondBrainError
from second_brain.integrations.service.definition import (
    Service,
    launchd_agent,
    systemd_drop_in,
    systemd_template,
    systemd_unit,
)
from second_brain.integrations.service.manager import Launchd, Systemd

ODD = 'Notes 100% «été» $HOME "q" it\'s \\ back'


def service(tmp_path: Path, profile: str | None = None) -> Service:
    program = (sys.executable, "-m", "second_brain", "serve")
    if profile:
        return Service(
            profile, (*program, "--config", str(tmp_path / f"{profile}.toml")), (tmp_path / ODD,),
            tmp_path / "log",
        )  # fmt: skip
    vault = tmp_path / ODD
    return Service(None, (*program, "--vault", str(vault)), (vault, tmp_path / "data"), Path("log"))


class Recorded:
    """The service manager's command line, as asked; `answers` by its verb."""

    def __init__(self, **answers: tuple[int, str]) -> None:
        self.asked: list[list[str]] = []
        self._answers = answers

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.asked.append(list(command))
        code, said = next((self._answers[w] for w in command if w in self._answers), (0, ""))
        return subprocess.CompletedProcess(command, code, said, "" if code == 0 else said)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
@pytest.mark.parametrize("profile", [None, "work"])
def test_systemd_itself_finds_nothing_wrong(tmp_path: Path, profile: str | None) -> None:
    made = service(tmp_path, profile)
    manager = Systemd(tmp_path / "units", Recorded())
    manager.install(made)
    unit = tmp_path / "units" / made.unit
    if profile:
        unit.symlink_to("second-brain@.service")
    (tmp_path / "runtime").mkdir(mode=0o700)
    said = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")},
    )
    # Before 254 systemd does not know how to restart ever more slowly, and says that it ignores it.
    ours = [
        line
        for line in said.stderr.splitlines()
        if "second-brain" in line and "RestartSteps" not in line and "RestartMaxDelay" not in line
    ]
    assert ours == []
    assert said.returncode == 0 or "second-brain" not in said.stderr


def test_a_unit_takes_every_path_literally(tmp_path: Path) -> None:
    text = systemd_unit(service(tmp_path))
    start = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(start.removeprefix("ExecStart=").replace("$$", "$").replace("%%", "%"))
    assert words == [*service(tmp_path).command]
    assert f"ReadWritePaths=-{tmp_path}/data" in text
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "Type=notify", "WatchdogSec=120"):
        assert line in text.splitlines()


def test_a_template_serves_every_profile_and_leaves_paths_to_its_drop_ins(tmp_path: Path) -> None:
    text = systemd_template(["/opt/my brain/python", "-m", "second_brain", "serve"], tmp_path)
    assert f'"/opt/my brain/python" -m second_brain serve --config {tmp_path}/%i.toml' in text
    assert "ReadWritePaths" not in text
    assert "ReadWritePaths=" in systemd_drop_in(service(tmp_path, "work"))


def test_an_agent_of_launchd_reads_back(tmp_path: Path) -> None:
    found = plistlib.loads(launchd_agent(service(tmp_path)))
    assert found["Label"] == "org.second-brain"
    assert found["ProgramArguments"] == [*service(tmp_path).command]
    assert found["RunAtLoad"] is True
    assert found["KeepAlive"] == {"SuccessfulExit": False}


def test_systemd_is_asked_to_start_it_now_and_always(tmp_path: Path) -> None:
    run = Recorded(status=(3, "inactive"))
    manager = Systemd(tmp_path, run)
    made = service(tmp_path)
    manager.install(made)
    assert [words[2:] for words in run.asked] == [
        ["daemon-reload"],
        ["enable", "second-brain.service"],
        ["restart", "second-brain.service"],
    ]
    assert (tmp_path / "second-brain.service").read_text() == systemd_unit(made)
    assert manager.status(made) == (False, "inactive")
    manager.uninstall(made)
    assert run.asked[-2][2:] == ["disable", "--now", "second-brain.service"]
    assert not (tmp_path / "second-brain.service").exists()


def test_the_last_profile_takes_the_template_with_it(tmp_path: Path) -> None:
    manager = Systemd(tmp_path, Recorded())
    for profile in ("work", "home"):
        manager.install(service(tmp_path, profile))
    template = tmp_path / "second-brain@.service"
    manager.uninstall(service(tmp_path, "work"))
    assert template.exists()
    assert not (tmp_path / "second-brain@work.service.d").exists()
    manager.uninstall(service(tmp_path, "home"))
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_told_in_the_managers_words(tmp_path: Path) -> None:
    manager = Systemd(tmp_path, Recorded(enable=(1, "Failed to connect to bus")))
    with pytest.raises(SecondBrainError, match="Failed to connect to bus"):
        manager.install(service(tmp_path))


def test_launchd_gets_an_agent_and_gives_it_back(tmp_path: Path) -> None:
    run = Recorded(print=(0, "state = running"))
    manager = Launchd(tmp_path / "LaunchAgents", run, uid=501)
    made = service(tmp_path, "work")
    manager.install(made)
    file = tmp_path / "LaunchAgents/org.second-brain.work.plist"
    assert run.asked[-1] == ["launchctl", "bootstrap", "gui/501", str(file)]
    assert manager.status(made)[0]
    manager.uninstall(made)
    assert not file.exists()


def test_the_command_of_the_unit_starts_a_daemon_that_reports_to_systemd(
    tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / ODD
    vault.mkdir()
    for name in [name for name in os.environ if name.startswith("SECOND_BRAIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{_fake_systemctl(tmp_path)}:{os.environ['PATH']}")
    options = ["--vault", str(vault), "--model-dir", str(model_dir), "--port", str(_free_port())]
    shown = _brain("service", "install", *options)
    assert shown.exit_code == 0, shown.output
    unit = (tmp_path / ".config/systemd/user/second-brain.service").read_text()
    start = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(start.removeprefix("ExecStart=").replace("$$", "$").replace("%%", "%"))

    told = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(told))
        manager.settimeout(60)
        daemon = subprocess.Popen(
            words,
            env={**os.environ, "NOTIFY_SOCKET": str(told), "WATCHDOG_USEC": "200000"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            said = [manager.recv(100) for _ in range(4)]
            assert b"READY=1" in said
            assert said.count(b"WATCHDOG=1") >= 2
            daemon.send_signal(signal.SIGTERM)
            while manager.recv(100) != b"STOPPING=1":
                pass
            assert daemon.wait(60) == 0
        finally:
            daemon.kill()


def test_a_profile_without_a_configuration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for flag in ("--profile", "--name"):
        result = _brain("service", "install", flag, "work")
        assert result.exit_code == 2
        assert "there is no profile work" in result.stderr
        assert "brain init --profile work" in result.stderr
        assert _brain("service", "install", flag, "../x").exit_code == 2
        assert _brain("service", "uninstall", flag, "../x").exit_code == 2


def _brain(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="brain")


def _fake_systemctl(tmp_path: Path) -> Path:
    """The manager of a session cannot run in a test; it says yes to everything."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "systemctl").write_text("#!/bin/sh\nexit 0\n")
    (folder / "systemctl").chmod(0o755)
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
