from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.server.callers import client_name


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude-code/2.1.332 (cli)", "claude-code"),
        ("codex-mcp-client/0.171.0", "codex-mcp-client"),
        ("Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/156", "browser"),
        ("Mozilla/5.0 (Macintosh) obsidian/1.12.4 Chrome/142 Electron/39", "obsidian"),
        ("curl", "curl"),
        ("", "unknown"),
        ("/1.0", "unknown"),
        ("\x1b[31m", "unknown"),
    ],
)
def test_programs(agent: str, name: str) -> None:
    assert client_name(agent) == name


@given(st.text())
def test_a_name_is_short_and_printable(agent: str) -> None:
    name = client_name(agent)
    assert 0 < len(name) <= 80
    assert name.isprintable()
