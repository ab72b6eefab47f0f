"""What tests ask of a daemon with a model, and what the model was given to read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chat_server import ScriptedServer, data_of
from harness import DaemonProcess


def labels(request: dict[str, Any]) -> dict[str, str]:
    """What the model was given to read, by its label."""
    found = re.findall(r"<<<begin (\w+) \w+>>>\n(.*?)\n<<<end", data_of(request), re.DOTALL)
    return dict(found)


def label_of(request: dict[str, Any], words: str) -> str:
    return next(label for label, text in labels(request).items() if words in text)


def say(daemon: DaemonProcess, query: str) -> str:
    text = daemon.http.post("/chat", json={"query": query}).text
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    return "".join(json.loads(line)["response"] for line in lines)


def brain(daemon: DaemonProcess, command: str) -> str:
    """What a command prints."""
    arguments = ["--vault", str(daemon.vault), "--data-dir", str(daemon.data)]
    return subprocess.run(
        [sys.executable, "-m", "second_brain.cli.main", command, *arguments],
        env=daemon.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout


@contextmanager
def running_with(
    server: ScriptedServer, vault: Path, data: Path, model_dir: Path, **env: str
) -> Iterator[DaemonProcess]:
    """A daemon whose language model is `server`, ready; `env` are settings without the prefix."""
    given = ("--llm-url", server.url, "--llm-model", "small")
    daemon = DaemonProcess(vault, data, model_dir, *given)
    daemon.env.update({f"SECOND_BRAIN_{name}": value for name, value in env.items()})
    try:
        daemon.start()
        daemon.wait_ready()
        yield daemon
    finally:
        daemon.close()
