"""Times the work of a program of `redzone bench --part guard`, and prints its line of JSON."""
import json
import sys
import threading
import time

import torch

PAUSE_S = 0.002
LIMIT_S = 5.0
PARTS = 10


def need_gpu():
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no CUDA device")


def versions():
    out = f"torch {torch.__version__}"
    if "triton" in sys.modules:
        out += f", triton {sys.modules['triton'].__version__}"
    return out


def used_bytes():
    """Memory of the device in use, whoever uses it."""
    free, total = torch.cuda.mem_get_info()
    return total - free


def peak_while(work):
    """The most memory in use while the work is done once; it is looked at beside it."""
    peak = used_bytes()
    done = threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(PAUSE_S):
            peak = max(peak, used_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    peak = max(peak, used_bytes())
    torch.cuda.synchronize()
    done.set()
    watcher.join()
    return peak


def measure(unit, step, warm, count, more=dict):
    """`count` units are timed after `warm` of them, or fewer where they take longer than LIMIT_S; the memory
    is that of further ones. `more` is called at the end: what the line has besides."""
    def repeat(times):
        for _ in range(times):
            step()
        torch.cuda.synchronize()

    repeat(warm)
    done, begun = 0, time.monotonic()
    while done < count and (done == 0 or time.monotonic() - begun < LIMIT_S):
        repeat(count // PARTS)
        done += count // PARTS
    us = (time.monotonic() - begun) / done * 1e6
    peak = peak_while(lambda: repeat(min(count, warm)))
    line = {"unit": unit, "us": round(us, 3), "peak_bytes": peak, "with": versions(),
            "allocator": torch.cuda.get_allocator_backend(), **more()}
    print(json.dumps(line), flush=True)
