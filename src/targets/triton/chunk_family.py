"""Shared parts of the descriptions of the four chunked linear-attention kernels, and their shared
device functions. The mathematics and the float64 references are those of src/targets/chunk.

The kernels have the form that Helion generates: a loop over N = T / C chunks with N known only at run
time, the rows of the state as one block of RDIM = next_power_of_2(D), and one program for each
sequence and block of columns. T is not a parameter: it is N * C.
"""

import triton
import triton.language as tl


@triton.jit
def load_rows(base, first, width, columns, ROWS: tl.constexpr):
    """`columns` of ROWS rows of `width` elements, from row `first` on; zero past the end of a row."""
    rows = first + tl.arange(0, ROWS)
    return tl.load(base + rows[:, None] * width + columns[None, :], columns[None, :] < width, 0.0)


@triton.jit
def weighted_sum(x, y, weights):
    """Sum over tokens t of weights[t] * x[t]^T y[t], in float32."""
    weighted = (x * weights[:, None]).to(x.dtype)
    return tl.dot(tl.trans(weighted), y, input_precision="tf32x3")


@triton.jit
def state_mask(rows, columns, D, DV):
    return (rows[:, None] < D) & (columns[None, :] < DV)


# A state is a sum in which a few dozen terms of size 1 matter. Each term is a product of elements that
# were rounded to bf16 once more after multiplication by the weight (an error of 2^-9 of the term, with
# varying sign); a bf16 output is rounded again.
TOLERANCE = {"abs": 0.02, "rel": 1 / 64}

STATE_OF_CHUNKS = ["B", "H", "floordiv(T, C)", "D", "DV"]
STATE_OF_SEQUENCES = ["B", "H", "D", "DV"]


def tokens(name, width):
    return {"name": name, "dtype": "bf16", "role": "in", "shape": ["B", "H", "T", width]}


def log_decays():
    """Values in [-0.2, 0): decay over about ten tokens, so that sums stay small."""
    return {
        "name": "g",
        "dtype": "f32",
        "role": "in",
        "shape": ["B", "H", "T"],
        "fill": {"kind": "uniform", "lo": -0.2, "hi": 0.0},
    }


def state(name, role, shape, dtype):
    tensor = {"name": name, "dtype": dtype, "role": role, "shape": shape}
    return tensor | ({"tolerance": TOLERANCE} if role == "out" else {})


TILES_OF_SEQUENCES = "B * H * cdiv(DV, BLOCK_V)"
TILES_OF_CHUNKS = "B * H * floordiv(T, C) * cdiv(DV, BLOCK_V)"


def family(kernel, name, doc, tensors, work, grid_tiles):
    return {
        "kernel": kernel,
        "name": f"triton.{name}",
        "doc": doc,
        "reference": name,
        "work": work,
        "grid": [f"grid_is_persistent ? min(4 * num_sms, {grid_tiles}) : {grid_tiles}"],
        "dim": [
            {"name": "B", "max": 4, "doc": "batch"},
            {"name": "H", "max": 16, "doc": "heads"},
            {"name": "T", "max": 4096, "doc": "tokens"},
            {"name": "C", "values": [32, 64], "doc": "tokens of a chunk; N = T / C"},
            {"name": "D", "min": 17, "max": 128, "tile": 32, "doc": "rows of the state"},
            {"name": "DV", "max": 128, "tile": 32, "doc": "columns of the state"},
        ],
        "constraint": [{"kind": "divides", "a": "C", "b": "T"}],
        "tensor": tensors,
        "knob": [
            {"name": "BLOCK_V", "values": [32], "tune": True, "doc": "columns of a tile"},
            {"name": "num_warps", "values": [4, 8]},
            {"name": "num_stages", "values": [2]},
            {
                "name": "grid",
                "values": ["flat", "persistent"],
                "doc": "flat: a program for each tile; persistent: programs walk over tiles",
            },
        ],
        "argument": [
            {"name": "sequences", "kind": "int", "value": "B * H"},
            {"name": "N", "kind": "int", "value": "floordiv(T, C)"},
            {"name": "RDIM", "kind": "constexpr", "value": "next_power_of_2(D)"},
        ],
    }
