"""Sums tensors of several sizes over all GPUs by NCCL, then makes steps of a model that is trained on all.
To be run by torchrun, one process for each GPU."""
import os

import torch
import torch.distributed as distributed

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
world = distributed.get_world_size()
right = True
for count in (1, 1000, 1 << 20, (1 << 24) + 3):
    x = torch.full((count,), float(rank + 1), device="cuda")
    distributed.all_reduce(x)
    gathered = [torch.empty(count, device="cuda") for _ in range(world)]
    distributed.all_gather(gathered, torch.full((count,), float(rank), device="cuda"))
    right = right and bool((x == world * (world + 1) / 2).all())
    right = right and all(bool((part == i).all()) for i, part in enumerate(gathered))
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(513, 257).cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(65, 513, device="cuda")).square().mean().backward()
    optimizer.step()
mean = model.module.weight.detach().mean()
means = [torch.empty_like(mean) for _ in range(world)]
distributed.all_gather(means, mean)
right = right and all(torch.equal(one, mean) for one in means)
print(f"rank {rank} of {world}: right {right}", flush=True)
distributed.destroy_process_group()
