"""Reading links, and finding the notes they point at."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault.links import Resolver, key, property_links
from second_brain.vault.model import Link
from second_brain.vault.note import parse_note


def links_of(text: str) -> list[Link]:
    return list(parse_note("n.md", text.encode()).links)


def md(target: str, heading: str | None = None, alias: str | None = "t") -> Link:
    return Link(target, heading, alias, markdown=True)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[N]]", Link("N")),
        ("[[N.md]]", Link("N.md")),
        ("[[f/N]]", Link("f/N")),
        ("[[/f/N]]", Link("/f/N")),
        ("[[../N]]", Link("../N")),
        ("[[N|text]]", Link("N", alias="text")),
        ("[[N|a|b]]", Link("N", alias="a|b")),
        ("[[ N | text ]]", Link("N", alias="text")),
        ("[[N#H]]", Link("N", "H")),
        ("[[N#H1#H2|x]]", Link("N", "H1#H2", "x")),
        ("[[N#^id]]", Link("N", "^id")),
        ("[[#H]]", Link("", "H")),
        ("[[#^id]]", Link("", "^id")),
        ("![[N]]", Link("N", embed=True)),
        ("![[N#H]]", Link("N", "H", embed=True)),
        ("[[_x_ *y*]]", Link("_x_ *y*")),
        ("[[Node.js]]", Link("Node.js")),
        ("[[Été 🚀]]", Link("Été 🚀")),
        ("| [[N\\|t]] | b |\n|---|---|", Link("N", alias="t")),
        ("| [[N#H\\|t]] | b |\n|---|---|", Link("N", "H", "t")),
        ("[t](N.md)", md("N.md")),
        ("[t](N)", md("N")),
        ("[t](My%20Note.md#My%20H)", md("My Note.md", "My H")),
        ("[t](<../My Note.md>)", md("../My Note.md")),
        ("[t](../Caf%C3%A9.md#H)", md("../Café.md", "H")),
        ("[t](/x/Deep.md)", md("/x/Deep.md")),
        ('[t](N.md "title")', md("N.md")),
        ("[t](N_(draft).md)", md("N_(draft).md")),
        ("[t](#H)", md("", "H")),
        ("[a [b] c](N.md)", md("N.md", alias="a [b] c")),
        ("[`code`](N.md)", md("N.md", alias="`code`")),
        ("[](N.md)", md("N.md", alias=None)),
        ("![t](N.md)", Link("N.md", alias="t", embed=True, markdown=True)),
        ("[t](100%.md)", md("100%.md")),
        ("[t](%ff.md)", md("\ufffd.md")),
        ("[^1]: [[N]]", Link("N")),
        ("# About [[N]]", Link("N")),
    ],
)
def test_a_link_is_read(text: str, link: Link) -> None:
    assert links_of(text) == [link]


@pytest.mark.parametrize(
    "text",
    [
        "[t](https://e.org/N.md)",
        "[t](obsidian://open?file=N)",
        "[t](mailto:a@b.c)",
        "[t](//e.org/N.md)",
        "[f](My Note.md)",
        "![[i.png|100]]",
        "![t](i.JPG)",
        "[[x.canvas]] [[x.base]] [[x.pdf#page=2]]",
        "[[]] [[ ]] [[|a]]",
        "[[a\nb]]",
        "`[[N]]` ``[[N]]``",
        "```\n[[N]]\n```\n\n    [[N]]\n",
        "%% [[N]] %%",
        "<!-- [[N]] -->",
        "$[[N]]$",
        "\\[[N]]",
        "[ ] (N.md)",
        "[[N]",
    ],
)
def test_what_is_no_link_to_a_note(text: str) -> None:
    assert links_of(text) == []


def test_links_come_once_and_in_order() -> None:
    assert [link.target for link in links_of("[a](A.md) [[B]] [a](A.md) [[C]] [[B]]")] == [
        "A.md",
        "B",
        "C",
    ]


@pytest.mark.parametrize(
    ("yaml", "link"),
    [
        ('up: "[[Home]]"', Link("Home", property="up")),
        ("up: [[Home]]", Link("Home", property="up")),
        ("up:\n- [[Home]]", Link("Home", property="up")),
        ('up: "see [[Home#H|h]] there"', Link("Home", "H", "h", property="up")),
        ('up: "[h](My%20Home.md)"', Link("My Home.md", None, "h", markdown=True, property="up")),
        ("deep: {a: {b: '[[Home]]'}}", Link("Home", property="deep")),
        ("supersedes: ['[[Old]]']", Link("Old", type="supersedes", property="supersedes")),
        ("Caused By: '[[Old]]'", Link("Old", type="caused_by", property="Caused By")),
        ("relates_to: '[[Old]]'", Link("Old", property="relates_to")),
        (
            "second-brain-related: ['[[Old]]']",
            Link("Old", property="second-brain-related", provenance="inferred"),
        ),
    ],
)
def test_a_property_link_is_read(yaml: str, link: Link) -> None:
    assert links_of(f"---\n{yaml}\n---\n") == [link]


def test_several_unquoted_links_in_a_property() -> None:
    text = '---\nchild: [ [[Work]], [[Biases Two]] ]\nup: [[Home]]\nok: "[[Work|w]]"\n---\n'
    assert [(link.target, link.property) for link in links_of(text)] == [
        ("Work", "child"),
        ("Biases Two", "child"),
        ("Home", "up"),
        ("Work", "ok"),
    ]


def test_links_of_a_broken_block_are_read() -> None:
    assert [link.target for link in links_of("---\nup: [[A]], [[B]]\n---\n")] == ["A", "B"]


def test_the_relation_types_are_the_callers() -> None:
    links = property_links({"blocks": "[[N]]"}, frozenset({"blocks"}))
    assert links == [Link("N", type="blocks", property="blocks")]
    assert property_links({"supersedes": "[[N]]"}, frozenset())[0].type == "relates_to"


@given(st.text(alphabet="ab[]()|#!\\%<> \n/.^$`", max_size=60))
def test_any_text_of_brackets_is_survived(text: str) -> None:
    for link in links_of(text):
        assert link.target or link.heading


VAULT = [
    "Twin.md",
    "b/Twin.md",
    "a/MyNote.md",
    "b/Other.md",
    "b/c/Deep.md",
    "z/c/Deep.md",
    "z/Deep.md",
    "Café.md",
    "x/My Note.md",
    "only/here/Leaf.md",
    "dots/v1.2.md",
]


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("mynote", "b/Other.md", "a/MyNote.md"),
        ("A/mynote", "b/Other.md", "a/MyNote.md"),
        ("Mynote.md", "b/Other.md", "a/MyNote.md"),
        ("missing", "b/Other.md", None),
        ("b/Twin", "c/See.md", "b/Twin.md"),
        ("Twin", "c/See.md", "Twin.md"),
        ("Twin", "b/Other.md", "Twin.md"),
        ("./Twin", "b/Other.md", "b/Twin.md"),
        ("../Twin", "b/Other.md", "Twin.md"),
        ("/Twin", "b/Other.md", "Twin.md"),
        ("/Other", "b/Other.md", None),
        ("../../Twin", "b/Other.md", None),
        ("c/Deep", "b/Other.md", "b/c/Deep.md"),
        ("c/Deep", "Twin.md", "b/c/Deep.md"),
        ("Deep", "z/x.md", "z/Deep.md"),
        ("Deep", "z/c/x.md", "z/c/Deep.md"),
        ("Deep", "Twin.md", "z/Deep.md"),
        ("here/leaf", "Twin.md", "only/here/Leaf.md"),
        ("ere/leaf", "Twin.md", None),
        ("v1.2", "Twin.md", "dots/v1.2.md"),
        ("CAFÉ", "b/Other.md", "Café.md"),
        (unicodedata.normalize("NFD", "Café"), "b/Other.md", "Café.md"),
        ("", "b/Other.md", "b/Other.md"),
        ("..", "b/Other.md", None),
    ],
)
def test_a_wiki_link_resolves(target: str, source: str, path: str | None) -> None:
    assert Resolver(VAULT).resolve(Link(target), source) == path


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Twin.md", "b/Other.md", "b/Twin.md"),
        ("../Twin.md", "b/Other.md", "Twin.md"),
        ("Twin.md", "z/x.md", "Twin.md"),
        ("/b/Twin.md", "z/x.md", "b/Twin.md"),
        ("My Note.md", "x/From.md", "x/My Note.md"),
        ("MyNote", "b/Other.md", "a/MyNote.md"),
    ],
)
def test_a_markdown_link_resolves_from_its_note_first(target: str, source: str, path: str) -> None:
    assert Resolver(VAULT).resolve(Link(target, markdown=True), source) == path


def test_paths_come_and_go() -> None:
    resolver = Resolver()
    link = Link("Note")
    assert resolver.resolve(link, "x.md") is None
    resolver.add("deep/down/Note.md")
    resolver.add("deep/Note.md")
    assert resolver.resolve(link, "x.md") == "deep/Note.md"
    assert "deep/Note.md" in resolver
    resolver.remove("deep/Note.md")
    resolver.remove("deep/Note.md")
    assert "deep/Note.md" not in resolver
    assert resolver.resolve(link, "x.md") == "deep/down/Note.md"
    resolver.remove("deep/down/Note.md")
    assert resolver.resolve(link, "x.md") is None


def test_two_files_that_differ_in_case_only_keep_apart() -> None:
    resolver = Resolver(["a.md", "A.md"])
    assert resolver.resolve(Link("a"), "x.md") == "a.md"
    assert resolver.resolve(Link("A"), "x.md") == "A.md"
    resolver.remove("A.md")
    assert resolver.resolve(Link("A"), "x.md") == "a.md"


@pytest.mark.parametrize(
    ("target", "path"), [("mynote", "a/MyNote.md"), ("x/MYNOTE.md", "MyNote.md"), ("é/", "É.md")]
)
def test_the_key_of_a_link_is_that_of_the_paths_it_may_mean(target: str, path: str) -> None:
    assert key(target) == key(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a/MyNote.md", "MyNote"),
        ("Twin.md", "Twin"),
        ("b/Twin.md", "b/Twin"),
        ("z/c/Deep.md", "z/c/Deep"),
        ("x/My Note.md", "My Note"),
        ("dots/v1.2.md", "v1.2"),
        ("Café.md", "Café"),
    ],
)
def test_link_text_is_the_shortest_that_is_not_ambiguous(path: str, text: str) -> None:
    assert Resolver(VAULT).link_text(path) == text


@pytest.mark.parametrize("name", ["a#b", "a^b", "a|b", "a[b", "a]b", "a:b", "a%%b", " a"])
def test_a_name_that_breaks_links_has_no_link_text(name: str) -> None:
    assert Resolver([f"{name}.md"]).link_text(f"{name}.md") is None


def test_a_note_named_like_an_image_is_linked_with_its_extension() -> None:
    assert Resolver(["i.png.md"]).link_text("i.png.md") == "i.png.md"


NAMES = st.lists(
    st.text(alphabet="aAbÉé./ .md#[", min_size=1, max_size=6), min_size=1, max_size=3
).map(lambda parts: "/".join(p.replace("/", "").strip(".") or "x" for p in parts) + ".md")


@given(st.sets(NAMES, max_size=8), NAMES)
def test_link_text_leads_back_to_the_note_from_anywhere(paths: set[str], source: str) -> None:
    resolver = Resolver(paths)
    for path in paths:
        text = resolver.link_text(path)
        if text is not None:
            (link,) = links_of(f"[[{text}]]")
            assert resolver.resolve(link, source) == path


@given(st.lists(NAMES, max_size=12), st.lists(NAMES, max_size=4), NAMES)
def test_a_resolver_that_was_changed_equals_a_new_one(
    added: list[str], removed: list[str], target: str
) -> None:
    resolver = Resolver(added + removed)
    for path in removed:
        resolver.remove(path)
    fresh = Resolver(path for path in added if path not in removed)
    for link in (Link(target), Link(target[:-3]), Link(target, markdown=True)):
        assert resolver.resolve(link, "b/x.md") == fresh.resolve(link, "b/x.md")
