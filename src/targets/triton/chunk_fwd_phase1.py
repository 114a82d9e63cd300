"""The state that each chunk would leave if it began at zero: src/targets/chunk/fwd_phase1.cu."""

import chunk_family as family
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["sequences", "D", "DV"])
def chunk_fwd_phase1(
    k, v, g, s, sequences, N, D, DV, C: tl.constexpr, RDIM: tl.constexpr, BLOCK_V: tl.constexpr
):
    across = tl.cdiv(DV, BLOCK_V)
    rows = tl.arange(0, RDIM)
    for tile in range(tl.program_id(0), sequences * N * across, tl.num_programs(0)):
        chunk = (tile // across).to(tl.int64)
        columns = tile % across * BLOCK_V + tl.arange(0, BLOCK_V)
        gates = tl.load(g + chunk * C + tl.arange(0, C))
        weights = tl.exp(tl.sum(gates) - tl.cumsum(gates))
        x = family.load_rows(k, chunk * C, D, rows, C)
        y = family.load_rows(v, chunk * C, DV, columns, C)
        state = family.weighted_sum(x, y, weights)
        at = rows[:, None] * DV + columns[None, :]
        tl.store(
            s + chunk * D * DV + at,
            state.to(s.dtype.element_ty),
            family.state_mask(rows, columns, D, DV),
        )


PACKAGE = family.family(
    chunk_fwd_phase1,
    "chunk_fwd_phase1",
    "chunked linear attention: local state of each chunk, without scan",
    tensors=[
        family.tokens("k", "D"),
        family.tokens("v", "DV"),
        family.log_decays(),
        family.state("s", "out", family.STATE_OF_CHUNKS, "bf16"),
    ],
    work="2 * B * H * T * next_power_of_2(D) * cdiv(DV, BLOCK_V) * BLOCK_V",
    grid_tiles=family.TILES_OF_CHUNKS,
)
