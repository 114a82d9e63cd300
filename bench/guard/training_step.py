"""The training step of a transformer layer; its line has the loss after all steps as well. The first
argument is how many are timed."""
import sys

import figures
import torch

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
WARM = 20

figures.need_gpu()
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda", dropout=0.0)
optimizer = torch.optim.AdamW(layer.parameters())
x = torch.randn(16, 128, 512, device="cuda")
losses: list = []


def step():
    optimizer.zero_grad()
    loss = layer(x).square().mean()
    loss.backward()
    optimizer.step()
    losses[:] = [loss.detach()]


figures.measure("step", step, WARM, STEPS, lambda: {"loss": round(losses[0].item(), 6)})
