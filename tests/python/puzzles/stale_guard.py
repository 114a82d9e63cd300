# puzzle: stale_guard
# bug: what was specialized for one multiple of 16 runs for all others, with the first length in it
# expect: history result
# minimal: 2 calls; N=16; N=32
# minimal: 2 calls; N=32; N=16
import redzone as rz
import torch

N = rz.dim("N", 1, 100, tile=16)


class Specialized:
    guard = staticmethod(lambda n: n % 16)
    def __init__(self): self.made = {}
    def __call__(self, x):
        if len(x) % 16: return torch.mean(x)
        return x.sum() * self.made.setdefault(self.guard(len(x)), 1 / len(x))
rz.target(Specialized, twin=type("Fixed", (Specialized,), {"guard": staticmethod(lambda n: n)}),
          name="stale_guard", x=rz.In("f32", N), returns=rz.Out("f32"), reference=lambda x: x.mean())
