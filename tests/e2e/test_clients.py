"""The calls of existing clients, word for word as the contract gives them."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx2
import pytest
from harness import TOKEN, DaemonProcess, eventually

CHUNK, OVERLAP = 1600, 200


def capture(daemon: DaemonProcess, **body: object) -> dict[str, Any]:
    response = daemon.http.post("/capture", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def plugin_chunks(text: str) -> list[str]:
    """As the plugin cuts: at a full stop or line end in the second half, 200 overlapping."""
    if len(text) <= CHUNK:
        return [text]
    pieces = []
    start = 0
    while start < len(text):
        end = start + CHUNK
        if end < len(text):
            cut = max(text.rfind(".", 0, end + 1), text.rfind("\n", 0, end + 1))
            if cut > start + CHUNK / 2:
                end = cut + 1
        pieces.append(text[start:end].strip())
        start = end - OVERLAP
    pieces = [piece for piece in pieces if piece]
    return [f"{piece} [chunk {i}/{len(pieces)}]" for i, piece in enumerate(pieces, 1)]


class Plugin:
    """What "Second Brain Sync" does at a save of one note."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self._daemon = daemon

    def sync(self, path: str, tags: list[str] | None = None) -> list[dict[str, Any]]:
        """Send the note as it is in the vault; the first sync writes the id into it."""
        file = self._daemon.vault / path
        raw = file.read_bytes().decode()
        id = re.search(r"^second-brain-id: *(\S+)", raw, re.MULTILINE)
        body = re.sub(r"\A---.*?---\n?", "", raw, count=1, flags=re.DOTALL).strip()
        text = f"{file.stem}\n\n{body}"
        if id is not None:
            return [self._daemon.post("/append", id=id[1], addition=text)]
        sent = [*(tags or []), "obsidian", file.parent.name]
        answers = [
            capture(self._daemon, content=chunk, source="obsidian", tags=sent)
            for chunk in plugin_chunks(text)
        ]
        if answers[0].get("id"):
            head, _, rest = raw.partition("---\n")
            assert head == ""
            file.write_text(f"---\nsecond-brain-id: {answers[0]['id']}\n{rest}")
        return answers


class TestObsidianPlugin:
    def test_the_test_button(self, daemon: DaemonProcess) -> None:
        url = f"{daemon.url}/list?n=1"
        headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "app://obsidian.md"}
        good = httpx2.get(url, headers=headers, trust_env=False)
        assert good.status_code == 200
        assert isinstance(good.json(), list)
        bad = httpx2.get(url, headers={"Authorization": "Bearer wrong"}, trust_env=False)
        assert bad.status_code == 401
        assert bad.json() == {"ok": False, "error": "Unauthorized"}

    @pytest.mark.parametrize("paragraphs", [1, 30])
    def test_a_note_of_this_vault_stays_one_note_through_all_its_syncs(
        self, daemon: DaemonProcess, paragraphs: int
    ) -> None:
        path = f"Boat/Rigging {paragraphs}.md"
        plugin = Plugin(daemon)
        lines = [f"Shroud {paragraphs}-{n} is 6 mm wire, tuned in May." for n in range(paragraphs)]
        body = "\n\n".join([*lines, "And the forestay is new."] * (1 if paragraphs == 1 else 2))
        file = daemon.write(path, f"---\ntags: [brain, rig]\n---\n{body}\n")
        files = daemon.markdown_files()
        first = plugin.sync(path, ["brain", "rig"])
        assert len(first) == len(plugin_chunks(f"{file.stem}\n\n{body}"))
        id = first[0]["id"]
        assert {answer.get("id") for answer in first} == {id}, "every chunk is the note's"
        note = eventually(lambda: daemon.note(path))
        assert eventually(lambda: (daemon.note(path) or {}).get("id") == id)
        for word in (f"halyard{paragraphs}", f"turnbuckle{paragraphs}"):
            before = file.read_bytes() + f"\nThe {word} is worn.\n".encode()
            file.write_bytes(before)
            answers = plugin.sync(path)
            assert answers[0]["ok"] is True
            assert answers[0]["id"] == id
            assert file.read_bytes() == before, "the vault holds it already"
            eventually(
                lambda w=word: any(
                    hit["path"] == path and w in hit["passage"]
                    for hit in daemon.recall(f"worn {w}")
                )
            )
        assert daemon.markdown_files() == files
        assert note is not None
        assert daemon.get("/history", id=id)["writes"] == []

    def test_a_note_of_another_vault_becomes_one_note_and_is_replaced(
        self, daemon: DaemonProcess
    ) -> None:
        """A phone with a vault of its own: there is no file to watch."""
        title = "Phone note on knots"
        body = "\n".join(f"Knot {n} holds a line of {n} mm." for n in range(1, 120))
        chunks = plugin_chunks(f"{title}\n\n{body}")
        assert len(chunks) > 2
        tags = ["knots", "obsidian", "Phone"]
        answers = []
        for chunk in chunks:
            answers.append(capture(daemon, content=chunk, source="obsidian", tags=tags))
        ids = {answer["id"] for answer in answers}
        assert len(ids) == 1
        id = ids.pop()
        entry = daemon.get("/entry", id=id)["entry"]
        assert entry["title"] == title
        assert entry["content"].strip() == body
        assert set(entry["tags"]) == set(tags)
        newer = f"{body}\nKnot 120 is the last."
        answer = daemon.post("/append", id=id, addition=f"{title}\n\n{newer}")
        assert answer["ok"] is True
        assert daemon.get("/entry", id=id)["entry"]["content"].strip() == newer
        daemon.post("/append", id=id, addition=f"{title}\n\n{newer}")
        assert daemon.get("/entry", id=id)["entry"]["content"].strip() == newer
        kept = [write["tool"] for write in daemon.get("/history", id=id)["writes"]]
        assert kept.count("append") == 1


class TestBrowserExtension:
    def test_a_page_with_a_selection_and_a_note(self, daemon: DaemonProcess) -> None:
        content = (
            "Tide tables for Roscoff\nhttps://example.org/tides?port=roscoff#today\n\n"
            'Highlighted: "High water at springs is about 5 pm."\n\n'
            "For the crossing #tides #plan/2027"
        )
        answer = capture(daemon, content=content, source="extension")
        assert answer["ok"] is True
        assert "action" not in answer
        entry = daemon.get("/entry", id=answer["id"])["entry"]
        assert entry["content"] == content
        assert set(entry["tags"]) == {"tides", "plan/2027"}, "the URL's fragment is no tag"
        assert entry["source"] == "extension"
        again = capture(daemon, content=content, source="extension")
        assert (again["ok"], again["duplicate"]) == (False, True)
        assert isinstance(again["score"], float)

    def test_a_page_alone(self, daemon: DaemonProcess) -> None:
        answer = capture(
            daemon, content="Sailmaker Le Goff\nhttps://example.org/le-goff", source="extension"
        )
        assert answer["ok"] is True


def test_the_bookmarklet_from_a_pages_own_origin(daemon: DaemonProcess) -> None:
    origin = "https://news.example.org"
    preflight = httpx2.request(
        "OPTIONS",
        f"{daemon.url}/capture",
        headers={
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,authorization",
            "Access-Control-Request-Private-Network": "true",
        },
        trust_env=False,
    )
    assert preflight.status_code in (200, 204)
    assert preflight.headers["access-control-allow-origin"] in ("*", origin)
    assert preflight.headers["access-control-allow-methods"] == "GET, POST, OPTIONS"
    allowed = preflight.headers["access-control-allow-headers"]
    assert {"Content-Type", "Authorization", "Accept"} <= set(allowed.split(", "))
    content = "Whales were seen off Ouessant.\n\nThe morning paper\nhttps://news.example.org/whales"
    response = httpx2.post(
        f"{daemon.url}/capture",
        json={"content": content, "source": "browser", "tags": ["reading"]},
        headers={"Origin": origin, "Authorization": f"Bearer {TOKEN}"},
        trust_env=False,
    )
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] in ("*", origin)
    entry = daemon.get("/entry", id=response.json()["id"])["entry"]
    assert (entry["content"], entry["tags"], entry["source"]) == (content, ["reading"], "browser")


def test_the_claude_code_hooks(daemon: DaemonProcess) -> None:
    started = time.time()
    question = "Tidewatch recent context decisions and facts"
    found = daemon.get("/recall", q=question, topK=5)
    assert 0 < len(found["results"]) <= 5
    assert any("Tidewatch" in hit["content"] for hit in found["results"])
    messages = "User: where do the gauges write?\n\nAssistant: into SQLite, see the decision."
    answer = capture(daemon, content=messages, source="claude-code", tags=["session"])
    assert answer["ok"] is True
    newest = daemon.get("/list", n=1, tag="session")[0]
    assert newest["id"] == answer["id"]
    assert newest["created_at"] >= (started - 2) * 1000
