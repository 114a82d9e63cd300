"""What `redzone bench --part python` measures: a function of PyTorch, a Triton kernel, and a mistake of the
kernel, which faults."""

from typing import Any

import redzone as rz
import torch
import triton
import triton.language as tl

BLOCK = 256
M, N = rz.dims(M=(1, 16), N=(1, 64))
K = rz.dim("K", 1, 1000, tile=BLOCK)


@rz.target(name="softmax", x=rz.In("f32", M, N), returns=rz.Out("f32", M, N),
           reference=lambda x: torch.softmax(x, -1))  # fmt: skip
def softmax(x):
    """torch.softmax of 1 to 16 rows of 1 to 64 elements"""
    return torch.softmax(x, -1)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def add_without_mask(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i), i < n)


ADDS: dict[str, Any] = {
    "grid": (rz.cdiv(K, BLOCK),), "n": K, "BLOCK": BLOCK, "x": rz.In("f32", K), "y": rz.In("f32", K),
    "out": rz.Out("f32", K), "reference": lambda x, y: x + y,
}  # fmt: skip
rz.triton(add, name="triton_add", doc="a Triton kernel over 1 to 1,000 elements, 256 a program", **ADDS)
rz.triton(add_without_mask, name="puzzle.add_without_mask", category="puzzle", **ADDS)
