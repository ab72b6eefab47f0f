"""Links between related memories, gone over: only in notes of ours, and never against the user."""

from __future__ import annotations

from live import Brain

from second_brain.memory.link_pass import Linked
from second_brain.memory.model import Caller

NIGHT = Caller("second-brain", "maintenance")
OURS = "---\ntags: [brain]\nsecond-brain-id: {id}\nsecond-brain-source: claude\n---\n{text}\n"
MOORING = "The sailing boat lies at pontoon C, berth 31, in the harbour of Lorient."
MOVED = "The berth of the sailing boat in Lorient harbour is number 31 on pontoon C."
BREAD = "Rye bread needs a sourdough starter and twelve hours of rest."


def go_over(brain: Brain) -> Linked:
    return brain.run(brain.memories.link_pass.run(NIGHT))


def test_what_is_related_is_linked_once_and_only_in_our_notes(brain: Brain) -> None:
    brain.note("Mine.md", f"---\ntags: [brain]\n---\n{MOORING}\n")
    brain.note("A.md", OURS.format(id="aaa", text=MOVED))
    brain.note("B.md", OURS.format(id="bbb", text=BREAD))
    before = brain.files()
    assert go_over(brain) == Linked(pruned=0, added=1)
    after = brain.files()
    assert {path for path in after if after[path] != before.get(path)} == {"A.md"}
    assert b'second-brain-related:\n  - "[[Mine]]"\n' in after["A.md"]
    assert go_over(brain) == Linked()


def test_a_link_that_the_user_took_out_does_not_come_back(brain: Brain) -> None:
    text = brain.bytes("A.md").replace(b'second-brain-related:\n  - "[[Mine]]"\n', b"")
    brain.note("A.md", text)
    assert go_over(brain) == Linked()
    assert brain.bytes("A.md") == text


def test_a_link_goes_only_when_its_note_is_gone_for_good(brain: Brain) -> None:
    gone_id = brain.note("Rye.md", f"---\ntags: [brain]\n---\n{BREAD} Baked at 240 degrees.\n")
    assert go_over(brain).added == 1
    linked = brain.bytes("B.md").replace(b'"[[Rye]]"\n', b'"[[Rye]]"\n  - "[[Never there]]"\n')
    brain.note("B.md", linked)
    brain.path("Rye.md").unlink()
    brain.scan()
    assert go_over(brain) == Linked(), "it may come back"
    gone = brain.daemon.catalog.by_id(gone_id, missing=True)
    assert gone is not None
    assert gone.missing_since is not None
    brain.daemon.catalog.purge_missing(gone.missing_since + 1)
    assert go_over(brain) == Linked(pruned=1)
    assert b"[[Rye]]" not in brain.bytes("B.md")
    assert b"[[Never there]]" in brain.bytes("B.md"), "the user wrote that"
