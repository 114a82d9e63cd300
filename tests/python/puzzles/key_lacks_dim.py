# puzzle: key_lacks_dim
# bug: a cache of prepared weights has no key for N, which they depend on
# kin: facebookexperimental/triton#2869
# expect: history result
# minimal: 2 calls; M=1 N=1; M=1 N=2
# minimal: 2 calls; M=1 N=2; M=1 N=1
import redzone as rz
import torch

M, N = rz.dims(M=(1, 16), N=(1, 64, {"tile": 16}))


class Mean:
    key = staticmethod(lambda x: x.shape[0])
    def __init__(self): self.scales = {}
    def __call__(self, x): return x.sum(-1) * self.scales.setdefault(self.key(x), 1 / x.shape[1])


rz.target(Mean, name="key_lacks_dim", twin=type("Fixed", (Mean,), {"key": staticmethod(lambda x: x.shape)}),
          x=rz.In("f32", M, N), returns=rz.Out("f32", M), reference=lambda x: torch.mean(x, -1))
