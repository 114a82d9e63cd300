"""What the Helion and the Triton kernels of chunked gated linear attention share: dims, tensors, and the
references. The mathematics is that of src/targets/chunk.

A sequence of N * C tokens is cut into N chunks of C. Its state, D by DV, decays by exp(g) at each token and
takes in an outer product of two vectors. C is the size of a dim, so calls of one plan differ in it.
"""

from collections.abc import Iterable
from typing import Any

import redzone as rz
import torch

INTERPRETED = rz.device() == "cpu"
S, N = rz.dims(S=(1, 2 if INTERPRETED else 8), N=(1, 4 if INTERPRETED else 32))
C = rz.dim("C", values=[16, 32] if INTERPRETED else [32, 64])
D = rz.dim("D", values=[16, 24] if INTERPRETED else [24, 32, 128])  # 24: not a power of two
DV = rz.dim("DV", 2, 40 if INTERPRETED else 128, tile=32)

# Sums of up to 64 products per chunk. The decay keeps the sum over all chunks at about the same size.
TOL = (5e-5, 1e-5)


def tokens(width: Any) -> rz.Tensor:
    return rz.In("f32", S, N, C, width)


def log_decays() -> rz.Tensor:
    return rz.In("f32", S, N, C, fill=rz.uniform(-0.2, 0))


def in_order(total: torch.Tensor) -> Iterable[int]:
    return range(total.shape[1])


def in_reverse(total: torch.Tensor) -> Iterable[int]:
    return reversed(range(total.shape[1]))


def local_states(x: torch.Tensor, y: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Of each chunk: the sum of weights[t] * x[t]^T y[t] over its tokens t."""
    return (x * weights[..., None]).mT @ y


def scan(
    added: torch.Tensor, total: torch.Tensor, state: torch.Tensor, chunks: Iterable[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The state before each of the chunks, which are passed in this order, and the last one."""
    before = torch.empty_like(added)
    for i in chunks:
        before[:, i] = state
        state = state * torch.exp(total[:, i])[:, None, None] + added[:, i]
    return before, state


def fwd_h(k, v, g, h0):
    sums = g.cumsum(-1)
    total = sums[..., -1]
    return scan(local_states(k, v, (total[..., None] - sums).exp()), total, h0, in_order(total))


def fwd_phase1(k, v, g):
    sums = g.cumsum(-1)
    return local_states(k, v, (sums[..., -1:] - sums).exp())


def bwd_dh(q, do, g):
    sums = g.cumsum(-1)
    total = sums[..., -1]
    added = local_states(q, do, sums.exp())
    return scan(added, total, torch.zeros_like(added[:, 0]), in_reverse(total))


def bwd_dh_correction(local, g, dht):
    total = g.sum(-1)
    return local + scan(torch.zeros_like(local), total, dht, in_reverse(total))[0]


# The declaration of each target, by the name of its function.
STATES, STATE = (S, N, D, DV), (S, D, DV)
DECLARED: dict[str, dict[str, Any]] = {
    "fwd_h": {
        "doc": "forward state scan", "k": tokens(D), "v": tokens(DV), "g": log_decays(),
        "h0": rz.In("f32", *STATE), "reference": fwd_h,
        "returns": {"h": rz.Out("f32", *STATES), "ht": rz.Out("f32", *STATE)},
    },
    "fwd_phase1": {
        "doc": "local state of each chunk", "k": tokens(D), "v": tokens(DV), "g": log_decays(),
        "reference": fwd_phase1, "returns": {"h": rz.Out("f32", *STATES)},
    },
    "bwd_dh": {
        "doc": "backward state scan", "q": tokens(D), "do": tokens(DV), "g": log_decays(),
        "reference": bwd_dh, "returns": {"dh": rz.Out("f32", *STATES), "dh0": rz.Out("f32", *STATE)},
    },
    "bwd_dh_correction": {
        "doc": "backward correction from the last state", "local": rz.In("f32", *STATES),
        "g": log_decays(), "dht": rz.In("f32", *STATE), "reference": bwd_dh_correction,
        "returns": {"dh": rz.Out("f32", *STATES)},
    },
}  # fmt: skip


def declare(function, by: str) -> None:
    """Declares a function as the target BY.chunk_FUNCTION. What is compiled for it is kept in the process."""
    name = function.__name__
    work = 2 * S * N * C * D * DV
    rz.target(function, name=f"{by}.chunk_{name}", state="process", tol=TOL, work=work, **DECLARED[name])
