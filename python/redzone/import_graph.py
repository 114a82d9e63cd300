"""Which modules of the user a file imports, by the import statements in their sources."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable

Module = tuple[str, str]  # its name and its file


def used_by(files: Iterable[str], modules: set[Module]) -> dict[str, set[Module]]:
    """For each of the files of targets: those of the loaded `modules` that it imports, directly or through
    others, wherever the statement stands, and the file itself. One to which no statement leads from any of
    the files was imported in another way, as by a library of operators: any of them may use it."""
    imports = {name: _imports(name, path) for name, path in modules}
    reached = {file: _reached(os.path.realpath(file), modules, imports) for file in files}
    by_statement = set().union(*reached.values())
    return {
        file: {module for module in modules if module[0] in names or module[0] not in by_statement}
        for file, names in reached.items()
    }


def _reached(file: str, modules: set[Module], imports: dict[str, set[str]]) -> set[str]:
    waiting = [name for name, path in modules if path == file]
    reached = set(waiting)
    while waiting:
        for name in imports[waiting.pop()] & imports.keys() - reached:
            reached.add(name)
            waiting.append(name)
    return reached


def _imports(name: str, path: str) -> set[str]:
    """Names that may be modules: `from a.b import c` may import a, a.b and a.b.c."""
    if not path.endswith(".py"):
        return set()
    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return set()  # it was changed since; check_hash() says so
    package = _package_of(name, path)
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -(node.level - 1) or None] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {name for dotted in found for name in _with_parents(dotted)}


def _package_of(name: str, path: str) -> str:
    package = getattr(sys.modules.get(name), "__package__", None)
    if isinstance(package, str):
        return package
    return name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]


def _with_parents(dotted: str) -> list[str]:
    parts = dotted.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
