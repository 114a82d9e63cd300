#!/usr/bin/env python3
"""PyTorch: index_add, index_copy and scatter_reduce refuse a tensor without dims if they are deterministic.

    python3 torch_index_add.py          exit 1: the bug shows, 0: it does not, 2: no GPU

On a GPU, with torch.use_deterministic_algorithms(True), each of them raises an IndexError for a tensor
without dims. Without that setting, and on the CPU with it, they give the result.
"""

import sys

import torch


def calls(device):
    x, y = torch.zeros((), device=device), torch.ones((), device=device)
    index = torch.zeros((), dtype=torch.int64, device=device)
    return {
        "index_add": lambda: x.index_add(0, index, y),
        "index_copy": lambda: x.index_copy(0, index, y),
        "scatter_reduce": lambda: x.scatter_reduce(0, index, y, "mean"),
    }


def main():
    if not torch.cuda.is_available():
        print("needs a GPU")
        sys.exit(2)
    gpu = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {gpu}", flush=True)
    shows = False
    for device, deterministic in (("cpu", True), ("cuda", False), ("cuda", True)):
        torch.use_deterministic_algorithms(deterministic)
        for name, call in calls(device).items():
            try:
                said = f"{call().item():g}"
            except IndexError as error:
                said, shows = f"IndexError: {str(error).splitlines()[0]}", True
            how = f"{device}{', deterministic' if deterministic else ''}"
            print(f"{how:<20}{name:<15}: {said}", flush=True)
    print("the bug shows" if shows else "the bug does not show")
    sys.exit(1 if shows else 0)


main()
