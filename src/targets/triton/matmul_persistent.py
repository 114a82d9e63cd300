"""c = a b in f16 with float32 sums: programs loop over tiles and build descriptors of all three
matrices on the device."""

import triton
import triton.language as tl


@triton.jit
def load_tile(base, row, column, height, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = row + tl.arange(0, ROWS)
    columns = column + tl.arange(0, COLUMNS)
    inside = (rows[:, None] < height) & (columns[None, :] < width)
    return tl.load(base + rows[:, None].to(tl.int64) * width + columns[None, :], inside, 0.0)


@triton.jit(do_not_specialize=["M"])
def matmul_persistent(
    a,
    b,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    indexing: tl.constexpr,
):
    across = tl.cdiv(N, BLOCK_N)
    if indexing == "descriptor":
        a_desc = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
        b_desc = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
        c_desc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * across, tl.num_programs(0)):
        row = tile // across * BLOCK_M
        column = tile % across * BLOCK_N
        sums = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for k in range(0, K, BLOCK_K):
            if indexing == "descriptor":
                left = a_desc.load([row, k])
                right = b_desc.load([k, column])
            else:
                left = load_tile(a, row, k, M, K, BLOCK_M, BLOCK_K)
                right = load_tile(b, k, column, K, N, BLOCK_K, BLOCK_N)
            sums = tl.dot(left, right, sums)
        if indexing == "descriptor":
            c_desc.store([row, column], sums.to(tl.float16))
        else:
            rows = row + tl.arange(0, BLOCK_M)
            columns = column + tl.arange(0, BLOCK_N)
            inside = (rows[:, None] < M) & (columns[None, :] < N)
            at = rows[:, None].to(tl.int64) * N + columns[None, :]
            tl.store(c + at, sums.to(tl.float16), inside)


TILES = "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"

PACKAGE = {
    "kernel": matmul_persistent,
    "name": "triton.matmul_persistent",
    "doc": "matrix product with device-side descriptors, f16 with float32 sums",
    "reference": "matmul",
    "work": f"2 * {TILES} * BLOCK_M * BLOCK_N * K",
    "grid": [f"grid_is_persistent ? min(floordiv(num_sms, num_ctas), {TILES}) : {TILES}"],
    "dim": [
        {"name": "M", "max": 2048, "tile": 64, "doc": "rows of a and c"},
        # The pitch of a descriptor's rows is a multiple of 16 bytes.
        {
            "name": "N",
            "min": 8,
            "max": 2048,
            "multiple_of": 8,
            "tile": 64,
            "doc": "columns of b and c",
        },
        {"name": "K", "min": 8, "max": 2048, "multiple_of": 8, "tile": 64, "doc": "columns of a"},
    ],
    "tensor": [
        {"name": "a", "dtype": "f16", "role": "in", "shape": ["M", "K"]},
        {"name": "b", "dtype": "f16", "role": "in", "shape": ["K", "N"]},
        # At most 2048 terms of size 1 in float32, and one rounding to f16.
        {
            "name": "c",
            "dtype": "f16",
            "role": "out",
            "shape": ["M", "N"],
            "tolerance": {"abs": 2e-3, "rel": 2e-3},
        },
    ],
    "knob": [
        {"name": "indexing", "values": ["descriptor", "pointer"]},
        {"name": "BLOCK_M", "values": [64, 128], "tune": True},
        {"name": "BLOCK_N", "values": [64], "tune": True},
        {"name": "BLOCK_K", "values": [64], "tune": True},
        {"name": "num_warps", "values": [4]},
        {"name": "num_stages", "values": [3]},
        {"name": "num_ctas", "values": [1, 2]},
        {"name": "grid", "values": ["persistent", "flat"]},
    ],
}
