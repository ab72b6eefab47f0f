"""Starts the real daemon as a process on a copy of a vault and talks to it over HTTP."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2

T = TypeVar("T")

EXAMPLES = Path(__file__).parents[2] / "examples" / "vault"
TOKEN = "test-token-of-the-end-to-end-suite"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _free_place() -> tuple[int, str]:
    port = free_port()
    return port, f"http://127.0.0.1:{port}"


def eventually(check: Callable[[], T | None], *, within: float = 10.0, every: float = 0.05) -> T:
    """The first truthy value of `check`; fails with its last value or error after `within` s."""
    deadline = time.monotonic() + within
    last: object = None
    while time.monotonic() < deadline:
        try:
            last = check()
            if last:
                return last
        except (AssertionError, httpx2.HTTPError, OSError) as error:
            last = error
        time.sleep(every)
    raise AssertionError(f"not within {within} s; last: {last!r}")


def clean_environment() -> dict[str, str]:
    """This process's environment without any setting of ours, and with compiled modules kept."""
    kept = {name: value for name, value in os.environ.items() if "SECOND_BRAIN_" not in name}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept


class DaemonProcess:
    """`brain serve` on `vault`, with its own data directory; restartable on the same port."""

    def __init__(
        self,
        vault: Path,
        data: Path,
        model_dir: Path,
        *flags: str,
        preexec: Callable[[], None] | None = None,
    ) -> None:
        self.vault = vault
        self.data = data
        self.port, self.url = _free_place()
        self.flags = flags
        self.preexec = preexec
        self.config = data.with_name(f"{data.name}.toml")
        self.config.touch()
        self.env = {
            **clean_environment(),
            "SECOND_BRAIN_AUTH_TOKEN": TOKEN,
            "SECOND_BRAIN_MODEL_DIR": str(model_dir),
            "SECOND_BRAIN_CONFIG": str(self.config),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.log = data.with_name(f"{data.name}.log")
        self.http = httpx2.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=60,
            trust_env=False,
        )

    def move(self) -> None:
        """Have another port from the next start on."""
        self.port, self.url = _free_place()
        self.http.base_url = self.url

    def command(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "second_brain.cli.main",
            "serve",
            "--vault",
            str(self.vault),
            "--port",
            str(self.port),
            "--data-dir",
            str(self.data),
            *self.flags,
        ]

    def start(self, *, wait: bool = True) -> DaemonProcess:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=log,
                env=self.env,
                stdin=subprocess.DEVNULL,
                preexec_fn=self.preexec,  # noqa: PLW1509 - nothing but a system call
            )
        if wait:
            self.wait_up()
        return self

    def wait_up(self, within: float = 30.0) -> None:
        def up() -> bool:
            assert self.process is not None
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon ended: {self.log.read_text()[-3000:]}")
            return self.http.get("/health").status_code == 200

        eventually(up, within=within)

    def wait_ready(self, within: float = 120.0) -> dict[str, Any]:
        """Until the model is loaded and nothing is pending; returns /health."""

        def ready() -> dict[str, Any] | None:
            health = self.health()
            done = health["embedding"]["state"] == "ready" and health["index"]["pending"] == 0
            return health if done and not health["index"]["scanning"] else None

        try:
            return eventually(ready, within=within, every=0.2)
        except AssertionError:
            raise AssertionError(f"not ready within {within} s: {self.health()}") from None

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        self.process = None
        return code

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=30)
        self.process = None

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=30)
            self.process = None
        self.http.close()

    # requests

    def crashes(self) -> str:
        """The log from the first traceback on; empty if there is none."""
        found = self.log.read_text("utf-8", "replace") if self.log.exists() else ""
        place = found.find("Traceback")
        return found[max(0, place - 300) :][:5000] if place >= 0 else ""

    def wait_scanned(self, within: float = 60.0) -> None:
        """Until the vault has been compared once; the model may still be loading."""
        eventually(lambda: not self.health()["index"]["scanning"], within=within)

    def health(self) -> dict[str, Any]:
        return dict(self.http.get("/health").json())

    def get(self, path: str, /, **params: str | float | None) -> Any:
        response = self.http.get(path, params={k: v for k, v in params.items() if v is not None})
        assert response.status_code == 200, (response.status_code, response.text)
        return response.json()

    def post(self, path: str, /, **body: object) -> Any:
        response = self.http.post(path, json=body)
        assert response.status_code == 200, (response.status_code, response.text)
        return response.json()

    def recall(self, query: str, **params: str | float | None) -> list[dict[str, Any]]:
        return list(self.get("/recall", query=query, **params)["results"])

    def note(self, path: str) -> dict[str, Any] | None:
        notes = self.get("/notes", path=path)["notes"]
        return dict(notes[0]) if notes else None

    def all_notes(self) -> dict[str, dict[str, Any]]:
        notes: dict[str, dict[str, Any]] = {}
        cursor = None
        while True:
            page = self.get("/notes", n=500, cursor=cursor)
            notes.update({note["path"]: note for note in page["notes"]})
            cursor = page["next_cursor"]
            if not cursor:
                return notes

    # the vault

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def bytes_of_vault(self) -> dict[str, bytes]:
        return {
            str(file.relative_to(self.vault)): file.read_bytes()
            for file in sorted(self.vault.rglob("*"))
            if file.is_file() and not file.is_symlink()
        }

    def body(self, path: str) -> str:
        """A note's text below its properties."""
        return body_of((self.vault / path).read_bytes())

    def markdown_files(self) -> set[str]:
        """Vault-relative paths of the notes that Obsidian shows."""
        return {
            path
            for path in self.bytes_of_vault()
            if path.endswith(".md") and not any(part[0] == "." for part in path.split("/"))
        }


def body_of(data: bytes) -> str:
    found = re.match(r"\ufeff?---\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", data.decode(), re.DOTALL)
    return data.decode()[found.end() if found else 0 :]


MakeDaemon = Callable[..., DaemonProcess]


def age(folder: Path, seconds: float = 3600.0) -> None:
    """Make every file look as if nobody had touched it for a while, as in a vault at rest."""
    then = time.time() - seconds
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            os.utime(file, (then, then))


def copy_examples(target: Path) -> Path:
    shutil.copytree(EXAMPLES, target)
    age(target)
    return target


@contextmanager
def serving_examples(root: Path, model_dir: Path, *flags: str) -> Iterator[DaemonProcess]:
    """A daemon on a copy of the example vault below `root`, ready; it must not have crashed."""
    vault = copy_examples(root / "vault")
    (root / "data").mkdir()
    process = DaemonProcess(vault, root / "data", model_dir, *flags)
    try:
        process.start()
        process.wait_ready()
        yield process
        assert process.crashes() == ""
    finally:
        process.close()
