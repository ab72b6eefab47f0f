"""What new notes are called."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.vault.names import free_path, path_key, safe_name, title_of

ANY_TEXT = st.text(st.characters(), max_size=400)
LEGAL = re.compile(r"[^\\/:*?\"<>|#^\[\]\x00-\x1f.][^\\/:*?\"<>|#^\[\]\x00-\x1f]*(?<![. ])\Z")
RESERVED = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(10)}


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Harbour: phase two\n\nThe crane.", "Harbour: phase two"),
        ("Prose first.\n\n# Top heading\n", "Top heading"),
        ("Prose comes first here.\n\n## Notes\n\nmore", "Prose comes first here"),
        ("\n\n### Deep first\n\n# Top", "Deep first"),
        ("Plan of work\n============\n\nx", "Plan of work"),
        ("Plan of work\n---\n\nx", "Plan of work"),
        ("# Closed ###\n", "Closed"),
        ("#brain #work\n\nReal sentence.", "Real sentence"),
        ("#notaheading but a tag", "#notaheading but a tag"),
        ("The key rotates on Monday. Then it is sent.", "The key rotates on Monday"),
        (
            "Ask Dr. Smith about v1.2 and e.g. the pump. Later.",
            "Ask Dr. Smith about v1.2 and e.g. the pump",
        ),
        ("Is it 4 pm? Yes.", "Is it 4 pm?"),
        ("今日は晴れ。明日は雨。", "今日は晴れ"),
        ("- [ ] Buy **milk** and `eggs`", "Buy milk and eggs"),
        ("> [!note] A callout\n> text", "A callout"),
        (
            "See [[Plans/Boat|the boat]] and [[Mast#Top]] at [site](https://e.org)",
            "See the boat and Mast at site",
        ),
        ("![[photo.png|100]] The new mast", "The new mast"),
        (
            "Keep snake_case and 2 * 3 * 4 but _this_ goes",
            "Keep snake_case and 2 * 3 * 4 but this goes",
        ),
        ("Our palette uses #1a1a2e", "Our palette uses #1a1a2e"),
        ("```sh\n# not a heading\n```\nAfter the code", "After the code"),
        ("```\nonly code\n```", "only code"),
        ("---\n\n%% hidden %%\nShown", "Shown"),
        ("Title\nhttps://example.org/page", "Title"),
        ("\ufeff# With a mark", "With a mark"),
    ],
)
def test_title_is_the_first_heading_or_sentence(content: str, title: str) -> None:
    assert title_of(content) == title


@pytest.mark.parametrize(
    "content", ["", "  \n\n", "---\n***\n", "```\n```\n", "%% x %%", "!!! ..."]
)
def test_a_text_without_words_gets_the_fallback(content: str) -> None:
    assert title_of(content, "Note of Monday") == "Note of Monday"


def test_a_long_title_is_cut_at_a_word() -> None:
    title = title_of("sailing " * 30)
    assert len(title) <= 80
    assert title.split() == ["sailing"] * 10
    assert title_of("x" * 500) == "x" * 80


@given(ANY_TEXT)
def test_a_title_is_one_short_line(content: str) -> None:
    title = title_of(content)
    assert 0 < len(title) <= 80
    assert title == " ".join(title.split())
    title.encode("utf-8")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("File: A", "File - A"),
        ("10:30 meeting", "10-30 meeting"),
        ("a/b\\c", "a-b-c"),
        ('What? <now> | "later" *', "What now 'later'"),
        ("#start ^block [[x]]", "start block x"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("trailing dot. ", "trailing dot"),
        (" .hidden", "hidden"),
        ("e\u0301te\u0301", "été"),
        ("Notes.md", "Notes"),
        ("tab\tand\nline", "tab and line"),
        ("日本語のメモ", "日本語のメモ"),
        ("Идея 👩‍👩‍👧 семьи", "Идея 👩‍👩‍👧 семьи"),
        ("a\u202eb\u200bc", "abc"),
        ("100 %% sure", "100 % sure"),
    ],
)
def test_a_name_is_legal_and_keeps_its_words(title: str, name: str) -> None:
    assert safe_name(title) == name


@pytest.mark.parametrize("title", ["", "..", " . ", "***", "[]", "/", "\ud83d", "\u200d"])
def test_a_title_of_nothing_gets_the_fallback(title: str) -> None:
    assert safe_name(title, "Note") == "Note"


@given(ANY_TEXT)
@example("\u0344" * 200)
@example("e" + "\u0301" * 300)
@example("\U0001f1eb\U0001f1f7" * 100)
@example("- : -: - : .md. .md")
@example("CON" + " " * 200 + "x")
@example("a#\u0301b")
@example("nul" + "." * 130 + "x")
def test_any_title_becomes_a_name_for_every_system(title: str) -> None:
    name = safe_name(title)
    assert LEGAL.match(name), name
    assert len(name) <= 120
    assert len(name.encode()) <= 200
    assert name == unicodedata.normalize("NFC", name)
    assert name.split(".")[0].strip().lower() not in RESERVED
    assert not name.lower().endswith(".md")
    assert safe_name(name) == name


@given(st.text(st.sampled_from("👩‍é🇫🇷e\u0301日x "), max_size=300))
def test_a_cut_never_splits_a_character(title: str) -> None:
    whole = unicodedata.normalize("NFC", " ".join(title.split()))
    name = safe_name(title)
    rest = whole[len(name) :] if whole.startswith(name) else ""
    if len(whole) > len(name) and rest and len(name) > 60:
        assert not unicodedata.category(rest[0]).startswith("M")
        assert rest[0] != "\u200d"
        assert name[-1] != "\u200d"


def test_a_taken_path_gets_a_number() -> None:
    taken = {path_key(path) for path in ("Brain/SAME.md", "Brain/same 2.md", "e\u0301.md")}

    def is_taken(path: str) -> bool:
        return path_key(path) in taken

    assert free_path("Brain", "Same", is_taken) == "Brain/Same 3.md"
    assert free_path("", "\u00c9", is_taken) == "\u00c9 2.md"
    assert free_path("/Other/", "Same", is_taken) == "Other/Same.md"
