"""Which files the modules of the user import while they are imported themselves."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from types import FrameType, TracebackType
from typing import Any

Module = tuple[str, str]  # its name and its file, without links


class ImportGraph:
    """While it is open, each import is noted for the module whose body runs: by a statement, by
    importlib.import_module() or by a spec of a file, of what is loaded already, too. What a function
    imports is of the module that calls it; what it imports in a call of the target is of none."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}  # files by the file that imports them
        self._paths: dict[str, str] = {}  # without links; a large package imports each file many times
        self._open = False
        self._replaced: list[tuple[Any, str, Any, Any]] = []  # where, name, original, ours

    def __enter__(self) -> ImportGraph:
        self._open = True
        self._replace(builtins, "__import__", self._note_statement)
        self._replace(importlib, "import_module", self._note_call)
        self._replace(importlib.util, "spec_from_file_location", self._note_file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False  # a file may have kept what was replaced
        for where, name, original, ours in self._replaced:
            if getattr(where, name) is ours:
                setattr(where, name, original)
        self._replaced.clear()

    def files(self) -> set[str]:
        """All that were imported."""
        return set().union(*self._imports.values())

    def used_by(self, files: Iterable[str], modules: set[Module]) -> dict[str, set[Module]]:
        """For each of the files of targets: itself and those of the loaded `modules` that it imports,
        directly or through others. What no module was seen to import, as a library of operators, any of
        the files may use."""
        reached = {file: self._reached(os.path.realpath(file)) for file in files}
        seen = set().union(*reached.values())
        return {
            file: {module for module in modules if module[1] in paths or module[1] not in seen}
            for file, paths in reached.items()
        }

    def _reached(self, file: str) -> set[str]:
        reached, waiting = {file}, [file]
        while waiting:
            for path in self._imports.get(waiting.pop(), set()) - reached:
                reached.add(path)
                waiting.append(path)
        return reached

    def _replace(self, where: Any, name: str, note: Callable[..., None]) -> None:
        original = getattr(where, name)

        @functools.wraps(original)
        def ours(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            if self._open:
                note(sys._getframe(1), *arguments, **named)
            return result

        self._replaced.append((where, name, original, ours))
        setattr(where, name, ours)

    def _note_statement(
        self,
        frame: FrameType,
        name: str,
        globals: dict[str, Any] | None = None,
        locals: object = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> None:
        # `from a.b import c` imports a, a.b and, if it is a module, a.b.c.
        package = (globals or {}).get("__package__") or (globals or {}).get("__name__") or ""
        base = importlib.util.resolve_name("." * level + name, package) if level else name
        self._note(frame, [base, *(f"{base}.{each}" for each in fromlist or ())])

    def _note_call(self, frame: FrameType, name: str, package: str | None = None) -> None:
        self._note(frame, [importlib.util.resolve_name(name, package)])

    def _note_file(self, frame: FrameType, name: str, location: Any = None, *more: Any, **named: Any) -> None:
        if location is not None:
            self._add(frame, [os.fsdecode(location)])

    def _note(self, frame: FrameType, names: Iterable[str]) -> None:
        modules = {name for dotted in names for name in _with_parents(dotted)} & sys.modules.keys()
        self._add(frame, [getattr(sys.modules[name], "__file__", None) for name in modules])

    def _add(self, frame: FrameType, files: Iterable[str | None]) -> None:
        importer = _body_that_runs(frame)
        if importer is not None:
            paths = {self._path(file) for file in files if isinstance(file, str)}
            self._imports.setdefault(self._path(importer), set()).update(paths)

    def _path(self, file: str) -> str:
        if not os.path.isabs(file):  # of the folder that is the current one now
            return os.path.realpath(file)
        path = self._paths.get(file)
        if path is None:
            path = self._paths[file] = os.path.realpath(file)
        return path


def _body_that_runs(frame: FrameType | None) -> str | None:
    """The file of the innermost module whose body is being run; None in a thread."""
    while frame is not None:
        file = frame.f_globals.get("__file__")
        if frame.f_code.co_name == "<module>" and isinstance(file, str):
            return file
        frame = frame.f_back
    return None


def _with_parents(dotted: str) -> list[str]:
    parts = dotted.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
