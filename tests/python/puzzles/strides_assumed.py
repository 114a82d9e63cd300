# puzzle: strides_assumed
# bug: rows are taken to be contiguous, whatever the strides of the argument
# expect: illegal-access | uninitialized | reference result
# minimal: 1 call; M=2 N=1
import redzone as rz
import torch

M, N = rz.dims(M=(1, 32), N=(1, 64))


def raw(x): return torch.as_strided(x, x.shape, (x.shape[1], 1))


rz.target(lambda x: raw(x) + 1, twin=lambda x: raw(x.contiguous()) + 1, name="strides_assumed",
          x=rz.In("f32", M, N, layout="row_padding"), returns=rz.Out("f32", M, N), reference=lambda x: x + 1)
