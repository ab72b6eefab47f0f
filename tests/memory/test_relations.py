"""Typed relations: properties of the source note, read from both ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from live import AGENT, Brain

from second_brain.errors import EditRefused, InvalidInput, NoteNotFound
from second_brain.memory.model import RELATION_TYPES, Connection
from second_brain.vault.frontmatter import split
from second_brain.vault.links import RELATION_TYPES as WRITTEN_TYPES
from second_brain.vault.note import parse_note

LABELS = {
    "relates_to": ("relates to", "relates to"),
    "supersedes": ("supersedes", "superseded by"),
    "caused_by": ("caused by", "caused"),
    "decided": ("decided", "decided by"),
    "about_person": ("about", "mentioned in"),
    "part_of_project": ("part of", "includes"),
    "follows": ("follows", "followed by"),
}


def user_note(brain: Brain, path: str, text: str = "") -> str:
    """A note of the user's that says nothing like the others."""
    return brain.note(path, f"---\ntags: [brain]\n---\n{text or path}\n")


def between(brain: Brain, id: str, other: str) -> list[Connection]:
    found = brain.run(brain.memories.connections(id))
    return [connection for connection in found if connection.memory.id == other]


def test_every_type_can_be_written_and_read() -> None:
    assert set(RELATION_TYPES) == set(WRITTEN_TYPES) == set(LABELS)


@pytest.mark.parametrize("type", RELATION_TYPES)
def test_a_relation_is_a_property_of_the_source_and_is_read_from_both_ends(
    brain: Brain, type: str
) -> None:
    one = user_note(brain, f"Rel/{type} source.md")
    two = user_note(brain, f"Rel/{type} target.md")
    before, target = brain.bytes(f"Rel/{type} source.md"), brain.bytes(f"Rel/{type} target.md")
    brain.run(brain.memories.link(one, two, type, caller=AGENT))
    after = brain.bytes(f"Rel/{type} source.md")
    assert split(after).body == split(before).body
    assert parse_note("x.md", after).properties[type] == [f"[[{type} target]]"]
    assert brain.bytes(f"Rel/{type} target.md") == target

    (out,), (back,) = between(brain, one, two), between(brain, two, one)
    assert (out.type, out.label, out.direction) == (type, LABELS[type][0], "out")
    assert (back.type, back.label, back.direction) == (type, LABELS[type][1], "in")
    assert out.provenance == back.provenance == "explicit"
    assert out.weight == 1.0
    assert out.memory.content.strip() == f"Rel/{type} target.md"

    brain.run(brain.memories.link(one, two, type, caller=AGENT))
    assert brain.bytes(f"Rel/{type} source.md") == after, "linking twice is linking once"

    assert brain.run(brain.memories.unlink(one, two, type, caller=AGENT)) == 1
    assert brain.bytes(f"Rel/{type} source.md") == before
    assert between(brain, one, two) == between(brain, two, one) == []
    assert brain.run(brain.memories.unlink(one, two, type, caller=AGENT)) == 0


def test_connections_of_one_type(brain: Brain) -> None:
    one, two = user_note(brain, "Types/a.md"), user_note(brain, "Types/b.md")
    brain.run(brain.memories.link(one, two, "follows"))
    brain.run(brain.memories.link(one, two, "decided"))
    ask = brain.memories.connections
    assert [c.type for c in brain.run(ask(one, "follows"))] == ["follows"]
    assert {c.type for c in brain.run(ask(one))} == {"follows", "decided"}
    assert brain.run(ask(one, "supersedes")) == []


def test_relates_to_is_one_edge_whoever_states_it(brain: Brain) -> None:
    one, two = user_note(brain, "Sym/one.md"), user_note(brain, "Sym/two.md")
    brain.run(brain.memories.link(one, two))
    brain.run(brain.memories.link(two, one))
    assert len(between(brain, one, two)) == 1
    assert len(between(brain, two, one)) == 1
    graph = brain.run(brain.memories.graph(one))
    assert len([edge for edge in graph.edges if {edge.source, edge.target} == {one, two}]) == 1
    assert brain.run(brain.memories.unlink(one, two, "relates_to")) >= 1
    assert between(brain, one, two) == []
    assert b"relates_to" not in brain.bytes("Sym/one.md") + brain.bytes("Sym/two.md")


def test_unlink_without_a_type_takes_all_away_in_both_directions(brain: Brain) -> None:
    one, two = user_note(brain, "All/one.md"), user_note(brain, "All/two.md")
    third = user_note(brain, "All/three.md")
    before = brain.bytes("All/one.md"), brain.bytes("All/two.md")
    for source, target, type in [
        (one, two, "follows"),
        (one, two, "decided"),
        (two, one, "caused_by"),
    ]:
        brain.run(brain.memories.link(source, target, type))
    brain.run(brain.memories.link(one, third, "follows"))
    assert brain.run(brain.memories.unlink(one, two)) == 3
    assert between(brain, one, two) == []
    assert [c.type for c in between(brain, one, third)] == ["follows"]
    assert brain.bytes("All/two.md") == before[1]


def test_unlink_with_a_directed_type_leaves_the_other_direction(brain: Brain) -> None:
    one, two = user_note(brain, "Dir/one.md"), user_note(brain, "Dir/two.md")
    brain.run(brain.memories.link(one, two, "follows"))
    brain.run(brain.memories.link(two, one, "follows"))
    assert len(between(brain, one, two)) == 2
    assert brain.run(brain.memories.unlink(one, two, "follows")) == 1
    (left,) = between(brain, one, two)
    assert (left.direction, left.label) == ("in", "followed by")


def test_relations_that_the_user_wrote_by_hand(brain: Brain) -> None:
    old = user_note(brain, "Hand/Old plan.md")
    path = "Hand/New plan.md"
    data = (
        b"---\ntags: brain\nSupersedes:   '[[Old plan|the old one]]' # by hand\n"
        b"part-of-project:\n- '[[Hand/Old plan]]'\n- '[[Nowhere]]'\n---\nThe new plan.\n"
    )
    new = brain.note(path, data)
    assert {(c.type, c.label) for c in between(brain, new, old)} == {
        ("supersedes", "supersedes"),
        ("part_of_project", "part of"),
    }
    assert {c.label for c in between(brain, old, new)} == {"superseded by", "includes"}
    assert brain.run(brain.memories.unlink(new, old, "part_of_project")) == 1
    left = brain.bytes(path)
    assert b"Supersedes:   '[[Old plan|the old one]]' # by hand\n" in left
    assert b"[[Nowhere]]" in left
    assert b"[[Hand/Old plan]]" not in left
    assert brain.run(brain.memories.unlink(new, old)) == 1
    assert between(brain, new, old) == []
    assert split(brain.bytes(path)).body == b"The new plan.\n"


def test_a_link_in_the_text_is_an_edge_that_only_its_author_removes(brain: Brain) -> None:
    two = user_note(brain, "Text/Quay.md")
    one = user_note(brain, "Text/Mooring.md", "We lie at [[Quay]].")
    (edge,) = between(brain, one, two)
    assert (edge.type, edge.direction, edge.provenance) == ("relates_to", "out", "explicit")
    assert between(brain, two, one)[0].direction == "in"
    before = brain.files()
    for source, target in ((one, two), (two, one)):
        with pytest.raises(EditRefused, match="linked in the note's text"):
            brain.run(brain.memories.unlink(source, target))
    assert brain.files() == before


def test_unlinking_takes_the_property_and_leaves_the_text(brain: Brain) -> None:
    two = user_note(brain, "Both/Pier.md")
    one = user_note(brain, "Both/Berth.md", "Near the [[Pier]].")
    brain.run(brain.memories.link(one, two, "part_of_project"))
    assert brain.run(brain.memories.unlink(one, two)) == 1
    assert split(brain.bytes("Both/Berth.md")).body == b"Near the [[Pier]].\n"
    assert [c.type for c in between(brain, one, two)] == ["relates_to"]


def test_unlinking_an_inferred_link(brain: Brain) -> None:
    two = user_note(brain, "Inferred/Kedge.md")
    one = brain.note(
        "Inferred/Anchor.md",
        '---\ntags: [brain]\nsecond-brain-related:\n  - "[[Kedge]]"\n---\nAnchor.\n',
    )
    assert [c.provenance for c in between(brain, one, two)] == ["inferred"]
    assert brain.run(brain.memories.unlink(two, one)) == 1
    assert between(brain, one, two) == []
    assert b"second-brain-related" not in brain.bytes("Inferred/Anchor.md")


def test_an_ambiguous_name_is_written_with_its_path(brain: Brain) -> None:
    one = user_note(brain, "Amb/Source.md")
    left, right = user_note(brain, "Amb/left/Same.md"), user_note(brain, "Amb/right/Same.md")
    brain.run(brain.memories.link(one, left, "follows"))
    brain.run(brain.memories.link(one, right, "decided"))
    properties = parse_note("x.md", brain.bytes("Amb/Source.md")).properties
    assert properties["follows"] == ["[[Amb/left/Same]]"]
    assert properties["decided"] == ["[[Amb/right/Same]]"]
    assert [c.type for c in between(brain, one, left)] == ["follows"]
    assert [c.type for c in between(brain, one, right)] == ["decided"]
    assert brain.run(brain.memories.unlink(one, left)) == 1
    assert [c.type for c in between(brain, one, right)] == ["decided"]


@pytest.mark.parametrize("name", ["C# tricks", "a^b", "x|y", "Odd [brackets]", "50%% off"])
def test_a_target_whose_name_no_wiki_link_can_hold_is_refused(brain: Brain, name: str) -> None:
    one = user_note(brain, f"Bad/Source of {name}.md")
    two = user_note(brain, f"Bad/{name}.md")
    before = brain.files()
    with pytest.raises(EditRefused, match="no wiki-link can be written"):
        brain.run(brain.memories.link(one, two, "follows"))
    assert brain.files() == before


def test_what_cannot_be_linked(brain: Brain) -> None:
    one, two = user_note(brain, "Not/one.md"), user_note(brain, "Not/two.md")
    before = brain.files()
    with pytest.raises(InvalidInput, match="itself"):
        brain.run(brain.memories.link(one, one))
    for work in (
        brain.memories.link(one, two, "loves"),
        brain.memories.unlink(one, two, "loves"),
        brain.memories.connections(one, "loves"),
    ):
        with pytest.raises(InvalidInput) as caught:
            brain.run(work)
        assert caught.value.field == "type"
        assert all(type in str(caught.value) for type in RELATION_TYPES)
    for source, target in ((one, "nobody"), ("nobody", two)):
        for ends in (brain.memories.link, brain.memories.unlink):
            with pytest.raises(NoteNotFound, match="nobody"):
                brain.run(ends(source, target))  # type: ignore[operator]
    assert brain.files() == before


def test_a_note_with_broken_properties_cannot_be_a_source_but_a_target(brain: Brain) -> None:
    data = b"---\ntitle: a: b\n---\nBroken properties. #brain\n"
    broken, fine = brain.note("Broken/Source.md", data), user_note(brain, "Broken/Fine.md")
    with pytest.raises(EditRefused):
        brain.run(brain.memories.link(broken, fine))
    brain.run(brain.memories.link(fine, broken))
    assert brain.bytes("Broken/Source.md") == data
    assert len(between(brain, broken, fine)) == 1


def test_a_note_that_is_no_memory_any_more_is_no_connection(brain: Brain) -> None:
    one, two = user_note(brain, "Ren/one.md"), user_note(brain, "Ren/two.md")
    brain.run(brain.memories.link(one, two, "follows"))
    brain.take_in(brain.write("Ren/two.md", "No tag any more.\n"))
    assert between(brain, one, two) == []
    brain.take_in(brain.write("Ren/two.md", "A tag again. #brain\n"))
    assert len(between(brain, one, brain.id("Ren/two.md"))) == 1


def test_concurrent_links_from_one_note_are_all_written(brain: Brain) -> None:
    one = user_note(brain, "Many/hub.md")
    others = [user_note(brain, f"Many/spoke {n}.md") for n in range(8)]
    brain.together(*(brain.memories.link(one, other, "follows") for other in others))
    assert {c.memory.id for c in brain.run(brain.memories.connections(one, "follows"))} == set(
        others
    )


# The graph


def test_the_graph_holds_only_edges_between_its_nodes(brain: Brain) -> None:
    ids = [user_note(brain, f"Graph/n{n}.md") for n in range(5)]
    for left, right in pairwise(ids):
        brain.run(brain.memories.link(left, right, "follows"))
    for graph in (
        brain.run(brain.memories.graph()),
        brain.run(brain.memories.graph(limit=3)),
        brain.run(brain.memories.graph(ids[0])),
        brain.run(brain.memories.graph(ids[0], 2)),
    ):
        nodes = {node.id for node in graph.nodes}
        assert len(nodes) == len(graph.nodes)
        assert all({edge.source, edge.target} <= nodes for edge in graph.edges)
        keys = [(edge.source, edge.target, edge.type) for edge in graph.edges]
        assert len(keys) == len(set(keys))
    assert len(brain.run(brain.memories.graph(limit=3)).nodes) == 3
    everything = brain.run(brain.memories.graph())
    assert len(everything.nodes) == brain.run(brain.memories.count())


def test_the_neighbourhood_of_a_seed_reaches_two_steps(brain: Brain) -> None:
    ids = [user_note(brain, f"Chain/c{n}.md") for n in range(6)]
    for left, right in pairwise(ids):
        brain.run(brain.memories.link(left, right, "follows"))
    graph = brain.run(brain.memories.graph(ids[2]))
    assert graph.nodes[0].id == ids[2]
    assert {node.id for node in graph.nodes} == set(ids[:5])
    assert len(graph.edges) == 4
    assert {node.id for node in brain.run(brain.memories.graph(ids[2], 3)).nodes} == set(ids[1:4])
    alone = user_note(brain, "Chain/alone.md")
    lonely = brain.run(brain.memories.graph(alone))
    assert ([node.id for node in lonely.nodes], lonely.edges) == ([alone], ())
