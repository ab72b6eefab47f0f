"""Cases that other tools got wrong, as far as reading a note can show them.

Each is named after the report it comes from (repository#number).
"""

import json

import pytest

from second_brain.vault.links import Resolver
from second_brain.vault.note import parse_note, property_value
from second_brain.vault.rules import SyncRule

BRAIN = "---\ntags:\n  - brain\n---\n"


def tags(text: str) -> list[str]:
    return sorted(tag.casefold() for tag in parse_note("n.md", text.encode()).tags)


def edges(vault: dict[str, str], source: str) -> tuple[set[str], list[str]]:
    """The paths that `source` links to, and the targets that lead nowhere."""
    resolver = Resolver(vault)
    found: set[str] = set()
    missing: list[str] = []
    for link in parse_note(source, vault[source].encode()).links:
        path = resolver.resolve(link, source)
        if path is None:
            missing.append(link.target)
        else:
            found.add(path)
    return found, missing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("---\ntags: brain, boat\n---\nx\n", ["boat", "brain"], id="basic-memory#911"),
        pytest.param("---\ntags: brain boat\n---\nx\n", ["boat", "brain"], id="space-string"),
        pytest.param("---\ntag: brain\n---\nx\n", ["brain"], id="legacy-key"),
        pytest.param("---\ntags:\n  -\n  - brain\n---\nx\n", ["brain"], id="obsidian-html#348"),
        pytest.param("---\ntags:\naliases:\n---\nNo tags.\n", [], id="obsidian-html#348-empty"),
        pytest.param("---\ntags: \n---\nwith #brain inline.\n", ["brain"], id="empty-and-inline"),
        pytest.param("---\ntags: 2023\n---\nx\n", [], id="tag-wrangler#60-scalar"),
        pytest.param(
            "---\ntags:\n  - brain\n  - 123\n  - true\n  - 1.5\n---\nx\n",
            ["brain"],
            id="tag-wrangler#60",
        ),
        pytest.param(
            "See [[#brain]], [[Note#brain]], [[Note (draft)#brain|x]], ![[Note#brain]], "
            "<https://e.org/p/#brain>, https://e.org/#brain, [t](Note.md#brain), \\#brain "
            "and a#brain.\n",
            [],
            id="obsidian-mcp-server#119",
        ),
        pytest.param(
            "#brain #1990s #2024-goals #café #日本語 #✅done #a/b/c #1984 #Memory, (#paren) "
            "#dot.cut\n",
            sorted(
                [
                    "1990s",
                    "2024-goals",
                    "✅done",
                    "a/b/c",
                    "brain",
                    "café",
                    "dot",
                    "memory",
                    "日本語",
                ]
            ),
            id="obsidian-mcp-server#127",
        ),
        pytest.param(
            "---\nalias: [Research board]\ntags: [brain, \"two words bad\", 'c']\n---\nx\n",
            ["brain", "c", "two-words-bad"],
            id="obsidian-frontmatter-modified-date#24",
        ),
        pytest.param(
            "---\n# keep me\ntitle: 'It''s here'   # side note\ntags:\n    - brain # why\n"
            "    - boat\n---\nx\n",
            ["boat", "brain"],
            id="obsidian-mcp-server#89",
        ),
        pytest.param(
            "---\ntitle: Harbour: phase two\ntags:\n  - brain\n---\nThe crane.\n",
            ["brain"],
            id="basic-memory#408",
        ),
        pytest.param("---\nOnly a line of prose\n---\nBody #brain\n", ["brain"], id="notable#891"),
    ],
)
def test_tags(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


@pytest.mark.parametrize(
    ("yaml", "key", "expected"),
    [
        pytest.param("date: 2026-03-16", "date", "2026-03-16", id="mcpvault#77"),
        pytest.param(
            "zone: 2026-03-16T20:00:00-04:00", "zone", "2026-03-16T20:00:00-04:00", id="offset"
        ),
        pytest.param("start: 10:00", "start", "10:00", id="mcpvault#75"),
        pytest.param("zip: 01234", "zip", "01234", id="leading-zero"),
        pytest.param("country: no", "country", "no", id="norway"),
        pytest.param("description: which valve", "description", "which valve", id="second-block"),
        pytest.param("created: {{date}}", "created", "{{date}}", id="frontmatter#21"),
    ],
)
def test_properties(yaml: str, key: str, expected: str) -> None:
    note = parse_note("n.md", f"---\n{yaml}\ntags: [brain]\n---\nx\n".encode())
    assert property_value(note, key) == expected
    assert note.tags == ("brain",)
    assert note.problems == ()


def test_properties_are_strict_json() -> None:
    """jimprosser/obsidian-web-mcp#5"""
    text = (
        "---\ncreated: 2026-04-05\nat: 2026-04-05T10:00:00Z\nn: .nan\nb: !!binary aGk=\nk:\n"
        "  1: x\ntags: [brain]\n---\nx\n"
    )
    note = parse_note("J.md", text.encode())
    assert json.loads(json.dumps(dict(note.properties), allow_nan=False))["k"] == {"1": "x"}


def test_the_order_of_keys_is_the_files() -> None:
    """eyeseast/python-frontmatter#117"""
    note = parse_note("O.md", b"---\nzeta: 1\nmid: 2\nalpha: 3\ntags: [brain]\n---\nx\n")
    assert list(note.properties) == ["zeta", "mid", "alpha", "tags"]


@pytest.mark.parametrize("body", ["\n\n    indented code first\n\nlast line\n\n\n", "no newline"])
def test_the_body_keeps_its_edges(body: str) -> None:
    """eyeseast/python-frontmatter#87"""
    assert parse_note("N.md", f"---\ntags: [brain]\n---\n{body}".encode()).body == body


def test_a_pipe_in_a_table() -> None:
    """pvliesdonk/markdown-vault-mcp#731"""
    vault = {
        "Hub.md": BRAIN
        + "| n | w |\n|---|---|\n| [[notes/foo\\|Foo]] | a |\n| [[Bar#Part\\|b]] | c |\n",
        "notes/foo.md": "",
        "Bar.md": "",
    }
    assert edges(vault, "Hub.md") == ({"notes/foo.md", "Bar.md"}, [])


def test_names_in_another_case_and_bare_names() -> None:
    """pvliesdonk/markdown-vault-mcp#235"""
    vault = {
        "a/MyNote.md": "",
        "b/Other.md": "[[mynote]] [[A/mynote]] [[Mynote.md]] [[MyNote#H|x]] [[missing]]\n",
        "Twin.md": "",
        "b/Twin.md": "",
        "c/See.md": "[[b/Twin]]\n",
    }
    assert edges(vault, "b/Other.md") == ({"a/MyNote.md"}, ["missing"])
    assert edges(vault, "c/See.md") == ({"b/Twin.md"}, [])


def test_links_after_a_folder_was_renamed() -> None:
    """foambubble/foam#1143"""
    vault = {"root.md": "[[sub/leaf]] [[leaf2]]\n", "area/leaf.md": "", "area/deep/leaf2.md": ""}
    assert edges(vault, "root.md") == ({"area/deep/leaf2.md"}, ["sub/leaf"])


def test_markdown_links() -> None:
    """maxkuminov/obsidian-mcp#20"""
    vault = {
        "x/From.md": "[a](My%20Note.md) [b](<../My Note 2.md>) [c](../Caf%C3%A9.md#H) "
        "[d](/x/Deep.md) [e](https://e.org/My%20Note.md) [f](My Note.md)\n",
        "x/My Note.md": "",
        "My Note 2.md": "",
        "Café.md": "",
        "x/Deep.md": "",
    }
    assert edges(vault, "x/From.md") == (set(vault) - {"x/From.md"}, [])


def test_links_in_properties_without_quotes() -> None:
    """Trikzon/obsidian-frontmatter-links#20"""
    vault = {
        "P.md": '---\nchild: [ [[Work]], [[Biases Two]] ]\nup: [[Home]]\nok: "[[Work|w]]"\n'
        "tags: [brain]\n---\nx\n",
        "Work.md": "",
        "Home.md": "",
    }
    assert edges(vault, "P.md") == ({"Work.md", "Home.md"}, ["Biases Two"])


@pytest.mark.parametrize(
    ("text", "synced"),
    [
        ("---\ntags: [Memory/ref/book]\n---\nx\n", True),
        ("---\ntags: [memorybook]\n---\nx\n", False),
    ],
)
def test_a_nested_sync_tag(text: str, synced: bool) -> None:
    """blacksmithgu/obsidian-dataview#1223"""
    reason = SyncRule(tags=("memory",)).note_reason(parse_note("n.md", text.encode()))
    assert (reason is None) is synced


def test_a_template_folder_is_left_alone() -> None:
    """jonbeebe/frontmatter#21"""
    rule = SyncRule(exclude=("Templates/",))
    assert rule.path_reason("Templates/Daily.md")
    assert rule.path_reason("A.md") is None
