"""The pytest plugin: `def test_add(redzone): redzone.check(add, time="20s")`.

Findings are kept in .redzone/FILE/TARGET.db below pytest's root folder, where FILE is the path of the test
file from there (.redzone/TARGET.db if it lies in the root folder itself), and replayed first, so that a
bug that was found once fails at once until it is fixed. With pytest-xdist, tests of one target wait for
each other. `--redzone-guard` is in pytest_guard.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from . import pytest_guard
from .command import (
    FINDINGS,
    HARNESS,
    NOT_JUDGED,
    NOTHING_NEW,
    USAGE,
    Command,
    CommandError,
    Ran,
    confirmed,
)
from .registry import registry
from .targets import Target

FOLDER = ".redzone"
# Exit codes of a run that reports its own result.
_JUDGED = (NOTHING_NEW, FINDINGS, USAGE, HARNESS, NOT_JUDGED)
# If this environment variable is set, all runs use the same seed.
_CI = "CI"


class Checker:
    """What the fixture `redzone` is."""

    def __init__(self, root: str) -> None:
        self._root = root

    def check(
        self, declared: Any, *, time: str | float = "20s", plans: int | None = None, seed: int | None = None
    ) -> None:
        """Fuzzes the targets of a callable, and fails with the first finding, once it is reduced.

        declared  a function or class with @rz.target, or what rz.target, rz.triton or rz.op returned
        time      how long each target is fuzzed if nothing is found: "20s", "5m" or a number of seconds
        plans     a limit of plans instead, so that each run does the same
        seed      of the generators; 1 where $CI is set, else drawn
        """
        targets = registry.of(declared)
        if not targets:
            name = getattr(declared, "__name__", repr(declared))
            pytest.fail(f"{name} is no target: declare it by @rz.target", pytrace=False)
        duration = _duration(time)
        for target in targets:
            if target.place.in_function:
                problem = "is declared in a function, which nobody calls when Redzone imports the file"
                pytest.fail(f"{target.place}: {target.name} {problem}: declare it outside", pytrace=False)
            self._check(target, duration, plans, seed)

    def _check(self, target: Target, time: str, plans: int | None, seed: int | None) -> None:
        db = store_of(self._root, target.place.file, target.name)
        os.makedirs(os.path.dirname(db), exist_ok=True)
        budget = ["--findings", "1"]
        budget += ["--time", time] if plans is None else ["--plans", str(plans)]
        if seed is None and os.environ.get(_CI):
            seed = 1
        if seed is not None:
            budget += ["--seed", str(seed)]
        try:
            command = Command(target.place.file, db)
            with _locked(db):
                self._replay_known(command, db)
                self._judge(command.run("run", "--target", target.name, *budget, "--json", allowed=_JUDGED))
        except CommandError as error:
            pytest.fail(str(error), pytrace=False)

    @staticmethod
    def _judge(ran: Ran) -> None:
        """Fails for what the run has met, also if it was known before, and if it could not judge."""
        if not ran.out.strip():
            pytest.fail(f"redzone run: {ran.problem()}", pytrace=False)
        document = json.loads(ran.out)
        met = [f for f in confirmed(document) if f["ledger"]["standing"] != "quarantined"]
        if ran.code == FINDINGS:
            met = met or document["findings"]
        if met:
            pytest.fail(failure(met[0]), pytrace=False)
        if ran.code == FINDINGS:
            pytest.fail("redzone run has failed, and says no finding", pytrace=False)
        if ran.code != NOTHING_NEW:
            pytest.fail(not_judged(document) or f"redzone run: {ran.problem()}", pytrace=False)

    @staticmethod
    def _replay_known(command: Command, db: str) -> None:
        if not os.path.exists(db):
            return
        for finding in command.findings():
            allowed = (NOTHING_NEW, FINDINGS, USAGE, NOT_JUDGED)
            ran = command.run("replay", str(finding["id"]), allowed=allowed)
            if ran.code == FINDINGS:
                pytest.fail(failure(finding), pytrace=False)
            if ran.code != NOTHING_NEW:  # for example, its plan is no longer valid for the target
                told = f"finding {finding['id']} of {db} cannot be replayed: {ran.problem()}"
                warnings.warn(pytest.PytestWarning(told), stacklevel=4)


def _duration(time: Any) -> str:
    """As the command takes it."""
    if isinstance(time, str):
        return time
    if isinstance(time, bool) or not isinstance(time, (int, float)) or not 0 < time < float("inf"):
        pytest.fail(f"time is {time!r}, and must be a number of seconds or a text like '20s'", pytrace=False)
    return f"{max(1, round(time * 1000))}ms"


def failure(finding: dict[str, Any]) -> str:
    """The text of a failed test: reason, reduced plan, and the line that replays it."""
    plan = "\n".join("  " + line for line in finding["plan"].strip().splitlines())
    calls = "1 call" if finding["calls"] == 1 else f"{finding['calls']} calls"
    calls += ", minimal" if finding["minimal"] else ", not known to be minimal"
    return (
        f"{finding['signature']['text']}\n{finding['reason']}\n\nplan ({calls}):\n{plan}\n\n"
        f"{finding['replay']}"
    )


# Matches names, quoted texts, and, as the first group, numbers and sizes such as 3x4.
_NUMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_']*|'[^']*'|([-+]?[0-9][0-9.x]*)")


def store_of(root: str, file: str, target: str) -> str:
    """The path of a target's store. Files of one name in two folders have one each."""
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
    if path.startswith(os.pardir + os.sep):
        path = os.path.realpath(file).lstrip(os.sep)
    folder = path if os.path.dirname(path) else ""
    return os.path.join(root, FOLDER, folder, f"{target}.db")


def not_judged(document: dict[str, Any]) -> str:
    """The text of a test whose plans could not be judged; "" if there is no such plan. Mistakes of the
    spec come before calls that the target refuses."""
    reasons = sorted(document.get("unjudged", []), key=lambda each: not each["spec_error"])
    alike: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for each in reasons:
        # Each shape may report the same mistake with different numbers. Numbers in quotes or after letters
        # are parts of names.
        text = _NUMBER.sub(lambda part: part[0] if part[1] is None else "", each["reason"])
        alike.setdefault((each["target"], each["verdict"], text), []).append(each)
    return "\n".join(_told(same) for same in alike.values())


def _told(same: list[dict[str, Any]]) -> str:
    example, plans = same[0], sum(each["plans"] for each in same)
    more = f", further shapes alike: {len(same) - 1}" if len(same) > 1 else ""
    return f"{example['target']}: {example['reason']} ({example['verdict']}, plans: {plans}{more})"


@contextlib.contextmanager
def _locked(db: str) -> Iterator[None]:
    with open(db + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def redzone(request: pytest.FixtureRequest) -> Checker:
    """Fuzzes targets: `redzone.check(function, time="20s")`."""
    return Checker(str(request.config.rootpath))


def pytest_addoption(parser: pytest.Parser) -> None:
    pytest_guard.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if pytest_guard.is_wanted(config):
        pytest_guard.run_guarded(config)
