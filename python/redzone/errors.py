"""Mistakes in a file of targets, told in one line with their place."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


class SpecError(Exception):
    """A mistake in a declaration. `place` is the line that made it."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.place = place or calling_place()
        self.message = message
        super().__init__(f"{self.place}: {message}")


def calling_place() -> Place:
    """The innermost line that runs outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: a suggestion, or all names that there are."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f": did you mean '{close[0]}'?"
    return f": there are {', '.join(names)}" if names else ""
