"""Where calls run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType

# Must be set before the files of targets are imported.
VARIABLE = "REDZONE_PYTHON_DEVICE"
# Triton and Helion read these when a kernel is declared.
_TRITON, _HELION = "TRITON_INTERPRET", "HELION_INTERPRET"


def choose_device(of_driver: str) -> str:
    """Sets what device() says for a device of the driver ("host", "cuda", ...), and that Triton and Helion
    interpret on a CPU."""
    device = "cuda" if of_driver == "cuda" else "cpu"
    os.environ[VARIABLE] = device
    if device == "cpu":
        os.environ.setdefault(_TRITON, "1")
        os.environ.setdefault(_HELION, "1")
        if not any(isinstance(finder, _HelionBesideTriton) for finder in sys.meta_path):
            sys.meta_path.insert(0, _HelionBesideTriton())
    return device


def device() -> str:
    """The device of the tensors that calls get, as torch names it: "cpu" or "cuda"."""
    return os.environ.get(VARIABLE, "cpu")


class _HelionBesideTriton:
    """A finder that finds nothing. A file may have kernels of both, and Helion refuses to interpret where
    Triton's variable is "1": from the import of Helion on it is spelled another way that Triton takes.
    Not before, because much code asks whether it is "1", as Triton's own tests do."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        if name != "helion" or os.environ.get(_TRITON) != "1":
            return
        # Code that checks whether Helion is installed also gets here, so ask the later finders whether it
        # exists; the earlier ones have found nothing.
        later = sys.meta_path[sys.meta_path.index(self) + 1 :]
        if any(finder.find_spec(name, path, target) for finder in later):
            os.environ[_TRITON] = "true"
