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


def test_rotate_writes_another_for_its_owner_alone(brain, home: Path) -> None:
    file = home / "data/second-brain/token"
    before = brain("token", "show").stdout
    result = brain("token", "rotate")
    assert result.exit_code == 0, result.output
    after = file.read_text()
    assert len(after) == len(before)
    assert after != before
    assert after.strip() not in result.output
    assert file.stat().st_mode & 0o077 == 0
    assert [each.name for each in file.parent.iterdir()] == ["token"]


def test_a_token_that_is_set_elsewhere_is_not_rotated(
    brain, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("SECOND_BRAIN_AUTH_TOKEN", "mine")
    result = brain("token", "rotate")
    assert result.exit_code == 2
    assert "change it there" in result.stderr
    assert not (home / "data/second-brain/token").exists()
