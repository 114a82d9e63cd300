# puzzle: short_cache
# bug: positions are made for the first call, and are too few for a longer one
# expect: fault exception: RuntimeError
# minimal: 2 calls; N=2; N=3
import redzone as rz
import torch

N = rz.dim("N", 2, 64)


class Positions:
    grow, cached = False, torch.empty(0)
    def __call__(self, x):
        if len(self.cached) == 0 or (self.grow and len(self.cached) < len(x)):
            self.cached = torch.arange(len(x), dtype=x.dtype, device=x.device)
        return x + self.cached[: len(x)]


rz.target(Positions, twin=type("Fixed", (Positions,), {"grow": True}), name="short_cache",
          x=rz.In("f32", N), returns=rz.Out("f32", N), reference=lambda x, N: x + torch.arange(N))
