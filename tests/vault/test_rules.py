"""What is a memory, and what is left alone."""

import json
from pathlib import Path

import pytest

from second_brain.vault.note import parse_note
from second_brain.vault.rules import (
    ObsidianSettings,
    SyncRule,
    conflict_copy,
    is_temporary,
    load_obsidian_settings,
    numbered_copy,
)


def synced(text: str, rule: SyncRule | None = None) -> bool:
    return (rule or SyncRule()).note_reason(parse_note("n.md", text.encode())) is None


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("#brain", True),
        ("#Second-Brain", True),
        ("#brain/work", True),
        ("---\ntags: [BRAIN]\n---\n", True),
        ("#brainy", False),
        ("#work/brain", False),
        ("brain", False),
        ("", False),
        ("---\ntags: [brain]\nsecond-brain: false\n---\n", False),
    ],
)
def test_a_sync_tag_makes_a_memory(text: str, memory: bool) -> None:
    assert synced(text) is memory


def test_sync_tags_are_the_users_choice() -> None:
    rule = SyncRule(tags=("Memory",))
    assert synced("---\ntags: [memory/ref/book]\n---\n", rule)
    assert not synced("---\ntags: [memorybook]\n---\n", rule)
    assert not synced("#brain", rule)


def test_in_mode_all_only_the_opt_out_and_binary_files_are_left_out() -> None:
    rule = SyncRule(mode="all")
    assert synced("no tag", rule)
    assert not synced("---\nsecond-brain: false\n---\n#brain", rule)
    assert not synced("a\x00b", rule)


def test_the_reason_names_what_is_missing() -> None:
    reason = SyncRule(tags=("brain", "moi")).note_reason(parse_note("n.md", b"x"))
    assert reason is not None
    assert "#brain" in reason
    assert "#moi" in reason


def test_the_sync_tag_itself_is_no_tag_of_the_memory() -> None:
    note = parse_note("n.md", b"---\ntags: [Brain, boat, brain/work, second-brain]\n---\n")
    assert SyncRule().own_tags(note) == ("boat", "brain/work")


RULE = SyncRule(
    exclude=(
        "Private/",
        "Work/*.md",
        "**/draft-?.md",
        "Archive/**",
        "/Top/",
        "[0-9]*.md",
        "Été",
        "Deep\\Er/",
        "[z-a]x",
    ),
    templates=("Templates", "meta/Vorlagen/"),
    ignored=("Attic/", "/\\.old\\.md$/", "/(/"),
)


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/plugins/p/README.md",
        ".trash/Old.md",
        "a/.hidden/h.md",
        ".h.md",
        "node_modules/x/README.md",
        "a/node_modules/README.md",
        "i.png",
        "x.canvas",
        "noextension",
        "Note.md~",
        "Note.md.tmp",
        "4913",
        "~$Note.md",
        "Templates/Daily.md",
        "templates/sub/Daily.md",
        "meta/Vorlagen/x.md",
        "Private/x.md",
        "a/private/b/x.md",
        "Work/x.md",
        "draft-1.md",
        "a/b/Draft-2.md",
        "archive/a/b.md",
        "Top/x.md",
        "2024.md",
        "été/x.md",
        "E\u0301te\u0301/x.md",
        "Deep/Er/x.md",
        "[z-a]x/n.md",
        "Attic/a/x.md",
        "a/n.old.md",
    ],
)
def test_a_path_is_out_with_a_reason(path: str) -> None:
    reason = RULE.path_reason(path)
    assert reason
    assert reason.endswith(".")
    assert reason[0].isupper()


@pytest.mark.parametrize(
    "path",
    [
        "Note.md",
        "NOTE.MD",
        "a b/é 日本 🚀.md",
        "a/Templates/x.md",
        "Templates.md",
        "TemplatesOld/x.md",
        "Private.md",
        "NotPrivate/x.md",
        "Work/sub/x.md",
        "draft-12.md",
        "Archive.md",
        "a/Top/x.md",
        "Attic2/x.md",
        "a/Attic/x.md",
        "tmp/x.md",
        "x.tmp.md",
        "meta/x.md",
    ],
)
def test_a_path_is_in(path: str) -> None:
    assert RULE.path_reason(path) is None


def test_folders_that_hold_no_memory_need_no_visit() -> None:
    for folder in (".obsidian", "a/.git", "node_modules", "Templates", "templates/sub"):
        assert RULE.folder_reason(folder)
    for folder in ("a", "meta", "a/Templates"):
        assert RULE.folder_reason(folder) is None


@pytest.mark.parametrize(
    "path", ["a/Test.tmp", "Test.md~", "a/4913", "#x.md#", ".#x.md", "a.md.swp", "x.md.crdownload"]
)
def test_temporary_names(path: str) -> None:
    assert is_temporary(path)


@pytest.mark.parametrize("path", ["a~/Test.md", "49130.md", "tmp.md", "C#.md", "# of #.md"])
def test_names_that_only_look_temporary(path: str) -> None:
    assert not is_temporary(path)


@pytest.mark.parametrize(
    "name",
    [
        "Plan (Ana's conflicted copy 2026-01-05).md",
        "Plan (Ana's conflicted copy 2026-01-05) (1).md",
        "Plan (conflicted copy 2026-01-05 123456).md",
        "Plan (Conflicted copy MacBook 202601051234).md",
        "Plan (Copie en conflit de Ana 2026-01-05).md",
        "Plan (In Konflikt stehende Kopie von Ana 2026-01-05).md",
        "Plan (Copia en conflicto de Ana 2026-01-05).md",
        "Plan (Copia in conflitto di Ana 2026-01-05).md",
        "Plan (Co\u0301pia em conflito de Ana 2026-01-05).md",
        "Plan (Anaの競合コピー 2026-01-05).md",
        "Plan (Ana 的冲突副本 2026-01-05).md",
        "Plan (Case Conflict).md",
        "Plan (Case Conflict 1).md",
        "Plan.sync-conflict-20260105-123456-ABCDEFG.md",
        "Plan_conflict-20260105-123456.md",
        "a/b/Plan-DESKTOP-AB12CD3.md",
        "a/b/Plan-LAPTOP-AB12CD3E.md",
    ],
)
def test_conflict_copies(name: str) -> None:
    assert conflict_copy(name, lambda path: path == "a/b/Plan.md")


@pytest.mark.parametrize(
    "name",
    [
        "Plan.md",
        "Conflict resolution.md",
        "Film (Konflikt der Generationen).md",
        "On conflicted copy names.md",
        "Plan 2.md",
        "Plan-B.md",
        "Plan-DESKTOP-AB12CD3.md",
        "noextension",
    ],
)
def test_names_that_are_no_conflict_copies(name: str) -> None:
    assert not conflict_copy(name, lambda path: False)
    if name != "Plan-DESKTOP-AB12CD3.md":
        assert not conflict_copy(name, lambda path: True)


@pytest.mark.parametrize(
    ("path", "original"),
    [
        ("a/Plan 2.md", "a/Plan.md"),
        ("Plan 12.md", "Plan.md"),
        ("Plan 1.md", None),
        ("Plan 2024.md", None),
        ("Plan2.md", None),
        (" 2.md", None),
    ],
)
def test_a_numbered_copy_names_its_original(path: str, original: str | None) -> None:
    assert numbered_copy(path) == original


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


def test_obsidians_own_settings_are_read(tmp_path: Path) -> None:
    config = tmp_path / ".obsidian"
    write(config / "templates.json", {"folder": "Templates/"})
    write(config / "plugins" / "templater-obsidian" / "data.json", {"templates_folder": "meta/T"})
    write(config / "app.json", {"userIgnoreFilters": ["Attic/", 5, "/x/"]})
    write(config / "daily-notes.json", {"folder": "Daily", "format": "YYYY/MM/DD"})
    assert load_obsidian_settings(tmp_path) == ObsidianSettings(
        templates=("Templates", "meta/T"),
        ignored=("Attic/", "/x/"),
        daily_folder="Daily",
        daily_format="YYYY/MM/DD",
    )


def test_settings_that_cannot_be_read_are_defaults(tmp_path: Path) -> None:
    assert load_obsidian_settings(tmp_path) == ObsidianSettings()
    config = tmp_path / ".obsidian"
    write(config / "templates.json", "{broken")
    write(config / "app.json", "[]")
    write(config / "daily-notes.json", {"folder": None, "format": None})
    write(config / "plugins" / "templater-obsidian" / "data.json", {"templates_folder": "/"})
    assert load_obsidian_settings(tmp_path) == ObsidianSettings()
