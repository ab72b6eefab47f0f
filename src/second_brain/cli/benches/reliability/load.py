"""Clients and an editor that work on a vault without a pause, and note what they were promised."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from second_brain.cli.benches.asking import Answer, Client, NotSent
from second_brain.cli.benches.reliability.ledger import SOURCE, Claim, Ledger

_WORDS = ["wind", "tide", "mast", "keel", "oar", "cleat", "buoy", "chart", "lamp", "rope"]
_MOST_NOTES = 16
_EDITED = "Edited"
_MOST_VANISHING = 8
_VANISHING_SECONDS = 75.0
"""More than ten notes that vanish within a minute are held back, and not taken for deleted."""
_REFUSALS = {404, 409, 503, 507}
"""Answers that mean: nothing was done, and why."""


class Agent(threading.Thread):
    """Remembers, appends, updates, forgets and recalls until it is stopped, or nobody answers.

    Its claims are its own. `patient`: waits for a daemon that does not listen yet. `churning`: of
    its writes most are the cheapest there are, so that the index gets many commits.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        seed: int,
        claims: list[Claim],
        *,
        patient: bool = False,
        churning: bool = False,
    ) -> None:
        super().__init__(name=f"agent-{name}", daemon=True)
        self._client = client
        self._label = name
        self._chance = random.Random(seed)
        self._claims = claims
        self._patient = patient
        self._churning = churning
        self._count = 0
        self._stopped = threading.Event()
        self.answered = 0
        self.refused: list[str] = []
        self.faults: list[str] = []
        """Answers that are neither success nor a clear refusal."""

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._act()
            except NotSent:
                if not self._patient:
                    break
                time.sleep(0.02)
            except (OSError, http.client.HTTPException):
                if not self._patient:
                    break
        self._client.close()

    def _act(self) -> None:
        self._count += 1
        marker = f"zq{self._label}x{self._count:04}"
        mine = [claim for claim in self._claims if claim.settled]
        many = len(mine) > _MOST_NOTES
        what = self._chance.choices(
            ["remember", "append", "update", "forget", "recall", "status"],
            [0 if many else 4, 3, 2, 3 if many else 1, 1, 100 if self._churning else 1],
        )[0]
        if what == "remember" or not mine:
            self._remember(marker)
            return
        claim = self._chance.choice(mine)
        if what == "append":
            self._append(claim, marker)
        elif what == "update":
            self._update(claim, marker)
        elif what == "forget":
            self._forget(claim)
        elif what == "status":
            self._set_status(claim)
        else:
            query = urlencode({"query": f"{claim.body[-1]} wind", "topK": 5})
            self._judge(self._client.ask("GET", f"/recall?{query}"))

    def _remember(self, marker: str) -> None:
        claim = Claim(marker, maybe=[marker])
        words = " ".join(self._chance.sample(_WORDS, 4))
        filler = "filler " * self._chance.randint(0, 200)
        text = f"{marker} {words}\n{filler}\nend-{marker}"
        self._claims.append(claim)
        try:
            answer = self._client.ask("POST", "/capture", {"content": text, "source": SOURCE})
        except NotSent:
            self._claims.remove(claim)
            raise
        if self._judge(answer):
            claim.id = str(answer.data["id"])
            claim.body, claim.maybe = [marker], []
            claim.writes += 1
        else:
            self._claims.remove(claim)

    def _append(self, claim: Claim, marker: str) -> None:
        body = {"id": claim.id, "addition": f"{marker} end-{marker}"}
        if self._write(claim, marker, "/append", body):
            claim.body = [*claim.body, marker]

    def _update(self, claim: Claim, marker: str) -> None:
        text = f"{marker} replaced {'pad ' * self._chance.randint(0, 150)} end-{marker}"
        if self._write(claim, marker, "/update", {"id": claim.id, "content": text}):
            claim.replaced += claim.body
            claim.body = [marker]

    def _write(self, claim: Claim, marker: str, path: str, body: object) -> bool:
        claim.maybe = [marker]
        try:
            done = self._judge(self._client.ask("POST", path, body))
        except NotSent:
            claim.maybe = []
            raise
        claim.maybe = []
        claim.writes += done
        return done

    def _forget(self, claim: Claim) -> None:
        claim.forgotten = None
        try:
            done = self._judge(self._client.ask("POST", "/forget", {"id": claim.id}))
        except NotSent:
            claim.forgotten = False
            raise
        claim.forgotten = done
        claim.writes += done

    def _set_status(self, claim: Claim) -> None:
        """Another one than it has: what changes nothing is no write."""
        status = "draft" if claim.status == "canonical" else "canonical"
        known, claim.status = claim.status, None
        done = self._judge(self._client.ask("POST", "/status", {"id": claim.id, "status": status}))
        claim.status = status if done else known
        claim.writes += done and known is not None

    def _judge(self, answer: Answer) -> bool:
        """Whether it was done."""
        if answer.ok and isinstance(answer.data, dict) and answer.data.get("ok"):
            self.answered += 1
            return True
        said = f"{answer.status} {answer.data}"[:300]
        duplicate = answer.ok and isinstance(answer.data, dict) and answer.data.get("duplicate")
        refused = duplicate or (answer.status in _REFUSALS and "error" in answer.data)
        (self.refused if refused else self.faults).append(said)
        return False


class Editor(threading.Thread):
    """Works on files of its own as people and their programs do, until it is stopped."""

    def __init__(self, vault: Path, name: str, seed: int, ledger: Ledger, *, pause: float) -> None:
        super().__init__(name=f"editor-{name}", daemon=True)
        self._vault = vault
        self._label = name
        self._chance = random.Random(seed)
        self._ledger = ledger
        self._pause = pause
        self._count = 0
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        writing = [self._add_a_line, self._save_in_place, self._save_over]
        vanishing = [self._move, self._remove]
        while not self._stopped.wait(self._chance.uniform(0, 2 * self._pause)):
            self._count += 1
            marker = f"zqed{self._label}x{self._count:04}"
            mine = sorted(self._ledger.files)
            if len(mine) < 4 or (len(mine) < _MOST_NOTES and self._chance.random() < 0.4):
                folder = self._chance.choice([_EDITED, f"{_EDITED}/Deep"])
                self._write(f"{folder}/{self._sheet()}.md", self._text(marker))
            else:
                acts: list[Callable[[str, str], None]] = list(writing)
                if self._may_vanish():
                    acts += vanishing
                self._chance.choice(acts)(self._chance.choice(mine), marker)

    def _may_vanish(self) -> bool:
        """Whether one more path may be gone without the vault being taken for offline."""
        long_ago = time.monotonic() - _VANISHING_SECONDS
        self._ledger.vanished = [at for at in self._ledger.vanished if at > long_ago]
        return len(self._ledger.vanished) < _MOST_VANISHING

    def _write(self, path: str, text: str) -> None:
        file = self._vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        self._ledger.files[path] = text

    def _add_a_line(self, path: str, marker: str) -> None:
        line = f"{marker} end-{marker}\n"
        with (self._vault / path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(line)
        self._ledger.files[path] += line

    def _save_in_place(self, path: str, marker: str) -> None:
        self._write(path, self._text(marker))

    def _save_over(self, path: str, marker: str) -> None:
        file = self._vault / path
        beside = file.with_name(f".{file.name}.swp")
        text = self._text(marker)
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(file)
        self._ledger.files[path] = text

    def _move(self, path: str, marker: str) -> None:
        del marker
        target = f"{_EDITED}/{self._chance.choice(['', 'Deep/', 'Else/'])}{self._sheet()}.md"
        (self._vault / target).parent.mkdir(parents=True, exist_ok=True)
        (self._vault / path).rename(self._vault / target)
        self._ledger.files[target] = self._ledger.files.pop(path)
        self._ledger.vanished.append(time.monotonic())

    def _remove(self, path: str, marker: str) -> None:
        del marker
        (self._vault / path).unlink()
        del self._ledger.files[path]
        self._ledger.vanished.append(time.monotonic())

    def _sheet(self) -> str:
        return f"Sheet {self._label}{self._count}"

    def _text(self, marker: str) -> str:
        """A note that links to one that was, is or will be."""
        link = f"[[Sheet {self._label}{max(1, self._count + self._chance.randint(-9, 3))}]]"
        return f"---\ntags: [brain, edited]\n---\n{marker}, see {link}\n\nend-{marker}\n"
