"""The nine invariants of the design on real daemons, one test or more each.

Each is written so that it fails when the invariant is broken on purpose.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import re
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from harness import DaemonProcess, MakeDaemon, age, body_of, copy_examples, eventually

from second_brain.vault.files import digest

TAGGED = "---\ntags: [brain]\n---\n"


def remember(daemon: DaemonProcess, content: str, **fields: object) -> tuple[str, Path]:
    answer = daemon.post("/capture", content=content, **fields)
    assert answer["ok"], answer
    return answer["id"], daemon.vault / answer["path"]


def memory_at(daemon: DaemonProcess, path: str) -> str:
    return str(eventually(lambda: daemon.note(path))["id"])


# 1. Bytes

NASTY = (
    b"\xef\xbb\xbf---\r\n"
    b"# kept: this comment\r\n"
    b"zeta:   'single'   \r\n"
    b"tags: [ brain,  boat ]   # why\r\n"
    b'alpha: "double \\u00e9"\r\n'
    b"empty:\r\n"
    b"second-brain-kind: semantic\r\n"
    b"multi: |\r\n  line one\r\n\r\n  line two  \r\n"
    b"date: 2026-01-02\r\n"
    b"---\r\n"
    b"\r\n# Heading  \r\n\ttabbed\x0bline\r\nlone\nline feed, trailing spaces   \r\n"
    b"---\r\nlooks: like frontmatter\r\n---\r\nno newline at the end"
)


class TestInvariant1Bytes:
    def test_indexing_touches_no_file(self, daemon: DaemonProcess, tmp_path: Path) -> None:
        pristine = {
            str(file.relative_to(fresh)): file.read_bytes()
            for fresh in [copy_examples(tmp_path / "fresh")]
            for file in fresh.rglob("*")
            if file.is_file()
        }
        now = daemon.bytes_of_vault()
        assert {path: now.get(path) for path in pristine} == pristine
        for path in pristine:
            assert (daemon.vault / path).stat().st_mtime < time.time() - 1800

    def test_a_write_changes_only_what_was_asked(self, daemon: DaemonProcess) -> None:
        file = daemon.write("Boat/Nasty.md", NASTY)
        id = memory_at(daemon, "Boat/Nasty.md")
        age(file.parent)
        eventually(lambda: daemon.note("Boat/Nasty.md"))
        target = memory_at(daemon, "Boat/Epoxy.md")
        canonical, draft = (b"second-brain-status: %s\r\n" % s for s in (b"canonical", b"draft"))

        def change(path: str, **fields: str) -> tuple[list[bytes], list[bytes]]:
            before = file.read_bytes()
            daemon.post(path, **fields)
            return changed_lines(before, file.read_bytes())

        assert change("/status", id=id, status="canonical") == ([canonical], [])
        assert change("/status", id=id, status="draft") == ([draft], [canonical])
        plus, minus = change("/link", source_id=id, target_id=target, type="follows")
        assert minus == []
        assert b"".join(plus).split() in (
            [b"follows:", b"-", b'"[[Epoxy]]"'],
            [b"follows:", b'["[[Epoxy]]"]'],
        )
        assert all(line.endswith(b"\r\n") for line in plus)
        unlinked = change("/unlink", source_id=id, target_id=target, type="follows")
        assert unlinked == ([], plus)
        before = file.read_bytes()
        plus, minus = changed_lines(NASTY, before)
        assert (plus, minus) == ([b"second-brain-status: draft\r\n"], [])
        daemon.post("/append", id=id, addition="added\nbelow")
        after = file.read_bytes()
        assert after.startswith(before)
        assert b"\n" not in after[len(before) :].replace(b"\r\n", b""), "the note's line endings"
        for write in daemon.get("/history", id=id)["writes"]:
            if not write["summary"].startswith("undo"):
                daemon.post("/undo", n=write["n"])
        assert file.read_bytes() == NASTY


def changed_lines(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Lines added and lines removed, with their endings."""
    one, other = before.split(b"\n"), after.split(b"\n")
    old = [f"{line.decode('latin-1')}\n" for line in one]
    new = [f"{line.decode('latin-1')}\n" for line in other]
    lines = list(difflib.ndiff(old, new))
    return (
        [line[2:].encode("latin-1") for line in lines if line.startswith("+ ")],
        [line[2:].encode("latin-1") for line in lines if line.startswith("- ")],
    )


# 2. Nothing lost


class TestInvariant2NothingLost:
    def test_a_users_edit_that_races_an_append(self, daemon: DaemonProcess) -> None:
        """The user's lines come in the very moment in which the daemon writes, on many notes."""
        notes = []
        for n in range(12):
            id, file = remember(daemon, f"Race number {n}: the wind is {n} knots from the west.")
            notes.append((n, id, file))

        def race(note: tuple[int, str, Path]) -> tuple[int, int]:
            n, id, file = note
            with file.open("a") as handle:  # the daemon waits until this is two seconds old
                handle.write(f"\nuser {n} first\n")
            started = time.time()
            answer: list[int] = []

            def append() -> None:
                with httpx2.Client(headers=daemon.http.headers, trust_env=False) as http:
                    url = f"{daemon.url}/append"
                    body = {"id": id, "addition": f"agent {n}"}
                    answer.append(http.post(url, json=body, timeout=60).status_code)

            thread = threading.Thread(target=append)
            thread.start()
            time.sleep(max(0.0, started + 2.0 + n * 0.004 - time.time()))
            for line in range(6):
                handle = os.open(file, os.O_WRONLY | os.O_APPEND)
                os.write(handle, f"user {n} line {line}\n".encode())
                os.close(handle)
                time.sleep(0.003)
            thread.join()
            return n, answer[0]

        with ThreadPoolExecutor(12) as pool:
            outcomes = dict(pool.map(race, notes))
        assert set(outcomes.values()) <= {200, 409}
        assert 200 in outcomes.values()
        for n, _, file in notes:
            text = file.read_text()
            expected = [f"user {n} first\n", *(f"user {n} line {line}\n" for line in range(6))]
            assert [text.count(line) for line in expected] == [1] * 7, text
            assert text.count(f"agent {n}") == (1 if outcomes[n] == 200 else 0)

    def test_requests_are_served_while_writes_wait_for_notes_to_settle(
        self, daemon: DaemonProcess
    ) -> None:
        """Many agents wait for notes that their user has just touched; nobody else does."""
        paths = [f"Boat/Busy {n}.md" for n in range(40)]
        for n, path in enumerate(paths):
            daemon.write(path, f"{TAGGED}Busy note {n} about halyard {n}.\n")
        ids = [memory_at(daemon, path) for path in paths]
        for path in paths:
            (daemon.vault / path).touch()

        def append(id: str) -> int:
            with httpx2.Client(headers=daemon.http.headers, trust_env=False) as http:
                body = {"id": id, "addition": "patient"}
                return http.post(f"{daemon.url}/append", json=body, timeout=90).status_code

        with ThreadPoolExecutor(len(ids)) as pool:
            waiting = [pool.submit(append, id) for id in ids]
            time.sleep(1)
            started = time.monotonic()
            assert daemon.recall("How long is the boat on deck?")
            remember(daemon, "While forty wait, one remembers the tide.")
            took = time.monotonic() - started
            assert took < 5
            assert not any(future.done() for future in waiting)
            assert {future.result() for future in waiting} == {200}
        for path in paths:
            assert (daemon.vault / path).read_text().count("patient") == 1

    def test_every_version_is_in_the_history_and_comes_back(self, daemon: DaemonProcess) -> None:
        id, file = remember(daemon, "Version one: the mast is wood.")
        versions = [file.read_bytes()]
        daemon.post("/append", id=id, addition="Version two: varnished.")
        versions.append(file.read_bytes())
        daemon.post("/update", id=id, content="Version three: the mast is aluminium.")
        versions.append(file.read_bytes())
        daemon.post("/status", id=id, status="canonical")
        versions.append(file.read_bytes())
        daemon.post("/forget", id=id)
        assert not file.exists()
        writes = [w["n"] for w in daemon.get("/history", id=id)["writes"]]
        assert len(writes) == 5
        for n, version in zip(writes, reversed(versions), strict=False):
            daemon.post("/undo", n=n)
            assert file.read_bytes() == version
        daemon.post("/undo", n=writes[-1])
        assert not file.exists(), "the undoing of remember takes the note away, to the trash"
        trash = [f.read_bytes() for f in (daemon.vault / ".trash").rglob("*.md")]
        assert versions[0] in trash


# 3. Acknowledged means durable

WORDS = ["wind", "tide", "mast", "keel", "oar", "cleat", "buoy", "chart", "lamp", "rope"]


@dataclass
class Claim:
    """What one worker may expect of one note: what was acknowledged, and what may be."""

    marker: str
    id: str | None = None
    body: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    forgotten: bool | None = False
    """None: asked for, and never answered."""


class Agent(threading.Thread):
    """Writes without a pause until the daemon is gone. Nothing of its notes is anybody else's."""

    def __init__(self, daemon: DaemonProcess, name: str, seed: int, claims: list[Claim]) -> None:
        super().__init__()
        self._daemon = daemon
        self._label = name
        self._random = random.Random(seed)
        self._claims = claims
        self._count = 0
        self.unexpected: list[str] = []
        self.answered = 0

    def run(self) -> None:
        headers = self._daemon.http.headers
        with httpx2.Client(
            base_url=self._daemon.url, headers=headers, timeout=60, trust_env=False
        ) as http:
            while True:
                try:
                    self._act(http)
                except httpx2.HTTPError:
                    return

    def _act(self, http: httpx2.Client) -> None:
        self._count += 1
        marker = f"zq{self._label}x{self._count:04}"
        mine = [
            c for c in self._claims if c.id is not None and c.forgotten is False and not c.maybe
        ]
        what = self._random.choice(["remember", "append", "update", "forget", "remember"])
        if what == "remember" or not mine:
            claim = Claim(marker, maybe=[marker])
            self._claims.append(claim)
            words = " ".join(self._random.sample(WORDS, 4))
            filler = "filler " * self._random.randint(0, 300)
            text = f"{marker} {words}\n{filler}\nend-{marker}"
            answer = self._post(http, "/capture", content=text, source="crash")
            if answer is not None:
                claim.id = answer["id"]
                claim.body, claim.maybe = [marker], []
            return
        claim = self._random.choice(mine)
        if what == "append":
            claim.maybe = [marker]
            if self._post(http, "/append", id=claim.id, addition=f"{marker} end-{marker}"):
                claim.body, claim.maybe = [*claim.body, marker], []
        elif what == "update":
            claim.maybe = [marker]
            text = f"{marker} replaced {'pad ' * self._random.randint(0, 200)} end-{marker}"
            if self._post(http, "/update", id=claim.id, content=text):
                claim.replaced += claim.body
                claim.body, claim.maybe = [marker], []
        else:
            claim.forgotten = None
            if self._post(http, "/forget", id=claim.id):
                claim.forgotten = True

    def _post(self, http: httpx2.Client, path: str, **body: object) -> dict[str, Any] | None:
        response = http.post(path, json=body)
        if response.status_code != 200 or not response.json()["ok"]:
            self.unexpected.append(response.text)
            return None
        self.answered += 1
        return dict(response.json())


def verify_after_crash(daemon: DaemonProcess, claims: list[Claim]) -> None:
    files = {
        path: data.decode()
        for path, data in daemon.bytes_of_vault().items()
        if path.endswith(".md") and not path.startswith(".trash/")
    }
    ours = {path: text for path, text in files.items() if "second-brain-source: crash" in text}
    for path, text in ours.items():
        assert re.match(r"---\n(.+\n)+---\n", text), f"torn: {path}: {text[:200]!r}"
        begun = Counter(re.findall(r"(?<!end-)\bzq\w+", body_of(text.encode())))
        ended = Counter(re.findall(r"end-(zq\w+)", text))
        assert begun == ended, f"torn: {path}"
        assert set(begun.values()) == {1}, f"twice in {path}"
    where: dict[str, list[str]] = {}
    for path, text in ours.items():
        for marker in set(re.findall(r"(?<!end-)\bzq\w+", body_of(text.encode()))):
            where.setdefault(marker, []).append(path)
    notes = daemon.all_notes()
    assert set(notes) == daemon.markdown_files() - {"Templates/Daily.md", "Templates/Person.md"}
    memories = ("indexed", "pending")  # the model may still be loading
    ids = {note["id"]: path for path, note in notes.items() if note["status"] in memories}
    for claim in claims:
        present = where.get(claim.body[0], []) if claim.body else []
        if claim.forgotten is True:
            assert present == [], f"{claim.marker} was forgotten"
            assert claim.id not in ids
            continue
        assert all(len(where.get(m, [])) <= 1 for m in [*claim.body, *claim.maybe])
        assert not any(where.get(m) for m in claim.replaced), "an updated text came back"
        if claim.id is None or claim.forgotten is None:
            continue
        update_went_through = any(where.get(m) for m in claim.maybe) and not present
        if not update_went_through:
            assert [where.get(m) for m in claim.body] == [[ids[claim.id]]] * len(claim.body)


class TestInvariant3Durable:
    @pytest.mark.timeout(240)
    def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(
        self, make_daemon: MakeDaemon
    ) -> None:
        daemon = make_daemon()
        daemon.start()
        daemon.wait_ready()
        chance = random.Random(20261130)
        claims: list[list[Claim]] = [[] for _ in range(4)]
        checked: set[str] = set()
        answered = 0
        for round in range(9):
            agents = [
                Agent(daemon, f"{chr(97 + n)}{round}", chance.randrange(10**6), claims[n])
                for n in range(4)
            ]
            for agent in agents:
                agent.start()
            if round % 3:  # every third time before much can have been answered
                eventually(lambda own=agents: sum(a.answered for a in own) > 4, within=60)
            time.sleep(chance.uniform(0.0, 0.8))
            daemon.kill()
            for agent in agents:
                agent.join()
            assert [agent.unexpected for agent in agents] == [[]] * 4
            answered += sum(agent.answered for agent in agents)
            age(daemon.vault)  # what the killed one left behind is not of this minute
            daemon.start()
            daemon.wait_scanned()
            everything = [claim for own in claims for claim in own]
            assert list(daemon.vault.rglob("*.second-brain.tmp")) == []
            verify_after_crash(daemon, everything)
            for claim in everything:  # what is new since the last kill is found by its words
                settled = claim.body and claim.forgotten is False and not claim.maybe
                if settled and claim.body[-1] not in checked:
                    checked.add(claim.body[-1])
                    found = daemon.recall(claim.body[-1], topK=3)
                    assert claim.id in [hit["id"] for hit in found], claim
        assert answered > 30
        for claim in everything:
            if claim.forgotten is True:
                assert all(claim.marker not in h["content"] for h in daemon.recall(claim.marker))
        daemon.wait_ready()
        assert daemon.get("/stats")["unvectorized"] == 0


# 4. Read your writes


class TestInvariant4ReadYourWrites:
    def test_what_was_written_is_recalled_by_the_very_next_request(
        self, daemon: DaemonProcess
    ) -> None:
        subjects = ["oak", "brass", "hemp", "tar", "canvas", "copper", "tallow", "bronze"]
        for subject in subjects:
            id, _ = remember(daemon, f"The price of {subject} went up in autumn.")
            assert daemon.recall(f"price of {subject}")[0]["id"] == id
            daemon.post(
                "/append", id=id, addition=f"Supplier of {subject}: zq{subject}x in Lorient."
            )
            assert daemon.recall(f"zq{subject}x")[0]["id"] == id
            daemon.post("/update", id=id, content=f"We stopped buying {subject} from anybody.")
            hits = daemon.recall(f"who stopped buying {subject}?")
            assert hits[0]["id"] == id
            assert hits[0]["content"].startswith("We stopped")
            daemon.post("/forget", id=id)
            assert all(hit["id"] != id for hit in daemon.recall(f"stopped buying {subject}"))

    def test_a_saved_file_is_soon_recallable(self, daemon: DaemonProcess) -> None:
        for n in range(5):
            path = f"Boat/Saved {n}.md"
            daemon.write(path, f"{TAGGED}The code word of save {n} is qz{n}saved.\n")
            eventually(
                lambda n=n, path=path: daemon.recall(f"qz{n}saved")[0]["path"] == path,
                within=5,
                every=0.02,
            )


# 5. No echo


class TestInvariant5NoEcho:
    def test_after_writes_everything_stands_still(self, daemon: DaemonProcess) -> None:
        id, _ = remember(daemon, "Echo test: the fog horn sounds every minute.")
        daemon.post("/append", id=id, addition="Two blasts at night.")
        other, _ = remember(daemon, "Echo test: a bell buoy answers it.")
        daemon.post("/link", source_id=id, target_id=other, type="follows")
        daemon.post("/status", id=other, status="canonical")
        path = "Boat/Echo.md"
        file = daemon.write(path, f"{TAGGED}The echo sounder reads 4.2 m.\n")
        user = memory_at(daemon, path)
        for depth in ("4.3", "4.4", "4.5"):
            file.write_text(f"{TAGGED}The echo sounder reads {depth} m.\n")
            whole = f"Echo\n\nThe echo sounder reads {depth} m."
            assert daemon.post("/append", id=user, addition=whole)["ok"]
            again = daemon.post("/capture", content=whole, source="obsidian", tags=["obsidian"])
            assert again["id"] == user
        eventually(lambda: "4.5" in daemon.recall("echo sounder")[0]["content"])
        eventually(lambda: (daemon.note(path) or {}).get("hash") == digest(file.read_bytes()))

        def state() -> dict[str, object]:
            index = daemon.health()["index"]
            return {
                **daemon.bytes_of_vault(),
                **{f"time of {f}": f.stat().st_mtime_ns for f in daemon.vault.rglob("*")},
                **{f"note {path}": note for path, note in daemon.all_notes().items()},
                "history": daemon.get("/history", n=1000)["writes"],
                "count": daemon.get("/count"),
                "index": (index["rows"], index["writer"]["commits"]),
            }

        def settled() -> dict[str, object] | None:
            first = state()
            time.sleep(0.7)
            return first if state() == first else None

        quiet = eventually(settled, within=20)
        time.sleep(4)
        now = state()
        assert {k: (quiet.get(k), v) for k, v in now.items() if v != quiet.get(k)} == {}
        assert now.keys() == quiet.keys()
        assert file.read_text() == f"{TAGGED}The echo sounder reads 4.5 m.\n"
        assert daemon.get("/history", id=user)["writes"] == []


# 6. Convergence


def comparable(daemon: DaemonProcess) -> dict[str, object]:
    keys = ("path", "status", "reason", "title", "tags", "aliases", "size", "hash")
    return {
        path: {
            **{key: note[key] for key in keys},
            "links": sorted(
                json.dumps([link[key] for key in ("target", "path", "type", "property")])
                for link in note["links"]
            ),
        }
        for path, note in daemon.all_notes().items()
    }


def change_much(vault: Path) -> None:
    """Edits, renames, swaps, copies and deletions, as after a night of another machine's work."""
    boat, cooking = vault / "Boat", vault / "Cooking"
    (boat / "Epoxy.md").write_text("---\ntags: [brain, resin]\n---\n# Glue\n\nSee [[Priya]].\n")
    (boat / "Mooring.md").rename(boat / "Berth.md")
    (vault / "People").rename(vault / "Friends")
    (cooking / "Far breton.md").unlink()
    one, other = cooking / "Sourdough.md", cooking / "Soupe de poisson.md"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    (vault / "Home.md").write_text("No tag here any more, but [[Berth]].\n")
    salaries = vault / "Work" / "Salaries.md"
    salaries.write_text("---\ntags: brain\naliases: [pay]\n---\nNow a memory.\n")
    (vault / "New").mkdir()
    for n in range(20):
        (vault / "New" / f"Made {n}.md").write_text(f"{TAGGED}Made {n}, [[Made {n + 1}]] #made\n")
    ours = vault / "Second Brain" / "Mooring is on pontoon C.md"
    shutil.copy(ours, ours.with_name("A copy of it.md"))
    (vault / "Work" / "Tidewatch.md").rename(vault / "Tidewatch.md")
    (vault / "Boat" / "Pétrel (conflicted copy 2026-11-01).md").write_text(f"{TAGGED}Conflict.\n")


class TestInvariant6Convergence:
    def test_a_scan_after_missed_changes_equals_a_fresh_index(
        self, make_daemon: MakeDaemon
    ) -> None:
        daemon = make_daemon().start()
        daemon.wait_ready()
        before = daemon.all_notes()
        assert daemon.stop() == 0
        change_much(daemon.vault)
        daemon.start()
        fresh = make_daemon(Path(shutil.copytree(daemon.vault, daemon.vault.with_name("copy"))))
        fresh.start()
        daemon.wait_ready()
        fresh.wait_ready()
        assert comparable(daemon) == comparable(fresh)
        after = daemon.all_notes()
        assert before["Boat/Mooring.md"]["id"] == after["Boat/Berth.md"]["id"]
        assert before["People/Priya.md"]["id"] == after["Friends/Priya.md"]["id"]
        ids = [note["id"] for note in after.values()]
        assert len(set(ids)) == len(ids)
        for query in ("Made 7", "glue resin", "berth that dries", "Priya allergic", "pay"):
            found = [
                sorted(hit["path"] for hit in d.recall(query, topK=3)) for d in (daemon, fresh)
            ]
            assert found[0] == found[1], query
        assert daemon.get("/tags") == fresh.get("/tags")


# 7. Absence is not deletion


class TestInvariant7Absence:
    def test_a_vault_that_vanishes_is_offline_and_comes_back(
        self, make_daemon: MakeDaemon, tmp_path: Path
    ) -> None:
        daemon = make_daemon().start()
        daemon.wait_ready()
        before, count = daemon.all_notes(), daemon.get("/count")
        away = tmp_path / "away"
        daemon.vault.rename(away)
        kinds = eventually(
            lambda: {problem["kind"] for problem in daemon.health()["problems"]} or None
        )
        assert "vault-offline" in kinds
        assert daemon.health()["ok"] is False
        response = daemon.http.post("/capture", json={"content": "Where would this go?"})
        assert response.status_code == 503
        assert not daemon.vault.exists(), "no vault is made up"
        time.sleep(4)  # the watcher looks for the root every three seconds
        assert (daemon.all_notes(), daemon.get("/count")) == (before, count)
        daemon.vault.mkdir()  # an unmounted disk leaves an empty folder
        time.sleep(4)
        assert (daemon.all_notes(), daemon.get("/count")) == (before, count)
        daemon.vault.rmdir()
        away.rename(daemon.vault)
        eventually(lambda: daemon.health()["ok"], within=30)
        assert (daemon.all_notes(), daemon.get("/count")) == (before, count)
        daemon.write("Boat/Back.md", f"{TAGGED}The vault is back: zqback.\n")
        eventually(lambda: daemon.recall("zqback")[0]["path"] == "Boat/Back.md")
        assert daemon.recall("How long is the boat on deck?")[0]["path"] == "Boat/Pétrel.md"

        # Most notes are gone after a restart: kept until they are back.
        before = daemon.all_notes()
        daemon.stop()
        folders = ("Boat", "People", "Work", "Cooking")
        for folder in folders:
            (daemon.vault / folder).rename(tmp_path / folder)
        daemon.start()
        daemon.wait_scanned()
        assert "vault-offline" in {problem["kind"] for problem in daemon.health()["problems"]}
        assert set(daemon.all_notes()) == set(before)
        for folder in folders:
            (tmp_path / folder).rename(daemon.vault / folder)
        eventually(lambda: daemon.health()["vault"]["ok"], within=30)
        assert daemon.health()["problems"] == []
        assert set(daemon.all_notes()) == set(before)


# 8. Degrade, don't fail


class TestInvariant8Degrade:
    def test_without_a_model_recall_goes_by_keywords_and_says_so(
        self, make_daemon: MakeDaemon, tmp_path: Path
    ) -> None:
        daemon = make_daemon(None, "--model", "nobody/no-such-model")
        daemon.env["SECOND_BRAIN_MODEL_DIR"] = str(tmp_path / "no-models")
        daemon.env["HF_HUB_OFFLINE"] = "1"
        daemon.start()
        daemon.wait_scanned()
        while_loading = daemon.get("/recall", query="outboard engine oil")
        assert while_loading["semantic_unavailable"] is True
        assert while_loading["results"]
        eventually(lambda: daemon.health()["embedding"]["state"] == "unavailable", within=90)
        answer = daemon.get("/recall", query="hardener for the resin")
        assert answer["semantic_unavailable"] is True
        assert "no-such-model" in answer["notice"]
        assert answer["results"][0]["path"] == "Boat/Epoxy.md"
        id, _ = remember(daemon, "Without a model this is remembered too: zqplain.")
        assert daemon.recall("zqplain")[0]["id"] == id
        health = daemon.health()
        assert health["vectorize"]["ok"] is False
        problem = next(p for p in health["problems"] if p["kind"] == "model-missing")
        assert "brain model" in f"{problem['message']} {problem['hint']}"
        batch = daemon.post("/vectorize-pending")
        assert batch["remaining"] == 0, "a client that loops until nothing remains comes to an end"

    def test_a_damaged_index_or_catalogue_is_rebuilt(self, make_daemon: MakeDaemon) -> None:
        daemon = make_daemon().start()
        daemon.wait_ready()
        rows = daemon.health()["index"]["rows"]
        daemon.stop()
        index = next(daemon.data.glob("vaults/*/index"))
        for file in index.rglob("*"):
            if file.is_file():
                file.write_bytes(b"garbage" * 20)
        before = daemon.bytes_of_vault()
        daemon.start()
        daemon.wait_ready()
        eventually(lambda: daemon.health()["index"]["rows"] == rows, within=30)
        assert daemon.recall("How long is the boat on deck?")[0]["path"] == "Boat/Pétrel.md"
        id, _ = remember(daemon, "After the repair: zqrepaired.")
        assert daemon.recall("zqrepaired")[0]["id"] == id
        assert {p: d for p, d in daemon.bytes_of_vault().items() if p in before} == before

        # and under the running daemon
        shutil.rmtree(index)
        daemon.write("Boat/Later.md", f"{TAGGED}Later than the damage: zqlater.\n")

        def found() -> bool:
            response = daemon.http.get("/recall", params={"query": "zqlater"})
            assert response.status_code in (200, 503)
            hits = response.json().get("results") or [{"path": None}]
            return bool(hits[0]["path"] == "Boat/Later.md")

        eventually(found, within=60)
        eventually(
            lambda: daemon.recall("How long is the boat on deck?")[0]["path"] == "Boat/Pétrel.md",
            within=60,
        )

        # the catalogue
        daemon.wait_ready()
        known = comparable(daemon)
        daemon.stop()
        catalog = next(daemon.data.glob("vaults/*/catalog.db"))
        catalog.write_bytes(b"this is no database" * 100)
        daemon.start()
        daemon.wait_ready()
        assert comparable(daemon) == known


# 9. Content exact

CONTENTS = [
    "Our palette uses #1a1a2e",
    "Two lines\nand a #tag in the second",
    "  leading spaces and trailing ones  \n\n\n",
    "\n\nblank lines first",
    "Windows\r\nline\r\nendings\r\n",
    "---\nlooks: like frontmatter\n---\nbut is content",
    "--- not frontmatter either",
    "tabs\tand\ttrailing\t\n",
    "```python\n# not a tag: #hardener\nx = '#1a1a2e'\n```",
    "[[Link|alias]] ![[Embed#Heading]] [md](<a b.md>) <!-- comment #c --> %% #d %% $#e$",
    "emoji 🌊 e\u0301 combining, \u00e9 composed, \u200bzero width, \u2028 separator, \ufeff mark",
    "HTML <b>&amp;</b> \\# escaped \\[\\[x\\]\\]",
    "- [ ] task\n  - nested\n\n> [!note] callout\n> text ^block-id",
    "a" * 5000 + "\n" + "é" * 3000,
    "one more: ends without newline #a/b/c",
]


class TestInvariant9ContentExact:
    @pytest.mark.parametrize("number", range(len(CONTENTS)))
    def test_what_is_remembered_is_in_the_note_to_the_byte(
        self, daemon: DaemonProcess, number: int
    ) -> None:
        content = CONTENTS[number]
        id, file = remember(daemon, content, title=f"Exact {number}")
        assert body_of(file.read_bytes()) == content
        assert file.read_bytes().endswith(content.encode())
        assert daemon.get("/entry", id=id)["entry"]["content"] == content
        other, file = remember(daemon, f"To be replaced {number}", title=f"Replaced {number}")
        daemon.post("/update", id=other, content=f"{content} {number}")
        assert body_of(file.read_bytes()) == f"{content} {number}"
        assert daemon.get("/get", id=other)["content"] == f"{content} {number}"

    def test_tags_are_read_out_of_the_text(self, daemon: DaemonProcess) -> None:
        content = (
            "Paint the hull #1a1a2e for #refit/2027, not `#code` nor https://x.org/#frag #2026"
        )
        id, file = remember(daemon, content)
        entry = daemon.get("/entry", id=id)["entry"]
        assert entry["content"] == content
        assert set(entry["tags"]) == {"1a1a2e", "refit/2027"}
        assert "refit/2027" not in file.read_text().split("---")[1]
