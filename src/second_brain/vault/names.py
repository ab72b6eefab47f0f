"""Titles and file names: what a new note is called, and where it can lie without a collision.

A name that is made here is legal on Linux, macOS and Windows, can be linked to from Obsidian, and
keeps its script: nothing is transliterated. Names of the user's own notes are never judged here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

TITLE_CHARACTERS = 80
NAME_CHARACTERS = 120
NAME_BYTES = 200  # 255 is the limit of ext4; this leaves room for " 12", ".md" and temporary names.
_READ_LINES = 400  # A title further down than this is no title.
_READ_CHARACTERS = 2000  # Of one line; bounds the work of the patterns below.

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_LINE_START = re.compile(
    r"[ \t]*(?:>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+|\[[ xX]\][ \t]+|\[![\w-]+\][+-]?)"
)
_ONLY_TAGS = re.compile(r"(?:#[^\s#]+\s*)+$")

_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"%%.*?%%|<!--.*?-->"), ""),
    (re.compile(r"!\[\[[^\[\]]*\]\]"), ""),
    (re.compile(r"\[\[([^\[\]|]*)\|([^\[\]|]*)\]\]"), r"\2"),
    (re.compile(r"\[\[([^\[\]|#]*)(?:#[^\[\]|]*)?\]\]"), r"\1"),
    (re.compile(r"\[\^[^\[\]\s]*\]"), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\((?:<[^<>]*>|[^()\s]*)(?:\s+\"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]+)>"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(`+)(.+?)\1"), r"\2"),
    (re.compile(r"(\*{1,3})(?=[^\s*])(.+?)(?<=[^\s*])\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])(.+?)(?<=[^\s_])\1(?!\w)"), r"\2"),
    (re.compile(r"(~~|==)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?:(?<=\s)|^)\^[A-Za-z0-9-]+$"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”’]*")
_ABBREVIATIONS = re.compile(
    r"approx|art|cf|ch|dr|e\.g|eg|etc|fig|i\.e|ie|jr|mm|mme|mlle|mrs?|ms|no|nr|pp?|prof|sr|st|vol|vs"
)


def title_of(content: str, fallback: str = "Untitled") -> str:
    """The title of a text (Markdown without frontmatter): at most 80 characters, no markup.

    The first heading; where prose stands before it, only a top heading beats that prose, and the
    title is the prose's first sentence otherwise. `fallback` if there is nothing to read.
    """
    prose = ""
    for level, text in _lines_that_say_something(content):
        if level == 1 or (level > 1 and not prose):
            return _cut_at_word(text, TITLE_CHARACTERS)
        if level == 0:
            prose = prose or _first_sentence(text)
    return _cut_at_word(prose, TITLE_CHARACTERS) or fallback


def _lines_that_say_something(content: str) -> Iterator[tuple[int, str]]:
    """(heading level or 0, plain text) of each line that holds a word; fenced code comes last."""
    lines = content.lstrip("\ufeff").splitlines()[:_READ_LINES]
    code: list[str] = []
    fence = ""
    for number, raw in enumerate(lines):
        line = raw[:_READ_CHARACTERS]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            else:
                code.append(line.strip())
            continue
        if mark:
            fence = mark[1]
            continue
        if _RULE.match(line) or _SETEXT.match(line):
            continue
        atx = _ATX.match(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        underline = _SETEXT.match(following[:_READ_CHARACTERS])
        plain = _plain(atx[2] or "" if atx else line)
        if not _speaks(plain) or (not atx and _ONLY_TAGS.match(plain)):
            continue
        if atx:
            yield len(atx[1]), plain
        elif underline and not _LINE_START.match(line):
            yield 1 if underline[1].startswith("=") else 2, plain
        else:
            yield 0, plain
    # Nothing but code: its first line is still better than no title.
    yield from ((0, line) for line in code if _speaks(line))


def _plain(line: str) -> str:
    while (start := _LINE_START.match(line)) and start.end():
        line = line[start.end() :]
    for pattern, replacement in _MARKUP:
        line = pattern.sub(replacement, line)
    return " ".join(_printable(line).split())


def _first_sentence(text: str) -> str:
    for end in _SENTENCE_END.finditer(text):
        before = text[: end.start()]
        after = text[end.end() :].lstrip()
        word = before.rsplit(None, 1)[-1].lstrip("(\"'«").casefold() if before.split() else ""
        if end[0] == "." and (
            _ABBREVIATIONS.fullmatch(word)
            or (len(word) == 1 and word.isalpha())
            or after[:1].islower()
        ):
            continue
        if _speaks(before):
            text = text[: end.end()]
            break
    return text.strip().rstrip(".:;,。 ") or text.strip()


def _cut_at_word(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    space = text.rfind(" ", 0, limit + 1)
    return text[: space if space > limit // 2 else _edge(text, limit)].rstrip(" .,:;-–—(")


def _edge(text: str, limit: int) -> int:
    """The largest index up to `limit` at which no visible character is cut into parts."""
    index = limit
    while 0 < index < len(text) and _joins(text, index):
        index -= 1
    return index or limit


def _joins(text: str, index: int) -> bool:
    here, before = text[index], text[index - 1]
    if unicodedata.category(here).startswith("M") or "\u200d" in (here, before):
        return True
    if "\U0001f3fb" <= here <= "\U0001f3ff" or "\U000e0020" <= here <= "\U000e007f":
        return True
    if _regional(here) and _regional(before):
        run = index
        while run and _regional(text[run - 1]):
            run -= 1
        return (index - run) % 2 == 1
    return False


def _regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _speaks(text: str) -> bool:
    return any(unicodedata.category(character)[0] in "LNS" for character in text)


def _printable(text: str) -> str:
    """`text` without control, bidirectional and zero-width characters and without lone surrogates.

    Joiners stay: emoji, Persian and Indic scripts need them. Line breaks become spaces.
    """
    kept: list[str] = []
    for character in text:
        category = unicodedata.category(character)
        if category in ("Zs", "Zl", "Zp") or character in "\t\n\r\v\f\x85":
            kept.append(" ")
        elif category not in ("Cc", "Cs", "Cf") or _needed(character):
            kept.append(character)
    return "".join(kept)


def _needed(character: str) -> bool:
    return character in "\u200c\u200d" or "\U000e0020" <= character <= "\U000e007f"


_REPLACED = str.maketrans(
    {"/": "-", "\\": "-", '"': "'", "<": " ", ">": " ", "*": " ", "?": " ", "|": " "}
    | dict.fromkeys("#^[]", "")
)
_RESERVED = re.compile(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])\s*(?:\..*)?", re.I
)


def safe_name(title: str, fallback: str = "Untitled") -> str:
    """A file name (without `.md`) for `title`: legal everywhere, at most 120 characters, 200 bytes.

    NFC. A safe name stays as it is. `fallback`, which must be safe itself, if nothing readable is
    left.
    """
    name = title
    while (cleaner := _clean(name)) != name:
        name = cleaner
    return name if _speaks(name) else fallback


def _clean(title: str) -> str:
    name = unicodedata.normalize("NFC", _printable(title))
    name = re.sub(r"\s*:(?=\s|$)", " -", name).replace(":", "-").translate(_REPLACED)
    name = re.sub(r"%{2,}", "%", name)  # Two of them start a comment in Obsidian.
    name = re.sub(r"^(?:[. ]|~\$)+", "", " ".join(name.split()))  # ~$ marks Office's lock files.
    name = re.sub(r"(?:\.md)+$", "", name.rstrip(". "), flags=re.I)
    name = re.sub(r"( -)+$", "", name)
    if _RESERVED.fullmatch(name):
        name = f"_{name}"
    if len(name) > NAME_CHARACTERS:
        name = _cut_at_word(name, NAME_CHARACTERS)
    while len(name.encode()) > NAME_BYTES:
        name = name[: _edge(name, len(name) - 1)]
    return unicodedata.normalize("NFC", name.rstrip(". "))


def path_key(path: str) -> str:
    """What two paths share if macOS or Windows could take them for one file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def free_path(folder: str, name: str, taken: Callable[[str], bool]) -> str:
    """The first of `folder/name.md`, `folder/name 2.md`, … that is not `taken`.

    `folder` and the result are vault-relative with `/`; `folder` is empty for the root. `taken` is
    asked for whole paths and must compare them by `path_key` (`VaultFiles.taken` does).
    """
    base = f"{folder.strip('/')}/{name}" if folder.strip("/") else name
    path, number = f"{base}.md", 1
    while taken(path):
        number += 1
        path = f"{base} {number}.md"
    return path
