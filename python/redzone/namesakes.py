"""Modules of one name that lie beside different files of targets, as a `utils.py` in two folders.

Python knows a module by its name: the second file would get the module of the first. So each file is
imported with its own, and those of a name that two folders have are set aside afterwards. A later import
of such a name, in a call, could mean any of them, and is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


class Namesakes:
    """`is_users` says of the file of a module whether it is the user's, and no installed one."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self._files: dict[str, list[str]] = {}  # for each name that occurs in several folders

    def make_room(self, folder: str) -> None:
        """Before a file of this folder is imported: what it would get of another folder is set aside, and
        what was set aside of its own is there again."""
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
        for name, file in self._imported():
            if _folder_of(file) != folder and _lies_in(folder, name):
                self._set_aside(name, file)
        for alias in [n for n in sys.modules if n.endswith(_mark(folder))]:
            sys.modules[alias[: -len(_mark(folder))]] = sys.modules.pop(alias)

    def close(self) -> None:
        """Behind the last file."""
        if not self._files:
            return
        for name, file in self._imported():
            if name in self._files:
                self._set_aside(name, file)
        sys.meta_path.insert(0, _Refusal(self._files))

    def _imported(self) -> list[tuple[str, str]]:
        """Names and files of the user's modules and packages, without what is in a package."""
        found = []
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
            if isinstance(file, str) and name.isidentifier() and self._is_users(file):
                found.append((name, os.path.realpath(file)))
        return found

    def _set_aside(self, name: str, file: str) -> None:
        """The module with this file, or the whole package."""
        files = self._files.setdefault(name, [])
        if file not in files:
            files.append(file)
        for each in [n for n in sys.modules if n == name or n.startswith(name + ".")]:
            sys.modules[each + _mark(_folder_of(file))] = sys.modules.pop(each)


class _Refusal:
    """A finder that refuses names with several meanings."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self._files = files

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        files = self._files.get(name)
        if files is not None and path is None:
            raise ImportError(
                f"'{name}' is {' and '.join(files)}: import it at the top of the file, or rename one of them"
            )


def _folder_of(file: str) -> str:
    """Where Python found a module or package with this file."""
    folder = os.path.dirname(file)
    return os.path.dirname(folder) if os.path.basename(file) == "__init__.py" else folder


def _mark(folder: str) -> str:
    return f" of {folder}"


def _lies_in(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name + ".py")) or os.path.isfile(
        os.path.join(folder, name, "__init__.py")
    )
