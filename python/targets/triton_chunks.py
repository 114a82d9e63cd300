"""Chunked gated linear attention in Triton, compiled when it is called: a loop over N chunks whose bound is
known at run time only, in a kernel that is compiled for one C.

    redzone run triton_chunks.py

They are correct for every shape that is declared. Without a GPU they are interpreted, and without the
scans: under NumPy 2.4 the interpreter of Triton 3.6 takes no bound of a loop from an argument. The kernels
of src/targets/triton, which need no Python, are compiled ahead.
"""

import chunk_attention as chunks
import torch
import triton
import triton.language as tl

BLOCK = 32  # columns of a tile


@triton.jit
def weighted_sum(x, y, weights, D, DV, columns, C: tl.constexpr, ROWS: tl.constexpr):
    """Sum over the tokens t of a chunk of weights[t] * x[t]^T y[t]."""
    t = tl.arange(0, C)[:, None]
    rows = tl.arange(0, ROWS)[None, :]
    left = tl.load(x + t * D + rows, rows < D, 0.0) * weights[:, None]
    right = tl.load(y + t * DV + columns[None, :], columns[None, :] < DV, 0.0)
    return tl.dot(tl.trans(left), right, input_precision="ieee")


@triton.jit
def local_states(k, v, sums, h, D, DV, C: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    chunk = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gates = tl.load(sums + chunk * C + tl.arange(0, C))
    weights = tl.exp(tl.load(sums + chunk * C + C - 1) - gates)
    state = weighted_sum(k + chunk * C * D, v + chunk * C * DV, weights, D, DV, columns, C, ROWS)
    rows = tl.arange(0, ROWS)[:, None]
    inside = (rows < D) & (columns[None, :] < DV)
    tl.store(h + chunk * D * DV + rows * DV + columns[None, :], state, inside)


@triton.jit
def scan(x, y, sums, first, states, last, N, D, DV, C: tl.constexpr, ROWS: tl.constexpr,
         BLOCK: tl.constexpr, REVERSE: tl.constexpr):  # fmt: skip
    s = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.arange(0, ROWS)[:, None]
    inside = (rows < D) & (columns[None, :] < DV)
    at = rows * DV + columns[None, :]
    state = tl.zeros((ROWS, BLOCK), tl.float32)
    if not REVERSE:
        state = tl.load(first + s * D * DV + at, inside, 0.0)
    for step in range(0, N):
        chunk = s * N + (N - 1 - step if REVERSE else step)
        tl.store(states + chunk * D * DV + at, state, inside)
        gates = tl.load(sums + chunk * C + tl.arange(0, C))
        total = tl.load(sums + chunk * C + C - 1)
        weights = tl.exp(gates if REVERSE else total - gates)
        added = weighted_sum(x + chunk * C * D, y + chunk * C * DV, weights, D, DV, columns, C, ROWS)
        state = state * tl.exp(total) + added
    tl.store(last + s * D * DV + at, state, inside)


@triton.jit
def correct(local, sums, dht, dh, N, D, DV, C: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    s = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.arange(0, ROWS)[:, None]
    inside = (rows < D) & (columns[None, :] < DV)
    at = rows * DV + columns[None, :]
    carried = tl.load(dht + s * D * DV + at, inside, 0.0)
    for step in range(0, N):
        chunk = s * N + N - 1 - step
        tl.store(dh + chunk * D * DV + at, tl.load(local + chunk * D * DV + at, inside) + carried, inside)
        carried *= tl.exp(tl.load(sums + chunk * C + C - 1))


def scanned(x, y, g, first):
    """Backwards from zero if there is no first state."""
    (sequences, count, size, rows), columns = x.shape, y.shape[3]
    states = torch.empty((sequences, count, rows, columns), dtype=x.dtype, device=x.device)
    last = torch.empty((sequences, rows, columns), dtype=x.dtype, device=x.device)
    grid = (sequences, triton.cdiv(columns, BLOCK))
    scan[grid](x, y, g.cumsum(-1), first, states, last, count, rows, columns, size,
               triton.next_power_of_2(rows), BLOCK, first is None)  # fmt: skip
    return states, last


def fwd_phase1(k, v, g):
    (sequences, count, size, rows), columns = k.shape, v.shape[3]
    h = torch.empty((sequences, count, rows, columns), dtype=k.dtype, device=k.device)
    grid = (sequences * count, triton.cdiv(columns, BLOCK))
    local_states[grid](k, v, g.cumsum(-1), h, rows, columns, size, triton.next_power_of_2(rows), BLOCK)
    return h


def fwd_h(k, v, g, h0):
    return scanned(k, v, g, h0)


def bwd_dh(q, do, g):
    return scanned(q, do, g, None)


def bwd_dh_correction(local, g, dht):
    sequences, count, rows, columns = local.shape
    dh = torch.empty_like(local)
    grid = (sequences, triton.cdiv(columns, BLOCK))
    correct[grid](local, g.cumsum(-1), dht, dh, count, rows, columns, g.shape[2],
                  triton.next_power_of_2(rows), BLOCK)  # fmt: skip
    return dh


for function in (fwd_phase1,) if chunks.INTERPRETED else (fwd_h, fwd_phase1, bwd_dh, bwd_dh_correction):
    chunks.declare(function, "triton")
