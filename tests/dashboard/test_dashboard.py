"""The dashboard in a real browser: each action followed through to the file in the vault."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

from dashboard_page import Open
from harness import TOKEN, DaemonProcess, body_of, eventually
from playwright.sync_api import expect

HEAD = "---\ntags: [brain]   # mine\nrating:  5\n---\n"
Note = Callable[[str, str], str]


def body(daemon: DaemonProcess, path: str) -> str:
    return body_of((daemon.vault / path).read_bytes())


# Signing in


def test_only_the_token_lets_in(open_page: Open) -> None:
    with open_page(signed_in=False) as page:
        token = page.get_by_label("Bearer token")
        expect(token).to_be_focused()
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_role("alert")).to_have_text("Paste the token first.")
        token.fill("not the token")
        token.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("This is not the token of this brain.")
        token.fill(f" Bearer {TOKEN} ")
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        page.reload()
        expect(page.get_by_role("navigation")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(token).to_be_visible()
        page.reload()
        expect(token).to_be_visible()
        assert page.evaluate("JSON.stringify([localStorage, sessionStorage])") == "[{},{}]"


def test_a_token_that_is_no_longer_valid_signs_out(open_page: Open) -> None:
    with open_page("#/recent") as page:
        expect(page.get_by_role("listitem").first).to_be_visible()
        page.add_init_script("localStorage.setItem('second-brain.token', 'an old one')")
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("no longer valid")
        expect(page.get_by_label("Bearer token")).to_be_visible()


def test_a_session_that_is_not_to_stay_ends_with_the_tab(open_page: Open) -> None:
    with open_page(signed_in=False) as page:
        page.get_by_label("Bearer token").fill(TOKEN)
        page.get_by_label("Keep me signed in").uncheck()
        page.get_by_role("button", name="Connect").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        assert page.evaluate("localStorage.length") == 0
        assert page.evaluate("document.cookie") == ""


# Recall


def test_a_question_is_asked_and_answered_by_keyboard_alone(open_page: Open) -> None:
    with open_page("#/settings") as page:
        expect(page.get_by_role("heading", name="Settings")).to_be_visible()
        page.keyboard.press("/")
        question = page.get_by_role("searchbox")
        expect(question).to_be_focused()
        page.keyboard.type("which pontoon is the boat on now")
        page.keyboard.press("Enter")
        first = page.locator(".hit").first
        expect(first.get_by_role("link", name="Mooring is on pontoon C")).to_be_visible()
        expect(first).to_contain_text("place 31")
        expect(first.locator("mark").first).to_have_text("pontoon")
        expect(first).to_contain_text("claude")
        expect(first.get_by_role("link", name="#boat")).to_be_visible()
        expect(first.locator("time")).to_have_attribute("datetime", re.compile("^2026-09-28T"))
        address = first.get_by_role("link", name="Open in Obsidian").get_attribute("href")
        assert address is not None
        assert address.startswith("obsidian://open?vault=vault&file=Second%20Brain%2FMooring")
        expect(page.locator(".hit").nth(1)).to_be_visible()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        expect(first.locator("a.title")).to_be_focused()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Second Brain/Mooring is on pontoon C.md")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(first.locator("a.title")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(question).to_be_focused()


def test_why_a_memory_matched(open_page: Open) -> None:
    with open_page("#/recall?q=pontoon&hops=1") as page:
        first = page.locator(".hit").first
        first.get_by_text("Why this matched").click()
        expect(first.locator("dt").nth(0)).to_have_text("Meaning")
        expect(first.locator("dt").nth(1)).to_have_text("Words")
        linked = page.locator(".hit", has_text="Linked from a memory").first
        linked.get_by_text("Why this matched").click()
        linked.get_by_role("link", name="Show that memory").click()
        expect(page.get_by_role("dialog")).to_be_visible()


def test_filters_narrow_a_question_and_are_in_the_address(
    open_page: Open, daemon: DaemonProcess, note: Note
) -> None:
    note("Wharf draft.md", "---\ntags: [brain]\nsecond-brain-status: deprecated\n---\nOld wharf.\n")
    with open_page("#/recall?q=boat") as page:
        expect(page.locator(".hit").nth(5)).to_be_visible()
        page.get_by_label("Tag").select_option("boat/refit")
        expect(page.locator(".hit")).to_have_count(2)
        assert "tag=boat%2Frefit" in page.url
        page.get_by_role("button", name="Clear filters").click()
        expect(page.locator(".hit").nth(5)).to_be_visible()
        page.get_by_label("Status").select_option("canonical")
        expect(page.locator(".hit").first.locator(".status.canonical")).to_be_visible()
        expect(page.locator(".hit .status:not(.canonical)")).to_have_count(0)
        page.get_by_label("Status").select_option("deprecated")
        expect(page.get_by_role("link", name="Wharf draft")).to_be_visible()
    with open_page("#/recall?q=boat&time=custom&from=2019-01-01&to=2019-12-31") as page:
        expect(page.get_by_text("Nothing found for “boat”.")).to_be_visible()


def test_results_follow_the_vault(open_page: Open, daemon: DaemonProcess, note: Note) -> None:
    note("Fog horn.md", HEAD + "The fog horn has a blue lid.\n")
    with open_page("#/recall?q=fog+horn+lid") as page:
        expect(page.locator(".pulse.on")).to_have_text("Live")
        first = page.locator(".hit").first
        expect(first).to_contain_text("blue lid")
        daemon.write("Fog horn.md", HEAD + "The fog horn has a red lid.\n")
        expect(first).to_contain_text("red lid")
        (daemon.vault / "Fog horn.md").unlink()
        expect(page.get_by_role("link", name="Fog horn")).to_have_count(0)


def test_without_a_language_model_there_is_no_answer(open_page: Open) -> None:
    with open_page("#/recall?q=boat") as page:
        expect(page.locator(".hit").first).to_be_visible()
        expect(page.locator(".answer")).to_have_count(0)


# Recent


def test_recent_follows_the_vault(open_page: Open, daemon: DaemonProcess) -> None:
    with open_page("#/recent") as page:
        expect(page.locator(".pulse.on")).to_have_text("Live")
        daemon.write("Live.md", HEAD + "A lighthouse keeper called.\n")
        row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Live"))
        expect(row).to_contain_text("lighthouse keeper")
        daemon.write("Live.md", HEAD + "The lighthouse keeper wrote instead.\n")
        expect(row).to_contain_text("wrote instead")
        row.get_by_role("link", name="Live").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("wrote instead")
        daemon.write("Live.md", HEAD + "He rowed over in the end.\n")
        expect(dialog).to_contain_text("rowed over")
        page.keyboard.press("Escape")
        (daemon.vault / "Live.md").unlink()
        expect(row).to_have_count(0)


def test_recent_is_filtered_by_a_tag_that_is_pressed(open_page: Open) -> None:
    with open_page("#/recent") as page:
        page.get_by_role("link", name="#book", exact=True).first.click()
        expect(page.get_by_label("Tag")).to_have_value("book")
        expect(page.get_by_role("link", name="The Salt Ledger")).to_be_visible()
        expect(page.get_by_role("link", name="Gaspard")).to_have_count(0)
        assert "tag=book" in page.url
        page.get_by_label("Kind").select_option("episodic")
        expect(page.get_by_text("No memory matches these filters.")).to_be_visible()


# One memory


def test_an_edit_changes_the_text_and_no_other_byte_and_is_undone(
    open_page: Open, daemon: DaemonProcess, note: Note
) -> None:
    id = note("Edited.md", HEAD + "Varnish in spring.\n")
    before = (daemon.vault / "Edited.md").read_bytes()
    with open_page(f"#/recent?memory={id}") as page:
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Edit").click()
        field = dialog.get_by_label("Text in Markdown")
        expect(field).to_have_value("Varnish in spring.\n")
        field.fill("Varnish in **autumn**.\n")
        dialog.get_by_role("button", name="Preview").click()
        expect(dialog.locator(".preview strong")).to_have_text("autumn")
        dialog.get_by_role("button", name="Save").click()
        history = dialog.locator(".history li")
        expect(history).to_have_count(1)
        expect(dialog.locator(".markdown strong")).to_have_text("autumn")
        text = HEAD + "Varnish in **autumn**.\n"
        assert (daemon.vault / "Edited.md").read_bytes() == text.encode()
        expect(history).to_contain_text("update “Edited”")
        history.get_by_text("Show what changed").click()
        expect(history.locator("ins")).to_contain_text("+ Varnish in **autumn**.")
        expect(history.locator("del")).to_contain_text("− Varnish in spring.")
        history.get_by_role("button", name="Undo").click()
        expect(dialog.get_by_text("Varnish in spring.", exact=True)).to_be_visible()
        assert (daemon.vault / "Edited.md").read_bytes() == before


def test_a_conflict_with_an_edit_in_the_vault_is_shown_and_nothing_is_overwritten(
    open_page: Open, daemon: DaemonProcess, note: Note
) -> None:
    id = note("Both.md", HEAD + "One line.\n")
    with open_page(f"#/recent?memory={id}") as page:
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Edit").click()
        dialog.get_by_label("Text in Markdown").fill("My line.\n")
        newer = (HEAD + "A line from Obsidian.\n").encode()
        file = daemon.write("Both.md", newer)
        os.utime(file, (time.time() - 1800,) * 2)
        expect(dialog.get_by_text("changed in the vault while you were writing")).to_be_visible()
        dialog.get_by_role("button", name="Save").click()
        conflict = dialog.get_by_role("alertdialog")
        expect(conflict).to_contain_text("− A line from Obsidian.")
        expect(conflict).to_contain_text("+ My line.")
        assert (daemon.vault / "Both.md").read_bytes() == newer
        conflict.get_by_role("button", name="Go on editing mine").click()
        field = dialog.get_by_label("Text in Markdown")
        expect(field).to_have_value("My line.\n")
        field.fill("A line from Obsidian.\nMy line.\n")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator(".markdown")).to_contain_text("My line.")
        assert body(daemon, "Both.md") == "A line from Obsidian.\nMy line.\n"


def test_unsaved_words_are_not_lost_by_a_slip(open_page: Open, note: Note) -> None:
    id = note("Slip.md", HEAD + "Before.\n")
    with open_page(f"#/recent?memory={id}") as page:
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Edit").click()
        dialog.get_by_label("Text in Markdown").fill("Typed for an hour.")
        page.keyboard.press("Escape")
        dialog.get_by_role("button", name="Keep editing").click()
        expect(dialog.get_by_label("Text in Markdown")).to_have_value("Typed for an hour.")
        page.keyboard.press("Escape")
        dialog.get_by_role("button", name="Discard").click()
        expect(dialog).to_have_count(0)


def test_append_status_and_links_reach_the_file(
    open_page: Open, daemon: DaemonProcess, note: Note
) -> None:
    id = note("Rope.md", HEAD + "The mooring rope is 14 mm.\n")
    with open_page(f"#/recent?memory={id}") as page:
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Append").click()
        dialog.get_by_label("What to add").fill("It chafes at the bow.")
        page.keyboard.press("Control+Enter")
        expect(dialog.locator(".markdown").first).to_contain_text("It chafes at the bow.")
        assert body(daemon, "Rope.md").startswith("The mooring rope is 14 mm.\n")
        assert body(daemon, "Rope.md").endswith("\n\nIt chafes at the bow.")

        dialog.get_by_label("Status").select_option("canonical")
        expect(dialog.locator(".facts .status")).to_have_text("Canonical")
        assert "second-brain-status: canonical" in (daemon.vault / "Rope.md").read_text()

        dialog.get_by_role("button", name="Link to another memory").click()
        dialog.get_by_label("How it is related").select_option("about_person")
        dialog.get_by_label("Find a memory to link to").fill("Gaspard the boatbuilder")
        dialog.get_by_role("button", name="Gaspard", exact=True).click()
        expect(dialog.get_by_role("link", name="Gaspard", exact=True)).to_be_visible()
        text = (daemon.vault / "Rope.md").read_text()
        assert re.search(r"about_person:\s*(- )?\"?\[\[Gaspard", text), text
        dialog.get_by_role("button", name="Remove the link to Gaspard").click()
        expect(dialog.get_by_text("Not linked to another memory yet.")).to_be_visible()
        assert "about_person" not in (daemon.vault / "Rope.md").read_text()
        assert "rating:  5" in (daemon.vault / "Rope.md").read_text()


def test_forgetting_is_asked_twice_and_can_be_taken_back(
    open_page: Open, daemon: DaemonProcess
) -> None:
    stored = daemon.post("/capture", content="The harbour master is called Yann.")
    path = daemon.vault / stored["path"]
    before = path.read_bytes()
    with open_page(f"#/recent?memory={stored['id']}") as page:
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Forget").click()
        dialog.get_by_role("button", name="Cancel").click()
        assert path.exists()
        dialog.get_by_role("button", name="Forget").click()
        dialog.get_by_role("alertdialog").get_by_role("button", name="Forget").click()
        expect(dialog).to_have_count(0)
        eventually(lambda: not path.exists())
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        eventually(lambda: path.exists() and path.read_bytes() == before)
        expect(page.get_by_role("link", name="The harbour master is called Yann")).to_be_visible()
