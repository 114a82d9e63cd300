"""Runs the `redzone` command, for what judges targets from within Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

# Path of the command, if it is neither beside the package nor on the PATH.
VARIABLE = "REDZONE"

NOTHING_NEW, FINDINGS, USAGE, HARNESS, NOT_JUDGED = 0, 1, 2, 3, 4

# The command's path relative to the package: in a wheel, and in lib/redzone/python of a build.
_BESIDE = ("_redzone/bin/redzone", "../../../../bin/redzone")


# Prefix of the command's lines about problems.
_TELLS = "redzone: "


class CommandError(Exception):
    """The command is missing, or could not do what it was asked."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def problem(self) -> str:
        """Its exit code, and the last line that it has written about a problem."""
        lines = self.err.strip().splitlines()
        # Prefer lines with the prefix, because notes have none.
        told = [line for line in lines if line.startswith(_TELLS)] or lines
        judged = "nothing could be judged" if self.code == NOT_JUDGED else f"exit code {self.code}"
        return f"{judged}: {told[-1].removeprefix(_TELLS)}" if told else judged


def find_command() -> str:
    """The path of the command. Raises CommandError."""
    folder = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.normpath(os.path.join(folder, path)) for path in _BESIDE]
    given = os.environ.get(VARIABLE)
    for path in [given] if given else beside:
        if path and os.access(path, os.X_OK):
            return path
    found = None if given else shutil.which("redzone")
    if found is None:
        raise CommandError(f"no redzone command: put it on the PATH, or give its path as ${VARIABLE}")
    return found


class Command:
    """The command with one file of targets and one store."""

    def __init__(self, file: str, db: str) -> None:
        self._program = find_command()
        self._common = ["--db", db, "--python-file", file, "--python", sys.executable]

    def run(self, *words: str, allowed: Sequence[int] = (NOTHING_NEW,)) -> Ran:
        """Raises CommandError for another exit code."""
        ran = subprocess.run([self._program, *words, *self._common], capture_output=True, text=True)
        done = Ran(ran.returncode, ran.stdout, ran.stderr)
        if ran.returncode not in allowed:
            raise CommandError(f"redzone {words[0]}: {done.problem()}")
        return done

    def findings(self) -> list[dict[str, Any]]:
        """Confirmed findings of the store, as `redzone findings --json` lists them."""
        ran = subprocess.run(
            [self._program, "findings", *self._common[:2], "--json"], capture_output=True, text=True
        )
        if ran.returncode not in (NOTHING_NEW, FINDINGS):
            raise CommandError(f"redzone findings: {Ran(ran.returncode, ran.stdout, ran.stderr).problem()}")
        return confirmed(json.loads(ran.stdout))


def confirmed(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The confirmed findings of what a command has printed with --json."""
    return [f for f in document["findings"] if f["state"] == "confirmed"]


def main() -> NoReturn:
    """The `redzone` of an installed wheel."""
    try:
        program = find_command()
    except CommandError as error:
        sys.exit(f"redzone: {error}")
    os.execv(program, ["redzone", *sys.argv[1:]])
