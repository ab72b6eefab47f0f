"""The judges of `brain bench reliability` are not blind: each kind of damage is seen."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from brains import Brain, running

from second_brain.cli.benches.reliability.ledger import (
    Claim,
    Ledger,
    findings,
    markers,
    resolve,
)
from second_brain.cli.benches.reliability.stores import differences_from_fresh
from second_brain.instance import vault_folder

ID = "11111111-1111-4111-8111-111111111111"


def note(*markers: str, id: str = ID) -> bytes:
    body = "\n".join(f"{marker} said end-{marker}" for marker in markers)
    return f"---\nsecond-brain-id: {id}\n---\n{body}\n".encode()


def ledger() -> Ledger:
    return Ledger([Claim("zqa1", ID, ["zqa1", "zqa2"], replaced=["zqa0"])], {})


def kinds(vault: dict[str, bytes], ids: dict[str, str] | None = None) -> set[str]:
    found = findings(ledger(), vault, {ID: "A.md"} if ids is None else ids)
    return {kind for kind in ("lost", "torn", "twice") if getattr(found, kind)}


WHOLE = {"A.md": note("zqa1", "zqa2"), "B.md": note("zqb1", id="2")}


@pytest.mark.parametrize(
    ("vault", "wrong"),
    [
        (WHOLE, set()),
        ({"B.md": WHOLE["B.md"]}, {"lost"}),
        ({"A.md": note("zqa1")}, {"lost"}),
        ({"A.md": note("zqa1", "zqa2", "zqa0")}, {"lost"}),
        ({"A.md": note("zqa1", "zqa2")[:-5]}, {"torn"}),
        ({"A.md": WHOLE["A.md"][8:]}, {"torn"}),
        ({**WHOLE, "C.md": b""}, {"torn"}),
        ({**WHOLE, ".C.md.0123456789abcdef.second-brain.tmp": b"x"}, {"torn"}),
        ({**WHOLE, "C.md": note("zqa1", id="3")}, {"twice"}),
        ({**WHOLE, "C.md": note("zqc1")}, {"twice"}),
        ({"A.md": note("zqa1", "zqa1", "zqa2")}, {"twice"}),
    ],
)
def test_what_the_ledger_sees(vault: dict[str, bytes], wrong: set[str]) -> None:
    assert kinds(vault) == wrong


def test_a_memory_that_the_catalogue_does_not_know_is_lost() -> None:
    assert kinds(WHOLE, ids={}) == {"lost"}


def test_what_was_never_answered_may_be_there_or_not() -> None:
    asked = Claim("zqa1", ID, ["zqa1"], maybe=["zqa2"])
    for vault in ({"A.md": note("zqa1")}, {"A.md": note("zqa1", "zqa2")}, {"A.md": note("zqa2")}):
        assert not findings(Ledger([asked]), vault, {ID: "A.md"})
    resolve(known := Ledger([asked]), markers({"A.md": note("zqa2")}), {"A.md": ID})
    assert known.claims[0].body == ["zqa2"]
    assert findings(known, {"A.md": note("zqa1")}, {ID: "A.md"}).lost


TAMPERING = {
    "a title": "UPDATE notes SET title = 'other' WHERE path = 'A.md'",
    "a link": "UPDATE edges SET target_path = NULL, target_id = NULL",
    "a link that is gone": "DELETE FROM edges",
    "a note that is gone": "DELETE FROM notes WHERE path = 'B.md'",
    "a hash": "UPDATE notes SET hash = 'x' WHERE path = 'B.md'",
    "a vector": "UPDATE vectors SET vector = zeroblob(length(vector))",
}


def test_what_the_comparison_with_a_fresh_index_sees(tmp_path: Path) -> None:
    brain = Brain(tmp_path / "vault", tmp_path / "data")
    brain.note("A.md", "alpha, see [[B]]")
    brain.note("B.md", "# One\nbeta\n# Two\ngamma")

    async def run() -> None:
        async with running(brain):
            pass
        assert await differences_from_fresh(brain.settings) == []
        file = vault_folder(brain.settings).catalog
        whole = file.read_bytes()
        for what, sql in TAMPERING.items():
            with closing(sqlite3.connect(file)) as connection:
                connection.execute(sql)
                connection.commit()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert await differences_from_fresh(brain.settings), what
            file.write_bytes(whole)
        assert await differences_from_fresh(brain.settings) == []
        brain.note("C.md", "was never indexed")
        assert await differences_from_fresh(brain.settings)

    asyncio.run(run())
