"""Captures a graph with torch.cuda.graph, replays it with other inputs and compares with eager calls."""
import torch

x = torch.randn(64, 64, device="cuda")
w = torch.randn(64, 64, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        y = (x @ w).relu()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x @ w).relu() * 2
for i in range(5):
    x.fill_(i)
    graph.replay()
torch.cuda.synchronize()
expected = (torch.full_like(x, 4) @ w).relu() * 2
print(f"graph {torch.allclose(y, expected)}")
