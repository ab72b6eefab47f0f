"""Remembering: the note that comes of it, and what is refused."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from live import Brain

from second_brain.errors import InvalidInput
from second_brain.vault.frontmatter import split
from second_brain.vault.links import Resolver
from second_brain.vault.names import title_of
from second_brain.vault.note import parse_note


def body(brain: Brain, path: str) -> bytes:
    return split(brain.bytes(path)).body


@pytest.mark.parametrize(
    "content",
    [
        "Our palette uses #1a1a2e and #e94560; the accent is #palette/dark.",
        "The harbour office\r\nopens at seven\r\n\r\nand closes at four.\r\n",
        "Two spaces at the end make a break  \nhere, and a tab\t \n\n\n",
        "The windlass takes 10 mm chain without a final line end",
        "Gaspard signe ses messages 👩‍👩‍👧‍👦🇫🇷 d'un cœur ❤️",
        "---\nA rule opens this text about buoys\n---\nand another one closes nothing.",
        "---\ntitle: not a property of ours\ntags: [nothing]\n---\nA page on sextants.",
        "# Anchoring at night\n\nKeep the anchor light on. #anchor #night-watch",
        "\n\n   indented and after two blank lines: the tiller is ash wood\n",
        "﻿A mark of byte order begins this one about the compass rose.",
        "Cañón, naïve, 日本語のメモ: 港は静かだ, עברית, e\u0301 is not é.",
        "Use `[[not a link]]` and <!-- brain --> and %% hidden %% as they stand.",
    ],
)
def test_the_text_is_written_exactly_as_it_came(brain: Brain, content: str) -> None:
    id, path = brain.remembered(content)
    assert body(brain, path) == content.encode()
    assert brain.run(brain.memories.get(id)).content == content
    assert brain.id(path) == id


def test_the_properties_of_a_new_note(brain: Brain) -> None:
    _, path = brain.remembered(
        "The chart table needs a new hinge on its left side.", tags=["Chart"], source="claude"
    )
    text = brain.bytes(path).decode()
    assert re.fullmatch(
        r"---\n"
        r"tags:\n  - brain\n  - Chart\n"
        r"created: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\n"
        r"second-brain-id: [0-9a-f-]{36}\n"
        r"second-brain-source: claude\n"
        r"---\n"
        r"The chart table needs a new hinge on its left side\.",
        text,
    ), text
    note = parse_note(path, text.encode())
    created = datetime.fromisoformat(str(note.properties["created"])).astimezone()
    assert abs((datetime.now().astimezone() - created).total_seconds()) < 60


def test_hashtags_in_the_text_are_read_and_not_cut(brain: Brain) -> None:
    content = "Varnish the #coaming before rain; colour #a1b2c3. #boat/spring\n"
    id, path = brain.remembered(content, tags=["wood"])
    assert body(brain, path).decode() == content
    tags = brain.run(brain.memories.get(id)).tags
    assert {"wood", "coaming", "boat/spring"} <= set(tags)
    assert "brain" not in tags
    assert path in brain.found("varnish", tag="boat")
    assert path in brain.found("varnish", tag="COAMING")


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (["two words", "#x", "a,b"], ["brain", "two-words", "x", "a", "b"]),
        (["brain", "Brain", "#brain"], ["brain"]),
        (["", "#", " ", "123", "!!"], ["brain"]),
        (["Été", "ete", "ÉTÉ"], ["brain", "Été", "ete"]),
        (["a/b", "brain/work"], ["brain", "a/b", "brain/work"]),
    ],
)
def test_tags_are_cleaned(brain: Brain, given: list[str], written: list[str]) -> None:
    _, path = brain.remembered(f"A note to see what becomes of {given!r}", tags=given)
    tags = parse_note(path, brain.bytes(path)).properties["tags"]
    assert isinstance(tags, list)
    assert [tag for tag in tags if tag != "duplicate-candidate"] == written


def test_two_memories_with_one_title_get_two_notes(brain: Brain) -> None:
    _, one = brain.remembered("# Ideas\n\nPaint the hull the green of bottle glass.")
    _, two = brain.remembered("# Ideas\n\nLearn to splice eight-plait rope before summer.")
    assert one == "Second Brain/Ideas.md"
    assert two == "Second Brain/Ideas 2.md"
    assert b"bottle glass" in brain.bytes(one)
    assert b"eight-plait" in brain.bytes(two)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Keel bolts: torque", "Keel bolts - torque"),
        ("a/b\\c", "a-b-c"),
        ("[[Odd]] #1 ^x | y", "Odd 1 x y"),
        ("../../outside", "-..-outside"),
        ("  many\n lines ", "many lines"),
        ("CON", "_CON"),
        ("x" * 300, "x" * 120),
        ("日本語" * 60, None),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(
    brain: Brain, title: str, name: str | None
) -> None:
    _, path = brain.remembered(f"Something to be called {title[:20]!r} and {name}", title=title)
    assert path.startswith("Second Brain/")
    assert "/" not in path.removeprefix("Second Brain/")
    assert len(path.removeprefix("Second Brain/").encode()) <= 210
    if name is not None:
        assert path == f"Second Brain/{name}.md"
    assert Resolver([path]).link_text(path) is not None


def test_without_a_title_the_text_names_the_note(brain: Brain) -> None:
    content = "The sea cock by the engine sticks. Close it with the long handle."
    _, path = brain.remembered(content)
    assert path == f"Second Brain/{title_of(content)}.md"


def test_it_is_found_by_words_and_by_meaning_as_soon_as_it_is_answered(brain: Brain) -> None:
    for number, text in enumerate(
        [
            "Zephyrine moors her dinghy behind the old mill.",
            "The lighthouse keeper's parrot is called Quimperlé.",
            "Bosun's locker combination starts with seventy-three.",
        ]
    ):
        _, path = brain.remembered(text)
        words = ("dinghy mill", "parrot", "bosun locker")[number]
        assert brain.found(words, top_k=3)[0] == path
    assert "Second Brain/The lighthouse keeper's parrot is called Quimperlé.md" in brain.found(
        "quel est le nom de l'oiseau du phare ?", top_k=3
    )


@pytest.mark.parametrize(
    "again",
    [
        "The spare impeller is in the blue tin",
        "the  spare\nimpeller is in the BLUE tin.",
        "The spare impeller is in the blue tin!  ",
    ],
)
def test_the_same_words_again_are_not_stored(brain: Brain, again: str) -> None:
    first = brain.remember("The spare impeller is in the blue tin.")
    before = brain.files()
    answer = brain.remember(again)
    assert answer.outcome == "duplicate"
    assert first.id in (answer.id, None) or first.outcome == "duplicate"
    assert answer.id == answer.match_id == brain.id(answer.path or "")
    assert answer.score == 100.0
    assert answer.id in answer.message
    assert brain.files() == before


def test_a_memory_of_the_user_is_not_stored_again_either(brain: Brain) -> None:
    id = brain.note("Logbook/Rig.md", "---\ntags: [brain]\n---\nThe forestay is 5 mm wire.\n")
    answer = brain.remember("The forestay is 5 mm wire")
    assert (answer.outcome, answer.id) == ("duplicate", id)


def test_what_a_note_no_longer_says_can_be_remembered_again(brain: Brain) -> None:
    brain.note("Logbook/Changed.md", "#brain The ladder hangs by the stern.\n")
    brain.path("Logbook/Changed.md").write_text("#brain Something else now, not read yet.\n")
    assert brain.remember("The ladder hangs by the stern.").outcome != "duplicate"
    brain.scan()


def test_a_deprecated_memory_does_not_keep_its_text_from_being_remembered(brain: Brain) -> None:
    id, _ = brain.remembered("The spare key lies under the third flower pot.")
    brain.run(brain.memories.set_status(id, "deprecated"))
    again = brain.remember("The spare key lies under the third flower pot.")
    assert (again.outcome, again.match_id) == ("stored", None)
    assert again.path in brain.found("spare key flower pot", top_k=3)


def test_nearly_the_same_words_that_bring_nothing_new_are_not_stored(brain: Brain) -> None:
    first, _ = brain.remembered(
        "The insurance of the boats must be renewed every year in March by letter."
    )
    before = brain.files()
    answer = brain.remember(
        "The insurance of the boat must be renewed every year in March by letter."
    )
    assert (answer.outcome, answer.id) == ("duplicate", first)
    assert answer.score is not None
    assert 95 <= answer.score < 100
    assert brain.files() == before


def test_nearly_the_same_words_that_say_something_new_are_stored_and_flagged(brain: Brain) -> None:
    first, first_path = brain.remembered("The crew meeting on Thursday begins at 3 pm in the shed.")
    answer = brain.remember("The crew meeting on Thursday begins at 4 pm in the shed.")
    assert answer.outcome == "similar"
    assert answer.id not in (None, first)
    assert answer.match_id == first
    assert answer.score is not None
    assert answer.score >= 85
    assert "4" in answer.message
    note = parse_note(answer.path or "", brain.bytes(answer.path or ""))
    assert "duplicate-candidate" in note.tags
    assert f"[[{first_path.removeprefix('Second Brain/')[:-3]}]]" in str(
        note.properties["second-brain-related"]
    )


def test_related_memories_are_linked_at_most_three_and_the_links_lead_there(brain: Brain) -> None:
    ids = {
        brain.remembered(f"Dough for rye bread, trial {name}: {how}.")[0]
        for name, how in [
            ("one", "let the rye starter rise overnight by the stove"),
            ("two", "feed the rye starter twice and bake in the iron pot"),
            ("three", "more salt in the rye loaf and a longer second rise"),
            ("four", "rye loaf with walnuts, baked an hour in the iron pot"),
        ]
    }
    id, path = brain.remembered("Rye bread baked in the iron pot with the overnight starter.")
    links = [link for link in parse_note(path, brain.bytes(path)).links if link.property]
    assert 1 <= len(links) <= 3
    assert {link.provenance for link in links} == {"inferred"}
    connected = brain.run(brain.memories.connections(id))
    assert len(connected) == len(links)
    assert {c.memory.id for c in connected} <= ids
    assert {c.provenance for c in connected} == {"inferred"}


def test_the_same_text_twice_at_once_becomes_one_note(brain: Brain) -> None:
    before = len(brain.files())
    text = "Kestrels nest in the tower of the old chandlery since April."
    answers = brain.together(*(brain.memories.remember(text) for _ in range(2)))
    assert sorted(answer.outcome for answer in answers) == ["duplicate", "stored"]
    assert len({answer.id for answer in answers}) == 1
    assert len(brain.files()) == before + 1


def test_twenty_texts_at_once_become_twenty_notes(brain: Brain) -> None:
    before = set(brain.files())
    things = (
        *("anvil", "basket", "candle", "drum", "engine", "feather", "guitar", "hammer", "inkwell"),
        *("jacket", "kettle", "lantern", "mirror", "needle", "oven", "pillow", "quilt", "rudder"),
        *("saddle", "teapot"),
    )
    answers = brain.together(
        *(
            brain.memories.remember(f"List {n}: {thing}, bought in year {1900 + n}", title="List")
            for n, thing in enumerate(things)
        )
    )
    assert {answer.outcome for answer in answers} <= {"stored", "similar"}
    assert len({answer.id for answer in answers}) == 20
    assert len({answer.path for answer in answers}) == 20
    assert {answer.path for answer in answers} == set(brain.files()) - before
    for thing, answer in zip(things, answers, strict=True):
        assert thing.encode() in brain.bytes(answer.path or "")
        assert answer.path in brain.found(f"{thing} bought", top_k=5)


@pytest.mark.parametrize("content", ["", "   \n\t", "half \ud83d of an emoji", "a\x00b"])
def test_a_text_that_no_note_can_hold_is_refused(brain: Brain, content: str) -> None:
    before = brain.files()
    with pytest.raises(InvalidInput) as caught:
        brain.remember(content)
    assert caught.value.field == "content"
    assert brain.files() == before


@pytest.mark.parametrize("text", ["half \ud83d of an emoji", "a\x00b"])
@pytest.mark.parametrize("field", ["title", "source", "tags"])
def test_what_goes_into_the_properties_is_checked_as_well(
    brain: Brain, field: str, text: str
) -> None:
    before = brain.files()
    with pytest.raises(InvalidInput) as caught:
        brain.remember("A fine text.", **{field: [text] if field == "tags" else text})
    assert caught.value.field == field
    assert brain.files() == before


def test_a_source_that_could_break_the_properties_is_quoted(brain: Brain) -> None:
    id, path = brain.remembered("The cleat on the quay is loose.", source="a: b\n# c")
    note = parse_note(path, brain.bytes(path))
    assert note.problems == ()
    assert note.properties["second-brain-source"] == "a: b # c"
    assert brain.run(brain.memories.get(id)).source == "a: b # c"


def test_a_very_long_text_is_one_note_with_many_passages(brain: Brain) -> None:
    paragraphs = [
        f"Day {n} of the voyage log: wind force {n % 9}, tack {n * 7 % 360}°." for n in range(400)
    ]
    content = "\n\n".join(paragraphs) + "\n\nOn the last day the cook found a kitten in the flour."
    id, path = brain.remembered(content, title="Voyage log")
    memory = brain.run(brain.memories.get(id))
    assert memory.content == content
    assert len(memory.chunk_ids) > 10
    assert brain.found("kitten in the flour", top_k=1) == [path]


@pytest.mark.parametrize(
    "title",
    ["Plan (Anna's conflicted copy 2026-03-01)", "a.sync-conflict-20260301-101010-ABC"],
)
def test_a_title_that_the_rules_keep_out_still_makes_a_memory(brain: Brain, title: str) -> None:
    id, path = brain.remembered(f"What is told under the odd title {title}.", title=title)
    assert path == f"Second Brain/Memory {id[:8]}.md"
    assert brain.run(brain.memories.get(id)).content == f"What is told under the odd title {title}."


def related(brain: Brain, path: str) -> list[str]:
    value = parse_note(path, brain.bytes(path)).properties.get("second-brain-related")
    return [str(item) for item in value] if isinstance(value, list) else []


def test_what_is_alike_in_its_tone_alone_is_not_linked(brain: Brain) -> None:
    _, first = brain.remembered("Hello everybody")
    _, second = brain.remembered("Hi all!")
    assert f"[[{first.rpartition('/')[2][:-3]}]]" not in related(brain, second)


def test_what_says_the_same_in_the_other_language_is_linked(brain: Brain) -> None:
    _, french = brain.remembered(
        "La chaudière a été révisée en mars et il lui faut une nouvelle vanne."
    )
    _, english = brain.remembered("The boiler was serviced in March and needs a new valve.")
    assert f"[[{french.rpartition('/')[2][:-3]}]]" in related(brain, english)
