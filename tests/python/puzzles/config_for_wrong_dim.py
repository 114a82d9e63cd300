# puzzle: config_for_wrong_dim
# bug: the tuned block of columns is kept under the number of rows, and is too narrow for longer rows
# expect: uninitialized | history y
# minimal: 2 calls; M=1 N=1; M=1 N=2
import redzone as rz
import torch

M, N = rz.dims(M=(1, 8), N=(1, 64))


class Tuned:
    key = staticmethod(lambda x: x.shape[0])
    def __init__(self): self.blocks = {}
    def __call__(self, x, y):
        block = self.blocks.setdefault(self.key(x), 1 << (x.shape[1] - 1).bit_length())
        torch.mul(x[:, :block], 2, out=y[:, :block])
rz.target(Tuned, twin=type("Fixed", (Tuned,), {"key": staticmethod(lambda x: x.shape)}), x=rz.In("f32", M, N),
          name="config_for_wrong_dim", y=rz.Out("f32", M, N), reference=lambda x: 2 * x)
