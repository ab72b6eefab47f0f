"""Each REST endpoint in a line or two: what it does, what it takes, how it can answer.

The tests hold this to the handlers: a parameter that one of them reads and this does not name, an
answer or a status that is not here, is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from second_brain.memory.model import KINDS, RELATION_TYPES, STATUSES
from second_brain.memory.reviewing import DECISIONS
from second_brain.server import answers
from second_brain.server.owner import SIDES
from second_brain.server.rest import NOTE_STATUSES
from second_brain.server.schema import (
    BOOLEAN,
    INTEGER,
    TEXT,
    Schema,
    array,
    closed,
    nullable,
    one_of,
)

JSON = "application/json"
EVENTS = "text/event-stream"
PLAIN = "text/plain"
IMAGE = "image/*"

_SOME_TEXT: Schema = {"type": "string", "minLength": 1, "pattern": r"\S"}
_TAGS: Schema = {**array(TEXT), "maxItems": 100}
_BY_ID = (400, 404)
_WRITE = (*_BY_ID, 409, 507)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a body or of an address. `about` says what the schema cannot."""

    schema: Schema
    required: bool = False
    about: str = ""


Parameters = Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class Operation:
    """`place` are the parts of the path in braces; `refusals` beside those that every endpoint
    has; `media` is the type of the answer."""

    summary: str
    answer: Schema
    query: Parameters = field(default_factory=dict)
    place: Parameters = field(default_factory=dict)
    body: Parameters | None = None
    refusals: tuple[int, ...] = ()
    media: str = JSON


def _id(about: str = "the id of a memory") -> Parameter:
    return Parameter(_SOME_TEXT, required=True, about=about)


def _text(about: str = "") -> Parameter:
    return Parameter(_SOME_TEXT, required=True, about=about)


def _maybe(schema: Schema = TEXT, about: str = "") -> Parameter:
    return Parameter(schema, about=about)


def _maybe_null(schema: Schema, about: str = "") -> Parameter:
    """Of a body: null is as good as absent."""
    return Parameter(nullable(schema), about=about)


def _number(default: int, low: int, high: int) -> Parameter:
    schema: Schema = {"type": "integer", "default": default}
    return Parameter(schema, about=f"brought into {low} to {high}")


_SPAN = {
    "after": _maybe(INTEGER, "Unix milliseconds, or an ISO 8601 date"),
    "before": _maybe(INTEGER, "Unix milliseconds, or an ISO 8601 date"),
}
_TAG = {"tag": _maybe(about="a tag, which includes those below it")}

OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/capture"): Operation(
        "Store a text as a memory, unless it is one already",
        answers.CAPTURED,
        body={
            "content": _text(),
            "tags": _maybe_null(_TAGS),
            "source": _maybe_null(TEXT, "who sends it; `api` by default"),
            "title": _maybe_null(TEXT, "the note's name"),
        },
        refusals=(400, 409, 507),
    ),
    ("POST", "/append"): Operation(
        "Add text below a memory, dated",
        answers.APPENDED,
        body={"id": _id(), "addition": _text()},
        refusals=_WRITE,
    ),
    ("POST", "/update"): Operation(
        "Replace the text of a memory",
        answers.UPDATED,
        body={
            "id": _id(),
            "content": _text(),
            "base": _maybe_null(
                TEXT, "the `version` of /get that this was made from: 409 if it is another by now"
            ),
        },
        refusals=_WRITE,
    ),
    ("POST", "/similar"): Operation(
        "The memories that a text would be compared with if it were stored; nothing is",
        answers.LIKENESSES,
        body={"content": _text(), "title": _maybe_null(TEXT, "the note's name")},
        refusals=(400,),
    ),
    ("POST", "/forget"): Operation(
        "Move a memory's note to the trash, or make a note of the user's own no memory any more",
        answers.FORGOTTEN,
        body={"id": _id()},
        refusals=_WRITE,
    ),
    ("POST", "/link"): Operation(
        "Relate two memories",
        answers.LINKED,
        body={
            "source_id": _id(),
            "target_id": _id(),
            "type": _maybe_null(one_of(RELATION_TYPES), "`relates_to` by default"),
        },
        refusals=_WRITE,
    ),
    ("POST", "/unlink"): Operation(
        "Take relations between two memories away",
        answers.UNLINKED,
        body={
            "source_id": _id(),
            "target_id": _id(),
            "type": _maybe_null(one_of(RELATION_TYPES), "all types by default"),
        },
        refusals=_WRITE,
    ),
    ("POST", "/status"): Operation(
        "Say what a memory is worth",
        answers.STATUS_SET,
        body={"id": _id(), "status": Parameter(one_of(STATUSES), required=True)},
        refusals=_WRITE,
    ),
    ("POST", "/undo"): Operation(
        "Take one write back",
        answers.UNDONE,
        body={"n": Parameter(INTEGER, required=True, about="its number in the history")},
        refusals=_WRITE,
    ),
    ("GET", "/list"): Operation(
        "The newest memories",
        answers.LIST,
        query={
            "n": _number(20, 1, 100),
            "offset": _number(0, 0, 10_000_000),
            **_TAG,
            **_SPAN,
            "kind": _maybe(one_of(KINDS)),
            "status": _maybe(one_of(STATUSES)),
        },
        refusals=(400,),
    ),
    ("GET", "/recall"): Operation(
        "Search by meaning and by words",
        answers.RECALLED,
        query={
            "query": Parameter(_SOME_TEXT, about="required, or `q` in its place"),
            "q": Parameter(_SOME_TEXT),
            "topK": _number(5, 1, 20),
            **_TAG,
            **_SPAN,
            "kind": _maybe(one_of(KINDS)),
            "status": _maybe(one_of(STATUSES), "deprecated ones are found only when asked for"),
            "hops": _number(0, 0, 3),
            "max_chars": _number(20_000, 200, 1_000_000),
            "explain": _maybe(BOOLEAN, "say how each score came about"),
            "insight": _maybe(BOOLEAN, "say what the results tell together"),
        },
        refusals=(400,),
    ),
    ("GET", "/review"): Operation(
        "Pairs of memories that may not both hold, or not both be needed, the newest first",
        answers.REVIEWS,
        query={"n": _number(50, 1, 200)},
        refusals=(400,),
    ),
    ("POST", "/review/{id}"): Operation(
        "Decide such a pair: keep both, let one replace the other, merge them, or drop the doubt",
        answers.REVIEWED,
        place={"id": Parameter(INTEGER, required=True, about="the pair's number")},
        body={
            "decision": Parameter(one_of(DECISIONS), required=True),
            "winner": _maybe_null(
                TEXT,
                "the memory that stands; by default the newcomer replaces and the known "
                "one takes in",
            ),
        },
        refusals=_WRITE,
    ),
    ("GET", "/unresolved"): Operation(
        "The links of memories that lead nowhere, memory by memory",
        answers.UNRESOLVED,
        query={"n": _number(100, 1, 1_000)},
        refusals=(400,),
    ),
    ("GET", "/connections"): Operation(
        "The memories that a memory is related to",
        answers.CONNECTIONS,
        query={"id": _id(), "type": _maybe(one_of(RELATION_TYPES))},
        refusals=_BY_ID,
    ),
    ("GET", "/entry"): Operation(
        "One memory",
        closed(ok=answers.OK, entry=answers.ENTRY),
        query={"id": _id()},
        refusals=_BY_ID,
    ),
    ("GET", "/get"): Operation(
        "One memory with all that is known of it, or the part under a heading",
        answers.WHOLE,
        query={
            "id": _id(),
            "heading": _maybe(about="a heading, or a path of them: `Plan > Costs`"),
        },
        refusals=_BY_ID,
    ),
    ("GET", "/image"): Operation(
        "An image of the vault that a note shows; for the owner",
        TEXT,
        query={
            "target": Parameter(_SOME_TEXT, required=True, about="as the link names it"),
            "from": _maybe(about="the path of the note that the link is in"),
        },
        refusals=(400, 403, 404),
        media=IMAGE,
    ),
    ("GET", "/graph"): Operation(
        "Memories and the relations between them",
        answers.GRAPH,
        query={
            "seed": _maybe(about="the id of a memory whose surroundings are meant"),
            "limit": _number(0, 0, 10_000),
        },
        refusals=_BY_ID,
    ),
    ("GET", "/count"): Operation("How many memories there are", closed(count=INTEGER)),
    ("GET", "/tags"): Operation("All tags, sorted", array(TEXT)),
    ("GET", "/stats"): Operation("The memories in numbers", answers.STATS),
    ("GET", "/health"): Operation(
        "How vault, index and model are, and what the user should know", answers.HEALTH
    ),
    ("GET", "/export"): Operation("Every memory and every relation", answers.EXPORT),
    ("GET", "/notes"): Operation(
        "Every Markdown file that is known, memory or not",
        answers.notes(NOTE_STATUSES),
        query={
            "path": _maybe(about="this file only"),
            "status": _maybe(one_of(NOTE_STATUSES)),
            "n": _number(100, 1, 1_000),
            "cursor": _maybe(about="`next_cursor` of the page before"),
        },
        refusals=(400,),
    ),
    ("GET", "/history"): Operation(
        "What agents and clients wrote, newest first",
        answers.HISTORY,
        query={"id": _maybe(about="an id, or its beginning"), "n": _number(20, 1, 1_000)},
        refusals=(400,),
    ),
    ("GET", "/history/content"): Operation(
        "A note's file around a write, or as it is now; for the owner",
        answers.CONTENT,
        query={
            "id": _maybe(about="an id, or its beginning"),
            "n": _maybe(INTEGER, "a write's number in the history"),
            "side": _maybe(one_of(SIDES)),
        },
        refusals=(400, 403, 404),
    ),
    ("POST", "/reindex"): Operation(
        "Build the index anew; for the owner",
        answers.REINDEXED,
        body={
            "accept_deletions": _maybe_null(
                BOOLEAN, "instead, take notes that are held back as missing for deleted"
            )
        },
        refusals=(400, 403),
    ),
    ("POST", "/chat"): Operation(
        "Answer a question from memories, piece by piece",
        TEXT,
        body={"query": _text(), "memories": _maybe_null(TEXT)},
        refusals=(400,),
        media=EVENTS,
    ),
    ("GET", "/insight"): Operation(
        "Say what the memories on a question tell together, with the memories that say so",
        answers.INSIGHT,
        query={
            "query": Parameter(_SOME_TEXT, about="required, or `q` in its place"),
            "q": Parameter(_SOME_TEXT),
            "topK": _number(5, 1, 20),
            **_TAG,
            **_SPAN,
        },
        refusals=(400,),
    ),
    ("GET", "/digest"): Operation(
        "Condense the old memories of a tag",
        answers.DIGEST,
        query={"tag": Parameter(_SOME_TEXT, required=True)},
        refusals=(400, 507),
    ),
    ("POST", "/patterns/resolve"): Operation(
        "Keep or drop a pattern that was found",
        answers.RESOLVED,
        body={"id": _id(), "action": Parameter(one_of(("confirm", "dismiss")), required=True)},
        refusals=_WRITE,
    ),
    ("POST", "/classify-pending"): Operation("Classify a batch of memories", answers.BATCH),
    ("POST", "/vectorize-pending"): Operation(
        "Wait for a batch of memories to be indexed", answers.BATCH
    ),
    ("GET", "/maintain"): Operation(
        "What was tidied up last, and what is being done; for the owner",
        answers.MAINTAINED,
        refusals=(403,),
    ),
    ("POST", "/maintain"): Operation(
        "Begin to tidy up now; for the owner", answers.MAINTAINED, refusals=(403,)
    ),
    ("GET", "/integrations"): Operation("Connected services", answers.INTEGRATIONS),
    ("GET", "/events"): Operation(
        "Each change of a note, as it happens",
        TEXT,
        media=EVENTS,
    ),
    ("GET", "/metrics"): Operation("Counters and gauges for Prometheus", TEXT, media=PLAIN),
    ("GET", "/clients"): Operation(
        "The applications that are let in; for the owner",
        answers.CLIENTS,
        query={"all": _maybe(BOOLEAN, "those too that only registered")},
        refusals=(400, 403),
    ),
    ("POST", "/clients/revoke"): Operation(
        "End every login of an application; for the owner",
        answers.REVOKED,
        body={"id": _id("an application's id, or its beginning")},
        refusals=(400, 403, 404),
    ),
}
