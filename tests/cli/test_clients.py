"""`brain clients`: alike beside a daemon and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from worlds import World, serving

from second_brain.index.logins import Client
from second_brain.index.state import State
from second_brain.instance import vault_folder

FAR = 9_000_000_000_000


@pytest.fixture(scope="module", params=["daemon", "alone"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_dir: Path
) -> Iterator[World]:
    """A vault that two applications are let in to, and a third has only registered."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "My Vault").mkdir()
    world = World(folder / "My Vault", folder / "data", model_dir)
    place = vault_folder(world.settings)
    place.path.mkdir(parents=True)
    state = State.open(place.state)
    for number, (id, name) in enumerate(
        [("aa-1", "Claude Code"), ("ab-2", "Cod\u202eex\n"), ("b-3", "Idle")]
    ):
        state.logins.put_client(Client(id, name, "{}", None, 1_700_000_000_000 + number))
        if name != "Idle":
            n = state.logins.begin(id, resource="r", redirect_uri="u", challenge="c", at=1)
            state.logins.add_token(id.encode(), n, "refresh", FAR)
    state.close()
    with serving(world) if request.param == "daemon" else nullcontext():
        yield world


def listed(world: World, *more: str) -> list[dict[str, Any]]:
    return list(json.loads(world.run("clients", *more, "--json").stdout)["clients"])


def test_they_are_listed_and_revoked(world: World) -> None:
    result = world.run("clients")
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[:3] for row in rows] == [["ab-2", "Cod ex", "1"], ["aa-1", "Claude Code", "1"]]
    assert all(row[3].startswith("2023-11-1") for row in rows)
    assert [client["id"] for client in listed(world)] == ["ab-2", "aa-1"]
    assert [client["id"] for client in listed(world, "--all")] == ["b-3", "ab-2", "aa-1"]

    unclear = world.run("clients", "revoke", "a")
    assert unclear.exit_code == 1
    assert "ab-2, aa-1" in unclear.stderr
    assert world.run("clients", "revoke", "none").exit_code == 1
    assert world.run("clients", "revoke").exit_code == 2

    done = world.run("clients", "revoke", "aa")
    assert (done.exit_code, done.stdout) == (0, "Ended 1 login of Claude Code.\n")
    again = json.loads(world.run("clients", "revoke", "aa-1", "--json").stdout)
    assert again == {"ok": True, "id": "aa-1", "name": "Claude Code", "revoked": 0}
    assert [client["id"] for client in listed(world)] == ["ab-2"]
