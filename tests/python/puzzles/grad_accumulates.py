# puzzle: grad_accumulates
# bug: the gradient of the last call is still in the parameter, and the next one is added to it
# expect: history result
# minimal: 2 calls; N=1; N=1
import redzone as rz
import torch


class Gradient:
    keep = True
    def __init__(self): self.w = torch.ones((), requires_grad=True, device=rz.device())
    def __call__(self, x):
        self.w.grad = self.w.grad if self.keep else None
        (self.w * x).sum().backward()
        return self.w.grad.clone()


rz.target(Gradient, twin=type("Fixed", (Gradient,), {"keep": False}), name="grad_accumulates",
          x=rz.In("f32", rz.dim("N", 1, 64)), returns=rz.Out("f32"), reference=lambda x: x.sum())
