"""The answers of the REST endpoints as schemas. Closed: a field that is not here is a mistake."""

from __future__ import annotations

from second_brain.memory.model import KINDS, STATUSES
from second_brain.memory.reviewing import DECISIONS
from second_brain.server.schema import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    TIME,
    Schema,
    always,
    array,
    closed,
    either,
    extended,
    nullable,
    one_of,
    optional,
)

OK: Schema = always(True)
KIND = nullable(one_of(KINDS))
STATUS = nullable(one_of(STATUSES))

ERROR = closed(ok=always(False), error=TEXT, field=optional(TEXT), path=optional(TEXT))

_COMMON = {"id": TEXT, "content": TEXT, "source": TEXT, "created_at": TIME}
_PLACE = {"title": TEXT, "path": TEXT, "url": TEXT}
ENTRY = closed(**_COMMON, tags=array(TEXT), **_PLACE)
_IN_A_STRING: Schema = {"type": "string", "description": "a JSON array in a string"}

LIST = array(
    closed(
        **_COMMON,
        tags=_IN_A_STRING,
        vector_ids=_IN_A_STRING,
        **_PLACE,
        kind=KIND,
        status=STATUS,
        updated=TIME,
    )
)

_MATCH = {"matchId": TEXT, "score": NUMBER, "message": TEXT}
CAPTURED = either(
    closed(ok=always(False), duplicate=always(True), **_MATCH),
    closed(ok=OK, id=TEXT, warning=always("similar"), path=nullable(TEXT), **_MATCH),
    closed(ok=OK, id=TEXT, message=TEXT, path=nullable(TEXT)),
)
LIKENESSES = closed(
    ok=OK,
    memories=array(
        extended(
            ENTRY,
            standing=one_of(("duplicate", "similar", "related")),
            score=nullable(NUMBER),
            news=nullable(TEXT),
        )
    ),
)
APPENDED = closed(ok=OK, id=TEXT, message=TEXT)
UPDATED = closed(ok=OK, id=TEXT, vectors=INTEGER, message=TEXT)
FORGOTTEN = closed(ok=OK, id=TEXT, deletedVectors=INTEGER, trashed=nullable(TEXT), message=TEXT)

RECALLED = closed(
    ok=OK,
    results=array(
        extended(
            ENTRY,
            score=NUMBER,
            updated=TIME,
            hop=INTEGER,
            heading=TEXT,
            passage=TEXT,
            date=TEXT,
            kind=KIND,
            status=STATUS,
            explain=optional(ANYTHING),
        )
    ),
    insight=nullable(TEXT),
    query_used=TEXT,
    semantic_unavailable=BOOLEAN,
    message=optional(TEXT),
    notice=optional(TEXT),
)

_DIRECTION = one_of(("out", "in"))
LINKED = closed(ok=OK, source_id=TEXT, target_id=TEXT, type=TEXT)
UNLINKED = closed(ok=OK, deleted=INTEGER)
_REVIEWED_SIDE = closed(
    **_COMMON, tags=array(TEXT), **_PLACE, status=STATUS, importance=nullable(INTEGER)
)
REVIEWS = closed(
    ok=OK,
    total=INTEGER,
    items=array(
        closed(
            id=INTEGER,
            kind=TEXT,
            suggestion=one_of(DECISIONS),
            reason=TEXT,
            found_by=TEXT,
            score=NUMBER,
            at=TIME,
            newcomer=_REVIEWED_SIDE,
            known=_REVIEWED_SIDE,
            merged=nullable(TEXT),
        )
    ),
)
REVIEWED = closed(
    ok=OK, id=INTEGER, decision=one_of(DECISIONS), winner=nullable(TEXT), writes=array(INTEGER)
)
UNRESOLVED = closed(
    ok=OK,
    total=INTEGER,
    links=array(closed(id=TEXT, **_PLACE, target=TEXT, type=TEXT, property=nullable(TEXT))),
)
CONNECTIONS = closed(
    ok=OK,
    id=TEXT,
    connections=array(
        extended(ENTRY, type=TEXT, label=TEXT, weight=NUMBER, direction=_DIRECTION, provenance=TEXT)
    ),
)
GRAPH = closed(
    ok=OK,
    nodes=array(
        closed(
            id=TEXT,
            label={"type": "string", "maxLength": 80},
            tags=array(TEXT),
            kind=KIND,
            status=STATUS,
            importance=nullable(INTEGER),
            created_at=TIME,
        )
    ),
    edges=array(closed(source=TEXT, target=TEXT, type=TEXT, weight=NUMBER)),
)
WHOLE = closed(
    ok=OK,
    **_COMMON,
    tags=array(TEXT),
    **_PLACE,
    kind=KIND,
    status=STATUS,
    importance=nullable(INTEGER),
    updated=TIME,
    version=TEXT,
    links=array(
        closed(
            id=TEXT,
            title=TEXT,
            path=TEXT,
            type=TEXT,
            label=TEXT,
            direction=_DIRECTION,
            provenance=TEXT,
        )
    ),
)
STATUS_SET = closed(ok=OK, id=TEXT, status=one_of(STATUSES))

_COUNTED = array(closed(tag=TEXT, count=INTEGER))
STATS = closed(
    count=INTEGER,
    avg_importance=nullable(NUMBER),
    top_tags=_COUNTED,
    digest_candidates=_COUNTED,
    unvectorized=INTEGER,
    vectorize_grace_ms=INTEGER,
    unclassified=INTEGER,
)
HEALTH = closed(
    ok=BOOLEAN,
    version=TEXT,
    vectorize=closed(
        ok=BOOLEAN,
        indexName=nullable(TEXT),
        dimensions=nullable(INTEGER),
        error=optional(TEXT),
    ),
    vault=ANYTHING,
    index=ANYTHING,
    embedding=ANYTHING,
    llm=ANYTHING,
    problems=array(closed(kind=TEXT, path=nullable(TEXT), message=TEXT, hint=TEXT)),
)
EXPORT = closed(
    ok=OK,
    exported_at=TIME,
    version=always(2),
    entries=array(
        extended(
            ENTRY,
            recall_count=INTEGER,
            importance_score=INTEGER,
            contradiction_wins=INTEGER,
            contradiction_losses=INTEGER,
            kind=KIND,
            status=STATUS,
        )
    ),
    edges=array(
        closed(
            source_id=TEXT,
            target_id=TEXT,
            type=TEXT,
            weight=NUMBER,
            provenance=TEXT,
            created_at=TIME,
        )
    ),
)


def notes(statuses: tuple[str, ...]) -> Schema:
    """The answer of /notes."""
    link = closed(
        target=TEXT,
        path=nullable(TEXT),
        type=TEXT,
        property=nullable(TEXT),
        provenance=TEXT,
    )
    note = closed(
        path=TEXT,
        id=TEXT,
        status=one_of(statuses),
        reason=nullable(TEXT),
        title=TEXT,
        tags=array(TEXT),
        aliases=array(TEXT),
        links=array(link),
        size=INTEGER,
        modified=TIME,
        indexed_at=nullable(TIME),
        hash=TEXT,
    )
    return closed(ok=OK, total=INTEGER, next_cursor=nullable(TEXT), notes=array(note))


HISTORY = closed(
    ok=OK,
    writes=array(
        closed(
            n=INTEGER,
            id=TEXT,
            path=TEXT,
            at=TIME,
            client=TEXT,
            tool=TEXT,
            summary=TEXT,
            undone=BOOLEAN,
        )
    ),
)
UNDONE = closed(ok=OK, n=INTEGER, id=TEXT, path=TEXT)
CONTENT = closed(
    ok=OK,
    id=TEXT,
    path=TEXT,
    n=optional(INTEGER),
    side=optional(one_of(("before", "after"))),
    content=nullable(TEXT),
    encoding=nullable(one_of(("utf-8", "base64"))),
)
REINDEXED = either(
    closed(ok=OK, rebuilding=always(True)),
    closed(ok=OK, deleted=INTEGER, paths=array(TEXT)),
)
INSIGHT = closed(
    ok=OK,
    insight=nullable(TEXT),
    by=nullable(one_of(("model", "extract"))),
    sources=array(closed(id=TEXT, title=TEXT, path=TEXT, url=TEXT)),
)
MAINTAINED = closed(
    ok=OK,
    enabled=BOOLEAN,
    hour=nullable(INTEGER),
    running=nullable(TEXT),
    last=nullable(
        closed(
            day=TEXT,
            begun=TIME,
            done=ANYTHING,
            finished=nullable(TIME),
            wanted=BOOLEAN,
        )
    ),
    left=array(TEXT),
)
DIGEST = either(
    closed(tag=TEXT, synthesis=TEXT, entry_id=TEXT, source_count=INTEGER),
    closed(
        tag=TEXT,
        error=TEXT,
        source_count=INTEGER,
        waiting=optional(BOOLEAN),
        extract=optional(TEXT),
    ),
)
RESOLVED = closed(ok=OK, id=TEXT, action=one_of(("confirm", "dismiss")))
BATCH = closed(processed=INTEGER, failed=INTEGER, remaining=INTEGER, message=optional(TEXT))
INTEGRATIONS = closed(
    ok=OK,
    integrations=array(
        closed(
            provider=TEXT,
            name=TEXT,
            connected=BOOLEAN,
            status=TEXT,
            workspaceName=nullable(TEXT),
            lastSyncedAt=nullable(TIME),
            lastSyncError=nullable(TEXT),
            itemCount=INTEGER,
        )
    ),
)
CLIENTS = closed(
    ok=OK,
    clients=array(
        closed(
            id=TEXT,
            name=TEXT,
            registered_at=TIME,
            logins=INTEGER,
            last_used=nullable(TIME),
        )
    ),
)
REVOKED = closed(ok=OK, id=TEXT, name=TEXT, revoked=INTEGER)
