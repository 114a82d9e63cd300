"""The backward state scan, from the last chunk to the first: see src/targets/chunk/bwd_dh.cu."""

import chunk_family as family
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["sequences", "D", "DV"])
def chunk_bwd_dh(
    q,
    do,
    g,
    dh,
    dh0,
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
        sequence = (tile // across).to(tl.int64)
        columns = tile % across * BLOCK_V + tl.arange(0, BLOCK_V)
        inside = family.state_mask(rows, columns, D, DV)
        at = rows[:, None] * DV + columns[None, :]
        state = tl.zeros([RDIM, BLOCK_V], tl.float32)
        for step in range(0, N):
            i = N - 1 - step
            tl.store(dh + (sequence * N + i) * D * DV + at, state.to(dh.dtype.element_ty), inside)
            first = (sequence * N + i) * C
            gates = tl.load(g + first + tl.arange(0, C))
            x = family.load_rows(q, first, D, rows, C)
            y = family.load_rows(do, first, DV, columns, C)
            weights = tl.exp(tl.cumsum(gates))
            state = state * tl.exp(tl.sum(gates)) + family.weighted_sum(x, y, weights)
        tl.store(dh0 + sequence * D * DV + at, state, inside)


PACKAGE = family.family(
    chunk_bwd_dh,
    "chunk_bwd_dh",
    "chunked linear attention: backward state scan",
    tensors=[
        family.tokens("q", "D"),
        family.tokens("do", "DV"),
        family.log_decays(),
        family.state("dh", "out", family.STATE_OF_CHUNKS, "bf16"),
        family.state("dh0", "out", family.STATE_OF_SEQUENCES, "f32"),
    ],
    work="2 * B * H * T * next_power_of_2(D) * cdiv(DV, BLOCK_V) * BLOCK_V",
    grid_tiles=family.TILES_OF_SEQUENCES,
)
