"""Targets of the test that fuzzes memory which numpy allocates: two with a bug, and one without."""

import ctypes

import numpy as np
import redzone as rz

N = rz.dim("N", 1, 300)


@rz.target(x=rz.In("f32", N), returns=rz.Out("f32", N))
def fromone(x: np.ndarray) -> np.ndarray:
    """Its loop begins at one."""
    y = np.empty_like(x)
    y[1:] = x[1:] * 2
    return y


@rz.target(x=rz.In("f32", N), returns=rz.Out("f32", N), reference=lambda x: x * 2)
class FirstSize:
    """Its scratch has the size of the first call."""

    def __init__(self) -> None:
        self.scratch: np.ndarray | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if self.scratch is None:
            self.scratch = np.empty(len(x), x.dtype)
        # As a kernel does that is given pointers.
        source = np.ascontiguousarray(x)
        ctypes.memmove(self.scratch.ctypes.data, source.ctypes.data, source.nbytes)
        return source * 2


@rz.target(x=rz.In("f32", N, 37), returns=rz.Out("f32", N, 37))
def softmax(x: np.ndarray) -> np.ndarray:
    y = np.exp(x - x.max(-1, keepdims=True))
    return (y / y.sum(-1, keepdims=True)).astype(np.float32)
