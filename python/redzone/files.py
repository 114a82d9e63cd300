"""Imports files of targets, and says what is wrong with one in a line."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType, TracebackType

from .arrays import arrays_named, check_arrays, kind_of
from .device import device
from .errors import SpecError
from .registry import registry
from .targets import Target

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Folders that a package manager fills, below the user's own.
_INSTALLED = ("site-packages", "dist-packages")
_PYTHON = os.path.dirname(os.__file__) + os.sep


class FileError(Exception):
    """What is wrong with a file: one line that begins with file and line."""


class MissingModule(FileError):
    """The interpreter lacks a module that the file imports."""


class Files:
    """The files of targets of this process, as the driver names them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._paths = {os.path.realpath(word): word for word in words}

    def load(self) -> list[Target]:
        """Imports all files; the targets that they declare, in order. Raises FileError."""
        for word in self.words:
            self._import(word)
        try:
            targets = registry.targets()
            for target in targets:
                check_arrays(target)
                arrays_named(kind_of(target), device())
        except SpecError as error:
            raise FileError(self._line(error.place.file, error.place.line, error.message)) from None
        except ImportError as error:
            raise MissingModule(f"{targets[0].place}: {_lacks(error.name)}") from None
        for word in self.words:
            if not any(os.path.realpath(t.place.file) == os.path.realpath(word) for t in targets):
                raise FileError(f"{word}:1: declares no target: use @rz.target, rz.triton or rz.op")
        return targets

    def word_of(self, target: Target) -> str:
        """The file of a target as the driver names it."""
        path = os.path.realpath(target.place.file)
        return self._paths.get(path, target.place.file)

    def _import(self, word: str) -> None:
        path = os.path.abspath(word)
        if not os.path.isfile(path):
            raise FileError(f"{word}:1: no such file")
        folder = os.path.dirname(path)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = _module_name(path)
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise FileError(f"{word}:1: is no Python source (.py)")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except SpecError as error:
            raise FileError(self._line(error.place.file, error.place.line, error.message)) from None
        except SyntaxError as error:
            raise FileError(
                self._line(error.filename or path, error.lineno or 1, f"SyntaxError: {error.msg}")
            ) from None
        except ModuleNotFoundError as error:
            at = self.user_line(error.__traceback__) or f"{word}:1"
            raise MissingModule(f"{at}: {_lacks(error.name)}") from None
        except SystemExit as error:
            at = self.user_line(error.__traceback__) or f"{word}:1"
            raise FileError(f"{at}: the file called sys.exit({error.code!r}) when it was imported") from None
        except BaseException as error:
            at = self.user_line(error.__traceback__) or f"{word}:1"
            raise FileError(f"{at}: {exception_text(error)}") from None

    def user_line(self, trace: TracebackType | None) -> str:
        """`my.py:12`, the innermost line of the user's own files that an exception passed, with the
        file as the driver names it; "" if it passed none."""
        found = self._innermost(trace)
        return self._line(*found, "")[:-2] if found else ""

    def short_line(self, trace: TracebackType | None) -> str:
        """The same with the path from the folder of the files, for what is stored: it is the same
        wherever that folder lies."""
        found = self._innermost(trace)
        if found is None:
            return ""
        path = os.path.realpath(found[0])
        folder = next((d for d in map(os.path.dirname, self._paths) if _is_below(path, d)), "")
        return f"{os.path.relpath(path, folder) if folder else found[0]}:{found[1]}"

    def _innermost(self, trace: TracebackType | None) -> tuple[str, int] | None:
        own = [
            (frame.f_code.co_filename, line)
            for frame, line in traceback.walk_tb(trace)
            if self.is_own(frame.f_code.co_filename)
        ]
        return own[-1] if own else None

    def is_own(self, file: str) -> bool:
        """Whether the file is one of the files of targets, or lies beside one or below."""
        path = os.path.realpath(file)
        return path in self._paths or any(_is_below(path, os.path.dirname(p)) for p in self._paths)

    def code_hash(self) -> str:
        """32 hexadecimal digits of the sources of all modules of the user that are imported now."""
        digest = hashlib.blake2b(digest_size=16)
        for name, path in sorted(self._own_modules()):
            digest.update(name.encode() + b"\0")
            with open(path, "rb") as file:
                digest.update(hashlib.blake2b(file.read()).digest())
        return digest.hexdigest()

    def _own_modules(self) -> list[tuple[str, str]]:
        found = []
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
            if not isinstance(file, str) or not file.endswith(".py"):
                continue
            # Links are resolved for few of thousands of modules.
            if any(part in file for part in _INSTALLED) or file.startswith(_PYTHON):
                continue
            if os.path.isfile(file) and self.is_own(file):
                found.append((getattr(module, "__name__", ""), os.path.realpath(file)))
        return found

    def _line(self, file: str, line: int, message: str) -> str:
        path = os.path.realpath(file)
        shown = self._paths.get(path)
        if shown is None:
            beside = os.path.dirname(next(iter(self._paths), ""))
            shown = os.path.relpath(path, beside) if _is_below(path, beside) else file
        return f"{shown}:{line}: {message}"


def exception_text(error: BaseException) -> str:
    """Type and message of an exception in one line."""
    text = " ".join(str(error).split())
    if len(text) > 500:
        text = text[:500] + " ..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _lacks(module: str | None) -> str:
    return (
        f"no module '{module}' for {sys.executable} ({sys.version.split()[0]}):"
        " install it there, or choose another interpreter with --python"
    )


def version_of(module: str) -> str:
    """The version of an imported module; "" if nothing imported it."""
    if module not in sys.modules:
        return ""
    version = getattr(sys.modules[module], "__version__", None)
    try:
        return str(version or importlib.metadata.version(module))
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _is_below(path: str, folder: str) -> bool:
    if not folder or not path.startswith(folder.rstrip(os.sep) + os.sep) or path.startswith(_PACKAGE):
        return False
    inside = path[len(folder) :].split(os.sep)
    if any(part in _INSTALLED for part in inside):
        return False
    # An environment that lies in the user's folder is not the user's code.
    return not path.startswith(os.path.realpath(sys.prefix) + os.sep)


def _module_name(path: str) -> str:
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    if not name or name[0].isdigit():
        name = f"_{name}"
    # A file with the name of a module, such as torch.py, must not take its place.
    if name not in sys.modules and name not in sys.stdlib_module_names:
        spec = importlib.util.find_spec(name)
        if spec is None or (spec.origin and os.path.realpath(spec.origin) == os.path.realpath(path)):
            return name
    return f"redzone_file_{name}"
