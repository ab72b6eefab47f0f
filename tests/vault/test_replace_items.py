"""Items of a property replaced: nothing else of the file changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.errors import EditRefused
from second_brain.vault.edit import replace_items
from second_brain.vault.links import single_link

OLD, NEW = "[[Old plan]]", "[[Archive/New plan]]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('s:\n  - "[[Old plan]]"\n', 's:\n  - "[[Archive/New plan]]"\n'),
        ("s:\n  - '[[Old plan]]'  # why\n", "s:\n  - '[[Archive/New plan]]'  # why\n"),
        ('s: ["[[A]]", "[[Old plan]]"]\n', 's: ["[[A]]", "[[Archive/New plan]]"]\n'),
        ('s: "[[Old plan]]" # why\n', 's: "[[Archive/New plan]]" # why\n'),
        ('s:\n- "[[Old plan]]"\n- "[[B]]"\n', 's:\n- "[[Archive/New plan]]"\n- "[[B]]"\n'),
        ('s:\n  -\n  - "[[Old plan]]"\n', 's:\n  -\n  - "[[Archive/New plan]]"\n'),
        ('S: "[[Old plan]]"\n', 'S: "[[Archive/New plan]]"\n'),
        (
            's:\n  - "[[Old plan]]"\n  - "[[Archive/New plan]]"\n',
            's:\n  - "[[Archive/New plan]]"\n',
        ),
        ('s: "[[Other]]"\n', 's: "[[Other]]"\n'),
        ("s: [[Old plan]]\n", 's: "[[Archive/New plan]]"\n'),
        ('other: "[[Old plan]]"\n', 'other: "[[Old plan]]"\n'),
    ],
)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_replace_items(before: str, after: str, eol: str) -> None:
    def note(yaml: str) -> bytes:
        text = f"---\n# [[Old plan]]\n{yaml}tags: [brain]\n---\nsee [[Old plan]]\n"
        return text.replace("\n", eol).encode()

    assert replace_items(note(before), "s", {OLD: NEW}) == note(after)


def test_items_that_change_places() -> None:
    before = b"---\ns:\n  - '[[A]]'\n  - \"[[B]]\"\n---\n"
    after = b"---\ns:\n  - '[[B]]'\n  - \"[[A]]\"\n---\n"
    assert replace_items(before, "s", {"[[A]]": "[[B]]", "[[B]]": "[[A]]"}) == after


def test_what_cannot_be_replaced_safely_is_refused() -> None:
    with pytest.raises(EditRefused):
        replace_items(b"---\ns:\n  - |-\n    [[Old plan]]\n---\n", "s", {OLD: NEW})
    with pytest.raises(EditRefused):
        replace_items(b"---\ns: &a ['[[Old plan]]', x]\nt: *a\n---\n", "s", {OLD: NEW})


NAMES = st.text(st.characters(categories=["L", "N", "Zs", "Po"], exclude_characters="|#[]^:\\"))
LINKS = st.lists(NAMES.map(lambda name: f"[[{name}x]]"), min_size=1, max_size=4, unique=True)


@given(LINKS, st.data(), st.sampled_from(['  - "{}"\n', "  - '{}' # c\n"]), st.booleans())
def test_there_and_back_gives_the_file_as_it_was(
    links: list[str], data: st.DataObject, item: str, crlf: bool
) -> None:
    quote = "'" if "'" in item else '"'
    shown = [link.replace("'", "''") if quote == "'" else link.replace('"', "'") for link in links]
    links = [text.replace("''", "'") if quote == "'" else text for text in shown]
    text = "---\ns:\n" + "".join(map(item.format, shown)) + "# end\n---\nbody [[a]]\n"
    before = (text.replace("\n", "\r\n") if crlf else text).encode()
    old = data.draw(st.sampled_from(links))
    after = replace_items(before, "s", {old: "[[Somewhere/new 7]]"})
    assert after != before
    assert after.count(b"Somewhere/new 7") == 1
    assert replace_items(after, "s", {"[[Somewhere/new 7]]": old}) == before


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[[Plan]]", "Plan"),
        ("[[a/Plan|shown]]", "a/Plan"),
        ("[[Plan#Costs]]", "Plan"),
        ("see [[Plan]]", None),
        ("[[Plan]] ", None),
        ("![[Plan]]", None),
        ("Plan", None),
    ],
)
def test_single_link(text: str, target: str | None) -> None:
    link = single_link(text)
    assert (link.target if link else None) == target
