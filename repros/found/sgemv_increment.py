#!/usr/bin/env python3
"""cuBLAS sgemv: an illegal access where (K - 1) * incx reaches 2^31. Stock PyTorch and a GPU of 80 GB.

    python3 sgemv_increment.py          both sides of the boundary; exit 1: the bug shows, 0: it does not
    compute-sanitizer python3 sgemv_increment.py 4194304

`A @ x` with a contiguous A of 129 x 513 and an x of 513 elements that are `incx` apart calls cublasSgemv.
Every argument is legal and fits an int: m = 513, n = 129, lda = 513, incx = 4,194,304. The documentation
of cublas<t>gemv asks of incx only that it is the "stride between consecutive elements of x".
"""

import subprocess
import sys

K, M = 513, 129
LARGEST_RIGHT = 4_194_303


def run(increment):
    """Prints one line; returns whether y is right."""
    import torch

    torch.manual_seed(0)
    x = torch.zeros((K - 1) * increment + 1, device="cuda").as_strided((K,), (increment,))
    x.copy_(torch.randn(K, device="cuda"))
    a = torch.randn(M, K, device="cuda")
    expected = a.double() @ x.double()
    torch.cuda.synchronize()
    where = f"incx {increment:,}, (K - 1) * incx = {(K - 1) * increment:,} (2^31 = {2**31:,})"
    try:
        y = a @ x
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(f"{where}: {str(error).splitlines()[0]}", flush=True)
        return False
    off = (y.double() - expected).abs().max().item()
    print(f"{where}: largest error {off:.3g}", flush=True)
    return off < 1e-3


def main():
    import torch

    if len(sys.argv) > 1:
        sys.exit(0 if run(int(sys.argv[1])) else 1)
    if not torch.cuda.is_available():
        sys.exit("needs a GPU")
    gpu = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {gpu}", flush=True)
    # A process for each, because an illegal access ends all work of one.
    right = [subprocess.run([sys.executable, __file__, str(increment)]).returncode == 0
             for increment in (LARGEST_RIGHT, LARGEST_RIGHT + 1)]
    if not right[0]:
        sys.exit("wrong below 2^31, too: another bug")
    print("the bug does not show" if right[1] else "the bug shows")
    sys.exit(0 if right[1] else 1)


main()
