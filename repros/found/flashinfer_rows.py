#!/usr/bin/env python3
"""FlashInfer: the fused activations take every tensor for a dense one.

    python3 flashinfer_rows.py          exit 1: the bug shows, 0: it does not, 2: not known

`input` or `out` are the first columns of a wider tensor, as a slice gives them. The kernels find row i at i
times the number of columns, whatever the strides: results are wrong, and with such an `out` they are written
into columns that were not passed. No error is raised. rmsnorm() of the same tensors is right.
"""

import sys

ROWS, COLUMNS, MORE = 4, 64, 16


def main():
    import flashinfer
    import torch

    if not torch.cuda.is_available():
        sys.exit(2)  # needs a GPU
    gpu = torch.cuda.get_device_name()
    print(f"FlashInfer {flashinfer.__version__}, PyTorch {torch.__version__}, {gpu}", flush=True)
    torch.manual_seed(0)
    functional = torch.nn.functional

    def gated(activation):
        return lambda x: activation(x[:, :COLUMNS]) * x[:, COLUMNS:]

    weight = torch.ones(2 * COLUMNS, device="cuda", dtype=torch.bfloat16)
    calls = {
        "silu_and_mul": (flashinfer.silu_and_mul, gated(functional.silu), COLUMNS),
        "gelu_and_mul": (flashinfer.gelu_and_mul, gated(functional.gelu), COLUMNS),
        "rmsnorm": (lambda x, out: flashinfer.rmsnorm(x, weight, out=out),
                    lambda x: functional.rms_norm(x, x.shape[1:], eps=1e-6), 2 * COLUMNS),
    }  # fmt: skip
    wrong = 0
    for name, (function, reference, width) in calls.items():
        for sliced in ("nothing", "input", "out"):
            wide = torch.randn(ROWS, 2 * COLUMNS + MORE, device="cuda").bfloat16()
            x = wide[:, : 2 * COLUMNS]
            storage = torch.zeros(ROWS, width + MORE, device="cuda", dtype=x.dtype)
            out = storage[:, :width] if sliced == "out" else torch.zeros_like(storage[:, :width])
            function(x if sliced == "input" else x.contiguous(), out=out)
            torch.cuda.synchronize()
            error = (out.double() - reference(x.double())).abs().max().item()
            outside = int(storage[:, width:].count_nonzero())
            bad = not error < 0.1 or outside > 0
            wrong += bad
            said = f"{name:<13}{sliced + ' is a slice':<19}: largest error {error:.3g}"
            said += f", {outside} elements outside of out written" + ("  WRONG" if bad else "")
            print(said, flush=True)
    print("the bug shows" if wrong else "the bug does not show")
    sys.exit(1 if wrong else 0)


main()
