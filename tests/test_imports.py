"""What the large imports of a start leave out, and that it comes when it is asked for."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.imports import collector_paused


def run(code: str, *paths: Path) -> str:
    lines = [f"import sys; sys.path[:0] = {[str(path) for path in paths]!r}", code]
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "heavy"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "print('all of it')\nfrom heavy.part import small\nbig = 2\n"
    )
    (folder / "part.py").write_text("small = 1\n")
    return tmp_path


def test_a_module_of_a_deferred_package_is_imported_without_the_rest(package: Path) -> None:
    code = (
        "from second_brain.imports import defer_package; defer_package('heavy')\n"
        "from heavy.part import small; print(small)"
    )
    assert run(code, package) == "1"


def test_the_rest_of_a_deferred_package_comes_when_it_is_asked_for(package: Path) -> None:
    code = (
        "from second_brain.imports import defer_package; defer_package('heavy')\n"
        "from heavy import big; import heavy; print(big, heavy.small)"
    )
    assert run(code, package) == "all of it\n2 1"


def test_deferring_what_is_not_installed_or_imported_already_changes_nothing() -> None:
    code = (
        "from second_brain.imports import defer_package; import json\n"
        "defer_package('thereisnone')\n"
        "defer_package('json'); print(json.dumps(1), 'thereisnone' in sys.modules)"
    )
    assert run(code) == "1 False"


def test_lancedb_is_loaded_without_its_rest_client_and_can_be_used(tmp_path: Path) -> None:
    code = f"""
import asyncio
from second_brain.index import lance
async def use():
    lance.load()
    connection = await lance.connect({str(tmp_path)!r})
    table = await connection.create_table("t", schema=lance.schema(4))
    print(await table.count_rows())
asyncio.run(use())
import lance_namespace, lancedb.remote.db
print("lance_namespace_urllib3_client.api" in sys.modules)
"""
    assert run(code) == "0\nFalse"


def test_the_collector_runs_again_after_an_import_that_failed() -> None:
    with pytest.raises(ImportError), collector_paused():
        import second_brain.there_is_no_such_module  # noqa: F401
    assert gc.isenabled()


def test_the_collector_rests_during_an_import() -> None:
    with collector_paused():
        assert not gc.isenabled()
