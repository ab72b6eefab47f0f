"""Memories whose text came otherwise than as a new one are compared as well."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from live import AGENT, Brain, eventually

from second_brain.memory.reviewing import ReviewItem


@pytest.fixture(autouse=True, scope="module")
def rereading(brain: Brain) -> Iterator[None]:
    """As the daemon does beside its answers; it ends with the brain's loop."""

    async def begin() -> asyncio.Task[None]:
        return asyncio.create_task(brain.memories.rereading.run())

    task = brain.run(begin())
    yield
    task.get_loop().call_soon_threadsafe(task.cancel)


def between(brain: Brain, one: str, other: str) -> ReviewItem | None:
    _, items = brain.run(brain.memories.reviews(200))
    found = [item for item in items if {item.newcomer.id, item.known.id} == {one, other}]
    assert len(found) <= 1, "a pair is listed once, whichever way round"
    return found[0] if found else None


def test_an_edited_memory_is_compared_soon_and_an_edit_settles_and_unsettles(brain: Brain) -> None:
    old, _ = brain.remembered("The mooring of Calypso is on pontoon K, place 12.")
    other, _ = brain.remembered("The stove of Calypso burns paraffin, one litre a week.")
    edited = brain.memories.update(
        other, "The mooring of Calypso is on pontoon K, place 57.", caller=AGENT
    )
    brain.run(edited)
    item = eventually(lambda: between(brain, old, other), within=60)
    assert item is not None
    assert (item.newcomer.id, item.found_by, item.kind) == (other, "rules", "value")
    assert "57" in item.reason

    # The older one is edited: it is the newer of the two now, on the same line of the list.
    brain.run(
        brain.memories.update(
            old, "The mooring of Calypso is on pontoon K, place 13.", caller=AGENT
        )
    )
    eventually(
        lambda: (found := between(brain, old, other)) and found.newcomer.id == old, within=60
    )
    turned = between(brain, old, other)
    assert turned is not None
    assert turned.n == item.n

    brain.run(brain.memories.update(old, "Calypso was sold to Anna.", caller=AGENT))
    assert between(brain, old, other) is None
    brain.run(
        brain.memories.append(
            other, "The keel of Calypso is 2 metres deep and made of iron.", caller=AGENT
        )
    )
    brain.run(
        brain.memories.update(
            old,
            "The mooring of Calypso is on pontoon K, place 99.\n\n"
            "The keel of Calypso is 3 metres deep and made of iron.",
            caller=AGENT,
        )
    )
    eventually(lambda: between(brain, old, other), within=60)


def test_what_was_decided_stays_decided_the_other_way_round(brain: Brain) -> None:
    old, _ = brain.remembered("The rent of the boathouse is 410 euros a month.")
    new, _ = brain.remembered("The rent of the boathouse is 470 euros a month.")
    item = between(brain, old, new)
    assert item is not None
    brain.run(brain.memories.decide_review(item.n, "dismiss", None, caller=AGENT))
    brain.run(brain.memories.rereading.reread(old))
    assert between(brain, old, new) is None


def test_the_sweep_finds_what_was_edited_in_the_vault_and_reads_it_once(brain: Brain) -> None:
    asked: list[tuple[str, str]] = []
    head = "---\ntags: [brain]\n---\n"
    one = brain.note("Sauna.md", head + "The sauna of the club opens on Fridays at 17:00.\n")
    two = brain.note("Pool.md", head + "The pool of the club has lanes of 25 metres.\n")
    sweep = brain.memories.rereading.sweep
    while brain.run(sweep(most=3)).left:
        pass
    assert brain.run(sweep()).compared == 0
    assert between(brain, one, two) is None

    brain.note("Pool.md", head + "The sauna of the club opens on Fridays at 18:30.\n", age=60)
    brain.memories.reviewing.ask_later = lambda new, known: asked.append((new, known))
    try:
        assert brain.run(sweep()).compared == 1
    finally:
        brain.memories.reviewing.ask_later = None
    item = between(brain, one, two)
    assert item is not None
    assert item.newcomer.id == two
    assert (two, one) in asked
    assert brain.run(sweep()).compared == 0
