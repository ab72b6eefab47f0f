"""Every edit that the product makes in a note, as hypothesis strategies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from written_notes import KEYS, LINKS, NEW_TAGS, OWN, TEXTS, VALUES

from second_brain.memory.model import RELATION_TYPES
from second_brain.vault.edit import (
    add_to_list,
    append_text,
    remove_from_list,
    replace_body,
    replace_items,
    set_properties,
)
from second_brain.vault.model import PropertyValue
from second_brain.vault.note import OPT_OUT_KEY, STATUS_KEY

Change = Callable[[bytes], bytes]
RELATIONS = st.sampled_from([*RELATION_TYPES, "second-brain-related"])


@dataclass(frozen=True)
class Edit:
    """An edit of the property `key`, or of the text.

    `value` is what the property is then, `items` what its list holds then, `gone` what no more;
    without any of them the property is gone.
    """

    name: str
    change: Change
    key: str | None = None
    value: PropertyValue = None
    items: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.name


def set_to(key: str, value: PropertyValue) -> Edit:
    return Edit(
        f"set {key} to {value!r}", lambda data: set_properties(data, {key: value}), key, value
    )


def removed(key: str) -> Edit:
    return Edit(f"remove {key}", lambda data: set_properties(data, {key: None}), key)


def added(key: str, items: list[str]) -> Edit:
    return Edit(
        f"add {items} to {key}",
        lambda data: add_to_list(data, key, items),
        key,
        items=tuple(items),
    )


def taken_out(key: str, items: list[str]) -> Edit:
    return Edit(
        f"take {items} out of {key}",
        lambda data: remove_from_list(data, key, items),
        key,
        gone=tuple(items),
    )


def renamed(key: str, old: str, new: str) -> Edit:
    return Edit(
        f"replace {old} in {key} by {new}",
        lambda data: replace_items(data, key, {old: new}),
        key,
        gone=(old,),
    )


def appended(text: str) -> Edit:
    return Edit(f"append {text!r}", lambda data: append_text(data, text))


def replaced(text: str) -> Edit:
    return Edit(f"replace the text by {text!r}", lambda data: replace_body(data, text))


STATUSES = st.sampled_from(["draft", "canonical", "deprecated"])
ANY_KEY = st.one_of(st.sampled_from(KEYS), OWN, st.sampled_from(["a", "b", "x"]))
LISTED = st.sampled_from(["brain", "boat", "a", "2023", "two words"])
LINKED = st.sampled_from(["[[A|shown]]", "[[B#Part]]", "[[Mast]]", "[[Home]]"])

PROPERTY_EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(set_to, OWN, VALUES),
    st.builds(set_to, st.just(STATUS_KEY), STATUSES),
    st.builds(set_to, st.just(OPT_OUT_KEY), st.just(False)),
    st.builds(set_to, ANY_KEY, VALUES),
    st.builds(removed, ANY_KEY),
    st.builds(added, st.just("tags"), NEW_TAGS),
    st.builds(taken_out, st.just("tags"), st.lists(LISTED, min_size=1, max_size=2)),
    st.builds(added, RELATIONS, LINKS),
    st.builds(added, st.sampled_from(["related", "links", "up"]), LINKS),
    st.builds(taken_out, st.sampled_from(["related", "links", "up"]), st.lists(LINKED, min_size=1)),
    st.builds(
        renamed, st.sampled_from(["related", "links", "up"]), LINKED, LINKS.map(lambda ls: ls[0])
    ),
)
TEXT_EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(appended, TEXTS), st.builds(replaced, TEXTS)
)
