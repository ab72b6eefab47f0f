"""Large imports made cheap: they cost most of a start."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def collector_paused() -> Iterator[None]:
    """Import inside without the garbage collector, which would look for garbage in vain.

    Importing makes objects by the hundred thousand that all stay; at the end they are exempt from
    collections for good. Saves a fifth of the import's time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def models_built_later() -> Iterator[None]:
    """Let each pydantic model that is defined inside be built when it is used first.

    The MCP SDK has some five hundred of them, for every revision of the protocol; a connection
    uses a few dozen. Plugins of pydantic are not looked for among all packages there are. Saves
    half of the import's time.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from pydantic import BaseModel, ConfigDict  # noqa: PLC0415 - not all commands have models

    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**{**before, "defer_build": True})
    try:
        yield
    finally:
        BaseModel.model_config = before


def defer_package(name: str) -> None:
    """Let the package's modules be imported without its `__init__`, until that is asked for.

    For packages whose `__init__` imports everything there is while a dependant needs one module of
    it. Does nothing if there is no such package or it is imported already.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader = importlib.util.module_from_spec(spec), spec.loader

    def complete(wanted: str) -> Any:
        if wanted.startswith("__"):
            raise AttributeError(wanted)
        del package.__getattr__
        loader.exec_module(package)
        return getattr(package, wanted)

    package.__getattr__ = complete  # type: ignore[method-assign]
    sys.modules[name] = package
