"""The page on which the owner answers: what it shows, what it refuses, where it leads."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oauth_world import BACK, BASE, Pkce, World, back, fields
from server_fakes import TOKEN

from second_brain.errors import WriteFailed
from second_brain.server.oauth.names import UNNAMED, shown_name
from second_brain.server.oauth.throttle import FREE_ATTEMPTS
from second_brain.server.oauth.words import ENGLISH, FRENCH, words_for

OWN = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def question(world: World) -> str:
    return world.question(world.register()["client_id"], Pkce())


class TestShown:
    def test_who_asks_and_where_it_leads(self, world: World, question: str) -> None:
        page = world.http.get(question)
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "<strong>Test Client</strong>" in page.text
        assert "<strong>http://127.0.0.1:33418</strong>" in page.text
        assert ENGLISH.this_computer in page.text
        assert re.search(r"<label[^>]*>Bearer token</label>", page.text)
        assert re.search(r"<button[^>]*>Connect</button>", page.text)
        assert re.search(r"<button[^>]*>Deny</button>", page.text)

    @pytest.mark.parametrize(
        ("uri", "place", "kind"),
        [
            ("https://claude.ai/api/cb", "claude.ai", ENGLISH.elsewhere),
            ("cursor://x/callback", "cursor:", ENGLISH.program),
            ("http://localhost:7/cb", "http://localhost:7", ENGLISH.this_computer),
        ],
    )
    def test_other_places(self, world: World, uri: str, place: str, kind: str) -> None:
        client = world.register(redirect_uris=[uri])["client_id"]
        page = world.http.get(world.question(client, Pkce(), redirect_uri=uri)).text
        assert f"<strong>{place}</strong>" in page
        assert kind in page

    def test_nothing_is_loaded_run_or_framed(self, world: World, question: str) -> None:
        pages = [
            world.http.get(question),
            world.http.get("/authorize"),
            world.press("connect", question, token="wrong"),
        ]
        for page in pages:
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'sha256-")
            assert "frame-ancestors 'none'" in policy
            assert "base-uri 'none'" in policy
            assert "unsafe" not in policy
            assert "form-action" not in policy  # makes the button dead in Chromium
            assert page.headers["x-frame-options"] == "DENY"
            assert page.headers["referrer-policy"] == "same-origin"
            assert page.headers["cache-control"] == "no-store"
            assert page.headers["x-content-type-options"] == "nosniff"
            assert not re.search(
                r"<script|<img|<link|<iframe|src=|url\(|@import|\son[a-z]+=", page.text
            )
            assert re.findall(r"https?://(?!127\.0\.0\.1:33418)[^\s<\"]+", page.text) == []

    def test_markup_in_names_and_addresses_is_text(self, world: World) -> None:
        name = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
        client = world.register(client_name=name)["client_id"]
        page = world.http.get(world.question(client, Pkce(), state='"><script>x</script>')).text
        assert "<script" not in page
        assert "<img" not in page
        assert html.escape(shown_name(name)) in page
        unknown = world.http.get(world.question("<script>alert(1)</script>", Pkce())).text
        assert "<script" not in unknown

    def test_the_form_goes_back_to_the_very_same_question(
        self, world: World, question: str
    ) -> None:
        question += "&copy=1&lt=2&ampx='"
        assert fields(world.http.get(question).text)["action"] == question

    def test_a_name_cannot_deceive(self) -> None:
        assert shown_name("Good\u202eevil\u0000\nApp\u2028x") == "Good evil App x"
        assert shown_name("  ") == shown_name(None) == shown_name("\u200b") == UNNAMED
        assert len(shown_name("x" * 500)) == 80

    @given(st.text())
    def test_a_shown_name_is_one_line_and_never_empty(self, name: str) -> None:
        shown = shown_name(name)
        assert shown.strip() == shown
        assert 0 < len(shown) <= 80
        assert shown.isprintable()

    @pytest.mark.parametrize(
        ("accepted", "words"),
        [
            ("", ENGLISH),
            ("fr-FR,fr;q=0.9,en;q=0.8", FRENCH),
            ("en-US,en;q=0.9,fr;q=0.8", ENGLISH),
            ("de,fr;q=0.5,en;q=0.4", FRENCH),
            ("de", ENGLISH),
            ("fr;q=0", ENGLISH),
            ("fr;q=x,*", ENGLISH),
        ],
    )
    def test_the_language_of_the_browser(self, accepted: str, words: Any) -> None:
        assert words_for(accepted) == words

    def test_in_french(self, world: World, question: str) -> None:
        page = world.http.get(question, headers={"Accept-Language": "fr"})
        assert '<html lang="fr">' in page.text
        assert "Relier</button>" in page.text
        assert page.headers["vary"] == "Accept-Language"


class TestAnswer:
    def test_connect(self, world: World, question: str) -> None:
        answer = world.press("connect", question)
        assert answer.status_code == 303
        found = back(answer)
        assert set(found) == {"code", "state", "iss"}
        assert (found["state"], found["iss"]) == ("st/ate +&=é", BASE)
        assert len(found["code"]) > 40

    def test_deny_needs_no_token(self, world: World, question: str) -> None:
        found = back(world.press("deny", question, token=""))
        assert (found["error"], found["iss"]) == ("access_denied", BASE)
        assert found["state"] == "st/ate +&=é"
        assert "code" not in found

    @pytest.mark.parametrize("token", [f" {TOKEN}\n", f"Bearer {TOKEN}", f"bearer  {TOKEN} "])
    def test_a_token_as_it_is_pasted(self, world: World, question: str, token: str) -> None:
        assert "code" in back(world.press("connect", question, token=token))

    @pytest.mark.parametrize(
        "token", ["wrong", TOKEN[:-1], TOKEN.upper(), "é", "x" * 5000, "Bearer", "\0"]
    )
    def test_a_wrong_token(self, world: World, question: str, token: str) -> None:
        answer = world.press("connect", question, token=token)
        assert answer.status_code == 403
        assert ENGLISH.wrong_token in html.unescape(answer.text)
        assert 'role="alert"' in answer.text
        # The page that says so can be used again.
        found = fields(answer.text)
        form = {"csrf": found["csrf"], "token": TOKEN, "answer": "connect"}
        assert "code" in back(world.http.post(found["action"], data=form, headers=OWN))

    def test_no_token(self, world: World, question: str) -> None:
        answer = world.press("connect", question, token="  ")
        assert answer.status_code == 400
        assert ENGLISH.no_token in answer.text

    def test_a_full_disk_is_told(
        self, world: World, question: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = fields(world.http.get(question).text)

        def full(*_: object, **__: object) -> int:
            raise WriteFailed("state.db", "disk full")

        monkeypatch.setattr(world.state.logins, "begin", full)
        form = {"csrf": page["csrf"], "token": TOKEN, "answer": "connect"}
        answer = world.http.post(page["action"], data=form, headers=OWN)
        assert answer.status_code == 507
        assert "disk full" in answer.text
        assert "location" not in answer.headers

    def test_it_asks_again_every_time(self, world: World, question: str) -> None:
        world.press("connect", question)
        page = world.http.get(question)
        assert page.status_code == 200
        assert "Bearer token" in page.text

    def test_an_address_with_parameters_keeps_them(self, world: World) -> None:
        uri = "https://app.example/cb?tenant=1&x=%20"
        client = world.register(redirect_uris=[uri])["client_id"]
        answer = world.press("connect", world.question(client, Pkce(), redirect_uri=uri))
        assert answer.headers["location"].startswith(f"{uri}&code=sbc_")

    def test_a_private_scheme(self, world: World) -> None:
        uri = "cursor://anysphere.cursor-retrieval/oauth/callback"
        client = world.register(redirect_uris=[uri])["client_id"]
        answer = world.press("connect", world.question(client, Pkce(), redirect_uri=uri))
        assert answer.headers["location"].startswith(f"{uri}?code=sbc_")

    def test_by_the_public_address(self, make_world: Callable[..., World]) -> None:
        world = make_world(public_url="https://brain.example", hosts=("brain.example",))
        host = {"Host": "brain.example"}
        client = world.register()["client_id"]
        question = world.question(client, Pkce(), resource="https://brain.example/mcp")
        page = world.http.get(question, headers=host)
        assert "; Secure" in page.headers["set-cookie"]
        cookie = page.headers["set-cookie"].partition(";")[0]
        found = fields(page.text)
        sent = {"csrf": found["csrf"], "token": TOKEN, "answer": "connect"}
        headers = {**host, "Cookie": cookie, "Origin": "https://brain.example"}
        answer = world.http.post(found["action"], data=sent, headers=headers)
        assert back(answer)["iss"] == "https://brain.example"
        headers["Origin"] = BASE
        assert world.http.post(found["action"], data=sent, headers=headers).status_code == 403


class TestMistakes:
    """Told to the person where nobody can be sent back, to the application otherwise."""

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"client_id": None}, "client_id is missing"),
            ({"redirect_uri": None}, "redirect_uri is missing"),
            ({"client_id": "unknown"}, ENGLISH.unknown_client),
            ({"redirect_uri": "https://evil.example/cb"}, ENGLISH.bad_redirect),
            ({"redirect_uri": "http://127.0.0.1:33418/other"}, ENGLISH.bad_redirect),
            ({"redirect_uri": "http://localhost:33418/callback"}, ENGLISH.bad_redirect),
            ({"redirect_uri": BACK + "?x=1"}, ENGLISH.bad_redirect),
            ({"redirect_uri": BACK + "#x"}, ENGLISH.bad_redirect),
            (
                {"redirect_uri": "http://127.0.0.1:33418@evil.example/callback"},
                ENGLISH.bad_redirect,
            ),
            ({"redirect_uri": "javascript:alert(1)"}, ENGLISH.bad_redirect),
            ({"redirect_uri": "nonsense"}, ENGLISH.bad_redirect),
            ({"client_id": "https://app.example/client"}, "server.client_documents"),
        ],
    )
    def test_on_a_page(self, world: World, changes: dict[str, str | None], said: str) -> None:
        client = world.register()["client_id"]
        question = world.question(client, Pkce(), **changes)
        for answer in (
            world.http.get(question),
            world.http.post(question, data={"token": TOKEN}, headers=OWN),
        ):
            assert answer.status_code == 400
            assert said in html.unescape(answer.text)
            assert "location" not in answer.headers

    @pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
    def test_parameters_that_come_twice(self, world: World, question: str, name: str) -> None:
        answer = world.http.get(f"{question}&{name}=x")
        assert answer.status_code == 400
        assert f"{name} comes twice" in answer.text

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"response_type": None}, "unsupported_response_type"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge_method": None}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ],
    )
    def test_to_the_application(
        self, world: World, changes: dict[str, str | None], error: str
    ) -> None:
        client = world.register()["client_id"]
        question = world.question(client, Pkce(), **changes)
        found = back(world.http.get(question))
        assert (found["error"], found["state"], found["iss"]) == (error, "st/ate +&=é", BASE)
        assert found["error_description"]
        # A form that somebody made up for it comes no further.
        page = world.http.get(world.question(client, Pkce()))
        form = {"csrf": fields(page.text)["csrf"], "token": TOKEN, "answer": "connect"}
        assert back(world.http.post(question, data=form, headers=OWN))["error"] == error

    def test_twice_to_the_application(self, world: World, question: str) -> None:
        assert back(world.http.get(f"{question}&code_challenge=x"))["error"] == "invalid_request"

    def test_any_port_of_a_loopback_address(self, world: World) -> None:
        client = world.register(redirect_uris=["http://localhost/callback"])["client_id"]
        uri = "http://localhost:61234/callback"
        answer = world.press("connect", world.question(client, Pkce(), redirect_uri=uri))
        assert "code" in back(answer, to=uri)


class TestForgery:
    """The form must come from our page, in the browser that the page was given to."""

    @pytest.mark.parametrize("answer", ["connect", "deny"])
    @pytest.mark.parametrize(
        "change",
        [
            {"csrf": ""},
            {"csrf": "x" * 43},
            {"csrf": "é"},
            {"cookie": ""},
            {"cookie": "y" * 43},
            {"cookie": "short", "csrf": "short"},
            {"cookie": "", "csrf": ""},
        ],
    )
    def test_without_the_cookie_and_its_copy(
        self, world: World, question: str, answer: str, change: dict[str, str]
    ) -> None:
        csrf = fields(world.http.get(question).text)["csrf"]
        sent = {"csrf": change.get("csrf", csrf), "token": TOKEN, "answer": answer}
        cookie = change.get("cookie", csrf)
        world.http.cookies.clear()
        headers = {**OWN, **({"Cookie": f"second-brain-login={cookie}"} if cookie else {})}
        refused = world.http.post(question, data=sent, headers=headers)
        assert refused.status_code == 403
        assert "location" not in refused.headers
        assert ENGLISH.expired in refused.text
        # The page that says so can be used.
        found = fields(refused.text)
        assert re.fullmatch(r"[\w-]{43}", found["csrf"])

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:9999"},
            {"Origin": "http://localhost:8787"},
            {"Origin": "app://obsidian.md"},
            {"Origin": BASE, "Sec-Fetch-Site": "cross-site"},
            {"Origin": BASE, "Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_from_another_place(self, world: World, question: str, headers: dict[str, str]) -> None:
        for button in ("connect", "deny"):
            answer = world.press(button, question, headers=headers)
            assert answer.status_code == 403
            assert "location" not in answer.headers

    def test_the_cookie_is_for_this_page_and_no_script(self, world: World, question: str) -> None:
        cookie = world.http.get(question).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/authorize" in cookie
        assert "Secure" not in cookie  # http on this machine

    def test_two_pages_in_one_browser(self, world: World, question: str) -> None:
        first = fields(world.http.get(question).text)
        second = fields(world.http.get(world.question(world.register()["client_id"], Pkce())).text)
        for page in (first, second):
            form = {"csrf": page["csrf"], "token": TOKEN, "answer": "connect"}
            assert "code" in back(world.http.post(page["action"], data=form, headers=OWN))

    def test_a_restart_between_page_and_button(self, world: World, question: str) -> None:
        found = fields(world.http.get(question).text)
        cookie = f"second-brain-login={found['csrf']}"
        world.restart()
        form = {"csrf": found["csrf"], "token": TOKEN, "answer": "connect"}
        answer = world.http.post(found["action"], data=form, headers={**OWN, "Cookie": cookie})
        assert "code" in back(answer)

    def test_a_query_cannot_carry_the_answer(self, world: World, question: str) -> None:
        answer = world.http.get(f"{question}&token={TOKEN}&answer=connect")
        assert answer.status_code == 200
        assert "location" not in answer.headers


class TestGuessing:
    def test_wrong_tokens_wait_longer_and_the_right_one_still_works(
        self, world: World, question: str
    ) -> None:
        for _ in range(FREE_ATTEMPTS + 6):
            assert world.press("connect", question, token="wrong").status_code == 403
        assert world.clock.slept == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
        assert "code" in back(world.press("connect", question))
        assert world.clock.slept[-1] == 8.0
        # Once the owner is in, nobody waits any more.
        assert "code" in back(world.press("connect", question))
        assert len(world.clock.slept) == 7

    def test_calls_with_a_token_never_wait(self, world: World, question: str) -> None:
        access = world.login()["access_token"]
        for _ in range(FREE_ATTEMPTS + 3):
            world.press("connect", question, token="wrong")
        slept = len(world.clock.slept)
        assert world.works(TOKEN)
        assert world.works(access)
        assert not world.works("wrong")
        assert len(world.clock.slept) == slept

    def test_strangers_at_the_public_address_do_not_slow_the_owner_down(
        self, make_world: Callable[..., World]
    ) -> None:
        world = make_world(public_url="https://brain.example", hosts=("brain.example",))
        client = world.register()["client_id"]
        question = world.question(client, Pkce(), resource=None)
        csrf = fields(world.http.get(question).text)["csrf"]
        form = {"csrf": csrf, "token": "wrong", "answer": "connect"}
        headers = {"Host": "brain.example", "Origin": "https://brain.example"}
        headers["Cookie"] = f"second-brain-login={csrf}"
        for _ in range(FREE_ATTEMPTS + 6):
            assert world.http.post(question, data=form, headers=headers).status_code == 403
        assert len(world.clock.slept) == 6
        assert "code" in back(world.press("connect", question))
        assert len(world.clock.slept) == 6

    @pytest.mark.parametrize("trusted", [True, False])
    def test_strangers_behind_a_trusted_proxy_are_told_apart(
        self, make_world: Callable[..., World], trusted: bool
    ) -> None:
        world = make_world(proxies=("127.0.0.1",) if trusted else ())
        question = world.question(world.register()["client_id"], Pkce())
        guesser, owner = {"X-Forwarded-For": "203.0.113.5"}, {"X-Forwarded-For": "203.0.113.6"}
        for _ in range(FREE_ATTEMPTS + 1):
            world.press("connect", question, token="wrong", headers=guesser)
        assert len(world.clock.slept) == 1
        assert "code" in back(world.press("connect", question, headers=owner))
        assert len(world.clock.slept) == (1 if trusted else 2)

    def test_a_forged_form_does_not_count(self, world: World, question: str) -> None:
        for _ in range(FREE_ATTEMPTS + 5):
            world.press("connect", question, token="wrong", csrf="x" * 43)
            world.press("connect", question, token="x", headers={"Origin": "https://evil.net"})
        world.press("connect", question)
        assert world.clock.slept == []
