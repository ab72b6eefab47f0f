"""The log's form, its level, and what is kept out of it."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from second_brain import logs
from second_brain.errors import SettingsError


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def test_lines_have_time_level_and_place() -> None:
    out = io.StringIO()
    logs.configure("info", out)
    logging.getLogger("second_brain.sync").info("indexed %d notes", 3)
    logging.getLogger("second_brain.sync").debug("not shown")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO second_brain\.sync: indexed 3 notes\n",
        out.getvalue(),
    )


def test_debug_is_ours_alone_and_never_a_request_line_with_its_query() -> None:
    out = io.StringIO()
    logs.configure("debug", out)
    logging.getLogger("second_brain.sync").debug("ours")
    logging.getLogger("watchdog.observers.inotify_buffer").debug("theirs")
    logging.getLogger("uvicorn.access").info("GET /recall?query=secret")
    assert "ours" in out.getvalue()
    assert "theirs" not in out.getvalue()
    assert "secret" not in out.getvalue()


def test_configuring_again_does_not_double_lines() -> None:
    out = io.StringIO()
    logs.configure("info", io.StringIO())
    logs.configure("info", out)
    logging.getLogger("second_brain").info("once")
    assert out.getvalue().count("once") == 1


def test_a_file_is_kept_small_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_FILE_BYTES", 200)
    file = tmp_path / "new/brain.log"
    out = io.StringIO()
    logs.configure("info", out, file=file)
    for n in range(50):
        logging.getLogger("second_brain").info("line %d", n)
    files = sorted(each.name for each in file.parent.iterdir())
    assert files == ["brain.log", *(f"brain.log.{n}" for n in range(1, 5))]
    assert all(each.stat().st_mode & 0o077 == 0 for each in file.parent.iterdir())
    assert "line 49" in file.read_text()
    assert out.getvalue().count("\n") == 50


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"The log .* cannot be written"):
        logs.configure("info", file=tmp_path / "file/brain.log")
