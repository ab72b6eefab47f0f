"""Codes and tokens: exchanged once, bound to their client, rotated, ended, kept as digests."""

from __future__ import annotations

import base64
import re
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from oauth_world import BACK, Pkce, World
from server_fakes import TOKEN


def refused(answer: Any, error: str, status: int = 400) -> None:
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text
    assert answer.headers["cache-control"] == "no-store"


class TestCode:
    def test_is_exchanged_for_tokens_that_open_rest_and_mcp(self, world: World) -> None:
        tokens = world.login()
        assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 86_400)
        assert world.works(tokens["access_token"])
        answer = world.http.get("/mcp", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 405
        answer = world.http.get(
            "/mcp", headers={"Authorization": f"Bearer {tokens['access_token']}"}
        )
        assert answer.status_code == 405

    def test_the_history_names_the_application(self, world: World) -> None:
        access = world.login()["access_token"]
        headers = {"Authorization": f"Bearer {access}", "User-Agent": "brain"}
        world.http.post("/capture", json={"content": "x"}, headers=headers)
        assert world.memories.callers[-1].client == "Test Client"

    @pytest.mark.parametrize("verifier", ["", "x" * 43, "wrong"])
    def test_needs_its_verifier(self, world: World, verifier: str) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        answer = world.exchange(client, code, pkce, code_verifier=verifier)
        assert answer.status_code == 400
        assert world.exchange(client, code, pkce).status_code == 200

    def test_the_challenge_is_no_verifier(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        answer = world.exchange(client, code, pkce, code_verifier=pkce.challenge)
        refused(answer, "invalid_grant")

    def test_a_second_exchange_ends_the_login(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        tokens = world.exchange(client, code, pkce).json()
        assert world.works(tokens["access_token"])
        refused(world.exchange(client, code, pkce), "invalid_grant")
        assert not world.works(tokens["access_token"])
        refused(world.refresh(client, tokens["refresh_token"]), "invalid_grant")

    def test_a_replay_after_its_time_and_a_restart_ends_the_login_too(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        tokens = world.exchange(client, code, pkce).json()
        world.clock.move(days=0.5)
        world.login()
        world.restart()
        refused(world.exchange(client, code, pkce), "invalid_grant")
        assert not world.works(tokens["access_token"])

    def test_of_many_exchanges_at_once_one_wins_at_most(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: world.exchange(client, code, pkce), range(8)))
        assert sum(answer.status_code == 200 for answer in answers) == 1
        winner = next(answer for answer in answers if answer.status_code == 200)
        assert not world.works(winner.json()["access_token"])  # the others were replays

    def test_lives_five_minutes(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        late, later = world.code(client, pkce), world.code(client, pkce)
        world.clock.move(seconds=299)
        assert world.exchange(client, late, pkce).status_code == 200
        world.clock.move(seconds=2)
        refused(world.exchange(client, later, pkce), "invalid_grant")

    def test_is_bound_to_its_client_and_its_redirect(self, world: World) -> None:
        client, other, pkce = world.register()["client_id"], world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        refused(world.exchange(other, code, pkce), "invalid_grant")
        elsewhere = BACK.replace("33418", "33419")
        refused(world.exchange(client, code, pkce, redirect_uri=elsewhere), "invalid_request")
        assert world.exchange(client, code, pkce).status_code == 200

    def test_is_no_token(self, world: World) -> None:
        client, pkce = world.register()["client_id"], Pkce()
        code = world.code(client, pkce)
        assert not world.works(code)
        refused(world.refresh(client, code), "invalid_grant")
        tokens = world.exchange(client, code, pkce).json()
        assert not world.works(tokens["refresh_token"])
        refused(world.refresh(client, tokens["access_token"]), "invalid_grant")
        refused(world.exchange(client, tokens["refresh_token"], pkce), "invalid_grant")


class TestRefresh:
    def test_rotates(self, world: World) -> None:
        first = world.login()
        second = world.refresh(first["client_id"], first["refresh_token"]).json()
        assert second["refresh_token"] != first["refresh_token"]
        assert second["access_token"] != first["access_token"]
        assert world.works(second["access_token"])

    def test_twice_within_a_minute_are_two_processes_of_one_client(self, world: World) -> None:
        first = world.login()
        client = first["client_id"]
        one = world.refresh(client, first["refresh_token"]).json()
        world.clock.move(seconds=59)
        two = world.refresh(client, first["refresh_token"]).json()
        assert world.works(one["access_token"])
        assert world.works(two["access_token"])
        assert world.refresh(client, one["refresh_token"]).status_code == 200

    def test_later_it_is_in_two_hands_and_all_ends(self, world: World) -> None:
        first, others = world.login(), world.login()
        client = first["client_id"]
        second = world.refresh(client, first["refresh_token"]).json()
        third = world.refresh(client, second["refresh_token"]).json()
        world.clock.move(seconds=61)
        refused(world.refresh(client, first["refresh_token"]), "invalid_grant")
        for tokens in (first, second, third):
            assert not world.works(tokens["access_token"])
            refused(world.refresh(client, tokens["refresh_token"]), "invalid_grant")
        assert world.works(others["access_token"])

    def test_the_grace_is_not_prolonged_by_using_it(self, world: World) -> None:
        first = world.login()
        client = first["client_id"]
        for _ in range(3):
            assert world.refresh(client, first["refresh_token"]).status_code == 200
            world.clock.move(seconds=25)
        refused(world.refresh(client, first["refresh_token"]), "invalid_grant")

    def test_slides_ninety_days(self, world: World) -> None:
        tokens = world.login()
        client = tokens["client_id"]
        for _ in range(3):
            world.clock.move(days=89)
            world.state.logins.prune(world.clock.now)
            tokens = world.refresh(client, tokens["refresh_token"]).json()
            assert world.works(tokens["access_token"])
        world.clock.move(days=91)
        refused(world.refresh(client, tokens["refresh_token"]), "invalid_grant")

    def test_the_access_token_lives_for_a_day(self, world: World) -> None:
        access = world.login()["access_token"]
        world.clock.move(days=0.999)
        assert world.works(access)
        world.clock.move(days=0.002)
        assert not world.works(access)

    def test_is_bound_to_its_client(self, world: World) -> None:
        tokens, other = world.login(), world.register()["client_id"]
        refused(world.refresh(other, tokens["refresh_token"]), "invalid_grant")
        assert world.refresh(tokens["client_id"], tokens["refresh_token"]).status_code == 200

    def test_a_client_that_did_not_ask_for_it_gets_none(self, world: World) -> None:
        client = world.register(grant_types=["authorization_code"])["client_id"]
        assert "refresh_token" not in world.login(client)


class TestClientAuthentication:
    def test_an_unknown_client_is_told_so(self, world: World) -> None:
        refused(world.refresh("gone", "sbr_x"), "invalid_client", 401)
        answer = world.http.post("/token", data={"grant_type": "refresh_token"})
        refused(answer, "invalid_client", 401)

    def test_a_secret_in_the_form(self, world: World) -> None:
        client = world.register(token_endpoint_auth_method="client_secret_post")
        id_, pkce = client["client_id"], Pkce()
        code = world.code(id_, pkce)
        refused(world.exchange(id_, code, pkce), "invalid_client", 401)
        refused(world.exchange(id_, code, pkce, client_secret="no"), "invalid_client", 401)
        answer = world.exchange(id_, code, pkce, client_secret=client["client_secret"])
        assert answer.status_code == 200

    @pytest.mark.parametrize("named", [True, False])
    def test_a_secret_in_the_header(self, world: World, named: bool) -> None:
        client = world.register(token_endpoint_auth_method="client_secret_basic")
        pkce = Pkce()
        code = world.code(client["client_id"], pkce)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": BACK,
            "code_verifier": pkce.verifier,
            **({"client_id": client["client_id"]} if named else {}),
        }

        def post(id_: str, secret: str) -> Any:
            word = base64.b64encode(f"{id_}:{secret}".encode()).decode()
            return world.http.post("/token", data=form, headers={"Authorization": f"Basic {word}"})

        refused(post(client["client_id"], "wrong"), "invalid_client", 401)
        refused(post("other", client["client_secret"]), "invalid_client", 401)
        assert post(client["client_id"], "x").headers["www-authenticate"].startswith("Basic ")
        assert post(client["client_id"], client["client_secret"]).status_code == 200

    @pytest.mark.parametrize("grant", ["password", "client_credentials", "", "implicit"])
    def test_other_grants(self, world: World, grant: str) -> None:
        form = {"grant_type": grant, "client_id": world.register()["client_id"]}
        refused(world.http.post("/token", data=form), "unsupported_grant_type")

    def test_parameters_that_come_twice(self, world: World) -> None:
        body = "grant_type=refresh_token&client_id=a&client_id=b&refresh_token=x"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        refused(world.http.post("/token", content=body, headers=form), "invalid_request")

    @pytest.mark.parametrize("body", [b"", b"\xff\x00", b"{}", b"%", b"a" * 60_000, b"=&=&="])
    def test_rubbish(self, world: World, body: bytes) -> None:
        for path in ("/token", "/revoke"):
            assert world.http.post(path, content=body).status_code in (400, 401)


class TestRevocation:
    @pytest.mark.parametrize("which", ["access_token", "refresh_token"])
    @pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "nonsense"])
    def test_of_either_token_ends_the_login(
        self, world: World, which: str, hint: str | None
    ) -> None:
        tokens = world.login()
        assert world.works(tokens["access_token"])
        form = {"token": tokens[which], "client_id": tokens["client_id"]}
        form |= {"token_type_hint": hint} if hint else {}
        assert world.http.post("/revoke", data=form).status_code == 200
        assert not world.works(tokens["access_token"])
        refused(world.refresh(tokens["client_id"], tokens["refresh_token"]), "invalid_grant")
        assert world.http.post("/revoke", data=form).status_code == 200

    def test_only_by_its_own_client(self, world: World) -> None:
        tokens, other = world.login(), world.register()["client_id"]
        form = {"token": tokens["access_token"], "client_id": other}
        assert world.http.post("/revoke", data=form).status_code == 200
        assert world.works(tokens["access_token"])
        refused(world.http.post("/revoke", data={**form, "client_id": "no"}), "invalid_client", 401)
        refused(world.http.post("/revoke", data={"client_id": other}), "invalid_request")

    def test_one_with_a_secret_needs_it(self, world: World) -> None:
        client = world.register(token_endpoint_auth_method="client_secret_post")
        pkce = Pkce()
        code = world.code(client["client_id"], pkce)
        secret = client["client_secret"]
        tokens = world.exchange(client["client_id"], code, pkce, client_secret=secret).json()
        form = {"token": tokens["access_token"], "client_id": client["client_id"]}
        refused(world.http.post("/revoke", data=form), "invalid_client", 401)
        assert world.works(tokens["access_token"])
        world.http.post("/revoke", data={**form, "client_secret": secret})
        assert not world.works(tokens["access_token"])


def test_nothing_secret_is_at_rest_and_the_file_is_private(world: World) -> None:
    tokens = world.login()
    again = world.refresh(tokens["client_id"], tokens["refresh_token"]).json()
    client, pkce = tokens["client_id"], Pkce()
    code = world.code(client, pkce)
    rows = [
        repr(row)
        for table in ("clients", "logins", "tokens")
        for row in sqlite3.connect(world.path).execute(f"SELECT * FROM {table}")
    ]
    secrets = [tokens["access_token"], tokens["refresh_token"], again["refresh_token"], code, TOKEN]
    files = list(world.path.parent.iterdir())
    for secret in secrets:
        assert not any(secret in row for row in rows)
        assert not any(secret.encode() in file.read_bytes() for file in files)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)


def test_the_log_has_neither_query_nor_token(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    tokens = world.login()
    client, pkce = tokens["client_id"], Pkce()
    code = world.code(client, pkce)
    world.exchange(client, code, pkce)
    world.exchange(client, code, pkce)
    ours = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("second_brain"))
    assert "/authorize" in ours
    assert "came twice" in ours
    for secret in (tokens["access_token"], tokens["refresh_token"], code, TOKEN, pkce.challenge):
        assert secret not in ours
    assert not re.search(r"sb[acr]_", ours)


def test_an_application_is_not_the_owner(world: World) -> None:
    access = world.login()["access_token"]
    headers = {"Authorization": f"Bearer {access}"}
    assert world.http.get("/clients", headers=headers).status_code == 403
    assert world.http.post("/clients/revoke", json={"id": "x"}, headers=headers).status_code == 403
    assert world.http.post("/reindex", json={}, headers=headers).status_code == 403
    # Nor does its token open the page for others.
    client = world.register()["client_id"]
    answer = world.press("connect", world.question(client, Pkce()), token=access)
    assert answer.status_code == 403
