"""`brain token`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_show_prints_the_token_alone_and_the_same_each_time(brain, home: Path) -> None:
    first = brain("token", "show")
    assert first.exit_code == 0
    assert first.stdout == (home / "data/second-brain/token").read_text()
    assert brain("token", "show").stdout == first.stdout


def test_where(brain, tmp_path: Path) -> None:
    result = brain("token", "show", "--where", "--data-dir", str(tmp_path / "d"))
    assert result.stdout == f"{tmp_path}/d/token\n"


def test_a_token_of_the_environment_is_the_one(brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_BRAIN_AUTH_TOKEN", "mine")
    assert brain("token", "show").stdout == "mine\n"


def test_headers_are_what_a_client_sends(brain) -> None:
    headers = json.loads(brain("token", "headers").stdout)
    assert headers == {"Authorization": f"Bearer {brain('token', 'show').stdout.strip()}"}
