"""What PyTorch's own compilers make of small functions: Inductor with its Python and its C++ wrapper, and
packages of AOTInductor.

    redzone run torch_inductor.py
    REDZONE_TORCH_ALLOCATOR=guarded redzone run torch_inductor.py --device cuda

All take dynamic shapes. Sizes of one are compiled apart, so most functions are compiled several times. The
second line also guards the memory that the compiled code takes by itself, as the scratch memory of kernels.
"""

from typing import Any

import aoti_package
import redzone as rz
import torch
from torch.export import Dim

# Dynamo stops compiling a function after this many variants; with fullgraph= it raises an exception. A size
# of 1 and strides that are not products of sizes each cause a variant. The limit applies to all files of a
# worker.
torch._dynamo.config.recompile_limit = 64

WRAPPERS: dict[str, dict[str, Any]] = {"python": {}, "cpp": {"cpp_wrapper": True}}
BLOCK = 64  # rows and columns of a tile
POSITIONS = 16

M, N = rz.dims(M=(1, 64), N=(1, 1500))
T, H, W = rz.dims(T=(1, 32), H=(1, 8), W=(1, 48))
R, C = rz.dims(R=(1, 8), C=(1, 8))  # tiles


def compiled(function, wrapper):
    return torch.compile(function, dynamic=True, fullgraph=True, options=WRAPPERS[wrapper])


# Excluded on a CPU, where a Triton kernel is interpreted: it is not compiled and needs no scratch memory. In
# PyTorch 2.11, the C++ wrapper allocates the scratch memory of one block for any grid
# (pytorch/pytorch#175385).
if rz.device() == "cuda":
    import triton
    import triton.language as tl

    @triton.jit
    def add_one_by_tiles(source, target, rows, columns, block: tl.constexpr):
        row, column = tl.program_id(0) * block, tl.program_id(1) * block
        tiles = tl.make_tensor_descriptor(source, [rows, columns], [columns, 1], [block, block])
        results = tl.make_tensor_descriptor(target, [rows, columns], [columns, 1], [block, block])
        results.store([row, column], tiles.load([row, column]) + 1.0)

    def add_one(x):
        """x + 1 by a Triton kernel that makes its TMA descriptors on the device, in scratch memory"""
        y = torch.empty_like(x)
        rows, columns = x.shape
        add_one_by_tiles[(rows // BLOCK, columns // BLOCK)](x, y, rows, columns, BLOCK)
        return y

    TILES: dict[str, Any] = {
        "x": rz.In("f32", BLOCK * R, BLOCK * C, align=16), "returns": rz.Out("f32", BLOCK * R, BLOCK * C),
        "reference": lambda x: x + 1, "tol": (1e-6, 1e-6),
    }  # fmt: skip
    for wrapper in ("cpp", "python"):
        name = f"inductor.{wrapper}.add_one"
        rz.target(compiled(add_one, wrapper), name=name, doc=add_one.__doc__, **TILES)


def norm(x, residual, weight):
    """a sum, and its rows divided by their root mean square: pointwise work around a reduction"""
    total = x + residual
    return total * torch.rsqrt((total * total).mean(-1, keepdim=True) + 1e-3) * weight, total


class PackagedNorm:
    """norm as a package of AOTInductor"""

    def __init__(self):
        # Three separate tensors, because a tensor that is passed twice would be treated as one argument.
        example = [torch.ones(shape, device=rz.device()) for shape in ((6, 10), (6, 10), (10,))]
        sizes = {0: Dim("rows", max=64), 1: Dim("columns", max=1500)}
        dims = (sizes, sizes, {0: sizes[1]})
        self.run = aoti_package.Package("norm", __file__, norm, tuple(example), dims)

    def __call__(self, x, residual, weight):
        return self.run(x, residual, weight)


def masked_softmax(x, lengths):
    """softmax of the first columns of each row: two reductions over a mask"""
    columns = torch.arange(x.shape[1], device=x.device)
    return x.masked_fill(columns >= lengths[:, None], float("-inf")).softmax(-1)


def rotated(x, positions, cosines, sines):
    """pairs of columns turned by an angle of a table: views, gathers and a concatenation"""
    tokens, heads, width = x.shape
    left, right = x.view(tokens, heads, 2, width // 2).unbind(2)
    cosine, sine = cosines[positions][:, None], sines[positions][:, None]
    return torch.cat([left * cosine - right * sine, right * cosine + left * sine], -1)


def normed(layout, align=None):
    return {
        "x": rz.In("f32", M, N, layout=layout, align=align), "residual": rz.In("f32", M, N, align=align),
        "weight": rz.In("f32", N, align=align), "reference": norm,
        "returns": {"y": rz.Out("f32", M, N), "total": rz.Out("f32", M, N)},
    }  # fmt: skip


SOFTMAX: dict[str, Any] = {
    "x": rz.In("f32", M, N, layout=("row_padding", "offset")),
    "lengths": rz.In("i32", M, fill=rz.integers(1, N)), "returns": rz.Out("f32", M, N),
    "reference": masked_softmax,
}  # fmt: skip
ROTATED: dict[str, Any] = {
    "x": rz.In("f32", T, H, 2 * W), "positions": rz.In("i32", T, fill=rz.integers(0, POSITIONS - 1)),
    "cosines": rz.In("f32", POSITIONS, W), "sines": rz.In("f32", POSITIONS, W),
    "returns": rz.Out("f32", T, H, 2 * W), "reference": rotated,
}  # fmt: skip
for wrapper in WRAPPERS:
    declared = (norm, normed(("row_padding", "offset"))), (masked_softmax, SOFTMAX), (rotated, ROTATED)
    for function, given in declared:
        name = f"inductor.{wrapper}.{function.__name__}"
        rz.target(compiled(function, wrapper), name=name, doc=function.__doc__, **given)
# Excluded on a GPU: with PyTorch 2.11 for CUDA 13.0, aoti_load_package() ended the process with a
# segmentation fault in torch/export/pt2_archive, also without Redzone.
if rz.device() == "cpu":
    rz.target(PackagedNorm, name="inductor.package.norm", state="process", **normed("contiguous", align=16))
