from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.analyze import (
    MAX_QUERY_TERMS,
    MAX_TERM,
    parse_query,
    query_terms,
    terms,
)


def finds(query: str, text: str) -> bool:
    return bool(set(query_terms(query)) & set(terms(text).split(" ")))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("v1.9", "Release v1.9 is out"),
        ("1.9", "Release v1.9 is out"),
        ("#149", "fixed in #149."),
        ("149", "fixed in #149."),
        ("ADR-016", "see ADR-016"),
        ("adr 16", "see ADR-016"),
        ("GB/s", "reads 3.5 GB/s"),
        ("C++", "written in C++, mostly"),
        ("c#", "written in C#."),
        ("don't", "I don’t know"),
        ("snake_case", "use snake_case here"),
        ("snake", "use snake_case here"),
        ("camel", "a camelCaseName"),
        ("camelCaseName", "a camelcasename"),
        ("jane.doe@example.com", "write to <jane.doe@example.com>"),
        ("example.com", "write to jane.doe@example.com"),
        ("https://example.com/a-page", "at [x](https://www.example.com/a-page)"),
        ("example.com", "at https://www.example.com/a-page?q=1"),
        ("page", "at https://www.example.com/a-page?q=1"),
        ("chunk.py", "src/index/chunk.py"),
        ("été", "l'été dernier"),
        ("ete", "L’été dernier"),
        ("equipe", "la réunion d'équipe"),
        ("meeting", "two meetings"),
        ("réunion", "les reunions"),
        ("mangé", "une pomme mangée"),
        ("coeur", "cœur"),
        ("strasse", "Straße"),
        ("email", "an e-mail"),
        ("e-mail", "an email"),
        ("1600", "1,600 characters"),
        ("ﬁne", "fine"),
        ("ＡＢＣ", "abc"),
        ("東京", "東京都に住む"),
        ("京", "東京都に住む"),
        ("서울", "서울에서"),
        ("ไทย", "ภาษาไทย"),
        ("हिन्दी", "यह हिन्दी है"),
        ("москва", "Москва́"),
        ("🚀", "launch 🚀"),
        ("bold", "__bold__ and **text**"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("#149", "149 things"),
        ("C++", "C# and vitamin D"),
        ("大阪", "東京都"),
        ("v1.9", "v1.8 and 2.9"),
        ("the plan", "the cat"),
        ("le projet", "le chat"),
    ],
)
def test_a_query_does_not_find_what_merely_looks_alike(query: str, text: str) -> None:
    exact = set(query_terms(query)[:1])
    assert not exact & set(terms(text).split(" "))


def test_stop_words_are_searched_for_only_if_there_is_nothing_else() -> None:
    assert query_terms("what is the plan") == ["plan"]
    assert query_terms("quel est le plan") == ["plan"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert "the" in terms("the plan").split(" ")


def test_quotes_make_phrases_and_a_lone_quote_does_not() -> None:
    query = parse_query('he wrote "Key Errors" and «le grand été»')
    assert query.phrases == ("key error", "le grand ete")
    assert set(query.terms) >= {"key", "error", "grand", "ete"}
    assert parse_query('a 5" plan').phrases == ()
    assert parse_query('"" “”') == parse_query("")


def test_a_phrase_is_a_run_of_the_terms_of_its_text() -> None:
    text = "Yesterday's réunion d'équipe about 東京都 v1.9 camelCase went well"
    for phrase in ("réunion d'équipe", "東京", "about 東京都 v1.9", "camelCase went"):
        (found,) = parse_query(f'"{phrase}"').phrases
        assert f" {found} " in f" {terms(text)} "


@pytest.mark.parametrize("query", ["", "   ", "***", "[[]]", "'\"\\;--"])
def test_a_query_without_words_has_no_terms(query: str) -> None:
    assert query_terms(query) == []


def test_queries_and_terms_are_bounded() -> None:
    assert len(query_terms(" ".join(f"w{n}x" for n in range(10_000)))) == MAX_QUERY_TERMS
    assert max(map(len, terms("x" * 100_000 + " http://a/" + "y" * 999).split())) == MAX_TERM


@given(st.text())
def test_any_text_gives_terms_safe_for_a_white_space_tokenizer(text: str) -> None:
    found = terms(text)
    assert found.split() == (found.split(" ") if found else [])
    assert all(term == term.casefold() for term in found.split())
    assert terms(found).split() or not found


def test_threads_may_analyse_at_once() -> None:
    texts = [f"meetings réunions word{n} running mangées" for n in range(400)]
    expected = [terms(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(terms, texts)) == expected


def test_pieces_of_an_identifier_are_told_from_words() -> None:
    assert parse_query("ADR-016").parts == {"adr", "016", "16"}
    assert parse_query("v1.9").parts >= {"1.9", "v1"}
    assert parse_query("ADR 16 beside ADR-016").parts == {"016"}
    assert parse_query("low-tide nationaux 2019 C++").parts == frozenset()
    assert parse_query("\x82\xb4 \x12").parts == frozenset()
