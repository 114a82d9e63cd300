"""`pytest --redzone-guard`: starts itself again under `redzone guard`.

Memory of a device is guarded where there is one, that of malloc() elsewhere. The report of the guard names
each access and its block. What is found is kept in .redzone/guard.db below pytest's root folder.
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
# Set in a pytest process that already runs under the guard.
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
    """Starts this process again as it was started, under the guard. Raises pytest.UsageError where that
    cannot be."""
    try:
        program = find_command()
        flags = shlex.split(config.getoption(FLAGS))
    except (CommandError, ValueError) as error:
        raise pytest.UsageError(f"{OPTION}: {error}") from None
    store = os.path.join(str(config.rootpath), _STORE)
    os.makedirs(os.path.dirname(store), exist_ok=True)
    words = [program, "guard", *_defaults(flags, store), *flags]
    # orig_argv keeps the interpreter's flags, and works for scripts and programs that call pytest.main().
    words += ["--", sys.executable, *sys.orig_argv[1:]]
    # pytest has replaced the standard streams by files.
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    os.environ[_GUARDED] = "1"
    os.chdir(config.invocation_params.dir)
    os.execv(program, words)


def _defaults(flags: list[str], store: str) -> list[str]:
    """Flags of the guard, but for those that are given."""
    given = {flag.split("=", 1)[0] for flag in flags}
    out = [] if "--db" in given else ["--db", store]
    if not given & {"--cpu", "--framework"}:
        out += ["--framework", "auto"] if _has_device() else ["--cpu"]
    return out


def _has_device() -> bool:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return driver.cuInit(0) == 0
