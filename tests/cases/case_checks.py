"""What a case can expect, each check by its name; all of them work on a `World`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from case_world import World

_OWN_LINE = re.compile(rb"^second-brain-[a-z]+:[^\r\n]*(?:\r\n|\n)", re.M)
_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.M)
_RESERVED = re.compile(r"(?:CON|PRN|AUX|NUL|COM[1-9]|LPT[1-9])(?:\..*)?", re.IGNORECASE)


class Checks:
    """`expectation` is one item of `expect`: its first key names the check."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def run(self, expectation: dict[str, Any]) -> None:
        name, value = next(iter(expectation.items()))
        check = getattr(self, f"check_{name}", None)
        assert check is not None, f"unknown check {name}"
        more = {key: each for key, each in expectation.items() if key != name}
        await check(value, **{"for_" if key == "for" else key: each for key, each in more.items()})

    # Memory or not

    async def check_indexed(self, path: str) -> None:
        assert path in await self.world.memories()

    async def check_not_indexed(self, path: str) -> None:
        assert path not in await self.world.memories()

    async def check_count(self, n: int) -> None:
        assert len(await self.world.memories()) == n, await self.world.memories()

    async def check_alive(self, wanted: bool) -> None:
        assert wanted is True
        self.world.write("Probe of life.md", b"---\ntags: [brain]\n---\nA quokka smiles.\n")
        await self.world.settle()
        assert "Probe of life.md" in await self.world.memories()
        assert (await self.world.search("quokka"))[0] == "Probe of life.md"

    async def check_title_indexed(self, path: str, equals: str) -> None:
        assert self.world.row(path).title == equals

    async def check_content_indexed(self, path: str, contains: str) -> None:
        passages = (await self.world.passages())[path]
        assert any(contains in passage["text"] for passage in passages), passages

    async def check_id(self, path: str, equals: str) -> None:
        assert self.world.row(path).id == equals

    async def check_same_id(self, paths: list[str]) -> None:
        before, after = paths
        assert self.world.row(after).id == self.world.first_ids[before]

    async def check_ids_unchanged(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.first_ids
        assert self.world.ids() == self.world.first_ids

    # Tags and links

    async def check_tags(
        self, path: str, equals: list[str] | None = None, equals_casefold: list[str] | None = None
    ) -> None:
        wanted = equals if equals is not None else equals_casefold
        assert wanted is not None
        found = self.world.tags(path)
        fold = str.casefold if equals_casefold is not None else str
        assert sorted(map(fold, found)) == sorted(map(fold, wanted))

    async def check_tags_include(self, path: str, items: list[str]) -> None:
        assert set(items) <= set(self.world.tags(path))

    async def check_tags_exclude(self, path: str, items: list[str]) -> None:
        assert not set(items) & set(self.world.tags(path))

    async def check_tag_query(self, tag: str, hits: list[str]) -> None:
        assert sorted(await self.world.with_tag(tag)) == sorted(hits)

    async def check_written_tags(self, which: str, equals: list[str]) -> None:
        assert self._yaml(self.world.remembered_path(which))["tags"] == equals

    async def check_list_style(self, which: str, key: str, equals: str) -> None:
        assert equals == "block"
        text = self.world.text(self.world.remembered_path(which))
        assert re.search(rf"^{key}:\n(?:  - [^\n]+\n)+", text, re.M), text

    async def check_link(self, ends: list[str]) -> None:
        assert tuple(ends) in self.world.links(), self.world.links()

    async def check_no_link(self, ends: list[str]) -> None:
        assert tuple(ends) not in self.world.links()

    async def check_unresolved(self, link: list[str]) -> None:
        assert tuple(link) in self.world.unresolved()

    async def check_unresolved_count(self, path: str, equals: int) -> None:
        assert path in self.world.originals
        assert sum(source == path for source, _ in self.world.unresolved()) == equals

    # The user's bytes

    async def check_bytes_same(self, path: str) -> None:
        assert self.world.bytes(path) == self.world.originals[path]

    async def check_body_same(self, path: str) -> None:
        self._annotated_or_refused(path)
        before, now = self.world.originals[path], self.world.bytes(path)
        found = _BLOCK.match(before.decode())
        real = found is not None and isinstance(yaml.safe_load(found["yaml"]), dict)
        start = len(found[0].encode()) if found is not None and real else 0
        assert now.endswith(before[start:])
        rest = now[: len(now) - len(before) + start]
        assert not rest or isinstance(yaml.safe_load(_BLOCK.fullmatch(rest.decode())["yaml"]), dict)  # type: ignore[index]

    async def check_only_own_keys_changed(self, path: str) -> None:
        self._annotated_or_refused(path)
        assert _OWN_LINE.sub(b"", self.world.bytes(path)) == self.world.originals[path]

    def _annotated_or_refused(self, path: str) -> None:
        annotated = b"\nsecond-brain-id: m-1" in self.world.bytes(path)
        assert annotated != (f"annotate {path}" in self.world.refused), "nothing was tried"

    async def check_refused(self, what: str) -> None:
        assert what in self.world.refused

    async def check_contains(self, path: str, text: str) -> None:
        assert text in self.world.text(path)

    async def check_line_exists(self, path: str, line: str, times: int = 1) -> None:
        assert self.world.text(path).splitlines().count(line) == times

    async def check_all_lines_present(self, path: str, **bounds: int) -> None:
        lines = self.world.text(path).splitlines()
        first, last = bounds["from"], bounds["to"]
        assert [line for line in lines if line.startswith("line ")] == [
            f"line {n}" for n in range(first, last + 1)
        ]

    async def check_frontmatter_blocks(self, path: str, equals: int) -> None:
        rest, blocks = self.world.text(path), 0
        while found := _BLOCK.match(rest):
            rest, blocks = rest[found.end() :].lstrip(), blocks + 1
        assert blocks == equals

    async def check_yaml(self, path: str, key: str, equals: object) -> None:
        assert self._yaml(path)[key] == equals

    async def check_meta(self, path: str, key: str, equals: str) -> None:
        assert self.world.property(path, key) == equals

    async def check_key_order(self, path: str, prefix: list[str]) -> None:
        assert list(self._yaml(path))[: len(prefix)] == prefix

    def _yaml(self, path: str) -> dict[str, Any]:
        found = _BLOCK.match(self.world.text(path))
        assert found is not None
        return dict(yaml.safe_load(found["yaml"]))

    # Names

    async def check_no_file_outside_vault(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.files_outside() == self.world.outside_before

    async def check_names_match(self, pattern: str) -> None:
        for name in self._names():
            assert re.search(pattern, name), name

    async def check_name_bytes_at_most(self, n: int) -> None:
        assert max(len(name.encode()) for name in self._names()) <= n

    async def check_names_unique_casefold_nfc(self, wanted: bool) -> None:
        assert wanted is True
        folded = [unicodedata.normalize("NFC", name).casefold() for name in self._names()]
        assert max(Counter(folded).values()) == 1

    async def check_names_not_reserved_on_windows(self, wanted: bool) -> None:
        assert wanted is True
        assert not any(_RESERVED.fullmatch(name) for name in self._names())

    async def check_contents_all_present(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.remembered
        for each in self.world.remembered:
            assert self.world.text(each.path).endswith(f"---\n{each.content}")

    def _names(self) -> list[str]:
        names = [each.path.rpartition("/")[2] for each in self.world.remembered]
        assert names
        return names

    async def check_no_file(self, what: str) -> None:
        assert what == "(vault root recreated by the daemon)"
        assert self.world.root_seen_while_away is False

    # What is told

    async def check_reported(self, what: str) -> None:
        told = self.world.told | await self.world.problems()
        if what == "(vault missing)":
            assert ("vault-offline", None) in {(kind, None) for kind, _ in told}, told
        else:
            assert what in {path for _, path in told}, told

    async def check_no_errors_logged(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.errors_logged() == []

    async def check_daemon_writes_to(self, path: str, after: str, at_most: int) -> None:
        assert after == "first settle"
        writes = self.world.writes_of(path)
        assert len(writes) <= at_most, writes
        assert self.world.stamp(path) == self.world.left[path], "somebody else wrote to it"

    # Search and the protocols

    async def check_search(self, query: str, hits: list[str]) -> None:
        found = await self.world.search(query)
        assert found[: len(hits)] == hits if hits else found == []

    async def check_all_searches_ok(self, wanted: bool) -> None:
        assert wanted is True
        assert len(self.world.searches) > 5
        assert [each for each in self.world.searches if each.failed] == []

    async def check_mcp_ok(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.mcp
        assert not any(each.is_error for each in self.world.mcp)

    async def check_mcp_errors(self, which: str) -> None:
        assert which == "all"
        assert self.world.mcp
        assert all(each.is_error for each in self.world.mcp), self.world.mcp

    async def check_json_strict(self, wanted: bool) -> None:
        assert wanted is True
        assert self.world.json_read > 0

    async def check_http_status(self, allowed: list[int], for_: str) -> None:
        assert for_ == "each"
        assert self.world.statuses
        assert all(status in allowed for status in self.world.statuses), self.world.statuses
