"""Writes the browser extension into a folder from which a browser loads it.

The scripts are the same for all browsers; the manifest differs in how the background script is
named and in what each store asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, get_args

from second_brain import __version__
from second_brain.errors import SecondBrainError

Browser = Literal["chrome", "edge", "firefox"]
BROWSERS: tuple[Browser, ...] = get_args(Browser)

MANIFEST = "manifest.json"
_DEFAULTS = "defaults.js"
_BACKGROUND = "background.js"
_OURS = "Second Brain"
_FIREFOX_ID = "second-brain@obsidian-vault"


@dataclass(frozen=True, slots=True)
class Written:
    """How many files were new or changed, and how many there are."""

    changed: int
    total: int


def write_extension(target: Path, browser: Browser, address: str) -> Written:
    """Make `target` hold the extension, with `address` as the daemon's until another is chosen.

    Raises SecondBrainError for a folder in which something else lies.
    """
    files = dict(_files(browser, address))
    changed = 0
    try:
        _check(target)
        for name, data in files.items():
            file = target / name
            if file.is_file() and file.read_bytes() == data:
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            changed += 1
    except OSError as error:
        where = error.filename or target
        raise SecondBrainError(f"{where} cannot be written: {error.strerror}.") from error
    return Written(changed, len(files))


def manifest(browser: Browser) -> dict[str, Any]:
    """The manifest for a browser."""
    common = json.loads((_folder() / MANIFEST).read_text("utf-8"))
    # Browsers know numbers alone in a version.
    common["version"] = re.sub(r"[^\d.].*", "", __version__).strip(".")
    if browser != "firefox":
        worker = {"service_worker": _BACKGROUND, "type": "module"}
        return {**common, "background": worker, "minimum_chrome_version": "120"}
    gecko = {
        "id": _FIREFOX_ID,
        "strict_min_version": "140.0",
        # What a user captures goes to the user's own daemon, and nothing goes anywhere else.
        "data_collection_permissions": {"required": ["websiteContent", "browsingActivity"]},
    }
    return {
        **common,
        "background": {"scripts": [_BACKGROUND], "type": "module"},
        "browser_specific_settings": {
            "gecko": gecko,
            "gecko_android": {"strict_min_version": "142.0"},
        },
    }


def _files(browser: Browser, address: str) -> Iterator[tuple[str, bytes]]:
    for name, source in _walk(_folder()):
        if name == MANIFEST:
            yield name, (json.dumps(manifest(browser), indent=2) + "\n").encode()
        elif name == _DEFAULTS:
            comment = source.read_text("utf-8").splitlines()[0]
            yield name, f"{comment}\nexport const ADDRESS = {json.dumps(address)};\n".encode()
        else:
            yield name, source.read_bytes()


def _folder() -> Traversable:
    return resources.files(__package__) / "files"


def _walk(folder: Traversable, below: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _walk(entry, f"{below}{entry.name}/")
        else:
            yield f"{below}{entry.name}", entry


def _check(target: Path) -> None:
    """Raise unless `target` is free: missing, empty, or written by us before."""
    if not target.exists():
        return
    if not target.is_dir():
        raise SecondBrainError(f"{target} is a file; name a folder.")
    if not any(target.iterdir()) or _is_ours(target / MANIFEST):
        return
    raise SecondBrainError(
        f"{target} holds something else, and nothing was written. Name a new or an empty folder."
    )


def _is_ours(file: Path) -> bool:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("short_name") == _OURS
