"""What differs in one fact is new; what is only said in other small words is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.memory.novelty import Novelty, normalise, says_something_new

# Each pair says two different things, so each side is new after the other.
DIFFERENT = [
    # numbers, times, units
    ("The meeting is at 4 pm", "The meeting is at 3 pm"),
    ("La réunion est à 16 h", "La réunion est à 15 h"),
    ("La réunion est à 15h30", "La réunion est à 15h"),
    ("The train leaves at 08:05", "The train leaves at 08:50"),
    ("The train leaves at 8 am", "The train leaves at 8 pm"),
    ("Dinner for four", "Dinner for five"),
    ("Un dîner pour quatre", "Un dîner pour cinq"),
    ("The mast is 9.5 m high", "The mast is 9.5 cm high"),
    ("The mast is 9.5 m high", "The mast is 95 m high"),
    ("Use 300 g of flour", "Use 300 kg of flour"),
    ("Utiliser 300 g de farine", "Utiliser 250 g de farine"),
    ("The water is at -3 °C", "The water is at 3 °C"),
    ("The price is 1 600 €", "The price is 1 900 €"),
    ("The price is 1,600 €", "The price is 1.600 €"),
    ("The price is 40 €", "The price is 40 $"),
    ("The VAT is 5.5 %", "The VAT is 20 %"),
    ("The sail has 18 m²", "The sail has 18 m³"),
    ("It needs 10² bolts", "It needs 102 bolts"),
    ("From 3 to 4 people", "From 4 to 3 people"),
    ("Anna has 3 keys and Ben has 4", "Anna has 4 keys and Ben has 3"),
    ("He was born 3rd of five", "He was born 2nd of five"),
    ("Mix in the ratio 2:1", "Mix in the ratio 1:2"),
    # dates
    ("The survey is on Tuesday", "The survey is on Thursday"),
    ("L'expertise est mardi", "L'expertise est jeudi"),
    ("The lease ends in March", "The lease ends in May"),
    ("Le bail finit en mars", "Le bail finit en mai"),
    ("Launch on 2026-04-12", "Launch on 2026-04-21"),
    ("Launch on 12/04/2026", "Launch on 21/04/2026"),
    ("The plumber comes tomorrow", "The plumber comes today"),
    ("Le plombier vient demain", "Le plombier vient aujourd'hui"),
    ("Bins go out on Mondays", "Bins go out on Monday"),
    # names, identifiers, links
    ("Call Salomé about the sail", "Call Gaspard about the sail"),
    ("Salomé will call the sailmaker", "Gaspard will call the sailmaker"),
    ("Appeler Salomé pour la voile", "Appeler Gaspard pour la voile"),
    ("Anna manages Ben", "Ben manages Anna"),
    ("We deploy with Caddy", "We deploy with Traefik"),
    ("The office is in Lyon", "The office is in Nantes"),
    ("See ADR-016 for the reason", "See ADR-017 for the reason"),
    ("Fixed in v1.9", "Fixed in v1.8"),
    ("Closes #149", "Closes #194"),
    ("The palette uses #1a1a2e", "The palette uses #1a1a2f"),
    ("Read https://example.org/a", "Read https://example.org/b"),
    ("Write to office@example.org", "Write to harbour@example.org"),
    ("Set max_chars in the file", "Set max_hits in the file"),
    ("The class is userStore", "The class is userStorage"),
    ("It is written in C", "It is written in C++"),
    # negation, end of a state, doubt
    ("The server is in Paris", "The server is not in Paris"),
    ("The server is no longer in Paris", "The server is in Paris"),
    ("The server isn't in Paris", "The server is in Paris"),
    ("Le serveur est à Paris", "Le serveur n'est plus à Paris"),
    ("Le serveur est à Paris", "Le serveur n'est pas à Paris"),
    ("Il boit jamais de café", "Il boit du café"),
    ("Il ne boit que du café", "Il boit du café"),
    ("Never restart the worker by hand", "Restart the worker by hand"),
    ("The meeting at 3 pm is cancelled", "The meeting is at 3 pm"),
    ("La réunion de 15 h est annulée", "La réunion est à 15 h"),
    ("Use oil instead of varnish", "Use varnish instead of oil"),
    ("Use oil without varnish", "Use oil with varnish"),
    ("De l'huile au lieu du vernis", "Du vernis au lieu de l'huile"),
    ("We might sell the boat", "We sell the boat"),
    ("Nous vendrons peut-être le bateau", "Nous vendrons le bateau"),
    ("The office was in Lyon", "The office is in Lyon"),
    ("He worked at the harbour", "He works at the harbour"),
    ("Is the meeting at 3 pm?", "The meeting is at 3 pm"),
    ("Only Anna has the key", "Anna has the key"),
    ("Everyone except Anna has the key", "Everyone has the key, Anna too"),
    ("- [x] Order the sail", "- [ ] Order the sail"),
    ("~~Order the sail~~", "Order the sail"),
    ("It is a good idea 👍", "It is a good idea 👎"),
    ("a → b", "a ← b"),
    ("x < y", "x > y"),
    # words and roles
    ("The wall is red", "The wall is blue"),
    ("Le mur est rouge", "Le mur est bleu"),
    ("She prefers tea over coffee", "She prefers coffee over tea"),
    ("Il préfère le thé plutôt que le café", "Il préfère le café plutôt que le thé"),
    ("Copy from the disk to the server", "Copy from the server to the disk"),
    ("The door is open", "The door is closed"),
    ("The heating is on", "The heating is off"),
    ("Turn left after the church", "Turn left before the church"),
    ("Le port est ouvert", "La porte est ouverte"),
    ("The build is red", "The building is red"),
    ("My flight is late", "Your flight is late"),
    ("The universe is large", "The university is large"),
    ("We accept the offer", "We reject the offer"),
    ("La porte est ouverte", "La porte est fermée"),
    ("会议在三点", "会议在四点"),
    # the same words, but in two sentences that each say another thing
    (
        "The mast is 9 m high. The boom is 3 m long.",
        "The mast is 3 m high. The boom is 9 m long.",
    ),
]

# The first says nothing that the second does not.
COVERED = [
    ("The meeting is at 3 pm.", "The meeting is at 3 pm"),
    ("the MEETING   is at 3pm!", "The meeting is at 3 pm"),
    ("Meeting at 3 p.m.", "The meeting is at 3 pm"),
    ("Meeting at 15:00", "The meeting is at 3 pm"),
    ("La réunion est à 15 h", "La réunion est à 15h00"),
    ("Réunion à 15h", "La réunion est à 15:00"),
    ("The user prefers dark mode", "Users prefer dark mode."),
    ("L’écoute est bleue, et la voile aussi", "Les écoutes sont bleues, les voiles aussi"),
    ("Qu’il y ait de l’eau", "Il y ait de l'eau"),
    ("Please note: the key is here, two copies", "The key is here: 2 copies"),
    ("The price is 1600 €", "The price is 1 600 euros"),
    ("Use 3.5 kilos of flour", "Use 3,5 kg of flour"),
    ("It isn't ready", "It is not ready"),
    ("It can't wait", "It cannot wait"),
    ("> The sail is **blue**", "- The sail is blue"),
    ("The key is under the pot", "The key is under the blue pot"),
    ("The sail is blue", "The mast is high.\n\nThe sail is blue and new.\n\nThe hull is white."),
    ("One thing. Another thing.", "Another thing. One thing."),
    ("See https://example.org/a.", "See https://example.org/a/"),
    ("The boat needs oil.\r\nThe mast too.", "The boat needs oil.\nThe mast too."),
    ("", "Anything"),
    ("---", "Anything"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_each_of_two_different_texts_is_new(one: str, other: str) -> None:
    assert says_something_new(one, other)
    assert says_something_new(other, one)


@pytest.mark.parametrize(("new", "known"), COVERED)
def test_the_same_thing_in_other_small_words_is_not_new(new: str, known: str) -> None:
    found = says_something_new(new, known)
    assert not found
    assert found == Novelty()
    assert found.reason == ""


@pytest.mark.parametrize(
    ("new", "known", "reason"),
    [
        ("The meeting is at 4 pm", "The meeting is at 3 pm", "numbers: 4 pm"),
        ("Call Salomé on Tuesday", "Call on Monday", "names: Salomé; dates: Tuesday"),
        ("It is not ready", "It is ready", "negations: not"),
        ("It is ready", "It is not ready", "negations: not"),
        ("See ADR-016 and x.org/a", "See", "identifiers: ADR-016, x.org/a"),
        ("Anna manages Ben", "Ben manages Anna", "order: Anna, Ben"),
        ("See https://example.org/b.", "See", "links: https://example.org/b"),
    ],
)
def test_the_reason_names_what_is_new(new: str, known: str, reason: str) -> None:
    assert says_something_new(new, known).reason == reason


def test_a_fact_from_another_sentence_covers_nothing() -> None:
    known = "Meeting A is at 3 pm. Meeting B is at 4 pm."
    assert says_something_new("Meeting A is at 4 pm.", known)
    assert not says_something_new("Meeting B is at 4 pm.", known)


def test_capitals_make_a_name_of_a_small_word() -> None:
    assert says_something_new("Ask the IT room", "Ask the room").names == ("IT",)


def test_a_changed_word_in_a_long_text_is_found() -> None:
    sentences = [f"Step {n} is about plank number {n} of the deck." for n in range(200)]
    changed = [*sentences]
    changed[120] = "Step 120 is about plank number 120 of the keel."
    assert says_something_new("\n".join(changed), "\n".join(sentences)).words == ("keel",)
    assert not says_something_new("\n".join(sentences[20:40]), "\n".join(sentences))


WORDS = (
    "the boat is not in Brest meeting 3 pm 4 never le bateau n'est plus à Salomé prefers tea over "
    "coffee 2026-03-12 https://example.org v1.9 #149 . ! ? - [ ] [x] ~~ 👍 10² été l'été 1 600 €"
)
WORD = st.sampled_from([*WORDS.split(), "\n", "\n\n"])
TEXTS = st.one_of(st.text(), st.lists(WORD, max_size=25).map(" ".join))


@given(TEXTS)
def test_a_text_is_never_new_after_itself(text: str) -> None:
    assert not says_something_new(text, text)


@given(TEXTS, TEXTS)
def test_a_text_is_never_new_after_itself_and_more(text: str, more: str) -> None:
    assert not says_something_new(text, f"{text}\n\n{more}")


@given(TEXTS, st.integers(10_000, 10**9))
def test_a_sentence_with_a_new_number_is_new(text: str, number: int) -> None:
    if str(number) in text:
        return
    assert says_something_new(f"{text}\n\nThe count is now {number}.", text)
    assert says_something_new(f"The count is now {number}.\n\n{text}", text).numbers


@given(TEXTS, TEXTS)
def test_nothing_raises_and_the_answer_explains_itself(new: str, known: str) -> None:
    found = says_something_new(new, known)
    assert bool(found) == bool(found.reason)


@given(TEXTS)
def test_normalise_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  The  Boat\n is BLUE. ", "the boat is blue"),
        ("It’s here…", "it's here"),
        ("Straße", "strasse"),
        ("ﬁle", "file"),
        ("−3 °C", "-3 °c"),
        ("100 %", "100 %"),
        ("C++!", "c++"),
        ("Ready?", "ready?"),
        ("e\u0301te\u0301", "été"),
        ("", ""),
    ],
)
def test_normal_forms(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("one", "other"), [("10²", "102"), ("1½", "11/2"), ("H₂O", "H2O "), ("-3", "3"), ("①", "1 1")]
)
def test_digits_and_signs_stay_apart(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 50_000 + "a",
        "a+" * 30_000,
        "a.b" * 20_000,
        "- \n" * 30_000,
        "'" * 50_000,
        "#" * 50_000,
    ],
)
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    says_something_new(text, text + " and more")
    assert time.process_time() - started < 5
