"""Recall on a small vault: what is found, left out, cut and counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from live import AGENT, Brain, eventually

from second_brain.errors import InvalidInput
from second_brain.index.embedding import Embedder
from second_brain.memory.model import RecallAnswer

DAY = 86_400_000


def dated(days_ago: float, tags: str, text: str) -> str:
    when = datetime.now().astimezone() - timedelta(days=days_ago)
    return f"---\ntags: [brain, {tags}]\ncreated: {when:%Y-%m-%dT%H:%M:%S}\n---\n{text}\n"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Brain]:
    """A vault of notes that the tests of this module only read."""
    folder = tmp_path_factory.mktemp("recall")
    notes = {
        "Adr.md": "---\ntags: [brain]\n---\n"
        'ADR-016 don\'t use GB/s with tier1-test: see C++ "quoted" and a:b, 50 % off\n',
        "Today.md": dated(0, "Work/Plan", "The regatta budget was agreed: 900 euros. [[Old]]"),
        "Last month.md": dated(40, "work", "The regatta budget was first drafted at 1,200 euros."),
        "Old.md": dated(400, "home", "The regatta budget of the year before was 700 euros."),
        "Journal/2020-05-05.md": dated(300, "diary", "Rowed to the island. [[Last month]] [[Old]]"),
        "Deprecated.md": "---\ntags: [brain]\nsecond-brain-status: deprecated\n---\n"
        "The regatta budget is 5 euros.\n",
        "Untagged.md": "The regatta budget is a secret.\n",
        "Winch.md": "---\ntags: [brain]\n---\n# Winch\n\n"
        + "It stands on the port side of the cockpit. " * 6
        + "\n\n## Grease\n\n"
        + "Use the blue lithium grease for the gears, never for the pawls.\n" * 4
        + "\n## Pawls\n\n"
        + "The pawls take two drops of thin oil.\n" * 6,
        "日本.md": "---\ntags: [brain]\n---\n港の灯台は赤い。朝に霧が出る。\n",
        "Русский.md": "---\ntags: [brain]\n---\nМаяк стоит на северном мысе.\n",
        "Chain 1.md": "---\ntags: [brain]\nfollows: '[[Chain 2]]'\n---\nOystercatcher census.\n",
        "Chain 2.md": "---\ntags: [brain]\nfollows: '[[Chain 3]]'\n---\nA list of birds' rings.\n",
        "Chain 3.md": "---\ntags: [brain]\n---\nThe ferry timetable of the bird island.\n",
        "Dead end.md": "---\ntags: [brain]\nfollows: '[[Deprecated]]'\n---\nPuffin burrows.\n",
        "Long.md": "---\ntags: [brain]\n---\n"
        + "\n\n".join(f"Entry {n}: filler about sails and weather. " * 12 for n in range(80))
        + "\n\nThe hidden treasure is the sextant of great-aunt Hortense.\n",
    }
    brain = Brain(folder / "vault", folder / "data", lambda name: embedder)
    for path, text in notes.items():
        brain.write(path, text)
    with brain:
        yield brain


def paths(answer: RecallAnswer) -> list[str]:
    return [hit.memory.path for hit in answer.hits]


# Filters


def test_a_status_finds_its_own_and_deprecated_ones_only_on_request(vault: Brain) -> None:
    assert "Deprecated.md" not in vault.found("regatta budget", top_k=20)
    assert vault.found("regatta budget", top_k=20, status="deprecated") == ["Deprecated.md"]
    assert vault.found("regatta budget", top_k=20, status="canonical") == []


@pytest.mark.parametrize("tag", ["work", "WORK", "#Work", "work/"])
def test_a_tag_covers_those_nested_in_it_without_case(vault: Brain, tag: str) -> None:
    assert set(vault.found("regatta budget", tag=tag)) == {"Today.md", "Last month.md"}


def test_a_nested_tag_does_not_cover_the_one_above(vault: Brain) -> None:
    assert vault.found("regatta budget", tag="work/plan") == ["Today.md"]
    assert vault.found("regatta budget", tag="no-such-tag") == []
    assert "filters" in (vault.recall("regatta budget", tag="no-such-tag").message or "")


def test_times_are_inclusive(vault: Brain) -> None:
    created = vault.run(vault.memories.get(vault.id("Last month.md"))).created_at
    only = vault.found("regatta budget", after=created, before=created)
    assert only == ["Last month.md"]
    assert "Last month.md" not in vault.found("regatta budget", after=created + 1)
    assert "Last month.md" not in vault.found("regatta budget", before=created - 1)


def test_the_kind(vault: Brain) -> None:
    assert vault.found("rowed to the island", kind="episodic") == ["Journal/2020-05-05.md"]
    assert "Journal/2020-05-05.md" not in vault.found("rowed", kind="semantic", top_k=20)


def test_deprecated_memories_and_other_notes_are_left_out(vault: Brain) -> None:
    found = vault.found("regatta budget", top_k=20)
    assert "Deprecated.md" not in found
    assert "Untagged.md" not in found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("regatta budget from today", {"Today.md"}),
        ("budget de la régate aujourd'hui", {"Today.md"}),
        ("regatta budget of the last 60 days", {"Today.md", "Last month.md"}),
        ("budget de la régate des 60 derniers jours", {"Today.md", "Last month.md"}),
    ],
)
def test_time_phrases_limit_the_search(vault: Brain, query: str, expected: set[str]) -> None:
    answer = vault.recall(query, top_k=20)
    dated = {"Today.md", "Last month.md", "Old.md"}
    assert set(paths(answer)) & dated == expected
    assert "today" not in answer.query_used
    assert "derniers" not in answer.query_used
    now = time.time() * 1000
    assert all(hit.memory.created_at >= now - 62 * DAY for hit in answer.hits)


def test_a_month_that_is_named_may_be_what_a_memory_speaks_of(brain: Brain) -> None:
    dated = "---\ntags: [brain]\ncreated: {}\n---\n{}\n"
    brain.note("Named/1.md", dated.format("2026-04-10", "Bread was dear at the market."))
    brain.note("Named/2.md", dated.format("2026-04-11", "The floats of the nets are cork."))
    brain.note("Named/3.md", dated.format("2025-09-14", "The crane is free on 5 April 2027."))
    assert brain.found("When is the crane free in April?")[0] == "Named/3.md"
    assert brain.found("Quand la grue est-elle libre en avril 2027 ?")[0] == "Named/3.md"
    assert set(brain.found("what did I write in April 2026", top_k=2)) == {
        "Named/1.md",
        "Named/2.md",
    }


def test_of_like_memories_that_of_the_named_time_comes_first(vault: Brain) -> None:
    for name in ("Old.md", "Today.md"):
        created = vault.run(vault.memories.get(vault.id(name))).created_at
        moment = datetime.fromtimestamp(created / 1000)
        answer = vault.recall(f"regatta budget in {moment:%B %Y}", explain=True)
        assert answer.hits[0].memory.path == name, paths(answer)


def test_a_time_phrase_that_leaves_nothing_is_dropped_and_it_is_said(vault: Brain) -> None:
    answer = vault.recall("regatta budget around March 12, 1975")
    assert "Today.md" in paths(answer)
    assert "around March 12, 1975" in (answer.message or "")


def test_explicit_times_and_a_phrase_both_count(vault: Brain) -> None:
    now = int(time.time() * 1000)
    answer = vault.recall("regatta budget of the last 60 days", before=now - 10 * DAY, top_k=20)
    assert paths(answer) == ["Last month.md"]


# Hops


def test_hops_add_neighbours_below_the_direct_matches(vault: Brain) -> None:
    direct = vault.recall('"oystercatcher census"', top_k=1)
    assert paths(direct) == ["Chain 1.md"]
    one = vault.recall('"oystercatcher census"', top_k=1, hops=1, explain=True)
    assert [(hit.memory.path, hit.hop) for hit in one.hits] == [
        ("Chain 1.md", 0),
        ("Chain 2.md", 1),
    ]
    assert one.hits[0].score > one.hits[1].score > 0
    assert one.hits[1].explain == {"via": vault.id("Chain 1.md"), "hop": 1}
    assert "rings" in one.hits[1].content


def test_hops_do_not_reach_deprecated_memories(vault: Brain) -> None:
    assert vault.recall("puffin burrows", top_k=1, hops=3).hits[0].memory.path == "Dead end.md"
    assert "Deprecated.md" not in vault.found("puffin burrows", top_k=1, hops=3)


def test_hops_keep_to_the_filters(vault: Brain) -> None:
    month_ago = int(time.time() * 1000) - 100 * DAY
    query = '"regatta budget was agreed"'
    assert "Old.md" in vault.found(query, top_k=1, hops=1)
    assert vault.found(query, top_k=1, hops=2, tag="work/plan") == ["Today.md"]
    assert vault.found(query, top_k=1, hops=2, after=month_ago) == ["Today.md"]
    rowed = '"rowed to the island"'
    assert len(vault.found(rowed, top_k=1, hops=1)) == 2
    assert vault.found(rowed, top_k=1, hops=1, tag="diary") == ["Journal/2020-05-05.md"]
    assert vault.found(rowed, top_k=1, hops=1, kind="episodic") == ["Journal/2020-05-05.md"]


# Texts


def test_the_passage_that_matched_comes_with_its_heading(vault: Brain) -> None:
    hit = vault.recall("which grease for the winch gears", top_k=1).hits[0]
    assert hit.memory.path == "Winch.md"
    assert hit.heading == "Winch > Grease"
    assert "lithium" in hit.passage
    assert hit.passage in hit.content


def test_the_content_is_whole_where_it_fits(vault: Brain) -> None:
    hit = vault.recall("winch pawls oil", top_k=1).hits[0]
    assert hit.content == vault.run(vault.memories.get(hit.memory.id)).content


@pytest.mark.parametrize("max_chars", [1, 500, 3_000, 20_000])
@pytest.mark.parametrize("top_k", [1, 5, 20])
def test_all_texts_together_keep_to_the_budget(vault: Brain, max_chars: int, top_k: int) -> None:
    answer = vault.recall(
        "regatta sails weather winch great-aunt Hortense", max_chars=max_chars, top_k=top_k, hops=2
    )
    floor = 202 * len(answer.hits)
    assert sum(len(hit.content) for hit in answer.hits) <= max(max_chars + 2 * top_k, floor)
    assert sum(len(hit.passage) for hit in answer.hits) <= max(max_chars + 2 * top_k, floor)


def test_a_long_note_is_cut_around_what_matched(vault: Brain) -> None:
    answer = vault.recall("treasure of great-aunt Hortense", top_k=1, max_chars=1_000)
    hit = answer.hits[0]
    assert hit.memory.path == "Long.md"
    assert "sextant of great-aunt Hortense" in hit.content
    assert hit.content.startswith("…")
    assert len(hit.content) <= 1_002


def test_no_answer_is_a_flood(vault: Brain) -> None:
    answer = vault.recall("sails weather", top_k=20)
    assert sum(len(hit.content) + len(hit.passage) for hit in answer.hits) < 50_000


# Queries


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ADR-016", "Adr.md"),
        ("don't", "Adr.md"),
        ("GB/s", "Adr.md"),
        ("C++", "Adr.md"),
        ("tier1-test AND unicode", "Adr.md"),
        ('"regatta budget was agreed"', "Today.md"),
        ("« regatta budget was agreed »", "Today.md"),
        ("灯台", "日本.md"),
        ("マヤク 霧", "日本.md"),
        ("маяк", "Русский.md"),
    ],
)
def test_words_of_every_kind_are_found(vault: Brain, query: str, first: str) -> None:
    assert vault.found(query)[0] == first


@pytest.mark.parametrize(
    "query",
    [
        *('"', "*", "NEAR(", "a:b", "-", "%", "日本", "AND", "OR NOT", "(((", "'; --", "\\", "^2"),
        *("terms:x", "[a TO b]", "+must -not", "~0.5", "/regex/", "{}", "?", "!!!", "...", "\x00"),
        *('""', '" "', '"unclosed', "“”", "\u202e abc", "a\x00b", "\ud83d", "💡", "e\u0301"),
        *("the of and", "le la les de", "i", "is it?", "\n\t x \n", "tag:#brain path:x"),
        "word " * 2_000,
        "x" * 10_000,
        "日" * 10_000,
        '"a b" ' * 500,
        "a-b_c.d/e:" * 1_000,
    ],
    ids=lambda query: ascii(query[:12]),
)
def test_no_query_is_too_odd(vault: Brain, query: str) -> None:
    started = time.monotonic()
    answer = vault.recall(query, top_k=20, hops=1, explain=True)
    assert time.monotonic() - started < 20
    assert all(0 <= hit.score <= 100 for hit in answer.hits)
    for hit in answer.hits:
        hit.content.encode()


def test_only_stop_words_still_answer(vault: Brain) -> None:
    assert vault.recall("where is it that we were").hits


def test_a_question_in_quotes_that_no_note_holds_falls_back_to_its_words(vault: Brain) -> None:
    assert "Today.md" in vault.found('"budget regatta agreed the"')


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_an_empty_query_is_refused(vault: Brain, query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        vault.recall(query)
    assert caught.value.field == "query"


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("topK", {"top_k": 0}),
        ("topK", {"top_k": 21}),
        ("hops", {"hops": -1}),
        ("hops", {"hops": 4}),
        ("kind", {"kind": "other"}),
        ("max_chars", {"max_chars": 0}),
    ],
)
def test_options_out_of_range(vault: Brain, field: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        vault.recall("regatta", **options)
    assert caught.value.field == field


@pytest.mark.parametrize("tag", ["", "  ", "#", "/"])
def test_an_empty_tag_is_no_filter(vault: Brain, tag: str) -> None:
    assert "Old.md" in vault.found("regatta budget", tag=tag, top_k=20)


# Scores and order


def test_scores_fall_and_stay_between_0_and_100(vault: Brain) -> None:
    for query in ("regatta budget", "lighthouse", "grease", "xyzzy plugh"):
        scores = [hit.score for hit in vault.recall(query, top_k=20).hits]
        assert all(0 <= score <= 100 for score in scores)
        assert max(scores, default=0) == (scores or [0])[0]


def test_a_good_match_scores_high_and_nonsense_low(vault: Brain) -> None:
    exact = vault.recall("The regatta budget was agreed: 900 euros", top_k=1).hits[0]
    assert exact.memory.path == "Today.md"
    assert exact.score >= 85
    nonsense = vault.recall("quantum chromodynamics lattice gauge", top_k=1)
    assert all(hit.score < 50 for hit in nonsense.hits)


def test_top_k(vault: Brain) -> None:
    for top_k in (1, 3, 20):
        assert len(vault.recall("regatta budget sails", top_k=top_k).hits) <= top_k
    assert len(vault.recall("regatta budget sails", top_k=3).hits) == 3


def test_explain_tells_how_the_order_came_about(vault: Brain) -> None:
    hit = vault.recall("regatta budget", top_k=1, explain=True).hits[0]
    assert hit.explain is not None
    assert {"dense", "keyword", "relevance", "recency", "standing"} <= hit.explain.keys()
    assert vault.recall("regatta budget", top_k=1).hits[0].explain is None


def test_asking_in_another_language_finds_it(vault: Brain) -> None:
    assert vault.found("quelle graisse pour les engrenages du winch ?", top_k=3)[0] == "Winch.md"


# What recalling does


def test_direct_hits_are_counted_and_neighbours_are_not(brain: Brain) -> None:
    one, _ = brain.remembered("The cormorant colony has forty nests.")
    two, _ = brain.remembered("Binoculars are in the top drawer of the saloon.")
    brain.run(brain.memories.link(one, two, "follows", caller=AGENT))
    before = brain.daemon.state.counters([one, two])
    assert before == {}
    answer = brain.recall("cormorant colony nests", top_k=1, hops=1)
    assert [hit.memory.id for hit in answer.hits] == [one, two]
    eventually(lambda: one in brain.daemon.state.counters([one]))
    brain.run(brain.memories.finished())
    counters = brain.daemon.state.counters([one, two])
    assert counters[one].recall_count == 1
    assert two not in counters


def test_a_note_that_vanished_this_second_breaks_nothing(brain: Brain) -> None:
    _, path = brain.remembered("The tender is called Bouchon.")
    brain.path(path).unlink()
    hits = brain.recall("tender Bouchon").hits
    gone = [hit for hit in hits if hit.memory.path == path]
    assert gone == [] or "Bouchon" in gone[0].content
    brain.scan()
    assert path not in brain.found("tender Bouchon")


def test_near_copies_do_not_bury_what_else_there_is(brain: Brain) -> None:
    for n in range(6):
        brain.note(f"Copies/{n}.md", f"#brain The galley tap drips at night, report {n}.\n")
    other = "Copies/other.md"
    brain.note(other, "#brain To stop a tap from dripping replace the rubber washer inside.\n")
    found = brain.found("the tap drips, what to do", top_k=5)
    assert other in found


def test_an_empty_vault_says_so(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> None:
    folder = tmp_path_factory.mktemp("empty")
    with Brain(folder / "vault", folder / "data", lambda name: embedder) as empty:
        answer = empty.recall("anything")
        assert answer.hits == ()
        assert answer.message == "There are no memories yet."
        # As at a start, when it is not known yet whether it is empty.
        empty.daemon.sync.last_scan = None
        assert empty.recall("anything").message == (
            "There are no memories yet. The vault is still being read; try again in a moment."
        )
