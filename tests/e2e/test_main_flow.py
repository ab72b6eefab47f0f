"""Every REST endpoint on a real daemon: the contract's shapes, and what the vault holds after."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from harness import DaemonProcess, eventually

QUESTIONS = json.loads((Path(__file__).parents[1] / "example_questions.json").read_text("utf-8"))
ENTRY = {"id": str, "content": str, "tags": list, "source": str, "created_at": int}
HIT = {**ENTRY, "score": float, "updated": int, "hop": int}
OURS = {"title": str, "path": str, "heading": str, "passage": str, "date": str, "url": str}
LISTED = {**ENTRY, "tags": str, "vector_ids": str}
NOTE = {
    "path": str,
    "id": str,
    "status": str,
    "title": str,
    "tags": list,
    "aliases": list,
    "links": list,
    "size": int,
    "modified": int,
    "hash": str,
}


def has_shape(value: dict[str, Any], shape: dict[str, type]) -> bool:
    wrong = {key: value.get(key) for key, kind in shape.items() if type(value.get(key)) is not kind}
    assert wrong == {}
    return True


def remember(daemon: DaemonProcess, content: str, **fields: object) -> tuple[str, Path]:
    answer = daemon.post("/capture", content=content, **fields)
    assert answer["ok"], answer
    return answer["id"], daemon.vault / answer["path"]


class TestRecall:
    def test_the_questions_of_the_example_vault_find_their_notes(
        self, daemon: DaemonProcess
    ) -> None:
        first = 0
        lost = []
        for question in QUESTIONS:
            paths = [hit["path"] for hit in daemon.recall(question["question"])]
            first += paths[:1] == [question["path"]]
            if question["path"] not in paths:
                lost.append(question["question"])
        assert lost == []
        assert first >= 25

    def test_a_result_has_every_field_of_the_contract(self, daemon: DaemonProcess) -> None:
        answer = daemon.get("/recall", query="How long is the boat on deck?")
        assert (answer["ok"], answer["insight"], answer["semantic_unavailable"]) == (
            True,
            None,
            False,
        )
        assert answer["query_used"]
        hit = answer["results"][0]
        assert has_shape(hit, {**HIT, **OURS})
        assert hit["path"] == "Boat/Pétrel.md"
        assert hit["content"] == daemon.body(hit["path"])
        assert hit["passage"] in hit["content"]
        assert hit["heading"] == "Pétrel"
        assert hit["tags"] == ["boat"]
        assert hit["date"] == "2026-02-08T00:00:00Z"
        assert hit["url"] == "obsidian://open?vault=vault&file=Boat%2FP%C3%A9trel"
        assert 0 < hit["score"] <= 100

    def test_what_is_no_memory_is_never_recalled(self, daemon: DaemonProcess) -> None:
        for query in ("salary", "wifi password", "insurance policy", "daily template"):
            paths = {hit["path"] for hit in daemon.recall(query, topK=20)}
            assert not paths & {
                "Work/Salaries.md",
                "House/Wifi and codes.md",
                "Boat/Insurance.md",
                "Templates/Daily.md",
            }

    def test_limits_and_filters(self, daemon: DaemonProcess) -> None:
        assert len(daemon.recall("boat", topK=2)) == 2
        assert len(daemon.recall("boat", topK=500)) <= 20
        boat = daemon.recall("boat", tag="boat", topK=20)
        tags = {tag for hit in boat for tag in hit["tags"]}
        assert all(any(t == "boat" or t.startswith("boat/") for t in hit["tags"]) for hit in boat)
        assert "boat/harbour" in tags, "a tag finds the notes of those below it"
        episodic = daemon.recall("gauge parser", kind="episodic", topK=20)
        assert episodic
        assert {hit["kind"] for hit in episodic} == {"episodic"}
        start, end = 1777593600000, 1780272000000  # May 2026
        assert all(
            start <= hit["created_at"] <= end
            for hit in daemon.recall("mooring", after=start, before=end, topK=20)
        )
        short = daemon.recall("boat", topK=5, max_chars=1500)
        assert len(short) == 5
        assert 1000 < sum(len(hit["content"]) for hit in short) <= 1520, "marks of cuts not counted"

    def test_a_deprecated_memory_is_left_out(self, daemon: DaemonProcess) -> None:
        paths = [hit["path"] for hit in daemon.recall("pontoon of the berth", topK=20)]
        assert "Second Brain/Mooring is on pontoon C.md" in paths
        assert "Second Brain/Mooring is on pontoon B.md" not in paths

    def test_hops_reach_linked_memories(self, daemon: DaemonProcess) -> None:
        query = "truncated LoRa frame of 11 bytes"
        direct = daemon.recall(query, topK=1)
        further = daemon.recall(query, topK=1, hops=2)
        assert {hit["hop"] for hit in direct} == {0}
        reached = [hit for hit in further if hit["hop"] > 0]
        assert reached
        assert all(hit["score"] <= further[0]["score"] for hit in reached)

    def test_an_explanation_when_asked_for(self, daemon: DaemonProcess) -> None:
        assert daemon.recall("epoxy", explain="true")[0]["explain"]
        assert "explain" not in daemon.recall("epoxy")[0]

    def test_nothing_found_says_so(self, daemon: DaemonProcess) -> None:
        answer = daemon.get("/recall", query="boat", tag="no-such-tag")
        assert answer["ok"] is True
        assert answer["results"] == []
        assert answer["message"]


class TestWriting:
    def test_a_captured_text_is_a_note_in_the_vault(self, daemon: DaemonProcess) -> None:
        text = "The gate code of the marina is 4471.\n\nIt changes every January.  \n"
        answer = daemon.post("/capture", content=text, tags=["harbour", "key codes"], source="me")
        assert answer["ok"] is True
        file = daemon.vault / answer["path"]
        assert answer["path"] == "Second Brain/The gate code of the marina is 4471.md"
        head, body = file.read_text().removeprefix("---\n").split("\n---\n", 1)
        assert body == text
        assert "- brain" in head
        assert "- key-codes" in head
        assert f"second-brain-id: {answer['id']}" in head
        assert "second-brain-source: me" in head
        assert "created: 20" in head
        entry = daemon.get("/entry", id=answer["id"])
        assert entry["ok"] is True
        assert has_shape(entry["entry"], ENTRY)
        assert entry["entry"]["content"] == text
        assert entry["entry"]["tags"] == ["harbour", "key-codes"]
        assert entry["entry"]["source"] == "me"
        assert daemon.recall("code of the marina's gate")[0]["id"] == answer["id"]

    def test_a_title_names_the_note(self, daemon: DaemonProcess) -> None:
        _, file = remember(daemon, "Oats, raisins and honey.", title="Muesli: best / quick?")
        assert file.name.startswith("Muesli")
        assert not set(file.name) & set(':/?*"<>|\\')
        assert file.parent == daemon.vault / "Second Brain"

    def test_the_same_text_again_is_refused_with_its_match(self, daemon: DaemonProcess) -> None:
        text = "Odile keeps the spare key under the third flower pot."
        id, _ = remember(daemon, text)
        before = daemon.bytes_of_vault()
        response = daemon.http.post("/capture", json={"content": f"  {text}\n"})
        assert response.status_code == 200
        answer = response.json()
        assert (answer["ok"], answer["duplicate"], answer["matchId"]) == (False, True, id)
        assert "id" not in answer
        assert 95 <= answer["score"] <= 100
        assert round(answer["score"], 1) == answer["score"]
        assert answer["message"]
        assert daemon.bytes_of_vault() == before

    def test_a_text_that_brings_something_new_is_stored_and_flagged(
        self, daemon: DaemonProcess
    ) -> None:
        first, _ = remember(daemon, "The meeting with the harbour master is on Friday at 3 pm.")
        answer = daemon.post(
            "/capture", content="The meeting with the harbour master is on Friday at 4 pm."
        )
        assert (answer["ok"], answer["warning"], answer["matchId"]) == (True, "similar", first)
        assert answer["id"] != first
        assert "- duplicate-candidate" in (daemon.vault / answer["path"]).read_text()
        contents = [hit["content"] for hit in daemon.recall("meeting with the harbour master")]
        assert any("3 pm" in text for text in contents)
        assert any("4 pm" in text for text in contents)

    def test_append_adds_below_with_a_date(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "Ideas for the winter:\n- varnish the tiller")
        before = file.read_bytes()
        answer = daemon.post("/append", id=id, addition="- learn the bowline with one hand")
        assert (answer["ok"], answer["id"]) == (True, id)
        assert answer["message"]
        after = file.read_bytes()
        assert after.startswith(before)
        assert time.strftime("%Y-") in after[len(before) :].decode()
        assert after.decode().rstrip().endswith("- learn the bowline with one hand")
        assert daemon.recall("bowline with one hand")[0]["id"] == id

    def test_update_replaces_the_text_and_keeps_the_properties(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "The compressor needs 8 bar.", tags=["workshop"])
        head = file.read_bytes().split(b"\n---\n")[0]
        answer = daemon.post("/update", id=id, content="The compressor needs 6 bar. #pneumatics")
        assert (answer["ok"], answer["id"]) == (True, id)
        assert answer["vectors"] == 1
        assert file.read_bytes() == head + b"\n---\nThe compressor needs 6 bar. #pneumatics"
        entry = daemon.get("/entry", id=id)["entry"]
        assert set(entry["tags"]) == {"workshop", "pneumatics"}
        assert daemon.recall("compressor pressure")[0]["content"].startswith("The compressor needs")

    def test_forget_moves_a_note_of_ours_to_the_trash(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "The old radio call sign was Papa Echo Tango.")
        data = file.read_bytes()
        answer = daemon.post("/forget", id=id)
        assert (answer["ok"], answer["id"], answer["deletedVectors"]) == (True, id, 1)
        assert not file.exists()
        assert (daemon.vault / ".trash" / "Second Brain" / file.name).read_bytes() == data
        response = daemon.http.get("/entry", params={"id": id})
        assert response.status_code == 404
        assert response.json() == {"ok": False, "error": f"No entry found with ID: {id}"}
        assert all(hit["id"] != id for hit in daemon.recall("radio call sign Papa Echo Tango"))
        assert all(entry["id"] != id for entry in daemon.get("/list", n=100))
        assert daemon.note(f"Second Brain/{file.name}") is None

    def test_forget_opts_a_users_own_note_out_and_leaves_it(self, daemon: DaemonProcess) -> None:
        file = daemon.vault / "Cooking" / "Sourdough.md"
        before = file.read_bytes()
        note = daemon.note("Cooking/Sourdough.md")
        assert note is not None
        answer = daemon.post("/forget", id=note["id"])
        assert answer["ok"] is True
        assert answer["trashed"] is None
        assert "second-brain: false" in answer["message"]
        assert file.read_bytes() == b"---\nsecond-brain: false\n---\n" + before
        assert all(hit["path"] != "Cooking/Sourdough.md" for hit in daemon.recall("sourdough"))
        found = daemon.note("Cooking/Sourdough.md")
        assert found is not None
        assert found["status"] == "skipped"
        file.write_bytes(before)
        question = "My sourdough starter smells of nail varnish, is it dead?"
        eventually(lambda: daemon.recall(question)[0]["path"] == "Cooking/Sourdough.md")

    def test_status_is_a_property_of_the_note(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "The autopilot drifts two degrees to port in a swell.")
        answer = daemon.post("/status", id=id, status="canonical")
        assert answer == {"ok": True, "id": id, "status": "canonical"}
        assert "second-brain-status: canonical\n" in file.read_text()
        daemon.post("/status", id=id, status="deprecated")
        assert "second-brain-status: deprecated\n" in file.read_text()
        assert "canonical" not in file.read_text()
        assert all(hit["id"] != id for hit in daemon.recall("autopilot drifts in a swell"))
        assert daemon.get("/entry", id=id)["entry"]["id"] == id


class TestRelations:
    def test_link_writes_a_property_and_unlink_takes_it_out(self, daemon: DaemonProcess) -> None:
        old, _ = remember(daemon, "We eat at seven.", title="Dinner time, first plan")
        new, file = remember(
            daemon, "Guests arrive late, so supper waits for them.", title="Supper"
        )
        before = file.read_bytes()
        answer = daemon.post("/link", source_id=new, target_id=old, type="supersedes")
        assert answer == {"ok": True, "source_id": new, "target_id": old, "type": "supersedes"}
        assert "[[Dinner time, first plan]]" in file.read_text()
        assert "supersedes:" in file.read_text()
        found = daemon.get("/connections", id=new)
        assert (found["ok"], found["id"]) == (True, new)
        edge = next(edge for edge in found["connections"] if edge["type"] == "supersedes")
        assert has_shape(edge, {**ENTRY, "type": str, "label": str, "weight": float})
        assert (edge["id"], edge["label"]) == (old, "supersedes")
        back = daemon.get("/connections", id=old, type="supersedes")["connections"]
        assert [(edge["id"], edge["label"]) for edge in back] == [(new, "superseded by")]
        assert daemon.get("/connections", id=old, type="follows")["connections"] == []
        daemon.post("/link", source_id=new, target_id=old, type="supersedes")
        assert file.read_text().count("first plan") == 1, "linked twice is linked once"
        assert daemon.post("/unlink", source_id=old, target_id=new) == {"ok": True, "deleted": 1}
        assert daemon.get("/connections", id=new, type="supersedes")["connections"] == []
        assert b"first plan" not in file.read_bytes()
        assert set(before.splitlines()) <= set(file.read_bytes().splitlines())
        assert daemon.post("/unlink", source_id=new, target_id=old, type="follows")["deleted"] == 0

    def test_relations_that_a_user_wrote_are_connections(self, daemon: DaemonProcess) -> None:
        newer = daemon.note("Second Brain/Mooring is on pontoon C.md")
        assert newer is not None
        found = daemon.get("/connections", id=newer["id"])["connections"]
        assert ("supersedes", "Second Brain/Mooring is on pontoon B.md") in {
            (edge["type"], edge["path"]) for edge in found
        }

    def test_the_graph_is_closed(self, daemon: DaemonProcess) -> None:
        graph = daemon.get("/graph")
        assert graph["ok"] is True
        ids = {node["id"] for node in graph["nodes"]}
        assert len(ids) == len(graph["nodes"]) == daemon.get("/count")["count"]
        node = next(node for node in graph["nodes"] if node["label"] == "Mooring")
        assert has_shape(node, {"id": str, "label": str, "tags": list, "created_at": int})
        assert node.keys() >= {"kind", "status", "importance"}
        assert node["status"] == "draft"
        assert graph["edges"]
        for edge in graph["edges"]:
            assert has_shape(edge, {"source": str, "target": str, "type": str, "weight": float})
            assert {edge["source"], edge["target"]} <= ids
        near = daemon.get("/graph", seed=node["id"])
        around = {other["id"] for other in near["nodes"]}
        assert node["id"] in around
        assert around < ids
        assert len(daemon.get("/graph", limit=3)["nodes"]) == 3


class TestReading:
    def test_list_is_a_bare_array_with_two_fields_in_strings(self, daemon: DaemonProcess) -> None:
        found = daemon.get("/list")
        assert len(found) == 20
        for entry in found:
            assert has_shape(entry, LISTED)
            assert isinstance(json.loads(entry["tags"]), list)
            assert json.loads(entry["vector_ids"])
        times = [entry["created_at"] for entry in found]
        assert times == sorted(times, reverse=True)
        assert len(daemon.get("/list", n=1)) == 1
        assert len(daemon.get("/list", n=5000)) == daemon.get("/count")["count"]
        harbour = daemon.get("/list", tag="boat/harbour")
        assert [entry["title"] for entry in harbour] == ["Mooring"]
        middle = times[10]
        assert all(e["created_at"] >= middle for e in daemon.get("/list", after=middle))
        assert all(e["created_at"] <= middle for e in daemon.get("/list", before=middle))

    def test_get_reads_a_memory_whole_or_under_a_heading(self, daemon: DaemonProcess) -> None:
        note = daemon.note("Boat/Pétrel.md")
        assert note is not None
        whole = daemon.get("/get", id=note["id"])
        assert has_shape(whole, {**ENTRY, "title": str, "path": str, "links": list, "ok": bool})
        assert whole.keys() >= {"kind", "status", "importance"}
        assert whole["content"] == daemon.body("Boat/Pétrel.md")
        part = daemon.get("/get", id=note["id"], heading="Quirks")["content"]
        assert part.startswith("## Quirks\n")
        assert "bilge pump" in part
        assert "seven years" not in part

    def test_numbers(self, daemon: DaemonProcess) -> None:
        count = daemon.get("/count")
        entries = daemon.get("/list", n=100)
        assert count == {"count": len(entries)}
        tags = daemon.get("/tags")
        assert tags == sorted(tags)
        assert {"boat", "boat/harbour", "personne", "work/tidewatch"} <= set(tags)
        assert not {"brain", "second-brain"} & set(tags), "the sync tag is a marker"
        stats = daemon.get("/stats")
        assert stats["count"] == count["count"]
        assert round(stats["avg_importance"], 1) == stats["avg_importance"]
        assert len(stats["top_tags"]) == 5
        assert all(has_shape(tag, {"tag": str, "count": int}) for tag in stats["top_tags"])
        assert isinstance(stats["digest_candidates"], list)
        assert stats["unvectorized"] == 0
        assert isinstance(stats["vectorize_grace_ms"], int)
        assert isinstance(stats["unclassified"], int)

    def test_health(self, daemon: DaemonProcess) -> None:
        health = daemon.get("/health")
        assert health["ok"] is True
        assert health["version"]
        assert health["vectorize"] == {
            "ok": True,
            "indexName": health["index"]["name"],
            "dimensions": 384,
        }
        assert (health["vault"]["ok"], health["vault"]["watching"]) == (True, True)
        assert health["problems"] == []

    def test_export_holds_everything(self, daemon: DaemonProcess) -> None:
        export = daemon.get("/export")
        assert (export["ok"], export["version"]) == (True, 2)
        assert abs(export["exported_at"] - time.time() * 1000) < 60_000
        counters = ("recall_count", "importance_score", "contradiction_wins")
        for entry in export["entries"]:
            assert has_shape(entry, ENTRY)
            assert entry.keys() >= {*counters, "contradiction_losses"}
            assert entry["content"] == daemon.body(entry["path"])
        assert len(export["entries"]) == daemon.get("/count")["count"]
        assert max(entry["recall_count"] for entry in export["entries"]) > 0
        ids = {entry["id"] for entry in export["entries"]}
        for edge in export["edges"]:
            assert {edge["source_id"], edge["target_id"]} <= ids
            assert edge["provenance"] in ("explicit", "inferred", "system")
            assert edge.keys() >= {"type", "weight", "created_at"}

    def test_notes_names_every_markdown_file(self, daemon: DaemonProcess) -> None:
        notes = daemon.all_notes()
        excluded = {"Templates/Daily.md", "Templates/Person.md"}
        assert set(notes) == daemon.markdown_files() - excluded
        assert all(has_shape(note, NOTE) for note in notes.values())
        assert notes["Work/Salaries.md"]["status"] == "skipped"
        assert notes["Work/Salaries.md"]["reason"]
        boat = notes["Boat/Pétrel.md"]
        assert (boat["status"], boat["aliases"]) == ("indexed", ["Petrel", "the boat"])
        assert boat["size"] == (daemon.vault / "Boat/Pétrel.md").stat().st_size
        assert ("Boat/Voile d'avant.md", "relates_to", None, "explicit") in {
            (link["path"], link["type"], link["property"], link["provenance"])
            for link in boat["links"]
        }
        page = daemon.get("/notes", n=5)
        assert (page["ok"], page["total"], len(page["notes"])) == (True, len(notes), 5)
        following = daemon.get("/notes", n=5, cursor=page["next_cursor"])
        assert not {n["path"] for n in page["notes"]} & {n["path"] for n in following["notes"]}
        skipped = daemon.get("/notes", status="skipped", n=1000)["notes"]
        assert {n["path"] for n in skipped} == {
            path for path, note in notes.items() if note["status"] == "skipped"
        }


class TestHistory:
    def test_every_write_is_listed_and_can_be_undone(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "The bosun's chair hangs in the loft.", source="tester")
        first = file.read_bytes()
        daemon.post("/append", id=id, addition="Its rope is 30 m long.")
        writes = daemon.get("/history", id=id)["writes"]
        assert [write["tool"] for write in writes] == ["append", "capture"]
        keys = {"n", "id", "path", "at", "client", "tool", "summary", "undone"}
        assert all(write.keys() >= keys for write in writes)
        assert writes[1]["client"] == "tester"
        undone = daemon.post("/undo", n=writes[0]["n"])
        assert undone["ok"] is True
        assert (undone["n"], undone["id"]) == (writes[0]["n"], id)
        assert daemon.vault / undone["path"] == file
        assert file.read_bytes() == first
        assert "30 m" not in daemon.recall("bosun's chair")[0]["content"]
        assert daemon.get("/history", id=id)["writes"][1]["undone"] is True
        again = daemon.http.post("/undo", json={"n": writes[0]["n"]})
        assert again.status_code == 409

    def test_what_the_user_changed_since_is_not_overwritten(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "The dinghy leaks at the transom.")
        daemon.post("/append", id=id, addition="Try a new seal.")
        n = daemon.get("/history", id=id)["writes"][0]["n"]
        theirs = file.read_bytes() + b"\nMine.\n"
        file.write_bytes(theirs)
        response = daemon.http.post("/undo", json={"n": n})
        assert response.status_code == 409
        answer = response.json()
        assert answer["ok"] is False
        assert answer["error"]
        assert daemon.vault / answer["path"] == file
        assert file.read_bytes() == theirs

    def test_a_forgotten_note_comes_back(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "Fenders go out on both sides in Brest.")
        data = file.read_bytes()
        daemon.post("/forget", id=id)
        daemon.post("/undo", n=daemon.get("/history", id=id)["writes"][0]["n"])
        assert file.read_bytes() == data
        assert daemon.recall("fenders in Brest")[0]["id"] == id


@pytest.mark.parametrize(
    ("method", "path", "values"),
    [
        ("GET", "/digest", {"tag": "boat"}),
        ("POST", "/vectorize-pending", {}),
        ("POST", "/classify-pending", {}),
        ("GET", "/integrations", {}),
        ("POST", "/chat", {"query": "what?", "memories": ""}),
    ],
)
def test_what_needs_a_language_model_answers_without_one(
    daemon: DaemonProcess, method: str, path: str, values: dict[str, str]
) -> None:
    if method == "GET":
        response = daemon.http.get(path, params=values)
    else:
        response = daemon.http.post(path, json=values)
    assert response.status_code == 200
