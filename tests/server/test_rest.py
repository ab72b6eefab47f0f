"""Each row of the HTTP contract, with each of its answers that the transport can give."""

from __future__ import annotations

import json

import pytest
from server_fakes import GETS, NOW, POSTS, FakeMemories, Unexpected
from starlette.testclient import TestClient

from second_brain.errors import (
    EditRefused,
    IndexUnavailable,
    NoteChanged,
    SecondBrainError,
    VaultOffline,
    WriteFailed,
)
from second_brain.memory.model import RELATION_TYPES, Remembered

REQUIRED = [
    ("/capture", "content"),
    ("/append", "id"),
    ("/append", "addition"),
    ("/update", "id"),
    ("/update", "content"),
    ("/forget", "id"),
    ("/link", "source_id"),
    ("/link", "target_id"),
    ("/unlink", "source_id"),
    ("/unlink", "target_id"),
    ("/status", "id"),
    ("/status", "status"),
    ("/undo", "n"),
    ("/chat", "query"),
    ("/patterns/resolve", "id"),
    ("/patterns/resolve", "action"),
]


class TestCapture:
    def test_stored(self, client: TestClient, memories: FakeMemories) -> None:
        answer = client.post(
            "/capture", json={"content": "Tea at four\n\n#x", "tags": ["work", " "], "title": "Tea"}
        )
        assert answer.status_code == 200
        assert answer.json()["ok"] is True
        stored = memories.stored[answer.json()["id"]]
        assert (stored.content, stored.tags, stored.source) == (
            "Tea at four\n\n#x",
            ("work",),
            "api",
        )
        assert memories.asked == [{"title": "Tea"}]

    def test_source_is_kept_and_names_the_caller(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        client.post("/capture", json={"content": "x", "source": "extension", "tags": None})
        assert memories.stored["m1"].source == "extension"
        assert memories.callers[0].client == "extension"
        assert memories.callers[0].tool == "capture"

    def test_duplicate_is_an_answer_and_not_an_error(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        memories.answers = [Remembered("duplicate", None, "Known.", match_id="m9", score=97.2611)]
        answer = client.post("/capture", json={"content": "x"})
        assert answer.status_code == 200
        assert answer.json() == {
            "ok": False,
            "duplicate": True,
            "matchId": "m9",
            "score": 97.3,
            "message": "Known.",
        }

    def test_similar(self, client: TestClient, memories: FakeMemories) -> None:
        memories.answers = [
            Remembered("similar", "m2", "Alike.", path="a.md", match_id="m1", score=88.04)
        ]
        body = client.post("/capture", json={"content": "x"}).json()
        expected = {
            "ok": True,
            "id": "m2",
            "warning": "similar",
            "matchId": "m1",
            "score": 88.0,
            "message": "Alike.",
        }
        assert body == {**body, **expected}

    def test_known_note_answers_with_its_id(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        memories.answers = [Remembered("known", "note-7", "Already a memory.")]
        body = client.post("/capture", json={"content": "x", "source": "obsidian"}).json()
        assert (body["ok"], body["id"]) == (True, "note-7")
        assert "warning" not in body


class TestChanges:
    def test_append(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("one")
        answer = client.post("/append", json={"id": "m1", "addition": "two"})
        assert answer.json() == {"ok": True, "id": "m1", "message": "Appended."}
        assert memories.stored["m1"].content.endswith("two")

    def test_update(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("one")
        body = client.post("/update", json={"id": "m1", "content": "two"}).json()
        assert (body["ok"], body["id"], body["vectors"]) == (True, "m1", 2)

    def test_update_of_a_version(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("x")
        version = client.get("/get?id=m1").json()["version"]
        body = {"id": "m1", "content": "y", "base": version}
        assert client.post("/update", json=body).status_code == 200
        assert memories.asked[-1] == {"base": version}
        assert client.get("/get?id=m1").json()["version"] != version
        memories.fails = NoteChanged("Notes/m1.md")
        answer = client.post("/update", json=body)
        assert (answer.status_code, answer.json()["path"]) == (409, "Notes/m1.md")

    def test_similar_to_what_is_not_stored(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        memories.add("x")
        (found,) = client.post("/similar", json={"content": "x"}).json()["memories"]
        assert (found["id"], found["standing"], found["score"]) == ("m1", "similar", 87.3)
        assert len(memories.stored) == 1

    def test_forget(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("one")
        body = client.post("/forget", json={"id": "m1"}).json()
        assert (body["ok"], body["id"], body["deletedVectors"]) == (True, "m1", 2)
        assert memories.stored == {}

    def test_status(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("one")
        answer = client.post("/status", json={"id": "m1", "status": "canonical"})
        assert answer.json() == {"ok": True, "id": "m1", "status": "canonical"}

    def test_wrong_status_names_the_right_ones(self, client: TestClient) -> None:
        answer = client.post("/status", json={"id": "m1", "status": "final"})
        assert answer.status_code == 400
        assert all(word in answer.json()["error"] for word in ("canonical", "draft", "deprecated"))

    @pytest.mark.parametrize("path", ["/append", "/update", "/forget", "/status"])
    def test_unknown_id(self, client: TestClient, path: str) -> None:
        answer = client.post(path, json={**POSTS[path], "id": "nope"})
        assert answer.status_code == 404
        assert answer.json() == {"ok": False, "error": "No entry found with ID: nope"}

    def test_undo(self, client: TestClient) -> None:
        client.post("/capture", json={"content": "x"})
        answer = client.post("/undo", json={"n": 1})
        assert answer.json() == {"ok": True, "n": 1, "id": "m1", "path": "Notes/m1.md"}

    @pytest.mark.parametrize("n", [99, 0, -1, 2**70, 1e300])
    def test_undo_of_an_unknown_write(self, client: TestClient, n: float) -> None:
        answer = client.post("/undo", json={"n": n})
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("No write found with number: ")

    def test_undo_of_a_file_changed_since(self, client: TestClient, memories: FakeMemories) -> None:
        memories.fails = EditRefused("a.md", "it was edited since")
        answer = client.post("/undo", json={"n": 1})
        assert answer.status_code == 409
        assert answer.json()["path"] == "a.md"
        memories.fails = NoteChanged("a.md", "a.md was changed since; mend it by hand.")
        answer = client.post("/undo", json={"n": 1})
        assert answer.status_code == 409
        wanted = {"ok": False, "error": "a.md was changed since; mend it by hand.", "path": "a.md"}
        assert answer.json() == wanted


class TestLinks:
    @pytest.fixture(autouse=True)
    def two(self, memories: FakeMemories) -> None:
        memories.add("one")
        memories.add("two")

    def test_link_defaults_to_relates_to(self, client: TestClient) -> None:
        answer = client.post("/link", json=POSTS["/link"])
        assert answer.json() == {
            "ok": True,
            "source_id": "m1",
            "target_id": "m2",
            "type": "relates_to",
        }

    def test_unknown_type_lists_the_types(self, client: TestClient) -> None:
        answer = client.post("/link", json={**POSTS["/link"], "type": "likes"})
        assert answer.status_code == 400
        assert all(type_ in answer.json()["error"] for type_ in RELATION_TYPES)

    def test_link_to_itself(self, client: TestClient) -> None:
        answer = client.post("/link", json={"source_id": "m1", "target_id": "m1"})
        assert answer.status_code == 400
        assert "target_id" in answer.json()["error"]

    def test_unlink_counts(self, client: TestClient) -> None:
        client.post("/link", json=POSTS["/link"])
        client.post("/link", json={**POSTS["/link"], "type": "follows"})
        body = {**POSTS["/unlink"], "type": "follows"}
        assert client.post("/unlink", json=body).json() == {"ok": True, "deleted": 1}
        assert client.post("/unlink", json=POSTS["/unlink"]).json() == {"ok": True, "deleted": 1}

    def test_connections(self, client: TestClient) -> None:
        client.post("/link", json=POSTS["/link"])
        body = client.get("/connections?id=m1").json()
        assert (body["ok"], body["id"]) == (True, "m1")
        wanted = {"id", "content", "tags", "source", "created_at", "type", "label", "weight"}
        assert wanted <= body["connections"][0].keys()
        assert client.get("/connections?id=m1&type=follows").json()["connections"] == []
        assert client.get("/connections?id=zz").status_code == 404

    def test_graph_has_no_edge_without_its_nodes(
        self, client: TestClient, memories: FakeMemories
    ) -> None:
        memories.add("x" * 200)
        client.post("/link", json=POSTS["/link"])
        client.post("/link", json={"source_id": "m1", "target_id": "m3"})
        body = client.get("/graph?limit=2&seed=m1").json()
        assert [node["id"] for node in body["nodes"]] == ["m1", "m2"]
        assert body["edges"] == [
            {"source": "m1", "target": "m2", "type": "relates_to", "weight": 1.0}
        ]
        assert memories.asked[-1] == {"seed": "m1", "limit": 2}
        nodes = client.get("/graph").json()["nodes"]
        assert max(len(node["label"]) for node in nodes) <= 80
        assert {"id", "label", "tags", "kind", "status", "importance", "created_at"} == set(
            nodes[0]
        )


class TestReading:
    @pytest.fixture(autouse=True)
    def one(self, memories: FakeMemories) -> None:
        memories.add("Tea with Zoë at four", tags=("work", "café"))

    def test_list_is_a_bare_array_with_json_strings(self, client: TestClient) -> None:
        client.post("/capture", json={"content": "newer"})
        body = client.get("/list").json()
        assert [entry["id"] for entry in body] == ["m2", "m1"]
        assert {"id", "content", "tags", "source", "created_at", "vector_ids"} <= body[0].keys()
        assert json.loads(body[1]["tags"]) == ["work", "café"]
        assert json.loads(body[1]["vector_ids"]) == ["m1#0", "m1#1"]

    @pytest.mark.parametrize(
        ("query", "n"), [("", 20), ("?n=1", 1), ("?n=5000", 100), ("?n=0", 1), ("?n=", 20)]
    )
    def test_list_bounds(
        self, client: TestClient, memories: FakeMemories, query: str, n: int
    ) -> None:
        client.get(f"/list{query}")
        assert memories.asked[-1]["n"] == n

    def test_list_filters(self, client: TestClient, memories: FakeMemories) -> None:
        client.get("/list?tag=work&after=1700000000000&before=-5")
        wanted = {"n": 20, "tag": "work", "after": 1_700_000_000_000, "before": 0}
        assert memories.asked[-1] == wanted

    @pytest.mark.parametrize("name", ["query", "q"])
    def test_recall(self, client: TestClient, name: str) -> None:
        body = client.get("/recall", params={name: "zoë"}).json()
        assert (body["ok"], body["insight"], body["query_used"]) == (True, None, "zoë")
        assert body["semantic_unavailable"] is False
        hit = body["results"][0]
        wanted = {"id", "content", "score", "tags", "source", "created_at", "updated", "hop"}
        own = {"title", "path", "heading", "passage", "date", "url"}
        assert wanted | own <= hit.keys()
        assert hit["score"] == 87.3
        assert hit["tags"] == ["work", "café"]
        assert hit["date"] == "2026-01-01T00:00:00Z"
        assert hit["created_at"] == NOW
        assert "explain" not in hit

    def test_recall_explains_when_asked(self, client: TestClient) -> None:
        body = client.get("/recall?query=tea&explain=true").json()
        assert body["results"][0]["explain"] == {"vector": 0.87}

    def test_recall_without_a_match(self, client: TestClient) -> None:
        body = client.get("/recall?query=nothing").json()
        assert body["ok"] is True
        assert body["results"] == []
        assert body["message"]

    def test_recall_parameters(self, client: TestClient, memories: FakeMemories) -> None:
        client.get(
            "/recall?query=a&topK=99&tag=t&after=2026-01-01&before=1767225600000"
            "&kind=episodic&hops=9&max_chars=500"
        )
        query = memories.queries[-1]
        assert (query.top_k, query.tag, query.kind, query.hops) == (20, "t", "episodic", 3)
        assert (query.after, query.before, query.max_chars) == (NOW, NOW, 500)

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("", "query"),
            ("?query=", "query"),
            ("?query=%20", "query"),
            ("?query=a%00b", "query"),
            ("?query=a&topK=abc", "topK"),
            ("?query=a&hops=1.5", "hops"),
            ("?query=a&after=soon", "after"),
            ("?query=a&before=2026-13-45", "before"),
            ("?query=a&kind=odd", "kind"),
            ("?query=a&explain=perhaps", "explain"),
        ],
    )
    def test_recall_with_wrong_parameters(self, client: TestClient, query: str, field: str) -> None:
        answer = client.get(f"/recall{query}")
        assert answer.status_code == 400
        assert answer.json()["ok"] is False
        assert field in answer.json()["error"]

    def test_entry(self, client: TestClient) -> None:
        body = client.get("/entry?id=m1").json()
        assert body["ok"] is True
        assert {"id", "content", "tags", "source", "created_at"} <= body["entry"].keys()
        assert client.get("/entry?id=zz").status_code == 404
        assert client.get("/entry").status_code == 400

    def test_get(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("two")
        client.post("/link", json=POSTS["/link"])
        body = client.get("/get?id=m1").json()
        assert body["content"] == "Tea with Zoë at four"
        assert {"title", "path", "kind", "status", "importance", "created_at"} <= body.keys()
        assert body["links"][0]["id"] == "m2"
        assert client.get("/get?id=m1&heading=Zoë").json()["content"] == "section Zoë"
        assert client.get("/get?id=m1&heading=Nowhere").status_code == 400

    def test_count_and_tags(self, client: TestClient) -> None:
        assert client.get("/count").json() == {"count": 1}
        assert client.get("/tags").json() == ["café", "work"]

    def test_stats(self, client: TestClient) -> None:
        body = client.get("/stats").json()
        assert body["avg_importance"] == 3.0
        assert len(body["top_tags"]) == 5
        assert body["digest_candidates"] == [{"tag": "work", "count": 12}]
        assert {"count", "unvectorized", "vectorize_grace_ms", "unclassified"} <= body.keys()

    def test_health(self, client: TestClient) -> None:
        body = client.get("/health").json()
        assert body["ok"] is True
        assert body["version"]
        assert body["vectorize"] == {"ok": True, "indexName": "chunks_1", "dimensions": 384}
        assert body["problems"][0]["hint"] == "fix line 2"
        assert {"vault", "index", "embedding"} <= body.keys()

    def test_export(self, client: TestClient, memories: FakeMemories) -> None:
        memories.add("two")
        client.post("/link", json=POSTS["/link"])
        body = client.get("/export").json()
        assert (body["ok"], body["version"]) == (True, 2)
        assert body["exported_at"] > NOW
        wanted = {
            "id",
            "content",
            "tags",
            "source",
            "created_at",
            "recall_count",
            "importance_score",
            "contradiction_wins",
            "contradiction_losses",
        }
        assert wanted <= body["entries"][0].keys()
        assert body["edges"] == [
            {
                "source_id": "m1",
                "target_id": "m2",
                "type": "relates_to",
                "weight": 1.0,
                "provenance": "explicit",
                "created_at": NOW,
            }
        ]

    def test_notes(self, client: TestClient, memories: FakeMemories) -> None:
        body = client.get("/notes?status=skipped&n=9999&cursor=c&path=a/b.md").json()
        assert (body["total"], body["next_cursor"]) == (7, "next")
        assert body["notes"][0]["reason"] == "no sync tag"
        assert body["notes"][0]["path"] == "a?.md", "a name that is not UTF-8 must not be a 500"
        wanted = {"path": "a/b.md", "status": "skipped", "n": 1000, "cursor": "c"}
        assert memories.asked[-1] == wanted
        assert client.get("/notes?status=odd").status_code == 400

    def test_history(self, client: TestClient) -> None:
        client.post("/capture", json={"content": "x", "source": "ios"})
        (write,) = client.get("/history").json()["writes"]
        assert set(write) == {"n", "id", "path", "at", "client", "tool", "summary", "undone"}
        assert write["client"] == "ios"
        assert client.get("/history?id=other").json()["writes"] == []


class TestBadInput:
    @pytest.mark.parametrize("path", POSTS)
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[1]",
            b"null",
            b'"text"',
            b'{"content": NaN}',
            b'{"n": ' + b"1" * 5000 + b"}",
            b"\xff\xfe",
            b'{"content": "\xff"}',
            b"[" * 9000,
            b'{"a":' * 3000,
        ],
    )
    def test_not_a_json_object(self, client: TestClient, path: str, body: bytes) -> None:
        answer = client.post(path, content=body)
        assert answer.status_code == 400
        assert answer.json() == {"ok": False, "error": "Invalid JSON"}

    @pytest.mark.parametrize(("path", "field"), REQUIRED)
    @pytest.mark.parametrize("value", [None, "", "  ", 5.5, True, [], {}, ["x"], {"a": [[]]}])
    def test_required_field_missing_or_of_a_wrong_type(
        self, client: TestClient, path: str, field: str, value: object
    ) -> None:
        answer = client.post(path, json={**POSTS[path], field: value})
        assert answer.status_code == 400
        assert field in answer.json()["error"]
        assert answer.json()["field"] == field

    @pytest.mark.parametrize("text", [r"\ud800", r"a\u0000b", r"\udfff end"])
    @pytest.mark.parametrize(
        ("path", "field"), [("/capture", "content"), ("/forget", "id"), ("/capture", "source")]
    )
    def test_text_that_no_file_can_hold(
        self, client: TestClient, path: str, field: str, text: str
    ) -> None:
        rest = json.dumps({**POSTS[path], field: "@"}).replace("@", text)
        answer = client.post(path, content=rest.encode())
        assert answer.status_code == 400
        assert answer.json()["field"] == field

    @pytest.mark.parametrize(
        "tags", ["work", {"a": 1}, [1], [None], [["x"]], ["t"] * 101, ["\ud83d"], 7]
    )
    def test_tags_of_a_wrong_type(self, client: TestClient, tags: object) -> None:
        body = json.dumps({"content": "x", "tags": tags})
        answer = client.post("/capture", content=body.encode())
        assert answer.status_code == 400
        assert answer.json()["field"] == "tags"

    def test_duplicate_keys_and_unknown_ones_are_no_crash(self, client: TestClient) -> None:
        body = b'{"content": "a", "content": "b", "deep": [[[[{}]]]], "n": 1e400}'
        assert client.post("/capture", content=body).status_code == 200

    def test_content_type_is_not_asked_for(self, client: TestClient) -> None:
        answer = client.post(
            "/capture", content=b'{"content": "x"}', headers={"Content-Type": "text/plain"}
        )
        assert answer.json()["ok"] is True


class TestPathsAndMethods:
    @pytest.mark.parametrize("path", ["/", "/nope", "/capture/", "/.well-known/x", "/list/../x"])
    def test_unknown_path(self, anonymous: TestClient, path: str) -> None:
        answer = anonymous.get(path)
        assert answer.status_code == 404
        assert answer.json() == {"ok": False, "error": "Not found"}

    @pytest.mark.parametrize("path", POSTS)
    def test_post_only(self, client: TestClient, path: str) -> None:
        answer = client.get(path)
        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST, OPTIONS"
        assert answer.json()["ok"] is False

    @pytest.mark.parametrize("path", GETS)
    def test_get_only(self, client: TestClient, memories: FakeMemories, path: str) -> None:
        memories.add("x")
        assert client.post(path, json={}).status_code == 405
        assert client.delete(path).status_code == 405
        assert client.get(path).status_code == 200
        assert client.head(path).status_code == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EditRefused("a.md", "broken frontmatter"), 409),
        (NoteChanged("a.md"), 409),
        (VaultOffline("The vault is not there."), 503),
        (IndexUnavailable("The index cannot be read."), 503),
        (WriteFailed("a.md", "disk full"), 507),
        (Unexpected("Something else."), 500),
    ],
)
def test_errors_of_ours_have_their_status(
    client: TestClient, memories: FakeMemories, error: SecondBrainError, status: int
) -> None:
    memories.fails = error
    answer = client.post("/capture", json={"content": "x"})
    assert answer.status_code == status
    assert answer.json()["error"] == str(error)


def test_an_unexpected_error_says_nothing_about_itself(
    client: TestClient, memories: FakeMemories
) -> None:
    memories.fails = RuntimeError("secret detail")
    answer = client.post("/capture", json={"content": "x"})
    assert answer.status_code == 500
    assert answer.json()["ok"] is False
    assert "secret" not in answer.text


def test_answers_are_not_cached_and_not_sniffed(client: TestClient) -> None:
    headers = client.get("/count").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
