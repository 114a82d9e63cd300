#!/usr/bin/env python3
"""cuBLASLt, f16: a silently wrong product where m * lda * 2 bytes reach 2^31. Stock PyTorch.

    python3 addmm_pitch.py              exit 1: the bug shows, 0: it does not

`torch.addmm(bias, A, B)` in f16 with an A of 9 x 63 whose rows are `pitch` elements apart calls
cublasLtMatmul with the epilogue BIAS and lda = pitch. It looks for the first pitch that is wrong. No error is
returned and nothing is NaN. The documentation asks of a leading dimension that it is an int64_t and "large
enough so that matrix memory locations are not overlapping".
"""

import sys

import torch

M, K, N = 9, 63, 129
RIGHT, WRONG = 63, 134_217_731  # with the latter the last row begins 2^31 + 48 bytes in


def largest_error(pitch):
    torch.manual_seed(0)
    a = torch.zeros((M - 1) * pitch + K, device="cuda", dtype=torch.half).as_strided((M, K), (pitch, 1))
    a.copy_(torch.randn(M, K, device="cuda"))
    b = torch.randn(K, N, device="cuda").half()
    bias = torch.randn(N, device="cuda").half()
    y = torch.addmm(bias, a, b)
    torch.cuda.synchronize()
    return (y.double() - (a.double() @ b.double() + bias.double())).abs().max().item()


def is_wrong(pitch):
    error = largest_error(pitch)
    print(f"pitch {pitch:,}: the last row begins {(M - 1) * pitch * 2:,} bytes in: largest error {error:.3g}"
          f"{'  WRONG' if error > 0.1 else ''}")  # fmt: skip
    return error > 0.1


def main():
    if not torch.cuda.is_available():
        sys.exit("needs a GPU")
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}")
    if is_wrong(RIGHT):
        sys.exit("wrong with dense rows, too: another bug")
    shows = is_wrong(WRONG)
    right, wrong = RIGHT, WRONG
    while shows and wrong - right > 1:
        middle = (right + wrong) // 2
        if is_wrong(middle):
            wrong = middle
        else:
            right = middle
    if shows:
        print(f"the bug shows: from pitch {wrong:,} on; 2^31 / {wrong:,} = {2**31 / wrong:.4f}")
    else:
        print("the bug does not show")
    sys.exit(1 if shows else 0)


main()
