"""Preparing a model once, so that the daemon needs neither torch nor seconds to load it.

The work is done by a child process: torch takes gigabytes for the moment of the export, and none
of them must stay in a daemon. The child writes into a hidden folder and renames it when all is
there; a lock file makes a second preparation wait and then find the work done.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import e5, export, models, prepared
from second_brain.index.embedding.calibrate import measure, scale
from second_brain.index.embedding.loading import load_sentence_transformer
from second_brain.index.embedding.models import Source
from second_brain.index.embedding.onnx import normalised
from second_brain.index.embedding.prepared import Meta
from second_brain.index.embedding.protocol import Vectors
from second_brain.index.embedding.torch import TorchEmbedder

Progress = Callable[[str, float], None]

_MODULE = "second_brain.index.embedding.prepare"
_LOCK = ".prepare.lock"
_TEMPORARY = ".preparing-"
_HEARTBEAT = 0.5
"""Seconds between two reports of the child, so that a caller can end a long step."""


def prepare_model(name: str, model_dir: Path, progress: Progress | None = None) -> Meta:
    """Make the model called `name` loadable from `model_dir`; does nothing if it already is.

    `progress` gets a sentence and the share done (0 to 1), at least twice a second; an exception
    that it raises ends the preparation and is passed on. Blocks for half a minute or more; raises
    `ModelUnavailable` with what to do. Safe to call from several processes at once.
    """
    report = progress or _ignore
    sources = models.sources(name)
    ready = prepared.find(model_dir, sources[0])  # a fallback is tried to be bettered
    if ready is not None:
        return ready[1]
    report("Starting", 0.0)
    code, failure = _run_child(name, model_dir, report)
    found = [prepared.find(model_dir, source) for source in sources] if code == 0 else []
    ready = next(filter(None, found), None)
    if ready is None:
        raise ModelUnavailable(failure or f"The model {name} could not be prepared.")
    report("Ready", 1.0)
    return ready[1]


def _run_child(name: str, model_dir: Path, report: Progress) -> tuple[int, str | None]:
    """The child's exit code and, if it failed, the sentence that says why."""
    command = [sys.executable, "-m", _MODULE, name, str(model_dir)]
    failure = None
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", errors="replace"
        ) as child,
    ):
        try:
            for line in child.stdout or ():
                message = _message(line)
                failure = message.get("failure", failure)
                if "step" in message:
                    report(message["step"], message["share"])
        except BaseException:  # whatever ends this, Ctrl-C included, ends the child
            child.kill()
            child.wait()
            for leftover in model_dir.glob(f"{_TEMPORARY}{child.pid}-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            raise
        code = child.wait()
        if code != 0 and failure is None:
            errors.seek(0)
            trace = errors.read().strip().splitlines()
            why = trace[-1] if trace else f"exit code {code}"
            failure = f"The model {name} could not be prepared: {why}"
    return code, failure


def _message(line: str) -> dict[str, Any]:
    """One report of the child; a library may print lines of its own in between."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _ignore(step: str, share: float) -> None:
    del step, share


def prepare_here(name: str, model_dir: Path, progress: Progress) -> Meta:
    """What the child does: the first source that can be had, prepared in this process."""
    sources = models.sources(name)
    _make_folder(model_dir)
    with _locked(model_dir / _LOCK, progress):
        for leftover in model_dir.glob(_TEMPORARY + "*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for source in sources[:-1]:
            try:
                return _ready_or_prepared(source, model_dir, progress)
            except ModelUnavailable:
                continue  # the last one carries the notice that says so
        return _ready_or_prepared(sources[-1], model_dir, progress)


def _ready_or_prepared(source: Source, model_dir: Path, progress: Progress) -> Meta:
    found = prepared.find(model_dir, source)
    return found[1] if found else _prepare(source, model_dir, progress)


def _prepare(source: Source, model_dir: Path, progress: Progress) -> Meta:
    try:
        with tempfile.TemporaryDirectory(
            prefix=f"{_TEMPORARY}{os.getpid()}-", dir=model_dir
        ) as name:
            return _prepare_in(Path(name), source, model_dir, progress)
    except OSError as error:
        raise ModelUnavailable(
            f"The model cannot be written to {model_dir} ({error.strerror or error}); "
            "preparing needs about 1.2 GB there for a minute."
        ) from error


def _prepare_in(work: Path, source: Source, model_dir: Path, progress: Progress) -> Meta:
    result = work / "result"
    result.mkdir()
    location = source.location
    tokenizer: Literal["unigram", "library"] = "library"
    if source.kind == "e5-package":
        original = work / "original"
        original.mkdir()
        e5.convert(Path(source.location), original, _part(progress, 0.0, 0.15))
        for file in e5.TOKENIZER_FILES:
            (original / file).rename(result / file)
        location, tokenizer = str(original), "unigram"
    progress("Loading the model", 0.2)
    model = load_sentence_transformer(location)
    meta = _describe(model, source, tokenizer)
    try:
        meta = export.export(model, meta, result, _part(progress, 0.3, 0.95))
    except export.NotExportable:
        shutil.rmtree(result)
        result.mkdir()
        meta = dataclasses.replace(meta, runtime="torch", precision="fp32")
    prepared.write_meta(result, meta)
    _flush(result)
    final = model_dir / meta.folder_name
    if final.exists():
        shutil.rmtree(final)  # not found to be complete, or it would have been used
    result.rename(final)
    return meta


def _flush(folder: Path) -> None:
    """Bring the files to the disk before the rename says that they are all there."""
    for file in folder.iterdir():
        with file.open("rb+") as stream:
            os.fsync(stream.fileno())


def _describe(model: Any, source: Source, tokenizer: Literal["unigram", "library"]) -> Meta:
    """All that can be told of a loaded model before it is exported."""
    found = models.prefixes(source.location, dict(getattr(model, "prompts", None) or {}))

    def embed(texts: Sequence[str]) -> Vectors:
        prefixed = [found.document + text for text in texts]
        vectors = model.encode(prefixed, prompt="", show_progress_bar=False)
        return normalised(np.asarray(vectors, np.float32))

    registered = models.known(source.model)
    return Meta(
        name=source.model,
        source=source.kind,
        location=source.location,
        digest=source.digest or _digest(model, source),
        runtime="onnx",
        precision="fp32",
        dimension=int(embed(["dimension"]).shape[1]),
        max_tokens=int(model.max_seq_length),
        query_prefix=found.query,
        document_prefix=found.document,
        tokenizer=tokenizer,
        similarity=registered.similarity if registered else scale(measure(embed)),
        notice=source.notice,
    )


def _digest(model: Any, source: Source) -> str:
    """What tells these weights from others: the hub's revision, or a hash of the folder's files."""
    if source.kind == "hub":
        config = getattr(getattr(model[0], "auto_model", None), "config", None)
        revision = getattr(config, "_commit_hash", None)
        if revision:
            return str(revision)
    folder = Path(source.location)
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.safetensors")) + sorted(folder.rglob("*.json")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def load_unprepared(source: Source) -> TorchEmbedder:
    """A model that nobody prepared, run by torch; its scale is measured on the spot."""
    model = load_sentence_transformer(source.location)
    meta = _describe(model, source, "library")
    return TorchEmbedder(dataclasses.replace(meta, runtime="torch"), model)


def _part(progress: Progress, start: float, end: float) -> Progress:
    return lambda step, share: progress(step, start + share * (end - start))


def _make_folder(model_dir: Path) -> None:
    try:
        model_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelUnavailable(
            f"The models' folder {model_dir} cannot be made ({error.strerror})."
        ) from error


@contextlib.contextmanager
def _locked(file: Path, progress: Progress) -> Iterator[None]:
    """Hold `file` against other processes; the system lets go of it when this process ends."""
    with file.open("a+b") as handle:
        waited = False
        while not _try_lock(handle):
            if not waited:
                progress("Waiting for another preparation", 0.0)
            waited = True
            time.sleep(0.2)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: BinaryIO) -> bool:
        try:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: BinaryIO) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class _Reporter:
    """Writes the child's progress as JSON lines, the last one again at every heartbeat."""

    def __init__(self) -> None:
        self._line = json.dumps({"step": "Starting", "share": 0.0})
        self._lock = threading.Lock()
        threading.Thread(target=self._beat, daemon=True).start()

    def report(self, step: str, share: float) -> None:
        self._write(json.dumps({"step": step, "share": round(share, 3)}))

    def fail(self, message: str) -> None:
        self._write(json.dumps({"failure": message}))

    def _write(self, line: str) -> None:
        with self._lock:
            self._line = line
            try:
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            except OSError:
                os._exit(1)  # whoever asked for this is gone

    def _beat(self) -> None:
        while True:
            time.sleep(_HEARTBEAT)
            self._write(self._line)


def _main() -> int:
    warnings.simplefilter("ignore")  # the exporter warns of every branch it traces
    logging.disable(logging.WARNING)
    reporter = _Reporter()
    name, model_dir = sys.argv[1:3]
    try:
        prepare_here(name, Path(model_dir), reporter.report)
    except ModelUnavailable as error:
        reporter.fail(str(error))
        return 1
    except MemoryError:
        reporter.fail("There is not enough memory to prepare the model (about 4 GB).")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
