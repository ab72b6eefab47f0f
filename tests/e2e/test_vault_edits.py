"""What users and their tools do to files, seen by a running daemon without a restart."""

from __future__ import annotations

import os

from harness import DaemonProcess, eventually

TAGGED = "---\ntags: [brain]\n---\n"


def paths(daemon: DaemonProcess, query: str) -> list[str]:
    return [hit["path"] for hit in daemon.recall(query, topK=10)]


def id_of(daemon: DaemonProcess, path: str) -> str | None:
    note = daemon.note(path)
    return note["id"] if note else None


def appears(daemon: DaemonProcess, path: str, query: str) -> str:
    """Wait until the note answers; its id."""
    eventually(lambda: path in paths(daemon, query))
    id = id_of(daemon, path)
    assert id is not None
    return id


class TestEditors:
    def test_a_save_in_place(self, daemon: DaemonProcess) -> None:
        path = "Boat/Anchor.md"
        file = daemon.write(path, f"{TAGGED}The anchor is a 10 kg Bruce.\n")
        id = appears(daemon, path, "anchor Bruce")
        with file.open("r+") as handle:  # as some editors do: truncate, then write in pieces
            handle.truncate()
            handle.write(f"{TAGGED}The anchor is")
            handle.flush()
            os.fsync(handle.fileno())
            handle.write(" a 12 kg Danforth.\n")
        assert appears(daemon, path, "Danforth") == id
        assert not any("Bruce" in hit["content"] for hit in daemon.recall("Bruce anchor"))

    def test_a_save_by_a_temporary_file_and_a_rename(self, daemon: DaemonProcess) -> None:
        path = "Boat/Compass.md"
        file = daemon.write(path, f"{TAGGED}The compass was swung in 2024.\n")
        id = appears(daemon, path, "compass swung")
        for name in (".Compass.md.swp", "Compass.md~", ".goutputstream-7A3B", "Compass.md.tmp"):
            other = file.with_name(name)
            other.write_text(f"{TAGGED}The compass was adjusted, {name} says.\n")
            other.replace(file)
            eventually(lambda n=name: any(n in h["content"] for h in daemon.recall("compass")))
            assert id_of(daemon, path) == id
        assert {p for p in daemon.all_notes() if "Compass" in p} == {path}


class TestMoves:
    def test_a_rename_keeps_the_memory(self, daemon: DaemonProcess) -> None:
        file = daemon.write("Boat/Paint.md", f"{TAGGED}Antifouling: two coats of red copper.\n")
        id = appears(daemon, "Boat/Paint.md", "antifouling copper")
        file.rename(file.with_name("Antifouling paint.md"))
        assert appears(daemon, "Boat/Antifouling paint.md", "antifouling copper") == id
        assert daemon.note("Boat/Paint.md") is None
        assert daemon.get("/entry", id=id)["entry"]["title"] == "Antifouling paint"

    def test_a_moved_folder_keeps_its_memories(self, daemon: DaemonProcess) -> None:
        for n in range(3):
            daemon.write(f"Old/Deep/Lamp {n}.md", f"{TAGGED}Lamp {n} needs a bulb of {n} W.\n")
        ids = {n: appears(daemon, f"Old/Deep/Lamp {n}.md", f"lamp {n}") for n in range(3)}
        (daemon.vault / "Old").rename(daemon.vault / "New place")
        for n in range(3):
            assert appears(daemon, f"New place/Deep/Lamp {n}.md", f"lamp {n}") == ids[n]
        eventually(lambda: not any(path.startswith("Old/") for path in daemon.all_notes()))

    def test_links_follow_a_rename_that_makes_them_resolve(self, daemon: DaemonProcess) -> None:
        daemon.write("Boat/Pump.md", f"{TAGGED}See [[Impeller]] for the spare part.\n")
        appears(daemon, "Boat/Pump.md", "impeller spare part")
        note = daemon.note("Boat/Pump.md")
        assert note is not None
        assert [link["path"] for link in note["links"]] == [None]
        daemon.write("Boat/Impeller.md", f"{TAGGED}Number 4711, six blades.\n")
        eventually(
            lambda: (
                [link["path"] for link in (daemon.note("Boat/Pump.md") or {})["links"]]
                == ["Boat/Impeller.md"]
            )
        )
        (daemon.vault / "Boat/Impeller.md").rename(daemon.vault / "Boat/Wheel.md")
        eventually(
            lambda: (
                [link["path"] for link in (daemon.note("Boat/Pump.md") or {})["links"]] == [None]
            )
        )


class TestEnds:
    def test_a_deleted_note_is_gone(self, daemon: DaemonProcess) -> None:
        file = daemon.write("Boat/Flare.md", f"{TAGGED}The flares expire in 2028.\n")
        id = appears(daemon, "Boat/Flare.md", "flares expire")
        file.unlink()
        eventually(lambda: "Boat/Flare.md" not in paths(daemon, "flares expire"))
        assert daemon.http.get("/entry", params={"id": id}).status_code == 404
        eventually(lambda: daemon.note("Boat/Flare.md") is None)

    def test_a_removed_tag_takes_the_note_out_and_back_puts_it_in(
        self, daemon: DaemonProcess
    ) -> None:
        path = "Boat/Stove.md"
        file = daemon.write(path, "---\ntags: [boat]\n---\nThe stove burns paraffin. #brain\n")
        id = appears(daemon, path, "stove paraffin")
        file.write_text("---\ntags: [boat]\n---\nThe stove burns paraffin.\n")
        without = file.read_bytes()
        eventually(lambda: path not in paths(daemon, "stove paraffin"))
        note = eventually(lambda: daemon.note(path))
        assert (note["status"], note["id"]) == ("skipped", id)
        assert note["reason"]
        assert file.read_bytes() == without
        file.write_text("---\ntags: [boat, brain/galley]\n---\nThe stove burns paraffin.\n")
        assert appears(daemon, path, "stove paraffin") == id
        file.write_text("---\ntags: [brain]\nsecond-brain: false\n---\nThe stove burns paraffin.\n")
        eventually(lambda: path not in paths(daemon, "stove paraffin"))

    def test_moved_to_the_trash_or_a_hidden_folder(self, daemon: DaemonProcess) -> None:
        for n, folder in enumerate((".trash", ".hidden", "Templates")):
            path = f"Boat/Bucket {n}.md"
            file = daemon.write(path, f"{TAGGED}Bucket {n} has a rope handle.\n")
            appears(daemon, path, f"bucket {n} rope handle")
            target = daemon.vault / folder
            target.mkdir(exist_ok=True)
            file.rename(target / file.name)
            eventually(lambda n=n: not any(f"Bucket {n}" in p for p in paths(daemon, "bucket")))


def test_a_burst_of_files(daemon: DaemonProcess) -> None:
    """As a git pull or a sync client brings them."""
    before = daemon.get("/count")["count"]
    for n in range(200):
        daemon.write(f"Import/{n % 7}/Card {n}.md", f"{TAGGED}Card {n}: the word is zq{n:03}x.\n")
    eventually(lambda: daemon.get("/count")["count"] == before + 200, within=60)
    for n in (0, 77, 199):
        assert paths(daemon, f"zq{n:03}x")[0] == f"Import/{n % 7}/Card {n}.md"
    for n in range(0, 200, 4):
        (daemon.vault / f"Import/{n % 7}/Card {n}.md").unlink()
    eventually(lambda: daemon.get("/count")["count"] == before + 150, within=60)
    eventually(lambda: set(daemon.all_notes()) >= {"Import/1/Card 1.md"})
    assert "Import/0/Card 0.md" not in daemon.all_notes()
