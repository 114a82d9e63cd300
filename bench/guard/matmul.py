"""A product of two matrices of half precision, by a Triton kernel over tiles, which no size fills."""
import figures
import torch
import triton
import triton.language as tl

M, N, K = 1000, 1100, 500
CALLS, WARM = 1000, 50


@triton.jit
def multiply(a, b, c, m, n, k, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr):
    row = tl.program_id(0) * rows + tl.arange(0, rows)[:, None]
    column = tl.program_id(1) * columns + tl.arange(0, columns)[None, :]
    total = tl.zeros((rows, columns), dtype=tl.float32)
    for start in range(0, k, depth):
        left = start + tl.arange(0, depth)[None, :]
        right = start + tl.arange(0, depth)[:, None]
        total += tl.dot(tl.load(a + row * k + left, mask=(row < m) & (left < k), other=0.0),
                        tl.load(b + right * n + column, mask=(right < k) & (column < n), other=0.0))
    tl.store(c + row * n + column, total.to(tl.float16), mask=(row < m) & (column < n))


figures.need_gpu()
torch.manual_seed(0)
x = torch.randn(M, K, device="cuda", dtype=torch.float16)
y = torch.randn(K, N, device="cuda", dtype=torch.float16)


def matmul():
    z = torch.empty(M, N, device="cuda", dtype=torch.float16)
    multiply[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, y, z, M, N, K, 64, 64, 32)
    return z


assert torch.allclose(matmul(), x @ y, atol=0.1, rtol=0.01)
figures.measure("call", matmul, WARM, CALLS)
