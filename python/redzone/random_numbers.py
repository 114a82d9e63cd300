"""Generators of random numbers that code under test may use."""

from __future__ import annotations

import random
import sys


def seed(number: int) -> None:
    """Seeds Python's, and those of numpy and torch as far as anybody has imported them."""
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number % (1 << 32))  # numpy imports its generators on first use
    torch = sys.modules.get("torch")
    if torch is None:
        return
    # torch.manual_seed() would initialize the generators of all devices.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.default_generators[torch.cuda.current_device()].manual_seed(number)
