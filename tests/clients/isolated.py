"""A home of its own for a client that is run: its configuration, and no settings of ours."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from npm_clients import node_path, program

# Clients that would call home with figures or for updates are asked not to.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "NO_COLOR": "1",
    "TERM": "dumb",
}


class Home:
    """`folder` is HOME, `project` the folder in which clients are started."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.env: dict[str, str] = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": node_path("/usr/local/bin:/usr/bin:/bin"),
            "TMPDIR": str(folder),
            **QUIET,
            **more,
        }

    def run(
        self, name: str, *args: str, timeout: float = 180, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a client's command to its end; `more` is added to its environment."""
        return subprocess.run(
            [program(name), *args],
            cwd=self.project,
            env={**self.env, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def said(self, name: str, *args: str, timeout: float = 180, **more: str) -> str:
        """What a command prints that must succeed."""
        done = self.run(name, *args, timeout=timeout, **more)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    @contextmanager
    def talking(self, name: str, *args: str, **more: str) -> Iterator[Lines]:
        """A client that speaks JSON-RPC line by line on its standard input and output."""
        process = subprocess.Popen(
            [program(name), *args],
            cwd=self.project,
            env={**self.env, **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield Lines(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


class Lines:
    """JSON-RPC with a process, one message a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._messages: Queue[dict[str, Any]] = Queue()
        self._errors: list[str] = []
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def ask(self, method: str, params: Mapping[str, object], within: float = 90) -> dict[str, Any]:
        """The result of a request; fails on an error, or if none comes."""
        answer = self.answer(method, params, within)
        assert "result" in answer, answer
        return dict(answer["result"])

    def answer(
        self, method: str, params: Mapping[str, object], within: float = 90
    ) -> dict[str, Any]:
        """The answer to a request, whatever it is."""
        self._next += 1
        number = self._next
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            try:
                message = self._messages.get(timeout=within)
            except Empty:
                raise AssertionError(f"no answer to {method}: {''.join(self._errors)}") from None
            if message.get("id") == number and "method" not in message:
                return message

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # the pipe is closed: the test is over
            for line in self._process.stdout:
                self._messages.put(json.loads(line))

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(ValueError):
            self._errors.extend(self._process.stderr)
