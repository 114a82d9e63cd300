"""`pytest --redzone-guard`: runs the suite as `redzone guard -- python -m pytest` does.

Memory of a device is guarded where there is one, that of malloc() elsewhere. A test that accesses memory out
of bounds ends pytest, and the report of the guard names the access and the block. What is found is kept in
.redzone/guard.db below pytest's root folder.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from typing import Any, NoReturn

import pytest

from .command import CommandError, find_command

OPTION = "--redzone-guard"
FLAGS = "--redzone-guard-flags"
# Set in a pytest that runs under the guard already.
_GUARDED = "REDZONE_PYTEST_GUARDED"
_STORE = os.path.join(".redzone", "guard.db")


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("redzone")
    group.addoption(OPTION, action="store_true", help="run the suite under `redzone guard`")
    group.addoption(
        FLAGS, default="", metavar="FLAGS", help=f"flags of `redzone guard` for {OPTION}, in one word"
    )


def is_wanted(config: pytest.Config) -> bool:
    return bool(config.getoption(OPTION)) and _GUARDED not in os.environ


def run_guarded(config: pytest.Config) -> NoReturn:
    """Replaces this process by pytest under the guard. Raises pytest.UsageError without the command."""
    try:
        program = find_command()
    except CommandError as error:
        raise pytest.UsageError(str(error)) from None
    store = os.path.join(str(config.rootpath), _STORE)
    os.makedirs(os.path.dirname(store), exist_ok=True)
    words = [program, "guard", "--db", store, *_what_is_guarded(), *shlex.split(config.getoption(FLAGS))]
    words += ["--", sys.executable, "-m", "pytest", *config.invocation_params.args]
    # pytest has put files in the place of the standard streams.
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    os.environ[_GUARDED] = "1"
    os.chdir(config.invocation_params.dir)
    os.execv(program, words)


def _what_is_guarded() -> list[str]:
    return ["--framework", "auto"] if _has_device() else ["--cpu"]


def _has_device() -> bool:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return driver.cuInit(0) == 0
