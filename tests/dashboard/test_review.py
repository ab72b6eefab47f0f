"""The review in a real browser: each decision followed through to the files, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard_page import Open
from harness import DaemonProcess, eventually
from playwright.sync_api import Locator, Page, expect


def text_of(daemon: DaemonProcess, path: str) -> str:
    return (daemon.vault / path).read_text(encoding="utf-8")


def pair(daemon: DaemonProcess, known: str, new: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two memories that wait for a decision between them."""
    first = daemon.post("/capture", content=known)
    second = daemon.post("/capture", content=new)
    items = daemon.get("/review")["items"]
    assert any(item["newcomer"]["id"] == second["id"] for item in items), (second, items)
    return first, second


def card(page: Page, part: str, text: str) -> Locator:
    return page.get_by_role("region", name=part).get_by_role("listitem").filter(has_text=text)


def test_one_of_two_that_contradict_is_kept_and_undo_takes_it_back(
    open_page: Open, daemon: DaemonProcess, check_access: Callable[[Page], None]
) -> None:
    known, new = pair(
        daemon,
        "The berth of the Aigrette is on pontoon F, place 12.",
        "The berth of the Aigrette is on pontoon F, place 19.",
    )
    before = text_of(daemon, known["path"]), text_of(daemon, new["path"])
    with open_page("#/review") as page:
        one = card(page, "Contradictions", "Aigrette")
        expect(one).to_contain_text("Two values")
        expect(one.get_by_role("article", name="Known before")).to_contain_text("place 12")
        newer = one.get_by_role("article", name="Newer")
        expect(newer).to_contain_text("place 19")
        check_access(page)
        newer.get_by_role("button", name="Keep this one").click()
        expect(one).to_be_hidden()
        eventually(lambda: "second-brain-status: deprecated" in text_of(daemon, known["path"]))
        assert "supersedes:" in text_of(daemon, new["path"])
        page.get_by_role("button", name="Undo").click()
        expect(one).to_be_visible()
        eventually(lambda: (text_of(daemon, known["path"]), text_of(daemon, new["path"])) == before)
        one.get_by_role("button", name="No problem").click()
        expect(one).to_be_hidden()
        assert (text_of(daemon, known["path"]), text_of(daemon, new["path"])) == before


def test_duplicates_are_merged_kept_or_forgotten(open_page: Open, daemon: DaemonProcess) -> None:
    known, new = pair(
        daemon,
        "The winter cover of the Bernache is kept in the left locker of the boathouse.",
        "Salomé put the winter cover of the Bernache in the left locker of the boathouse.",
    )
    other, gone = pair(
        daemon,
        "The spare key of the Courlis hangs behind the mirror in the galley of the boat.",
        "Yann hung the spare key of the Courlis behind the mirror in the galley of the boat.",
    )
    with open_page("#/review", color_scheme="dark") as page:
        one = card(page, "Possible duplicates", "Bernache")
        one.get_by_role("button", name="Show the difference").click()
        expect(one.locator("ins")).to_contain_text("Salomé put")
        one.get_by_role("button", name="Merge").click()
        expect(one).to_be_hidden()
        eventually(lambda: "Salomé put" in text_of(daemon, known["path"]))
        assert "second-brain-status: deprecated" in text_of(daemon, new["path"])

        two = card(page, "Possible duplicates", "Courlis")
        newer = two.get_by_role("article", name="Newer")
        newer.get_by_role("button", name="Forget this one").click()
        expect(two).to_be_hidden()
        eventually(lambda: not (daemon.vault / gone["path"]).exists())
        assert (daemon.vault / other["path"]).exists()
        page.get_by_role("button", name="Undo").last.click()
        eventually((daemon.vault / gone["path"]).exists)
        expect(two).to_be_visible()
        two.get_by_role("button", name="Keep both").click()
        expect(two).to_be_hidden()
        eventually(lambda: "duplicate-candidate" not in text_of(daemon, gone["path"]))


def test_drafts_and_patterns_are_accepted_or_dropped(
    open_page: Open, daemon: DaemonProcess, note: Callable[[str, str], str]
) -> None:
    head = "---\ntags: [{tags}]\nsecond-brain-status: draft\n---\n"
    note("Draft one.md", head.format(tags="brain") + "The ferry may stop in March.")
    note("Draft two.md", head.format(tags="brain") + "The crane may be rented out.")
    note("Pattern.md", head.format(tags="brain, auto-pattern") + "You sail on Thursdays.")
    with open_page("#/review") as page:
        for part, text, button, path, status in (
            ("Drafts", "ferry may stop", "Accept", "Draft one.md", "canonical"),
            ("Drafts", "crane may be", "Deprecate", "Draft two.md", "deprecated"),
            ("Patterns", "on Thursdays", "Confirm", "Pattern.md", "canonical"),
        ):
            one = card(page, part, text)
            one.get_by_role("button", name=button).click()
            expect(one).to_be_hidden()
            wanted = f"second-brain-status: {status}"
            eventually(lambda wanted=wanted, path=path: wanted in text_of(daemon, path))


def test_problems_and_loose_links_come_and_go_with_the_files(
    open_page: Open,
    daemon: DaemonProcess,
    note: Callable[[str, str], str],
    check_access: Callable[[Page], None],
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}}
    with open_page("#/review", locale="fr-FR", **phone) as page:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        note("Loose.md", "#brain Follows [[Never written]].")
        loose = card(page, "Liens qui ne mènent nulle part", "Loose")
        expect(loose).to_contain_text("Never written")
        daemon.write("Harbour (conflicted copy 2026-11-02).md", "#brain another text")
        problem = card(page, "Notes à problème", "conflicted copy")
        daemon.write("Other.md", "#brain " + "so that something changes")
        expect(problem).to_contain_text("Copie en conflit")
        check_access(page)
        note("Never written.md", "#brain Written after all.")
        (daemon.vault / "Harbour (conflicted copy 2026-11-02).md").unlink()
        expect(loose).to_be_hidden()
