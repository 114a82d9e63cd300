"""Attention forward by blocks of keys with a running maximum, grouped query heads, causal or not,
with descriptors that every program builds on the device. The heads are those of Llama-3-8B."""

import triton
import triton.language as tl


@triton.jit
def load_rows(base, first, row, S, D: tl.constexpr, ROWS: tl.constexpr):
    rows = row + tl.arange(0, ROWS)
    at = (first + rows)[:, None] * D + tl.arange(0, D)[None, :]
    return tl.load(base + at, rows[:, None] < S, 0.0)


@triton.jit(do_not_specialize=["B"])
def attention_fwd(
    q,
    k,
    v,
    o,
    B,
    S,
    HQ: tl.constexpr,
    HKV: tl.constexpr,
    D: tl.constexpr,
    causal: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    indexing: tl.constexpr,
):
    # Scale of the softmax in powers of two: log2(e) / sqrt(D), with 1 / sqrt(128).
    tl.static_assert(D == 128)
    scale: tl.constexpr = 1.4426950408889634 * 0.08838834764831845
    if indexing == "descriptor":
        # A head is a separate dim, so a block that extends past the sequence is cut off there.
        q_desc = tl.make_tensor_descriptor(q, [B * HQ, S, D], [S * D, D, 1], [1, BLOCK_M, D])
        k_desc = tl.make_tensor_descriptor(k, [B * HKV, S, D], [S * D, D, 1], [1, BLOCK_N, D])
        v_desc = tl.make_tensor_descriptor(v, [B * HKV, S, D], [S * D, D, 1], [1, BLOCK_N, D])
        o_desc = tl.make_tensor_descriptor(o, [B * HQ, S, D], [S * D, D, 1], [1, BLOCK_M, D])
    blocks = tl.cdiv(S, BLOCK_M)
    for tile in range(tl.program_id(0), B * HQ * blocks, tl.num_programs(0)):
        head = tile // blocks
        # Head h of batch b is b * HQ + h, and HKV divides HQ, so this is its group in its batch.
        group = head // (HQ // HKV)
        row = tile % blocks * BLOCK_M
        rows = row + tl.arange(0, BLOCK_M)
        if indexing == "descriptor":
            queries = q_desc.load([head, row, 0]).reshape(BLOCK_M, D)
        else:
            queries = load_rows(q, head.to(tl.int64) * S, row, S, D, BLOCK_M)
        largest = tl.full([BLOCK_M], float("-inf"), tl.float32)
        total = tl.zeros([BLOCK_M], tl.float32)
        sums = tl.zeros([BLOCK_M, D], tl.float32)
        end = tl.minimum(row + BLOCK_M, S) if causal else S
        for column in range(0, end, BLOCK_N):
            if indexing == "descriptor":
                keys = k_desc.load([group, column, 0]).reshape(BLOCK_N, D)
                values = v_desc.load([group, column, 0]).reshape(BLOCK_N, D)
            else:
                keys = load_rows(k, group.to(tl.int64) * S, column, S, D, BLOCK_N)
                values = load_rows(v, group.to(tl.int64) * S, column, S, D, BLOCK_N)
            columns = column + tl.arange(0, BLOCK_N)
            seen = (columns < S)[None, :]
            if causal:
                seen = seen & (columns[None, :] <= rows[:, None])
            # Every row includes column 0, so `largest` is finite after the first block.
            scores = tl.where(seen, tl.dot(queries, tl.trans(keys)) * scale, float("-inf"))
            now = tl.maximum(largest, tl.max(scores, 1))
            weights = tl.exp2(scores - now[:, None])
            rescale = tl.exp2(largest - now)
            total = total * rescale + tl.sum(weights, 1)
            sums = tl.dot(weights.to(values.dtype), values, sums * rescale[:, None])
            largest = now
        result = (sums / total[:, None]).to(o.dtype.element_ty)
        if indexing == "descriptor":
            o_desc.store([head, row, 0], result.reshape(1, BLOCK_M, D))
        else:
            at = (head.to(tl.int64) * S + rows)[:, None] * D + tl.arange(0, D)[None, :]
            tl.store(o + at, result, rows[:, None] < S)


TILES = "B * HQ * cdiv(S, BLOCK_M)"

PACKAGE = {
    "kernel": attention_fwd,
    "name": "triton.attention_fwd",
    "doc": "attention forward with device-side descriptors, heads of Llama-3-8B",
    "reference": "attention",
    "work": "4 * B * HQ * S * S * D",
    "grid": [f"grid_is_persistent ? min(floordiv(num_sms, num_ctas), {TILES}) : {TILES}"],
    "dim": [
        {"name": "B", "max": 2, "doc": "batch"},
        {"name": "S", "max": 1040, "tile": 512, "doc": "tokens of a sequence"},
        {"name": "HQ", "values": [32], "doc": "query heads"},
        {"name": "HKV", "values": [8], "doc": "key and value heads"},
        {"name": "D", "values": [128], "doc": "elements of a head"},
    ],
    "tensor": [
        {"name": "q", "dtype": "bf16", "role": "in", "shape": ["B", "HQ", "S", "D"]},
        {"name": "k", "dtype": "bf16", "role": "in", "shape": ["B", "HKV", "S", "D"]},
        {"name": "v", "dtype": "bf16", "role": "in", "shape": ["B", "HKV", "S", "D"]},
        # An average of values of size 1. Its weights are rounded to bf16 (2^-9 of each), and so is
        # the result.
        {
            "name": "o",
            "dtype": "bf16",
            "role": "out",
            "shape": ["B", "HQ", "S", "D"],
            "tolerance": {"abs": 0.01, "rel": 1 / 64},
        },
    ],
    "knob": [
        {"name": "indexing", "values": ["descriptor", "pointer"]},
        {"name": "causal", "values": [1, 0]},
        {"name": "BLOCK_M", "values": [64, 128], "tune": True},
        {"name": "BLOCK_N", "values": [64], "tune": True},
        {"name": "num_warps", "values": [4]},
        {"name": "num_stages", "values": [2]},
        # Triton 3.6 plans clusters for kernels with one dot only.
        {"name": "num_ctas", "values": [1]},
        {"name": "grid", "values": ["flat", "persistent"]},
    ],
}
