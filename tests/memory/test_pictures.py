"""Images of the vault, found as Obsidian finds them, and no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.errors import InvalidInput, NoteNotFound, SecondBrainError
from second_brain.memory.pictures import Pictures
from second_brain.vault.files import VaultFiles

FILES = {
    "Boat/Sails.md": b"",
    "Boat/plan.png": b"beside",
    "plan.png": b"root",
    "Files/Deep/Été.JPG": b"by name",
    "Files/a b.svg": b"<svg/>",
    ".obsidian/hidden.png": b"hidden",
    ".trash/gone.png": b"gone",
}


@pytest.fixture
def pictures(tmp_path: Path) -> Pictures:
    vault = tmp_path / "vault"
    for path, data in FILES.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (tmp_path / "outside.png").write_bytes(b"outside")
    (vault / "leads-out.png").symlink_to(tmp_path / "outside.png")
    return Pictures(VaultFiles(vault))


@pytest.mark.parametrize(
    ("target", "path", "media_type"),
    [
        ("plan.png", "Boat/plan.png", "image/png"),
        ("../plan.png", "plan.png", "image/png"),
        ("/Boat/plan.png", "Boat/plan.png", "image/png"),
        ("été.jpg", "Files/Deep/Été.JPG", "image/jpeg"),
        ("Deep/Été.JPG", "Files/Deep/Été.JPG", "image/jpeg"),
        ("a b.svg#part", "Files/a b.svg", "image/svg+xml"),
    ],
)
def test_found_where_the_link_means(
    pictures: Pictures, target: str, path: str, media_type: str
) -> None:
    found = pictures.read(target, "Boat/Sails.md")
    assert (found.path, found.media_type, found.data) == (path, media_type, FILES[path])


@pytest.mark.parametrize(
    "target",
    [
        "missing.png",
        "hidden.png",
        ".obsidian/hidden.png",
        "gone.png",
        "../../outside.png",
        "../../../outside.png",
        "leads-out.png",
        "x\0.png",
    ],
)
def test_nothing_hidden_and_nothing_outside(pictures: Pictures, target: str) -> None:
    with pytest.raises(SecondBrainError) as caught:
        pictures.read(target, "Boat/Sails.md")
    assert isinstance(caught.value, NoteNotFound) or "outside the vault" in str(caught.value)


@pytest.mark.parametrize("target", ["Sails.md", "plan", "", "app.js", "page.html"])
def test_only_images(pictures: Pictures, target: str) -> None:
    with pytest.raises(InvalidInput):
        pictures.read(target, "Boat/Sails.md")
