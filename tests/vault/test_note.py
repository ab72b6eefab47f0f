"""A whole note: what is read, what is a problem, and our own properties."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.model import Heading, Link, Note
from second_brain.vault.note import (
    is_binary,
    note_created,
    note_id,
    note_source,
    opted_out,
    parse_note,
)


def note(yaml: str, body: str = "") -> Note:
    return parse_note("n.md", f"---\n{yaml}\n---\n{body}".encode())


def test_a_note_is_read_whole() -> None:
    text = (
        "\ufeff---\r\ntags: [brain]\r\naliases: [Mast]\r\nsupersedes: '[[Old]]'\r\n---\r\n"
        "\r\n# Boat #plan\r\n\r\nSee [[Harbour]].\r\n\r\n"
    )
    assert parse_note("Projects/Boat plan.md", text.encode()) == Note(
        path="Projects/Boat plan.md",
        title="Boat plan",
        body="\r\n# Boat #plan\r\n\r\nSee [[Harbour]].\r\n\r\n",
        properties={"tags": ["brain"], "aliases": ["Mast"], "supersedes": "[[Old]]"},
        tags=("brain", "plan"),
        aliases=("Mast",),
        links=(Link("Old", type="supersedes", property="supersedes"), Link("Harbour")),
        headings=(Heading(1, "Boat #plan", 2),),
    )


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/b/Note.md", "Note"), ("Note.MD", "Note"), ("v1.2.md", "v1.2"), ("日本.md", "日本")],
)
def test_the_title_is_the_file_name(path: str, title: str) -> None:
    assert parse_note(path, b"# Something else").title == title


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n\n", b"no final newline"])
def test_small_notes_have_no_problem(data: bytes) -> None:
    read = parse_note("n.md", data)
    assert read.problems == ()
    assert read.body == data.decode("utf-8-sig")


def test_text_between_two_rules_is_not_lost() -> None:
    text = "---\n\nParagraph, remember the #brain tag.\n\n---\n\nSecond part.\n"
    read = parse_note("n.md", text.encode())
    assert read.body == text
    assert read.tags == ("brain",)
    assert read.problems == ()


@pytest.mark.parametrize("data", [b"text\x00more", "# émoi".encode("utf-16"), b"\xff\xfe#\x00"])
def test_what_is_no_text_is_told_and_not_read(data: bytes) -> None:
    read = parse_note("n.md", data)
    assert is_binary(read)
    assert read.body == ""
    assert len(read.problems) == 1


def test_a_byte_that_is_not_utf8_is_told_with_its_line() -> None:
    read = parse_note("n.md", b"---\ntags: [memory]\n---\ncaf\xe9 end\n")
    assert read.tags == ("memory",)
    assert read.body == "caf\ufffd end\n"
    assert "line 4" in read.problems[0]
    assert not is_binary(read)


def test_a_bad_byte_among_the_properties_is_told() -> None:
    read = parse_note("n.md", b"---\ntitle: caf\xe9\ntags: [brain]\n---\nx")
    assert (read.tags, read.body) == (("brain",), "x")
    assert "line 2" in read.problems[0]


def test_broken_yaml_is_told_and_the_rest_is_read() -> None:
    read = note("title: Harbour: phase two\ntags:\n  - brain", "The crane #arrives.")
    assert "line 2" in read.problems[0]
    assert read.tags == ("brain", "arrives")


@pytest.mark.parametrize(
    ("text", "told"), [("---\ntags: [a]\nbody", True), ("---\n\nA rule, then prose.\n", False)]
)
def test_a_block_without_end_is_told_where_it_was_meant_as_one(text: str, told: bool) -> None:
    read = parse_note("n.md", text.encode())
    assert read.body == text
    assert bool(read.problems) is told


def test_a_huge_note_is_kept_whole_but_read_in_part() -> None:
    text = "#first\n" + "word " * 200_000 + "\n#last\n"
    read = parse_note("n.md", text.encode())
    assert read.body == text
    assert read.tags == ("first",)
    assert len(read.problems) == 1


@given(st.binary(max_size=300))
def test_no_bytes_make_parsing_fail(data: bytes) -> None:
    read = parse_note("n.md", data)
    json.dumps(dict(read.properties), allow_nan=False)
    if not read.problems:
        assert data.decode().endswith(read.body)


@given(st.text(alphabet="-\n\r: ab#[]|`%$<>{}\"'&*!\\(/)é~", max_size=120))
def test_no_markup_makes_parsing_fail(text: str) -> None:
    data = text.encode()
    read = parse_note("n.md", b"---\n" + data)
    again = parse_note("n.md", b"---\n" + data)
    assert read == again
    assert ("---\n" + text).endswith(read.body)


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: [A, B]", ("A", "B")),
        ("aliases: A", ("A",)),
        ("Alias: A, B", ("A", "B")),
        ("aliases:\n- 1984\n-\n- true\n- A\n- A", ("1984", "A")),
        ("aliases:", ()),
        ("aliases: {a: b}", ()),
    ],
)
def test_aliases(yaml: str, aliases: tuple[str, ...]) -> None:
    assert note(yaml).aliases == aliases


def test_our_properties_are_read_without_case() -> None:
    read = note(
        "Second-Brain-ID: m-1\nsecond-brain-source: claude\n"
        "second-brain-related: ['[[Other]]']\nup: '[[Home]]'"
    )
    assert note_id(read) == "m-1"
    assert note_source(read) == "claude"
    assert [link.target for link in read.links if link.provenance == "inferred"] == ["Other"]


@pytest.mark.parametrize(
    "yaml",
    [
        "x: 1",
        "second-brain-id:\nsecond-brain-source: ''",
        "second-brain-id: [a]\nsecond-brain-source: true",
    ],
)
def test_our_properties_with_other_values_say_nothing(yaml: str) -> None:
    read = note(yaml)
    assert note_id(read) is None
    assert note_source(read) is None


def test_a_number_may_be_an_id() -> None:
    assert note_id(note("second-brain-id: 77")) == "77"


ZONE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-16", datetime(2026, 3, 16, tzinfo=ZONE)),
        ("2026-03-16T10:30:00", datetime(2026, 3, 16, 10, 30, tzinfo=ZONE)),
        ("2026-03-16 10:30", datetime(2026, 3, 16, 10, 30, tzinfo=ZONE)),
        ("2026-03-16T10:30:00Z", datetime(2026, 3, 16, 10, 30, tzinfo=UTC)),
        ("2026-03-16T20:00:00-04:00", datetime(2026, 3, 17, tzinfo=UTC)),
        ("'[[2026-03-16]]'", datetime(2026, 3, 16, tzinfo=ZONE)),
        ("[[2026-03-16|today]]", datetime(2026, 3, 16, tzinfo=ZONE)),
        ("yesterday", None),
        ("2026-13-40", None),
        ("0001-01-01", None),
        ("{{date}}", None),
        ("", None),
        ("true", None),
    ],
)
def test_created(value: str, moment: datetime | None) -> None:
    read = note_created(note(f"created: {value}"), ZONE)
    assert read == moment
    assert read is None or read.tzinfo is not None


def test_created_without_offset_is_in_the_machines_zone() -> None:
    read = note_created(note("created: 2026-03-16T10:30:00"))
    assert read == datetime(2026, 3, 16, 10, 30).astimezone()


@pytest.mark.parametrize(
    ("yaml", "out"),
    [
        ("second-brain: false", True),
        ("Second-Brain: False", True),
        ("second-brain: 'false'", True),
        ("second-brain: NO", True),
        ("second-brain: true", False),
        ("second-brain:", False),
        ("second-brain: 0", False),
        ("second-brain: [false]", False),
        ("x: 1", False),
    ],
)
def test_opting_out(yaml: str, out: bool) -> None:
    assert opted_out(note(yaml)) is out
