"""The hash of each file of targets, imported alone.

What several files import is loaded once, by the first of them or by whatever it calls, so a process that
has imported them all cannot tell which of them needs it. The hash of a finding's code must not depend on
the other files of the command.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import NoReturn

from .answer import Answer
from .device import choose_device
from .files import Files


def hashes_alone(words: Sequence[str], of_driver: str) -> dict[str, str]:
    """32 hexadecimal digits by file, of several; each is imported in a process of its own, forked from
    this one, which has imported none. As many run at a time as there are processors. A file that needs
    another before it has no hash here."""
    if len(words) < 2:
        return {}
    at_once = len(os.sched_getaffinity(0))
    some = (words[begin : begin + at_once] for begin in range(0, len(words), at_once))
    return {word: found for each in some for word, found in _hashes_of(each, of_driver) if found}


def _hashes_of(words: Sequence[str], of_driver: str) -> Iterator[tuple[str, str]]:
    started = [(word, *_start(word, of_driver)) for word in words]
    for word, child, reading in started:
        # The hash is in the pipe now. Do not wait for its end, because processes of the file may hold it
        # open.
        _, status = os.waitpid(child, 0)
        os.set_blocking(reading, False)
        told = b""
        with contextlib.suppress(BlockingIOError):
            told = os.read(reading, 64)
        os.close(reading)
        yield word, told.decode() if status == 0 else ""


def _start(word: str, of_driver: str) -> tuple[int, int]:
    """The process, and the end of a pipe from which its hash is read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _import_alone(word, of_driver, Answer(writing))
    os.close(writing)
    return child, reading


def _import_alone(word: str, of_driver: str, answer: Answer) -> NoReturn:
    code = 1
    # The later import of all files reports errors of the file and shows its output.
    with contextlib.suppress(BaseException):
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nothing, stream)
        choose_device(of_driver)
        files = Files([word])
        files.load()
        code = 0 if answer.write(files.code_hash().encode()) else 1
    os._exit(code)
