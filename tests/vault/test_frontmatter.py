"""Where frontmatter is and what its properties are, by Obsidian's rules."""

import json
import time

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.frontmatter import ObsidianHandler, Parts, read_properties, split

YAML_SHAPED = st.text(alphabet="ab:-#\n\r \t[]{}'\"&*!|>?,~%@é1.", max_size=60)


def joined(parts: Parts) -> bytes:
    return parts.bom + parts.opening + parts.yaml + parts.closing + parts.body


@given(st.binary(max_size=200))
def test_split_loses_no_byte(data: bytes) -> None:
    assert joined(split(data)) == data


@given(
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["---\n", "---  \r\n", "---\r", "----\n", "\n---\n"]),
    YAML_SHAPED,
    st.sampled_from(["---\n", "\n---", "\r\n--- \r\nbody", "...\n", ""]),
)
def test_split_loses_no_byte_of_something_like_frontmatter(
    bom: str, opening: str, block: str, rest: str
) -> None:
    data = (bom + opening + block + rest).encode()
    parts = split(data)
    assert joined(parts) == data
    if parts.opening:
        again = split(parts.opening + parts.yaml + parts.closing)
        assert again.yaml == parts.yaml


@pytest.mark.parametrize(
    ("text", "block", "body"),
    [
        ("---\ntags: a\n---\nbody\n", "tags: a\n", "body\n"),
        ("\ufeff---\ntags: a\n---\nbody\n", "tags: a\n", "body\n"),
        ("---  \r\ntags: a\r\n--- \t\r\nbody\r\n", "tags: a\r\n", "body\r\n"),
        ("---\rtags: a\r---\rbody", "tags: a\r", "body"),
        ("---\ntags: a\n---", "tags: a\n", ""),
        ("---\n\ntags: a\n---\n\n\nbody", "\ntags: a\n", "\n\nbody"),
        ("---\na: |\n  ---\n---\nbody", "a: |\n  ---\n", "body"),
        ('---\n{\n\t"tags": ["a"]\n}\n---\nx', '{\n\t"tags": ["a"]\n}\n', "x"),
        ('---\n"a: b": 1\n---\nx', '"a: b": 1\n', "x"),
        ("---\ntitle: a: b\n---\nx", "title: a: b\n", "x"),
        ("---\ntitle: a: b\n----\n---\nx", "title: a: b\n----\n", "x"),
        ("---\n# only a comment\n---\nx", "# only a comment\n", "x"),
    ],
)
def test_frontmatter_is_found(text: str, block: str, body: str) -> None:
    parts = split(text.encode())
    assert (parts.yaml.decode(), parts.body.decode()) == (block, body)
    assert parts.opening.startswith(b"---")
    assert parts.closing.startswith(b"---")


def test_an_empty_block_is_frontmatter() -> None:
    parts = split(b"---\n---\nbody")
    assert (parts.opening, parts.yaml, parts.closing) == (b"---\n", b"", b"---\n")


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nParagraph between two rules, remember the #brain tag.\n\n---\n\nSecond part.\n",
        "---\nOnly a line of prose\n---\nBody #brain\n",
        "---\n- a\n- list\n---\nbody",
        "---\n- [ ] task: with: colons\n---\nbody",
        "---\nDear all,\nReminder: the meeting\n---\nbody",
        "\n---\ntags: a\n---\n",
        " ---\ntags: a\n---\n",
        "----\ntags: a\n----\n",
        "---\ntags: a\n...\nbody",
        "---\ntags: a\n ---\nbody",
        "---",
        "---\n",
        "",
        "+++\na = 1\n+++\n",
    ],
)
def test_what_is_no_frontmatter_is_body(text: str) -> None:
    parts = split(text.encode())
    assert (parts.opening, parts.yaml, parts.closing) == (b"", b"", b"")
    assert parts.body == text.encode()


@pytest.mark.parametrize(
    ("text", "unclosed"),
    [("---\ntags: a\n", True), ("---\ntags: a\n---\n", False), ("text\n---\n", False)],
)
def test_a_missing_closing_fence_is_told(text: str, unclosed: bool) -> None:
    assert split(text.encode()).unclosed is unclosed


@pytest.mark.parametrize(
    ("data", "eol"),
    [(b"---\r\na: 1\n---\n", b"\r\n"), (b"a\nb\r\n", b"\n"), (b"one", b"\n"), (b"a\rb", b"\r")],
)
def test_the_line_ending_is_that_of_the_first_line(data: bytes, eol: bytes) -> None:
    assert split(data).eol == eol


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("10:00", "10:00"),
        ("01234", "01234"),
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("1_000", "1_000"),
        ("2026-03-16", "2026-03-16"),
        ("2026-03-16T20:00:00-04:00", "2026-03-16T20:00:00-04:00"),
        ("12", 12),
        ("-3", -3),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("12345678901234567890", "12345678901234567890"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!binary aGk=", "aGk="),
        ("!custom x", "x"),
        ("[[Home]]", "[[Home]]"),
        ("[[Work|w]]", "[[Work|w]]"),
        ("[[Été#Part]]", "[[Été#Part]]"),
        ("[ [[Work]], [[Biases, Two]] ]", ["[[Work]]", "[[Biases, Two]]"]),
        ("[[1, 2], [3]]", [[1, 2], [3]]),
        ("{{date:YYYY-MM-DD}}", "{{date:YYYY-MM-DD}}"),
        ("{a: 1, 2: b}", {"a": 1, "2": "b"}),
        ("|-\n  two\n  lines", "two\nlines"),
    ],
)
def test_values_are_typed_as_obsidian_does(yaml: str, value: object) -> None:
    properties, problems = read_properties(f"k: {yaml}\n")
    assert problems == ()
    assert properties == {"k": value}
    assert type(properties["k"]) is type(value)


def test_keys_are_text_and_keep_their_order() -> None:
    properties, _ = read_properties("zeta: 1\n12: 2\ntrue: 3\nalpha: 4\n")
    assert list(properties) == ["zeta", "12", "true", "alpha"]


def test_aliases_are_resolved_and_merge_keys_are_not_special() -> None:
    properties, _ = read_properties("a: &x [1]\nb: *x\nc:\n  <<: {d: 1}\n")
    assert properties == {"a": [1], "b": [1], "c": {"<<": {"d": 1}}}


def test_a_duplicate_key_is_a_problem_and_the_first_value_counts() -> None:
    properties, problems = read_properties("a: 1\nb: 2\na: 3\n")
    assert properties == {"a": 1, "b": 2}
    assert len(problems) == 1
    assert '"a"' in problems[0]


@pytest.mark.parametrize("text", ["", "\n", "# comment\n", "~", "null\n"])
def test_an_empty_block_has_no_properties_and_no_problem(text: str) -> None:
    assert read_properties(text) == ({}, ())


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (
            "title: Harbour: phase two\ntags:\n  - brain\n",
            2,
            {"title": "Harbour: phase two", "tags": ["brain"]},
        ),
        ("up: [[A]], [[B]]\nok: 1\n", 2, {"up": "[[A]], [[B]]", "ok": 1}),
        ("at: @home\ntags: [a, 'b'\nz: q\n", 2, {"at": "@home", "tags": ["a", "b"], "z": "q"}),
        ("ok: 1\ntags:\n- a\n- #x\n-\n- @b\n", 7, {"ok": 1, "tags": ["a", "@b"]}),
        ("a: b\n\tc: d\ne: 'f'\n", 3, {"a": "b", "e": "f"}),
    ],
)
def test_invalid_yaml_is_reported_with_its_line_and_read_as_far_as_possible(
    text: str, line: int, expected: dict[str, object]
) -> None:
    properties, problems = read_properties(text)
    assert properties == expected
    assert f"line {line}," in problems[0]


def test_an_alias_bomb_is_bounded() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    begun = time.monotonic()
    properties, problems = read_properties(bomb)
    assert time.monotonic() - begun < 2
    assert problems
    assert len(json.dumps(properties)) < 500_000


@pytest.mark.parametrize("text", ["a: &x [*x]\n", "a: &x {b: *x}\n", "a: " + "[" * 900 + "]" * 900])
def test_endless_or_deep_nesting_is_cut_with_a_problem(text: str) -> None:
    properties, problems = read_properties(text)
    assert problems
    json.dumps(properties)


@given(st.one_of(st.text(max_size=80), YAML_SHAPED))
def test_whatever_the_text_the_properties_are_strict_json(text: str) -> None:
    properties, _ = read_properties(text)
    assert json.loads(json.dumps(properties, allow_nan=False)) == properties


def test_python_frontmatter_reads_our_way_through_the_handler() -> None:
    handler = ObsidianHandler()
    post = frontmatter.loads("---\nstart: 10:00\ncountry: no\n---\nBody", handler=handler)
    assert post.metadata == {"start": "10:00", "country": "no"}
    assert post.content == "Body"
    assert handler.problems == ()


def test_python_frontmatter_keeps_text_between_rules_through_the_handler() -> None:
    text = "---\n\nPara\n\n---\n\nmore"
    metadata, content = frontmatter.parse(text, handler=ObsidianHandler())
    assert (metadata, content) == ({}, text)


def test_the_handler_tells_what_was_wrong() -> None:
    handler = ObsidianHandler()
    metadata, _ = frontmatter.parse("---\na: 1\na: 2\n---\n", handler=handler)
    assert metadata == {"a": 1}
    assert handler.problems
