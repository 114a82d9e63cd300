"""Products and decompositions of PyTorch, which on a GPU are those of cuBLAS, cuBLASLt and cuSOLVER.

    redzone run torch_linalg.py --device cuda

Inputs of products are small positive integers, so that sums are exact in every order, and in f16 results are,
too. Decompositions are of matrices that are well conditioned: a small random part and the identity.
"""

import functools
from typing import Any

import redzone as rz
import torch

torch.backends.cuda.matmul.allow_tf32 = False

B, M, N, K = rz.dims(B=(1, 2048), M=(1, 4096), N=(1, 4096), K=(1, 4096))
FEW = rz.dim("FEW", 1, 224)  # terms of a sum in f16, few enough for sums below 2,048
S = rz.dim("S", 1, 512)  # rows and columns of a square matrix
R = rz.dim("R", 1, 64)  # right-hand sides

SMALL = rz.integers(1, 3)
# The work of a decomposition includes this many operations for its wait for the device, so that few fit into
# a plan.
WAITING = 19_000_000
TINY = rz.uniform(-0.01, 0.01)
STRIDED = ("row_padding", "transposed", "offset", "unit_strides", "slice")
CLOSE = (2e-3, 2e-3)


# Error messages of PyTorch and cuBLASLt for unsupported strides or pitches, those above 2^31.
REFUSALS = ("2147483647", "CUBLAS_STATUS_NOT_SUPPORTED")


class Refused(Exception):
    """Of a call that a library does not take."""


def plus_identity(a):
    return a + torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)


def positive(a):
    """A symmetric matrix with eigenvalues near 1."""
    return plus_identity((a + a.mT) / 2)


def product(name, function, shapes, out, work, dtype="f32"):
    """A target for a product, whose reference is the same in float64."""

    @functools.wraps(function)  # keeps the parameters of `function`
    def run(*arguments, **named):
        try:
            return function(*arguments, **named)
        except RuntimeError as error:
            if any(text in str(error) for text in REFUSALS):
                raise Refused(str(error).splitlines()[0]) from error
            raise

    inputs: dict[str, Any] = {
        key: rz.In(dtype, *shape, layout=STRIDED, fill=SMALL) for key, shape in shapes.items()
    }
    rz.target(
        name=f"linalg.{name}", returns=rz.Out(dtype, *out), reference=function, tol=(0, 0), work=work,
        rejects=Refused, **inputs,
    )(run)  # fmt: skip


# L: number of terms of a sum.
for dtype, L in {"f32": K, "f16": FEW}.items():
    product(f"mm.{dtype}", lambda a, b: a @ b, {"a": (M, L), "b": (L, N)}, (M, N), 2 * M * N * L, dtype)
    product(f"mv.{dtype}", lambda a, x: a @ x[:, 0], {"a": (M, L), "x": (L, 1)}, (M,), 2 * M * L, dtype)
    product(f"bmm.{dtype}", lambda a, b: a.bmm(b), {"a": (B, M, L), "b": (B, L, N)}, (B, M, N),
            2 * B * M * N * L, dtype)  # fmt: skip
    product(f"addmm.{dtype}", lambda bias, a, b: torch.addmm(bias[0], a, b),
            {"bias": (1, N), "a": (M, L), "b": (L, N)}, (M, N), 2 * M * N * L, dtype)  # fmt: skip
    product(f"baddbmm.{dtype}", lambda c, a, b: c.baddbmm(a, b),
            {"c": (B, M, N), "a": (B, M, L), "b": (B, L, N)}, (B, M, N), 2 * B * M * N * L,
            dtype)  # fmt: skip
product("outer", lambda x, y: torch.outer(x[:, 0], y[:, 0]), {"x": (M, 1), "y": (N, 1)}, (M, N), M * N)
product("dot", lambda x, y: torch.dot(x[:, 0], y[:, 0])[None], {"x": (K, 1), "y": (K, 1)}, (1,), 2 * K)
product("addr", lambda a, x, y: torch.addr(a, x[:, 0], y[:, 0]),
        {"a": (M, N), "x": (M, 1), "y": (N, 1)}, (M, N), M * N)  # fmt: skip
product("einsum", lambda a, b: torch.einsum("bmk,bnk->bmn", a, b),
        {"a": (B, M, K), "b": (B, N, K)}, (B, M, N), 2 * B * M * N * K)  # fmt: skip


def decomposition(name, function, inputs, out):
    """A target for a decomposition of well conditioned matrices; its bits are not promised."""
    rz.target(
        name=f"linalg.{name}", returns=rz.Out("f32", *out), reference=function, tol=CLOSE,
        work=4 * S * S * S + WAITING, deterministic=False, **inputs,
    )(function)  # fmt: skip


SQUARE = {"a": rz.In("f32", S, S, layout=STRIDED, fill=TINY)}
WITH_RIGHT = {**SQUARE, "b": rz.In("f32", S, R, layout=STRIDED)}
decomposition("cholesky", lambda a: torch.linalg.cholesky(positive(a)), SQUARE, (S, S))
decomposition("inv", lambda a: torch.linalg.inv(plus_identity(a)), SQUARE, (S, S))
decomposition("solve", lambda a, b: torch.linalg.solve(plus_identity(a), b), WITH_RIGHT, (S, R))
decomposition("solve_triangular",
              lambda a, b: torch.linalg.solve_triangular(plus_identity(a).tril(), b, upper=False),
              WITH_RIGHT, (S, R))  # fmt: skip
decomposition("cholesky_solve",
              lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(positive(a))),
              WITH_RIGHT, (S, R))  # fmt: skip
decomposition("lu", lambda a: torch.linalg.lu_factor(plus_identity(a))[0], SQUARE, (S, S))
decomposition("qr", lambda a: torch.linalg.qr(plus_identity(a))[1].abs(), SQUARE, (S, S))
decomposition("eigvalsh", lambda a: torch.linalg.eigvalsh(positive(a)), SQUARE, (S,))
decomposition("svdvals", lambda a: torch.linalg.svdvals(plus_identity(a)), SQUARE, (S,))
decomposition("matrix_exp", lambda a: a.matrix_exp(), SQUARE, (S, S))
decomposition("det", lambda a: torch.linalg.det(plus_identity(a))[None], SQUARE, (1,))
decomposition("lstsq", lambda a, b: torch.linalg.lstsq(plus_identity(a), b).solution, WITH_RIGHT, (S, R))
