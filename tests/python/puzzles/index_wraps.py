# puzzle: index_wraps
# bug: offsets are computed in 16 bits, and wrap from the 32,769th element on
# expect: reference result
# minimal: 1 call; N=32769
import redzone as rz
import torch

N = rz.dim("N", 1, 70000, tile=1024)


def gather(x, dtype=torch.int16):
    return x[torch.arange(len(x), dtype=dtype).long()] * 2


rz.target(gather, twin=lambda x: gather(x, torch.int64), name="index_wraps",
          x=rz.In("f32", N), returns=rz.Out("f32", N), reference=lambda x: x * 2)
