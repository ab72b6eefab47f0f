import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from second_brain.index import chunk as chunking
from second_brain.index.chunk import Chunk, chunks, embedded_text, key, left_out
from second_brain.vault.model import Heading


def headings_of(body: str) -> list[Heading]:
    return [
        Heading(len(m.group(1)), m.group(2).strip(), m.start())
        for m in re.finditer(r"^(#{1,6}) (.*)$", body, re.M)
    ]


def cut(body: str, **options: int) -> list[Chunk]:
    return chunks("Title", body, headings_of(body), **options)


PROSE = "The quick brown fox jumps over the lazy dog. " * 20

TEXTS = st.lists(
    st.sampled_from(
        [
            "# One\n",
            "## Two\n",
            "### Three\r\n",
            "\n\n",
            "\r\n\r\n",
            "   ",
            "word ",
            "A sentence ends. ",
            "été, œuvre! ",
            "漢字かな交じり文。",
            "👩‍👩‍👧‍👦",
            "e\u0301",
            "🇫🇷🇬🇧",
            "x" * 70,
            PROSE[:200],
            "\ud83d",
        ]
    )
    | st.text(max_size=20),
    max_size=60,
).map("".join)


@examples(300)
@given(TEXTS, st.integers(2, 300), st.integers(0, 150))
def test_chunks_are_slices_that_cover_all_ink(body: str, max_chars: int, overlap: int) -> None:
    overlap = min(overlap, max_chars // 2)
    found = cut(body, max_chars=max_chars, overlap=overlap)

    covered = [False] * len(body)
    for number, chunk in enumerate(found):
        assert chunk.ordinal == number
        assert chunk.text == body[chunk.start : chunk.end]
        assert len(chunk.text) <= max_chars
        assert chunk.text == chunk.text.strip()
        covered[chunk.start : chunk.end] = [True] * (chunk.end - chunk.start)
    if len(found) < chunking.MAX_CHUNKS:
        assert all(done or char.isspace() for done, char in zip(covered, body, strict=True))
        assert left_out(body, found) == 0
    assert [c.start for c in found] == sorted({c.start for c in found})
    assert found


def test_a_section_is_a_chunk_under_its_path_of_headings() -> None:
    body = f"# A\n{PROSE[:300]}\n## B\n{PROSE[:300]}\n### C\n{PROSE[:300]}\n## D\n{PROSE[:300]}\n"
    assert [c.heading for c in cut(body)] == ["A", "A > B", "A > B > C", "A > D"]


def test_tiny_sections_join_the_next_of_the_same_parent_and_say_only_what_is_true() -> None:
    body = f"# A\n{PROSE[:300]}\n## B\nshort\n## C\nalso short\n# D\n{PROSE[:300]}"
    found = cut(body)
    assert [c.heading for c in found] == ["A", "A", "D"]
    assert "short" in found[1].text
    assert "also short" in found[1].text


def test_a_heading_without_text_goes_with_its_first_subsection() -> None:
    body = f"# A\n\n## B\n{PROSE}{PROSE}"
    found = cut(body)
    assert found[0].text.startswith("# A")
    assert {c.heading for c in found} == {"A > B"}


def test_long_sections_are_cut_at_paragraphs_then_sentences_then_words() -> None:
    paragraphs = "\n\n".join([PROSE.strip()] * 5)
    assert all(c.text.endswith("dog.") for c in cut(paragraphs))
    for chunk in cut(PROSE * 5, overlap=0):
        assert chunk.text.startswith("The quick")
        assert chunk.text.endswith("dog.")
    words = "word " * 1000
    assert all(re.fullmatch(r"(word ?)+", c.text) for c in cut(words))


@given(st.integers(801, 6_000))
def test_what_is_a_little_too_long_leaves_no_scrap(length: int) -> None:
    body = ("The harbour opens. " * 400)[:length].rstrip()
    cut = chunks("", body, (), max_chars=800, overlap=100)
    sizes = [chunk.end - chunk.start for chunk in cut]
    assert max(sizes) <= 800
    assert len(sizes) == 1 or min(sizes) >= 300


def test_overlap_begins_at_a_sentence() -> None:
    found = cut(PROSE * 5)
    assert len(found) > 2
    for left, right in pairwise(found):
        assert 0 < left.end - right.start <= 200
        assert right.text.startswith("The quick")


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "e\u0301\u0302", "🇫🇷", "👍🏽", "हि"])
def test_visible_characters_are_not_split(cluster: str) -> None:
    for shift in range(8):
        body = "x" * shift + cluster * 60
        for chunk in cut(body, max_chars=40, overlap=10):
            rest = chunk.text.lstrip("x").replace(cluster, "")
            assert rest == ""


def test_a_blank_body_is_found_by_its_title_alone() -> None:
    assert chunks("Shopping", " \r\n\n", []) == [Chunk(0, "", "", 0, 0)]
    assert chunks("  ", "", []) == []
    assert embedded_text("Shopping", Chunk(0, "", "", 0, 0)) == "Shopping"


def test_chunks_of_one_note_are_bounded_and_the_rest_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunking, "MAX_CHUNKS", 3)
    body = PROSE * 20
    found = cut(body)
    assert len(found) == 3
    assert left_out(body, found) == len(body[found[-1].end :].strip()) > 0


def test_a_note_of_many_megabytes_is_cut_in_time() -> None:
    body = "# Log\n" + "x" * 20_000_000
    found = cut(body)
    assert len(found) == chunking.MAX_CHUNKS
    assert left_out(body, found) > 0


@pytest.mark.parametrize(("max_chars", "overlap"), [(100, 51), (1, 0), (100, -1)])
def test_impossible_sizes_are_refused(max_chars: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        cut("text", max_chars=max_chars, overlap=overlap)


def test_a_title_taken_from_the_text_is_said_once() -> None:
    said = Chunk(0, "**Salomé** has the keys: ask her.", "", 0, 0)
    assert embedded_text("Salomé has the keys", said) == said.text
    assert embedded_text("Salome - has the keys", said) == f"Salome - has the keys\n{said.text}"
    assert embedded_text("Sal", said) == f"Sal\n{said.text}"
    later = Chunk(1, "Salomé has the keys", "Keys", 0, 0)
    assert embedded_text("Salomé", later) == "Salomé > Keys\nSalomé has the keys"


def test_embedded_text_says_each_name_once() -> None:
    chunk = Chunk(0, "## Budget\nFive euros.", "Plan > Budget", 0, 0)
    assert embedded_text("Plan", chunk) == "Plan > Budget\nFive euros."
    assert embedded_text("plan", Chunk(0, "Text", "", 0, 0)) == "plan\nText"
    assert embedded_text("", Chunk(0, "Text", "", 0, 0)) == "Text"


def test_keys_differ_by_model_and_text_and_by_nothing_else() -> None:
    assert key("m1", "text") == key("m1", "text")
    assert len({key("m1", "text"), key("m2", "text"), key("m1", "texts"), key("m1t", "ext")}) == 4
    assert re.fullmatch(r"[0-9a-f]{32}", key("m", "\ud800"))
