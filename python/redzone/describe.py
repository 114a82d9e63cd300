"""`python -m redzone.describe --out-fd N [FILE...]`: what the driver knows of files of targets.

Imports the files, several of them each by itself at first (redzone/alone.py), and writes one JSON object
to descriptor N; without a file, it has no target, and says which versions there are. With --zygote NAME
a process stays that has imported them and forks workers (redzone/zygote.py). Started by the driver, not by
people.
Exit codes: 0; 2 and one line in the place of the answer and on stderr if a file is wrong; 3 and one
line if the interpreter lacks a module. An empty line comes first, before a file is imported: one that
ends the process is told from an interpreter that does not start. What the files print goes to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
from typing import NoReturn

from .alone import hashes_alone
from .answer import Answer
from .description import description
from .device import choose_device
from .files import FileError, Files, MissingModule, exception_text
from .library import LibraryError
from .output import as_bytes, flush, write_line
from .targets import Target
from .worker import Prepared, load
from .zygote import adopt_orphans, start_zygote


def _without_files() -> list[Target]:
    """Imports what there is of the modules whose versions are told."""
    for module in ("torch", "triton"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    return []


def _leave(code: int) -> NoReturn:
    """Ends the process without handlers of the user's modules."""
    flush()
    os._exit(code)


def _refuse(answer: Answer, code: int, line: str) -> NoReturn:
    """The line goes to people by stderr, among what the files print, and alone to the driver."""
    flush()
    write_line(line)
    answer.write(as_bytes(line))
    os._exit(code)


def main() -> NoReturn:
    parser = argparse.ArgumentParser(prog="python -m redzone.describe")
    parser.add_argument("--out-fd", type=int, required=True)
    parser.add_argument("--device", default="host")
    parser.add_argument("--zygote", help="where it listens, without the hash of the code")
    parser.add_argument("--driver", type=int, default=0, help="the process that the zygote ends with")
    parser.add_argument("file", nargs="*")
    arguments = parser.parse_args()
    answer = Answer(arguments.out_fd)
    os.dup2(2, 1)
    answer.write(b"\n")
    files = Files(arguments.file)
    first = next(iter(arguments.file), sys.executable)
    prepared: Prepared | None = None
    try:
        alone = hashes_alone(arguments.file, arguments.device)
        if arguments.zygote:
            adopt_orphans()
            prepared = load(arguments.device, files, alone)
            text = prepared.description
        else:
            choose_device(arguments.device)
            targets = files.load() if arguments.file else _without_files()
            text = json.dumps(description(files, targets, alone), allow_nan=False)
    except LibraryError as error:
        _refuse(answer, 3, str(error))
    except FileError as error:
        _refuse(answer, 3 if isinstance(error, MissingModule) else 2, str(error))
    except Exception as error:
        at = files.user_line(error.__traceback__) or f"{first}:1"
        _refuse(answer, 2, f"{at}: cannot be described: {exception_text(error)}")
    if not answer.write(text.encode()):
        _refuse(answer, 2, f"{first}:1: closes descriptors that it has not opened")
    try:
        if prepared is not None:
            start_zygote(prepared, arguments.driver, f"{arguments.zygote}/{prepared.code_hash}")
    finally:
        # Without a zygote each worker imports the files, so this process may end even if they broke something
        # that it needs.
        _leave(0)


if __name__ == "__main__":
    main()
