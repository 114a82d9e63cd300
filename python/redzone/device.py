"""Where calls run."""

from __future__ import annotations

import os

# Set by the worker before it imports the files of targets.
VARIABLE = "REDZONE_PYTHON_DEVICE"


def device() -> str:
    """The device of the tensors that calls get, as torch names it: "cpu" or "cuda"."""
    return os.environ.get(VARIABLE, "cpu")
