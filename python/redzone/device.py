"""Where calls run."""

from __future__ import annotations

import os

# Set before the files of targets are imported.
VARIABLE = "REDZONE_PYTHON_DEVICE"


def choose_device(of_driver: str) -> str:
    """Sets what device() says for a device of the driver ("host", "cuda", ...), and that Triton interprets on
    a CPU, which it reads when a kernel is declared."""
    device = "cuda" if of_driver == "cuda" else "cpu"
    os.environ[VARIABLE] = device
    if device == "cpu":
        os.environ.setdefault("TRITON_INTERPRET", "1")
    return device


def device() -> str:
    """The device of the tensors that calls get, as torch names it: "cpu" or "cuda"."""
    return os.environ.get(VARIABLE, "cpu")
