"""`brain extension` writes a folder that browsers load, and its files agree with each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from second_brain.cli.main import main
from second_brain.integrations.extension.writing import BROWSERS, manifest, write_extension

ADDRESS = "http://127.0.0.1:8799"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_extension(tmp_path / "extension", "chrome", ADDRESS)
    return tmp_path / "extension"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["extension", *map(str, arguments)])


class TestCommand:
    def test_it_is_written_and_brought_up_to_date(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "extension"
        flags = ("--vault", tmp_path, "--port", "8799", "--data-dir", tmp_path / "data")
        first = run(folder, *flags)
        assert first.exit_code == 0, first.output
        assert str(folder) in first.output
        assert "chrome://extensions" in first.output
        assert ADDRESS in (folder / "defaults.js").read_text()
        assert "up to date" in run(folder, *flags).output
        (folder / "popup.js").write_text("broken")
        again = run(folder, *flags, "--browser", "firefox", "--json")
        shown = json.loads(again.output)
        assert (shown["changed"], shown["browser"]) == (2, "firefox")
        assert (folder / "popup.js").read_text() != "broken"

    def test_a_folder_with_something_else_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "manifest.json").write_text('{"name": "another extension"}')
        before = sorted(tmp_path.iterdir())
        refused = run(tmp_path)
        assert refused.exit_code == 1
        assert "holds something else" in refused.output
        assert sorted(tmp_path.iterdir()) == before

    def test_an_empty_folder_is_taken_and_a_file_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        assert run(tmp_path / "empty").exit_code == 0
        (tmp_path / "file").write_text("")
        assert run(tmp_path / "file").exit_code == 1


class TestManifest:
    @pytest.mark.parametrize("browser", BROWSERS)
    def test_no_more_is_asked_for_than_is_needed(self, browser: Any) -> None:
        found = manifest(browser)
        assert found["manifest_version"] == 3
        assert found["permissions"] == [
            "activeTab", "alarms", "contextMenus", "scripting", "storage",
        ]  # fmt: skip
        assert "host_permissions" not in found
        assert "content_scripts" not in found
        assert re.fullmatch(r"\d+(\.\d+){0,3}", found["version"])
        policy = found["content_security_policy"]["extension_pages"]
        # Firefox would upgrade the daemon's own http:// if the policy were the default one.
        assert "script-src 'self';" in policy
        assert "upgrade" not in policy
        assert "unsafe" not in policy

    def test_each_browser_finds_the_background_script_where_it_looks(self) -> None:
        worker = {"service_worker": "background.js", "type": "module"}
        assert manifest("chrome")["background"] == manifest("edge")["background"] == worker
        firefox = manifest("firefox")
        assert firefox["background"] == {"scripts": ["background.js"], "type": "module"}
        assert re.fullmatch(
            r"[a-z0-9-._]+@[a-z0-9-._]+", firefox["browser_specific_settings"]["gecko"]["id"]
        )
        assert "minimum_chrome_version" not in firefox

    def test_every_file_that_is_named_is_there(self, written: Path) -> None:
        found = json.loads((written / "manifest.json").read_text())
        named = {
            *found["icons"].values(), found["action"]["default_popup"],
            *found["action"]["default_icon"].values(), found["options_ui"]["page"],
            found["background"]["service_worker"],
        }  # fmt: skip
        for page in written.glob("*.html"):
            named |= set(re.findall(r'(?:src|href)="([^"]+)"', page.read_text()))
        for script in written.glob("*.js"):
            named |= set(re.findall(r'from "\./([^"]+)"', script.read_text()))
        assert {name for name in named if not (written / name).is_file()} == set()

    def test_nothing_comes_from_elsewhere(self, written: Path) -> None:
        for file in [*written.glob("*.html"), *written.glob("*.css"), *written.glob("*.js")]:
            text = file.read_text()
            assert not re.search(r"@import|url\(|https?://(?!\*|127\.0\.0\.1)\w", text), file
            assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
            assert not re.search(r"<script(?! type=\"module\" src=)|\son[a-z]+=|style=", text)


class TestWords:
    def test_both_languages_have_every_word_that_is_used(self, written: Path) -> None:
        tongues = {
            file.parent.name: json.loads(file.read_text("utf-8"))
            for file in written.glob("_locales/*/messages.json")
        }
        assert set(tongues) == {"en", "fr"}
        assert set(tongues["en"]) == set(tongues["fr"])
        used: set[str] = set()
        for file in written.glob("*"):
            if file.suffix in {".html", ".js", ".json"}:
                text = file.read_text("utf-8")
                used |= set(re.findall(r'data-(?:word|placeholder)="(\w+)"', text))
                used |= set(re.findall(r'\bword\("(\w+)"', text))
                used |= set(re.findall(r"__MSG_(\w+)__", text))
        assert used <= set(tongues["en"])
        for name, message in tongues["en"].items():
            places = re.findall(r"\$\d", message["message"])
            assert places == re.findall(r"\$\d", tongues["fr"][name]["message"]), name
