"""`brain model list` and `brain model use`; preparing is tested with the embedding itself."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.config import Settings, load_settings
from second_brain.config.edit import with_values
from second_brain.errors import SettingsError
from second_brain.index.embedding.models import DEFAULT_MODEL, ENGLISH_MODEL

CONFIG = """\
# my settings
vault = "~/Notes"   # the big one

[server]
port=1234

[embedding] # about the model
threads = 2
model   =   "old" # why
"""


def test_the_default_model_is_the_registered_one() -> None:
    assert Settings().embedding.model == DEFAULT_MODEL


def test_list_marks_the_model_that_is_set(brain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"* {DEFAULT_MODEL}" in brain("model", "list").stdout
    monkeypatch.setenv("SECOND_BRAIN_MODEL", ENGLISH_MODEL)
    lines = brain("model", "list").stdout.splitlines()
    assert any(line.startswith(f"* {ENGLISH_MODEL} ") for line in lines)
    assert any(line.startswith(f"  {DEFAULT_MODEL} ") for line in lines)
    monkeypatch.setenv("SECOND_BRAIN_MODEL", "some/other")
    assert brain("model", "list").stdout.splitlines()[-1] == "* some/other"


def test_list_as_json(brain) -> None:
    names = [one["name"] for one in json.loads(brain("model", "list", "--json").stdout)]
    assert names == [DEFAULT_MODEL, ENGLISH_MODEL]


def test_use_changes_one_value_and_no_other_byte(brain, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(CONFIG)
    file.chmod(0o640)
    result = brain("model", "use", ENGLISH_MODEL, "--config", str(file))
    assert result.exit_code == 0
    assert file.read_text() == CONFIG.replace('"old"', f'"{ENGLISH_MODEL}"')
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.glob(".c.toml*")) == []


def test_use_makes_the_file_at_the_default_place(brain, home: Path) -> None:
    assert brain("model", "use", "intfloat/multilingual-e5-base").exit_code == 0
    file = home / "config/second-brain/config.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_settings().embedding.model == "intfloat/multilingual-e5-base"


def test_use_writes_through_a_symlink(brain, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/c.toml").write_text(CONFIG)
    (tmp_path / "c.toml").symlink_to("dotfiles/c.toml")
    brain("model", "use", ENGLISH_MODEL, "--config", str(tmp_path / "c.toml"))
    assert (tmp_path / "c.toml").is_symlink()
    assert ENGLISH_MODEL in (tmp_path / "dotfiles/c.toml").read_text()


def test_use_takes_a_folder_by_its_full_path(
    brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    brain("model", "use", "mine")
    assert load_settings().embedding.model == str(tmp_path / "mine")


@pytest.mark.parametrize("name", ["multilingual-e5-smal", "/no/folder", "~nobody-at-all/m", ""])
def test_use_refuses_what_is_no_model_and_writes_nothing(brain, home: Path, name: str) -> None:
    result = brain("model", "use", name)
    assert result.exit_code == 2
    assert DEFAULT_MODEL in result.stderr
    assert not (home / "config").exists()


def test_use_refuses_a_damaged_file(brain, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[embedding\n")
    assert brain("model", "use", ENGLISH_MODEL, "--config", str(file)).exit_code == 2
    assert file.read_text() == "[embedding\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "embedding = {threads = 1}\n",
        "embedding.threads = 1\n",
        "[embedding]\r\nthreads = 1\r\n",
    ],
)
def test_every_way_to_write_the_table(text: str) -> None:
    changed = with_values(text, {"embedding.model": "x"})
    expected = tomllib.loads(text).get("embedding", {}) | {"model": "x"}
    assert tomllib.loads(changed) == {"embedding": expected}


def test_a_table_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="embedding is not a table"):
        with_values("embedding = 3\n", {"embedding.model": "x"})


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_value_reads_back(value: str) -> None:
    changed = with_values(CONFIG, {"embedding.model": value})
    assert tomllib.loads(changed)["embedding"]["model"] == value
    assert tomllib.loads(changed)["vault"] == "~/Notes"
