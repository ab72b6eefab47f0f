"""`brain review` and `brain maintain`: what may not both hold, and what the night looks after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from worlds import World, serving


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("review")
    (folder / "My Vault").mkdir()
    world = World(folder / "My Vault", folder / "data", model_dir)
    with serving(world):
        yield world


def test_pairs_are_listed_decided_and_taken_back(world: World) -> None:
    assert world.run("review").stdout == ""
    old = world.ask("POST", "/capture", content="The boom of the Ibis is 4 m long.", title="Boom")
    new = world.ask("POST", "/capture", content="The boom of the Ibis is 5 m long.", title="Boom B")
    result = world.run("review")
    assert result.exit_code == 0, result.output
    (row,) = [line.split("\t") for line in result.stdout.splitlines()]
    assert row[1:4] == ["replace", "Boom B", "Boom"]
    assert "4 m" in row[4]
    assert row[5:] == [new["id"], old["id"]]
    listed = json.loads(world.run("review", "--json").stdout)
    assert [str(item["id"]) for item in listed["items"]] == [row[0]]

    assert world.run("review", row[0]).exit_code == 2
    assert world.run("review", "--replace").exit_code == 2
    assert world.run("review", "9999", "--keep").exit_code == 1
    done = world.run("review", row[0], "--replace", "--winner", old["id"])
    assert done.exit_code == 0, done.output
    assert world.ask("GET", "/get", id=new["id"])["status"] == "deprecated"
    assert world.run("review").stdout == ""
    n = done.stdout.split()[-1]
    assert world.run("undo", n).exit_code == 0
    assert world.ask("GET", "/get", id=new["id"])["status"] is None
    assert len(world.run("review").stdout.splitlines()) == 1


def test_tidying_up_now_says_each_step_and_needs_a_daemon(world: World, tmp_path: Path) -> None:
    done = world.run("maintain")
    assert done.exit_code == 0, done.output
    steps = {line.split(maxsplit=1)[0] for line in done.stdout.splitlines()}
    last = json.loads(world.run("maintain", "--json").stdout)
    assert steps == set(last["done"])
    assert {"index", "history"} <= steps
    assert last["finished"] is not None
    assert last["finished"] == world.ask("GET", "/maintain")["last"]["finished"]

    (tmp_path / "vault").mkdir()
    nobody = World(tmp_path / "vault", tmp_path / "data", world.models).run("maintain")
    assert nobody.exit_code == 1
    assert "No daemon runs" in nobody.stderr
