"""Obsidian's tag grammar."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.model import PropertyValue
from second_brain.vault.note import parse_note
from second_brain.vault.tags import (
    clean_tag,
    fold,
    inline_tags,
    property_tags,
    unique,
    with_parents,
)


def tags_of(text: str) -> tuple[str, ...]:
    return parse_note("n.md", text.encode()).tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "#brain #1990s #2024-goals #café #日本語 #✅done #a/b/c #1984"
            " #Memory, (#paren) #dot.cut",
            ("brain", "1990s", "2024-goals", "café", "日本語", "✅done", "a/b/c", "Memory", "dot"),
        ),
        ("a\t#tab\n#line", ("tab", "line")),
        ("x#a (#a) **#a** |#a| /#a", ()),
        ("#y1984 #1984", ("y1984",)),
        ("#a\u200db #c\u203cd", ("a", "c")),
        ("#under_score #kebab-case #camelCase", ("under_score", "kebab-case", "camelCase")),
        ("#trailing/ #/lead #a//b #/", ("trailing", "lead", "a/b")),
        ("# Heading", ()),
        ("## Head #tag", ("tag",)),
        ("#", ()),
        ("##a", ()),
        ("- #in-list\n- [ ] #task do\n> #quote", ("in-list", "task", "quote")),
        ("#1a1a2e", ("1a1a2e",)),
        ("`#no` ``#no``", ()),
        ("```\n#no\n```\n\n    #no\n", ()),
        ("[[N#no]] [[No #no]] ![[N#no|x #no]]", ()),
        ("[t](N.md#no) [see #no](N.md) [#no](https://e.org)", ()),
        ("https://e.org/#no <https://e.org/ #yes>", ("yes",)),
        ("\\#no", ()),
        ("%% #no %% <!-- #no --> $#no$", ()),
        ("<b title='a #no'>#no</b> #yes", ("yes",)),
        ("`code` #yes, `code`#no", ("yes",)),
        ("#Tag #tag #TAG #t", ("Tag", "t")),
        ("#line\r\n#two\r#three", ("line", "two", "three")),
    ],
)
def test_inline_tags(text: str, tags: tuple[str, ...]) -> None:
    assert tags_of(text) == tags


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags:\n  - brain\n  - a/b", ("brain", "a/b")),
        ("tags: [brain, boat]", ("brain", "boat")),
        ("tags: brain, boat", ("brain", "boat")),
        ("tags: brain boat", ("brain", "boat")),
        ("tags: brain", ("brain",)),
        ("tag: brain", ("brain",)),
        ("TAGS: brain\nTag: boat", ("brain", "boat")),
        ("tags: '#brain #boat'", ("brain", "boat")),
        ('tags: ["#brain", "a, b"]', ("brain", "a", "b")),
        ("tags:\n- #brain\n-\n- boat", ("boat",)),
        ("tags:", ()),
        ("tags: 2023", ()),
        ("tags: ['2023', 123, true, 1.5, brain, 2024-01-05]", ("brain", "2024-01-05")),
        ("tags:\n- brain: yes\n- [a, b]\n- boat", ("boat",)),
        ("tags: {brain: 1}", ()),
        ("tags: [[brain]]", ()),
        ('tags: ["two words", dot.cut, C++]', ("two-words", "dot-cut", "C")),
        ("tags: [Work, work]", ("Work",)),
        ("summary: 'a #no'", ()),
    ],
)
def test_property_tags(yaml: str, tags: tuple[str, ...]) -> None:
    assert tags_of(f"---\n{yaml}\n---\n") == tags


def test_property_and_inline_tags_are_one_set() -> None:
    assert tags_of("---\ntags: [Brain]\n---\n#brain #boat") == ("Brain", "boat")


def test_the_same_letters_in_another_unicode_form_are_one_tag() -> None:
    nfc, nfd = "café", unicodedata.normalize("NFD", "café")
    assert fold(nfc) == fold(nfd.upper())
    assert unique([nfd, nfc]) == (nfd,)


def test_nested_tags_have_parents() -> None:
    assert with_parents("a/b/c") == ["a", "a/b", "a/b/c"]
    assert with_parents("a") == ["a"]


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("two words", "two-words"),
        ("#topic", "topic"),
        ("  a / b ", "a/b"),
        ("a//b/", "a/b"),
        ("v1.2", "v1-2"),
        ("2024", ""),
        ("  ", ""),
        ("#", ""),
        ("Été", "Été"),
    ],
)
def test_clean_tag(text: str, tag: str) -> None:
    assert clean_tag(text) == tag


@given(st.text(max_size=40))
def test_a_cleaned_tag_is_read_back_as_that_tag(text: str) -> None:
    tag = clean_tag(text)
    if tag:
        assert inline_tags(f"#{tag}") == [tag]
        assert clean_tag(tag) == tag


values: st.SearchStrategy[PropertyValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_any_value_of_tags_is_survived(value: PropertyValue) -> None:
    for tag in property_tags({"tags": value}):
        assert inline_tags(f"#{tag}") == [tag]
