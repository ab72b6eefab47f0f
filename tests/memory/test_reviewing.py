"""Pairs that may not both hold: marked, listed, decided, and taken back by one undo."""

from __future__ import annotations

import pytest
from live import AGENT, Brain

from second_brain.errors import InvalidInput, ReviewNotFound
from second_brain.memory.resolving import merged_text
from second_brain.memory.reviewing import Decided, ReviewItem
from second_brain.vault.frontmatter import split
from second_brain.vault.note import parse_note


def listed(brain: Brain) -> list[ReviewItem]:
    total, items = brain.run(brain.memories.reviews(200))
    assert total == len(items)
    return list(items)


def of(brain: Brain, newcomer: str) -> ReviewItem | None:
    return next((item for item in listed(brain) if item.newcomer.id == newcomer), None)


def decide(brain: Brain, n: int, decision: str, winner: str | None = None) -> Decided:
    return brain.run(brain.memories.decide_review(n, decision, winner, caller=AGENT))


def pair(brain: Brain, known: str, new: str) -> tuple[str, str, str, str, ReviewItem]:
    """Two memories of which rules prove something: id and path of each, and the item."""
    old_id, old_path = brain.remembered(known)
    new_id, new_path = brain.remembered(new)
    item = of(brain, new_id)
    assert item is not None
    return old_id, old_path, new_id, new_path, item


def test_what_rules_prove_is_marked_and_nothing_is_done(brain: Brain) -> None:
    old_id, old_path = brain.remembered("The berth of Vanneau is on pontoon C, place 31.")
    before = brain.bytes(old_path)
    answer = brain.remember("The berth of Vanneau is on pontoon C, place 44.")
    assert answer.outcome == "similar"
    assert "Marked for review" in answer.message
    item = of(brain, answer.id or "")
    assert item is not None
    assert (item.kind, item.suggestion, item.found_by) == ("value", "replace", "rules")
    assert item.known.id == old_id
    assert "31" in item.reason
    assert "44" in item.reason
    assert brain.bytes(old_path) == before
    assert brain.run(brain.memories.get(old_id)).status is None


def test_what_is_about_something_else_is_not_marked(brain: Brain) -> None:
    brain.remembered("The pump of the galley has a filter of 5 microns.")
    id, _ = brain.remembered("The heater of the saloon has a tank of 9 litres.")
    assert of(brain, id) is None


def test_to_replace_deprecates_the_other_and_one_undo_takes_it_back(brain: Brain) -> None:
    old_id, old_path, new_id, new_path, item = pair(
        brain,
        "The night watch of the Albatros begins at 22:00.",
        "The night watch of the Albatros begins at 23:00.",
    )
    before = brain.bytes(old_path), brain.bytes(new_path)
    done = decide(brain, item.n, "replace")
    assert (done.winner, len(done.writes)) == (new_id, 2)
    assert brain.run(brain.memories.get(old_id)).status == "deprecated"
    new = parse_note(new_path, brain.bytes(new_path))
    assert new.properties["supersedes"] == [f"[[{old_path.rpartition('/')[2][:-3]}]]"]
    assert "duplicate-candidate" not in new.tags
    edges = brain.run(brain.memories.connections(new_id, "supersedes"))
    assert [edge.memory.id for edge in edges] == [old_id]
    counters = brain.daemon.state.counters([old_id, new_id])
    assert counters[new_id].contradiction_wins == 1
    assert counters[old_id].contradiction_losses == 1
    assert of(brain, new_id) is None
    with pytest.raises(ReviewNotFound):
        decide(brain, item.n, "keep")

    brain.run(brain.memories.undo(done.writes[0], caller=AGENT))
    assert (brain.bytes(old_path), brain.bytes(new_path)) == before
    assert of(brain, new_id) is not None
    counters = brain.daemon.state.counters([old_id, new_id])
    assert counters[new_id].contradiction_wins == 0
    assert counters[old_id].contradiction_losses == 0


def test_the_known_one_may_win(brain: Brain) -> None:
    old_id, _, new_id, _, item = pair(
        brain,
        "The fuel tank of the Courlis has 120 litres.",
        "The fuel tank of the Courlis has 150 litres.",
    )
    done = decide(brain, item.n, "replace", old_id)
    assert done.winner == old_id
    assert brain.run(brain.memories.get(new_id)).status == "deprecated"
    assert brain.run(brain.memories.get(old_id)).status is None


def test_to_merge_keeps_what_both_say(brain: Brain) -> None:
    old_id, old_path, new_id, _, item = pair(
        brain,
        "The log of the Sarcelle is kept in the red book.",
        "The log of the Sarcelle is kept in the red book. The pencil hangs beside it.",
    )
    assert item.kind == "contained"
    before = brain.files()
    done = decide(brain, item.n, "merge")
    body = split(brain.bytes(old_path)).body.decode()
    assert body == "The log of the Sarcelle is kept in the red book. The pencil hangs beside it."
    assert brain.run(brain.memories.get(new_id)).status == "deprecated"
    assert done.winner == old_id
    brain.run(brain.memories.undo(done.writes[-1], caller=AGENT))
    assert brain.files() == before


def test_to_keep_both_takes_the_mark_of_a_duplicate_away(brain: Brain) -> None:
    _, old_path, new_id, new_path, item = pair(
        brain,
        "The dinghy of the Macreuse has a motor of 4 ch.",
        "The dinghy of the Macreuse has a motor of 6 ch.",
    )
    before = brain.bytes(old_path)
    assert b"duplicate-candidate" in brain.bytes(new_path)
    done = decide(brain, item.n, "keep")
    assert done.winner is None
    assert b"duplicate-candidate" not in brain.bytes(new_path)
    assert brain.bytes(old_path) == before
    assert of(brain, new_id) is None


def test_to_dismiss_writes_nothing(brain: Brain) -> None:
    *_, new_id, _, item = pair(
        brain,
        "The chart of Brest has the number 7400.",
        "The chart of Brest has the number 7401.",
    )
    before = brain.files()
    assert decide(brain, item.n, "dismiss").writes == ()
    assert brain.files() == before
    assert of(brain, new_id) is None


def test_a_pair_leaves_the_list_when_there_is_nothing_to_decide_any_more(brain: Brain) -> None:
    pairs = [
        pair(brain, f"The {name} is in locker 3.", f"The {name} is in locker 8.")
        for name in ("spare fuse box", "signal lamp", "sea anchor")
    ]
    brain.run(brain.memories.set_status(pairs[0][0], "deprecated"))
    brain.run(brain.memories.forget(pairs[1][2]))
    brain.run(brain.memories.update(pairs[2][0], "The sea anchor is in locker 8."))
    assert [of(brain, each[2]) for each in pairs] == [None, None, None]


def test_a_note_of_the_users_is_compared_and_written_to_only_by_a_decision(brain: Brain) -> None:
    text = "---\ntags: [brain]\n---\nThe anchor of the Fou is 16 kg.\n"
    id = brain.note("Logbook/Anchor.md", text)
    new_id, _ = brain.remembered("The anchor of the Fou is 20 kg.")
    item = of(brain, new_id)
    assert item is not None
    assert item.known.id == id
    assert brain.bytes("Logbook/Anchor.md").decode() == text
    decide(brain, item.n, "replace")
    expected = text.replace("[brain]\n", "[brain]\nsecond-brain-status: deprecated\n")
    assert brain.bytes("Logbook/Anchor.md").decode() == expected


def test_odd_decisions_are_refused(brain: Brain) -> None:
    *_, item = pair(brain, "The horn of the Pipit has 120 dB.", "The horn of the Pipit has 90 dB.")
    with pytest.raises(InvalidInput, match="one of"):
        decide(brain, item.n, "burn")
    with pytest.raises(InvalidInput, match="one of the two"):
        decide(brain, item.n, "replace", "somebody else")
    with pytest.raises(ReviewNotFound):
        decide(brain, 99_999, "keep")


def test_what_waits_outlives_a_restart_and_a_decision_of_before_is_not_asked_again(
    brain: Brain,
) -> None:
    old_id, _, new_id, _, item = pair(
        brain, "The flag of the Ibis is 40 cm wide.", "The flag of the Ibis is 60 cm wide."
    )
    again = brain.daemon.state.reviews.put(
        newcomer=new_id, known=old_id, kind="value", suggestion="replace", reason="", score=1.0,
        found_by="rules", at=1,
    )  # fmt: skip
    assert again == item.n
    decide(brain, item.n, "dismiss")
    assert (
        brain.memories.reviewing.propose(
            new_id, old_id, kind="value", suggestion="replace", reason="", found_by="rules",
            score=1.0,
        )
        is None
    )  # fmt: skip


def test_texts_are_merged_in_their_own_words() -> None:
    assert merged_text("The hull is red.", "The hull is red.") is None
    assert merged_text("The hull is red.", "The hull is red. It is old.") == (
        "The hull is red. It is old."
    )
    assert merged_text("The hull is red.", "It was built in 1978 by Ada.") == (
        "The hull is red.\n\nIt was built in 1978 by Ada.\n"
    )


def test_what_is_alike_is_listed_beside_it_until_its_mark_goes(brain: Brain) -> None:
    known = "The winter cover of the Bernache is kept in the left locker of the boathouse."
    old_id, _ = brain.remembered(known)
    answer = brain.remember(
        "Salomé put the winter cover of the Bernache in the left locker of the boathouse."
    )
    assert answer.outcome == "similar"
    item = of(brain, answer.id or "")
    assert item is not None
    assert (item.kind, item.known.id, item.found_by) == ("similar", old_id, "likeness")
    assert "Salomé" in item.reason
    assert item.score >= 85
    path = answer.path or ""
    brain.write(path, brain.bytes(path).replace(b"duplicate-candidate", b"boat"))
    brain.take_in(path)
    assert of(brain, answer.id or "") is None


def test_links_that_lead_nowhere_are_listed_with_the_memory_they_stand_in(brain: Brain) -> None:
    brain.write("plan.png", b"a picture")
    id_ = brain.note(
        "Loose.md",
        "---\ntags: [brain]\nfollows: '[[Never written]]'\n---\n"
        "See [[Nowhere|there]], [[Loose]] and ![[plan.png]].",
    )
    brain.note("No memory.md", "[[Nowhere at all]]")
    brain.scan()
    total, links = brain.run(brain.memories.loose_links(100))
    mine = [link for link in links if link.id == brain.id("Loose.md")]
    assert [(link.target, link.type, link.property) for link in mine] == [
        ("Never written", "follows", "follows"),
        ("Nowhere", "relates_to", None),
    ]
    assert total == len(links)
    assert mine[0].title == "Loose"
    assert mine[0].url.startswith("obsidian://open?")
    assert "Nowhere at all" not in [link.target for link in links]
    assert brain.run(brain.memories.loose_links(1))[1] == links[:1]
    assert id_


def test_of_two_who_decide_at_once_one_decides(brain: Brain) -> None:
    old_id, _, new_id, _, item = pair(
        brain, "The oar of the Huard is 3 m long.", "The oar of the Huard is 4 m long."
    )

    async def one() -> str:
        try:
            await brain.memories.decide_review(item.n, "replace", caller=AGENT)
        except ReviewNotFound:
            return "too late"
        return "done"

    assert sorted(brain.together(one(), one())) == ["done", "too late"]
    assert brain.daemon.state.counters([new_id])[new_id].contradiction_wins == 1
    assert brain.daemon.state.counters([old_id])[old_id].contradiction_losses == 1


def test_only_the_newest_are_read_and_the_number_tells_of_the_others(brain: Brain) -> None:
    before, _ = brain.run(brain.memories.reviews(1))
    for name in ("Alke", "Tölpel"):
        pair(brain, f"The keel of the {name} is 2 m deep.", f"The keel of the {name} is 3 m deep.")
    total, items = brain.run(brain.memories.reviews(1))
    assert total >= before + 2
    assert len(items) == 1
    assert "Tölpel" in items[0].newcomer.content
