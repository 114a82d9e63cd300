"""Redzone for Python: declare a callable as a target, and `redzone run FILE.py` fuzzes it.

    import redzone as rz, torch

    M, N = rz.dims(M=(1, 64), N=(1, 300))

    @rz.target(x=rz.In("f32", M, N), returns=rz.Out("f32", M, N), reference=lambda x: torch.softmax(x, -1))
    def softmax(x):
        return torch.softmax(x, -1)

docs/python.md begins from nothing.
"""

from .declare import op, require, target, triton
from .device import device
from .errors import SpecError
from .expressions import Expression, cdiv, maximum, minimum, next_power_of_2, where
from .spec import (
    Dim,
    In,
    InOut,
    Knob,
    Out,
    Tensor,
    constant,
    dim,
    dims,
    integers,
    knob,
    offsets,
    special_values,
    sums,
    uniform,
)
from .targets import Target

__all__ = [
    "Dim",
    "Expression",
    "In",
    "InOut",
    "Knob",
    "Out",
    "SpecError",
    "Target",
    "Tensor",
    "cdiv",
    "constant",
    "device",
    "dim",
    "dims",
    "integers",
    "knob",
    "maximum",
    "minimum",
    "next_power_of_2",
    "offsets",
    "op",
    "require",
    "special_values",
    "sums",
    "target",
    "triton",
    "uniform",
    "where",
]
