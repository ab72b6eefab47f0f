"""Edits of clients' files: only ours is added, and taking it out leaves the bytes of before."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from second_brain.integrations.connect import hooks, json_edit, marked, toml_edit
from second_brain.integrations.connect.jsonc import parse
from second_brain.integrations.connect.refusal import CannotEdit

PATH = ("mcpServers", "second-brain")
ENTRY = {"command": "/opt/brain", "args": ["mcp", "--vault", "/home/é/My Notes"]}
LINES = {"SessionStart": "/opt/brain hook session-start", "SessionEnd": "brain hook session-end"}

KEYS = st.sampled_from(["mcpServers", "a", 'with "quotes"', "é", "hooks", "SessionStart", "x//y"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.text('ab"\\/*{}[],:é\n', max_size=6)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(st.sampled_from(["other", "b", "c d"]), VALUES, max_size=3)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """`value` as somebody may have written it: white space, comments and commas anywhere."""
    between = st.sampled_from(["", "", " ", "\n", "\n  ", "\t", "/* c */", " // c }\n", "\r\n"])

    def write(inner: Any) -> str:
        if not isinstance(inner, dict | list):
            return json.dumps(inner, ensure_ascii=draw(st.booleans()))
        parts = []
        for part in inner:
            key = f"{json.dumps(part)}{draw(between)}:{draw(between)}" if is_object(inner) else ""
            shown = write(inner[part] if is_object(inner) else part)
            parts.append(f"{draw(between)}{key}{shown}{draw(between)}")
        text = ",".join(parts)
        text += f",{draw(between)}" if parts and draw(st.booleans()) else draw(between)
        return f"{{{text}}}" if is_object(inner) else f"[{text}]"

    return draw(st.sampled_from(["", "\ufeff"])) + draw(between) + write(value) + draw(between)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


@st.composite
def usual(draw: st.DrawFn, value: Any) -> str:
    """`value` as programs write it."""
    text = json.dumps(value, indent=draw(st.sampled_from([None, 2, 4, "\t"])))
    text += draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@st.composite
def configurations(draw: st.DrawFn) -> str:
    value = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    if draw(st.booleans()):
        value["mcpServers"] = draw(SERVERS)
    else:
        value.pop("mcpServers", None)
    return draw(written(value) | usual(value))


@given(configurations())
@examples(150)
def test_a_server_is_added_and_removed_without_a_trace(text: str) -> None:
    added = json_edit.with_value(text, PATH, ENTRY)
    before, after = parse(text).value, parse(added).value
    assert after["mcpServers"].pop("second-brain") == ENTRY
    assert after == ({"mcpServers": {}} | before)
    assert json_edit.with_value(added, PATH, ENTRY) == added
    other = json_edit.with_value(added, PATH, {"url": "x"})
    assert json_edit.value_at(json_edit.with_value(other, PATH, ENTRY), PATH) == ENTRY
    assert json_edit.without(other, PATH) == text
    assert json_edit.without(added, PATH) == text
    assert json_edit.without(text, PATH) == text


@given(st.dictionaries(KEYS, VALUES, max_size=3).flatmap(lambda v: written(v) | usual(v)))
@examples(150)
def test_hooks_are_added_and_removed_without_a_trace(text: str) -> None:
    found = parse(text).value.get("hooks", {})
    if not isinstance(found, dict) or not isinstance(found.get("SessionStart", []), list):
        with pytest.raises(CannotEdit):
            hooks.with_hooks(text, LINES)
        return
    added = hooks.with_hooks(text, LINES)
    assert hooks.with_hooks(added, LINES) == added
    after = parse(added).value["hooks"]
    assert after["SessionStart"][:-1] == found.get("SessionStart", [])
    assert after["SessionEnd"][0]["hooks"][0]["command"] == LINES["SessionEnd"]
    assert hooks.without_hooks(added) == text


def test_a_changed_hook_command_takes_the_place_of_the_old_one_and_others_stay() -> None:
    theirs = {"type": "command", "command": "their brain hook"}
    text = json.dumps({"hooks": {"SessionEnd": [{"matcher": "x", "hooks": [theirs]}]}}, indent=2)
    old = hooks.with_hooks(text, {"SessionEnd": "/old/brain hook session-end"})
    new = hooks.with_hooks(old, {"SessionEnd": "/new/brain hook session-end"})
    groups = json.loads(new)["hooks"]["SessionEnd"]
    assert groups[0] == {"matcher": "x", "hooks": [theirs]}
    assert [hook["command"] for hook in groups[1]["hooks"]] == ["/new/brain hook session-end"]
    assert hooks.without_hooks(new) == text
    assert hooks.has_hooks(new)
    assert not hooks.has_hooks(text)


def test_an_entry_looks_as_if_the_user_had_written_it() -> None:
    text = '{\n    // servers\n    "servers": {\n        "a": {"url": "x"} // one\n    },\n}\n'
    assert json_edit.with_value(text, ("servers", "b"), {"args": ["m"]}) == (
        '{\n    // servers\n    "servers": {\n        "a": {"url": "x"}, // one\n'
        '        "b": {\n            "args": [\n                "m"\n            ]\n        }\n'
        "    },\n}\n"
    )


def test_line_ends_are_those_of_the_file() -> None:
    text = '{\r\n  "a": 1\r\n}\r\n'
    added = json_edit.with_value(text, PATH, ENTRY)
    assert added.count("\n") == added.count("\r\n") > 8
    added = toml_edit.with_table("a = 1\r\n", *CODEX, ENTRY, OWNED)
    assert added.count("\n") == added.count("\r\n") == 5
    added = marked.with_block("a\r\n", "b\nc")
    assert added.count("\n") == added.count("\r\n") == 6


def test_an_empty_file_becomes_one_and_is_empty_again() -> None:
    for text in ("", "\n", "\ufeff"):
        added = json_edit.with_value(text, PATH, ENTRY)
        assert parse(added).value == {"mcpServers": {"second-brain": ENTRY}}
        assert json_edit.without(added, PATH) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n"a": 1\n"b": 2}', "line 3: a comma is missing"),
        ('{\n"a" 1}', "line 2: a colon is missing"),
        ("{", "line 1: a value is missing"),
        ('{"a": tru}', "line 1: Expecting value"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": 1} x', "something after its end"),
        ("{1: 2}", "a key is not in quotes"),
        ("[" * 5000, "nested too deeply"),
        ("[]", "is not an object"),
        ('{"mcpServers": []}', "“mcpServers” is not an object"),
    ],
)
def test_a_broken_json_file_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(CannotEdit, match=said.replace("(", r"\(")):
        json_edit.with_value(text, PATH, ENTRY)


TOMLS = st.builds(
    lambda head, tables, sep, tail: sep.join([*head, *tables]) + tail,
    st.lists(st.sampled_from(["# c", "m = 'x'", 'a = """\n[mcp_servers.second-brain]\n"""', ""]),
             max_size=3, unique=True),
    st.lists(st.sampled_from(["[t]\nx = 1 # c", "[mcp_servers.other]\ncommand = 'c'\n# end",
                              "[[l]]\n'k v' = [1,\n  2]", "[mcp_servers.second]\nurl = 'u'"]),
             max_size=3, unique=True),
    st.sampled_from(["\n", "\n\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
)  # fmt: skip
CODEX = ("mcp_servers", "second-brain")
OWNED = frozenset({"command", "args", "url"})


@given(TOMLS, st.sampled_from(["\n", "\r\n"]), TOMLS)
@examples(150)
def test_a_table_is_added_and_removed_without_a_trace(text: str, newline: str, more: str) -> None:
    text = text.replace("\n", newline)
    added = toml_edit.with_table(text, *CODEX, ENTRY, OWNED)
    before, after = tomllib.loads(text), tomllib.loads(added)
    assert after["mcp_servers"].pop("second-brain") == ENTRY
    assert after == {"mcp_servers": {}} | before
    assert toml_edit.with_table(added, *CODEX, ENTRY, OWNED) == added
    assert toml_edit.without_table(added, *CODEX) == text
    assert toml_edit.without_table(text, *CODEX) == text


def test_a_changed_table_keeps_what_the_user_put_into_it() -> None:
    text = (
        "[mcp_servers.second-brain] # mine\nurl = 'old'\nenabled = true # yes\n\n"
        "[mcp_servers.second-brain.tools.recall]\napproval_mode = 'approve'\n\n# z\n[z]\n"
    )
    changed = toml_edit.with_table(text, *CODEX, ENTRY, OWNED)
    table = tomlkit.parse(changed)["mcp_servers"]["second-brain"]  # type: ignore[index]
    assert table == {
        **ENTRY, "enabled": True, "tools": {"recall": {"approval_mode": "approve"}}
    }  # fmt: skip
    assert "enabled = true # yes\n" in changed
    assert toml_edit.without_table(changed, *CODEX) == "\n# z\n[z]\n"


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = {}", "mcp_servers = 1"])
def test_a_toml_file_that_allows_no_table_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit):
        toml_edit.with_table(text, *CODEX, ENTRY, OWNED)


@given(st.text("a\n\r #-<!>\udcff", max_size=20), st.sampled_from(["", "more", "\nmore\n", "\r\n"]))
@examples(150)
def test_a_block_is_added_kept_up_and_removed_without_a_trace(text: str, later: str) -> None:
    added = marked.with_block(text, "one\n\ntwo\n")
    assert added.startswith(text)
    assert marked.has_block(added)
    assert marked.with_block(added, "one\n\ntwo") == added
    changed = marked.with_block(added, "three")
    assert "two" not in changed
    assert marked.with_block(changed, "one\n\ntwo") == added
    assert marked.without_block(changed) == text
    if added.endswith("\n"):
        assert marked.without_block(changed + later) == text + later


@pytest.mark.parametrize("cut", [marked.START, marked.END])
def test_damaged_markers_are_refused(cut: str) -> None:
    with pytest.raises(CannotEdit, match="not one pair"):
        marked.with_block(marked.with_block("a\n", "b").replace(cut, ""), "b")
    with pytest.raises(CannotEdit, match="not one pair"):
        marked.without_block(marked.with_block("a\n", "b") * 2)
