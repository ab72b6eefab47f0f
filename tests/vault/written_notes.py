"""Notes as people and tools really write them, as hypothesis strategies.

`notes` are ordinary ones, which every edit must manage. `odd_notes` hold what may be refused as
well: what is no valid YAML, or valid for one reader only, or not there at all.
"""

from __future__ import annotations

from hypothesis import strategies as st

from second_brain.vault.model import PropertyValue

# Each is the lines of one property or two, with what stands behind them.
ENTRIES = [
    "title: 'It''s here'   # side note\n",
    "# a comment of its own\n",
    "\n",
    "date: 2026-03-16\nat: 2026-03-16T10:30:00\n",
    "start: 10:00\nzip: 01234\ncountry: no\nversion: 1.10\n",
    'related: "[[Mast]]"\n',
    "up: [[Home]]\nchild: [ [[Work]], [[Biases Two]] ]\n",
    "text: |\n  first\n\n  # not a comment\n",
    "kept: |+\n  first\n\n\n",
    "folded: >-\n    one\n    two\n  # a comment behind\n",
    "long: one\n  two\n  three # why\n",
    'quoted: "one\n  two"\n',
    "anchor: &a [x, y]\nalias: *a\n",
    "empty:\n",
    "nothing: ~\n",
    "nested:\n  deep:\n    - 1\n    # inside\n    - 2\n",
    "list:\n- zero\n- indent\n",
    "emoji: 🚀 été\n",
    "'quoted key': yes\n",
    "Tight:   spaced   \n",
    "url: http://e.org/#x\n",
    "tab:\tvalue\t\n",
    "flow: {a: 1, b: [x, 'y'], c: }\n",
    "wide: [\n  one, # a comment\n  two,\n]\n",
    "links:\n  - '[[A|shown]]'\n  - \"[[B#Part]]\"\n",
    "spaced key : on\n",
    "indented: |2-\n    two more\n  and none\n",
    "typed: !!str 12\nown: !shape x\n",
    "base: &b {x: 1}\nmerged:\n  <<: *b\n  y: 2\n",
    'json: "é \\u0041"\n',
    "maps:\n  - a: 1\n    b: 2\n  - c: 3\n",
    'prose: it\'s 50% "done" & (more) --- here\n',
    "big: 12345678901234567890\nhex: 0x1F\nsum: 1_000\n",
]
TAGS = [
    "",
    "tags:\n  - brain\n  - boat\n",
    "tags:\n    - brain # why\n    # between\n    - boat\n    # after\n",
    "tags:\n- brain\n\n- boat\n",
    "tags: [brain, \"two words\", 'c']  # flow\n",
    "tags: [ brain ]\n",
    "tags: [\n  brain,\n  boat,\n]\n",
    "Tags: [brain]\n",
    "tags: []\n",
    "TAGS:\n  - '#brain'\n  -\n  - 2023\n",
]
BODIES = [
    "",
    "x\n",
    "no final newline",
    "\n\n    indented code first\n\nlast line\n\n\n",
    "---\n\nParagraph\n\n---\n\nmore\n",
    "# H\n\n---\nk: v\n---\n",
    "trailing  \n...\n",
    "---",
]
KEYS = [
    "title",
    "text",
    "kept",
    "folded",
    "long",
    "quoted",
    "nested",
    "list",
    "empty",
    "nothing",
    "Tight",
    "quoted key",
    "related",
    "up",
    "tags",
    "alias",
    "tab",
    "flow",
    "wide",
    "links",
    "spaced key",
    "indented",
    "typed",
    "merged",
    "maps",
    "prose",
]
"""Properties of ENTRIES that are set and removed."""

ODD_ENTRIES = [
    "twice: 1\ntwice: 2\n",
    "Title: 1\ntitle: 2\n",
    "list:\n\t- tab\n",
    "colons: a: b\n",
    "at: @home\n",
    "open: [a, b\n",
    "several: [[A]], [[B]]\n",
    "made: {{date}}\n",
    "? asked\n: answered\n",
    "? [a, b]\n: c\n",
    "...\n",
    "%YAML 1.2\n",
    "  indented: more\n",
    "unknown: *nobody\n",
    "again: &a 1\nand again: &a 2\nwhich: *a\n",
    "1: one\ntrue: two\n2026-01-01: three\n",
    "content: mine\nhandler: mine\n",
    "line\u2028separator: a\u2028b\n",
    "next: a\x85b\n",
    "control: a\x07b\n",
    "no break: a\xa0b\n",
    "{json: 1}\n",
    "just words\n",
    "- an item\n",
    '"no end: x\n',
    "marker: |\n---\n",
    "bare: |",
    "comma: [a,, b]\n",
    "colon:nospace\n",
    "hash: a#b #c\n",
    "deep: [[[[1]]], {a: {b: c}}]\n",
    "seq: - a\n",
    "markdown: [t](http://e.org)\n",
    "bold: **x**\n",
    "under:\n  a: 1\n   b: 2\n",
    "loop: &l [*l]\n",
    "null:\n",
    "'': empty\n",
    "dates: [2026-02-30, 2026-03-16]\n",
]
ODD_TAGS = [
    "tags: brain\n",
    "tags: brain, boat # why\n",
    "tags: '#brain #boat'\n",
    "tag: brain\n",
    "tags:\n",
    "tags: null # none yet\n",
    "tags: {a: b}\n",
    "tags: [a, [b]]\n",
    "tags: &t [a]\nmore: *t\n",
    "of: &t [a]\ntags: *t\n",
    "tags: |\n  a\n  b\n",
    "tags:\n  - a\n  - - b\n",
    "tags:\n  - #brain\n  - boat\n",
    "tags:\n  - |\n    a\n  - b\n",
    "tags: [a, &x b, *x]\n",
    "tags: [a # why\n  , b]\n",
    "tags: !!seq [a]\n",
    "tags: [brain]\nTags: [boat]\n",
    "tags:\n  -   a\n\n  -\tb\n",
    "tags:   [  a  ,  b  ]   \n",
    "tags: [a]#b\n",
]
_SIGNS = [
    *("|", ">", "#", ",", "%", "'", '"', ":", "[", "]", "{", "}", "*x"),
    *(" ", "  ", "- ", "? ", "\t", "\n", "\n"),
]
_LINES = ["---\n", "...\n", "\r\n", "\u2028", "x: 1\n", "tags:\n  - a\n"]
PIECES = ["a", "b", "tags", "&x ", "!!str ", *_SIGNS, *_LINES]

ANY_TAGS = st.sampled_from(TAGS)
_BOM = b"\xef\xbb\xbf"


@st.composite
def notes(draw: st.DrawFn, tags: st.SearchStrategy[str] = ANY_TAGS) -> bytes:
    """A note whose properties can be edited, or that has none."""
    body = draw(st.sampled_from(BODIES))
    before = draw(st.lists(st.sampled_from(ENTRIES), max_size=4, unique=True))
    after = draw(
        st.lists(st.sampled_from([e for e in ENTRIES if e not in before]), max_size=3, unique=True)
    )
    fence = draw(st.sampled_from(["---\n", "---\n", "---  \n"]))
    block = "".join(before) + draw(tags) + "".join(after)
    text = f"---\n{block}{fence}{body}" if block or draw(st.booleans()) else body
    data = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"]))).encode()
    if draw(st.booleans()) and text.endswith("\n---\n"):
        data = data.rstrip(b"\r\n")
    return (_BOM if draw(st.booleans()) else b"") + data


HOSTILE = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@st.composite
def _odd_blocks(draw: st.DrawFn) -> str:
    some = st.lists(
        st.one_of(st.sampled_from(ENTRIES), st.sampled_from(ODD_ENTRIES)), max_size=3, unique=True
    )
    tags = draw(st.one_of(ANY_TAGS, st.sampled_from(ODD_TAGS)))
    block = "".join(draw(some)) + tags + "".join(draw(some))
    if draw(st.sampled_from([False] * 7 + [True])):
        block = "".join(f"  {line}" for line in block.splitlines(keepends=True))
    return block


ODD_BLOCKS = st.sampled_from([_odd_blocks()] * 3 + [HOSTILE.map("{}\n".format)]).flatmap(
    lambda blocks: blocks
)


@st.composite
def _oddly_made(draw: st.DrawFn) -> bytes:
    """Odd properties between the usual fences."""
    text = f"---\n{draw(ODD_BLOCKS)}---\n{draw(st.sampled_from(BODIES))}"
    data = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()
    return (_BOM if draw(st.booleans()) else b"") + data


@st.composite
def _oddly_fenced(draw: st.DrawFn) -> bytes:
    """Fences that are none or not closed, and line ends of old machines or of several."""
    block = draw(st.one_of(ODD_BLOCKS, st.sampled_from(TAGS)))
    opening = draw(st.sampled_from(["---\n", "--- \n", "----\n", "\n---\n", ""]))
    closing = draw(st.sampled_from(["---\n", "---\t\n", "...\n", "", "---"]))
    parts = (opening + block + closing + draw(st.sampled_from(BODIES))).split("\n")
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=4))
    text = parts[0] + "".join(ends[at % len(ends)] + part for at, part in enumerate(parts[1:]))
    return (_BOM if draw(st.booleans()) else b"") + text.encode()


@st.composite
def odd_notes(draw: st.DrawFn) -> bytes:
    """A note whose properties are odd, wrong, never closed, or end their lines in odd ways."""
    kind = draw(st.sampled_from(["made"] * 14 + ["fenced"] * 5 + ["not text"]))
    if kind == "made":
        return draw(_oddly_made())
    if kind == "fenced":
        return draw(_oddly_fenced())
    return draw(notes()) + draw(st.sampled_from([b"caf\xe9", b"\0"]))


# What is written into them.

SCALARS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["no", "null", "12:30", "2026-03-16", "2026-02-30", "2026-03-16T29:30:00", "[[A|b]]"]
    ),
    st.sampled_from(
        ["[[Old plan]]", "a: b", "#x", "- a", " x ", "---", "...", "it's", "x\ny", "%a"]
    ),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)
VALUES: st.SearchStrategy[PropertyValue] = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
OWN = st.sampled_from(["second-brain-id", "second-brain-source", "supersedes"])
NEW_TAGS = st.lists(
    st.sampled_from(
        ["new", "brain/work", "three words", "été", "1990s", "a,b", "x: y", "[[N]]", "no"]
    ),
    min_size=1,
    max_size=3,
    unique=True,
)
LINKS = st.lists(
    st.sampled_from(
        ["[[Old plan]]", "[[Archive/Été 2026]]", '[[It\'s "here"]]', "[[a]]", "[[{x}, y]]"]
    ),
    min_size=1,
    max_size=2,
    unique=True,
)
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(
        ["", "new\n", "a\r\nb", "---\n\nrule\n\n---\n", "---\na: 1\n---\nx", "\n\n  x"]
    ),
)
