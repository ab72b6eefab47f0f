"""The graph in a real browser: found, filtered, walked through, and true to the files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from dashboard_page import Open
from harness import DaemonProcess
from playwright.sync_api import Locator, Page, Route, expect

NODES, EDGES = 5_000, 20_000
TYPES = (
    "relates_to", "supersedes", "caused_by", "decided", "about_person", "part_of_project",
    "follows",
)  # fmt: skip


def settled(page: Page) -> Locator:
    canvas = page.get_by_role("img", name="Graph of")
    expect(canvas).to_have_attribute("data-settled", "true", timeout=90_000)
    return canvas


def find(page: Page, text: str) -> Locator:
    """Choose a memory by its name; what is shown of it."""
    page.get_by_role("combobox", name="Find a memory").fill(text)
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Enter")
    chosen = page.get_by_role("complementary", name="Chosen memory")
    expect(chosen).to_be_visible()
    return chosen


def middle(canvas: Locator) -> dict[str, float]:
    box = canvas.bounding_box()
    assert box is not None
    return {"x": box["width"] / 2, "y": box["height"] / 2}


def test_a_relation_written_in_obsidian_appears_and_is_walked_along(
    open_page: Open, daemon: DaemonProcess, note: Callable[[str, str], str]
) -> None:
    older = note("Zebra older.md", "#brain The rig was a sloop.")
    with open_page("#/graph") as page:
        settled(page)
        status = page.get_by_role("main").get_by_role("status").last
        before = daemon.get("/count")["count"]
        expect(page.get_by_text(f"{before} memories,")).to_be_visible()
        newer = note(
            "Zebra newer.md",
            '---\ntags: [brain]\nsupersedes:\n  - "[[Zebra older]]"\n---\nThe rig is a cutter.',
        )
        expect(page.get_by_text(f"{before + 1} memories,")).to_be_visible()
        chosen = find(page, "zebra new")
        expect(chosen.get_by_role("heading")).to_have_text("Zebra newer")
        expect(chosen.get_by_role("listitem")).to_have_text("supersedes Zebra older")
        chosen.get_by_role("button", name="Zebra older").click()
        expect(chosen.get_by_role("heading")).to_have_text("Zebra older")
        expect(chosen.get_by_role("listitem")).to_have_text("superseded by Zebra newer")
        assert f"node={older}" in page.url
        page.go_back()
        expect(chosen.get_by_role("heading")).to_have_text("Zebra newer")

        chosen.get_by_label("Only its surroundings").check()
        expect(status).to_contain_text(f"2 of {before + 1} memories")
        (daemon.vault / "Zebra newer.md").unlink()
        expect(page.get_by_text(f"{before} memories,")).to_be_visible()
        expect(chosen).to_be_hidden()
        assert newer != older


def test_a_tap_chooses_and_a_second_one_opens(
    open_page: Open, note: Callable[[str, str], str], check_access: Callable[[Page], None]
) -> None:
    name = "Quagga <img src=x onerror=fail()> \u202eמעגן\u202c \u200bmooring"
    id_ = note(f"{name}.md", "#brain Alone at the quay, linked to nothing.")
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with open_page("#/graph", reduced_motion="reduce", **phone) as page:
        canvas = settled(page)
        chosen = find(page, "quagga")
        expect(chosen).to_contain_text("Linked to no other memory.")
        check_access(page)
        # What was found is in the middle of the picture.
        canvas.scroll_into_view_if_needed()
        chosen.get_by_role("button", name="Choose none").click()
        expect(chosen).to_be_hidden()
        canvas.tap(position=middle(canvas))
        expect(chosen.get_by_role("heading")).to_have_text(name)
        canvas.scroll_into_view_if_needed()
        canvas.tap(position=middle(canvas))
        memory = page.get_by_role("dialog")
        expect(memory).to_contain_text("Alone at the quay")
        assert f"memory={id_}" in page.url


def test_relations_kinds_and_tags_are_filtered_in_both_languages(
    open_page: Open, daemon: DaemonProcess, check_access: Callable[[Page], None]
) -> None:
    graph = daemon.get("/graph")
    events = sum(node["kind"] == "episodic" for node in graph["nodes"])
    assert events
    with open_page("#/graph", color_scheme="dark") as page:
        settled(page)
        check_access(page)
        page.get_by_label("Event").uncheck()
        total = len(graph["nodes"])
        expect(page.get_by_text(f"{total - events} of {total} memories")).to_be_visible()
        page.get_by_label("Event").check()
        page.get_by_label("Linked memories only").check()
        linked = {end for edge in graph["edges"] for end in (edge["source"], edge["target"])}
        expect(page.get_by_text(f"{len(linked)} of {total} memories")).to_be_visible()
        for type_ in (
            "related",
            "supersedes",
            "caused by",
            "decided",
            "about a",
            "part of a",
            "follows",
        ):
            page.get_by_label(type_).uncheck()
        expect(page.get_by_text(f"0 of {total} memories")).to_be_visible()
    with open_page("#/graph", locale="fr-FR") as page:
        expect(page.get_by_label("Souvenirs liés seulement")).to_be_visible()


def large_graph() -> str:
    """Clusters with some bridges, as notes have them."""
    chance = random.Random(7)
    nodes = [
        {
            "id": f"n{n}", "label": f"Memory number {n}", "tags": [f"t{n % 40}"],
            "kind": ("semantic", "episodic", None)[n % 3], "status": None, "importance": None,
            "created_at": n,
        }
        for n in range(NODES)
    ]  # fmt: skip
    pairs: dict[tuple[str, str], str] = {}
    while len(pairs) < EDGES:
        one = chance.randrange(NODES)
        near = one - one % 50 + chance.randrange(50)
        other = near if chance.random() < 0.9 else chance.randrange(NODES)
        if one != other:
            pairs.setdefault((f"n{one}", f"n{other}"), chance.choice(TYPES))
    edges = [
        {"source": source, "target": target, "type": type_, "weight": 1}
        for (source, target), type_ in pairs.items()
    ]
    return json.dumps({"ok": True, "nodes": nodes, "edges": edges})


def test_five_thousand_memories_are_drawn_and_answer(open_page: Open) -> None:
    answer = large_graph()

    def give(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=answer)

    # Without motion the picture is drawn once all places are known: the processor draws it here.
    with open_page("#/recall", reduced_motion="reduce") as page:
        page.route("**/graph?*", give)
        page.get_by_role("link", name="Graph").click()
        expect(page.get_by_text("5,000 memories, 20,000 relations")).to_be_visible()
        # While places are still being worked out the page answers.
        chosen = find(page, "memory number 4321")
        expect(chosen.get_by_role("heading")).to_have_text("Memory number 4321")
        page.get_by_label("Event").uncheck()
        expect(page.get_by_text("3,333 of 5,000 memories")).to_be_visible()
