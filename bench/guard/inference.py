"""A compiled transformer layer without gradients."""
import figures
import torch

CALLS, WARM = 500, 20

figures.need_gpu()
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda", dropout=0.0)
# The layer's fast path is a single kernel, which would not be compiled.
torch.backends.mha.set_fastpath_enabled(False)
compiled = torch.compile(layer.eval())
x = torch.randn(16, 128, 512, device="cuda")


@torch.no_grad()
def call():
    compiled(x)


figures.measure("call", call, WARM, CALLS)
