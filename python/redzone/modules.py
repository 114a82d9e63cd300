"""The modules that are loaded, and the files that they are made of."""

from __future__ import annotations

import gc
import sys
from types import FunctionType, ModuleType
from typing import Any, cast


def namespaces() -> list[dict[str, Any]]:
    """Of all modules that are loaded. One that was made of its file alone, or run as a program is, is in no
    list: it is known by its functions."""
    found = {id(names): names for m in list(sys.modules.values()) if (names := _names_of(m)) is not None}
    for each in gc.get_objects():
        if (names := _names_of(each)) is not None:
            found[id(names)] = names
    return list(found.values())


def file_of(module: object) -> str:
    """As the module gives it; "" if it has none. What the list of modules has may be any object, and raise
    what it likes."""
    try:
        file = getattr(module, "__file__", None)
    except BaseException:
        return ""
    return file if isinstance(file, str) else ""


def _names_of(value: object) -> dict[str, Any] | None:
    """Asks no code of the value's type."""
    kind = type(value)
    if kind is FunctionType:
        return cast(FunctionType, value).__globals__
    if not issubclass(kind, ModuleType):
        return None
    return cast("dict[str, Any]", object.__getattribute__(value, "__dict__"))
