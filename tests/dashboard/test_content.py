"""What goes in and out of the dashboard: new memories, settings, images, hostile texts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from chat_server import Reply, ScriptedServer, data_of, scripted_server
from dashboard_page import Open
from harness import TOKEN, DaemonProcess, body_of, eventually
from playwright.sync_api import expect

HEAD = "---\ntags: [brain]   # mine\nrating:  5\n---\n"
Note = Callable[[str, str], str]


@pytest.fixture(scope="module")
def language_model() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


@pytest.fixture(scope="module")
def daemon_flags(language_model: ScriptedServer) -> tuple[str, ...]:
    return ("--llm-url", language_model.url, "--llm-model", "small")


def body(daemon: DaemonProcess, path: str) -> str:
    return body_of((daemon.vault / path).read_bytes())


# An answer


def test_an_answer_with_citations_stands_above_the_passages(
    open_page: Open, language_model: ScriptedServer
) -> None:
    def answer(request: dict[str, Any]) -> str:
        shown = re.findall(r"<<<begin (\w+) \w+>>>\n(.*?)\n<<<end", data_of(request), re.DOTALL)
        label = next(label for label, text in shown if "place 31" in text)
        return f"The berth of Pétrel is on pontoon C, place 31 [{label}]."

    language_model.always = Reply(answer)
    with open_page("#/recall?q=on+which+pontoon+is+Pétrel+now") as page:
        shown = page.get_by_role("region", name="Answer")
        expect(shown.get_by_text("The berth of Pétrel is on pontoon C, place 31")).to_be_visible()
        expect(shown.get_by_role("listitem")).to_have_text("Mooring is on pontoon C")
        assert "[" not in shown.inner_text()
        expect(page.locator(".hit").first).to_be_visible()
        shown.get_by_role("link", name="1", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("Second Brain/Mooring is on pontoon C")
        page.goto(page.url.split("#")[0] + "#/settings")
        expect(page.get_by_role("region", name="Index")).to_contain_text("small · 1 call today")


# Remember


def test_what_is_remembered_becomes_a_note_and_can_be_taken_back(
    open_page: Open, daemon: DaemonProcess
) -> None:
    text = "The rigger in Douarnenez swages **wire** up to 8 mm. #boat/rigging #contact"
    files = daemon.markdown_files()
    with open_page("#/remember") as page:
        field = page.get_by_label("What should be remembered?")
        field.fill(text)
        expect(page.locator(".preview strong")).to_have_text("wire")
        tags = page.get_by_role("group", name="Tags in the text")
        expect(tags).to_contain_text("#boat/rigging")
        expect(tags).to_contain_text("#contact")
        page.reload()
        expect(field).to_have_value(text)
        page.get_by_label("Title").fill("Rigger")
        field.press("Control+Enter")
        expect(page.get_by_text("Stored as Second Brain/Rigger.md")).to_be_visible()
        path = "Second Brain/Rigger.md"
        assert body(daemon, path).strip() == text
        assert "second-brain-source: dashboard" in (daemon.vault / path).read_text()
        known = daemon.note(path)
        assert known is not None
        assert set(known["tags"]) >= {"boat/rigging", "contact"}
        expect(field).to_have_value("")
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        eventually(lambda: daemon.markdown_files() == files)


def test_what_is_known_is_shown_before_it_is_stored_again(
    open_page: Open, daemon: DaemonProcess
) -> None:
    known = body(daemon, "Second Brain/Mooring is on pontoon C.md")
    files = daemon.markdown_files()
    with open_page("#/remember") as page:
        page.get_by_label("What should be remembered?").fill(known)
        beside = page.get_by_role("region", name="Already in your memory")
        expect(beside.get_by_role("link", name="Mooring is on pontoon C")).to_be_visible()
        expect(beside).to_contain_text("Says the same")
        page.get_by_role("button", name="Remember").click()
        expect(page.get_by_role("alert")).to_contain_text("Known already")
        page.get_by_role("alert").get_by_role("link").click()
        expect(page.get_by_role("dialog")).to_contain_text("pontoon C")
        assert daemon.markdown_files() == files


# Settings


def test_theme_and_language_are_kept(open_page: Open) -> None:
    with open_page("#/settings") as page:
        page.get_by_label("Dark").check()
        back = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(back) == "rgb(22, 21, 26)"
        page.get_by_label("Language").select_option("fr")
        expect(page.get_by_role("heading", name="Réglages")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Réglages")).to_be_visible()
        assert page.evaluate(back) == "rgb(22, 21, 26)"
        assert page.evaluate("document.documentElement.lang") == "fr"
        page.get_by_label("Clair").check()
        assert page.evaluate(back) == "rgb(247, 246, 243)"
    with open_page("#/recent", locale="fr-FR", color_scheme="dark") as page:
        expect(page.get_by_role("heading", name="Récents")).to_be_visible()
        assert page.evaluate(back) == "rgb(22, 21, 26)"


def test_the_state_of_the_brain(open_page: Open, daemon: DaemonProcess) -> None:
    with open_page("#/settings") as page:
        vault = page.get_by_role("region", name="Vault")
        expect(vault).to_contain_text(str(daemon.vault))
        expect(vault).to_contain_text("#second-brain")
        expect(vault).to_contain_text("Templates")
        index = page.get_by_role("region", name="Index")
        expect(index).to_contain_text("Ready")
        expect(index).to_contain_text("multilingual-e5-small")
        daemon.write("Torn.md", "---\ntags: [brain\n---\nA title: without an end. #brain\n")
        problems = page.get_by_role("region", name="What needs attention")
        expect(problems).to_contain_text("Torn.md")
        (daemon.vault / "Torn.md").unlink()
        expect(problems).to_contain_text("All is well")


def test_an_export_is_downloaded_and_another_one_imported(
    open_page: Open, daemon: DaemonProcess
) -> None:
    there = daemon.get("/export")["entries"][0]
    entries = [
        {"id": there["id"], "content": there["content"], "tags": []},
        {
            "id": "from-elsewhere-1",
            "content": "Seals sleep on the north rock.",
            "tags": ["wildlife"],
            "source": "old brain",
            "created_at": 1_600_000_000_000,
            "importance_score": 4,
        },
        {"id": "from-elsewhere-2", "content": "Terns nest on the south beach.", "tags": []},
    ]
    edge = {"source_id": "from-elsewhere-1", "target_id": "from-elsewhere-2", "type": "follows"}
    exported = {"version": 2, "entries": entries, "edges": [edge]}
    with open_page("#/settings") as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the export").click()
        data = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert {entry["id"] for entry in data["entries"]} >= {there["id"]}
        chosen = page.locator("input[type=file]")
        text = json.dumps(exported).encode()
        for outcome in (
            "Imported 2 memories; 1 were there already.",
            "Imported 0 memories; 3 were there already.",
        ):
            chosen.set_input_files(
                {"name": "export.json", "mimeType": "application/json", "buffer": text}
            )
            expect(page.get_by_text(outcome)).to_be_visible()
        chosen.set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": b"{}"})
        expect(page.get_by_text("no export in JSON")).to_be_visible()
    note = (daemon.vault / "Second Brain/Seals sleep on the north rock.md").read_text()
    assert "second-brain-id: from-elsewhere-1" in note
    assert "wildlife" in note
    assert "created: 2020-09-13" in note
    assert "follows:" in note


def log_in(daemon: DaemonProcess) -> str:
    """An application that its owner has connected; the token that it was given."""
    back, verifier = "http://127.0.0.1:9/callback", "v" * 50
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
    with httpx2.Client(base_url=daemon.url, trust_env=False, timeout=60) as http:
        named = {
            "client_name": "Notes <b>app",
            "redirect_uris": [back],
            "token_endpoint_auth_method": "none",
        }
        asked = {
            "client_id": http.post("/register", json=named).json()["client_id"],
            "redirect_uri": back,
        }
        question = {
            "response_type": "code",
            "code_challenge": digest.decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        page = http.get("/authorize", params={**asked, **question}).text
        action = re.search(r'<form method="post" action="([^"]*)"', page)
        csrf = re.search(r'name="csrf" value="([^"]*)"', page)
        assert action is not None
        assert csrf is not None
        answer = http.post(
            html.unescape(action[1]),
            data={"csrf": html.unescape(csrf[1]), "token": TOKEN, "answer": "connect"},
            headers={"Origin": daemon.url, "Sec-Fetch-Site": "same-origin"},
        )
        code = parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]
        grant = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        given = http.post("/token", data={**asked, **grant}).json()
        return str(given["access_token"])


def test_an_application_is_shut_out(open_page: Open, daemon: DaemonProcess) -> None:
    headers = {"Authorization": f"Bearer {log_in(daemon)}"}

    def may() -> int:
        answer = httpx2.get(f"{daemon.url}/count", headers=headers, trust_env=False, timeout=60)
        return int(answer.status_code)

    assert may() == 200
    with open_page("#/settings") as page:
        clients = page.get_by_role("region", name="Applications with access")
        expect(clients.get_by_text("Notes <b>app")).to_be_visible()
        clients.get_by_role("button", name="Revoke the access").click()
        clients.get_by_role("button", name="Cancel").click()
        assert may() == 200
        clients.get_by_role("button", name="Revoke the access").click()
        clients.get_by_role("button", name="Revoke", exact=True).click()
        expect(clients).to_contain_text("No application has logged in.")
        assert may() == 401


# Images


def test_images_of_the_vault_are_shown_and_others_are_not_loaded(
    open_page: Open, daemon: DaemonProcess, note: Note
) -> None:
    text = "![[sail-plan.svg|120]]\n\n![far](https://elsewhere.example/x.png)\n\n![[none.png]]\n"
    id = note("Pictures.md", HEAD + text)
    with open_page(f"#/recent?memory={id}") as page:
        image = page.get_by_role("dialog").get_by_role("img", name="sail-plan.svg")
        expect(image).to_be_visible()
        expect(image).to_have_attribute("src", re.compile("^blob:"))
        assert image.evaluate("i => i.decode().then(() => i.naturalWidth > 0)")
        expect(page.get_by_text("Image not found: none.png")).to_be_visible()
        far = page.get_by_role("dialog").get_by_role("link", name="far")
        expect(far).to_have_attribute("href", "https://elsewhere.example/x.png")
        expect(far).to_have_attribute("rel", re.compile("noreferrer"))


HOSTILE = {
    "script": "<script>window.hit=1</script><img src=x onerror='window.hit=1'>\n"
    "<svg/onload=window.hit=1>\n\n[press](javascript:window.hit=1) <a href=x onclick=hit()>y</a>\n"
    "\n[data](data:text/html,<script>window.hit=1</script>)\n\n[[javascript:window.hit=1]]\n",
    "rtl": "\u202egnitirw desrever\u202c مرحبا بالعالم #سلام [[مرحبا]]\n",
    "zero-width": "pay\u200bment\u200d to\ufeff \u2066someone\u2069 #a\u200bb\n",
    "marks": "# [x](<javascript:hit()>)\n\n" + "> " * 500 + "deep\n\n" + "*" * 5_000 + "\n",
    "huge": "word #tag [[link]] " * 20_000,
    "one long word": "x" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_memory_is_shown_as_text_and_does_nothing(
    open_page: Open, daemon: DaemonProcess, note: Note, name: str
) -> None:
    path = f"Hostile {name}.md"
    id = note(path, HEAD + HOSTILE[name])
    with open_page(
        f"#/recall?q=hostile&memory={id}", viewport={"width": 900, "height": 700}
    ) as page:
        shown = page.get_by_role("dialog").locator(".markdown").first
        expect(shown).to_be_visible()
        if name == "script":
            expect(shown).to_contain_text("<script>window.hit=1</script>")
            expect(shown.locator("script, img, svg, [onclick]")).to_have_count(0)
            for link in shown.get_by_role("link").all():
                assert not (link.get_attribute("href") or "").startswith(("javascript", "data"))
        if name == "huge":
            page.get_by_role("button", name="Show the rest").click()
            expect(shown.locator(".rest")).to_have_text(re.compile(r"word #tag \[\[link\]\]\s*$"))
        assert page.evaluate("window.hit") is None
        wide = "e => e.scrollWidth <= e.clientWidth + 1"
        assert page.get_by_role("dialog").evaluate(wide)
        page.goto(f"{daemon.url}/#/recent")
        expect(page.get_by_role("link", name=f"Hostile {name}").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    (daemon.vault / path).unlink()
