#!/usr/bin/env python3
"""PyTorch's attention: wrong results or a misaligned access where a tensor begins at an odd address.

    python3 attention_offset.py         exit 1: the bug shows, 0: it does not

`scaled_dot_product_attention` with one backend at a time, and with none chosen (DEFAULT). Query, key or value
is a slice of a larger tensor and begins one element after an aligned address; shapes and strides are those of
a dense tensor. The documentation asks for no alignment. MATH is right, EFFICIENT_ATTENTION refuses some of
them ("query_ptr is not correctly aligned"), and others run into an illegal access or are silently wrong.
"""

import contextlib
import subprocess
import sys

BACKENDS = ("DEFAULT", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH")
DTYPES = ("float16", "bfloat16", "float32")
REFUSALS = ("No available kernel", "not correctly aligned")


def run(backend, dtype, late, offset):
    """Prints one line. Exit code 0 right, 3 refused, 1 otherwise."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.manual_seed(0)
    shape = (1, 8, 64, 64)
    made = {}
    for name in ("query", "key", "value"):
        begin = offset if name == late else 0
        storage = torch.zeros(8 * 64 * 64 + begin, device="cuda", dtype=getattr(torch, dtype))
        made[name] = storage[begin:].view(shape).copy_(torch.randn(shape))
    expected = torch.nn.functional.scaled_dot_product_attention(*(t.double() for t in made.values()))
    code = 0
    try:
        every = contextlib.nullcontext()
        with every if backend == "DEFAULT" else sdpa_kernel(getattr(SDPBackend, backend)):
            result = torch.nn.functional.scaled_dot_product_attention(**made)
        torch.cuda.synchronize()
        off = (result.double() - expected).abs().max().item()
        said = f"largest error {off:.3g}"
        if not off < 0.05:
            code, said = 1, said + "  WRONG"
    except RuntimeError as error:
        said = str(error).splitlines()[0]
        code = 3 if any(text in said for text in REFUSALS) else 1
    refused = "refused: " if code == 3 else ""
    print(f"{backend:<20}{dtype:<9}{late} {offset} elements late: {refused}{said}", flush=True)
    sys.exit(code)


def main():
    import torch

    if len(sys.argv) > 1:
        run(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
    if not torch.cuda.is_available():
        sys.exit("needs a GPU")
    gpu = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {gpu}", flush=True)
    # A process for each, because a misaligned access ends all work of one.
    cases = [(backend, dtype, late, offset) for backend in BACKENDS for dtype in DTYPES
             for late, offset in (("query", 0), ("query", 1), ("key", 1), ("value", 1))]  # fmt: skip
    codes = []
    for begin in range(0, len(cases), 8):
        running = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, *map(str, case)],
                                    stdout=subprocess.PIPE, text=True)
                   for case in cases[begin:begin + 8]]  # fmt: skip
        for process in running:
            print(process.communicate()[0], end="", flush=True)
            codes.append(process.returncode)
    shows = any(code == 1 for code in codes)
    print("the bug shows" if shows else "the bug does not show")
    sys.exit(1 if shows else 0)


main()
