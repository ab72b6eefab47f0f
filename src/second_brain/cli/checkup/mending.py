"""What `--fix` does: only what touches no note and loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from second_brain.cli.checkup.finding import Finding
from second_brain.cli.reach import reached
from second_brain.cli.reindex import wait
from second_brain.config import Settings
from second_brain.errors import SecondBrainError
from second_brain.vault.files import VaultFiles


def mend(settings: Settings, findings: Iterable[Finding]) -> Iterator[str]:
    """Mend what can be mended safely; a sentence for each thing done, or tried."""
    found = list(findings)
    for finding in found:
        if finding.mend == "chmod" and finding.path is not None:
            yield _attempt(partial(_make_private, finding.path))
    kinds = {finding.mend for finding in found}
    if "sweep" in kinds:
        yield _attempt(lambda: _sweep(settings))
    if "prepare-model" in kinds:
        yield _attempt(lambda: _prepare(settings))
    if "rebuild-index" in kinds:
        yield _attempt(lambda: _rebuild(settings))


def _attempt(work: Callable[[], str]) -> str:
    try:
        return work()
    except (SecondBrainError, OSError) as error:
        return f"Not mended: {error}"


def _make_private(path: str) -> str:
    Path(path).chmod(0o600)
    return f"{path} can be read by you alone now."


def _sweep(settings: Settings) -> str:
    count = VaultFiles(settings.vault_root).sweep()
    return f"{count} temporary files were removed."


def _prepare(settings: Settings) -> str:
    from second_brain.index.embedding import prepare_model

    ready = prepare_model(settings.embedding.model, settings.model_dir)
    return f"The model {ready.name} is ready; a daemon that runs uses it after a restart."


def _rebuild(settings: Settings) -> str:
    with reached(settings) as brain:
        brain.post("/reindex", accept_deletions=False)
        memories = wait(brain, say=False)["vault"]["memories"]
    return f"The index was built anew: {memories:,} memories."
