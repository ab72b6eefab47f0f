"""The instructions of each client out of the one text in body.md."""

from __future__ import annotations

from importlib import resources

SOURCES = ("claude", "chatgpt", "codex", "gemini", "cursor", "vscode")
"""What `source` is in the memories of a client."""

LONGEST = 1_500
"""Characters that ChatGPT takes as custom instructions."""

_HEADING = "# Second brain"

_PLACES = {
    "CLAUDE.md": (
        "claude",
        "For Claude Code in `~/.claude/CLAUDE.md`, where `brain connect claude-code` puts it. For "
        "Claude Desktop\nand claude.ai: paste it into *Settings, Profile*, or into a project's "
        "instructions.",
    ),
    "CHATGPT.md": (
        "chatgpt",
        "Paste it into *Settings, Personalization, Custom instructions*, or into a project's "
        "instructions.\nThe second brain must be a connector first: `brain connect chatgpt` says "
        "how.",
    ),
    "CODEX.md": (
        "codex",
        "For `~/.codex/AGENTS.md`, where `brain connect codex` puts it, or the `AGENTS.md` of one "
        "repository.",
    ),
    "GEMINI.md": (
        "gemini",
        "For `~/.gemini/GEMINI.md`, where `brain connect gemini` puts it, or the `GEMINI.md` of "
        "one project.",
    ),
}
_CURSOR = (
    "Paste it, from the second heading on, into *Settings, Rules, User Rules*; or save all below "
    "the line\nas `.cursor/rules/second-brain.mdc` in a project."
)
_CURSOR_RULE = "description: Use the second brain as long-term memory\nalwaysApply: true"


def body(source: str) -> str:
    """The instructions alone, for a client that stores as `source`."""
    text = resources.files(__package__).joinpath("body.md").read_text("utf-8")
    return text.replace("SOURCE", source).strip()


def with_heading(source: str) -> str:
    """The instructions as a part of a file in which other things stand."""
    return f"{_HEADING}\n\n{body(source)}\n"


def files() -> dict[str, str]:
    """The files of `ai_instructions/`, by name."""
    rendered = {
        name: f"{_HEADING}: instructions\n\n{place}\n\n---\n\n{with_heading(source)}"
        for name, (source, place) in _PLACES.items()
    }
    rule = f"---\n{_CURSOR_RULE}\n---\n{with_heading('cursor')}"
    rendered["CURSOR.md"] = (
        f"{_HEADING}: instructions\n\n{_CURSOR}\n\n---\n\n```markdown\n{rule}```\n"
    )
    return rendered
