#!/usr/bin/env python3
"""Triton, as its tutorials write it: an illegal access where row * stride reaches 2^31. Stock Triton.

    python3 triton_row_stride.py        exit 1: the bug shows, 0: it does not

Triton's tutorials address a row by `pointer + row * stride`, where `row` is a tl.program_id() and `stride` an
argument. Triton passes an integer argument below 2^31 as a 32-bit one and tl.program_id() is one, so their
product wraps around, although the pointer has 64 bits. A softmax of 3 rows that are 2^30 elements apart reads
2^33 bytes before its tensor; with the row as tl.int64 it is right. No program says that a row has to be cast.
Each case runs in a process of its own. It needs a GPU of 80 GB.
"""

import subprocess
import sys

import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 3, 8
BELOW, BEYOND = (2**31 - 1) // (ROWS - 1), 2**30  # the last row begins at 2^31 - 2 and at 2^31


@triton.jit
def softmax_rows(x, out, x_stride, columns, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if WIDE:
        row = row.to(tl.int64)
    c = tl.arange(0, BLOCK)
    values = tl.load(x + row * x_stride + c, c < columns, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + c, powers / tl.sum(powers, 0), c < columns)


def run(stride, wide):
    """Exits with 1 if the result is wrong or a launch failed."""
    base = torch.empty((ROWS - 1) * stride + COLUMNS, device="cuda")
    x = base.as_strided((ROWS, COLUMNS), (stride, 1))
    torch.manual_seed(0)
    x.copy_(torch.randn(ROWS, COLUMNS, device="cuda"))
    out = torch.empty(ROWS, COLUMNS, device="cuda")
    try:
        softmax_rows[(ROWS,)](x, out, x.stride(0), COLUMNS, wide, COLUMNS)
        error = (out - torch.softmax(x.contiguous(), -1)).abs().max().item()
        said = f"largest error {error:.3g}"
        wrong = not error < 1e-5
    except RuntimeError as failure:
        said, wrong = str(failure).splitlines()[0], True
    row = "tl.int64" if wide else "tl.program_id() gives it"
    print(f"stride {stride:,}, row as {row}: {said}", flush=True)
    sys.exit(1 if wrong else 0)


def main():
    if not torch.cuda.is_available():
        sys.exit("needs a GPU")
    if len(sys.argv) == 3:
        run(int(sys.argv[1]), sys.argv[2] == "wide")
    versions = f"Triton {triton.__version__}, PyTorch {torch.__version__}"
    print(f"{versions}, {torch.cuda.get_device_name()}", flush=True)
    codes = {}
    for stride in (BELOW, BEYOND):
        for how in ("narrow", "wide"):
            codes[stride, how] = subprocess.run([sys.executable, __file__, str(stride), how]).returncode
    if any(code != 0 for case, code in codes.items() if case != (BEYOND, "narrow")):
        sys.exit("wrong in another case, too: another bug")
    shows = codes[BEYOND, "narrow"] != 0
    print("the bug shows" if shows else "the bug does not show")
    sys.exit(1 if shows else 0)


main()
