"""Text for the driver and for its log, whatever a user's file has done to the streams."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

# The exit code and the line prefix by which the driver recognizes that a Redzone process, not the code under
# test, has failed (src/core/check_failure.h).
_CHECK_FAILED, _CHECK_FAILED_TEXT = 70, "redzone: internal check failed: "


def as_bytes(text: str) -> bytes:
    """UTF-8. Text of users may have halves of surrogate pairs, which UTF-8 lacks."""
    return text.encode("utf-8", "backslashreplace")


def flush() -> None:
    """A file may have put anything in the place of the streams."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def write_line(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, as_bytes(line) + b"\n")


def fail_check(what: str) -> NoReturn:
    """Ends the process: what it would go on with is not what the driver believes."""
    flush()
    write_line(f"{_CHECK_FAILED_TEXT}{what}")
    os._exit(_CHECK_FAILED)
