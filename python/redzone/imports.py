"""Tells the driver that a module is imported, which is no hang.

Torch imports much of its own when something is used for the first time: the first optimizer takes seconds
more than a trial has.
"""

from __future__ import annotations

import os
import sys
from _thread import start_new_thread
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from types import FrameType

_EVERY_S = 0.1
_MOST_TIMES = 20  # imports of one name that count as progress: a loop of failing imports is no progress


class ImportWatch:
    """A finder that finds nothing. Python asks it for a module that is not imported yet, whichever way it
    is imported, and for no other.

    When an import ends Python tells nobody, so a thread looks at the stacks of all others as long as an
    import goes on. It is no thread of the module threading, where a target could meet it.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._process = os.getpid()
        self._name = ""
        self._told = -_EVERY_S
        self._watched = False
        self._times: Counter[str] = Counter()  # number of import requests for each name

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if os.getpid() != self._process:  # a process that a call has forked has no deadline
            return
        self._times[name] += 1
        if self._times[name] > _MOST_TIMES:
            return
        self._name = name
        # Reports here, because the thread cannot run while an extension module is loaded.
        self._tell()
        if self._watched:
            return
        self._watched = True
        try:
            start_new_thread(self._watch, ())
        except RuntimeError:  # the process may be at its thread limit: the next import reports
            self._watched = False

    def _tell(self) -> None:
        now = monotonic()
        if now - self._told >= _EVERY_S:
            self._told = now
            self._report(f"imports {self._name}")

    def _watch(self) -> None:
        while True:
            sleep(_EVERY_S)
            if not _import_goes_on():
                # An import that begins now either sees the cleared flag or is found by the second check.
                self._watched = False
                if not _import_goes_on():
                    return
                self._watched = True
            self._tell()


def _import_goes_on() -> bool:
    return any(_imports(frame) for frame in sys._current_frames().values())


def _imports(frame: FrameType | None) -> bool:
    """Whether the function of Python that runs imports is on the stack."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
