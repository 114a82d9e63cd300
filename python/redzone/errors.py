"""Mistakes in a file of targets, told in one line with their place."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from types import FrameType

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int
    # True if a function ran the line, as opposed to an import of its file.
    in_function: bool = field(default=False, compare=False, repr=False)
    # The lines that called this line, innermost first.
    callers: tuple[Place, ...] = field(default=(), compare=False, repr=False)

    def within(self, files: Container[str]) -> Place:
        """The innermost of this and its callers in one of the files, given by their real paths; this
        if there is none."""
        found = (p for p in (self, *self.callers) if os.path.realpath(p.file) in files)
        return next(found, self)

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


class SpecError(Exception):
    """A mistake in a declaration. `place` is the line that made it."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.place = place or calling_place()
        self.message = message
        super().__init__(f"{self.place}: {message}")


def calling_place() -> Place:
    """The innermost line that runs outside of this package, and those that called it."""
    frame: FrameType | None = sys._getframe(1)
    lines: list[tuple[str, int]] = []
    imported: set[str] = set()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            lines.append((file, frame.f_lineno))
        if frame.f_code.co_name == "<module>":
            imported.add(file)
        frame = frame.f_back
    first, *callers = [Place(*line, line[0] not in imported) for line in lines or [("?", 0)]]
    return replace(first, callers=tuple(callers))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: a suggestion, or all names that there are."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f": did you mean '{close[0]}'?"
    return f": there are {', '.join(names)}" if names else ""
