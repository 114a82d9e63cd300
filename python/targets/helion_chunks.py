"""Chunked gated linear attention in Helion, as pytorch/helion's examples write it: a loop over hl.grid(N)
whose bound is known at run time only, in a kernel that is compiled for one C and one D.

    redzone run helion_chunks.py

They are correct for every shape that is declared. Each call may have another C, for which Helion compiles
the function once more; each kernel has one configuration, so that nothing is tuned. Without a GPU they are
interpreted by Helion, which runs the loops in Python with what a tile has as tensors.
"""

import chunk_attention as chunks
import helion
import helion.language as hl
import torch

# All sizes except C and D are known only at run time. Results are allocated by torch.empty(), because with
# empty_like() Helion 1.4.0 reuses a size of 1 from the first call (docs/found.md).
SETTINGS = {"static_shapes": False, "dot_precision": "ieee"}
CONFIG = helion.Config(block_sizes=[32], num_warps=4, num_stages=2)  # columns of a tile


@helion.kernel(config=CONFIG, **SETTINGS)
def scan_forward(
    k: torch.Tensor, v: torch.Tensor, sums: torch.Tensor, h0: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    sequences, count, size, rows = k.shape
    size, rows = hl.specialize(size), hl.specialize(rows)
    columns = v.size(3)
    h = torch.empty([sequences, count, rows, columns], dtype=k.dtype, device=k.device)
    ht = torch.empty([sequences, rows, columns], dtype=h0.dtype, device=h0.device)
    for tile_s, tile in hl.tile([sequences, columns], block_size=[1, None]):
        s = tile_s.begin
        state = h0[s, :, tile]
        for i in hl.grid(count):
            h[s, i, :, tile] = state
            total = sums[s, i, size - 1]
            x = k[s, i, :, :] * torch.exp(total - sums[s, i, :])[:, None]
            state = state * torch.exp(total) + x.T @ v[s, i, :, tile]
        ht[s, :, tile] = state
    return h, ht


@helion.kernel(config=CONFIG, **SETTINGS)
def scan_backward(
    q: torch.Tensor, do: torch.Tensor, sums: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    sequences, count, size, rows = q.shape
    size, rows = hl.specialize(size), hl.specialize(rows)
    columns = do.size(3)
    dh = torch.empty([sequences, count, rows, columns], dtype=q.dtype, device=q.device)
    dh0 = torch.empty([sequences, rows, columns], dtype=q.dtype, device=q.device)
    for tile_s, tile in hl.tile([sequences, columns], block_size=[1, None]):
        s = tile_s.begin
        state = hl.zeros([rows, tile], dtype=torch.float32)
        for step in hl.grid(count):
            i = count - 1 - step
            dh[s, i, :, tile] = state
            x = q[s, i, :, :] * torch.exp(sums[s, i, :])[:, None]
            state = state * torch.exp(sums[s, i, size - 1]) + x.T @ do[s, i, :, tile]
        dh0[s, :, tile] = state
    return dh, dh0


@helion.kernel(config=CONFIG, **SETTINGS)
def states_of_chunks(k: torch.Tensor, v: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
    sequences, count, size, rows = k.shape
    size, rows = hl.specialize(size), hl.specialize(rows)
    columns = v.size(3)
    h = torch.empty([sequences, count, rows, columns], dtype=k.dtype, device=k.device)
    for s, i in hl.grid([sequences, count]):
        weights = torch.exp(sums[s, i, size - 1] - sums[s, i, :])
        x = k[s, i, :, :] * weights[:, None]
        for tile in hl.tile(columns):
            h[s, i, :, tile] = x.T @ v[s, i, :, tile]
    return h


@helion.kernel(config=CONFIG, **SETTINGS)
def corrected(local: torch.Tensor, sums: torch.Tensor, dht: torch.Tensor) -> torch.Tensor:
    sequences, count, rows, columns = local.shape
    size, rows = hl.specialize(sums.size(2)), hl.specialize(rows)
    dh = torch.empty([sequences, count, rows, columns], dtype=local.dtype, device=local.device)
    for tile_s, tile in hl.tile([sequences, columns], block_size=[1, None]):
        s = tile_s.begin
        carried = dht[s, :, tile]
        for step in hl.grid(count):
            i = count - 1 - step
            dh[s, i, :, tile] = local[s, i, :, tile] + carried
            carried = carried * torch.exp(sums[s, i, size - 1])
    return dh


def fwd_h(k, v, g, h0):
    return scan_forward(k, v, g.cumsum(-1), h0)


def fwd_phase1(k, v, g):
    return states_of_chunks(k, v, g.cumsum(-1))


def bwd_dh(q, do, g):
    return scan_backward(q, do, g.cumsum(-1))


def bwd_dh_correction(local, g, dht):
    return corrected(local, g.cumsum(-1), dht)


for function in (fwd_h, fwd_phase1, bwd_dh, bwd_dh_correction):
    chunks.declare(function, "helion")
