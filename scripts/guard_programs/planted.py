"""One mistake in a PyTorch program, by the name of the argument, that the program itself does not notice;
`record_stream` is without one."""
import sys

import torch
import triton
import triton.language as tl

COUNT = 1024
SLEEP = 50_000_000  # cycles


@triton.jit
def put(target, at, value):
    tl.store(target + at, value)


@triton.jit
def get(source, at, target):
    tl.store(target, tl.load(source + at))


def missing_wait(x, side):
    """The reader does not wait for the stream that writes."""
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLEEP)
        x.fill_(1)
    return x.sum()


def used_elsewhere(side, recorded):
    """The tensor is freed, and others are made, while another stream still reads it. That is fine if the
    allocator was told of the stream."""
    y = torch.ones(COUNT, device="cuda")
    # The first launch of a kernel loads it, which waits for the device.
    y.fill_(1)
    y.sum()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLEEP)
        total = y.sum()
    if recorded:
        y.record_stream(side)
    del y
    for _ in range(20):
        torch.empty(COUNT, device="cuda").fill_(2)
    torch.cuda.current_stream().wait_stream(side)
    return total


def run(deed):
    x = torch.zeros(COUNT, device="cuda")
    out = torch.zeros(1, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    if deed == "write_after":
        put[(1,)](x, COUNT, 7.0)
    elif deed == "write_before":
        put[(1,)](x, -1, 7.0)
    elif deed == "read_before":
        get[(1,)](x, -1, out)
    elif deed == "slack":
        short = torch.zeros(250, device="cuda")
        put[(1,)](short, 250, 7.0)
        del short
    elif deed == "unwritten":
        get[(1,)](torch.empty(COUNT, device="cuda"), 5, out)
    elif deed == "missing_wait":
        out = missing_wait(x, side)
    elif deed in ("record_stream", "no_record_stream"):
        out = used_elsewhere(side, deed == "record_stream")
    else:
        sys.exit(f"no deed '{deed}'")
    torch.cuda.synchronize()
    print(f"{deed} {out.sum().item()}")


run(sys.argv[1])
