"""Where each client keeps its files, on Linux, macOS and Windows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

System = Literal["linux", "darwin", "windows"]


@dataclass(frozen=True, slots=True)
class Places:
    """The files of this user's clients."""

    system: System
    home: Path
    environ: Mapping[str, str]

    @property
    def apps(self) -> Path:
        """The folder in which desktop applications keep their settings."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "windows":
            return self._named("APPDATA") or self.home / "AppData" / "Roaming"
        return self._named("XDG_CONFIG_HOME") or self.home / ".config"

    @property
    def claude_code(self) -> Path:
        """Where servers are registered; everything else is in `claude_code_folder`."""
        return (self._named("CLAUDE_CONFIG_DIR") or self.home) / ".claude.json"

    @property
    def claude_code_folder(self) -> Path:
        return self._named("CLAUDE_CONFIG_DIR") or self.home / ".claude"

    @property
    def claude_desktop(self) -> Path:
        return self.apps / "Claude" / "claude_desktop_config.json"

    @property
    def codex_folder(self) -> Path:
        return self._named("CODEX_HOME") or self.home / ".codex"

    @property
    def gemini_folder(self) -> Path:
        return (self._named("GEMINI_CLI_HOME") or self.home) / ".gemini"

    @property
    def cursor(self) -> Path:
        return self.home / ".cursor" / "mcp.json"

    @property
    def vscode_folder(self) -> Path:
        return self.apps / "Code" / "User"

    def _named(self, variable: str) -> Path | None:
        value = self.environ.get(variable)
        return Path(value) if value else None


def own_places() -> Places:
    """Those of the user that runs this."""
    names: dict[str, System] = {"darwin": "darwin", "win32": "windows"}
    return Places(names.get(sys.platform, "linux"), Path.home(), os.environ)
