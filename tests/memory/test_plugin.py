"""What the Obsidian plugin sends is recognised, and its chunks give the note back."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.memory.plugin import (
    Part,
    join_chunks,
    matches,
    plugin_body,
    plugin_chunks,
    plugin_text,
    same_title,
    strip_mark,
    take_apart,
)

LONG = "\n\n".join(
    f"Step {n}. Sand the plank number {n}, then wipe it with a dry cloth and wait."
    for n in range(80)
)

# Numbered words never repeat, so where two chunks meet is never ambiguous.
SEPARATORS = st.sampled_from(
    [" ", "  ", ". ", ".\n", "\n", "\n\n", ", ", " 🚤 ", "é.", "\t", "\u00a0"]
)


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    separators = draw(st.lists(SEPARATORS, min_size=3, max_size=12))
    count = draw(st.integers(0, 900))
    return "".join(
        f"w{n}{separators[(n * 7 + n // 5) % len(separators)]}" for n in range(count)
    ).strip()


def rejoin(chunks: list[str]) -> str:
    text = chunks[0]
    for chunk in chunks[1:]:
        text = join_chunks(text, chunk)
    return text


@given(long_texts())
def test_joining_the_chunks_of_a_text_gives_the_text_back(text: str) -> None:
    assert rejoin(plugin_chunks(text)) == text


@given(st.text(alphabet="ab🧠", min_size=1, max_size=7), st.integers(1, 900))
def test_a_text_of_one_repeated_word_is_joined_without_loss(unit: str, times: int) -> None:
    text = unit * times
    assert rejoin(plugin_chunks(text)) == text


@pytest.mark.parametrize("length", [1600, 1601, 2801, 2999, 3000, 3001, 4399, 4400])
def test_a_last_chunk_that_repeats_only_the_end_adds_nothing(length: int) -> None:
    text = "".join(f"{n:05d}" for n in range(1000))[:length]
    chunks = plugin_chunks(text)
    assert rejoin(chunks) == text
    assert all(len(chunk) <= 1601 for chunk in chunks)


@given(long_texts(), st.sampled_from([(400, 50), (800, 100), (4000, 400)]))
def test_chunks_of_other_settings_are_joined_too(text: str, setting: tuple[int, int]) -> None:
    assert rejoin(plugin_chunks(text, *setting)) == text


def test_chunks_end_after_a_sentence_or_a_line_and_overlap() -> None:
    chunks = plugin_chunks(plugin_text("Deck", LONG))
    assert len(chunks) > 2
    for chunk in chunks[:-1]:
        assert chunk.endswith(".")
    for first, second in pairwise(chunks):
        assert second[:100] in first


def test_chunks_with_nothing_in_common_stay_on_separate_lines() -> None:
    assert join_chunks("One thing.", "Another thing.") == "One thing.\nAnother thing."
    assert join_chunks("", "Another thing.") == "Another thing."
    assert join_chunks("One thing.", "  ") == "One thing."


def test_an_emoji_cut_in_two_is_put_together_again_after_a_trip_through_json() -> None:
    text = "x" * 1599 + "🧠" + "y" * 600
    chunks = [json.loads(json.dumps(chunk)) for chunk in plugin_chunks(text)]
    assert "\ud83e" in chunks[0]
    assert rejoin(chunks) == text


def test_a_whole_text_is_taken_apart() -> None:
    sent = take_apart("Deck\n\nSand it.\n\nOil it.")
    assert (sent.title, sent.body, sent.part) == ("Deck", "Sand it.\n\nOil it.", None)


def test_only_the_first_chunk_holds_a_title() -> None:
    first = take_apart("Deck\n\nSand it. [chunk 1/2]")
    assert (first.title, first.body, first.part) == ("Deck", "Sand it.", Part(1, 2))
    second = take_apart("and wait.\n\nOil it. [chunk 2/2]")
    assert (second.title, second.body, second.part) == (None, "and wait.\n\nOil it.", Part(2, 2))


@pytest.mark.parametrize(
    "text",
    [
        "Deck",
        "Deck\nSand it.",
        "See [chunk 1/2] of the log",
        "Deck [chunk 3/2]",
        "Deck [chunk 0/2]",
        "Deck [chunk 1/1]",
        "Deck[chunk 1/2]",
    ],
)
def test_other_texts_are_left_whole(text: str) -> None:
    assert strip_mark(text) == (text, None)
    assert take_apart(text).title is None
    assert take_apart(text).body == text


@given(st.text())
def test_taking_apart_never_raises_and_loses_nothing(text: str) -> None:
    sent = take_apart(text)
    assert text.startswith(sent.text)
    if sent.title is not None:
        assert f"{sent.title}\n\n{sent.body}" == sent.text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        ("---\ntags: [brain]\n---\n\n# Deck\n\nSand it.\n", "# Deck\n\nSand it."),
        ("---\r\ntags: [brain]\r\n---\r\nSand it.\r\n", "Sand it."),
        ("Sand it.\n\n---\n\nOil it.", "Sand it.\n\n---\n\nOil it."),
        ("---\nfirst part\n\n---\nsecond part", "second part"),
        ("---\ntitle: a --- b\n---\nBody", "b\n---\nBody"),
        ("--- no end", "--- no end"),
        ("", ""),
    ],
)
def test_the_body_is_what_the_plugin_takes_out_of_a_file(raw: str, body: str) -> None:
    assert plugin_body(raw) == body


@pytest.mark.parametrize(
    "body",
    ["Sand it.\n\nOil it.\n", "\n\nSand it.\n\nOil it.", "Sand it.\r\n\r\nOil it.\r\n"],
)
def test_a_whole_text_matches_its_note(body: str) -> None:
    assert matches("Deck", body, "Deck\n\nSand it.\n\nOil it.")


def test_an_empty_note_and_other_spellings_of_the_same_letters_match() -> None:
    assert matches("Vide", "", "Vide\n\n")
    assert matches("Café", "déjà", "Cafe\u0301\n\nde\u0301ja\u0300")


def test_a_note_that_begins_with_a_rule_matches_what_the_plugin_made_of_it() -> None:
    assert matches("Deck", "---\nfirst\n\n---\nsecond", "Deck\n\nsecond")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Deck", "Deck\n\nSand it."),
        ("Deck", "Deck\n\nSand it.\n\nOil it twice."),
        ("deck 2", "Deck\n\nSand it.\n\nOil it."),
        ("Deck", "Sand it.\n\nOil it."),
        ("Deck", ""),
    ],
)
def test_another_text_does_not_match(title: str, text: str) -> None:
    assert not matches(title, "Sand it.\n\nOil it.\n", text)


def test_every_chunk_matches_its_note_and_no_other() -> None:
    chunks = plugin_chunks(plugin_text("Deck", LONG))
    for number, chunk in enumerate(chunks, 1):
        marked = f"{chunk} [chunk {number}/{len(chunks)}]"
        assert matches("Deck", LONG, marked)
        assert not matches("Hull", LONG.replace("plank", "frame"), marked)


def test_a_chunk_matches_only_at_its_place() -> None:
    chunks = plugin_chunks(plugin_text("Deck", LONG))
    assert not matches("Deck", LONG, f"{chunks[0]} [chunk {len(chunks)}/{len(chunks)}]")
    assert not matches("Deck", LONG, f"{chunks[1]} [chunk 1/{len(chunks)}]")


def test_an_edited_text_still_names_its_note() -> None:
    assert same_title("Deck", "Deck\n\nSand it thrice.")
    assert not same_title("Deck", "Decks\n\nSand it.")
    assert not same_title("Deck", "no title here")
