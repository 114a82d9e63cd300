"""Trains a small convolutional network on random data, as long as told, and prints the loss of the first
and of the last step.

  training_loop.py [STEPS]
"""
import sys

import torch

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
    torch.nn.MaxPool2d(2), torch.nn.Conv2d(16, 32, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
inputs = torch.randn(64, 3, 33, 33, device="cuda")
labels = torch.randint(10, (64,), device="cuda")
first = last = None
for i in range(STEPS):
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first = loss.item() if i == 0 else first
last = loss.item()
print(f"{STEPS} steps, loss {first:.3f} then {last:.3f}, learned {last < first}")
