"""The hash of each file of targets, imported alone.

What several files import is loaded once, by the first of them or by whatever it calls, so a process that
has imported them all cannot tell which of them needs it. The hash of a finding's code must not depend on
the other files of the command.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from .answer import Answer
from .device import choose_device
from .files import Files, is_installed
from .modules import file_of


def hashes_alone(words: Sequence[str], of_driver: str) -> dict[str, str]:
    """32 hexadecimal digits by file, of several; each is imported in a process of its own, forked from
    one that has imported none. A file that needs another before it has no hash here."""
    if len(words) < 2:
        return {}
    found = _answer_of(partial(_hash_behind_packages, words, of_driver)) or {}
    # A file may not take packages that are imported already.
    found |= {word: _answer_of(partial(_hash_of, word, of_driver)) for word in words if not found.get(word)}
    return {word: answer["hash"] for word, answer in found.items() if answer}


def _hash_behind_packages(words: Sequence[str], of_driver: str) -> dict[str, Any]:
    """In a process of its own. What the first file imports of installed packages, which takes seconds, is
    imported once for those behind it."""
    first, *others = words
    answer = _answer_of(partial(_hash_of, first, of_driver))
    for name in (answer or {}).get("packages", ()):
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    return {first: answer} | {word: _answer_of(partial(_hash_of, word, of_driver)) for word in others}


def _hash_of(word: str, of_driver: str) -> dict[str, Any]:
    """In a process of its own, whose modules of the user are then those of this file."""
    choose_device(of_driver)
    files = Files([word])
    files.load()
    loaded = {name for name, module in list(sys.modules.items()) if is_installed(file_of(module))}
    return {"hash": files.code_hash(), "packages": sorted(name for name in loaded if "." not in name)}


def _answer_of(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """What it returns in a forked process that then ends; None if it raises, or ends the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _tell(work, Answer(writing))
    os.close(writing)
    try:
        told = b""
        while more := os.read(reading, 1 << 16):
            told += more
    finally:
        os.close(reading)
    _, status = os.waitpid(child, 0)
    return json.loads(told) if status == 0 else None


def _tell(work: Callable[[], dict[str, Any]], answer: Answer) -> NoReturn:
    code = 1
    # What is wrong with the file is said, and what it prints is shown, when it is imported with the others.
    with contextlib.suppress(BaseException):
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        code = 0 if answer.write(json.dumps(work()).encode()) else 1
    os._exit(code)
