"""The forward state scan, from the first chunk to the last: see src/targets/chunk/fwd_h.cu."""

import chunk_family as family
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["sequences", "D", "DV"])
def chunk_fwd_h(
    k,
    v,
    g,
    h0,
    h,
    ht,
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
        state = tl.load(h0 + q * D * DV + at, inside, 0.0)
        for i in range(0, N):
            tl.store(h + (q * N + i) * D * DV + at, state.to(h.dtype.element_ty), inside)
            first = (q * N + i) * C
            gates = tl.load(g + first + tl.arange(0, C))
            total = tl.sum(gates)
            x = family.load_rows(k, first, D, rows, C)
            y = family.load_rows(v, first, DV, columns, C)
            weights = tl.exp(total - tl.cumsum(gates))
            state = state * tl.exp(total) + family.weighted_sum(x, y, weights)
        tl.store(ht + q * D * DV + at, state, inside)


PACKAGE = family.family(
    chunk_fwd_h,
    "chunk_fwd_h",
    "chunked linear attention: forward state scan",
    tensors=[
        family.tokens("k", "D"),
        family.tokens("v", "DV"),
        family.log_decays(),
        family.state("h0", "in", family.STATE_OF_SEQUENCES, "f32"),
        family.state("h", "out", family.STATE_OF_CHUNKS, "bf16"),
        family.state("ht", "out", family.STATE_OF_SEQUENCES, "f32"),
    ],
    work="2 * B * H * T * next_power_of_2(D) * cdiv(DV, BLOCK_V) * BLOCK_V",
    grid_tiles=family.TILES_OF_SEQUENCES,
)
