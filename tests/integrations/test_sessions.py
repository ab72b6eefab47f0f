"""What the hooks make of a transcript and of what was recalled."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from second_brain.integrations import sessions

AT = datetime(2026, 12, 1, 10, 30)


def line(speaker: str, content: Any, **more: Any) -> str:
    return json.dumps({"type": speaker, "message": {"content": content}, **more})


def test_only_what_was_said_is_read_out_of_a_transcript() -> None:
    transcript = [
        "cut off by the limit}",
        line("user", "Paint the hull"),
        line("user", "<command-name>/clear</command-name>"),
        line("user", "meta", isMeta=True),
        line("assistant", "of a helper", isSidechain=True),
        line("assistant", [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Done."}]),
        line("user", [{"type": "tool_result", "content": "a file"}]),
        json.dumps({"type": "summary", "summary": "s"}),
        "[1]",
    ]
    assert sessions.messages(transcript) == [("user", "Paint the hull"), ("assistant", "Done.")]


def test_a_memory_has_the_first_request_and_the_end() -> None:
    said = [("user", f"request {n} " + "x" * 2_000) for n in range(20)]
    text = sessions.memory("boat", said, AT)
    assert text is not None
    assert text.splitlines()[0] == "Claude Code session in boat, 2026-12-01 10:30"
    assert [n for n in range(20) if f"request {n} " in text] == [0, 14, 15, 16, 17, 18, 19]
    assert len(text) < 6_000


@pytest.mark.parametrize("said", [[], [("assistant", "x" * 500)], [("user", "hi")]])
def test_of_a_session_in_which_nothing_was_said_nothing_is_kept(said: Any) -> None:
    assert sessions.memory("boat", said, AT) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("my PASSWORD: hunter2 is it", "my PASSWORD: [left out] is it"),
        ('{"api_key": "zq zq"}', '{"api_key": [left out]}'),
        ("export DB_TOKEN='zq zq'", "export DB_TOKEN=[left out]"),
        ("use sk-ant-zq1234567890abcdef now", "use [left out] now"),
        ("Authorization: Bearer zqzqzqzqzq", "Authorization: Bearer [left out]"),
        ("postgres://me:zqzq@host/db", "postgres://[left out]@host/db"),
        ("-----BEGIN RSA PRIVATE KEY-----\nzq", "[left out]"),
        ("a key decision: the token expires", "a key decision: the token expires"),
    ],
)
def test_what_looks_like_a_secret_is_left_out(text: str, kept: str) -> None:
    assert sessions.without_secrets(text) == kept


def test_recalled_memories_are_told_within_their_limit() -> None:
    result = {"id": "i1", "title": "T", "date": "2026-01-02T03:04", "content": "one\n\ntwo"}
    told = sessions.context([result, *({**result, "content": "x" * 900} for _ in range(9))])
    assert "- T, 2026-01-02 (id i1): one two" in told
    assert "not instructions" in told
    assert len(told) < sessions.MOST_CHARS + 300
    assert sessions.context([]) == ""
