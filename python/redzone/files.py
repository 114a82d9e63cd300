"""Imports files of targets, and says what is wrong with one in a line."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import linecache
import os
import re
import sys
import traceback
from collections.abc import Sequence
from types import CodeType, TracebackType

from . import random_numbers
from .arrays import Arrays, arrays_named, check_arrays, kind_of, try_out
from .errors import SpecError
from .modules import file_of, namespaces
from .namesakes import Namesakes
from .output import as_bytes
from .registry import registry
from .targets import Target

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Folders that a package manager fills, even if they are below the user's folder.
_INSTALLED = ("site-packages", "dist-packages")
_PYTHON = os.path.dirname(os.__file__) + os.sep


# The code hash that the driver expects (src/python/interpreter.h).
CODE_HASH = "REDZONE_CODE_HASH"


class FileError(Exception):
    """What is wrong with a file: one line that begins with file and line."""


class MissingModule(FileError):
    """The interpreter lacks a module that the file imports."""


class Files:
    """The files of targets of this process, as the driver names them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        # Resolved now, because a file may change the current folder.
        self._absolute = {word: os.path.abspath(word) for word in words}
        self._paths = {os.path.realpath(word): word for word in words}
        self._tried_out: set[str] = set()  # kinds of arrays
        self._namesakes = Namesakes(lambda file: not is_installed(file))

    def load(self) -> list[Target]:
        """Imports all files; the targets that they declare, in order. Raises FileError. Does not
        return in a process that a file forks: it is none of ours."""
        us = os.getpid()
        try:
            return self._load()
        finally:
            if os.getpid() != us:
                os._exit(0)

    def _load(self) -> list[Target]:
        for word in self.words:
            self._import(word)
        self._namesakes.close()
        registry.place_in(self._paths)
        targets = registry.targets()
        self._check_names(targets)
        for target in targets:
            try:
                # Uses the CPU, because a process that has opened a GPU cannot be forked.
                self._check_arrays(target, arrays_named(kind_of(target), "cpu"))
            except SpecError as error:
                raise FileError(self._line(error.place.file, error.place.line, error.message)) from None
            except ImportError as error:
                at = self._line(target.place.file, target.place.line, "")
                raise MissingModule(at + _lacks(error.name)) from None
        try:
            random_numbers.seed(0)  # seeds once here, so that workers do not repeat the imports
        except Exception as error:
            problem = f"random numbers cannot be seeded once it is imported: {exception_text(error)}"
            raise FileError(f"{self.words[0]}:1: {problem}") from None
        declaring = {self.word_of(target) for target in targets}
        for word in self.words:
            if word not in declaring:
                raise FileError(f"{word}:1: declares no target: use @rz.target, rz.triton or rz.op")
        return targets

    def _check_names(self, targets: Sequence[Target]) -> None:
        """Plans know a target by its name alone."""
        by_name: dict[str, Target] = {}
        for target in targets:
            other = by_name.setdefault(target.name, target)
            if other is not target:
                also = self._line(other.place.file, other.place.line, "").rstrip(": ")
                twice = f"the target '{target.name}' is declared twice, also at {also}"
                raise FileError(self._line(target.place.file, target.place.line, twice))

    def _check_arrays(self, target: Target, arrays: Arrays) -> None:
        check_arrays(target, arrays)
        kind = kind_of(target)
        if kind in self._tried_out:
            return
        self._tried_out.add(kind)
        try:
            try_out(arrays)
        except Exception as error:
            problem = f"{kind} arrays do not work once the file is imported: {exception_text(error)}"
            raise SpecError(problem, target.place) from None

    def word_of(self, target: Target) -> str:
        """The file of a target as the driver names it."""
        path = os.path.realpath(target.place.file)
        return self._paths.get(path, target.place.file)

    def _import(self, word: str) -> None:
        path = self._absolute[word]
        if as_bytes(word) != os.fsencode(word):
            raise FileError(f"{word}:1: the name of the file is not UTF-8")
        if not os.path.isfile(path):
            raise FileError(f"{word}:1: no such file")
        if _is_imported(path):  # by an earlier file
            return
        self._namesakes.make_room(os.path.dirname(os.path.realpath(path)))
        name = _module_name(path)
        if not path.endswith(".py"):
            raise FileError(f"{word}:1: is no Python source (.py)")
        spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, path))
        assert spec is not None and spec.loader is not None
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
        return self._line(*found[:2], "")[:-2] if found else ""

    def short_line(self, trace: TracebackType | None) -> str:
        """The same with the path from the folder of the files, for what is stored: it is the same
        wherever that folder lies."""
        found = self._innermost(trace)
        if found is None:
            return ""
        path = os.path.realpath(found[0])
        folder = next((d for d in map(os.path.dirname, self._paths) if _is_below(path, d)), "")
        return f"{os.path.relpath(path, folder) if folder else found[0]}:{found[1]}"

    def source_line(self, trace: TracebackType | None) -> str:
        """`function: text` of that line; "" where there is none. It stays when lines before it are added
        or removed. A long text is cut, and has a hash of the whole behind it."""
        found = self._innermost(trace)
        if found is None:
            return ""
        file, line, function = found
        text = "".join(map(_printable, " ".join(linecache.getline(file, line).split())))
        if len(text) > 60:
            text = f"{text[:50]}... {hashlib.sha256(text.encode()).hexdigest()[:6]}"
        return f"{function}: {text}" if text else ""

    def _innermost(self, trace: TracebackType | None) -> tuple[str, int, str] | None:
        """File, line and function."""
        own = [
            (frame.f_code.co_filename, line, frame.f_code.co_name)
            for frame, line in traceback.walk_tb(trace)
            if self.is_own(frame.f_code.co_filename)
        ]
        return own[-1] if own else None

    def is_own(self, file: str) -> bool:
        """Whether the file is one of the files of targets, or lies beside one or below."""
        if file.startswith("<"):  # code compiled from a string, and frozen modules
            return False
        path = os.path.realpath(file)
        return path in self._paths or any(_is_below(path, os.path.dirname(p)) for p in self._paths)

    def code_hash(self) -> str:
        """32 hexadecimal digits of the sources of all modules of the user that are imported now."""
        return _digest(self._own_modules())

    def check_hash(self, described: str) -> None:
        """Raises FileError if the code is another than what was described; "": nobody knows."""
        now = self.code_hash() if described else ""
        if now != described:
            # The newest file is the one that was changed while the command ran.
            file = max((path for _, path in self._own_modules()), key=os.path.getmtime)
            code = f"its code was {described}, and is {now}"
            changed = f"was changed while the command ran ({code}): start it again"
            raise FileError(self._line(file, 1, changed))

    def _own_modules(self) -> set[tuple[str, str]]:
        """Names and files, wherever they lie: sources, extensions, and libraries of operators."""
        loaded = [
            (name, file)
            for name, file in ((n.get("__name__"), n.get("__file__")) for n in namespaces())
            if isinstance(name, str) and isinstance(file, str)
        ]
        operators = getattr(sys.modules.get("torch"), "ops", None)
        libraries = getattr(operators, "loaded_libraries", ())
        loaded += [(os.path.basename(str(path)), str(path)) for path in list(libraries)]
        found = set()
        for name, file in loaded:
            # Resolving links is slow, so it is done for only a few of the thousands of modules.
            if not file.endswith((".py", ".so")) or is_installed(file):
                continue
            path = os.path.realpath(file)
            if os.path.isfile(path) and (path in self._paths or not is_installed(path)):
                found.add((name, path))
        return found

    def _line(self, file: str, line: int, message: str) -> str:
        path = os.path.realpath(file)
        shown = self._paths.get(path)
        if shown is None:
            beside = os.path.dirname(next(iter(self._paths), ""))
            shown = os.path.relpath(path, beside) if _is_below(path, beside) else file
        return f"{shown}:{line}: {message}"


def exception_text(error: BaseException) -> str:
    """Type and message of an exception in one line, whatever its type does when it is asked."""
    try:
        text = "".join(map(_printable, " ".join(str(error).split())))
    except BaseException as another:
        text = f"its text cannot be made ({type(another).__name__})"
    if len(text) > 500:
        text = text[:500] + " ..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


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


def is_installed(file: str) -> bool:
    """Whether a package manager has put it there, or it is Python's or ours."""
    if any(part in file.split(os.sep) for part in _INSTALLED) or file.startswith((_PYTHON, _PACKAGE)):
        return True
    return sys.prefix != sys.base_prefix and file.startswith(sys.prefix + os.sep)


def _is_imported(path: str) -> bool:
    """Whether a module was made of this file."""
    real = os.path.realpath(path)
    files = [file_of(m) for m in list(sys.modules.values())]
    name = os.path.basename(path)
    return any(os.path.basename(f) == name and os.path.realpath(f) == real for f in files)


class _Source(importlib.machinery.SourceFileLoader):
    """Compiles the source. Python takes bytecode of an older one, if it was changed within the
    second and has the same length."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _digest(modules: set[tuple[str, str]]) -> str:
    contents = []
    for name, path in modules:
        with open(path, "rb") as file:
            contents.append((name, hashlib.blake2b(file.read()).digest()))
    digest = hashlib.blake2b(digest_size=16)
    # Paths are not hashed, so the hash does not depend on the location of the files.
    for name, content in sorted(contents):
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def _is_below(path: str, folder: str) -> bool:
    if not folder or not path.startswith(folder.rstrip(os.sep) + os.sep) or path.startswith(_PACKAGE):
        return False
    inside = path[len(folder) :].split(os.sep)
    if any(part in _INSTALLED for part in inside):
        return False
    # A virtual environment in the user's folder is not the user's code.
    environment = os.path.realpath(sys.prefix) + os.sep
    return sys.prefix == sys.base_prefix or not path.startswith(environment)


def _module_name(path: str) -> str:
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    if not name or name[0].isdigit():
        name = f"_{name}"
    # A file with the name of a module, such as torch.py, must not replace that module.
    if name not in sys.modules and name not in sys.stdlib_module_names:
        spec = importlib.util.find_spec(name)
        if spec is None or (spec.origin and os.path.realpath(spec.origin) == os.path.realpath(path)):
            return name
    return f"redzone_file_{name}"
