"""The instructions for AI tools name only tools and parameters that exist, and say what matters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from second_brain.integrations.connect.clients import TRANSPORTS
from second_brain.integrations.instructions.rendering import LONGEST, body, files
from second_brain.integrations.instructions.rendering import SOURCES as ALL
from second_brain.memory.model import KINDS, RELATION_TYPES, STATUSES
from second_brain.server.tool_list import TOOLS

FOLDER = Path(__file__).parents[1] / "ai_instructions"
FILES = sorted(FOLDER.glob("*.md"))
TOOL_NAMES = {tool.name for tool in TOOLS}
PARAMETERS = {name for tool in TOOLS for name in dict(tool.input_schema["properties"])}
SOURCES = {"claude", "chatgpt", "codex", "gemini", "cursor"}
CONNECTS = {f"brain connect {name}" for name in (*TRANSPORTS, "chatgpt")}
OTHER_WORDS = {"second-brain", *CONNECTS, *KINDS, *STATUSES, *RELATION_TYPES, *SOURCES}


def test_each_client_has_its_file() -> None:
    assert {path.stem.lower() for path in FILES} == SOURCES


def test_the_files_are_what_the_one_text_is_rendered_to() -> None:
    found = {path.name: path.read_text("utf-8") for path in FILES}
    assert found == files(), "run: make instructions"


@pytest.mark.parametrize("source", ALL)
def test_the_text_is_short_enough_for_every_client(source: str) -> None:
    assert len(body(source)) <= LONGEST
    assert f"`{source}`" in body(source)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_name_in_code_type_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    named = set(re.findall(r"`([^`\n]+)`", text.replace("```", "")))
    unknown = {
        name
        for name in named - TOOL_NAMES - PARAMETERS - OTHER_WORDS
        if not re.search(r"[./]|^hops: [0-3]$", name)  # Paths and files.
    }
    assert unknown == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_essentials_are_said(path: Path) -> None:
    text = path.read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", text)) & TOOL_NAMES
    assert named >= {"recall", "remember", "append", "update", "get", "forget", "link"}
    assert re.search(rf"source`?: [`\"]{path.stem.lower()}[`\"]", " ".join(text.split()))
    flat = " ".join(text.casefold().split())
    for said in (
        "second brain",
        "supersedes",
        "passwords|secrets",
        "already|exists",
        "never.{0,20}forget",
        "data[,:].{0,20}(?:not|command)",
        "without (?:it|them|the tools)",
    ):
        assert re.search(said, flat), said
    assert len(text) < 4_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_passed_to_a_tool_is_allowed(path: Path) -> None:
    text = path.read_text("utf-8")
    for kind in re.findall(r"\(`(\w+)` for events", text):
        assert kind in KINDS
    for status in re.findall(r"`set_status`(?: the old one)? (\w+)", text):
        assert status in STATUSES
