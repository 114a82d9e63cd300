#!/usr/bin/env python3
"""Helion: a kernel that is first called with a size of one computes one row only, also of later calls.

    python3 helion_size_one.py          exit 1: the bug shows, 0: it does not, 2: not known

With static_shapes=False a kernel is compiled once for all sizes, a size of one among them. torch.empty_like()
of an argument with a size of one makes that size a constant of what is compiled, and the cache of compiled
kernels does not know. The same kernel with new_empty() is right, and so is one that is first called with two
rows.
"""

import importlib.metadata
import subprocess
import sys

import helion
import helion.language as hl
import torch

ORDERS = ((8,), (1, 8), (2, 1, 8))  # rows of each call


@helion.kernel(config=helion.Config(block_sizes=[1, 32]), static_shapes=False)
def by_empty_like(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + 1
    return out


@helion.kernel(config=helion.Config(block_sizes=[1, 32]), static_shapes=False)
def by_new_empty(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty(x.size())
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + 1
    return out


KERNELS = {"empty_like": by_empty_like, "new_empty": by_new_empty}


def run(allocation, rows_of_calls):
    """Prints one line. Exit code 1 if a result is wrong."""
    said, wrong = [], 0
    for rows in rows_of_calls:
        x = torch.rand(rows, 64, device="cuda")
        right = (KERNELS[allocation](x) == x + 1).all(dim=1)
        wrong += rows - right.sum().item()
        said.append(f"{right.sum().item()} of {rows}")
    print(f"{allocation:<11}rows that are right: {', then '.join(said)}", flush=True)
    sys.exit(1 if wrong else 0)


def main():
    if len(sys.argv) > 1:
        run(sys.argv[1], [int(rows) for rows in sys.argv[2:]])
    if not torch.cuda.is_available():
        sys.exit(2)  # needs a GPU
    version, gpu = importlib.metadata.version("helion"), torch.cuda.get_device_name()
    print(f"Helion {version}, PyTorch {torch.__version__}, {gpu}", flush=True)
    # A process for each, because compiled kernels are kept in one.
    running = []
    for allocation in KERNELS:
        for rows in ORDERS:
            command = [sys.executable, "-W", "ignore", __file__, allocation, *map(str, rows)]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    lines = [process.communicate()[0] for process in running]
    print(*lines, sep="", end="", flush=True)
    # A traceback ends with 1, too, but prints no line.
    if not all(lines):
        print("a process has failed", file=sys.stderr)
        sys.exit(2)
    shows = any(process.returncode for process in running)
    print("the bug shows" if shows else "the bug does not show")
    sys.exit(1 if shows else 0)


main()
