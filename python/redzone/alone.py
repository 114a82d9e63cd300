"""The hash of each file of targets, imported alone.

What several files import is loaded once, by the first of them or by whatever it calls, so a process that
has imported them all cannot tell which of them needs it. The hash of a finding's code must not depend on
the other files of the command.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import NoReturn

from .device import choose_device
from .files import Files


def hashes_alone(words: Sequence[str], of_driver: str) -> dict[str, str]:
    """32 hexadecimal digits by file, of several; each is imported in a process of its own, forked from
    this one, which has imported none. A file that needs another before it has no hash here."""
    if len(words) < 2:
        return {}
    return {word: found for word in words if (found := _hash_alone(word, of_driver))}


def _hash_alone(word: str, of_driver: str) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _import_alone(word, of_driver, writing)
    try:
        os.close(writing)
        _, status = os.waitpid(child, 0)
        # What the file has started may hold the other end open.
        os.set_blocking(reading, False)
        return os.read(reading, 64).decode() if status == 0 else ""
    finally:
        os.close(reading)


def _import_alone(word: str, of_driver: str, writing: int) -> NoReturn:
    code = 1
    # What is wrong with the file is said, and what it prints is shown, when it is imported with the others.
    with contextlib.suppress(BaseException):
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        choose_device(of_driver)
        files = Files([word])
        files.load()
        os.write(writing, files.code_hash().encode())
        code = 0
    os._exit(code)
