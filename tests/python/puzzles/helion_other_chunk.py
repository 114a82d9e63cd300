# puzzle: helion_other_chunk
# bug: what calls a Helion kernel for chunks of one size is kept without the size, and used for others
# expect: history result
# minimal: 2 calls; N=2 C=2; N=2 C=4
# minimal: 2 calls; N=2 C=4; N=2 C=2
import helion, helion.language as hl, redzone as rz, torch
N, C = rz.dim("N", 2, 16, multiple_of=2), rz.dim("C", values=[2, 4])
@helion.kernel(config=helion.Config(), static_shapes=False)
def centered(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.grid(x.size(0)): out[i, :] = x[i, :] - x[i, :].mean(0)
    return out
class Rows:
    key = staticmethod(lambda x, C: x.dtype)
    def __init__(self): self.kept = {}
    def __call__(self, x, C):
        return self.kept.setdefault(self.key(x, C), lambda x: centered(x.view(-1, C)).flatten())(x)
rz.target(Rows, twin=type("Fixed", (Rows,), {"key": staticmethod(lambda x, C: C)}), name="helion_other_chunk",
 x=rz.In("f32", N, C), returns=rz.Out("f32", N * C), reference=lambda x: (x - x.mean(1, True)).flatten())
