"""The owner's list of applications, and ending their logins."""

from __future__ import annotations

from typing import Any

import pytest
from oauth_world import Pkce, World
from server_fakes import TOKEN

OWNER = {"Authorization": f"Bearer {TOKEN}"}


def listed(world: World, **query: str) -> list[dict[str, Any]]:
    answer = world.http.get("/clients", params=query, headers=OWNER)
    assert answer.status_code == 200
    return list(answer.json()["clients"])


def revoke(world: World, id: object) -> Any:
    return world.http.post("/clients/revoke", json={"id": id}, headers=OWNER)


def test_those_with_a_login(world: World) -> None:
    registered = world.register(client_name="Only registered")
    at = world.clock.now
    tokens = world.login()
    world.clock.move(seconds=120)
    assert world.works(tokens["access_token"])
    assert listed(world) == [
        {
            "id": tokens["client_id"],
            "name": "Test Client",
            "registered_at": at,
            "logins": 1,
            "last_used": world.clock.now,
        }
    ]
    everyone = listed(world, all="true")
    assert {client["id"] for client in everyone} == {tokens["client_id"], registered["client_id"]}
    only = next(client for client in everyone if client["name"] == "Only registered")
    assert (only["logins"], only["last_used"]) == (0, None)


def test_one_that_has_not_fetched_its_tokens_is_not_in_yet(world: World) -> None:
    world.code(world.register()["client_id"], Pkce())
    assert listed(world) == []


def test_a_login_that_has_expired_is_none(world: World) -> None:
    world.login()
    world.clock.move(days=91)
    assert listed(world) == []


def test_revoking_ends_every_login_of_one_application_at_once(world: World) -> None:
    first = world.login()
    again, other = world.login(first["client_id"]), world.login()
    everything = (first, again, other)
    assert all(world.works(tokens["access_token"]) for tokens in everything)
    done = revoke(world, first["client_id"]).json()
    assert done == {"ok": True, "id": first["client_id"], "name": "Test Client", "revoked": 2}
    assert not world.works(first["access_token"])
    assert not world.works(again["access_token"])
    assert world.works(other["access_token"])
    answer = world.refresh(first["client_id"], first["refresh_token"])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    # It may ask again, by the same id.
    assert world.works(world.login(first["client_id"])["access_token"])


def test_the_beginning_of_an_id_is_enough(world: World) -> None:
    client = world.login()["client_id"]
    assert revoke(world, client[:8]).json()["id"] == client


def test_a_code_that_is_on_its_way_ends_too(world: World) -> None:
    client, pkce = world.register()["client_id"], Pkce()
    code = world.code(client, pkce)
    revoke(world, client)
    assert world.exchange(client, code, pkce).status_code == 400


@pytest.mark.parametrize(("id", "status"), [("none", 404), ("", 400), (None, 400), (7, 400)])
def test_what_is_not_there(world: World, id: object, status: int) -> None:
    world.login()
    answer = revoke(world, id)
    assert answer.status_code == status
    assert answer.json()["ok"] is False


def test_an_unclear_beginning(world: World) -> None:
    for number in range(40):
        world.register(client_name=f"{number}")
    beginnings = [client["id"][:1] for client in listed(world, all="true")]
    unclear = next(one for one in beginnings if beginnings.count(one) > 1)
    answer = revoke(world, unclear)
    assert answer.status_code == 400
    assert "several applications begin with" in answer.json()["error"]
