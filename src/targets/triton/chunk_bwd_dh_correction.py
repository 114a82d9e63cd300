"""Adds the part from behind the sequence to the gradient of each chunk's state: see
src/targets/chunk/bwd_dh_correction.cu."""

import chunk_family as family
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["sequences", "D", "DV"])
def chunk_bwd_dh_correction(
    local,
    g,
    dht,
    dh,
    sequences,
    N,
    D,
    DV,
    C: tl.constexpr,
    RDIM: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    across = tl.cdiv(DV, BLOCK_V)
    rows = tl.arange(0, RDIM)
    for tile in range(tl.program_id(0), sequences * across, tl.num_programs(0)):
        q = (tile // across).to(tl.int64)
        columns = tile % across * BLOCK_V + tl.arange(0, BLOCK_V)
        inside = family.state_mask(rows, columns, D, DV)
        at = rows[:, None] * DV + columns[None, :]
        carried = tl.load(dht + q * D * DV + at, inside, 0.0)
        log_decay = 0.0
        for step in range(0, N):
            i = N - 1 - step
            chunk = (q * N + i) * D * DV
            own = tl.load(local + chunk + at, inside, 0.0).to(tl.float32)
            result = own + tl.exp(log_decay) * carried
            tl.store(dh + chunk + at, result.to(dh.dtype.element_ty), inside)
            log_decay += tl.sum(tl.load(g + (q * N + i) * C + tl.arange(0, C)))


PACKAGE = family.family(
    chunk_bwd_dh_correction,
    "chunk_bwd_dh_correction",
    "chunked linear attention: backward correction from the last state",
    tensors=[
        family.state("local", "in", family.STATE_OF_CHUNKS, "bf16"),
        family.log_decays(),
        family.state("dht", "in", family.STATE_OF_SEQUENCES, "f32"),
        family.state("dh", "out", family.STATE_OF_CHUNKS, "bf16"),
    ],
    work="4 * B * H * floordiv(T, C) * next_power_of_2(D) * cdiv(DV, BLOCK_V) * BLOCK_V",
    grid_tiles=family.TILES_OF_SEQUENCES,
)
