"""What the real daemon tells of changes in the vault, as they happen, and counts of itself."""

from __future__ import annotations

import json
import queue
import threading

import httpx2
import pytest
from harness import DaemonProcess
from prometheus_client.parser import text_string_to_metric_families


class Listener:
    """Reads GET /events in a thread."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.seen: queue.Queue[dict[str, object]] = queue.Queue()
        self.last = ""
        self._daemon = daemon
        self._open = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._open.wait(30)

    def _read(self) -> None:
        try:
            with self._daemon.http.stream("GET", "/events", timeout=120) as answer:
                for line in answer.iter_lines():
                    self._open.set()
                    if line.startswith("id: "):
                        self.last = line[4:]
                    if line.startswith("data: "):
                        self.seen.put(json.loads(line[6:]))
        except (httpx2.HTTPError, RuntimeError):
            pass  # the test is over

    def next(self, type_: str, path: str) -> dict[str, object]:
        """The next event of this type about this path; others may come before it."""
        while True:
            found = self.seen.get(timeout=60)
            if (found["type"], found["path"]) == (type_, path):
                return found


@pytest.fixture(scope="module")
def listener(daemon: DaemonProcess) -> Listener:
    return Listener(daemon)


def test_a_note_from_its_making_to_its_end(daemon: DaemonProcess, listener: Listener) -> None:
    file = daemon.write("Events/Heron.md", "---\ntags: [brain]\n---\nA heron at the weir.\n")
    made = listener.next("created", "Events/Heron.md")
    note = daemon.note("Events/Heron.md")
    assert note is not None
    assert made["id"] == note["id"]
    assert isinstance(made["at"], int)
    file.write_text("---\ntags: [brain]\n---\nTwo herons at the weir.\n", encoding="utf-8")
    assert listener.next("updated", "Events/Heron.md")["id"] == made["id"]
    target = file.with_name("Grey heron.md")
    file.rename(target)
    assert listener.next("renamed", "Events/Grey heron.md")["id"] == made["id"]
    target.unlink()
    assert listener.next("deleted", "Events/Grey heron.md")["id"] == made["id"]


def test_what_an_agent_writes_is_told_too(daemon: DaemonProcess, listener: Listener) -> None:
    stored = daemon.post("/capture", content="The weir is open on Sundays.", title="Weir")
    assert listener.next("created", stored["path"])["id"] == stored["id"]
    daemon.post("/append", id=stored["id"], addition="And closed on Mondays.")
    assert listener.next("updated", stored["path"])["id"] == stored["id"]
    daemon.post("/forget", id=stored["id"])
    assert listener.next("deleted", stored["path"])["id"] == stored["id"]


def test_a_stream_goes_on_where_it_broke_off(daemon: DaemonProcess, listener: Listener) -> None:
    daemon.write("Events/Kingfisher.md", "---\ntags: [brain]\n---\nBlue.\n")
    listener.next("created", "Events/Kingfisher.md")
    since = listener.last
    daemon.write("Events/Dipper.md", "---\ntags: [brain]\n---\nBrown.\n")
    listener.next("created", "Events/Dipper.md")
    headers = {"Last-Event-ID": since}
    with daemon.http.stream("GET", "/events", headers=headers, timeout=60) as answer:
        data = next(line for line in answer.iter_lines() if line.startswith("data: "))
    assert json.loads(data[6:])["path"] == "Events/Dipper.md"


def test_the_metrics_are_of_this_vault(daemon: DaemonProcess) -> None:
    text = daemon.http.get("/metrics").text
    families = text_string_to_metric_families(text)
    found = {sample.name: sample.value for family in families for sample in family.samples}
    assert found["second_brain_memories"] == daemon.get("/count")["count"]
    assert found["second_brain_event_streams"] >= 1
    assert found["process_resident_memory_bytes"] > 1_000_000
