"""Links between notes: reading them out of text and properties, and finding what they point at."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from second_brain.vault.markdown import LINK_TARGET, MASK, WIKI_LINK
from second_brain.vault.model import Link, PropertyValue, Provenance

RELATED_KEY = "second-brain-related"
RELATES_TO = "relates_to"
DIRECTED_TYPES = frozenset(
    {"supersedes", "caused_by", "decided", "about_person", "part_of_project", "follows"}
)
RELATION_TYPES = DIRECTED_TYPES | {RELATES_TO}

Span = tuple[int, int]

# `[text]` up to its `]`, which LINK_TARGET then takes on; the text may hold one level of brackets.
_MARKDOWN = re.compile(
    r"!?\[(?P<text>(?:[^\[\]\\\r\n]|\\.|\[[^\[\]\r\n]*+\])*+)(?=\]\()", re.DOTALL
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|//")
_PIPE = re.compile(r"\\?\|")
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|bmp|svg|webp|avif|heic|tiff?|ico|mp3|wav|m4a|flac|ogg|opus|3gp|aac|mp4|"
    r"m4v|webm|ogv|mov|mkv|avi|pdf|epub|docx?|xlsx?|pptx?|odt|ods|odp|zip|7z|gz|tar|csv|tsv|json|"
    r"canvas|base|html?)\Z",
    re.IGNORECASE,
)
_UNLINKABLE = re.compile(r"[#^|:\[\]\\\r\n]|%%")


def text_links(masked: str, raw: str | None = None) -> tuple[list[Link], list[Span]]:
    """The links in a text whose code and comments are masked, and where links of any kind lie.

    `raw` is the text before masking, to show a link's text as written. The spans also cover links
    to the web, whose text holds no tags either.
    """
    raw = masked if raw is None else raw
    found: list[tuple[int, Link]] = []
    spans: list[Span] = []
    for match in WIKI_LINK.finditer(masked):
        embed = masked[match.start() - 1 : match.start()] == "!"
        spans.append(match.span())
        if link := _wiki(match[1], embed=embed):
            found.append((match.start(), link))
    if "](" in masked:
        for match in _MARKDOWN.finditer(masked):
            target = LINK_TARGET.match(masked, match.end())
            if target is None:
                continue
            spans.append((match.start(), target.end()))
            if link := _markdown(
                raw[slice(*match.span("text"))], target["target"], embed=match[0][0] == "!"
            ):
                found.append((match.start(), link))
    found.sort(key=lambda item: item[0])
    return [link for _, link in found], _merged(spans)


def property_links(
    properties: Mapping[str, PropertyValue], relation_types: frozenset[str] = RELATION_TYPES
) -> list[Link]:
    """The links in the properties. A property named after a relation types its links."""
    found: list[Link] = []
    for key, value in properties.items():
        name = key.strip().casefold()
        provenance: Provenance = "explicit"
        relation = name.replace("-", "_").replace(" ", "_")
        if name == RELATED_KEY:
            provenance = "inferred"
        type_ = relation if relation in relation_types else RELATES_TO
        for text in _texts(value):
            if "[" not in text:
                continue
            for link in text_links(text)[0]:
                found.append(
                    Link(
                        link.target,
                        link.heading,
                        link.alias,
                        embed=link.embed,
                        markdown=link.markdown,
                        type=type_,
                        property=key,
                        provenance=provenance,
                    )
                )
    return found


def single_link(text: str) -> Link | None:
    """The wiki-link that `text` is, and nothing else; None for any other text."""
    match = WIKI_LINK.fullmatch(text)
    return _wiki(match[1], embed=False) if match is not None else None


def fold_path(path: str) -> str:
    """The form in which two spellings of one path or name are equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def key(target: str) -> str:
    """The folded bare name of a link's target or of a note's path.

    Only links with the key of a path can come to point at it, or cease to, when the path appears
    or vanishes.
    """
    return _stem(fold_path(target.rstrip("/").rpartition("/")[2].strip()))


class Resolver:
    """Finds the note that a link points at, among the notes known. Not thread-safe.

    Paths are vault-relative with `/`, spelled as on disk; comparing ignores case and Unicode form.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        self._paths.setdefault(fold_path(path), set()).add(path)
        self._names.setdefault(key(path), set()).add(path)

    def remove(self, path: str) -> None:
        """Forget a path; nothing happens when it is not known."""
        for table, name in ((self._paths, fold_path(path)), (self._names, key(path))):
            if spelled := table.get(name):
                spelled.discard(path)
                if not spelled:
                    del table[name]

    def __contains__(self, path: str) -> bool:
        return path in self._paths.get(fold_path(path), ())

    def resolve(self, link: Link, from_path: str) -> str | None:
        """The path that `link`, standing in `from_path`, points at; None when there is none.

        A link without a target points at its own note. The path from the vault's root goes first,
        then the path from the note's folder (for a Markdown link the other way round), then any
        path that ends so: in the same folder, with the fewest parts, alphabetically.
        """
        target = link.target.strip()
        if not target:
            return from_path
        folder = posixpath.dirname(from_path)
        if target.startswith("/"):
            return self._exact(target.lstrip("/"))
        if target.startswith(("./", "../")):
            return self._exact(posixpath.join(folder, target))
        from_folder = posixpath.join(folder, target)
        first, second = (from_folder, target) if link.markdown else (target, from_folder)
        return self._exact(first) or self._exact(second) or self._suffix(target, folder)

    def link_text(self, path: str) -> str | None:
        """What to write between `[[` and `]]` so that the link means `path` from any note.

        The bare name when no other note has it, else the whole path without `.md`. None when the
        name holds a character that ends a wiki-link (`# ^ | : [ ]`) or cannot be told from
        another note: such a note can only be linked from a Markdown link, or not at all.
        """
        if _UNLINKABLE.search(path):
            return None
        texts = [_without_md(path)]
        name = texts[0].rpartition("/")[2]
        if len(self._names.get(key(path), ())) <= 1:
            texts.insert(0, name)
        texts.append(path)
        for text in texts:
            link = _wiki(text, embed=False)
            if link and link.target == text and self.resolve(link, "") == path:
                return text
        return None

    def _exact(self, path: str) -> str | None:
        normal = posixpath.normpath(path)
        if normal.startswith("..") or normal == ".":
            return None
        for candidate in _candidates(normal):
            spelled = self._paths.get(fold_path(candidate))
            if spelled:
                return candidate if candidate in spelled else min(spelled)
        return None

    def _suffix(self, target: str, folder: str) -> str | None:
        for candidate in _candidates(target):
            ending = "/" + fold_path(candidate)
            matches = [
                path for path in self._names.get(key(candidate), ())
                if fold_path(path).endswith(ending)
            ]  # fmt: skip
            if matches:
                return min(matches, key=lambda path: _rank(path, folder))
        return None


def _rank(path: str, folder: str) -> tuple[bool, int, str, str]:
    return (posixpath.dirname(path) != folder, path.count("/"), fold_path(path), path)


def _candidates(target: str) -> tuple[str, ...]:
    with_md = target + ".md"
    return (target, with_md) if target[-3:].casefold() == ".md" else (with_md,)


def _without_md(path: str) -> str:
    return path[:-3] if path[-3:].casefold() == ".md" else path


def _stem(folded: str) -> str:
    """A name without `.md`, as often as it stands there: `a.md` may also mean `a.md.md`."""
    while folded.endswith(".md"):
        folded = folded[:-3]
    return folded


def _wiki(inner: str, *, embed: bool) -> Link | None:
    path, *alias = _PIPE.split(inner, maxsplit=1)
    target, hash_, heading = path.partition("#")
    target = target.strip()
    heading = heading.strip()
    if MASK in target or not (target or heading) or _ATTACHMENT.search(target):
        return None
    shown = alias[0].strip() if alias else ""
    return Link(target, heading if hash_ and heading else None, shown or None, embed=embed)


def _markdown(text: str, target: str, *, embed: bool) -> Link | None:
    target = target.strip()
    if target.startswith("<"):
        target = target[1:-1].strip()
    if MASK in target or _SCHEME.match(target):
        return None
    path, _, heading = target.partition("#")
    path = unquote(path, errors="replace").strip()
    heading = unquote(heading, errors="replace").strip()
    if not (path or heading) or "\x00" in path or _ATTACHMENT.search(path):
        return None
    shown = text.strip()
    return Link(path, heading or None, shown or None, embed=embed, markdown=True)


def _texts(value: PropertyValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
