"""The endpoints that only this server has, with all their parameters, on the real daemon."""

from __future__ import annotations

import pytest
from harness import DaemonProcess

PLAN = """The regatta of the heron cup.

## Costs

Berths are 40 euros a night.

## Boats

### Costs

The old sails are worn.
"""


@pytest.fixture(scope="module")
def plan(daemon: DaemonProcess) -> str:
    return str(daemon.post("/capture", content=PLAN, title="Heron cup", tags=["race"])["id"])


def test_get_whole_and_by_heading(daemon: DaemonProcess, plan: str) -> None:
    whole = daemon.get("/get", id=plan)
    assert whole["content"].strip() == PLAN.strip()
    assert (whole["title"], whole["tags"]) == ("Heron cup", ["race"])
    assert daemon.get("/get", id=plan, heading="costs")["content"].startswith("## Costs")
    inner = daemon.get("/get", id=plan, heading="Boats > Costs")
    assert "old sails" in inner["content"]
    assert "Berths" not in inner["content"]
    unknown = daemon.http.get("/get", params={"id": plan, "heading": "Crew"})
    assert (unknown.status_code, unknown.json()["field"]) == (400, "heading")
    assert daemon.http.get("/get", params={"id": "nobody"}).status_code == 404


def test_notes_page_by_page_and_by_status(daemon: DaemonProcess, plan: str) -> None:
    total = daemon.get("/notes", n=1)["total"]
    seen: list[str] = []
    cursor = None
    while True:
        page = daemon.get("/notes", n=7, cursor=cursor)
        assert page["total"] == total
        seen += [note["path"] for note in page["notes"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(set(seen))
    assert len(seen) == total
    for status in ("indexed", "skipped"):
        found = daemon.get("/notes", n=1000, status=status)
        assert found["total"] == len(found["notes"]) > 0
        assert {note["status"] for note in found["notes"]} == {status}
    (note,) = daemon.get("/notes", path="Second Brain/Heron cup.md")["notes"]
    assert (note["id"], note["title"], note["tags"]) == (plan, "Heron cup", ["race"])
    assert daemon.http.get("/notes", params={"cursor": "no cursor"}).status_code == 400


def test_recall_explains_itself_and_keeps_to_the_budget(daemon: DaemonProcess, plan: str) -> None:
    hits = daemon.recall("the regatta of the heron cup", explain="true", max_chars=200)
    assert plan in [hit["id"] for hit in hits]
    # The marks where something was left out are not counted.
    assert sum(len(hit["content"].strip("…")) for hit in hits) <= 200
    assert all(hit["explain"] for hit in hits)
    assert "explain" not in daemon.recall("the regatta of the heron cup")[0]


def test_history_and_undo(daemon: DaemonProcess, plan: str) -> None:
    daemon.post("/append", id=plan, addition="Salomé brings the trophy.")
    writes = daemon.get("/history", id=plan, n=9)["writes"]
    assert [write["tool"] for write in writes] == ["append", "capture"]
    assert daemon.get("/history", id=plan, n=1)["writes"] == writes[:1]
    file = daemon.vault / writes[0]["path"]
    file.write_text(file.read_text("utf-8").replace("of the heron cup", "of 2027"), "utf-8")
    n = writes[0]["n"]
    undone = daemon.post("/undo", n=n)
    assert undone == {"ok": True, "n": n, "id": plan, "path": writes[0]["path"]}
    text = file.read_text("utf-8")
    assert "Salomé" not in text
    assert "of 2027" in text
    assert [w["undone"] for w in daemon.get("/history", id=plan)["writes"]] == [False, True, False]


def test_an_undo_that_cannot_be_merged_is_refused_with_the_path(daemon: DaemonProcess) -> None:
    made = daemon.post("/capture", content="The lock opens at eight.", title="Lock hours")
    daemon.post("/update", id=made["id"], content="The lock opens at nine.")
    (write,) = daemon.get("/history", id=made["id"], n=1)["writes"]
    file = daemon.vault / made["path"]
    file.write_text(file.read_text("utf-8").replace("at nine", "at ten"), encoding="utf-8")
    refused = daemon.http.post("/undo", json={"n": write["n"]})
    assert refused.status_code == 409
    assert refused.json() == {
        "ok": False,
        "error": refused.json()["error"],
        "path": made["path"],
    }
    assert "at ten" in file.read_text("utf-8")


def test_a_pair_that_disagrees_is_reviewed_decided_and_taken_back(daemon: DaemonProcess) -> None:
    known = daemon.post("/capture", content="The crane of the heron yard is 9 m high.")
    new = daemon.post("/capture", content="The crane of the heron yard is 11 m high.")
    assert "Marked for review" in new["message"]
    listed = daemon.get("/review", n=200)
    item = next(item for item in listed["items"] if item["newcomer"]["id"] == new["id"])
    assert (item["kind"], item["suggestion"], item["found_by"]) == ("value", "replace", "rules")
    assert item["known"]["id"] == known["id"]
    assert listed["total"] >= 1
    path = f"/review/{item['id']}"
    odd = daemon.http.post(path, json={"decision": "burn"})
    assert (odd.status_code, odd.json()["field"]) == (400, "decision")
    assert daemon.http.post("/review/999999", json={"decision": "keep"}).status_code == 404
    assert daemon.http.post("/review/first", json={"decision": "keep"}).status_code == 400
    done = daemon.http.post(path, json={"decision": "replace"}).json()
    assert (done["winner"], len(done["writes"])) == (new["id"], 2)
    assert daemon.get("/get", id=known["id"])["status"] == "deprecated"
    links = daemon.get("/connections", id=new["id"], type="supersedes")["connections"]
    assert [link["id"] for link in links] == [known["id"]]
    assert daemon.http.post(path, json={"decision": "replace"}).status_code == 404
    daemon.post("/undo", n=done["writes"][1])
    assert daemon.get("/get", id=known["id"])["status"] is None
    assert daemon.get("/connections", id=new["id"], type="supersedes")["connections"] == []
    again = daemon.get("/review", n=200)["items"]
    assert item["id"] in [each["id"] for each in again]
