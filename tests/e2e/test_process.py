"""`brain serve` as a process: its start, its end by signals, and every setting that is wrong."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import (
    MakeDaemon,
    clean_environment,
    eventually,
    free_port,
)

TAGGED = "---\ntags: [brain]\n---\n"


def brain(*args: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "second_brain", *map(str, args)],
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Note.md").write_text(f"{TAGGED}A note.\n")
    return folder


class TestStart:
    def test_the_first_screen_the_token_file_and_the_address(
        self, make_daemon: MakeDaemon, vault: Path
    ) -> None:
        daemon = make_daemon(vault)
        del daemon.env["SECOND_BRAIN_AUTH_TOKEN"]
        daemon.start(wait=False)
        token_file = daemon.data / "token"
        eventually(token_file.exists, within=30)
        token = token_file.read_text().strip()
        assert token_file.stat().st_mode & 0o777 == 0o600
        assert len(token) >= 32
        daemon.http.headers["Authorization"] = f"Bearer {token}"
        daemon.wait_up()
        screen = eventually(lambda: (s := daemon.log.read_text()) * ("Ctrl-C" in s))
        for part in (str(vault), daemon.url, str(token_file), "1 note", "claude mcp add", "codex"):
            assert part in screen
        assert token not in screen
        assert listening_addresses(daemon.port) == {"0100007F"}
        folder = next(daemon.data.glob("vaults/*"))
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "state.db").stat().st_mode & 0o077 == 0
        assert [p.name for p in vault.iterdir()] == ["Note.md"], "nothing is put into the vault"
        assert daemon.stop() == 0
        daemon.start()
        assert token_file.read_text().strip() == token, "the token stays"

    def test_flags_go_before_environment_before_file_before_defaults(
        self, make_daemon: MakeDaemon, vault: Path
    ) -> None:
        daemon = make_daemon(vault)
        daemon.config.write_text(
            "[server]\nport = 1\nauth_token = 'of-the-file'\n"
            "[sync]\nfolder = 'From the file'\ntags = ['filed', 'brain']\n"
        )
        daemon.env |= {"SECOND_BRAIN_PORT": "2", "SECOND_BRAIN_AUTH_TOKEN": "of-the-environment"}
        daemon.env["SECOND_BRAIN_FOLDER"] = ""
        daemon.http.headers["Authorization"] = "Bearer of-the-environment"
        daemon.start()  # the flag's port answers, with the environment's token
        path = daemon.post("/capture", content="Where does this go?")["path"]
        assert path.startswith("From the file/")
        assert "- filed\n" in (vault / path).read_text()


def listening_addresses(port: int) -> set[str]:
    """Local addresses, in the kernel's hexadecimal, on which somebody listens."""
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            address, _, found_port = local.partition(":")
            if int(found_port, 16) == port and state == "0A":
                found.add(address)
    return found


class TestEnd:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_it_cleanly_in_the_middle_of_everything(
        self, make_daemon: MakeDaemon, tmp_path: Path, number: signal.Signals
    ) -> None:
        """Indexing, loading the model, a client's stream and a write that waits: all at once."""
        many = tmp_path / "many"
        many.mkdir()
        for n in range(240):
            text = f"{TAGGED}# Note {n}\n\n" + f"Sentence {n} of the note on topic {n}. " * 6
            (many / f"Note {n}.md").write_text(text)
        before = {file.name: file.read_bytes() for file in many.iterdir()}
        daemon = make_daemon(many)
        daemon.start()
        eventually(lambda: daemon.get("/count")["count"] > 20, within=60, every=0.01)
        entry = daemon.get("/list", n=1)[0]
        (many / Path(entry["path"]).name).touch()
        request = b'{"id": "%s", "addition": "x"}' % entry["id"].encode()
        with socket.create_connection(("127.0.0.1", daemon.port)) as waiting:
            waiting.sendall(
                b"POST /append HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
                + daemon.http.headers["authorization"].encode()
                + b"\r\nContent-Length: %d\r\n\r\n" % len(request)
                + request
            )
            time.sleep(0.5)
            assert daemon.process is not None
            started = time.monotonic()
            daemon.process.send_signal(number)
            code = daemon.process.wait(timeout=30)
            took = time.monotonic() - started
            assert b"503" in waiting.recv(1000).split(b"\r\n")[0], "it hears that it was not done"
        daemon.process = None
        assert code == 0, daemon.log.read_text()[-2000:]
        assert took < 10
        assert "everything is written" in daemon.log.read_text()
        assert {file.name: file.read_bytes() for file in many.iterdir()} == before
        assert list(daemon.data.rglob("daemon.json")) == []
        daemon.start()
        daemon.wait_scanned()
        assert daemon.get("/count")["count"] == 240

    def test_a_second_signal_is_no_trouble(self, make_daemon: MakeDaemon, vault: Path) -> None:
        daemon = make_daemon(vault).start()
        assert daemon.process is not None
        for _ in range(2):
            daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(timeout=30) == 0
        daemon.process = None


class TestWrongSettings:
    """Each is one sentence on standard error and exit code 2."""

    @staticmethod
    def refused(done: subprocess.CompletedProcess[str], *parts: object) -> None:
        assert done.returncode == 2, done.stderr
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].endswith(".")
        for part in parts:
            assert str(part) in lines[0]
        assert done.stdout == ""

    def test_the_vault(self, tmp_path: Path) -> None:
        data = ("--data-dir", tmp_path / "data")
        self.refused(brain("serve", *data), "vault")
        missing = tmp_path / "missing"
        self.refused(brain("serve", "--vault", missing, *data), missing, "does not exist")
        file = tmp_path / "file.md"
        file.write_text("x")
        self.refused(brain("serve", "--vault", file, *data), file, "not a folder")
        assert not missing.exists()

    def test_the_data_directory(self, vault: Path, tmp_path: Path) -> None:
        inside = vault / "data"
        self.refused(brain("serve", "--vault", vault, "--data-dir", inside), inside, "inside")
        assert not inside.exists()
        (tmp_path / "way in").symlink_to(vault)
        hidden = tmp_path / "way in" / ".brain"
        self.refused(brain("serve", "--vault", vault, "--data-dir", hidden), "inside")
        file = tmp_path / "file"
        file.write_text("x")
        self.refused(brain("serve", "--vault", vault, "--data-dir", file), file)
        self.refused(brain("serve", "--vault", vault, "--data-dir", file / "below"), file)

    def test_the_port(self, vault: Path, tmp_path: Path) -> None:
        data = ("--vault", vault, "--data-dir", tmp_path / "data")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.refused(brain("serve", *data, "--port", port), port, "taken")
        for port in ("99999", "-1", "http", "80.5", ""):
            self.refused(brain("serve", *data, "--port", port), "port")
        self.refused(brain("serve", *data, SECOND_BRAIN_PORT="many"), "SECOND_BRAIN_PORT")
        self.refused(brain("serve", *data, "--host", "192.0.2.77"), "192.0.2.77")
        self.refused(brain("serve", *data, "--host", "no host"), "no host")

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("[server\nport = 1\n", ["line 1"]),
            ("[server]\n\nport = 'x'\n", ["line 3", "server.port", "whole number"]),
            ("[server]\nprot = 1\n", ["line 2", "prot", "port"]),
            ("[sync]\nmode = 'everything'\n", ["line 2", "sync.mode", "tagged", "all"]),
            ("[sync]\ntags = 'brain'\n", ["line 2", "sync.tags", "list"]),
            ("[sync]\nfolder = '../up'\n", ["line 2", "sync.folder"]),
            ("server = 1\n", ["line 1", "server"]),
            ("[server]\nauth_token = 'two words'\n", ["line 2", "auth_token"]),
            ("[index]\nchunk_size = 300\nchunk_overlap = 300\n", ["chunk_overlap", "chunk_size"]),
        ],
    )
    def test_the_configuration_file(
        self, vault: Path, tmp_path: Path, text: str, parts: list[str]
    ) -> None:
        config = tmp_path / "config.toml"
        config.write_text(text)
        done = brain("serve", "--vault", vault, "--data-dir", tmp_path / "d", "--config", config)
        self.refused(done, *parts)
        assert "two words" not in done.stderr, "a secret is not repeated"

    def test_a_configuration_file_that_cannot_be_read(self, vault: Path, tmp_path: Path) -> None:
        data = ("--vault", vault, "--data-dir", tmp_path / "d")
        missing = tmp_path / "missing.toml"
        self.refused(brain("serve", *data, "--config", missing), missing)
        self.refused(brain("serve", *data, SECOND_BRAIN_CONFIG=str(missing)), missing)
        self.refused(brain("serve", *data, "--config", tmp_path), tmp_path)
        latin = tmp_path / "latin.toml"
        latin.write_bytes(b"# fine\nx = '\xe9'\n")
        self.refused(brain("serve", *data, "--config", latin), "line 2", "UTF-8")

    def test_a_token_file_that_is_none(self, vault: Path, tmp_path: Path) -> None:
        data = tmp_path / "data"
        data.mkdir()
        (data / "token").write_text("")
        port = free_port()
        done = brain("serve", "--vault", vault, "--data-dir", data, "--port", port)
        self.refused(done, data / "token")

    def test_an_unknown_flag_and_an_unknown_command(self) -> None:
        for args in (["serve", "--nope"], ["nope"]):
            done = brain(*args)
            assert done.returncode == 2
            assert "nope" in done.stderr.lower()
            assert "Traceback" not in done.stderr


class TestTwoDaemons:
    def test_a_vault_has_one_daemon(
        self, make_daemon: MakeDaemon, vault: Path, tmp_path: Path
    ) -> None:
        daemon = make_daemon(vault).start()
        link = tmp_path / "the same vault"
        link.symlink_to(vault)
        for same in (vault, link):
            done = brain("serve", "--vault", same, "--data-dir", daemon.data, "--port", free_port())
            TestWrongSettings.refused(done, "already", daemon.url)
        assert daemon.http.get("/health").status_code == 200
        daemon.kill()
        daemon.start()  # what a killed one left behind keeps nobody out

    def test_two_vaults_share_a_data_directory(
        self, make_daemon: MakeDaemon, vault: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "other" / "vault"
        other.mkdir(parents=True)
        first, second = make_daemon(vault).start(), make_daemon(other)
        second.data = first.data
        second.start()
        first.wait_scanned()
        first.post("/capture", content="Only in the first.")
        assert (first.get("/count")["count"], second.get("/count")["count"]) == (2, 0)


class TestCommands:
    def test_status_token_model_version(self, make_daemon: MakeDaemon, vault: Path) -> None:
        daemon = make_daemon(vault)
        env = {"SECOND_BRAIN_DATA_DIR": str(daemon.data), "SECOND_BRAIN_CONFIG": str(daemon.config)}
        env["SECOND_BRAIN_MODEL_DIR"] = daemon.env["SECOND_BRAIN_MODEL_DIR"]
        idle = brain("status", **env)
        assert idle.returncode == 1
        assert "none runs" in idle.stdout

        shown = brain("token", "show", **env)
        assert shown.returncode == 0
        token = shown.stdout.strip()
        assert token == (daemon.data / "token").read_text().strip()
        assert brain("token", "show", "--where", **env).stdout.strip() == str(daemon.data / "token")

        del daemon.env["SECOND_BRAIN_AUTH_TOKEN"]
        daemon.http.headers["Authorization"] = f"Bearer {token}"
        daemon.start()
        daemon.wait_scanned()
        status = brain("status", **env)
        assert status.returncode == 0, status.stderr
        for part in (str(vault), daemon.url, "Memories  1", "Problems  none"):
            assert part in status.stdout
        assert token not in status.stdout

        models = brain("model", "list", **env)
        assert models.returncode == 0
        assert re.search(r"^\* multilingual-e5-small .* ready", models.stdout, re.MULTILINE)
        version = brain("version")
        assert version.returncode == 0
        assert version.stdout.startswith("Second Brain")
        for args in (["--help"], ["serve", "--help"], ["mcp", "--help"]):
            done = brain(*args)
            assert (done.returncode, done.stderr) == (0, "")

    def test_mcp_for_a_vault_that_is_none(self, tmp_path: Path) -> None:
        done = brain("mcp", "--vault", tmp_path / "none", "--data-dir", tmp_path / "data")
        TestWrongSettings.refused(done, "does not exist")

    def test_nothing_is_printed_on_the_protocols_channel(
        self, make_daemon: MakeDaemon, vault: Path
    ) -> None:
        daemon = make_daemon(vault)
        for prepare in (lambda: None, daemon.start):
            prepare()
            done = brain(
                "mcp",
                "--vault",
                vault,
                "--data-dir",
                daemon.data,
                **{key: value for key, value in daemon.env.items() if "SECOND_BRAIN" in key},
            )
            assert (done.returncode, done.stdout) == (0, ""), done.stderr
