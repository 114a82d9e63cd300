"""Calls the operators of PyTorch's database with the samples that PyTorch's own tests use, forward and,
where there is a gradient, backward. They are correct, so the guard must find nothing.

  operator_samples.py SECONDS [PART/PARTS]

Each pass is over all entries of the part, with another type of data where an operator has several; passes
are made until the time is over. PyTorch's part for tests needs `expecttest`. Without a mistake of the
device the exit code is 0; an operator that refuses its sample, as where a library is missing, is counted.
"""
import json
import sys
import time
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

DEVICE = "cuda"


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors(one)


def dtype_of_pass(op, number):
    supported = op.supported_dtypes(DEVICE)
    known = [dtype for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.bool)
             if dtype in supported]
    return known[number % len(known)] if known else None


def samples_of(op, dtype, backward):
    return list(op.sample_inputs(DEVICE, dtype, requires_grad=backward))


def call(op, sample, backward):
    """How many samples were called: 1."""
    result = op(sample.input, *sample.args, **sample.kwargs)
    if backward:
        grown = [out for out in tensors(result) if out.requires_grad and not out.is_complex()]
        if grown:
            torch.autograd.backward([out.sum() for out in grown])
    return 1


def run_or_refuse(called, work, *words):
    """What `work` returns; None where an operator refuses, as where a library is missing."""
    try:
        return work(*words)
    except torch.AcceleratorError:
        raise
    except Exception:
        called["refused"] += 1
        return None


def call_samples(op, called):
    """Whether one sample was called."""
    dtype = dtype_of_pass(op, called["passes"])
    if dtype is None:
        return False
    backward = op.supports_autograd and dtype.is_floating_point
    torch.manual_seed(called["passes"])
    before = called["samples"]
    for sample in run_or_refuse(called, samples_of, op, dtype, backward) or []:
        called["samples"] += run_or_refuse(called, call, op, sample, backward) or 0
    torch.cuda.synchronize()
    return called["samples"] > before


def main():
    warnings.simplefilter("ignore")
    end = time.monotonic() + float(sys.argv[1])
    part, parts = map(int, (sys.argv[2] if len(sys.argv) > 2 else "1/1").split("/"))
    entries = list(op_db)[part - 1::parts]
    called = {"entries": 0, "samples": 0, "refused": 0, "passes": 0}
    seen = set()
    while time.monotonic() < end:
        for op in entries:
            if time.monotonic() >= end:
                break
            if call_samples(op, called):
                seen.add((op.name, op.variant_test_name))
        called["passes"] += 1
    called["entries"] = len(seen)
    print(json.dumps(called))


main()
