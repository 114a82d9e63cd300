"""A test for `pytest --redzone-guard`: a kernel writes $SUITE_COUNT elements of a tensor of 1,000."""
import os

import torch
import triton
import triton.language as tl


@triton.jit
def fill(target, count, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + i, 1.0, i < count)


def test_fill():
    y = torch.zeros(1000, device="cuda")
    fill[(2,)](y, int(os.environ["SUITE_COUNT"]), block=1024)
    torch.cuda.synchronize()
    assert y.sum().item() == 1000
