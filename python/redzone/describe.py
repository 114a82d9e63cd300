"""`python -m redzone.describe --out-fd N [FILE...]`: what the driver knows of files of targets.

Imports the files and writes one JSON object to descriptor N; without a file, it has no target, and
says which versions there are. Started by the driver, not by people.
Exit codes: 0; 2 and one line on stderr if a file is wrong; 3 and one line if the interpreter lacks
a module. What the files print goes to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .description import VERSION, describe_target
from .files import FileError, Files, MissingModule, version_of
from .targets import Target


def description(files: Files, targets: Sequence[Target]) -> dict[str, Any]:
    """What the driver reads of the targets of the files."""
    return {
        "redzone_python": VERSION,
        "python": platform.python_version(),
        # What was started may be a script that finds an interpreter, at some cost each time.
        "executable": sys.executable,
        "torch": version_of("torch"),
        "triton": version_of("triton"),
        "code_hash": files.code_hash(),
        "target": [describe_target(t, files.word_of(t)) for t in targets],
    }


def _without_files() -> list[Target]:
    """Imports what there is of the modules whose versions are told."""
    for module in ("torch", "triton"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    return []


def _leave(code: int, line: str = "") -> NoReturn:
    """Ends the process without handlers of the user's modules."""
    try:
        sys.stdout.flush()
        if line:
            os.write(2, (line + "\n").encode())
    finally:
        os._exit(code)


def main() -> NoReturn:
    parser = argparse.ArgumentParser(prog="python -m redzone.describe")
    parser.add_argument("--out-fd", type=int, required=True)
    parser.add_argument("file", nargs="*")
    arguments = parser.parse_args()
    answer = arguments.out_fd
    # Processes that the files start must not hold the answer open.
    os.set_inheritable(answer, False)
    os.register_at_fork(after_in_child=lambda: os.close(answer))
    os.dup2(2, 1)
    us = os.getpid()
    files = Files(arguments.file)
    try:
        targets = files.load() if arguments.file else _without_files()
        text = json.dumps(description(files, targets), allow_nan=False)
    except FileError as error:
        if os.getpid() != us:
            _leave(0)
        _leave(3 if isinstance(error, MissingModule) else 2, str(error))
    if os.getpid() != us:  # the file forked, and its child came back here
        _leave(0)
    data = text.encode()
    while data:
        data = data[os.write(answer, data) :]
    _leave(0)


if __name__ == "__main__":
    main()
