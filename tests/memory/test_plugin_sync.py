"""What comes of the calls that Obsidian's plugin makes, with the note in this vault or another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live import AGENT, Brain

from second_brain.config.settings import SyncSettings
from second_brain.errors import InvalidInput, NoteNotFound
from second_brain.index.embedding import Embedder
from second_brain.memory.model import Remembered
from second_brain.memory.plugin import plugin_body, plugin_chunks, plugin_text
from second_brain.vault.edit import set_properties
from second_brain.vault.frontmatter import split
from second_brain.vault.note import parse_note

THINGS = (
    *("pump", "hose", "valve", "belt", "fuse", "wire", "clamp", "shaft", "seal", "bolt", "nut"),
    *("washer", "spring", "pin", "cleat", "block", "sheet", "halyard", "vang", "stay", "shroud"),
)
LONG = "\n\n".join(
    f"Paragraph {n} of the manual says what to do when the {thing} fails. Look at it first."
    for n, thing in enumerate(THINGS * 4)
)


class Plugin:
    """Sends notes as the plugin does. `raw` is the text of the file where it is open."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain

    def first_sync(self, path: str, raw: str) -> list[Remembered]:
        name, folder = path.rpartition("/")[2].removesuffix(".md"), path.rpartition("/")[0]
        chunks = plugin_chunks(plugin_text(name, plugin_body(raw)))
        marked = [
            f"{chunk} [chunk {n}/{len(chunks)}]" if len(chunks) > 1 else chunk
            for n, chunk in enumerate(chunks, 1)
        ]
        tags = ["obsidian", *([folder.rpartition("/")[2]] if folder else [])]
        return [self.brain.remember(chunk, tags=tags, source="obsidian") for chunk in marked]

    def later_sync(self, id: str, path: str, raw: str) -> str:
        name = path.rpartition("/")[2].removesuffix(".md")
        text = plugin_text(name, plugin_body(raw))
        answer = self.brain.run(self.brain.memories.append(id, text, caller=AGENT))
        return answer.message


@pytest.fixture
def plugin(brain: Brain) -> Plugin:
    return Plugin(brain)


BODIES = {
    "plain": "#brain The water tank holds ninety litres.\n",
    "properties": "---\ntags:\n  - brain\naliases: [t]\n---\n\nThe water tank holds 90 litres.\n",
    "CRLF": "---\r\ntags: [brain]\r\n---\r\nThe water tank\r\nholds 90 l.\r\n",
    "long": f"---\ntags: [brain]\n---\n{LONG}\n",
    "rule": "---\ntags: [brain]\n---\nAbove the rule\n\n---\n\nbelow the rule\n",
    "emoji": "#brain " + "👩‍👩‍👧‍👦 ⛵ text. " * 300,
    "empty": "---\ntags: [brain]\n---\n",
    "chunk mark": "#brain How to write [chunk 2/3]\n",
}


@pytest.mark.parametrize("read", [True, False], ids=["read", "not-read-yet"])
@pytest.mark.parametrize("name", BODIES)
def test_a_first_sync_of_a_note_of_this_vault_creates_nothing(
    brain: Brain, plugin: Plugin, name: str, read: bool
) -> None:
    path = f"Own/{'read' if read else 'new'} {name}.md"
    raw = BODIES[name]
    brain.write(path, raw, age=0.05)
    if read:
        brain.take_in(path)
    before = brain.files()
    answers = plugin.first_sync(path, raw.replace("\r\n", "\n"))
    assert brain.files() == before
    assert {answer.id for answer in answers} == {brain.id(path)}
    assert {answer.path for answer in answers} == {path}
    assert brain.run(brain.memories.get(brain.id(path))).path == path


def test_a_first_sync_of_a_note_edited_since_it_was_read(brain: Brain, plugin: Plugin) -> None:
    path = "Own/Edited.md"
    id = brain.note(path, "#brain The first version of the text.\n")
    before = brain.files()
    (answer,) = plugin.first_sync(path, "#brain A quite different second version.\n")
    assert answer.id == id
    assert brain.files() == before


def test_the_plugin_writes_our_id_into_the_note_and_it_stays_the_same_memory(
    brain: Brain, plugin: Plugin
) -> None:
    path = "Own/With id.md"
    raw = "---\ntags: [brain]\n---\nThe windvane is called Archibald.\n"
    id = brain.note(path, raw)
    other, _ = brain.remembered("Archibald was built in Falmouth by the previous owner.")
    brain.run(brain.memories.link(other, id, "about_person"))
    brain.recall("windvane Archibald", top_k=1)
    brain.run(brain.memories.finished())
    (answer,) = plugin.first_sync(path, raw)
    assert answer.id == id
    stamped = set_properties(raw.encode(), {"second-brain-id": answer.id})
    brain.path(path).write_bytes(stamped)
    brain.take_in(path)
    assert brain.id(path) == id
    assert brain.daemon.state.counters([id])[id].recall_count >= 1
    assert [c.memory.id for c in brain.run(brain.memories.connections(id, "about_person"))] == [
        other
    ]
    for n in range(20):
        raw = stamped.decode() + f"\nLine {n} written by the user.\n" * (n + 1)
        brain.path(path).write_text(raw)
        if n % 2:
            brain.take_in(path)
        plugin.later_sync(id, path, raw)
        assert brain.path(path).read_text() == raw
    brain.take_in(path)
    assert len(brain.daemon.catalog.by_title("With id")) == 1
    assert brain.run(brain.memories.history(id)) == []


def test_a_whole_text_append_never_grows_a_note_of_this_vault(brain: Brain, plugin: Plugin) -> None:
    path = "Own/Growing.md"
    raw = f"---\ntags: [brain]\n---\n{LONG}\n"
    id = brain.note(path, raw)
    for sent in (raw, raw.replace("pump", "bilge pump"), raw + "\nA phone is ahead of us.\n"):
        plugin.later_sync(id, path, sent)
        assert brain.path(path).read_text() == raw


def test_a_real_addition_is_still_appended(brain: Brain) -> None:
    path = "Own/Appended.md"
    id = brain.note(path, "#brain The list of lights.\n")
    brain.run(brain.memories.append(id, "Pen Men: four flashes, fifteen seconds.", caller=AGENT))
    assert b"four flashes" in brain.bytes(path)


def test_two_notes_of_one_name_are_told_apart_by_their_text(brain: Brain, plugin: Plugin) -> None:
    one = brain.note("Left/Twin.md", "#brain All about the left hull.\n")
    two = brain.note("Right/Twin.md", "#brain All about the right hull.\n")
    before = brain.files()
    assert plugin.first_sync("Right/Twin.md", "#brain All about the right hull.\n")[0].id == two
    assert plugin.first_sync("Left/Twin.md", "#brain All about the left hull.\n")[0].id == one
    assert brain.files() == before


def test_two_notes_of_one_name_and_a_text_that_is_neither(brain: Brain, plugin: Plugin) -> None:
    """One of them was edited; the folder's name, which the plugin sends as a tag, tells which."""
    brain.note("Port/Pair.md", "#brain All about the port engine.\n")
    two = brain.note("Starboard/Pair.md", "#brain All about the other engine.\n")
    before = brain.files()
    (answer,) = plugin.first_sync("Starboard/Pair.md", "#brain Edited a second ago, unread.\n")
    assert brain.files() == before
    assert answer.id == two


@pytest.mark.parametrize("read", [True, False], ids=["read", "not-read-yet"])
def test_a_note_of_the_vault_that_is_no_memory(brain: Brain, plugin: Plugin, read: bool) -> None:
    path = f"Private/Diary {read}.md"
    raw = f"Not for agents, {read}.\n"
    brain.write(path, raw)
    if read:
        brain.take_in(path)
    before = brain.files()
    (answer,) = plugin.first_sync(path, raw)
    assert brain.files() == before
    assert answer.path == path
    assert answer.id == brain.id(path)
    with pytest.raises(NoteNotFound):
        brain.run(brain.memories.get(answer.id or ""))
    assert path not in brain.found("not for agents", top_k=20)
    with pytest.raises(NoteNotFound):
        plugin.later_sync(answer.id or "", path, raw)


def test_an_excluded_note_stays_out_of_memory_when_the_plugin_sends_it(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> None:
    folder = tmp_path_factory.mktemp("excluded")
    rules = SyncSettings(exclude=("Private/**",))
    with Brain(folder / "vault", folder / "data", lambda name: embedder, sync=rules) as brain:
        path, raw = "Private/Diary.md", f"#brain A secret.\n\n{LONG}"
        brain.write(path, raw)
        before = brain.files()
        answers = Plugin(brain).first_sync(path, raw)
        assert brain.files() == before
        assert len({answer.id for answer in answers}) == 1
        assert brain.run(brain.memories.count()) == 0
        assert brain.daemon.catalog.by_path(path) is None


def test_the_id_of_a_deleted_note(brain: Brain, plugin: Plugin) -> None:
    path = "Own/Deleted.md"
    raw = "#brain Soon to be deleted.\n"
    id = brain.note(path, raw)
    brain.path(path).unlink()
    brain.scan()
    with pytest.raises(NoteNotFound):
        plugin.later_sync(id, path, raw)
    assert not brain.path(path).exists()


def test_a_stranger_text_from_obsidian_that_only_looks_like_a_title(brain: Brain) -> None:
    answer = brain.remember("Groceries\n\nmilk, eggs", source="claude")
    assert answer.path != "Second Brain/Groceries.md" or answer.outcome == "stored"
    body = split(brain.bytes(answer.path or "")).body
    assert body == b"Groceries\n\nmilk, eggs", "only the plugin's texts are taken apart"


# A note of another vault: a phone's


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    folder = tmp_path_factory.mktemp("phone")
    with Brain(folder / "vault", folder / "data", lambda name: embedder) as brain:
        yield brain


@pytest.fixture
def phone(empty: Brain) -> Plugin:
    return Plugin(empty)


def only_note(brain: Brain, title: str) -> str:
    found = [path for path in brain.files() if path.rpartition("/")[2].startswith(title)]
    assert len(found) == 1, found
    return found[0]


def test_a_note_of_another_vault_becomes_one_note_of_its_name(phone: Plugin) -> None:
    brain = phone.brain
    raw = "---\ntags: [x]\n---\n# Heading\n\nBought oars on the market.\n"
    (answer,) = phone.first_sync("Notes/Oars.md", raw)
    assert answer.outcome == "stored"
    path = only_note(brain, "Oars")
    assert path == answer.path == "Second Brain/Oars.md"
    note = parse_note(path, brain.bytes(path))
    assert note.body == "# Heading\n\nBought oars on the market."
    assert {"brain", "obsidian", "Notes"} <= set(note.tags)
    assert note.properties["second-brain-source"] == "obsidian"
    assert note.properties["second-brain-id"] == answer.id


def test_its_later_syncs_replace_the_text_and_the_history_keeps_the_old(phone: Plugin) -> None:
    brain = phone.brain
    (answer,) = phone.first_sync("Sails.md", "The jib is torn.\n")
    id = answer.id or ""
    path = only_note(brain, "Sails")
    phone.later_sync(id, "Sails.md", "The jib is torn.\n")
    assert len(brain.run(brain.memories.history(id))) == 1
    for n in range(1, 21):
        phone.later_sync(id, "Sails.md", "The jib is mended.\n" + "Stitched. " * n)
    text = split(brain.bytes(path)).body.decode()
    assert text == ("The jib is mended.\n" + "Stitched. " * 20).strip()
    assert only_note(brain, "Sails") == path
    history = brain.run(brain.memories.history(id, 50))
    assert len(history) == 21
    brain.run(brain.memories.undo(history[0].n))
    assert split(brain.bytes(path)).body.decode().count("Stitched") == 19


def test_its_chunks_are_joined_into_one_note(phone: Plugin) -> None:
    brain = phone.brain
    answers = phone.first_sync("Docs/Manual.md", LONG)
    assert len(answers) > 3
    assert len({answer.id for answer in answers}) == 1
    path = only_note(brain, "Manual")
    assert split(brain.bytes(path)).body.decode() == LONG
    before = brain.files()
    again = phone.first_sync("Docs/Manual.md", LONG)
    assert {answer.id for answer in again} == {answers[0].id}
    assert brain.files() == before
    phone.later_sync(answers[0].id or "", "Manual.md", LONG + "\n\nAn appendix.")
    assert split(brain.bytes(path)).body.decode() == LONG + "\n\nAn appendix."
    assert brain.found("appendix", top_k=1) == [path]


def test_a_second_first_sync_after_an_edit_makes_no_second_note(phone: Plugin) -> None:
    """The plugin could not write the id down: it captures the note again at the next save."""
    brain = phone.brain
    (first,) = phone.first_sync("Oarlock.md", "Bronze ones.\n")
    (again,) = phone.first_sync("Oarlock.md", "Bronze ones, two pairs of them.\n")
    assert again.id == first.id
    path = only_note(brain, "Oarlock")
    assert split(brain.bytes(path)).body == b"Bronze ones, two pairs of them."


def test_chunks_that_come_twice_or_out_of_order_do_not_spoil_the_text(phone: Plugin) -> None:
    brain = phone.brain
    chunks = plugin_chunks(plugin_text("Almanac", LONG.replace("manual", "almanac")))
    total = len(chunks)

    def send(n: int) -> Remembered:
        return brain.remember(f"{chunks[n - 1]} [chunk {n}/{total}]", source="obsidian")

    id = send(1).id
    assert send(2).id == id
    assert send(2).id == id
    assert send(3).id == id
    brain.remember("Something else comes in between, from an agent.")
    for n in range(4, total + 1):
        assert send(n).id == id
    path = only_note(brain, "Almanac")
    assert split(brain.bytes(path)).body.decode() == LONG.replace("manual", "almanac")


def test_two_notes_whose_chunks_arrive_side_by_side(phone: Plugin) -> None:
    brain = phone.brain
    bodies = {name: LONG.replace("manual", name) for name in ("Atlas", "Bible")}
    parts = {name: plugin_chunks(plugin_text(name, body)) for name, body in bodies.items()}
    for pieces in zip(*parts.values(), strict=True):
        for name, piece in zip(parts, pieces, strict=True):
            number = parts[name].index(piece) + 1
            brain.remember(f"{piece} [chunk {number}/{len(parts[name])}]", source="obsidian")
    for name, body in bodies.items():
        assert split(brain.bytes(only_note(brain, name))).body.decode() == body


def test_a_long_note_that_was_edited_is_replaced_when_all_of_it_is_here(phone: Plugin) -> None:
    brain = phone.brain
    phone.first_sync("Log.md", LONG)
    path = only_note(brain, "Log")
    edited = "A new beginning.\n\n" + LONG.replace("fails", "breaks")
    phone.first_sync("Log.md", edited)
    assert only_note(brain, "Log") == path
    assert split(brain.bytes(path)).body.decode() == edited


def test_a_chunk_without_those_before_is_refused_so_that_the_plugin_begins_anew(
    phone: Plugin,
) -> None:
    before = phone.brain.files()
    with pytest.raises(InvalidInput, match="part 4"):
        phone.brain.remember("The middle of something. [chunk 4/7]", source="obsidian")
    assert phone.brain.files() == before


@pytest.mark.parametrize("name", ["Plan: what/if?", "Ideas", "x" * 150])
def test_a_name_that_the_stored_note_cannot_have_is_still_recognised(
    phone: Plugin, name: str
) -> None:
    brain = phone.brain
    brain.remember("# Ideas\n\nAn agent's own ideas about knots.", source="claude")
    sent = plugin_text(name, f"First thoughts, {name[:5]}.")
    first = brain.remember(sent, source="obsidian")
    before = brain.files()
    assert brain.remember(sent, source="obsidian").id == first.id
    assert brain.files() == before
    longer = plugin_text(name, f"Second thoughts, {name[:5]}, and more.")
    brain.run(brain.memories.append(first.id or "", longer, caller=AGENT))
    body = split(brain.bytes(first.path or "")).body.decode()
    assert body == f"Second thoughts, {name[:5]}, and more."
    assert brain.bytes("Second Brain/Ideas.md") == before["Second Brain/Ideas.md"]


def test_an_agents_note_is_not_replaced_by_an_older_text_of_the_plugin(brain: Brain) -> None:
    id, path = brain.remembered("Lantern oil: two litres.", title="Lantern", source="claude")
    old = brain.run(brain.memories.get(id)).content
    brain.run(brain.memories.append(id, "One litre left.", caller=AGENT))
    before = brain.bytes(path)
    brain.run(brain.memories.append(id, plugin_text("Lantern", old), caller=AGENT))
    assert brain.bytes(path) == before


def test_a_long_text_that_an_agent_marks_itself_is_just_a_text(phone: Plugin) -> None:
    answer = phone.brain.remember("An article [chunk 3/9]", source="claude")
    assert answer.outcome == "stored"
    assert split(phone.brain.bytes(answer.path or "")).body == b"An article [chunk 3/9]"


def test_the_same_content_as_another_memory_under_a_new_name(phone: Plugin) -> None:
    """A duplicate still answers with an id, or the plugin would send the note at every save."""
    phone.first_sync("Original.md", "The lamp oil is in the forepeak.\n")
    (copy,) = phone.first_sync("Copied.md", "The lamp oil is in the forepeak.\n")
    assert copy.id is not None
