"""Notes made out of memories: words and links, and nothing that does anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import AT_ONCE, Brain

from second_brain.clock import clock_ms
from second_brain.memory.composing import Part, inert
from second_brain.memory.digestible import ROLLED_UP_KEY
from second_brain.memory.links_follow import DELAY_SECONDS, LinksFollow
from second_brain.memory.model import Caller
from second_brain.memory.scribe import Scribe

MODEL = Caller("small", "digest")


def test_a_note_with_links_and_marks_is_one_write_that_can_be_undone(brain: Brain) -> None:
    a = brain.note("A.md", "---\ntags: [brain]\n---\nOne.\n")
    b = brain.note("Folder/B.md", "---\ntags: [brain]\n---\nTwo.\n")
    before = brain.files()
    id_, path = brain.run(
        brain.memories.composing.compose(
            "A digest",
            [Part("- One and two.", (a, b)), Part("Nothing.", ("unknown",))],
            tags=["work"],
            caller=MODEL,
            marks={ROLLED_UP_KEY: [a, b]},
        )
    )
    text = brain.bytes(path).decode()
    assert text.endswith("---\n- One and two. ([[A]], [[B]])\nNothing.\n") or text.endswith(
        "---\n- One and two. ([[B]], [[A]])\nNothing.\n"
    )
    assert f'{ROLLED_UP_KEY}:\n  - "[[A]]"\n  - "[[B]]"\n' in text
    assert brain.daemon.catalog.edges.linked_by(ROLLED_UP_KEY) == {a, b}
    (write,) = brain.run(brain.memories.history(id_))
    assert (write.client, write.tool) == ("small", "digest")
    brain.run(brain.memories.undo(write.n, caller=MODEL))
    assert brain.daemon.catalog.edges.linked_by(ROLLED_UP_KEY) == set()
    left = {name: data for name, data in brain.files().items() if not name.startswith(".trash")}
    assert left == before


def test_the_marks_follow_a_note_that_moves(brain: Brain) -> None:
    source = brain.note("Old name.md", "---\ntags: [brain]\n---\nThe old text of that.\n")
    _, path = brain.run(
        brain.memories.composing.compose(
            "Another digest", [Part("x")], tags=[], caller=MODEL, marks={ROLLED_UP_KEY: [source]}
        )
    )
    brain.path("Old name.md").rename(brain.path("New name.md"))
    brain.scan()

    now = [0.0]
    daemon = brain.daemon
    scribe = Scribe(daemon.files, daemon.state, daemon.engine, clock_ms=clock_ms, settling=AT_ONCE)
    follow = LinksFollow(daemon.engine, scribe, daemon.state, clock=lambda: now[0])
    brain.run(follow.step())
    now[0] += DELAY_SECONDS + 1
    brain.run(follow.step())
    assert b'"[[New name]]"' in brain.bytes(path)
    assert source in brain.daemon.catalog.edges.linked_by(ROLLED_UP_KEY)


def test_a_note_for_the_user_alone_is_no_memory(brain: Brain) -> None:
    id_, path = brain.run(
        brain.memories.composing.compose(
            "Report", [Part("All well.")], tags=[], caller=MODEL, memory=False
        )
    )
    assert b"second-brain: false\n" in brain.bytes(path)
    row = brain.daemon.catalog.by_id(id_)
    assert row is not None
    assert not row.is_memory


@pytest.mark.parametrize(
    ("text", "calm"),
    [
        ("See ![[Secret]] and [[Plan]].", "See Secret and Plan."),
        ("Buy #brain food, C# and 3#4.", "Buy brain food, C# and 3#4."),
        ("Run `$= dv.pages()` now.", "Run  dv.pages() now."),
        ("<img src=x> and a < b <% tp %>", "img src=x> and a < b  tp "),
        ("%%hidden%% due:: today", "hidden due today"),
        ("[[[[Plan]]]]", "Plan"),
    ],
)
def test_what_would_act_is_words(text: str, calm: str) -> None:
    assert inert(text) == calm


@given(st.text(alphabet="[]!`%<>$=:#-a \n", max_size=40))
def test_nothing_that_acts_is_left(text: str) -> None:
    calm = inert(text)
    for active in ("[[", "]]", "`", "%%", "<%", "%>", "$=", "::", "<a", "\n#a"):
        assert active not in calm
    assert inert(calm) == calm
