"""The targets that the files declare while they are imported."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Any

from .errors import SpecError
from .spec import Requirement
from .targets import Target


class Registry:
    """Collects declarations, in order. The package has one, because decorators take no argument
    that could name another. Two files may have a target of one name: pytest imports files of which
    the driver gets one at a time."""

    def __init__(self) -> None:
        self._targets: dict[tuple[str, str], Target] = {}  # keyed by real path of the file and name
        self._requirements: list[Requirement] = []

    def add(self, target: Target) -> None:
        key = os.path.realpath(target.place.file), target.name
        other = self._targets.get(key)
        if other is not None:
            raise SpecError(
                f"the target '{target.name}' is declared twice, also at {other.place}", target.place
            )
        self._targets[key] = target

    def require(self, requirement: Requirement) -> None:
        self._requirements.append(requirement)

    def place_in(self, files: Container[str]) -> None:
        """What a helper of these files declares for one is that file's. Real paths."""
        for target in self._targets.values():
            target.place = target.place.within(files)
        self._requirements = [
            Requirement(r.condition, r.place.within(files)) for r in self._requirements
        ]

    def targets(self) -> list[Target]:
        """All targets, with the conditions that their files state outside of them."""
        for requirement in self._requirements:
            file = os.path.realpath(requirement.place.file)
            for target in self._targets.values():
                if os.path.realpath(target.place.file) == file:
                    target.add_requirement(requirement)
        self._requirements.clear()
        return list(self._targets.values())

    def of(self, declared: Any) -> list[Target]:
        """The targets of a callable, or of a Target itself."""
        return [t for t in self.targets() if declared is t or t.callable is declared]


registry = Registry()
