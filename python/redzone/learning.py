"""What calls of forked workers import, which is then imported once for all of them.

Torch imports much of its own when something is used for the first time, for seconds: each worker would do
so again. Only modules are learned that are Python's or that a package manager has installed, in packages that
the files have imported themselves: another package might change something for all targets, as the state of
the processor. None is learned of a call that has changed the environment, which modules may read.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Container
from contextlib import suppress
from types import ModuleType

from .files import is_installed
from .modules import file_of

# Maps the name of each module to its file.
Modules = dict[str, str]


class Teller:
    """In a worker: writes what its calls have imported to a pipe that nobody waits for."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._opened = os.fstat(pipe)
        self._known = set(sys.modules)
        self._count = len(self._known)
        self._environment = dict(os.environ)

    def tell(self) -> None:
        """Cheap where nothing was imported since the last time."""
        if len(sys.modules) == self._count:
            return
        self._count = len(sys.modules)
        with suppress(Exception):  # calls may have broken what _tell() needs, and the pipe may be full
            self._tell()

    def _tell(self) -> None:
        imported = {
            name: module.__file__
            for name, module in list(sys.modules.items())
            if name not in self._known and _can_be_learned(name, module)
        }
        self._known.update(imported)
        # A call may have closed the pipe and opened another file with the same descriptor.
        is_open = os.path.samestat(os.fstat(self._pipe), self._opened)
        if imported and is_open and dict(os.environ) == self._environment:
            os.write(self._pipe, json.dumps(imported).encode() + b"\n")


class Listener:
    """In the zygote: what was told through one pipe."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self._data = b""

    def hear(self) -> Modules | None:
        """What has arrived in whole lines; None once the worker has closed its end."""
        data = os.read(self.pipe, 1 << 20)
        if not data:
            return None
        *lines, self._data = (self._data + data).split(b"\n")
        heard: Modules = {}
        for line in lines:
            with suppress(ValueError):  # a call may have written to any descriptor
                told = json.loads(line)
                if isinstance(told, dict):
                    heard.update({n: f for n, f in told.items() if isinstance(f, str) and is_installed(f)})
        return heard


def import_all(modules: Modules) -> bool:
    """False for what cannot be imported, or is another module here."""
    for name, file in modules.items():
        try:
            module = importlib.import_module(name)
        except BaseException:
            return False
        if file_of(module) != file:
            return False
    return True


def packages() -> set[str]:
    """Those of which something is imported here."""
    return {name.partition(".")[0] for name in sys.modules}


def new_of(modules: Modules, asked: Container[str], known: Container[str]) -> Modules:
    """Those of known packages that are not imported here, and were not asked for before."""
    return {
        name: file
        for name, file in modules.items()
        if name not in asked and name not in sys.modules and name.partition(".")[0] in known
    }


def _can_be_learned(name: str, module: object) -> bool:
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    spec = getattr(module, "__spec__", None)
    if not isinstance(file, str) or spec is None:
        return False
    return spec.name == name and spec.origin == file and is_installed(file)
