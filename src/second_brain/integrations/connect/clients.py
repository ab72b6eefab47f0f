"""What each client is told: its entry, its own command, its files. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from second_brain.integrations.connect.places import Places

NAME = "second-brain"
TOKEN_VARIABLE = "SECOND_BRAIN_AUTH_TOKEN"
OWNED = frozenset(
    {"type", "url", "httpUrl", "headers", "headersHelper", "command", "args", "env"}
    | {"bearer_token_env_var", "http_headers", "env_http_headers"}
)
"""The keys of an entry that say how it is reached: ours. All others in it are the user's."""

Transport = Literal["http", "stdio"]


@dataclass(frozen=True, slots=True)
class Launch:
    """How this brain is reached: commands as words, with absolute paths, and the address.

    `name` is what a client calls it by; each of several vaults has its own.
    """

    stdio: tuple[str, ...]
    token: tuple[str, ...]
    headers: tuple[str, ...]
    url: str
    public_url: str | None
    name: str = NAME


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `program` and the commands are its own way; `config` is where that leads.

    Without `remove` its configuration is written by hand, and its own command would not keep the
    comments and the layout in it: then the command is for a user who has no such file yet.
    `instructions` is its global file, None where there is none and the user has to paste.
    """

    name: str
    title: str
    source: str
    config: Path
    path: tuple[str, ...]
    entry: Mapping[str, Any]
    program: str | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    instructions: Path | None = None
    front: str = ""
    paste: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def is_toml(self) -> bool:
        return self.config.suffix == ".toml"


TRANSPORTS: Mapping[str, tuple[Transport, ...]] = {
    "claude-code": ("http", "stdio"),
    "claude-desktop": ("stdio",),
    "codex": ("stdio", "http"),
    "gemini": ("stdio", "http"),
    "cursor": ("stdio", "http"),
    "vscode": ("stdio", "http"),
}
"""The ways in which a client can be connected; the first is the usual one."""


def client(name: str, places: Places, launch: Launch, transport: Transport) -> Client:
    """The client of this name in `TRANSPORTS`."""
    made = {
        "claude-code": _claude_code,
        "claude-desktop": _claude_desktop,
        "codex": _codex,
        "gemini": _gemini,
        "cursor": _cursor,
        "vscode": _vscode,
    }
    return made[name](places, launch, transport)


def _json(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)


def _stdio(launch: Launch) -> dict[str, Any]:
    return {"command": launch.stdio[0], "args": list(launch.stdio[1:])}


def _claude_code(places: Places, launch: Launch, transport: Transport) -> Client:
    entry: dict[str, Any] = {"type": "stdio", **_stdio(launch)}
    if transport == "http":
        # Claude Code asks for the token whenever it connects, so it is kept in no file of Claude's.
        helper = command_line(launch.headers, places)
        entry = {"type": "http", "url": launch.url, "headersHelper": helper}
    return Client(
        "claude-code", "Claude Code", "claude",
        places.claude_code, ("mcpServers", launch.name), entry,
        program="claude",
        add=("mcp", "add-json", "--scope", "user", launch.name, _json(entry)),
        remove=("mcp", "remove", "--scope", "user", launch.name),
        instructions=places.claude_code_folder / "CLAUDE.md",
    )  # fmt: skip


def _claude_desktop(places: Places, launch: Launch, transport: Transport) -> Client:
    return Client(
        "claude-desktop", "Claude Desktop", "claude",
        places.claude_desktop, ("mcpServers", launch.name), _stdio(launch),
        paste="Settings, Profile",
        notes=("Quit Claude Desktop and start it again: it reads its settings only then.",),
    )  # fmt: skip


def _codex(places: Places, launch: Launch, transport: Transport) -> Client:
    over_http = transport == "http"
    entry: dict[str, Any] = _stdio(launch)
    add = ("mcp", "add", launch.name, "--", *launch.stdio)
    notes: tuple[str, ...] = ()
    if over_http:
        entry = {"url": launch.url, "bearer_token_env_var": TOKEN_VARIABLE}
        add = (
            "mcp",
            "add",
            launch.name,
            "--url",
            launch.url,
            "--bearer-token-env-var",
            TOKEN_VARIABLE,
        )
        notes = (
            f"Put into your shell's profile: "
            f'export {TOKEN_VARIABLE}="$({command_line(launch.token, places)})"',
        )
    folder = places.codex_folder
    return Client(
        "codex", "Codex CLI", "codex",
        folder / "config.toml", ("mcp_servers", launch.name), entry,
        program="codex", add=add,
        instructions=folder / "AGENTS.md", notes=notes,
    )  # fmt: skip


def _gemini(places: Places, launch: Launch, transport: Transport) -> Client:
    entry: dict[str, Any] = _stdio(launch)
    first, *rest = launch.stdio
    add = ("mcp", "add", "-s", "user", launch.name, first, "--", *rest)
    notes: tuple[str, ...] = ()
    if transport == "http":
        entry = {"url": launch.url, "type": "http"}
        add = ("mcp", "add", "-s", "user", "-t", "http", launch.name, launch.url)
        notes = (f"Log in from within Gemini CLI: /mcp auth {launch.name}",)
    folder = places.gemini_folder
    return Client(
        "gemini", "Gemini CLI", "gemini",
        folder / "settings.json", ("mcpServers", launch.name), entry,
        program="gemini", add=add,
        instructions=folder / "GEMINI.md", notes=notes,
    )  # fmt: skip


def _cursor(places: Places, launch: Launch, transport: Transport) -> Client:
    over_http = transport == "http"
    return Client(
        "cursor", "Cursor", "cursor",
        places.cursor, ("mcpServers", launch.name),
        {"url": launch.url} if over_http else _stdio(launch),
        paste="Settings, Rules, User Rules",
        notes=("In Cursor's settings, under MCP, press Login beside second-brain.",)
        if over_http else (),
    )  # fmt: skip


def _vscode(places: Places, launch: Launch, transport: Transport) -> Client:
    over_http = transport == "http"
    entry = {"type": "http", "url": launch.url} if over_http else _stdio(launch)
    folder = places.vscode_folder
    return Client(
        "vscode", "VS Code", "vscode",
        folder / "mcp.json", ("servers", launch.name), {"type": transport, **entry},
        instructions=folder / "prompts" / "second-brain.instructions.md",
        front="---\napplyTo: \"**\"\n---\n",
        notes=("VS Code asks you to log in when it first uses it.",) if over_http else (),
    )  # fmt: skip


def chatgpt(launch: Launch) -> tuple[str, ...]:
    """What the user has to do: ChatGPT is not on this machine, and takes no local settings."""
    if launch.public_url is None:
        reach = (
            "Publish the daemon through a tunnel that speaks HTTPS (Cloudflare Tunnel, Tailscale "
            f"Funnel) and leads to {launch.url.removesuffix('/mcp')}, set server.public_url to the "
            "tunnel's address, and start the daemon again. Then run this once more."
        )
        address = "the tunnel's address with /mcp at its end"
    else:
        reach = f"See that {launch.public_url}/health answers from elsewhere."
        address = f"{launch.public_url}/mcp"
    return (
        reach,
        "In ChatGPT on the web: Settings, Apps & Connectors, Advanced settings, switch on "
        "Developer mode.",
        f"Create a connector named “second-brain”: MCP server URL {address}, authentication OAuth.",
        "ChatGPT opens the daemon's own page: paste the token there, which `brain token show` "
        "prints, and press Connect.",
        "Paste the instructions below into Settings, Personalization, Custom instructions.",
    )


def command_line(words: tuple[str, ...], places: Places) -> str:
    """Words as one line for the shell of this system."""
    if places.system == "windows":
        return " ".join(f'"{word}"' if " " in word or not word else word for word in words)
    return shlex.join(words)


def program_of(entry: Mapping[str, Any]) -> str | None:
    """The program that an entry starts, None if it starts none."""
    command = entry.get("command")
    if isinstance(command, str):
        return command
    helper = entry.get("headersHelper")
    if not isinstance(helper, str):
        return None
    quoted = re.match(r"""\s*(?:"([^"]+)"|'([^']+)'|(\S+))""", helper)
    return next((part for part in quoted.groups() if part), None) if quoted else None
