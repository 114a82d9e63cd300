# puzzle: short_scratch
# bug: scratch of the size of the first call is written by a native function, also in longer calls
# kin: pytorch/pytorch#182825
# expect: illegal-access write after torch#1
# minimal: 2 calls; N=1; N=17
# Only on a CPU: memmove() cannot read what a GPU has.
import ctypes, redzone as rz, torch
N = rz.dim("N", 1, 300)
class Staged:
    grow, scratch = False, torch.empty(0)
    def __call__(self, x):
        if len(self.scratch) == 0 or (self.grow and len(self.scratch) < len(x)):
            self.scratch = torch.empty(len(x))
        ctypes.memmove(self.scratch.data_ptr(), x.data_ptr(), 4 * len(x))
        staged = torch.empty_like(x)
        ctypes.memmove(staged.data_ptr(), self.scratch.data_ptr(), 4 * len(x))
        return staged
rz.target(Staged, twin=type("Fixed", (Staged,), {"grow": True}), name="short_scratch",
          x=rz.In("f32", N), returns=rz.Out("f32", N), reference=lambda x: x)
