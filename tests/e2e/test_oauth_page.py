"""The page of a login in a real browser, against the real daemon."""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from harness import TOKEN, DaemonProcess
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser import find_browser, headless

expect.set_options(timeout=30_000)


class Site:
    """Another program's web server on this machine: what was asked of it, and a page of its own."""

    def __init__(self) -> None:
        self.asked: Queue[str] = Queue()
        self.page = "<h1>Done</h1>"
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.put(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(site.page.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, path: str = "/callback") -> dict[str, str]:
        """The parameters with which a browser came to the path."""
        while True:
            asked = urlsplit(self.asked.get(timeout=30))
            if asked.path == path:
                return dict(parse_qsl(asked.query))

    def was_not_asked(self, path: str = "/callback") -> bool:
        paths = []
        while True:
            try:
                paths.append(urlsplit(self.asked.get_nowait()).path)
            except Empty:
                return path not in paths

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Application:
    """An application that asks to be let in."""

    def __init__(self, daemon: DaemonProcess, site: Site) -> None:
        self.daemon = daemon
        self.back = f"{site.url}/callback"
        self.verifier = secrets.token_urlsafe(48)
        self.state = secrets.token_urlsafe(8)
        registration = {
            "client_name": "Browser Test <b>&amp;",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "none",
        }
        self.id = httpx2.post(f"{daemon.url}/register", json=registration).json()["client_id"]

    def question(self, **changes: str) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        given = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.back,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "state": self.state,
            **changes,
        }
        return f"{self.daemon.url}/authorize?{urlencode(given)}"

    def exchange(self, code: str) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "client_id": self.id,
            "code": code,
            "redirect_uri": self.back,
            "code_verifier": self.verifier,
        }
        return httpx2.post(f"{self.daemon.url}/token", data=form)

    def refresh(self, token: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "client_id": self.id, "refresh_token": token}
        return httpx2.post(f"{self.daemon.url}/token", data=form)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with headless() as browser:
        yield browser


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def application(daemon: DaemonProcess, site: Site) -> Application:
    return Application(daemon, site)


@contextmanager
def tab(browser: Browser, *, blocked: bool = False, **options: object) -> Iterator[Page]:
    """A page in a profile of its own. `blocked`: whether its policy must have to block anything."""
    context: BrowserContext = browser.new_context(**options)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        refused = [line for line in said if "Content Security Policy" in line]
        assert bool(refused) == blocked, refused
    finally:
        context.close()


@pytest.mark.parametrize("script", [True, False])
def test_the_owner_connects_an_application(
    browser: Browser, application: Application, site: Site, script: bool
) -> None:
    daemon = application.daemon
    with tab(browser, java_script_enabled=script, locale="en-GB") as page:
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(application.question())
        expect(page.get_by_role("heading")).to_have_text("Connect to Second Brain")
        expect(page.get_by_text("Browser Test <b>&amp;")).to_be_visible()
        expect(page.get_by_text(site.url)).to_be_visible()
        expect(page.get_by_label("Bearer token")).to_be_focused()
        # The style is the page's own and is applied: a blocked one would leave a white card.
        assert page.locator("main").evaluate("e => getComputedStyle(e).borderTopWidth") == "1px"

        page.get_by_label("Bearer token").fill("not the token")
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_role("alert")).to_contain_text("This is not the token")
        assert site.was_not_asked()

        page.get_by_label("Bearer token").fill(TOKEN)
        page.get_by_label("Bearer token").press("Enter")
        expect(page.get_by_role("heading")).to_have_text("Done")
        assert hosts == {urlsplit(daemon.url).netloc, urlsplit(site.url).netloc}
    answer = site.answer()
    assert (answer["state"], answer["iss"]) == (application.state, daemon.url)
    tokens = application.exchange(answer["code"]).json()
    found = httpx2.get(
        f"{daemon.url}/count", headers={"Authorization": f"Bearer {tokens['access_token']}"}
    )
    assert found.json()["count"] > 0


def test_the_owner_says_no(browser: Browser, application: Application, site: Site) -> None:
    with tab(browser, locale="en") as page:
        page.goto(application.question())
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("heading")).to_have_text("Done")
    assert site.answer()["error"] == "access_denied"


def test_in_french(browser: Browser, application: Application, site: Site) -> None:
    with tab(browser, locale="fr-FR") as page:
        page.goto(application.question())
        expect(page.get_by_role("heading")).to_have_text("Connexion à Second Brain")
        page.get_by_label("Jeton (Bearer token)").fill(TOKEN)
        page.get_by_role("button", name="Relier").click()
        expect(page.get_by_role("heading")).to_have_text("Done")
    assert site.answer()["code"]


def test_a_request_that_cannot_be_answered_stays_on_the_page(
    browser: Browser, application: Application, site: Site
) -> None:
    with tab(browser, locale="en") as page:
        page.goto(application.question(redirect_uri=f"{site.url}/other"))
        expect(page.get_by_role("alert")).to_contain_text("not one that it has registered")
        assert page.get_by_role("button").count() == 0
    assert site.was_not_asked("/other")


def test_another_page_can_neither_frame_nor_send_the_form(
    browser: Browser, application: Application, site: Site
) -> None:
    question = application.question()
    with tab(browser, blocked=True, locale="en") as page:
        # The owner has the real page open in the same browser, so the cookie is there.
        page.goto(question)
        csrf = page.locator("input[name=csrf]").get_attribute("value")

        site.page = f'<iframe src="{html.escape(question)}"></iframe>'
        page.goto(site.url)
        frame = page.frames[1]
        frame.wait_for_load_state()
        assert frame.locator("form").count() == 0

        site.page = f"""<form method="post" action="{html.escape(question)}">
<input name="csrf" value="{csrf}"><input name="answer" value="deny"><input name="token" value="x">
<button>Win a prize</button></form>"""
        page.goto(site.url)
        with page.expect_navigation():
            page.get_by_role("button").click()
        expect(page.locator("body")).to_contain_text("may not call here")
    assert site.was_not_asked()


def test_a_login_outlives_the_daemon_and_its_index(
    browser: Browser, application: Application, site: Site
) -> None:
    daemon = application.daemon
    with tab(browser, locale="en") as page:
        page.goto(application.question())
        page.get_by_label("Bearer token").fill(TOKEN)
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_role("heading")).to_have_text("Done")
    tokens = application.exchange(site.answer()["code"]).json()
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert daemon.post("/reindex")["rebuilding"] is True
    daemon.stop()
    daemon.start()
    daemon.wait_ready()
    assert httpx2.get(f"{daemon.url}/count", headers=headers).status_code == 200
    again = application.refresh(tokens["refresh_token"])
    assert again.status_code == 200

    (listed,) = [c for c in daemon.get("/clients")["clients"] if c["id"] == application.id]
    assert listed["name"] == "Browser Test <b>&amp;"
    daemon.post("/clients/revoke", id=application.id)
    assert httpx2.get(f"{daemon.url}/count", headers=headers).status_code == 401
    assert application.refresh(again.json()["refresh_token"]).status_code == 400


def test_a_missing_browser_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECOND_BRAIN_TEST_BROWSER", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(AssertionError, match="apt-get install chromium"):
        find_browser()
