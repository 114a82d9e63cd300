"""y = factor * x, tile by tile, through descriptors that every program builds on the device, in its
own part of global scratch."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def scale_descriptor(
    x, y, factor, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, indexing: tl.constexpr
):
    across = tl.cdiv(N, BLOCK_N)
    if indexing == "descriptor":
        x_desc = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
        y_desc = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    for tile in range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * across, tl.num_programs(0)):
        row = tile // across * BLOCK_M
        column = tile % across * BLOCK_N
        if indexing == "descriptor":
            values = x_desc.load([row, column])
            y_desc.store([row, column], (values.to(tl.float32) * factor).to(values.dtype))
        else:
            rows = row + tl.arange(0, BLOCK_M)
            columns = column + tl.arange(0, BLOCK_N)
            at = rows[:, None].to(tl.int64) * N + columns[None, :]
            inside = (rows[:, None] < M) & (columns[None, :] < N)
            values = tl.load(x + at, inside)
            tl.store(y + at, (values.to(tl.float32) * factor).to(values.dtype), inside)


TILES = "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"

PACKAGE = {
    "kernel": scale_descriptor,
    "name": "triton.scale_descriptor",
    "doc": "elementwise scaling with device-side descriptors",
    "reference": "scale",
    "work": "2 * M * N",
    "grid": [f"grid_is_persistent ? min(floordiv(num_sms, num_ctas), {TILES}) : {TILES}"],
    "dim": [
        {"name": "M", "max": 4096, "tile": 32, "doc": "rows"},
        # The pitch of a descriptor's rows is a multiple of 16 bytes.
        {"name": "N", "min": 8, "max": 4096, "multiple_of": 8, "tile": 64, "doc": "columns"},
    ],
    "tensor": [
        {"name": "x", "dtype_of": "dtype", "role": "in", "shape": ["M", "N"]},
        # One product, rounded to the element type once: at most 2^-11 of it in f16.
        {
            "name": "y",
            "dtype_of": "dtype",
            "role": "out",
            "shape": ["M", "N"],
            "tolerance": {"abs": 1e-6, "rel": 1e-3},
        },
    ],
    "knob": [
        {"name": "indexing", "values": ["descriptor", "pointer"]},
        {"name": "dtype", "values": ["f32", "f16"]},
        {"name": "BLOCK_M", "values": [32, 64], "tune": True},
        {"name": "BLOCK_N", "values": [64], "tune": True},
        {"name": "num_warps", "values": [4, 8]},
        {"name": "num_ctas", "values": [1, 2]},
        {"name": "grid", "values": ["flat", "persistent"]},
    ],
    "argument": [{"name": "factor", "kind": "float", "type": "fp32", "value": 1.5}],
}
