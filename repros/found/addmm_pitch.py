#!/usr/bin/env python3
"""cuBLASLt, f16: a silently wrong product where the last row of A begins 2^31 bytes in. Stock PyTorch.

    python3 addmm_pitch.py              exit 1: the bug shows, 0: it does not

`torch.addmm(bias, A, B)` in f16 with an A of 9 x 63 whose rows are `pitch` elements apart calls
cublasLtMatmul with the epilogue BIAS and lda = pitch. No error is returned and nothing is NaN. The
documentation asks of a leading dimension that it is an int64_t and "large enough so that matrix memory
locations are not overlapping".
"""

import sys

import torch

M, K, N = 9, 63, 129
# The last row begins 8 * pitch * 2 bytes in.
PITCHES = (63, 134_217_000, 134_217_727, 134_217_728, 134_217_731)


def largest_error(pitch):
    torch.manual_seed(0)
    a = torch.zeros((M - 1) * pitch + K, device="cuda", dtype=torch.half).as_strided((M, K), (pitch, 1))
    a.copy_(torch.randn(M, K, device="cuda"))
    b = torch.randn(K, N, device="cuda").half()
    bias = torch.randn(N, device="cuda").half()
    y = torch.addmm(bias, a, b)
    torch.cuda.synchronize()
    return (y.double() - (a.double() @ b.double() + bias.double())).abs().max().item()


def main():
    if not torch.cuda.is_available():
        sys.exit("needs a GPU")
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}")
    wrong = []
    for pitch in PITCHES:
        error = largest_error(pitch)
        wrong.append(error > 0.1)
        print(f"pitch {pitch:,}: the last row begins {(M - 1) * pitch * 2 - 2**31:+,} bytes from 2^31: largest"
              f" error {error:.3g}{'  WRONG' if wrong[-1] else ''}")
    if wrong[0]:
        sys.exit("wrong with dense rows, too: another bug")
    print("the bug shows" if any(wrong) else "the bug does not show")
    sys.exit(1 if any(wrong) else 0)


main()
