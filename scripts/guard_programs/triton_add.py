"""A Triton kernel over sizes that fill its blocks and sizes that do not. Its load has a mask, or with
the argument `unmasked` reads past the end of the tensor."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_one(x, y, n, masked: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    value = tl.load(x + at, mask=at < n) if masked else tl.load(x + at)
    tl.store(y + at, value + 1, mask=at < n)


for n in (1000, 4096, 70000, 1 << 20):
    x = torch.randn(n, device="cuda")
    y = torch.empty_like(x)
    add_one[(triton.cdiv(n, 1024),)](x, y, n, sys.argv[1] == "masked", 1024)
    torch.cuda.synchronize()
    print(n, torch.equal(y, x + 1))
