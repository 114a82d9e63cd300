"""Kernels like those that Triton's tutorials teach: what most people's first kernels look like.

    redzone run triton_tutorials.py

They are correct for every shape and stride that is declared: unlike the tutorials, they multiply a row by a
stride in 64 bits, because Triton passes a stride below 2^31 in 32 bits, in which the product overflows
(triton-lang/triton#6748). Without a GPU they are interpreted, with fewer programs, and without the product:
under NumPy 2.4 the interpreter of Triton 3.6 takes no bound of a loop from an argument.
"""

import redzone as rz
import torch
import triton
import triton.language as tl

INTERPRETED = rz.device() == "cpu"
N = rz.dim("N", 1, 8_000 if INTERPRETED else 10_000_000, tile=1024)
R, C = rz.dims(R=(1, 8 if INTERPRETED else 4096), C=(1, 4096))
M, K, P = rz.dims(M=(1, 512), K=(1, 512), P=(1, 512))
BLOCK, TILE = 1024, 32
STRIDED = ("row_padding", "offset")


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask) + tl.load(y + i, mask), mask)


rz.triton(
    vector_add, name="triton.vector_add", doc="a sum of vectors", grid=(rz.cdiv(N, BLOCK),), n=N, BLOCK=BLOCK,
    x=rz.In("f32", N, layout="offset", align=4), y=rz.In("f32", N, layout="offset", align=4),
    out=rz.Out("f32", N, align=4), reference=lambda x, y: x + y,
)  # fmt: skip


@triton.jit
def row_softmax(x, out, x_stride, out_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    values = tl.load(x + row * x_stride + c, c < columns, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * out_stride + c, powers / tl.sum(powers, 0), c < columns)


@rz.target(name="triton.softmax", x=rz.In("f32", R, C, layout=STRIDED), returns=rz.Out("f32", R, C),
           reference=lambda x: torch.softmax(x, -1))  # fmt: skip
def softmax(x):
    """softmax with a row in one program"""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    columns = x.shape[1]
    row_softmax[(x.shape[0],)](x, out, x.stride(0), out.stride(0), columns, triton.next_power_of_2(columns))
    return out


@triton.jit
def row_norm(x, weight, bias, out, x_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    values = tl.load(x + row * x_stride + c, mask, other=0.0)
    mean = tl.sum(values, 0) / columns
    centered = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, 0) / columns + 1e-5)
    result = centered * scale * tl.load(weight + c, mask) + tl.load(bias + c, mask)
    tl.store(out + row * columns + c, result, mask)


@rz.target(
    name="triton.layer_norm", x=rz.In("f32", R, C, layout=STRIDED), weight=rz.In("f32", C),
    bias=rz.In("f32", C), returns=rz.Out("f32", R, C), tol=(2e-3, 1e-3),
    reference=lambda x, weight, bias: torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias),
)  # fmt: skip
def layer_norm(x, weight, bias):
    """layer normalization of rows"""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    columns = x.shape[1]
    row_norm[(x.shape[0],)](x, weight, bias, out, x.stride(0), columns, triton.next_power_of_2(columns))
    return out


@triton.jit
def tiled_product(a, b, out, rows, columns, terms, a_row, a_term, b_term, b_column, TILE: tl.constexpr):
    i = (tl.program_id(0) * TILE + tl.arange(0, TILE)).to(tl.int64)
    j = (tl.program_id(1) * TILE + tl.arange(0, TILE)).to(tl.int64)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for begin in range(0, terms, TILE):
        k = (begin + tl.arange(0, TILE)).to(tl.int64)
        left = tl.load(a + i[:, None] * a_row + k[None, :] * a_term,
                       (i[:, None] < rows) & (k[None, :] < terms), other=0.0)  # fmt: skip
        right = tl.load(b + k[:, None] * b_term + j[None, :] * b_column,
                        (k[:, None] < terms) & (j[None, :] < columns), other=0.0)  # fmt: skip
        total += tl.dot(left, right)
    tl.store(out + i[:, None] * columns + j[None, :], total, (i[:, None] < rows) & (j[None, :] < columns))


def matmul(a, b):
    """a tiled product"""
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(out.shape[0], TILE), triton.cdiv(out.shape[1], TILE))
    tiled_product[grid](a, b, out, *out.shape, a.shape[1], *a.stride(), *b.stride(), TILE)
    return out


if not INTERPRETED:
    rz.target(
        matmul, name="triton.matmul", a=rz.In("f32", M, K, layout="strided", fill=rz.integers(1, 3)),
        b=rz.In("f32", K, P, layout="strided", fill=rz.integers(1, 3)), returns=rz.Out("f32", M, P),
        reference=lambda a, b: a @ b, tol=(0, 0), work=2 * M * K * P,
    )  # fmt: skip
